"""Any text, safely, in each format of a page: one function a format.

What comes out is one line (`fairgat.texts.shown`) that reads as the text does; what
stands in backticks is set as code where the format has it. Figures have theirs in
`fairgat.report.style`, reStructuredText and the terminal in `fairgat.texts`.
"""

import re

from markupsafe import Markup, escape
from pylatexenc.latexencode import (
    RULE_DICT,
    RULE_REGEX,
    UnicodeToLatexConversionRule,
    UnicodeToLatexEncoder,
)

from fairgat.texts import shown

_CODE = re.compile("(?<!`)`([^`]+)`(?!`)")

# LaTeX's old font encoding prints a dash for |; the other two need a package or are
# unknown to pylatexenc.
_OWN = {
    ord("|"): r"\textbar{}",
    ord("✓"): r"\ensuremath{\checkmark}",
    ord("✗"): r"\ensuremath{\times}",
}
# What our own texts have in Unicode, the longer first.
_FORMULAS = {
    "|a_0 + a_1 − 1|": r"|a_0 + a_1 - 1|",
    "1 − (R_0 + R_1) α": r"1 - (R_0 + R_1)\,\alpha",
    "1 − a_0 − a_1": r"1 - a_0 - a_1",
    "R_0 + R_1": r"R_0 + R_1",
    "α_χ^max": r"\alpha_{\max}^{\chi}",
    "α_χ": r"\alpha^{\chi}",
    "ΔSP": r"\Delta_{SP}",
    "ΔEO": r"\Delta_{EO}",
    "ΔDP": r"\Delta DP",
    "τ(B)": r"\tau(B)",
}


def _formulas() -> list[tuple[re.Pattern[str], str]]:
    """The rules that set formulas, as pylatexenc has them."""
    rules = []
    for plain, tex in _FORMULAS.items():
        literal = f"${tex}$".replace("\\", r"\\")
        rules.append((re.compile(re.escape(plain)), literal))
    return rules


# After a capital LaTeX takes a full stop for that of an abbreviation.
_STOPS = [(re.compile(r"(?<=[A-Z])([.:;?!])(?=\s|$)"), r"\\@\1")]
_QUOTES = [(re.compile(r'(?<![^\s([])"'), "``"), (re.compile('"'), "''")]
_ENCODER = UnicodeToLatexEncoder(
    conversion_rules=[
        UnicodeToLatexConversionRule(RULE_REGEX, _formulas()),
        UnicodeToLatexConversionRule(RULE_DICT, _OWN),
        UnicodeToLatexConversionRule(RULE_REGEX, _QUOTES),
        UnicodeToLatexConversionRule(RULE_REGEX, _STOPS),
        "defaults",
    ],
    replacement_latex_protection="braces-after-macro",
    unknown_char_policy=lambda character: f"U+{ord(character):04X}",
    unknown_char_warning=False,
)

_MATH = re.compile(r"\\ensuremath\{(\\[A-Za-z]+|[<>])\}")

# What begins a block of Markdown where a line begins: a heading, a quotation, a list or
# a rule. A backslash before its last sign makes it text.
_BLOCK = re.compile(
    r"^(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|\d{1,9}[.)](?=\s|$)|=+$|(-\s*){2,}$)"
)

# What a table has where it begins with a sign: a number, perhaps with its deviation,
# with its marks or its interval, and with the paper's. A spreadsheet takes anything
# else for a formula.
_NUMBER = re.compile(
    r"[-+]\d+(\.\d+)?(e[-+]?\d+)?( ± [\d.]+)?( \[[\d., +-]+\])?( \([-+]?[\d.]+\))?"
)
_FORMULA = ("=", "+", "-", "@")


def tex(text: str) -> str:
    """Escape text for LaTeX, in any engine with amssymb.

    A character that LaTeX lacks is printed as its code point, such as U+4E2D.
    """
    written = []
    for place, part in enumerate(_CODE.split(shown(text))):
        is_code = place % 2 == 1
        part = _ENCODER.unicode_to_latex(part)
        written.append(rf"\texttt{{{part}}}" if is_code else part)
    escaped = _MATH.sub(r"$\1$", "".join(written))
    if escaped.startswith(("[", "*")):  # else an argument of the \\ before it
        return "{}" + escaped
    return escaped


def markdown(text: object) -> str:
    """Escape text for GitHub's Markdown, within a line or a table's cell."""
    parts = _CODE.split(shown(str(text)))
    written = []
    for place, part in enumerate(parts):
        is_code = place % 2 == 1
        written.append(_markdown_code(part) if is_code else _unmarked(part))
    return "".join(written)


def markdown_line(text: object) -> str:
    """Escape text for GitHub's Markdown, at the beginning of a line."""
    return _BLOCK.sub(_as_text, markdown(text))


def html(text: str) -> Markup:
    """Escape text for a page, with code where it stands in backticks."""
    escaped = str(escape(shown(text)))
    return Markup(_CODE.sub(r"<code>\1</code>", escaped))


def csv(text: object) -> str:
    """Write text for a cell of a CSV file, in which a spreadsheet sees no formula."""
    line = shown(str(text))
    if line.startswith(_FORMULA) and not _NUMBER.fullmatch(line):
        return f"'{line}"
    return line


def _as_text(begins: re.Match) -> str:
    """Write what would begin a block with a backslash before its sign."""
    digits = re.match(r"\d*", begins[0])[0]
    return digits + "\\" + begins[0].removeprefix(digits)


def _markdown_code(text: str) -> str:
    """Set code; with a pipe in it, which would end a table's cell, as HTML."""
    if "|" in text:
        return f"<code>{_unmarked(text)}</code>"
    return f"`{text}`"


def _unmarked(text: str) -> str:
    """Escape Markdown's markup; within a word, it leaves _ alone."""
    text = re.sub(r"([\\`*|~$\[\]])", r"\\\1", text)
    text = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)
    if re.search(r"<|&#?\w+;", text):
        text = text.replace("&", "&amp;").replace("<", "&lt;")
    return text
