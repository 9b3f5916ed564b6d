"""The methods and the sources of beyond/, by their paths."""

from pathlib import Path

_BEYOND = Path(__file__).resolve().parents[2] / "beyond"
_NO_METHODS = ("__init__", "matched")


def method(name: str) -> str:
    """The path of a method's module."""
    return str(_BEYOND / f"methods/{name}.py")


def methods() -> list[str]:
    """The paths of all of them."""
    found = sorted(_BEYOND.glob("methods/*.py"))
    return [str(path) for path in found if path.stem not in _NO_METHODS]


def source(name: str) -> str:
    """The path of a source."""
    return str(_BEYOND / f"sources/{name}.py")
