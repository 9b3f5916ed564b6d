"""Any text, safely, in LaTeX and in Markdown."""

import re
import unicodedata

_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    '"': r"\char34{}",
    "±": r"\ensuremath{\pm}",
    "−": r"\ensuremath{-}",
    "×": r"\ensuremath{\times}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "≠": r"\ensuremath{\neq}",
    "→": r"\ensuremath{\rightarrow}",
    "√": r"\ensuremath{\surd}",
    "✓": r"\ensuremath{\surd}",
    "✗": r"\ensuremath{\times}",
    "–": "--",
    "—": "---",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "…": r"\dots{}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
}
_SMALL = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
_GREEK = dict(zip("αβγδεζηθικλμνξπρστφχψω", _SMALL.split(" "), strict=True)) | dict(
    zip("ΓΔΘΛΞΠΣΦΨΩ", ["Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"], strict=True)
)
_TEX |= {letter: rf"\ensuremath{{\{name}}}" for letter, name in _GREEK.items()}
_ACCENTS = {  # combining character → LaTeX's accent, so that no input encoding is needed
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0308": '"',
    "\u030a": "r",
    "\u030c": "v",
    "\u0327": "c",
}


def tex(text: str) -> str:
    """LaTeX that prints this text in any engine with no package loaded.

    A character that LaTeX lacks is printed as its code point, such as U+4E2D.
    """
    escaped = "".join(_tex_character(character) for character in " ".join(text.split()))
    return "{}" + escaped if escaped[:1] in ("[", "*") else escaped  # else an argument of the \\ before it


def _tex_character(character: str) -> str:
    if character in _TEX:
        return _TEX[character]
    if character.isascii():
        return character if character.isprintable() else ""
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return f"U+{ord(character):04X}"


def markdown(text: str) -> str:
    """Markdown that shows this text in a GitHub table: one line, pipes and markup escaped."""
    text = re.sub(r"([\\`*|~$\[\]])", r"\\\1", " ".join(text.split()))
    text = re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)  # within a word, GitHub leaves _ alone
    return text.replace("&", "&amp;").replace("<", "&lt;") if re.search(r"<|&\w+;", text) else text
