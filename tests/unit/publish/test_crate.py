"""ro-crate-metadata.json of a small run: what it says, and that it is valid by the profiles that it names."""

import json
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from fairgat.files import write_json, write_text
from fairgat.publish import crate

VALIDATOR = Path(__file__).parents[3] / ".crate-validator/bin"
PROVENANCE = {
    "command": "snakemake --cores 2",
    "commit": "0123456789abcdef",
    "versions": {"python": "3.12.0", "snakemake": "9.27.1"},
    "config": {"seed": 0, "splits": {"count": 2}},
    "rules": {"download": {"jobs": 1}, "train": {"jobs": 2}, "tables": {"jobs": 1}},
}
# Run in the validator's environment: its cache of web pages gets the context, so that nothing is asked of the network.
WARM = """
import io, sys
from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse

class Given(HTTPAdapter):
    def send(self, request, **_):
        body, headers = io.BytesIO(sys.stdin.buffer.read()), {"Content-Type": "application/ld+json"}
        return self.build_response(
            request, HTTPResponse(body, headers, 200, preload_content=False, request_url=request.url)
        )

session = CachedSession(sys.argv[1], backend="sqlite", expire_after=-1)
session.mount("https://w3id.org/", Given())
session.get("https://w3id.org/ro/crate/1.1/context")
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of three rules."""
    folder = tmp_path_factory.mktemp("results")
    for path in ("runs/a/runs.csv", "tables/comparison.md", "workflow/Snakefile"):
        write_text(folder / path, "x\n")
    file = {"name": "cora/Planetoid.zip", "sha256": "ab" * 32, "source": "https://example.org/cora.zip"}
    write_json(folder / "data/raw/cora/manifest.json", {"dataset": "cora", "files": [file]})
    for path in ("download/cora.tsv", "train/a/split-0.tsv", "train/a/split-1.tsv", "tables/comparison.tsv"):
        write_text(folder / "benchmarks" / path, "s\th:m:s\n12.5\t0:00:12\n")
    write_json(folder / "ro-crate-metadata.json", crate.describe(folder, PROVENANCE, "me", folder / "data/raw"))
    return folder


def test_it_says_what_was_run(results):
    graph = {entity["@id"]: entity for entity in json.loads((results / "ro-crate-metadata.json").read_text())["@graph"]}
    assert graph["./"]["mainEntity"] == {"@id": "workflow/Snakefile"}
    assert {step["@id"] for step in graph["workflow/Snakefile"]["step"]} == {f"#step-{n}" for n in PROVENANCE["rules"]}
    assert graph["#cora/Planetoid.zip"]["identifier"] == "sha256:" + "ab" * 32
    assert graph["#value-splits"]["value"] == '{"count": 2}'
    train = graph["#action-train"]
    assert train["description"] == "2 jobs"
    assert train["startTime"] < train["endTime"]
    assert {entity["@id"] for entity in graph["#run"]["result"]} == {"runs/", "tables/"}


@pytest.mark.parametrize("profile", ["process", "workflow", "provenance"])
def test_it_is_valid(results, profile, tmp_path):
    if not VALIDATOR.exists():
        pytest.skip("roc-validator is not installed (make .crate-validator)")
    context = files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes()
    cache = tmp_path / "cache"
    subprocess.run([VALIDATOR / "python", "-c", WARM, cache], input=context, check=True)
    command = [
        VALIDATOR / "rocrate-validator", "-y", "validate", "--profile-identifier", f"{profile}-run-crate-0.5",
        "--no-paging", "--verbose", "--offline", "--cache-path", cache, results,
    ]  # fmt: skip
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert run.returncode == 0 and f"is a valid {profile}-run-crate" in run.stdout, run.stdout
