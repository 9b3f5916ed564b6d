import csv
import io
import itertools
import re
import shutil
import subprocess

import pandas as pd
import pytest
from reporting_fixtures import LINK, NODE

from fairgat.config import load
from fairgat.reporting import escape, results, runtime, settings, statistics
from fairgat.reporting import hyperparameters as hyperparameter_table
from fairgat.reporting.model import Block, Cell, Math, Panel, Row, Table
from fairgat.reporting.paper import load as load_paper
from fairgat.reporting.render import document, render

NASTY = r"A&B_50% #1 {x} ~|^ $\$ <é> “q” δ 中"
TABLES = ["comparison", "ablation", "runtime", "link_prediction", "dataset_statistics", "hyperparameters"]


@pytest.fixture(scope="module")
def config():
    """Two node data sets (one not run), one citation graph; names that need escaping."""
    node = {"task": NODE}
    titles = {"gat": "GAT", "nifty": "NIFTY", "fairgat": "FairGAT", "fairgat-steps-12": "Steps 1&2"}
    methods = {name: {"title": title, "tasks": [NODE]} for name, title in titles.items()}
    methods["gat"]["tasks"] = methods["fairgat"]["tasks"] = [NODE, LINK]
    methods["fairgat"] |= {
        "grid": {"alpha_chi_max": [0.25, 0.75], "eta": [0.75, 1.0]},
        "published": {"recidivism": {"alpha_chi_max": 0.75, "eta": 1.0}},
    }
    return load(
        {
            "datasets": {
                "pokec-z": node
                | {"title": "Pokec-z", "enabled": False, "reason": "its 60 % of files & more aren't here"},
                "recidivism": node | {"title": "Recidivism"},
                "odd": node | {"title": NASTY},
                "cora": {"task": LINK, "title": "Cora"},
            },
            "methods": methods,
            "tables": {
                "comparison": ["gat", "nifty", "fairgat"],
                "ablation": ["gat", "fairgat-steps-12", "fairgat"],
                "runtime": ["gat", "nifty", "fairgat"],
                "link_prediction": ["gat", "fairgat"],
            },
        }
    )


def summary(rows):
    """(dataset, method, metric, mean, std) as the summary CSV gives it."""
    return pd.DataFrame(rows, columns=["dataset", "method", "metric", "mean", "std"])


def selected(method, dataset="recidivism", winner="default", failed=(), cells=1, reason="no cell finished"):
    return {
        (dataset, method): {
            "rule": "fair",
            "winner": winner,
            "winners": {"fair": {"cell": winner, "reason": reason}},
            "failed": list(failed),
            "cells": [{}] * cells,
        }
    }


def everything(config, name):
    """A table of each kind, with plausible content."""
    chosen = settings.table_settings(config, name)
    cell = "alpha_chi_max~0.75/eta~0.75"
    runs = [(d, m) for d in ("recidivism", "odd", "cora") for m in config.methods if m != "nifty"]
    selections = {
        key: value for d, m in runs for key, value in selected(m, d, cell if m == "fairgat" else "default").items()
    }
    fail = [{"cell": "b~1", "split": 2, "reason": "the loss is not finite at epoch 7, 100 % NaN_s"}]
    selections |= selected("nifty", winner=None, failed=fail)
    if name in ("comparison", "ablation", "link_prediction"):
        metrics = ("accuracy", *results.FAIRNESS[LINK if name == "link_prediction" else NODE])
        rows = [(d, m, k, 0.9563 + 0.001 * len(m), 0.002) for d, m in runs for k in metrics]
        return results.build(name, "A caption.", chosen, summary(rows), selections)
    if name == "runtime":
        measured = {
            d: {
                "threads": 1,
                "warmup": 3,
                "epochs": 3,
                "machine": {"processor": "AMD_x", "cores": 2, "system": "Linux"},
                "epoch_seconds": {"gat": [0.1, 0.2, 9.0], "fairgat": [0.3, 0.3, 0.3]},
            }
            for d in ("recidivism", "odd")
        }
        return runtime.build(chosen, measured, load_paper()["runtime"])
    if name == "dataset_statistics":
        counts = {"s0": 9317, "s1": 9559, "inter_edges": 298098, "intra_edges": 325642, "features": 18,
                  "nodes": 2708, "groups": 7, "train_edges": 7392, "r_chi": {"0": 0.9, "1": 0.6},
                  "alpha_chi": {"0.25": 0.25, "0.75": 0.66666}}  # fmt: skip
        paper = load_paper()["statistics"]
        stats = {
            d: {
                "dataset": d,
                "counts": counts,
                "paper": paper.get(d),
                "notes": ["F is 18 & not 17."] if d != "odd" else [],
            }
            for d in ("recidivism", "odd", "cora")
        }
        return statistics.build(chosen, stats)
    return hyperparameter_table.build(chosen, selections, load_paper()["hyperparameters"])


def entries(table, title):
    """Row label → cells of the block with this title."""
    (block,) = [block for panel in table.panels for block in panel.blocks if str(block.title) == title]
    return {str(row.cells[0].text): row.cells[1:] for row in block.rows}


def test_bold_is_the_best_at_the_printed_precision(config):
    rows = [
        ("recidivism", "gat", "accuracy", 0.95631, 0.002),
        ("recidivism", "fairgat", "accuracy", 0.95629, 0.001),  # the same when printed
        ("recidivism", "gat", "statistical_parity", 0.08, 0.01),
        ("recidivism", "fairgat", "statistical_parity", 0.0739, 0.0176),
        ("recidivism", "gat", "equal_opportunity", 0.01, 0.01),  # alone: nothing to be best of
    ]
    chosen = settings.table_settings(config, "comparison")
    table = results.build("comparison", "", chosen, summary(rows), selected("gat") | selected("fairgat"))
    block = entries(table, "Recidivism")
    assert [(cell.text, cell.std, cell.bold) for cell in block["FairGAT"][:2]] == [
        ("95.63", "0.10", True),
        ("7.39", "1.76", True),
    ]
    assert [cell.bold for cell in block["GAT"]] == [True, False, False]


def test_a_failed_method_keeps_its_row_and_says_why(config):
    text = render(everything(config, "comparison"), "md")
    row = next(line for line in text.splitlines() if line.startswith("| NIFTY"))
    assert row.count("–") == 3
    assert "¹" in row
    assert (
        "¹ NIFTY on Recidivism: no cell finished. 1 of 1 cells failed: b\\~1, split 2 (the loss is not finite" in text
    )


def test_a_method_that_lost_cells_is_marked(config):
    chosen = settings.table_settings(config, "comparison")
    lost = [{"cell": f"x~{cell}", "split": k, "reason": f"x~{cell}: too dense"} for cell in range(5) for k in (0, 1, 3)]
    table = results.build("comparison", "", chosen, summary([]), selected("gat", failed=lost, cells=6))
    (note,) = [text for _, text in table.notes if text.startswith("GAT on Recidivism")]
    assert note.startswith("GAT on Recidivism: 5 of 6 cells failed: x~0, splits 0, 1 and 3 (too dense); x~1, ")
    assert note.endswith("and 2 more.")


def test_a_data_set_that_is_not_run_says_why(config):
    table = everything(config, "comparison")
    assert "**Pokec-z**: not run (its 60 % of files & more aren't here)" in render(table, "md")
    assert r"not run: its 60 \% of files \& more aren't here" in render(table, "tex")
    assert "not run: its 60 % of files &amp; more aren&#39;t here" in render(table, "html")


def test_methods_and_data_sets_left_out_by_the_user(config):
    subset = config.model_copy(update={"only_methods": ["gat"], "skip": ["recidivism"]})
    chosen = settings.table_settings(subset, "comparison")
    table = results.build("comparison", "", chosen, summary([]), {})
    assert "FairGAT: not run (left out with only_methods)." in dict(table.notes).values()
    assert "**Recidivism**: not run (left out with skip)" in render(table, "md")


def test_layout_of_the_papers_comparison(config):
    tex = render(everything(config, "comparison"), "tex")
    body = tex[tex.index("Recidivism &") :]
    assert body.splitlines()[:3] == [
        r"Recidivism & Accuracy ($\%$) & $\Delta_{S P}$ ($\%$) & $\Delta_{E O}$ ($\%$) \\",
        r"\midrule",
        r"GAT & $95.93 \pm 0.20$ & $\mathbf{95.93} \pm 0.20$ & $\mathbf{95.93} \pm 0.20$ \\",
    ]
    assert body.splitlines()[3] == r"\midrule"  # GAT, baselines and FairGAT stand apart
    assert body.splitlines()[4].startswith("NIFTY$^{1}$ & --")
    assert body.splitlines()[5] == r"\midrule"
    assert tex.count(r"\toprule") == tex.count(r"\bottomrule") == 1


def test_layout_of_link_prediction(config):
    tex = render(everything(config, "link_prediction"), "tex")
    assert tex.count(r"\multirow{2}{*}{\textbf{Cora}}") == 1
    assert tex.count(r"$\Delta DP_{m}$") == 1


def test_runtime_is_the_median_and_relates_to_gat(config):
    table = everything(config, "runtime")
    seconds, relative = table.panels[0].blocks
    cells = {str(row.cells[0].text): [str(cell.text) for cell in row.cells[1:]] for row in seconds.rows}
    assert cells == {"GAT": ["0.200", "0.200"], "NIFTY": ["–"] * 2, "FairGAT": ["0.300", "0.300"]}
    assert [str(row.cells[1].text) for row in relative.rows] == ["1.00 (1.00)", "–", "1.50 (1.01)"]
    notes = [text for _, text in table.notes]
    assert "NIFTY on Recidivism: not measured." in notes
    assert notes[-2:] == [
        "Median of 3 epochs after 3 to warm up, 1 CPU thread; AMD_x, 2 cores.",
        "Pokec-z: not run (its 60 % of files & more aren't here).",
    ]


def test_a_time_without_gats_is_no_missing_time(config):
    settings_ = settings.table_settings(config, "runtime")
    measured = {"recidivism": {"threads": 1, "warmup": 3, "epochs": 1, "epoch_seconds": {"fairgat": [0.3]}}}
    table = runtime.build(settings_, measured, load_paper()["runtime"])
    notes = [text for _, text in table.notes]
    assert "GAT was not measured on Recidivism." in notes
    assert "FairGAT on Recidivism: not measured." not in notes


def test_statistics_mark_every_number(config):
    table = everything(config, "dataset_statistics")
    block = entries(table, "Recidivism")
    assert [str(cell.text) for cell in block["ours"]] == ["9317 ✓", "9559 ✓", "298098 ✓", "325642 ✓", "18 ✗"]
    assert [str(cell.text) for cell in block["paper"]] == ["9317", "9559", "298098", "325642", "17"]
    assert "paper" not in entries(table, NASTY)  # nothing to compare with
    attention = {str(row.cells[0].text): [str(c.text) for c in row.cells[1:]] for row in table.panels[2].blocks[0].rows}
    assert attention["Recidivism"] == ["0.9000", "0.6000", "0.2500", "0.6667"]
    shares = {str(row.cells[0].text): [str(c.text) for c in row.cells[1:]] for row in table.panels[3].blocks[0].rows}
    assert shares["Cora"] == ["0.9000", "0.6000"]


def test_statistics_are_counted_for_what_their_table_shows():
    task = {"task": NODE}
    fair = {"module": "fairgat", "tasks": [NODE]}
    methods = {
        "fairgat": fair | {"grid": {"alpha_chi_max": [1, 0.5]}, "grids": {"recidivism": {"alpha_chi_max": [1.0]}}},
        "fairgat-steps-12": fair | {"grid": {"alpha_chi_max": [0.25]}},
    }
    config = load({"datasets": {"recidivism": task | {"title": "Recidivism"}}, "methods": methods})
    grid = settings.alpha_chi_max_grid(config)
    assert list(map(str, grid)) == ["0.25", "1.0"]  # 0.5 is searched nowhere; their spelling is the counts' key
    assert settings.table_settings(config, "dataset_statistics")["alpha_chi_max"] == grid


def test_hyperparameters_show_the_papers_and_ours(config):
    table = everything(config, "hyperparameters")
    (block,) = [block for block in table.panels[0].blocks if block.title == "Recidivism"]
    assert [[str(cell.text) for cell in row.cells] for row in block.rows] == [
        ["FairGAT", "α_χ^max", "0.25, 0.75", "0.75", "0.75"],
        ["", "η", "0.75, 1", "1", "0.75"],
    ]


@pytest.mark.parametrize("name", TABLES)
def test_markdown_columns_are_aligned(config, name):
    lines = render(everything(config, name), "md").splitlines()
    grids = [list(group) for pipe, group in itertools.groupby(lines, lambda line: line.startswith("|")) if pipe]
    assert grids
    for grid in grids:
        assert re.fullmatch(r"\|( :?-+:? \|)+", grid[1])
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in grid}
        assert len(columns) == 1
        assert len({len(line) for line in grid}) == 1


@pytest.mark.parametrize("name", TABLES)
def test_csv_and_html_are_whole(config, name):
    table = everything(config, name)
    assert len(list(csv.reader(io.StringIO(render(table, "csv"))))) >= 3
    html = render(table, "html")
    assert html.count("<tr") == html.count("</tr>")
    assert html.count("<td") == html.count("</td>")
    (found,) = re.findall(r"<title>(.*)</title>", html)
    assert found


def test_escaping():
    assert escape.tex(r"a_b & 50% $x$ #1 {y} \z ~ ^") == (
        r"a\_b \& 50\% \$x\$ \#1 \{y\} \textbackslash{}z \textasciitilde{} \textasciicircum{}"
    )
    assert escape.tex("Žižek ± δ\n中") == r"\v{Z}i\v{z}ek \ensuremath{\pm} \ensuremath{\delta} U+4E2D"
    assert escape.tex("Straße, Łódź") == r"Stra\ss{}e, \L{}\'{o}d\'{z}"
    assert [escape.tex(text) for text in ("[a] b", "*a", "a [b]")] == ["{}[a] b", "{}*a", "a [b]"]
    assert escape.markdown("a|b *c* `d` x~1/y~2 $5 a_b _e_ <i> R&D") == (
        r"a\|b \*c\* \`d\` x\~1/y\~2 \$5 a_b \_e\_ &lt;i> R&amp;D"
    )


def every_character(first=""):
    printable = "".join(map(chr, range(32, 127)))
    title = first + printable + "éßæŒøŁñÅçŽ±≤≥→√✓✗–—‘’“”…" + "".join(escape._GREEK) + "中文\u200b😀"
    block = Block(title, [Row([Cell(title, mark="1"), Cell("1.00", std="0.10", bold=True)])])
    return Table("every_character", title, [Panel("stacked", ["", title[:20]], [block])], [("1", title), ("", title)])


@pytest.fixture(scope="module")
def latex(tmp_path_factory):
    """Compiles a table alone in an article with booktabs and multirow; returns TeX's log."""
    engine = shutil.which("tectonic") or shutil.which("pdflatex")
    if not engine:
        pytest.skip("neither pdflatex nor tectonic is installed")
    options = ["-interaction=nonstopmode", "-halt-on-error"] if engine.endswith("pdflatex") else []

    def compiled(tex):
        folder = tmp_path_factory.mktemp("latex")
        if "\\documentclass" not in tex:
            packages = "\\usepackage{booktabs}\n\\usepackage{multirow}\n"
            tex = f"\\documentclass{{article}}\n{packages}\\begin{{document}}\n{tex}\n\\end{{document}}\n"
        (folder / "main.tex").write_text(tex, encoding="utf-8")
        done = subprocess.run(
            [engine, *options, "main.tex"], cwd=folder, capture_output=True, text=True, errors="replace"
        )
        if "File `multirow.sty' not found" in done.stdout:
            pytest.skip("TeX is installed without multirow")
        assert done.returncode == 0, done.stdout[-3000:]
        assert (folder / "main.pdf").exists()
        return done.stdout

    return compiled


@pytest.mark.parametrize("name", TABLES)
def test_latex_compiles_with_booktabs_and_multirow_alone(config, latex, name):
    assert "Overfull" not in latex(render(everything(config, name), "tex"))


def test_all_tables_compile_as_one_document(config, latex):
    tex = document(render(everything(config, name), "tex") for name in TABLES)
    assert tex.count(r"\begin{table}") == len(TABLES)
    assert "Overfull" not in latex(tex)


@pytest.mark.parametrize("first", ["", "[", "*"])
def test_latex_compiles_with_every_character(latex, first):
    latex(render(every_character(first), "tex"))


def test_every_mark_has_its_note(config):
    for name in TABLES:
        table = everything(config, name)
        marks = {c.mark for p in table.panels for b in p.blocks for r in b.rows for c in r.cells if c.mark}
        assert marks == {mark for mark, _ in table.notes if mark}


def test_math_is_not_escaped():
    assert render(Table("t", Math("x²", "$x^{2}$"), [], []), "tex").count("$x^{2}$") == 1
