"""docs/api.md, generated from the docstrings of `fairgat.nn`."""

import inspect
import re
import sys
from collections.abc import Callable

from fairgat import files, nn

HEAD = """# API of `fairgat.nn`

Generated from the docstrings by `make api`; Python's `help(FairGATConv)` has the \
rest: formulas, attributes, errors.
`FairGATConv` takes the arguments of `GATConv`, too. \
[layer.md](layer.md) shows how to use the layers."""
SHOWN = "Args:", "Shapes:"
METHODS = {
    "CSRGraph": ["from_edge_index", "reorder_edges", "original_order"],
    "FairGATConv": ["forward"],
    "GATConv": ["forward", "scores", "attend", "normalise"],
    "LinkEncoder": ["decode"],
}


def generate() -> str:
    """Write the page, as Markdown.

    It has signatures and docstrings of what `fairgat.nn` offers, and of the METHODS.
    """
    sections = [HEAD]
    for name in nn.__all__:
        thing = getattr(nn, name)
        sections += [f"## {name}", *_entry(name, thing)]
        for method in METHODS.get(name, []):
            sections.append(f"### {name}.{method}")
            sections += _entry(method, getattr(thing, method))
    return "\n\n".join(sections) + "\n"


def _entry(name: str, thing: Callable) -> list[str]:
    """Write the signature without types, and the docstring, which gives them."""
    signature = inspect.signature(thing)
    given = signature.parameters.values()
    plain = [each.replace(annotation=each.empty) for each in given]
    plain = [each for each in plain if each.name != "self"]
    signature = signature.replace(parameters=plain, return_annotation=signature.empty)
    return [f"```\n{name}{signature}\n```", _markdown(inspect.getdoc(thing) or "")]


def _markdown(doc: str) -> str:
    """Write a docstring's first paragraph and the SHOWN sections, as Markdown."""
    first, *others = doc.split("\n\n")
    sections = [each for each in others if each.startswith(SHOWN)]
    doc = "\n\n".join([first, *sections]) + "\n"
    # "Args:" alone on its line is a heading, "    name: text" an item of a list, and
    # what is indented more goes on with the item.
    doc = re.sub(r"^([A-Z][a-z]+:)$", r"**\1**\n", doc, flags=re.M)
    doc = re.sub(r"^ {4}(\w[^:\n]*): ?", r"- `\1`: ", doc, flags=re.M)
    return re.sub(r"^ {4,}", "  ", doc, flags=re.M).strip()


if __name__ == "__main__":
    files.write_text(sys.argv[1], generate())
