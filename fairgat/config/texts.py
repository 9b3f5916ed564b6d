"""The type of texts that pages show."""

import unicodedata
from typing import Annotated, Any

from pydantic import BeforeValidator

# Line breaks and other control characters, the separators of lines and paragraphs, and
# halves of surrogates, which no file can hold.
_CATEGORIES = {"Cc", "Zl", "Zp", "Cs"}
# What turns the direction of all that follows: text is then not what it looks like.
_TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def one_line(text: Any) -> Any:
    """Refuse line breaks, other control characters and what turns text around.

    Whatever a text is put into, a report's source or a terminal, it cannot begin a line
    there. Blanks and line breaks at its ends, as YAML's `|` leaves them, are left out.

    Raises:
        ValueError: naming the character and its place.
    """
    if not isinstance(text, str):
        return text  # refused by its type
    text = text.strip()
    for place, character in enumerate(text, start=1):
        if _is_control(character):
            raise ValueError(
                f"expected one line without control characters, but character {place} "
                f"is {character!a}; YAML's >- joins lines"
            )
    return text


def _is_control(character: str) -> bool:
    if unicodedata.category(character) in _CATEGORIES:
        return True
    return unicodedata.bidirectional(character) in _TURNS


Line = Annotated[str, BeforeValidator(one_line)]
"""A title, note or other text that pages show."""
