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

PARSER = MarkdownIt("gfm-like", {"linkify": False})
PIECES = [
    "\x1b[31m", "\x00", "\n", "\r", "\t", "\x85", "\u2028", "\u202e", "\u200b",
    "\ufeff", "`", "``", "`a|b`", "`<b>`", "|", "\\", "\\|", "*", "**", "_", "__",
    "~~", "$", "$$", "<", ">", "&", "&lt;", "&#60;", "&nosuch", '"', "'",
    "</script>", "<!--", "-->", "]]>",
    "=cmd|' /C calc'!A0", "=", "+", "-", "- ", "+1+1", "-1.5", "@", "#", "# ", "> ",
    "1. ", "---", "===", "\\input{a}", "\\", "^^5c", "%", "{", "}", "#1", "[", "]",
    "](x)", "![",
    ".. include:: /etc/hostname", "..", "::", ":x:", "a_b", "a", "b", "é", "中",
    " ", "  ",
]  # fmt: skip
hostile = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


class Words(HTMLParser):
    """The words of a piece of HTML, with single blanks, and its elements."""

    def __init__(self, source):
        super().__init__()
        self.text, self.tags = "", set()
        self.feed(source)
        self.close()
        self.words = one_line(self.text)

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_comment(self, data):
        self.tags.add("comment")


def one_line(text):
    return " ".join(text.split())


def without_code(text):
    """The text as a reader sees it, where backticks only set code."""
    plain = re.sub("(?<!`)`([^`]+)`(?!`)", r"\1", shown(text))
    return one_line(plain)


def signs(text):
    """The text without its blanks, of which Markdown drops those that pad code."""
    return "".join(text.split())


def letters(text):
    return re.sub(r"[^a-z0-9.]", "", text)


@given(hostile)
def test_shown_text_is_one_printable_line(text):
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


@given(hostile)
def test_on_a_page_text_is_text(text):
    page = Words(f"<p>{escape.html(text)}</p>")

    assert page.tags <= {"p", "code"}
    assert page.words == without_code(text)


@given(hostile)
@example("__init__ *a* `b|c`")
def test_in_markdown_text_that_begins_a_line_is_text(text):
    page = Words(PARSER.render(escape.markdown_line(text)))

    assert page.tags <= {"p", "code"}
    assert signs(page.words) == signs(without_code(text))


@given(hostile)
@example("``a|b`\n# `")
def test_in_a_markdown_table_text_is_one_cell(text):
    cell = escape.markdown(text)

    html = PARSER.render(f"| a | b |\n| - | - |\n| {cell} | after |\n")

    page = Words(html)
    assert html.count("<td") == 2
    assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td", "code"}
    assert signs(page.words) == signs(f"ab{without_code(text)}after")


@given(hostile)
def test_in_latex_text_has_no_macro_that_acts(text):
    escaped = escape.tex(text)

    assert "\n" not in escaped
    assert "^^" not in escaped
    nodes, *_ = LatexWalker(escaped, tolerant_parsing=False).get_latex_nodes()
    macros = {node.macroname for node in nodes if isinstance(node, LatexMacroNode)}
    assert not macros & {"input", "include", "write", "def", "csname"}


@given(hostile)
def test_in_latex_signs_are_escaped_and_the_words_stay(text):
    escaped = escape.tex(text)

    prose = re.sub(r"\$(\\[A-Za-z]+|[<>])\$", "", escaped)  # one sign as a formula
    prose = prose.replace(r"\\", "")
    assert not re.search(r"(?<!\\)[%#&$]", prose)
    plain = LatexNodes2Text().latex_to_text(escaped.replace(r"\texttt", ""))
    plain = plain.replace("U+4E2D", "")  # a sign that LaTeX lacks
    assert letters(plain) == letters(without_code(text))


@given(hostile)
def test_in_csv_text_is_one_cell_and_no_formula(text):
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerow([escape.csv(text), "after"])

    written = file.getvalue()
    assert written.count("\n") == 1
    ((value, after),) = csv.reader(io.StringIO(written))
    assert after == "after"
    assert value.removeprefix("'") == shown(text).removeprefix("'")
    is_number = re.fullmatch(r"[-+]\d+(\.\d+)?", value)
    assert is_number or not value.startswith(("=", "+", "-", "@", "\t"))


@pytest.mark.parametrize(
    "number",
    [
        *("-1.00", "+1.80 ± 0.20", "-0.5 [1, +]", "+2e-05", "–", "1.00", ""),
        *("-0.3 [-0.5, 0.1]", "-15.4 [-18.3, -12.1] (40)", "-1.0 (-2)"),
    ],
)
def test_numbers_in_csv_stay_as_they_are(number):
    assert escape.csv(number) == number


@pytest.mark.parametrize("formula", ["=1", "+1+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)"])
def test_formulas_in_csv_are_quoted(formula):
    assert escape.csv(formula) == f"'{formula}"


@pytest.mark.parametrize("text", [*PIECES, "$a$ </svg> & -->"])
def test_a_figure_with_any_text_is_an_image_without_scripts(text, tmp_path):
    figure = Figure(figsize=(1, 1))
    figure.text(0, 0, style.plain(text))

    style.save(figure, {"svg": tmp_path / "a.svg"})

    elements = ElementTree.parse(tmp_path / "a.svg").iter()
    tags = [element.tag for element in elements]
    assert not any(tag.endswith(("script", "b")) for tag in tags)


def table_of(text):
    """A table whose title, data set, reason, cell and notes are this text."""
    block = Block(text, [Row([Cell(text, mark="1"), Cell("-1.00", std="0.20")])])
    absent = Block("other", reason=text or "why")
    panel = Panel("multirow", ["", "", "b"], [block, absent], title=text, text=(text,))
    return Table("t", text, [panel], [("1", text), ("", text)], text, text)


@given(hostile)
def test_a_whole_table_has_no_elements_of_hostile_text(text):
    table = table_of(text)

    page = Words(render(table, "html"))
    cells = {"table", "thead", "tbody", "tr", "th", "td"}
    frame = {"html", "head", "meta", "title", "style", "body", "div", "ul", "li"}
    assert page.tags <= {*frame, *cells, "h1", "h2", "p", "sup", "span", "code"}

    page = Words(PARSER.render(render(table, "md")))
    assert page.tags <= {*cells, "h1", "h2", "p", "br", "strong", "sup", "code"}

    for line in csv.reader(io.StringIO(render(table, "csv"))):
        assert not any(cell.startswith(("=", "@")) for cell in line)


@pytest.mark.parametrize("form", ["md", "html", "csv", "tex"])
@given(text=hostile)
def test_a_whole_table_has_no_character_that_acts(form, text):
    made = render(table_of(text), form)
    assert shown(made) == one_line(made)
