"""The links of README.md, CONTRIBUTING.md, CHANGELOG.md and docs/ lead to files, and to headings in them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(\s*([^)\s]+)\s*\)")


def _anchors(page):
    """As GitHub makes them of headings: lower case, blanks as hyphens, other marks left out."""
    headings = re.findall(r"^#+ (.*)$", _CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def test_every_link_leads_somewhere():
    broken = []
    for page in PAGES:
        for link in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if re.match(r"\w+:", link) or (target.exists() and (not anchor or anchor in _anchors(target))):
                continue
            broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert not broken
