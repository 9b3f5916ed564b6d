"""Every rule has the modules that its script imports among its inputs: editing one makes anew what it made."""

import ast
import re
from pathlib import Path

import pytest

from fairgat import methods

BASE = Path(__file__).parents[2]
PACKAGE = BASE / "fairgat"
# Modules that no rule needs as an input, and why.
EVERYWHERE = {
    "config.py": "what it says reaches a rule through its params",
    "debias/settings.py": "as config.py",
    "cells.py": "turns paths into settings: its form is the contract of the results' paths",
    "errors.py": "only messages",
    "files.py": "how files are written, not what is in them",
    "finished.py": "keeps what was made, unchanged",
    "progress.py": "only messages",
    "machine.py": "describes the machine beside results",
    "revision.py": "describes the code beside results",
    "datasets/download.py": "checksums decide what the bytes are",
}
# Modules whose files are made by earlier rules, which have them: what comes later is made anew with the files.
READ_ONLY = {
    "graph.py": "preprocess",
    "convert.py": "preprocess",
    "datasets/_source.py": "preprocess",
    "splits.py": "split",
}
# Data that a module reads.
DATA = {"reporting/paper.py": "reporting/paper.yaml", "reporting/claims.py": "reporting/claims.yaml"}
# Where a rule's closure is not followed, and why.
CUT = {
    "debias": {
        "training.py": "only seed_of",
        "nn/scaling.py": "only the gradient of nn/linear.py",
        "nn/__init__.py": "only for nn/products.py, of which it has the name",
    },
    "train": {"theory/": "theory_in_training adds it, where it is measured"},
    "runtime": {"theory/": "measured in no timed epoch"},
}


def constants(text):
    """The lists of paths in common.smk."""
    found = {}
    for name, value in re.findall(r"^([A-Z_]+) = (\[(?:.|\n)*?\])$", text, re.MULTILINE):
        try:
            found[name] = eval(value, {}, dict(found))
        except NameError:  # not a list of constants
            continue
    return found


def rules():
    """Rule → its script and the paths of its `package`."""
    lists = constants((BASE / "rules/common.smk").read_text("utf-8"))
    found = {}
    for file in sorted((BASE / "rules").glob("*.smk")):
        for name, body in re.findall(r"^rule (\w+):\n((?:    .*\n|\n)+)", file.read_text("utf-8"), re.MULTILINE):
            given = re.search(r"\bpackage=(package\((?:[^()]*)\))", body)
            script = re.search(r"workflow_scripts/\w+\.py", body)
            if script is None:  # only gathers what other rules make
                continue
            paths = eval(given[1], {"package": lambda *paths: set(paths)} | lists) if given else None
            found[name] = (BASE / script[0], paths)
    return found


def imported(path):
    """The package's files that one file imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            module = BASE.joinpath(*name.split("."))
            for file in (module.with_suffix(".py"), module / "__init__.py"):
                if name.startswith("fairgat") and file.is_file():
                    yield file


def closure(script, skip):
    seen, todo = set(), [script]
    while todo:
        for file in imported(todo.pop()):
            path = file.relative_to(PACKAGE).as_posix()
            if path not in seen and path not in EVERYWHERE and not path.startswith(skip):
                seen.add(path)
                todo.append(file)
    return seen | {DATA[path] for path in seen & DATA.keys()}


RULES = rules()


@pytest.mark.parametrize("name", methods.names())
def test_a_method_has_the_modules_that_it_imports(name):
    """Loaded by name, so no script's imports show them."""
    module = PACKAGE / "methods" / f"{name}.py"
    skip = ("debias/", "__init__.py", "nn/__init__.py", "methods/__init__.py")  # the debiased graph is an input
    given = {f"methods/{other}.py" for other in methods.built_on(name)}
    given |= set(constants((BASE / "rules/common.smk").read_text("utf-8"))["TRAINING_PATH"])
    assert closure(module, skip) - given - READ_ONLY.keys() == set()


def test_what_a_module_is_built_on(tmp_path, monkeypatch):
    for name, text in {
        "one": "from fairgat import methods\nimport fairgat.methods\nfrom fairgat.methods import CLASSES, base, two\n",
        "two": "def late():\n    from .three import x\n",
        "three": "\ufeffimport fairgat.methods.edits as e, torch\nfrom . import one\nfrom ..nn import gat\n",
        "edits": "from fairgat.methods.base import Method\n",
        "base": "",
        "fairgat": "from ..methods.gat import x\n",
        "gat": "",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    with monkeypatch.context() as patch:
        patch.setattr(methods, "_FOLDER", tmp_path)
        methods.built_on.cache_clear()
        assert methods.built_on("one") == ("two", "three", "edits")
        assert methods.debiases("one") and methods.debiases("edits")
        assert methods.built_on("edits") == () == methods.built_on("base")
        assert methods.built_on("fairgat") == ("gat",)
    methods.built_on.cache_clear()
    assert methods.built_on("fairgat_variants") == ("fairgat",)
    assert [name for name in methods.names() if methods.debiases(name)] == ["edits"]


def test_the_rules_are_found():
    assert {"train", "table", "audit", "figure", "provenance", "preprocess", "theory_table"} <= RULES.keys()


@pytest.mark.parametrize("name", sorted(RULES.keys() - {"download"}))  # checksums decide what it brings
def test_a_rule_has_the_modules_that_its_script_imports(name):
    script, given = RULES[name]
    needed = closure(script, tuple(CUT.get(name, {"\0": ""})))
    # A package's __init__ only names what is in it, save the data sets', with which graphs are made.
    needed = {path for path in needed if not path.endswith("__init__.py") or path == "datasets/__init__.py"}
    if name != "preprocess":
        needed -= {"datasets/__init__.py"}
    needed -= {path for path, maker in READ_ONLY.items() if maker != name}
    assert needed - given == set()


@pytest.mark.parametrize("name", sorted(RULES.keys() - {"download"}))
def test_every_input_of_the_package_exists(name):
    assert [path for path in RULES[name][1] if not (PACKAGE / path).is_file()] == []
