"""The files beside the package: in step with it, with links that lead somewhere."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import yaml

from fairgat import __version__, checksums
from tools import api, schema
from tools import requirements as lock

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(\s*([^)\s]+)\s*\)")


def test_the_schema_is_in_step_with_the_models():
    written = json.loads((ROOT / "schemas" / "config.schema.json").read_text())
    assert written == schema.generate(), "run `make schema`"


def test_the_conda_environment_is_in_step_with_the_lock():
    pins = (ROOT / "requirements.lock").read_text().split()
    assert (ROOT / "envs" / "fairgat.yaml").read_text() == lock.conda_environment(
        pins
    ), "run `make lock`"
    assert "torch==2.13.0" in pins


def test_the_lock_leaves_cuda_out(monkeypatch):
    names = ["torch", "nvidia-cublas-cu12", "triton", "fairgat", "numpy"]
    found = [SimpleNamespace(name=name, version="1.0+cpu") for name in names]
    monkeypatch.setattr(lock.importlib.metadata, "distributions", lambda: found)
    assert lock.installed() == ["numpy==1.0", "torch==1.0"]


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
    """As GitHub makes them of headings: lower case, blanks as hyphens, other marks left out."""
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
