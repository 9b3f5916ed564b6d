"""Tables in LaTeX, as a journal prints them: that they fit, and that they compile."""

import re
import shutil
import subprocess

import pytest

from fairgat.report import latex, render
from fairgat.report.model import DASH, Block, Cell, Math, Panel, Row, Table, row

ASCII = "".join(map(chr, range(32, 127)))
OTHER_SIGNS = "éñÅçŽ中文\u200b😀–—‘’“”…ßæÆœŒøØłŁ±−×≤≥≠→√✓✗¹²αβχηδΔΩ"


def long_table(rows, columns=3):
    """A table of a data set with so many rows, two of each method."""
    line = [Cell("91.00", std="1.00")] * columns
    block = Block("Data")
    for number in range(rows):
        method = number // 2
        block.rows.append(row(f"m{method}", *line, group=method))
    header = ["", "Method", *(f"measure {n}" for n in range(columns))]
    panel = Panel("multirow", header, [block], align="ll" + "c" * columns)
    return Table("long", "Long.", [panel], [])


def test_a_table_that_fits_a_page_floats(built):
    tex = render.render(built["comparison"], "tex")

    assert "table*" in tex
    assert "longtable" not in tex
    lines = tex[tex.index("Recidivism &") :].splitlines()
    assert lines[0] == (
        r"Recidivism & Accuracy ($\%$) & AUC ($\%$) & $\Delta_{S P}$ ($\%$) "
        r"& $\Delta_{E O}$ ($\%$) \\"
    )
    assert lines[2] == (
        r"GAT & $95.73\pm0.10$ & $95.73\pm0.10$ & $10.00\pm0.00$ & $10.00\pm0.00$ \\"
    )
    assert lines[3] == lines[6] == r"\addlinespace"  # GAT and FairGAT stand apart


def test_a_table_in_two_parts_names_its_data_set_in_both(built):
    tex = render.render(built["link_prediction"], "tex")

    assert tex.count(r"\begin{tabular}") == 2
    assert tex.count(r"\textbf{Cora}") == 2


def test_a_column_that_the_paper_lacks_is_a_note(built):
    tex = render.render(built["comparison"], "tex")
    assert r"FairGAT $\alpha_{\max}^{\chi}$ 0.25" in tex


def test_a_column_without_an_entry_is_no_note():
    rows = [row("GAT", Cell(DASH), DASH)]
    header = ["", "Accuracy", "Cell"]
    panel = Panel("stacked", header, [Block("Data", rows)], aside=True)

    tex = render.render(Table("empty", "Empty.", [panel], []), "tex")

    assert "Cell" not in tex


def test_a_longer_table_goes_on_over_landscape_pages():
    short = render.render(long_table(20), "tex")
    long = render.render(long_table(60), "tex")

    assert "longtable" not in short
    assert r"\begin{landscape}" in long


def test_a_page_ends_after_a_method_of_a_long_block():
    tex = render.render(long_table(60), "tex")

    lines = [line for line in tex.splitlines() if "91.00" in line]
    may_not_end = [line.endswith(r"\\*") for line in lines[:4]]
    assert may_not_end == [True, False, True, False]


def test_no_page_ends_within_a_short_block():
    (block,) = long_table(4).panels[0].blocks
    ends = [end for _, end in latex.ends(block)]
    assert ends == [r"\\*", r"\\*[2pt]", r"\\*", r"\\"]


def test_a_wide_table_is_parted_evenly_and_every_part_names_its_rows():
    parts = latex.printed(long_table(4, columns=8)).table.panels

    for part in parts:
        cells = part.blocks[0].rows[0].cells
        assert part.header[1] == "Method"
        assert len(part.columns) == 2 + 4
        assert len(cells) == 1 + 4
    assert len(parts) == 2


def test_a_formula_is_set_as_it_is():
    table = Table("t", Math("x²", "$x^{2}$"), [Panel("stacked")], [])
    tex = render.render(table, "tex")
    assert tex.count("$x^{2}$") == 1


# ----------------------------------------------------------------------------- compiled


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compile a document; return TeX's log."""
    engine = shutil.which("tectonic") or shutil.which("pdflatex")
    if not engine:
        pytest.skip("neither pdflatex nor tectonic is installed")
    command, runs = [engine, "main.tex"], 1
    if engine.endswith("pdflatex"):
        command = [engine, "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
        runs = 2  # longtable learns its widths in the first

    def compile_document(tex):
        folder = tmp_path_factory.mktemp("latex")
        (folder / "main.tex").write_text(tex, encoding="utf-8")
        for _ in range(runs):
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, errors="replace"
            )
        lacking = re.search(r"File `(\w+\.sty)' not found", done.stdout)
        if lacking:
            pytest.skip(f"TeX is installed without {lacking[1]}")
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout

    return compile_document


def test_all_tables_compile_and_none_is_too_wide(built, compiled):
    tables = [render.render(table, "tex") for table in built.values()]

    alone = [compiled(render.document([tex], "One table")) for tex in tables]
    together = compiled(render.document(tables, "A & B"))

    for log in [*alone, together]:
        assert "Overfull" not in log


@pytest.mark.parametrize("first", ["", "[", "*"])
def test_latex_compiles_with_every_character(compiled, first):
    text = first + ASCII + OTHER_SIGNS
    line = Row([Cell(text, mark="1"), Cell("1.00", std="0.10", bold=True)])
    panel = Panel("stacked", ["", text[:20]], [Block(text, [line])])
    table = Table("every_character", text, [panel], [("1", text), ("", text)])

    compiled(render.document([render.render(table, "tex")], "Every character"))
