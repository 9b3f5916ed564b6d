"""Tables: each is built from the files of a finished run and rendered in every format."""

import csv
import io
import itertools
import re
import shutil
import subprocess
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from small_results import NASTY, NODE, TABLES, TOO_DENSE, finish, metrics, scores

from fairgat import config as configuration
from fairgat import measures
from fairgat.config import shown
from fairgat.errors import ConfigError, DataError
from fairgat.files import write_json
from fairgat.plan import Plan
from fairgat.report import escape, explorer, inputs, render
from fairgat.report.model import Block, Cell, Math, Panel, Row, Table
from fairgat.report.tables.scores import verdict


def build(plan, name):
    """A table, as its rule makes it."""
    page = plan.table(name)
    module = import_module(f"fairgat.report.tables.{page.module}")
    settings = shown.table_settings(plan.config, name, page.task, trained="selection" in page.reads)
    return module.build(settings, plan.sources(page))


@pytest.fixture(scope="module")
def built(plan):
    return {name: build(plan, name) for name in TABLES}


def entries(table, title):
    """Row label → the texts of its other cells, in the blocks with this title."""
    blocks = [block for panel in table.panels for block in panel.blocks if str(block.title) == title]
    return [{str(row.cells[0].text): [str(cell.text) for cell in row.cells[1:]] for row in b.rows} for b in blocks]


def replanned(plan, **changes):
    return Plan(plan.config.model_copy(update=changes))


def small(folder, methods, table="comparison", splits=1):
    """The plan of one table of one data set."""
    methods = {name: {"tasks": [NODE]} | more for name, more in methods.items()}
    content = {"datasets": {"recidivism": {"task": NODE}}, "methods": methods, "tables": {table: [*methods]}}
    return Plan(configuration.load(content | {"results_dir": str(folder), "splits": {"count": splits}}))


def marked(folder, *gaps):
    """FairGAT's marks, and whether it is bold, where its accuracy and gaps differ from GAT's by this on each split."""
    plan = small(folder, {"gat": {}, "fairgat": {}}, splits=len(gaps))
    base = [0.9 + 0.01 * split for split in range(len(gaps))]
    runs = [("gat", split, 0.0) for split in range(len(gaps))] + [("fairgat", *each) for each in enumerate(gaps)]
    finish(plan, [metrics("recidivism", n, "default", k, scores(NODE, base[k] + gap, 0.2 + gap)) for n, k, gap in runs])
    (block,) = build(plan, "comparison").panels[0].blocks
    assert not any(cell.bold or cell.mark for cell in block.rows[0].cells)
    return [(cell.mark, cell.bold) for cell in block.rows[1].cells[1:4]]


def test_bold_is_what_the_paired_interval_shows_to_be_better(tmp_path):
    better, worse, neither = ("+", True), ("-", False), ("", False)
    assert marked(tmp_path / "a", 0.010, 0.012, 0.011) == [better, worse, worse]
    assert marked(tmp_path / "b", -0.010, -0.012, -0.011) == [worse, better, better]
    assert marked(tmp_path / "c", 0.010, -0.012, 0.011) == [neither] * 3
    assert marked(tmp_path / "d", 0.1) == [neither] * 3  # one split has no interval
    assert verdict(1, 2, replace(measures.find("accuracy"), better=None)) == ""  # nobody says which way it points


def test_a_table_of_other_rows_and_measures_is_an_entry_of_the_configuration(plan):
    mine = {"kind": "scores", "task": NODE, "title": "Mine.", "methods": ["gat", "fairgat"],
            "measures": ["auc", "statistical_parity"]}  # fmt: skip
    made = Plan(configuration.load(plan.config.model_dump(exclude_unset=True) | {"tables": {"mine": mine}}))
    table = build(made, "mine")
    assert (made.tables(), table.name, table.caption) == (["mine"], "mine", "Mine.")
    assert "Higher AUC is better. Lower differences are better." in table.explanation
    assert [str(text) for text in table.panels[0].header] == ["", "AUC (%)", "ΔSP (%)", "Cell"]
    assert [row.cells[0].text for row in table.panels[0].blocks[1].rows] == ["GAT", "FairGAT"]
    for wrong, advice in (("acuracy", "'accuracy'"), ("dp_mixed", "")):  # the latter is one of link prediction
        entry = made.config.tables["mine"].model_copy(update={"measures": [wrong]})
        refused = rf"tables\.mine\.measures: '{wrong}' is not a measure of {NODE}; .*{advice}"
        with pytest.raises(ConfigError, match=refused):
            measures.check(made.config.model_copy(update={"tables": {"mine": entry}}))


def test_a_method_that_is_another_one_has_its_scores_and_says_why(tmp_path):
    same_as = {"module": "fairgat", "same_as": "fairgat", "note": "One method (docs/theory.md)."}
    plan = small(tmp_path, {"gat": {}, "fairgat": {}, "fairgat-steps-13": same_as}, "ablation")
    assert [run.method for run in plan.runs(NODE)] == ["gat", "fairgat"]
    asked = replanned(plan, only_methods=["fairgat-steps-13"])
    assert [run.method for run in asked.runs(NODE)] == ["fairgat"]
    finish(plan, [metrics("recidivism", name, "default", 0, scores(NODE, 0.9, 0.1)) for name in ("gat", "fairgat")])
    for shown_plan in (plan, asked):
        table = build(shown_plan, "ablation")
        *_, fairgat, same = table.panels[0].blocks[0].rows
        assert same.cells[1:] == fairgat.cells[1:]
        assert (same.cells[0].mark, "One method (docs/theory.md).") in table.notes and not fairgat.cells[0].mark
        assert all("One method (docs/theory.md)." in render.render(table, form) for form in ("md", "tex", "html"))


@pytest.mark.parametrize("groups", [2, 3])
def test_a_method_may_be_another_one_with_more_groups(tmp_path, groups):
    plan = small(tmp_path, {"gat": {}, "fairgat": {"note_of_more_groups": "balanced shares."}})
    given = scores(NODE, 0.9, 0.1) | {f"positive_rate_{k}": 0.5 for k in range(groups)}
    finish(plan, [metrics("recidivism", name, "default", 0, given) for name in ("gat", "fairgat")])
    notes = [text for _, text in build(plan, "comparison").notes]
    assert ("fairgat on recidivism: balanced shares." in notes) == (groups > 2)


def test_a_measure_that_is_missing_says_so_below_the_table(tmp_path):
    plan, gaps = small(tmp_path, {"gat": {}, "fairgat": {}}, splits=2), [[None, 0.1], [None, None]]
    methods = itertools.product(("gat", "fairgat"), enumerate(gaps))
    finish(plan, [metrics("recidivism", name, "default", k, scores(NODE, 0.9, gap)) for name, (k, gap) in methods])
    text = render.render(build(plan, "comparison"), "md")
    row = next(line for line in text.splitlines() if line.startswith("| gat"))
    assert [cell.strip() for cell in row.split("|")[2:5]] == ["90.00 ± 0.00", "– ¹", "10.00 ²"]
    assert "² Over 1 of 2 splits: on the others it is missing" in text and "¹ On every split it is missing" in text
    files = {kind: plan.files(kind) for kind in explorer.READS}
    page = explorer.points(shown.explorer_settings(plan.config), NODE, files)
    page = page[page["kind"] != explorer.PUBLISHED]
    assert set(page["measure"]) == {"ΔEO (%), lower is better"} and set(page["splits"]) == {1}


def test_a_number_can_be_followed_to_its_runs(plan, built):
    text = render.render(built["comparison"], "md")
    row = next(line for line in text.splitlines() if line.startswith("| FairGAT"))
    assert row.rstrip(" |").endswith("alpha_chi_max 0.25, eta 1.0")  # within a point of the best, and fairer
    assert f"summary/{NODE}/runs.csv" in text
    tex = render.render(built["comparison"], "tex")
    assert "FairGAT alpha_chi_max 0.25, eta 1.0" in tex.replace(r"\_", "_")


def test_failed_methods_and_cells_keep_their_row_and_say_why(built):
    text = render.render(built["comparison"], "md")
    row = next(line for line in text.splitlines() if line.startswith("| NIFTY ²"))
    assert row.count("–") == 4
    assert f"¹ EDITS on Recidivism: 2 of 3 cells failed on every split (threshold 0.1, 0.3: {TOO_DENSE})." in text
    assert "² NIFTY on Recidivism: no cell finished on every split; 1 of 1 cells failed" in text


def test_data_sets_and_methods_that_are_not_run_say_why(plan, built):
    reason = "its 60 % of files & more aren't here"
    assert f"**Pokec-z**: not run ({reason})" in render.render(built["comparison"], "md")
    assert r"not run: its 60 \% of files \& more aren't here" in render.render(built["comparison"], "tex")
    assert "not run: its 60 % of files &amp; more aren&#39;t here" in render.render(built["comparison"], "html")
    table = build(replanned(plan, skip=["recidivism"]), "comparison")
    assert "**Recidivism**: not run (left out with skip)" in render.render(table, "md")


def test_what_was_not_asked_for_is_left_out(plan):
    table = build(replanned(plan, only_methods=["gat"], only_datasets=["recidivism"]), "comparison")
    (block,) = table.panels[0].blocks
    assert (block.title, [row.cells[0].text for row in block.rows], table.notes) == ("Recidivism", ["GAT"], [])
    elsewhere = build(replanned(plan, only_methods=["fairgat-steps-12"]), "comparison")  # none of its rows
    assert "GAT on Recidivism: not run." in dict(elsewhere.notes).values()


def test_layout_of_the_papers_tables(built):
    tex = render.render(built["comparison"], "tex")
    lines = tex[tex.index("Recidivism &") :].splitlines()
    assert lines[0] == r"Recidivism & Accuracy ($\%$) & $\Delta_{S P}$ ($\%$) & $\Delta_{E O}$ ($\%$) \\*"
    assert lines[2] == r"GAT & $95.73 \pm 0.10$ & $10.00 \pm 0.00$ & $10.00 \pm 0.00$ \\*"
    assert lines[1] == lines[3] == lines[6] == r"\keeprule{4}"  # GAT, baselines and FairGAT stand apart
    assert render.render(built["link_prediction"], "tex").count(r"\multirow{2}{*}{\textbf{Cora}}") == 1


def test_runtime_is_the_median_and_relates_to_gat(plan, built, tmp_path):
    seconds, relative = built["runtime"].panels[0].blocks
    cells = {str(row.cells[0].text): [str(cell.text) for cell in row.cells[1:]] for row in seconds.rows}
    assert cells == {"GAT": ["0.200", "0.200"], "NIFTY": ["–"] * 2, "FairGAT": ["0.300", "0.300"]}
    assert [str(row.cells[1].text) for row in relative.rows] == ["1.00 (1.00)", "–", "1.50 (1.01)"]
    notes = [text for _, text in built["runtime"].notes]
    assert "NIFTY on Recidivism: not measured." in notes
    assert notes[-2:] == [
        "Median of 3 epochs after 3 to warm up, 1 CPU thread; AMD_x, 2 cores.",
        "Pokec-z: not run (its 60 % of files & more aren't here).",
    ]
    measured = {"dataset": "recidivism", "threads": 2, "warmup": 3, "epochs": 1, "epoch_seconds": {"fairgat": [0.3]}}
    write_json(tmp_path / "a.json", measured | {"failures": {"nifty": "it diverged"}})
    module = import_module("fairgat.report.tables.runtime")
    table = module.build(shown.table_settings(plan.config, "runtime", module.TASK), {"runtime": [tmp_path / "a.json"]})
    notes = [text for _, text in table.notes]
    assert "GAT on Recidivism: not measured." in notes and "NIFTY on Recidivism: not measured (it diverged)." in notes
    assert "FairGAT on Recidivism: not measured." not in notes


def test_statistics_mark_every_number(built):
    (rows,) = entries(built["dataset_statistics"], "Recidivism")
    assert rows["ours"] == ["9317 ✓", "9559 ✓", "298098 ✓", "325642 ✓", "18 ✗"]
    assert rows["paper"] == ["9317", "9559", "298098", "325642", "17"]
    assert "paper" not in entries(built["dataset_statistics"], NASTY)[0]  # nothing to compare with
    (attention,) = entries(built["dataset_statistics"], "Fair attention")
    assert attention["Recidivism"] == ["0.9000", "0.6000", "0.2500", "0.6667"]
    (mixing,) = entries(built["dataset_statistics"], "Mixing")
    assert mixing["Cora"] == mixing["Recidivism"] == ["–", "0.5000", "0.2500", "–"]


def test_hyperparameters_show_the_papers_and_ours(built):
    (block,) = [block for block in built["hyperparameters"].panels[0].blocks if block.title == "Recidivism"]
    assert [[str(cell.text) for cell in row.cells] for row in block.rows] == [
        ["EDITS", "threshold", "0.1, 0.3, 0.5", "0.015", "0.5"],
        ["FairGAT", "α_χ^max", "0.25, 0.75", "0.75", "0.25"],
        ["", "η", "0.75, 1", "1", "1"],
    ]


def test_theory_has_means_over_the_splits(built):
    layers, network = built["theory"].panels
    rows = next(block for block in layers.blocks if block.title == "Recidivism").rows
    assert [str(row.cells[0].text) for row in rows] == ["GAT", "", "", "", "FairGAT", "", "", ""]
    assert str(rows[0].cells[2].text) == "0.010" and (str(rows[0].cells[3].text), rows[0].cells[3].std) == (
        "0.110",
        "0.010",
    )
    assert [str(cell.text) for cell in rows[0].cells[-3:]] == ["9.18", "8.27", "10.1"]  # the bounds over the disparity
    assert len(network.blocks) == len(layers.blocks) == 3


@pytest.mark.parametrize("name", TABLES)
def test_markdown_columns_are_aligned(built, name):
    lines = render.render(built[name], "md").splitlines()
    grids = [list(group) for pipe, group in itertools.groupby(lines, lambda line: line.startswith("|")) if pipe]
    assert grids
    for grid in grids:
        assert re.fullmatch(r"\|( :?-+:? \|)+", grid[1])
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in grid}) == 1
        assert len({len(line) for line in grid}) == 1


@pytest.mark.parametrize("name", TABLES)
def test_csv_and_html_are_whole_and_marks_have_notes(built, name):
    table = built[name]
    assert len(list(csv.reader(io.StringIO(render.render(table, "csv"))))) >= 3
    html = render.render(table, "html")
    assert html.count("<tr") == html.count("</tr>") and html.count("<td") == html.count("</td>")
    (found,) = re.findall(r"<title>(.*)</title>", html)
    assert found
    marked = [c.mark for p in table.panels for b in p.blocks for r in b.rows for c in r.cells if c.mark]
    marks = {mark for each in marked for mark in each.split(", ")} - {"+", "-"}
    assert marks == {mark for mark, _ in table.notes if mark}


def test_titles_tell_panels_apart(built):
    for form in ("csv", "tex"):
        text = render.render(built["theory"], form)
        for panel in built["theory"].panels:
            assert str(panel.title) in text and all(escape.tex(each) in text for each in panel.text * (form == "tex"))


def test_escaping():
    assert escape.tex(r"a_b & 50% $x$ #1 {y} \z ~ ^") == (
        r"a\_b \& 50\% \$x\$ \#1 \{y\} \textbackslash{}z \textasciitilde{} \textasciicircum{}"
    )
    assert escape.tex("Žižek ± δ\n中") == r"\v{Z}i\v{z}ek \ensuremath{\pm} \ensuremath{\delta} U+4E2D"
    assert escape.tex("Straße, Łódź ✓") == r"Stra\ss{}e, \L{}\'od\'z \ensuremath{\surd}"
    assert escape.tex('("a b", "c"), d"') == "(``a b'', ``c''), d''"
    assert escape.tex('a ["d"]') == "a [``d'']"
    assert [escape.tex(text) for text in ("[a] b", "*a", "a [b]")] == ["{}[a] b", "{}*a", "a [b]"]
    assert escape.markdown("a|b *c* ` x~1/y~2 $5 a_b _e_ <i> R&D") == (
        r"a\|b \*c\* \` x\~1/y\~2 \$5 a_b \_e\_ &lt;i> R&amp;D"
    )
    code = "unless `a_b: *`, <b>"
    assert escape.markdown(code) == "unless `a_b: *`, &lt;b>"
    assert escape.html(code) == "unless <code>a_b: *</code>, &lt;b&gt;"
    assert escape.tex(code) == r"unless \texttt{a\_b: *}, \ensuremath{<}b\ensuremath{>}"
    assert render.render(Table("t", Math("x²", "$x^{2}$"), [Panel("stacked")], []), "tex").count("$x^{2}$") == 1


@pytest.fixture(scope="module")
def latex(tmp_path_factory):
    """Compile a table alone in an article with booktabs, longtable and multirow; return TeX's log."""
    engine = shutil.which("tectonic") or shutil.which("pdflatex")
    if not engine:
        pytest.skip("neither pdflatex nor tectonic is installed")
    options = ["-interaction=nonstopmode", "-halt-on-error"] if engine.endswith("pdflatex") else []

    def compiled(tex):
        folder = tmp_path_factory.mktemp("latex")
        if "\\documentclass" not in tex:
            packages = "\\usepackage{booktabs,longtable,multirow}\n"
            tex = f"\\documentclass{{article}}\n{packages}\\begin{{document}}\n{tex}\n\\end{{document}}\n"
        (folder / "main.tex").write_text(tex, encoding="utf-8")
        for _ in range(2 if engine.endswith("pdflatex") else 1):  # longtable learns its widths in the first run
            done = subprocess.run(
                [engine, *options, "main.tex"], cwd=folder, capture_output=True, text=True, errors="replace"
            )
        if "File `multirow.sty' not found" in done.stdout:
            pytest.skip("TeX is installed without multirow")
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout

    return compiled


def test_all_tables_compile(built, latex):
    for table in built.values():
        assert "Overfull" not in latex(render.render(table, "tex"))
    tex = render.document((render.render(table, "tex") for table in built.values()), "A & B")
    assert "Overfull" not in latex(tex)


@pytest.mark.parametrize("size", ["footnotesize", "scriptsize", "tiny"])
def test_a_latex_table_of_many_rows_goes_on_on_the_next_page(latex, size):
    blocks = [Block(f"D{n}", [Row([Cell(f"{n}/{k}"), Cell("1.00", std="0.10")]) for k in range(19)]) for n in range(5)]
    panels = [Panel("multirow", ["", "", "A"], blocks[:4], align="lll"), Panel("multirow", ["", "", "B"], blocks[4:])]
    tex = render.render(Table("long", "Caption.", panels, [("1", "A note.")], "How to read it.", size=size), "tex")
    said = latex(tex)
    assert "too large" not in said and "Overfull" not in said
    assert int(re.search(r"\((\d+) pages?,", said)[1]) > 1


@pytest.mark.parametrize("first", ["", "[", "*"])
def test_latex_compiles_with_every_character(latex, first):
    title = first + "".join(map(chr, range(32, 127))) + "éñÅçŽ中文\u200b😀" + "–—‘’“”…ßæÆœŒøØłŁ±−×≤≥≠→√✓✗¹²αβχηδΔΩ"
    block = Block(title, [Row([Cell(title, mark="1"), Cell("1.00", std="0.10", bold=True)])])
    panel = Panel("stacked", ["", title[:20]], [block])
    latex(render.render(Table("every_character", title, [panel], [("1", title), ("", title)]), "tex"))


def test_measures_leave_out_what_a_run_was_not_asked_for(plan):
    nifty = plan.config.methods["nifty"].model_copy(update={"without": ["recidivism"]})
    asked = replanned(plan, methods=plan.config.methods | {"nifty": nifty})
    for table in (build(asked, "account"), build(asked, "theory")):
        assert all("GAT" in rows and "NIFTY" not in rows for rows in entries(table, "Recidivism"))
        assert not any("NIFTY on Recidivism" in text for _, text in table.notes)


def test_the_account_is_that_of_the_selected_cell(built):
    decisions, logits, decided, layers = (panel.blocks for panel in built["account"].panels)
    (rows,) = [block.rows for block in decisions if block.title == "Recidivism"]
    assert [str(cell.text) for cell in rows[0].cells] == ["GAT", "95.73", "10.00", "–", "–", "10.00"]
    (block,) = [block for block in logits if block.title == "Recidivism"]
    rows = [[f"{cell.text} ± {cell.std}".removesuffix(" ± ") for cell in row.cells] for row in block.rows]
    parts = ["-0.500 ± 0.000", "+0.010 ± 0.010", "-0.100 ± 0.000", "2.000", "0.500", "1.900"]
    assert rows[0] == ["GAT", "all", "-1.000 ± 0.000", "-0.410 ± 0.010", *parts]
    assert [row[:2] for row in rows[1:3]] == [["", "label 1"], ["", "label 0"]]
    assert rows[3][0] == "NIFTY" and set(rows[3][1:]) == {"–"}
    assert rows[4][2] == "-2.000 ± 0.000"  # FairGAT's second cell
    assert any("NIFTY on Recidivism: not measured" in text for _, text in built["account"].notes)
    (block,) = [block for block in decided if block.title == "Recidivism"]
    texts = [f"{cell.text} ± {cell.std}" for cell in block.rows[0].cells[2:]]
    assert texts == ["-10.00 ± 0.00", "-1.00 ± 0.00", "-4.00 ± 0.00", "-5.00 ± 0.00"]
    (block,) = [block for block in layers if block.title == "Recidivism"]
    layer_names = ["attention 1", "attention 2"]
    assert [str(row.cells[1].text) for row in block.rows] == [*layer_names, "–", *layer_names]


def test_means_that_were_cut_off_make_no_table(plan, tmp_path):
    files = plan.sources(plan.table("comparison"))
    lines = Path(files["winners"][0]).read_text().splitlines(keepends=True)
    methods = sorted({line.split(",")[3] for line in lines[1:]})
    cut, settings = tmp_path / "winners.csv", shown.table_settings(plan.config, "comparison", NODE)
    for method in methods:  # as if the file had ended before its rows
        cut.write_text("".join(line for line in lines if f",{method}," not in line))
        with pytest.raises(DataError, match=rf"winners\.csv lacks {method} on .*Delete it and run again"):
            inputs.winners(files | {"winners": [cut]}, settings)
