"""Failed training runs in words: one phrase per cell and reason, however many splits failed alike."""

from collections.abc import Iterable


def phrases(failed: Iterable[tuple[str, str, int, str]]) -> list[str]:
    """`where, split 0` or `where, splits 0, 2 and 3`, with the reason in brackets.

    Args:
        failed: of each run what to call it, its cell, its split and its reason. A reason that begins with the cell
            loses that beginning.
    """
    splits: dict[tuple[str, str], list[int]] = {}
    for where, cell, split, reason in failed:
        splits.setdefault((where, reason.removeprefix(f"{cell}: ").rstrip(".")), []).append(split)
    return [f"{where}, {_named(sorted(found))} ({reason})" for (where, reason), found in splits.items()]


def _named(splits: list[int]) -> str:
    *others, last = map(str, splits)
    return f"splits {', '.join(others)} and {last}" if others else f"split {last}"
