"""Tables: each is built from the files of a finished run, in every format."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_results import NODE, TABLES, TOO_DENSE, build_table, finish, metrics, scores

from fairgat import config, measures
from fairgat.config import shown
from fairgat.errors import ConfigError, DataError
from fairgat.files import write_json
from fairgat.measures import checks
from fairgat.plan import Plan
from fairgat.report import escape, render, rows
from fairgat.report.model import Table
from fairgat.report.tables.scores import verdict

GOLDEN = Path(__file__).parent / "golden"


def blocks_of(table, title):
    """The blocks of a data set: for each, the texts of its rows by their names."""
    found = []
    for panel in table.panels:
        for block in panel.blocks:
            if str(block.title) == title:
                found.append(texts_of(block))
    return found


def texts_of(block):
    texts = {}
    for row in block.rows:
        name, *others = [str(cell.text) for cell in row.cells]
        texts[name] = others
    return texts


def notes_of(table):
    return [text for _, text in table.notes]


def replanned(plan, **changes):
    return Plan(plan.config.model_copy(update=changes))


def plan_of(folder, methods, table="comparison", splits=1):
    """The plan of one table of one data set."""
    entries = {name: {"tasks": [NODE]} | entry for name, entry in methods.items()}
    content = {
        "datasets": {"recidivism": {"task": NODE}},
        "methods": entries,
        "tables": {table: list(methods)},
        "results_dir": str(folder),
        "splits": {"count": splits},
    }
    return Plan(config.load(content))


def finish_with(plan, scores_of):
    """Finish a plan's runs, each with `scores_of(method, split)`."""
    judged = []
    for run in plan.runs(NODE):
        given = scores_of(run.method, run.split)
        judged.append(metrics(run.dataset, run.method, run.cell, run.split, given))
    finish(plan, judged)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_the_small_run_is_as_it_was(built, name):
    """Where a change is meant, golden/ shows it to who reads the commit."""
    golden = GOLDEN / f"{name}.csv"
    text = render.render(built[name], "csv")
    assert text == golden.read_text(encoding="utf-8")


# ------------------------------------------------------------------------ better, worse

BETTER, WORSE, NEITHER = ("+", True), ("-", False), ("", False)
GAPS = [0.010, 0.012, 0.011, 0.010, 0.012]


@pytest.mark.parametrize(
    ("gaps", "accuracies", "differences"),
    [
        (GAPS, BETTER, WORSE),
        ([-gap for gap in GAPS], WORSE, BETTER),
        ([*GAPS[:4], -0.012], NEITHER, NEITHER),
        (GAPS[:4], NEITHER, NEITHER),
    ],
    ids=["higher", "lower", "higher and lower", "too few splits"],
)
def test_bold_is_what_the_paired_interval_shows_to_be_better(
    tmp_path, gaps, accuracies, differences
):
    """FairGAT's accuracies and differences are GAT's and `gaps`, split by split."""
    plan = plan_of(tmp_path, {"gat": {}, "fairgat": {}}, splits=len(gaps))

    def scores_of(method, split):
        gap = gaps[split] if method == "fairgat" else 0
        return scores(NODE, 0.9 + 0.01 * split + gap, 0.2 + gap)

    finish_with(plan, scores_of)
    (block,) = build_table(plan, "comparison").panels[0].blocks

    gat, fairgat, _ = block.rows
    marked = [(cell.mark, cell.bold) for cell in fairgat.cells[1:5]]
    assert marked == [accuracies, accuracies, differences, differences]
    assert not any(cell.bold or cell.mark for cell in gat.cells)


def test_a_measure_of_which_no_way_is_better_is_not_marked():
    line = SimpleNamespace(low=1, high=2, pairs=5)
    no_way = replace(measures.find("accuracy"), better=None)
    assert verdict(line, no_way) == ""


def test_a_table_of_few_splits_says_that_nothing_is_marked(tmp_path):
    plan = plan_of(tmp_path, {"gat": {}, "fairgat": {}}, splits=2)
    accuracies = {"gat": [0.9, 0.91], "fairgat": [0.8, 0.82]}

    def scores_of(method, split):
        return scores(NODE, accuracies[method][split], 0.2)

    finish_with(plan, scores_of)

    few = "Nothing is marked as better or worse than GAT: that takes 5 splits or more."
    assert few in notes_of(build_table(plan, "comparison"))


def test_where_only_some_data_sets_have_few_splits_the_table_says_so(tmp_path):
    plan = plan_of(tmp_path, {"gat": {}, "fairgat": {}}, splits=5)
    few = {"recidivism": {"task": NODE}, "other": {"task": NODE, "split_count": 2}}
    content = plan.config.model_dump(exclude_unset=True)
    plan = Plan(config.load(content | {"datasets": few}))
    finish_with(plan, lambda method, split: scores(NODE, 0.9 + 0.01 * split, 0.2))

    marks, *_ = notes_of(build_table(plan, "comparison"))

    assert marks.endswith(
        "On some data sets nothing is marked: that takes 5 splits or more."
    )


# ----------------------------------------------------------- a table in a configuration


def with_own_table(plan, **entry):
    """The plan with one table, which the configuration describes."""
    mine = {
        "kind": "scores",
        "task": NODE,
        "title": "Mine.",
        "methods": ["gat", "fairgat"],
        "measures": ["auc", "statistical_parity"],
    }
    content = plan.config.model_dump(exclude_unset=True)
    return Plan(config.load(content | {"tables": {"mine": mine | entry}}))


def test_a_table_of_other_rows_and_measures_is_an_entry_of_the_configuration(plan):
    mine = with_own_table(plan)

    table = build_table(mine, "mine")

    assert mine.tables() == ["mine"]
    assert (table.name, table.caption) == ("mine", "Mine.")
    assert "Higher AUC is better. Lower differences are better." in table.explanation
    panel = table.panels[0]
    assert list(map(str, panel.header)) == ["", "AUC (%)", "ΔSP (%)", "Cell"]
    (recidivism,) = blocks_of(table, "Recidivism")
    assert list(recidivism) == ["GAT", "FairGAT", "Perfect prediction"]


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        (["accuracy", "auc"], "Higher accuracy and AUC are better. Each"),
        (["statistical_parity"], "over the splits. Lower differences are better. "),
    ],
)
def test_a_table_says_which_way_is_better_of_what_it_shows(plan, measures, said):
    table = build_table(with_own_table(plan, measures=measures), "mine")
    assert said in table.explanation


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [("acuracy", "'accuracy'"), ("dp_mixed", "")],
    ids=["misspelt", "of link prediction"],
)
def test_a_measure_that_a_task_lacks_is_refused(plan, wrong, advice):
    mine = with_own_table(plan, measures=[wrong])

    problem = f"'{wrong}' is not a measure of {NODE}; .*{advice}"
    with pytest.raises(ConfigError, match=rf"tables\.mine\.measures: {problem}"):
        checks.check(mine.config)


# --------------------------------------------------------- methods that are another one


@pytest.mark.parametrize("asked", [[], ["fairgat-steps-13"]], ids=["all", "only it"])
def test_a_method_that_is_another_one_has_its_scores_and_says_why(tmp_path, asked):
    same = {
        "module": "fairgat",
        "same_as": "fairgat",
        "note": "One method (docs/theory.md).",
    }
    methods = {"gat": {}, "fairgat": {}, "fairgat-steps-13": same}
    plan = plan_of(tmp_path, methods, "ablation")
    finish_with(plan, lambda method, split: scores(NODE, 0.9, 0.1))

    table = build_table(replanned(plan, only_methods=asked), "ablation")

    *_, fairgat, steps, _ = table.panels[0].blocks[0].rows
    mark = steps.cells[0].mark
    assert steps.cells[1:] == fairgat.cells[1:]
    assert (mark, "One method (docs/theory.md).") in table.notes
    assert not fairgat.cells[0].mark
    for form in ("md", "tex", "html"):
        assert "One method (docs/theory.md)." in render.render(table, form)


def test_a_method_that_is_another_one_is_not_run(tmp_path):
    same = {"module": "fairgat", "same_as": "fairgat", "note": "One method."}
    methods = {"gat": {}, "fairgat": {}, "fairgat-steps-13": same}
    plan = plan_of(tmp_path, methods, "ablation")

    only_it = replanned(plan, only_methods=["fairgat-steps-13"])

    assert [run.method for run in plan.runs(NODE)] == ["gat", "fairgat"]
    assert [run.method for run in only_it.runs(NODE)] == ["fairgat"]


@pytest.mark.parametrize("groups", [2, 3])
def test_a_method_may_be_another_one_with_more_groups(tmp_path, groups):
    noted = {"note_of_more_groups": "balanced shares."}
    plan = plan_of(tmp_path, {"gat": {}, "fairgat": noted})
    rates = {f"positive_rate_{group}": 0.5 for group in range(groups)}
    finish_with(plan, lambda method, split: scores(NODE, 0.9, 0.1) | rates)

    notes = notes_of(build_table(plan, "comparison"))

    is_said = "fairgat on recidivism: balanced shares." in notes
    assert is_said == (groups > 2)


# ---------------------------------------------------------------------- what is missing


def test_a_measure_that_is_missing_says_so_below_the_table(tmp_path):
    plan = plan_of(tmp_path, {"gat": {}, "fairgat": {}}, splits=2)
    gaps = [[None, 0.1], [None, None]]
    finish_with(plan, lambda method, split: scores(NODE, 0.9, gaps[split]))

    text = render.render(build_table(plan, "comparison"), "md")

    (gat,) = re.findall(r"^\| gat .*", text, re.MULTILINE)
    cells = [cell.strip() for cell in gat.split("|")]
    assert cells[2:6] == ["90.00 ± 0.00", "90.00 ± 0.00", "– ¹", "10.00 ²"]
    assert "¹ On every split it is missing" in text
    assert "² Over 1 of 2 splits: on the others it is missing" in text


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("md", "**Pokec-z**: not run (its 60 % of files & more aren't here)"),
        ("tex", r"Pokec-z: not run (its 60 \% of files \& more aren't here)."),
        ("html", "not run: its 60 % of files &amp; more aren&#39;t here"),
    ],
)
def test_a_data_set_that_is_not_run_says_why(built, form, said):
    assert said in render.render(built["comparison"], form)


def test_a_data_set_that_is_skipped_says_so(plan):
    skipping = replanned(plan, skip=["recidivism"])
    text = render.render(build_table(skipping, "comparison"), "md")
    assert "**Recidivism**: not run (left out with skip)" in text


def test_a_method_whose_cells_failed_says_why(built):
    failed = f"2 of 3 cells failed on every split (threshold 0.1, 0.3: {TOO_DENSE})."
    text = render.render(built["comparison"], "md")
    assert f"¹ EDITS on Recidivism: {failed}" in text


def test_what_was_not_asked_for_is_left_out(plan):
    asked = replanned(plan, only_methods=["gat"], only_datasets=["recidivism"])

    table = build_table(asked, "comparison")

    (block,) = table.panels[0].blocks
    assert block.title == "Recidivism"
    assert list(texts_of(block)) == ["GAT", "Perfect prediction"]


def test_a_table_of_which_nothing_was_asked_for_says_that_it_was_not_run(plan):
    elsewhere = replanned(plan, only_methods=["fairgat-steps-12"])
    table = build_table(elsewhere, "comparison")
    assert "GAT on Recidivism: not run." in notes_of(table)


def test_a_method_that_was_not_timed_says_why(plan, tmp_path):
    measured = {
        "dataset": "recidivism",
        "threads": 2,
        "warmup": 3,
        "epochs": 1,
        "epoch_seconds": {"fairgat": [0.3]},
        "failures": {"nifty": "it diverged"},
    }
    write_json(tmp_path / "times.json", measured)

    table = build_table(plan, "runtime", {"runtime": [tmp_path / "times.json"]})

    notes = notes_of(table)
    of_recidivism = [text for text in notes if " on Recidivism" in text]
    assert of_recidivism == [
        "GAT on Recidivism: not measured.",
        "NIFTY on Recidivism: not measured (it diverged).",
    ]
    assert "Median of 1 epoch after 3 to warm up, 2 CPU threads." in notes


@pytest.mark.parametrize(
    ("turns", "shown"),
    [
        pytest.param(8, "20.0 [10.0, 30.0]", id="an interval of the median"),
        pytest.param(5, "20.0", id="too few turns for an interval"),
    ],
)
def test_epochs_are_compared_with_gats_of_the_same_turn(plan, tmp_path, turns, shown):
    gat = [0.1 * turn for turn in range(1, turns + 1)]  # the machine slows down
    more = [0.01, 0.02, 0.02, 0.02, 0.03, 0.01, 0.02, 0.03][:turns]
    fairgat = [first + second for first, second in zip(gat, more, strict=True)]
    measured = {
        "dataset": "odd",
        "threads": 1,
        "warmup": 3,
        "epochs": turns,
        "epoch_seconds": {"gat": gat, "fairgat": fairgat},
    }
    write_json(tmp_path / "times.json", measured)

    table = build_table(plan, "runtime", {"runtime": [tmp_path / "times.json"]})

    (rows,) = blocks_of(table, "More than GAT, in ms (paper)")
    assert rows["GAT"][-1] == "–"
    assert rows["FairGAT"][-1] == shown


@pytest.mark.parametrize("name", ["account", "theory"])
def test_measures_leave_out_what_a_run_was_not_asked_for(plan, name):
    nifty = plan.config.methods["nifty"].model_copy(update={"without": ["recidivism"]})
    methods = plan.config.methods | {"nifty": nifty}

    table = build_table(replanned(plan, methods=methods), name)

    for block in blocks_of(table, "Recidivism"):
        assert "GAT" in block
        assert "NIFTY" not in block
    assert not any("NIFTY on Recidivism" in text for text in notes_of(table))


@pytest.fixture
def runs_csv(plan):
    """The lines of runs.csv, the header first."""
    (path,) = plan.sources(plan.table("comparison"))["runs"]
    return Path(path).read_text().splitlines(keepends=True)


@pytest.mark.parametrize("lost", [*TABLES["comparison"], "the last run"])
def test_scores_that_were_cut_off_make_no_table(plan, runs_csv, tmp_path, lost):
    """As if the file had ended before the runs of a method, or before its last run."""
    key = f",{lost},"
    if lost == "the last run":
        key = ",".join(runs_csv[-1].split(",")[:4])
    kept = [line for line in runs_csv if key not in line]
    cut = tmp_path / "runs.csv"
    cut.write_text("".join(kept))
    settings = shown.table_settings(plan.config, "comparison", NODE)
    files = plan.sources(plan.table("comparison")) | {"runs": [cut]}

    with pytest.raises(DataError, match=r"runs\.csv lacks runs of \S+ .*Delete it"):
        rows.table(settings, files)


# --------------------------------------------------------- what a fixed list leaves out

LEFT_OUT = "Run, and in no table of scores: NIFTY, FairGAT, Steps 1&2."


@pytest.fixture
def tables(plan):
    """The entries of the tables, where those of scores list GAT and EDITS."""
    entries = {name: plan.config.table(name) for name in plan.config.tables}
    short = entries["comparison"].model_copy(update={"methods": ["gat", "edits"]})
    return entries | {"comparison": short, "ablation": short}


def test_a_table_of_scores_names_what_its_list_leaves_out(plan, tables):
    short = replanned(plan, tables=tables)

    assert LEFT_OUT in notes_of(build_table(short, "comparison"))
    assert LEFT_OUT not in notes_of(build_table(short, "hyperparameters"))


def test_a_table_of_all_rows_leaves_nothing_out(built):
    notes = notes_of(built["comparison"])
    assert not any("in no table" in text for text in notes)


def test_a_table_with_others_has_every_method_behind_those_it_lists(plan, tables):
    with_others = tables["comparison"].model_copy(update={"others": True})
    changed = replanned(plan, tables=tables | {"comparison": with_others})

    (recidivism,) = blocks_of(build_table(changed, "comparison"), "Recidivism")

    names = list(recidivism)
    assert names[:5] == ["GAT", "EDITS", "NIFTY", "FairGAT", "Steps 1&2"]


# ------------------------------------------------------------------------- every format


@pytest.mark.parametrize("name", TABLES)
def test_the_grids_of_markdown_are_aligned(built, name):
    text = render.render(built[name], "md")

    for grid in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = grid.splitlines()
        rule = lines[1]
        assert re.fullmatch(r"\|( :?-+:? \|)+", rule)
        for line in lines:
            pipes = re.findall(r"(?<!\\)\|", line)
            assert len(line) == len(rule)
            assert len(pipes) == rule.count("|")


@pytest.mark.parametrize("name", TABLES)
def test_html_closes_its_rows_and_has_a_title(built, name):
    html = render.render(built[name], "html")

    assert html.count("<tr") == html.count("</tr>")
    assert re.search("<title>.+</title>", html)


@pytest.mark.parametrize("name", TABLES)
def test_latex_has_the_titles_and_texts_of_every_panel(built, name):
    tex = render.render(built[name], "tex")

    for panel in built[name].panels:
        for text in [panel.title, *panel.text]:
            assert escape.tex(text) in tex


@pytest.mark.parametrize("name", TABLES)
def test_every_mark_has_its_note(built, name):
    table = built[name]

    used = set()
    for panel in table.panels:
        for block in panel.blocks:
            for row in block.rows:
                for cell in row.cells:
                    used.update(cell.mark.split(", "))

    explained = {mark for mark, _ in table.notes}
    assert used - {"", "+", "-"} == explained - {""}


@pytest.mark.parametrize("note", ["Own table.", ("", "a", "b")])
def test_a_note_that_is_no_pair_is_refused_where_the_table_is_built(note):
    with pytest.raises(ConfigError, match="table 'own': a note is a pair"):
        Table("own", "Own.", [], [("", "About it."), note])
