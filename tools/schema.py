"""The JSON schema of config.yaml, generated from the models: editors complete and check the file with it."""

import sys
from typing import Any

from fairgat import files, methods
from fairgat.config import Config
from fairgat.plan import method_modules


def generate() -> dict[str, Any]:
    """The schema of `Config`, with each method's settings spelled out where its module is known."""
    schema = Config.model_json_schema()
    entry = schema["$defs"]["Method"]
    entry["properties"]["module"]["anyOf"] = [
        {"enum": [None, *method_modules()]},
        {"type": "string", "pattern": r"\.py$"},
    ]
    settings = {
        name: methods.module(name).Settings.model_json_schema()
        for name in method_modules()
    }
    for model in settings.values():
        schema["$defs"] |= model.get("$defs", {})
    then = {
        name: {"properties": {"settings": {"properties": s.get("properties", {})}}}
        for name, s in settings.items()
    }
    entry["allOf"] = [
        {
            "if": {"properties": {"module": {"const": name}}, "required": ["module"]},
            "then": then[name],
        }
        for name in then
    ]
    schema["properties"]["methods"][
        "properties"
    ] = {  # a method of a module's name is that module's
        name: {
            "$ref": "#/$defs/Method",
            "if": {"not": {"required": ["module"]}},
            "then": then[name],
        }
        for name in then
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config.yaml of the FairGAT workflow",
        **{key: value for key, value in schema.items() if key != "title"},
    }


if __name__ == "__main__":
    files.write_json(sys.argv[1], generate())
