"""Tables: each is built from the files of a finished run and rendered in every format."""

import itertools
import re
import shutil
import subprocess
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_results import NODE, TABLES, TOO_DENSE, finish, metrics, scores

from fairgat import config as configuration
from fairgat import measures
from fairgat.config import shown
from fairgat.errors import ConfigError, DataError
from fairgat.files import write_json
from fairgat.measures import checks
from fairgat.plan import Plan
from fairgat.report import escape, latex, render, rows
from fairgat.report.model import Block, Cell, Math, Panel, Row, Table, row
from fairgat.report.tables.scores import verdict

GOLDEN = Path(__file__).parent / "golden"


def build(plan, name, files=None):
    """A table, as its rule makes it."""
    page = plan.table(name)
    module = import_module(f"fairgat.report.tables.{page.module}")
    settings = shown.table_settings(plan.config, name, page.task)
    return module.build(settings, files or plan.sources(page))


@pytest.fixture(scope="module")
def built(plan):
    return {name: build(plan, name) for name in TABLES}


def entries(table, title):
    """Row label → the texts of its other cells, in the blocks with this title."""
    blocks = [
        block
        for panel in table.panels
        for block in panel.blocks
        if str(block.title) == title
    ]
    return [
        {
            str(row.cells[0].text): [str(cell.text) for cell in row.cells[1:]]
            for row in b.rows
        }
        for b in blocks
    ]


def replanned(plan, **changes):
    return Plan(plan.config.model_copy(update=changes))


def small(folder, methods, table="comparison", splits=1):
    """The plan of one table of one data set."""
    methods = {name: {"tasks": [NODE]} | more for name, more in methods.items()}
    content = {
        "datasets": {"recidivism": {"task": NODE}},
        "methods": methods,
        "tables": {table: [*methods]},
    }
    return Plan(
        configuration.load(
            content | {"results_dir": str(folder), "splits": {"count": splits}}
        )
    )


def marked(folder, *gaps):
    """FairGAT's marks, and whether it is bold, where its accuracy and gaps differ from GAT's by this on each split."""
    plan = small(folder, {"gat": {}, "fairgat": {}}, splits=len(gaps))
    base = [0.9 + 0.01 * split for split in range(len(gaps))]
    runs = [("gat", split, 0.0) for split in range(len(gaps))] + [
        ("fairgat", *each) for each in enumerate(gaps)
    ]
    finish(
        plan,
        [
            metrics(
                "recidivism", n, "default", k, scores(NODE, base[k] + gap, 0.2 + gap)
            )
            for n, k, gap in runs
        ],
    )
    (block,) = build(plan, "comparison").panels[0].blocks
    assert not any(cell.bold or cell.mark for cell in block.rows[0].cells)
    return [(cell.mark, cell.bold) for cell in block.rows[1].cells[1:5]]


def test_bold_is_what_the_paired_interval_shows_to_be_better(tmp_path):
    better, worse, neither = ("+", True), ("-", False), ("", False)
    gaps = [0.010, 0.012, 0.011, 0.010, 0.012]
    more, less = [better, better, worse, worse], [worse, worse, better, better]
    assert marked(tmp_path / "a", *gaps) == more
    assert marked(tmp_path / "b", *(-gap for gap in gaps)) == less
    assert marked(tmp_path / "c", *gaps[:4], -0.012) == [neither] * 4
    assert marked(tmp_path / "d", *gaps[:4]) == [neither] * 4  # too few splits
    line = SimpleNamespace(low=1, high=2, pairs=5)
    no_way = replace(measures.find("accuracy"), better=None)
    assert verdict(line, no_way) == ""  # nobody says which way it points


def test_a_table_of_few_splits_says_that_nothing_is_marked(tmp_path):
    plan = small(tmp_path, {"gat": {}, "fairgat": {}}, splits=2)
    gaps = {"gat": [0.9, 0.91], "fairgat": [0.8, 0.82]}
    judged = [
        metrics("recidivism", name, "default", k, scores(NODE, gaps[name][k], 0.2))
        for name in gaps
        for k in range(2)
    ]
    finish(plan, judged)
    notes = [text for _, text in build(plan, "comparison").notes]
    few = "Nothing is marked as better or worse than GAT: that takes 5 splits or more."
    assert few in notes


def test_a_table_of_other_rows_and_measures_is_an_entry_of_the_configuration(plan):
    mine = {
        "kind": "scores",
        "task": NODE,
        "title": "Mine.",
        "methods": ["gat", "fairgat"],
        "measures": ["auc", "statistical_parity"],
    }
    made = Plan(
        configuration.load(
            plan.config.model_dump(exclude_unset=True) | {"tables": {"mine": mine}}
        )
    )
    table = build(made, "mine")
    assert (made.tables(), table.name, table.caption) == (["mine"], "mine", "Mine.")
    assert "Higher AUC is better. Lower differences are better." in table.explanation
    assert [str(text) for text in table.panels[0].header] == [
        "",
        "AUC (%)",
        "ΔSP (%)",
        "Cell",
    ]
    assert [row.cells[0].text for row in table.panels[0].blocks[1].rows] == [
        "GAT",
        "FairGAT",
        "Perfect prediction",
    ]
    for wrong, advice in (
        ("acuracy", "'accuracy'"),
        ("dp_mixed", ""),
    ):  # the latter is one of link prediction
        entry = made.config.tables["mine"].model_copy(update={"measures": [wrong]})
        refused = (
            rf"tables\.mine\.measures: '{wrong}' is not a measure of {NODE}; .*{advice}"
        )
        with pytest.raises(ConfigError, match=refused):
            checks.check(made.config.model_copy(update={"tables": {"mine": entry}}))


def test_a_method_that_is_another_one_has_its_scores_and_says_why(tmp_path):
    same_as = {
        "module": "fairgat",
        "same_as": "fairgat",
        "note": "One method (docs/theory.md).",
    }
    plan = small(
        tmp_path, {"gat": {}, "fairgat": {}, "fairgat-steps-13": same_as}, "ablation"
    )
    assert [run.method for run in plan.runs(NODE)] == ["gat", "fairgat"]
    asked = replanned(plan, only_methods=["fairgat-steps-13"])
    assert [run.method for run in asked.runs(NODE)] == ["fairgat"]
    finish(
        plan,
        [
            metrics("recidivism", name, "default", 0, scores(NODE, 0.9, 0.1))
            for name in ("gat", "fairgat")
        ],
    )
    for shown_plan in (plan, asked):
        table = build(shown_plan, "ablation")
        *_, fairgat, same, _ = table.panels[0].blocks[0].rows
        assert same.cells[1:] == fairgat.cells[1:]
        assert (
            same.cells[0].mark,
            "One method (docs/theory.md).",
        ) in table.notes and not fairgat.cells[0].mark
        assert all(
            "One method (docs/theory.md)." in render.render(table, form)
            for form in ("md", "tex", "html")
        )


@pytest.mark.parametrize("groups", [2, 3])
def test_a_method_may_be_another_one_with_more_groups(tmp_path, groups):
    plan = small(
        tmp_path, {"gat": {}, "fairgat": {"note_of_more_groups": "balanced shares."}}
    )
    given = scores(NODE, 0.9, 0.1) | {f"positive_rate_{k}": 0.5 for k in range(groups)}
    finish(
        plan,
        [
            metrics("recidivism", name, "default", 0, given)
            for name in ("gat", "fairgat")
        ],
    )
    notes = [text for _, text in build(plan, "comparison").notes]
    assert ("fairgat on recidivism: balanced shares." in notes) == (groups > 2)


def test_a_measure_that_is_missing_says_so_below_the_table(tmp_path):
    plan, gaps = (
        small(tmp_path, {"gat": {}, "fairgat": {}}, splits=2),
        [[None, 0.1], [None, None]],
    )
    methods = itertools.product(("gat", "fairgat"), enumerate(gaps))
    finish(
        plan,
        [
            metrics("recidivism", name, "default", k, scores(NODE, 0.9, gap))
            for name, (k, gap) in methods
        ],
    )
    text = render.render(build(plan, "comparison"), "md")
    row = next(line for line in text.splitlines() if line.startswith("| gat"))
    assert [cell.strip() for cell in row.split("|")[2:6]] == [
        "90.00 ± 0.00",
        "90.00 ± 0.00",
        "– ¹",
        "10.00 ²",
    ]
    assert (
        "² Over 1 of 2 splits: on the others it is missing" in text
        and "¹ On every split it is missing" in text
    )


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_the_small_run_is_as_it_was(built, name):
    """Every row, number and note; where a change is meant, golden/ shows it to who reads the commit."""
    assert render.render(built[name], "csv") == (GOLDEN / f"{name}.csv").read_text(
        encoding="utf-8"
    )


def test_what_is_not_run_says_why_in_every_format(plan, built):
    text = {
        form: render.render(built["comparison"], form) for form in ("md", "tex", "html")
    }
    assert "**Pokec-z**: not run (its 60 % of files & more aren't here)" in text["md"]
    assert r"Pokec-z: not run (its 60 \% of files \& more aren't here)." in text["tex"]
    assert "not run: its 60 % of files &amp; more aren&#39;t here" in text["html"]
    # The paper's table has no such column.
    assert r"FairGAT $\alpha_{\max}^{\chi}$ 0.25" in text["tex"]
    assert (
        f"¹ EDITS on Recidivism: 2 of 3 cells failed on every split (threshold 0.1, 0.3: {TOO_DENSE})."
        in text["md"]
    )
    skipped = render.render(
        build(replanned(plan, skip=["recidivism"]), "comparison"), "md"
    )
    assert "**Recidivism**: not run (left out with skip)" in skipped


def test_what_was_not_asked_for_is_left_out(plan):
    table = build(
        replanned(plan, only_methods=["gat"], only_datasets=["recidivism"]),
        "comparison",
    )
    (block,) = table.panels[0].blocks
    assert block.title == "Recidivism"
    assert [line.cells[0].text for line in block.rows] == ["GAT", "Perfect prediction"]
    elsewhere = build(
        replanned(plan, only_methods=["fairgat-steps-12"]), "comparison"
    )  # none of its rows
    assert "GAT on Recidivism: not run." in dict(elsewhere.notes).values()


def test_a_table_that_fits_a_page_floats(built):
    tex = render.render(built["comparison"], "tex")
    assert "table*" in tex and "longtable" not in tex
    lines = tex[tex.index("Recidivism &") :].splitlines()
    assert (
        lines[0]
        == r"Recidivism & Accuracy ($\%$) & AUC ($\%$) & $\Delta_{S P}$ ($\%$) & $\Delta_{E O}$ ($\%$) \\"
    )
    gat = r"GAT & $95.73\pm0.10$ & $95.73\pm0.10$ & $10.00\pm0.00$ & $10.00\pm0.00$ \\"
    assert lines[2] == gat
    assert lines[3] == lines[6] == r"\addlinespace"  # GAT and FairGAT stand apart
    links = render.render(built["link_prediction"], "tex")
    assert links.count(r"\textbf{Cora}") == links.count(r"\begin{tabular}") == 2


def long_table(rows, columns=3):
    """A table of a data set with so many rows, two of each method."""
    line = [Cell("91.00", std="1.00")] * columns
    block = Block("Data", [row(f"m{n // 2}", *line, group=n // 2) for n in range(rows)])
    header = ["", "Method", *(f"measure {n}" for n in range(columns))]
    panel = Panel("multirow", header, [block], align="ll" + "c" * columns)
    return Table("long", "Long.", [panel], [])


def test_a_longer_table_goes_on_over_landscape_pages():
    assert "longtable" not in render.render(long_table(20), "tex")
    tex = render.render(long_table(60), "tex")
    assert r"\begin{landscape}" in tex
    ends = [line for line in tex.splitlines() if "91.00" in line]
    assert [line.endswith(r"\\*") for line in ends[:4]] == [True, False, True, False]


def test_a_wide_table_is_parted_evenly_and_every_part_names_its_rows():
    table = latex.printed(long_table(4, columns=8)).table
    widths = [len(panel.columns) for panel in table.panels]
    assert widths == [2 + 4, 2 + 4]
    assert [panel.header[1] for panel in table.panels] == ["Method", "Method"]
    values = [len(panel.blocks[0].rows[0].cells) for panel in table.panels]
    assert values == [1 + 4, 1 + 4]


def test_a_method_that_was_not_timed_says_why(plan, tmp_path):
    measured = {
        "dataset": "recidivism",
        "threads": 2,
        "warmup": 3,
        "epochs": 1,
        "epoch_seconds": {"fairgat": [0.3]},
    }
    write_json(tmp_path / "a.json", measured | {"failures": {"nifty": "it diverged"}})
    table = build(plan, "runtime", {"runtime": [tmp_path / "a.json"]})
    on = [
        text.removesuffix(".").split(" on Recidivism: ")
        for _, text in table.notes
        if " on Recidivism" in text
    ]
    assert on == [["GAT", "not measured"], ["NIFTY", "not measured (it diverged)"]]
    assert ("", "Median of 1 epoch after 3 to warm up, 2 CPU threads.") in table.notes


@pytest.mark.parametrize("name", TABLES)
def test_every_format_is_whole(built, name):
    table = built[name]
    lines = render.render(table, "md").splitlines()
    grids = [
        list(group)
        for pipe, group in itertools.groupby(lines, lambda line: line.startswith("|"))
        if pipe
    ]
    for grid in grids:
        assert re.fullmatch(r"\|( :?-+:? \|)+", grid[1])
        assert (
            len({(len(line), len(re.findall(r"(?<!\\)\|", line))) for line in grid})
            == 1
        )  # aligned
    tex, html = (render.render(table, form) for form in ("tex", "html"))
    assert html.count("<tr") == html.count("</tr>") and re.search(
        "<title>.+</title>", html
    )
    assert all(
        escape.tex(each) in tex
        for panel in table.panels
        for each in [panel.title, *panel.text]
    )
    marked = [
        c.mark
        for p in table.panels
        for b in p.blocks
        for r in b.rows
        for c in r.cells
        if c.mark
    ]
    marks = {mark for each in marked for mark in each.split(", ")} - {"+", "-"}
    assert marks == {mark for mark, _ in table.notes if mark}


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (r"a_b & 50% $x$ #1 {y}", r"a\_b \& 50\% \$x\$ \#1 \{y\}"),
        (r"\z ~ ^", r"\textbackslash{}z \textasciitilde{} \textasciicircum{}"),
        ("Žižek ± δ\n中", r"\v{Z}i\v{z}ek $\pm$ $\delta$ U+4E2D"),
        ("Straße, Łódź ✓", r"Stra\ss{}e, \L{}\'od\'z $\checkmark$"),
        ("α_χ^max 0.5 of GAT.", r"$\alpha_{\max}^{\chi}$ 0.5 of GAT\@."),
        ('("a b", "c"), d" ["d"]', "(``a b'', ``c''), d'' [``d'']"),
        ("[a] b", "{}[a] b"),
        ("*a", "{}*a"),
        ("a [b]", "a [b]"),
        (
            "`c` or `a_b: *`, <b>",
            r"\texttt{c} or \texttt{a\_b: *}, $<$b$>$",
        ),
    ],
)
def test_escaping_for_latex(text, escaped, caplog):
    assert escape.tex(text) == escaped and not caplog.records


def test_escaping_for_pages():
    assert escape.markdown("a|b *c* ` x~1/y~2 $5 a_b _e_ <i> R&D") == (
        r"a\|b \*c\* \` x\~1/y\~2 \$5 a_b \_e\_ &lt;i> R&amp;D"
    )
    assert escape.markdown("`c_` or `a_b: *`, <b>") == "`c_` or `a_b: *`, &lt;b>"
    assert (
        escape.html("`c` or `a_b: *`, <b>")
        == "<code>c</code> or <code>a_b: *</code>, &lt;b&gt;"
    )
    assert (
        render.render(
            Table("t", Math("x²", "$x^{2}$"), [Panel("stacked")], []), "tex"
        ).count("$x^{2}$")
        == 1
    )


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compile a table alone, or a document; return TeX's log."""
    engine = shutil.which("tectonic") or shutil.which("pdflatex")
    if not engine:
        pytest.skip("neither pdflatex nor tectonic is installed")
    tectonic = engine.endswith("tectonic")
    options = [] if tectonic else ["-interaction=nonstopmode", "-halt-on-error"]

    def run(tex):
        folder = tmp_path_factory.mktemp("latex")
        if "\\documentclass" not in tex:
            tex = render.document([tex], "One table")
        (folder / "main.tex").write_text(tex, encoding="utf-8")
        for _ in range(
            1 if tectonic else 2
        ):  # longtable learns its widths in the first run
            done = subprocess.run(
                [engine, *options, "main.tex"],
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
            )
        if lacking := re.search(r"File `(\w+\.sty)' not found", done.stdout):
            pytest.skip(f"TeX is installed without {lacking[1]}")
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout

    return run


def test_all_tables_compile(built, compiled):
    for table in built.values():
        assert "Overfull" not in compiled(render.render(table, "tex"))
    tex = render.document(
        (render.render(table, "tex") for table in built.values()), "A & B"
    )
    assert "Overfull" not in compiled(tex)


@pytest.mark.parametrize("first", ["", "[", "*"])
def test_latex_compiles_with_every_character(compiled, first):
    title = (
        first
        + "".join(map(chr, range(32, 127)))
        + "éñÅçŽ中文\u200b😀"
        + "–—‘’“”…ßæÆœŒøØłŁ±−×≤≥≠→√✓✗¹²αβχηδΔΩ"
    )
    block = Block(
        title, [Row([Cell(title, mark="1"), Cell("1.00", std="0.10", bold=True)])]
    )
    panel = Panel("stacked", ["", title[:20]], [block])
    compiled(
        render.render(
            Table("every_character", title, [panel], [("1", title), ("", title)]), "tex"
        )
    )


def test_measures_leave_out_what_a_run_was_not_asked_for(plan):
    nifty = plan.config.methods["nifty"].model_copy(update={"without": ["recidivism"]})
    asked = replanned(plan, methods=plan.config.methods | {"nifty": nifty})
    for table in (build(asked, "account"), build(asked, "theory")):
        assert all(
            "GAT" in rows and "NIFTY" not in rows
            for rows in entries(table, "Recidivism")
        )
        assert not any("NIFTY on Recidivism" in text for _, text in table.notes)


def test_scores_that_were_cut_off_make_no_table(plan, tmp_path):
    """As if the file had ended before the runs of a method, or before its last run."""
    files = plan.sources(plan.table("comparison"))
    lines = Path(files["runs"][0]).read_text().splitlines(keepends=True)
    methods = sorted({line.split(",")[1] for line in lines[1:]})
    last_run = ",".join(lines[-1].split(",")[:4])
    cut = tmp_path / "runs.csv"
    settings = shown.table_settings(plan.config, "comparison", NODE)
    for left_out in [*(f",{method}," for method in methods), last_run]:
        cut.write_text("".join(line for line in lines if left_out not in line))
        with pytest.raises(DataError, match=r"runs\.csv lacks runs of \S+ .*Delete it"):
            rows.table(settings, files | {"runs": [cut]})


def test_a_line_names_what_a_fixed_list_leaves_out(plan):
    """Under tables of scores, and under no other; with all rows there is none."""
    tables = {name: plan.config.table(name) for name in plan.config.tables}
    short = tables["comparison"].model_copy(update={"methods": ["gat", "edits"]})
    fixed = replanned(plan, tables=tables | {"comparison": short, "ablation": short})
    line = "Run, and in no table of scores: NIFTY, FairGAT, Steps 1&2."
    assert line in [text for _, text in build(fixed, "comparison").notes]
    assert line not in [text for _, text in build(fixed, "hyperparameters").notes]
    all_notes = [text for _, text in build(plan, "comparison").notes]
    assert not any("in no table" in text for text in all_notes)

    more = short.model_copy(update={"others": True})
    open_ended = replanned(
        plan, tables=tables | {"comparison": more, "ablation": short}
    )
    found = entries(build(open_ended, "comparison"), "Recidivism")
    assert [*found[0]][:5] == ["GAT", "EDITS", "NIFTY", "FairGAT", "Steps 1&2"]
