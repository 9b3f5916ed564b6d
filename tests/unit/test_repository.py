"""The files beside the package: in step with it, with links that lead somewhere."""

import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from fairgat import __version__, checksums
from fairgat.config import DEFAULTS
from tools import api, schema
from tools import requirements as lock

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(\s*([^)\s]+)\s*\)")


def test_the_schema_is_in_step_with_the_models():
    written = json.loads((ROOT / "schemas" / "config.schema.json").read_text())
    assert written == schema.generate(), "run `make schema`"


def test_the_packages_configuration_is_the_repositorys():
    assert DEFAULTS.read_bytes() == (ROOT / "config.yaml").read_bytes()


def _entries(path):
    return lock.entries((ROOT / path).read_text())


def test_every_package_is_pinned_with_the_hashes_of_its_files():
    for path in ("requirements.lock", "envs/torch.lock", "envs/torch-cpu.lock"):
        assert _entries(path)
        for entry in _entries(path):
            first, *hashes = entry.splitlines()
            assert re.match(r"[\w.-]+==\S+", first), entry
            assert hashes, f"{first} in {path} has no hash: run `make lock`"
            for line in hashes:
                assert re.fullmatch(r" +--hash=sha256:[0-9a-f]{64}( \\)?", line)


def test_the_lock_files_are_in_step():
    others = [lock.pin(entry) for entry in _entries("requirements.lock")]
    pypi = [lock.pin(entry) for entry in _entries("envs/torch.lock")]
    (torch,) = [pin for pin in pypi if pin.startswith("torch==")]
    assert [lock.pin(entry) for entry in _entries("envs/torch-cpu.lock")] == [
        f"{torch}+cpu"
    ]
    conda = (ROOT / "envs" / "fairgat.yaml").read_text()
    assert conda == lock.conda_environment([torch, *others]), "run `make lock`"


def test_the_lock_leaves_cuda_out(monkeypatch):
    names = ["torch", "nvidia-cublas-cu12", "triton", "fairgat", "numpy"]
    found = [SimpleNamespace(name=name, version="1.0+cpu") for name in names]
    monkeypatch.setattr(lock.importlib.metadata, "distributions", lambda: found)
    assert lock.installed() == ["numpy==1.0", "torch==1.0"]


def test_a_lock_file_is_read_by_package():
    text = "# by uv\na==1 ; python_version > '3' \\\n    --hash=sha256:0\nb==2\n"
    one, two = lock.entries(text)
    assert one.endswith("--hash=sha256:0") and two == "b==2"
    assert lock.pin(one) == "a==1 ; python_version > '3'"


# What keeps a tag that its owner may move, as no commit or digest could be looked up.
_BY_TAG = {
    "docker://condaforge/miniforge3:24.11.3-0",
    "https://github.com/astral-sh/ruff-pre-commit v0.17.5",
    "https://github.com/snakemake/snakefmt v2.1.0",
}


def test_what_others_publish_is_named_by_its_content():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    named = {f"{hook['repo']} {hook['rev']}" for hook in hooks["repos"]}
    for path in sorted((ROOT / ".github/workflows").iterdir()):
        named |= {*re.findall(r"uses: *(\S+)", path.read_text())}
    named |= {*re.findall(r'^container: "(.*)"', _text("Snakefile"), re.MULTILINE)}
    named |= {*re.findall(r"^FROM (\S+)", _text("envs/Containerfile"), re.MULTILINE)}
    moving = {
        name
        for name in named
        if not re.search(r"[@ ]([0-9a-f]{40}|sha256:[0-9a-f]{64})$", name)
    }
    assert moving == _BY_TAG


def test_the_container_does_not_run_as_root():
    users = re.findall(r"^USER (\S+)", _text("envs/Containerfile"), re.MULTILINE)
    assert users and users[-1] not in ("root", "0")


def _text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_page_of_the_api_is_in_step_with_the_docstrings():
    assert (ROOT / "docs" / "api.md").read_text(encoding="utf-8") == api.generate(), (
        "run `make api`"
    )


def test_what_is_published_is_as_it_was_written():
    found = checksums.verify(ROOT / "results" / "reference")
    advice = "of what was changed on purpose: see docs/workflow.md, Publish a run"
    assert found.whole and not found.problems + found.unrecorded, advice


def test_what_archives_read_says_the_same():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    codemeta = json.loads((ROOT / "codemeta.json").read_text("utf-8"))
    assert citation["version"] == codemeta["version"] == __version__
    assert (
        citation["title"] == codemeta["name"]
        and citation["keywords"] == codemeta["keywords"]
    )
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in codemeta["author"]
    ]
    assert citation["references"][0]["url"] == codemeta["referencePublication"]["url"]
    assert codemeta["license"].endswith(citation["license"])


def _anchors(page):
    """As GitHub makes them: lower case, hyphens for blanks, no other marks."""
    headings = re.findall(
        r"^#+ (.*)$", _CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        for heading in headings
    }


def test_every_link_leads_somewhere():
    broken = []
    for page in PAGES:
        for link in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if re.match(r"\w+:|\.\./\.\./(actions|deployments)", link) or (
                target.exists() and (not anchor or anchor in _anchors(target))
            ):
                continue
            broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert not broken


@pytest.mark.parametrize(
    ("arguments", "makes_report"),
    [
        ("", True),
        ("--cores 2 -k", True),
        ("-n", False),
        ("-pn", False),
        ("--dry-run", False),
        ("--unlock", False),
    ],
)
def test_make_asks_for_no_report_of_what_runs_nothing(arguments, makes_report):
    command = ["make", "-n", "demo", f"ARGS={arguments}"]
    shown = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ("--report-after-run" in shown.stdout) == makes_report
