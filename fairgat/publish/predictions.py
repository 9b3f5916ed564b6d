"""Predictions of the published run: what others judge again, by measures of theirs."""

from pathlib import Path

from fairgat import frames
from fairgat.data.graph import load_npz, save_npz
from fairgat.plan import cell_folder
from fairgat.training.record import RUN_JSON, Record, pack, unpack

PREDICTIONS = "predictions.npz"
BUDGET = 25 << 20  # bytes, all runs together
FIRST_SPLITS = 5  # are kept where all splits take more


def chosen_runs(results: Path, trained: Path, rule: str) -> dict[Path, Path]:
    """List the run.json of the cells in the tables, and where each is published.

    Those that are at hand, of the splits with scores. There may be further ones, of
    runs with more splits or other settings, which are left out.

    Args:
        results: the run's folder.
        trained: the folder with its trainings: the same, or the run that it judged.
        rule: chose the cells.
    """
    places = []
    for winners in sorted(results.glob("summary/*/winners.csv")):
        task = winners.parent.name
        keys = ["dataset", "method", "cell"]
        chosen = frames.read(winners, columns=["rule", *keys])
        chosen = chosen.loc[chosen["rule"] == rule, keys].drop_duplicates()
        scored = frames.read(winners.with_name("runs.csv"), columns=[*keys, "split"])
        scored = scored[[*keys, "split"]].drop_duplicates()
        for *cell, split in chosen.merge(scored, on=keys).itertuples(index=False):
            folder = Path(cell_folder(task, *cell))
            places.append(folder / f"split-{split}" / RUN_JSON)
    runs = {trained / place: place for place in places}
    return {run: place for run, place in runs.items() if run.exists()}


def keep_predictions(trained: Path, published: Path) -> None:
    """Put the predictions of the reported epoch beside each run.json that is published.

    Of other epochs, which other rules would report, scores are published only. Where
    all take more than `BUDGET`, the runs of later splits are left out, and if the
    first ones do, too, all runs.

    Raises:
        DataError: a file is missing or damaged.
    """
    runs = sorted(published.glob(f"runs/**/{RUN_JSON}"))
    sizes = {run: _reduced(trained, published, run) for run in runs}
    split_of = {run: Record.read(run).split for run in runs}
    splits = sorted(set(split_of.values()))

    for count in (FIRST_SPLITS, 0):
        if sum(sizes.values()) <= BUDGET:
            return
        those = f"those after the first {count} splits" if count else "they"
        print(f"predictions take over {BUDGET >> 20} MiB: {those} are not published")
        for run in list(sizes):
            if split_of[run] not in splits[:count]:
                del sizes[run]
                run.with_name(PREDICTIONS).unlink(missing_ok=True)
                run.unlink()


def _reduced(trained: Path, published: Path, run: Path) -> int:
    """Write a published run's predictions; returns their size, 0 if it failed."""
    record = Record.read(run)
    if record.failure:
        return 0
    whole = trained / run.parent.relative_to(published) / PREDICTIONS
    reported = unpack(load_npz(whole), record.reported)
    kept = run.with_name(PREDICTIONS)
    save_npz(kept, **pack({record.reported: reported}))
    return kept.stat().st_size
