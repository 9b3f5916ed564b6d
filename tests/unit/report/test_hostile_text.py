"""Hostile text in every format: it renders as text, on one line."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from matplotlib.figure import Figure
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexMacroNode, LatexWalker

from fairgat.report import escape, style
from fairgat.report.model import Block, Cell, Panel, Row, Table
from fairgat.report.render import render
from fairgat.texts import shown

settings.register_profile("slow machine", deadline=None)
settings.load_profile("slow machine")

PIECES = [
    "\x1b[31m", "\x00", "\n", "\r", "\t", "\x85", "\u2028", "\u202e", "\u200b", "\ufeff",
    "`", "``", "`a|b`", "`<b>`", "|", "\\", "\\|", "*", "**", "_", "__", "~~", "$", "$$",
    "<", ">", "&", "&lt;", "&#60;", "&nosuch", '"', "'", "</script>", "<!--", "-->", "]]>",
    "=cmd|' /C calc'!A0", "=", "+", "-", "- ", "+1+1", "-1.5", "@", "#", "# ", "> ", "1. ",
    "---", "===", "\\input{a}", "\\", "^^5c", "%", "{", "}", "#1", "[", "]", "](x)", "![",
    ".. include:: /etc/hostname", "..", "::", ":x:", "a_b", "a", "b", "é", "中", " ", "  ",
]  # fmt: skip
hostile = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def without_code(text):
    """The text as a reader sees it, where backticks only set code; blanks joined."""
    plain = re.sub("(?<!`)`([^`]+)`(?!`)", r"\1", shown(text))
    return " ".join(plain.split())


@given(hostile)
def test_shown_is_one_printable_line(text):
    assert shown(text).isprintable()
    assert shown(shown(text)) == shown(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n b\u2028c\u00a0 d", "a b c d"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\u202eabc\u200b", r"\u202eabc\u200b"),
        ("'Žižek' 中 ±", "'Žižek' 中 ±"),
    ],
)
def test_what_acts_is_shown_as_its_code(text, expected):
    assert shown(text) == expected


class Words(HTMLParser):
    """The words of a piece of HTML, and its elements."""

    def __init__(self, source):
        super().__init__()
        self.words, self.tags = "", []
        self.feed(source)
        self.close()

    def handle_data(self, data):
        self.words += data

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_comment(self, data):
        self.tags.append("comment")


@given(hostile)
def test_html(text):
    page = Words(f"<p>{escape.html(text)}</p>")
    assert set(page.tags) <= {"p", "code"}
    assert " ".join(page.words.split()) == without_code(text)


PARSER = MarkdownIt("gfm-like", {"linkify": False})


@given(hostile)
@example("__init__ *a* `b|c`")
def test_markdown_at_the_beginning_of_a_line(text):
    page = Words(PARSER.render(escape.markdown_line(text)))
    assert set(page.tags) <= {"p", "code"}
    assert " ".join(page.words.split()) == without_code(text)


@given(hostile)
def test_markdown_in_a_table(text):
    cell = escape.markdown(text)
    page = Words(PARSER.render(f"| a | b |\n| - | - |\n| {cell} | after |\n"))
    assert page.tags.count("td") == 2
    assert set(page.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}
    expected = without_code(text)
    assert " ".join(page.words.split()) == " ".join(f"a b {expected} after".split())


@given(hostile)
def test_latex(text):
    escaped = escape.tex(text)
    assert "\n" not in escaped and "^^" not in escaped
    nodes, *_ = LatexWalker(escaped, tolerant_parsing=False).get_latex_nodes()
    macros = {node.macroname for node in nodes if isinstance(node, LatexMacroNode)}
    assert not macros & {"input", "include", "write", "def", "csname"}
    prose = re.sub(r"\$(\\[A-Za-z]+|[<>])\$", "", escaped)  # one sign as a formula
    assert not re.search(r"(?<!\\)[%#&$]", prose.replace(r"\\", ""))
    plain = LatexNodes2Text().latex_to_text(escaped.replace(r"\texttt", ""))
    letters = re.sub(r"[^a-z0-9.]", "", without_code(text))
    assert re.sub(r"[^a-z0-9.]", "", plain.replace("U+4E2D", "")) == letters


@given(hostile)
def test_csv_has_no_formula(text):
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow([escape.csv(text), "after"])
    assert written.getvalue().count("\n") == 1
    ((value, after),) = csv.reader(io.StringIO(written.getvalue()))
    assert after == "after" and value.removeprefix("'") == shown(text).removeprefix("'")
    number = re.fullmatch(r"[-+]\d+(\.\d+)?", value)
    assert number or not value.startswith(("=", "+", "-", "@", "\t"))


@pytest.mark.parametrize(
    "number", ["-1.00", "+1.80 ± 0.20", "-0.5 [1, +]", "+2e-05", "–", "1.00", ""]
)
def test_numbers_in_csv_stay_as_they_are(number):
    assert escape.csv(number) == number


@pytest.mark.parametrize("formula", ["=1", "+1+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)"])
def test_formulas_in_csv_are_quoted(formula):
    assert escape.csv(formula) == f"'{formula}"


@pytest.mark.parametrize("text", [*PIECES, "$a$ </svg> & -->"])
def test_a_figure(text, tmp_path):
    figure = Figure(figsize=(1, 1))
    figure.text(0, 0, style.plain(text))
    style.save(figure, {"svg": tmp_path / "a.svg"})
    elements = ElementTree.parse(tmp_path / "a.svg").iter()
    assert not any(element.tag.endswith(("script", "b")) for element in elements)


@given(hostile)
def test_a_whole_table(text):
    """Its title, a data set, a reason, a cell, a note and the explanation are hostile."""
    block = Block(text, [Row([Cell(text, mark="1"), Cell("-1.00", std="0.20")])])
    absent = Block("other", reason=text or "why")
    panel = Panel("multirow", ["", "", "b"], [block, absent], title=text, text=(text,))
    table = Table("t", text, [panel], [("1", text), ("", text)], text, text)
    page = Words(render(table, "html"))
    known = (
        "html head meta title style body h1 h2 p div table thead tbody tr th td ul li"
    )
    assert set(page.tags) <= {*known.split(), "sup", "span", "code"}
    page = Words(PARSER.render(render(table, "md")))
    known = "h1 h2 p br strong sup code table thead tbody tr th td"
    assert set(page.tags) <= set(known.split())
    for form in ("md", "html", "csv", "tex"):
        made = render(table, form)
        assert shown(made) == " ".join(made.split())  # nothing that acts
    for line in csv.reader(io.StringIO(render(table, "csv"))):
        assert not any(cell.startswith(("=", "@")) for cell in line)
