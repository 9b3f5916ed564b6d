"""The JSON schema of config.yaml, by which editors complete and check the file."""

import sys
from typing import Any

from fairgat import files, methods
from fairgat.config import Config
from fairgat.plan import method_modules


def generate() -> dict[str, Any]:
    """Make the schema of `Config`, with each method's settings where it is known."""
    schema = Config.model_json_schema()
    definitions = schema["$defs"]
    by_module, by_name = [], {}
    for name in method_modules():
        module = methods.module(name)
        settings = module.Settings.model_json_schema()
        definitions |= settings.get("$defs", {})
        known = settings.get("properties", {})
        then = {"properties": {"settings": {"properties": known}}}
        has_module = {
            "properties": {"module": {"const": name}},
            "required": ["module"],
        }
        by_module.append({"if": has_module, "then": then})
        # A method of a module's name is that module's.
        no_module = {"not": {"required": ["module"]}}
        by_name[name] = {"$ref": "#/$defs/Method", "if": no_module, "then": then}

    entry = definitions["Method"]
    entry["properties"]["module"]["anyOf"] = [
        {"enum": [None, *method_modules()]},
        {"type": "string", "pattern": r"\.py$"},
    ]
    entry["allOf"] = by_module
    schema["properties"]["methods"]["properties"] = by_name
    del schema["title"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config.yaml of the FairGAT workflow",
        **schema,
    }


if __name__ == "__main__":
    files.write_json(sys.argv[1], generate())
