"""Text that came from elsewhere, such as a title or a column's name, on one line."""


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
