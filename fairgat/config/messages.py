"""Say in a line each what pydantic found wrong with a configuration."""

import re
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ValidationError

from fairgat.config.protocol import NAME
from fairgat.errors import NOTHING_ALLOWED, nearest

_KINDS = {  # of values, by the beginning of what pydantic calls a wrong one
    "int_": "a whole number",
    "float_": "a number",
    "bool_": "true or false",
    "string_type": "a text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "keys with values",
    "model_type": "keys with values",
}


def explain(
    error: ValidationError,
    prefix: str,
    model: type[BaseModel],
    other: Mapping[str, str] | None = None,
    no_keys: str = NOTHING_ALLOWED,
) -> list[str]:
    """Write one line per problem that pydantic found in `model`, with the key's path.

    Args:
        prefix: what comes before the path.
        other: what comes before that of keys that stand elsewhere.
        no_keys: what is said of a key where the model has none.
    """
    elsewhere = other or {}
    lines = []
    for item in error.errors():
        key = str(item["loc"][0]) if item["loc"] else ""
        before = elsewhere.get(key, prefix)
        lines.append(_explain(item, model, before, no_keys))
    return lines


def _explain(
    item: Mapping[str, Any], model: type[BaseModel], prefix: str, no_keys: str
) -> str:
    """Say in a line what pydantic found, with the path of the key."""
    location = [part for part in item["loc"] if part != "[key]"]
    parts = [prefix, *location] if prefix else location
    path = ".".join(map(str, parts)) or "(top level)"
    context = item.get("ctx", {})
    match item["type"]:
        case "extra_forbidden":
            *above, key = location
            advice = nearest(str(key), _fields(model, above), none_known=no_keys)
            what = f"unknown key; {advice}"
        case "missing":
            what = "this key is missing"
        case "value_error" if not parts:  # its text says where
            return str(context["error"])
        case "value_error":
            what = str(context["error"])
        case "string_pattern_mismatch" if context["pattern"] == NAME:
            what = (
                "a name has letters, digits, dots, _ and -, and begins with a letter "
                "or digit"
            )
        case _:
            what = f"expected {_expected(item)}, got {item['input']!r}"
    return f"{path}: {what}"


def _expected(item: Mapping[str, Any]) -> str:
    """Say in a few words what pydantic expected."""
    for beginning, words in _KINDS.items():
        if item["type"].startswith(beginning):
            return words
    return re.sub(r"^\w+ should (be|have) ", "", item["msg"])


def _fields(model: type[BaseModel], location: list) -> list[str]:
    """List the names that the model at `location` knows."""
    kind: Any = model
    for part in location:
        if _is_model(kind):
            kind = kind.model_fields[part].annotation
        else:  # a mapping or a list
            *_, kind = typing.get_args(kind)
        while typing.get_origin(kind) in (Annotated, typing.Union, types.UnionType):
            kind = typing.get_args(kind)[0]
    if not _is_model(kind):
        return []
    return list(kind.model_fields)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
