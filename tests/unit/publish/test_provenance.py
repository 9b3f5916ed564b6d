"""What a run says of how it was made: its provenance, and a crate that is valid."""

import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from fairgat import config
from fairgat.environment import revision
from fairgat.files import read_json, write_json, write_text
from fairgat.publish import crate, provenance
from fairgat.report.render import render

HEADER = "s\th:m:s\tmax_rss\tcpu_time\n"


@pytest.fixture
def benchmarks(tmp_path):
    for name, text in {
        "train/nodes/a/gat/default/split-0.tsv": "1.5\t0:00:01\t100.0\t1.25\n",
        "train/nodes/a/gat/default/split-1.tsv": "2.5\t0:00:02\t300.0\t2.0\n",
        "train/nodes/a/nifty/weight~1/split-0.tsv": "9\t0:00:09\t9.0\t7200\n",
        "audit.tsv": "0.2\t0:00:00\tNA\tNA\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + text)
    return tmp_path


def test_costs_are_summed_per_rule(benchmarks):
    assert provenance.costs(benchmarks) == {
        "audit": {"jobs": 1, "wall_seconds": 0.2, "cpu_seconds": 0.0, "peak_mb": 0.0},
        "train": {
            "jobs": 3,
            "wall_seconds": 13.0,
            "cpu_seconds": 7203.2,
            "peak_mb": 300.0,
        },
    }
    assert provenance.costs(benchmarks / "none") == {}


def test_a_benchmark_that_was_cut_off_costs_nothing(benchmarks):
    before = provenance.costs(benchmarks)
    (benchmarks / "perfect.tsv").write_text("")
    (benchmarks / "split.tsv").write_text("s\th:m")
    assert provenance.costs(benchmarks) == before


def test_hours_are_summed_per_method_and_data_set(benchmarks):
    assert provenance.hours(benchmarks) == [
        {"dataset": "a", "method": "gat", "jobs": 2, "cpu_hours": 0.001},
        {"dataset": "a", "method": "nifty", "jobs": 1, "cpu_hours": 2.0},
    ]
    assert provenance.hours(benchmarks / "none") == []


def test_a_run_that_judges_an_earlier_one_says_where_that_was_trained(tmp_path):
    trained = [{"commit": "bee", "modified": False, "runs": 5}]
    keys = ("command", "commit", "modified", "machine", "versions", "rules")
    earlier = dict.fromkeys(keys, "then") | {"trained_at": trained, "config": {}}
    write_json(tmp_path / "first/provenance.json", earlier)
    said = provenance.training_of(tmp_path / "first", [])
    assert said["trained_at"] == trained
    assert said["training"] == dict.fromkeys(keys, "then")
    write_json(tmp_path / "second/provenance.json", earlier | said)
    assert provenance.training_of(tmp_path / "second", []) == said
    assert provenance.training_of(tmp_path / "none", []) == {}


@pytest.fixture
def checkout(tmp_path):
    """A checkout of one file, as it was committed."""

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        command = ["git", "-C", str(tmp_path), *identity, *arguments]
        subprocess.run(command, check=True, capture_output=True)

    git("init")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-m", "first")
    return tmp_path


def test_modules_of_the_repository_are_named_from_its_root_on(tmp_path):
    asked = {
        "methods": {"mine": {"module": f"{tmp_path}/beyond/mine.py", "seed": 1}},
        "figures": ["runtime", f"{tmp_path}/my/figure.py"],
        "measures": ["/elsewhere/measure.py"],
        "data_mirror": f"{tmp_path}/files",
    }
    said = provenance.modules_from_root(asked, tmp_path)
    assert said == {
        "methods": {"mine": {"module": "beyond/mine.py", "seed": 1}},
        "figures": ["runtime", "my/figure.py"],
        "measures": ["/elsewhere/measure.py"],
        "data_mirror": f"{tmp_path}/files",
    }


def test_what_is_no_checkout_has_no_revision(tmp_path):
    assert revision(tmp_path) == {"commit": None, "modified": None}


def test_a_checkout_as_it_was_committed_has_a_commit(checkout):
    found = revision(checkout)

    assert len(found["commit"]) == 40
    assert found["modified"] is False


def test_a_checkout_of_another_user_has_its_commit_too(checkout, monkeypatch):
    own = revision(checkout)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # Git's own switch
    assert revision(checkout) == own


@pytest.mark.parametrize(
    ("paths", "modified"),
    [
        ([], True),
        ([["f*", "nothing"]], True),
        ([["other"]], False),
        ([[".", "/elsewhere"]], None),
    ],
    ids=["everything", "the file", "other files", "beyond the checkout"],
)
def test_a_changed_file_modifies_what_it_is_part_of(checkout, paths, modified):
    (checkout / "file").write_text("2")
    assert revision(checkout, *paths)["modified"] is modified


def test_a_package_installed_inside_a_checkout_is_not_of_it(checkout):
    untracked = checkout / ".venv/fairgat"
    untracked.mkdir(parents=True)
    (untracked / "__init__.py").write_text("")
    assert revision(untracked) == {"commit": None, "modified": None}


def test_the_page_says_what_trained_and_what_it_cost(benchmarks, tmp_path):
    old = {"commit": "c0ffee", "modified": True, "runs": 2}
    new = {"commit": "bee", "modified": False, "runs": 5}
    write_json(tmp_path / "a.json", {"trained_at": [old]})
    write_json(tmp_path / "b.json", {"trained_at": [new, old]})
    settings = config.load({"seed": 7, "datasets": {}, "methods": {}})

    content = provenance.collect(
        "snakemake --cores <2>",
        tmp_path,
        settings.model_dump(),
        benchmarks,
        [tmp_path / "a.json", tmp_path / "b.json"],
        {"tables/comparison.md": "ab"},
    )

    assert content["files"] == {"tables/comparison.md": "ab"}
    assert content["trained_at"] == [new, old | {"runs": 4}]
    assert content["versions"]["numpy"]
    html = render(provenance.page(content), "html")
    for text in ("snakemake --cores &lt;2&gt;", "unknown", ">7<", ">train<", ">300<"):
        assert text in html
    assert "bee: 5 runs, c0ffee with uncommitted changes: 4 runs" in html


VALIDATOR = Path(__file__).parents[3] / ".crate-validator/bin"
PROVENANCE = {
    "command": "snakemake --cores 2",
    "commit": "0123456789abcdef",
    "versions": {"python": "3.12.0", "snakemake": "9.27.1"},
    "config": {"seed": 0, "splits": {"count": 2}},
}
# Run in the validator's environment: with the context in its cache of web pages, it
# asks nothing of the network.
WARM = """
import io, sys
from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse

class Given(HTTPAdapter):
    def send(self, request, **_):
        body = io.BytesIO(sys.stdin.buffer.read())
        headers = {"Content-Type": "application/ld+json"}
        response = HTTPResponse(
            body, headers, 200, preload_content=False, request_url=request.url
        )
        return self.build_response(request, response)

session = CachedSession(sys.argv[1], backend="sqlite", expire_after=-1)
session.mount("https://w3id.org/", Given())
session.get("https://w3id.org/ro/crate/1.1/context")
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Some results."""
    folder = tmp_path_factory.mktemp("results")
    for path in (
        "runs/a/runs.csv",
        "tables/comparison.md",
        "workflow/Snakefile",
        "data/graphs/cora.npz",
    ):
        write_text(folder / path, "x\n")
    file = {
        "name": "cora/Planetoid.zip",
        "sha256": "ab" * 32,
        "source": "https://example.org/cora.zip",
    }
    manifests = []
    for dataset in ("cora", "cora-scaled"):  # of the same file
        manifest = folder / f"data/raw/{dataset}/manifest.json"
        write_json(manifest, {"dataset": dataset, "files": [file]})
        manifests.append(manifest)
    others = [file | {"name": "other.zip"}]  # of an earlier run in this folder
    write_json(folder / "data/raw/other/manifest.json", {"files": others})
    described = crate.describe(folder, PROVENANCE, "me", [*manifests, "none"])
    write_json(folder / "ro-crate-metadata.json", described)
    return folder


def test_the_crate_says_what_was_run(results):
    content = read_json(results / "ro-crate-metadata.json")
    graph = {entity["@id"]: entity for entity in content["@graph"]}

    assert graph["./"]["mainEntity"] == {"@id": "workflow/Snakefile"}
    assert graph["workflow/Snakefile"]["version"] == PROVENANCE["commit"]
    assert graph["https://w3id.org/ro/wfrun/workflow/0.5"]["version"] == "0.5"
    assert graph["#cora/Planetoid.zip"]["identifier"] == "sha256:" + "ab" * 32
    assert graph["#value-splits"]["value"] == '{"count": 2}'
    run = graph["#run"]
    given = [entity["@id"] for entity in run["object"]]
    assert given == ["#cora/Planetoid.zip", "#value-seed", "#value-splits"]
    made = {entity["@id"] for entity in run["result"]}
    assert made == {"data/graphs/", "runs/", "tables/"}
    restricted = {name for name in made if "conditionsOfAccess" in graph[name]}
    assert restricted == {"data/graphs/"}


@pytest.mark.parametrize("profile", ["process", "workflow"])
def test_the_crate_is_valid(results, profile, tmp_path):
    if not VALIDATOR.exists():
        pytest.skip("roc-validator is not installed (make .crate-validator)")
    context = files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes()
    cache = tmp_path / "cache"
    subprocess.run([VALIDATOR / "python", "-c", WARM, cache], input=context, check=True)
    command = [
        VALIDATOR / "rocrate-validator",
        "-y",
        "validate",
        "--profile-identifier",
        f"{profile}-run-crate-0.5",
        "--no-paging",
        "--verbose",
        "--offline",
        "--cache-path",
        cache,
        results,
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"is a valid {profile}-run-crate" in run.stdout
