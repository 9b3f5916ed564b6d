"""The workflow's scripts import no room above the one that their rule belongs to."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The highest room that each script may import, from the bottom to the top of [tool.importlinter] in pyproject.toml.
HIGHEST = {
    "data": ["describe", "download", "preprocess", "split"],
    "methods": ["bias"],
    "training": ["debias", "runtime"],
    "theory": ["account", "theory", "train"],
    "scores": ["aggregate", "collect", "decisions"],
    "report": ["all_tables", "costs", "explorer", "figure", "study", "table"],
    "audit": ["audit"],
    "publish": ["provenance"],
}


def rooms_of(script: Path) -> set[str]:
    """The rooms of the package that a script imports, those within functions too."""
    names = set()
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "fairgat":
            names |= {f"fairgat.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return {name.split(".")[1] for name in names if name.startswith("fairgat.")}


def test_scripts_import_no_higher_than_they_may():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = [each["layers"] for each in settings["tool"]["importlinter"]["contracts"] if each["type"] == "layers"]
    floors = {
        room.strip().removeprefix("fairgat."): floor
        for floor, line in enumerate(reversed(layers))
        for room in line.split("|")
    }
    allowed = {script: room for room, scripts in HIGHEST.items() for script in scripts}
    for script in sorted((ROOT / "workflow_scripts").glob("*.py")):
        limit = floors[allowed[script.stem]]
        assert not {room for room in rooms_of(script) if floors[room] > limit}, script.name
