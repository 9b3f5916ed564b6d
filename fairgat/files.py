"""Text and JSON files that appear whole or not at all."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from fairgat.errors import DataError


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text; readers see the old file or the new one, never a part."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files that only their owner may read
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: str | Path, content: Any) -> None:
    """Write indented JSON in the order given; the same content gives the same bytes.

    Raises:
        ValueError: the content holds NaN or an infinity, which JSON lacks.
    """
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: str | Path) -> Any:
    """The content of a JSON file.

    Raises:
        DataError: the file is missing or damaged.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path} does not exist") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"{path} is not JSON ({error}). Delete it and run again: it will be made anew.") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
