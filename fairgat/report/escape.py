"""Any text, safely, in LaTeX and in Markdown."""

import re

from markupsafe import Markup, escape
from pylatexenc.latexencode import (
    RULE_DICT,
    RULE_REGEX,
    UnicodeToLatexConversionRule,
    UnicodeToLatexEncoder,
)

# LaTeX's old font encoding prints a dash for |; the other two need a package or are unknown to pylatexenc.
_OWN = {
    ord("|"): r"\textbar{}",
    ord("✓"): r"\ensuremath{\surd}",
    ord("✗"): r"\ensuremath{\times}",
}
_QUOTES = [(re.compile(r'(?<![^\s([])"'), "``"), (re.compile('"'), "''")]
_CODE = re.compile("`([^`]+)`")
_ENCODER = UnicodeToLatexEncoder(
    conversion_rules=[
        UnicodeToLatexConversionRule(RULE_DICT, _OWN),
        UnicodeToLatexConversionRule(RULE_REGEX, _QUOTES),
        "defaults",
    ],
    replacement_latex_protection="braces-after-macro",
    unknown_char_policy=lambda character: f"U+{ord(character):04X}",
    unknown_char_warning=False,
)


def tex(text: str) -> str:
    """Escape text for LaTeX, in any engine with no package loaded; what stands in backticks is set as code.

    A character that LaTeX lacks is printed as its code point, such as U+4E2D.
    """
    parts = [
        _ENCODER.unicode_to_latex(part) for part in _CODE.split(" ".join(text.split()))
    ]
    parts[1::2] = [rf"\texttt{{{part}}}" for part in parts[1::2]]
    escaped = "".join(parts)
    return (
        "{}" + escaped if escaped[:1] in ("[", "*") else escaped
    )  # else an argument of the \\ before it


def markdown(text: str) -> str:
    """Escape text for a GitHub table: one line, pipes and markup escaped but for code in backticks."""
    parts = _CODE.split(" ".join(text.split()))
    parts[::2] = [_escaped(part) for part in parts[::2]]
    return "`".join(parts)


def html(text: str) -> Markup:
    """Escape text for a page, with code where it stands in backticks."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def _escaped(text: str) -> str:
    text = re.sub(r"([\\`*|~$\[\]])", r"\\\1", text)
    text = re.sub(
        r"(?<!\w)_|_(?!\w)", r"\\_", text
    )  # within a word, GitHub leaves _ alone
    return (
        text.replace("&", "&amp;").replace("<", "&lt;")
        if re.search(r"<|&\w+;", text)
        else text
    )
