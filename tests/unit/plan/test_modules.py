"""The code that a rule runs through, and what tables and figures say of themselves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairgat.errors import ConfigError
from fairgat.plan import check_targets, closure, declared, digest, modules

ROOT = Path(__file__).resolve().parents[3]
JOB = Path("workflow_scripts/job.py")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of which modules are written as they are needed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(modules, "ROOT", tmp_path)
    monkeypatch.setattr(modules, "PACKAGE", tmp_path / "fairgat")
    caches = (declared, modules._parsed, modules._followed, modules._entries)

    def write(**files):
        for cached in (*caches, modules._sha256):  # they last for a run of Snakemake
            cached.cache_clear()
        for name, text in files.items():
            path = tmp_path / (
                name.replace("__", "/").replace("/init/", "__init__") + ".py"
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    for folder in ("a", "b"):
        (tmp_path / "fairgat" / folder).mkdir(parents=True)
        (tmp_path / "fairgat" / folder / "__init__.py").write_text(
            '"""Only a docstring."""\n'
        )
    return write


def test_imports_are_followed_wherever_they_stand(package):
    package(
        workflow_scripts__job="with open('x'):\n    from fairgat.a import one\n",
        fairgat__a__one="from fairgat.a import two\nimport fairgat.b.three\n"
        "from fairgat.errors import ConfigError\n",
        fairgat__a__two="def f():\n    from fairgat.b.four import x\n",
        fairgat__a__unused="",
        fairgat__b__three="import numpy",
        fairgat__b__four="from fairgat.a.one import f\n",
        fairgat__errors="class ConfigError(Exception): ...",
    )
    names = ["a/__init__", "a/one", "a/two", "b/__init__", "b/four", "b/three"]
    assert closure(JOB) == [f"fairgat/{name}.py" for name in names]
    assert closure(JOB, without=("b",)) == [f"fairgat/{name}.py" for name in names[:3]]
    package(fairgat__b__five="x = 1")
    assert closure(JOB, "b/five", without=("a",)) == [
        "fairgat/b/__init__.py",
        "fairgat/b/five.py",
    ]


def test_imports_for_a_type_checker_only_are_not_followed(package):
    package(
        workflow_scripts__job="from fairgat.a import one\n",
        fairgat__a__one="if TYPE_CHECKING:\n    from fairgat.a.two import T\n"
        "else:\n    from fairgat.b import three\n",
        fairgat__a__two="",
        fairgat__b__three="",
    )
    names = ["a/__init__", "a/one", "b/__init__", "b/three"]
    assert closure(JOB) == [f"fairgat/{name}.py" for name in names]


def test_a_file_beside_the_package_is_followed_in_a_checkout_only(package, tmp_path):
    package(
        workflow_scripts__job="import my_penalty, numpy",
        my_penalty="import my.helper",
        my__helper="x = 1",
    )
    assert closure(JOB) == []  # as where the package is installed
    (tmp_path / "Snakefile").touch()
    package()
    assert closure(JOB) == ["my/helper.py", "my_penalty.py"]


def test_what_a_file_of_ones_own_imports_from_folders_beside_it_is_followed(tmp_path):
    texts = {
        "one.py": "from .parts import losses",
        "two.py": "from . import parts",
        "parts/__init__.py": "from . import base",
        "parts/base.py": "x = 1",
        "parts/losses.py": "from ..shared.sizes import width",
        "shared/sizes.py": "width = 8",
        "unused.py": "x = 1",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def followed(name):
        found = closure(ROOT / "workflow_scripts/take.py", str(tmp_path / name))
        return [Path(path) for path in found if Path(path).is_relative_to(tmp_path)]

    parts = [tmp_path / f"parts/{name}.py" for name in ("__init__", "base", "losses")]
    sizes = tmp_path / "shared/sizes.py"
    assert followed("one.py") == [tmp_path / "one.py", *parts, sizes]
    assert followed("two.py") == [*parts[:2], tmp_path / "two.py"]


def test_a_name_that_begins_like_one_left_out_is_followed(package):
    names = ["files", "files_of", "plan/__init__", "planning"]
    imports = "".join(
        f"import fairgat.{name.removesuffix('/__init__')}\n" for name in names
    )
    package(
        workflow_scripts__job=imports,
        **{f"fairgat__{name.replace('/', '__')}": "x = 1" for name in names},
    )
    assert closure(JOB) == ["fairgat/files_of.py", "fairgat/planning.py"]
    assert closure(JOB, without=("plan", "files_o")) == [
        "fairgat/files_of.py",
        "fairgat/planning.py",
    ]


def test_the_files_that_a_module_names_are_part_of_it(package, tmp_path):
    package(
        workflow_scripts__job="import fairgat.facts",
        fairgat__facts="f = 'a/facts.yaml', 'a/weights.csv', 'b/lost.yaml', 'a', ''\n"
        f"g = '/proc/meminfo', '../outside.csv', '{'long' * 999}', 'a\\0'",
    )
    for name in ("fairgat/a/facts.yaml", "fairgat/a/weights.csv", "outside.csv"):
        (tmp_path / name).write_text("x: 1")
    (tmp_path / "fairgat/a/page.md.j2").write_text("")
    named = ["fairgat/a/facts.yaml", "fairgat/a/weights.csv"]
    assert closure(JOB) == [*named, "fairgat/facts.py"]


def test_what_a_page_computes_of_settings_is_part_of_it_and_what_may_be_set_is_not():
    files = closure(ROOT / "workflow_scripts/audit.py")
    assert {"fairgat/config/shown.py", "fairgat/config/protocol.py"} < {
        *files
    }  # such as `ratios`, `test_ratio`
    assert "fairgat/config/models.py" not in files


def test_a_digest_is_of_what_is_run_through_and_not_of_its_times(package, tmp_path):
    package(
        workflow_scripts__job="from fairgat.a.one import f",
        fairgat__a__one="f = 1",
        fairgat__a__two="",
    )
    digests = [digest(JOB)]
    os.utime(tmp_path / "fairgat/a/one.py", (0, 0))
    for module, text in (
        ("a__two", "x = 0"),
        ("a__two", "x = 1"),
        ("a__one", "f = 2"),
        ("a__one", "f = 3"),
    ):
        package(**{f"fairgat__{module}": text})
        digests.append(digest(JOB))
    assert [digests.index(each) for each in digests] == [0, 0, 0, 3, 4]


def test_a_file_of_an_earlier_version_is_not_asked_for():
    check_targets(["--cores", "1", "--", "results/runs/a/run.json"])
    with pytest.raises(ConfigError, match=r"a/metrics\.json: .*Ask for run\.json"):
        check_targets(["--", "results/runs/a/metrics.json"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\ny = (\n", "two.py, line 2: '.' was never closed"),
        ("\nfrom . import x", "two.py, line 2: write this import in full"),
    ],
)
def test_an_error_in_a_file_that_is_run_through_has_its_place(package, text, expected):
    package(workflow_scripts__job="from fairgat.a import two", fairgat__a__two=text)
    with pytest.raises(ConfigError, match=expected):
        closure(JOB)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("READS = ('winers',)", "READS must be a tuple of kinds of files"),
        ("TASK = None", "it is None"),
        ("READS = ('runs',)\nTASK = 'nodes'", "TASK must be one of"),
        ("READS = ()", "READS must be a tuple of kinds of files"),
        ("READS = ('runs', ['cells'])", "READS must be a tuple of kinds of files"),
        ("READS = tuple(['runs'])", "READS must be written out"),
        ("READS = (", "line 1"),
    ],
)
def test_a_module_must_say_what_it_reads(package, text, message):
    package(fairgat__report__tables__mine=text)
    with pytest.raises(ConfigError, match=message):
        declared("tables", "mine")


def test_what_a_module_reads_may_have_a_type(package):
    package(fairgat__report__tables__own="READS: tuple[str, ...] = ('runs',)")
    assert declared("tables", "own").reads == ("runs",)


def test_reading_the_rules_imports_nothing_heavy():
    code = """
import sys
from fairgat import config
from fairgat.config import shown
from fairgat.data import datasets
from fairgat.plan import Plan
from fairgat.measures import checks

experiment = config.load_files("config.yaml")
datasets.check(experiment)
checks.check(experiment)
shown.audit_settings(experiment)
plan = Plan(experiment)
for table in plan.tables():
    shown.table_settings(experiment, table, plan.table(table).task)
print(*sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert not {
        "torch",
        "matplotlib",
        "pandas",
        "numba",
        "scipy",
        "torch_geometric",
        "pooch",
    } & set(done.stdout.split())
