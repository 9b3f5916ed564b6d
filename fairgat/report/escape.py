"""Any text, safely, in LaTeX and in Markdown."""

import re
import unicodedata

_ASCII = dict(zip("{}$&#%_", [rf"\{sign}" for sign in "{}$&#%_"], strict=True)) | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    '"': r"\char34{}",
}
_MATHS = {"<": "<", ">": ">", "|": "|", "±": r"\pm", "−": "-", "×": r"\times", "≤": r"\leq", "≥": r"\geq"}
_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
_GREEK += " Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
_MATHS |= dict(zip("αβγδεζηθικλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩ", (rf"\{name}" for name in _GREEK.split()), strict=True))
_MATHS |= {"≠": r"\neq", "→": r"\rightarrow", "√": r"\surd", "✓": r"\surd", "✗": r"\times"}
_WORDS = {"–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''", "…": r"\dots{}"}
_WORDS |= dict(
    zip("ßæÆœŒøØłŁ", (rf"\{name}{{}}" for name in ("ss", "ae", "AE", "oe", "OE", "o", "O", "l", "L")), strict=True)
)
# Combining character → LaTeX's accent, so that no input encoding is needed.
_ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327", "`'^~\"rvc", strict=True))


def tex(text: str) -> str:
    """Escape text for LaTeX, in any engine with no package loaded.

    A character that LaTeX lacks is printed as its code point, such as U+4E2D.
    """
    escaped = "".join(_tex_character(character) for character in " ".join(text.split()))
    return "{}" + escaped if escaped[:1] in ("[", "*") else escaped  # else an argument of the \\ before it


def _tex_character(character: str) -> str:
    if known := (_ASCII | _WORDS).get(character):
        return known
    if character in _MATHS:
        return rf"\ensuremath{{{_MATHS[character]}}}"
    if character.isascii():
        return character if character.isprintable() else ""
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return f"U+{ord(character):04X}"


def markdown(text: str) -> str:
    """Escape text for a GitHub table: one line, pipes and markup escaped."""
    text = re.sub(r"([\\`*|~$\[\]])", r"\\\1", " ".join(text.split()))
    text = re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)  # within a word, GitHub leaves _ alone
    return text.replace("&", "&amp;").replace("<", "&lt;") if re.search(r"<|&\w+;", text) else text
