"""Text that came from elsewhere, such as a title or a column's name, on one line."""

import unicodedata


def shown(text: str) -> str:
    """Write text on one line of a terminal or a page, whatever is in it.

    Blanks and line breaks become one blank; what acts becomes `visible`.
    """
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    r"""Write what is not printed but acts as its code: `\x1b`, `\n`, `\u202e`.

    Such as escapes, line breaks, marks of writing direction and zero widths.
    """
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return ascii(character).strip("'")


def compared(text: str) -> str:
    """Take out what nobody sees, so that texts that look alike are the same.

    Those are format and control characters (zero widths, marks of writing direction);
    blanks and line breaks are joined into one blank, and none is at an end. A letter
    and its accent are one character (Unicode's form NFC), however a file has them.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    visible_characters = [
        character
        for character in text
        if character.isspace() or not _is_unseen(character)
    ]
    joined = " ".join("".join(visible_characters).split())
    return unicodedata.normalize("NFC", joined)


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf")
