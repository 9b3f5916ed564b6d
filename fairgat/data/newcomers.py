"""New people beside those that a model was trained on, in one graph.

They come in two files of training's form. Their features are made and scaled as those
of training (`columns.py`), and whatever training did not have is said.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairgat.data.columns import Columns, Feature, values
from fairgat.data.declared import NO_LABEL, check_spelling, cut, inverted
from fairgat.data.edges import Edges
from fairgat.data.features import check_filled, number
from fairgat.data.graph import UNLABELLED, Graph, symmetrise
from fairgat.data.own import LEFT_OUT_NODES, between
from fairgat.data.roles import OwnFile, Roles
from fairgat.data.sources import tables
from fairgat.data.table import Table, mapped, noting, told
from fairgat.errors import DataError
from fairgat.files import irregular

if TYPE_CHECKING:
    import pandas as pd

FAR = 0.5
"""How far outside training's range a number is said to be, as a part of that range."""
_LEFT_OUT_LINKS = {
    "unknown_ids": "name nobody",
    "self_loops": "join somebody to themselves",
    LEFT_OUT_NODES: "join somebody who is left out",
}


@dataclass(frozen=True)
class Newcomers:
    """The people of a file, and the graph of them and of training's people."""

    graph: Graph
    """Training's people come first, in their order. Who is new has no label."""
    ids: list[str]
    """(n) of the file's people, in its order."""
    nodes: np.ndarray
    """(n,) the node of each; -1 for one that is left out."""
    labels: np.ndarray | None
    """(n,) 0, 1 or UNLABELLED; None where the file has no labels."""
    said: list[str]
    """What training did not have, a sentence each."""


def join(
    graph: Graph,
    columns: Columns,
    options: tables.Options,
    trained: Path,
    nodes: Path,
    edges: Path,
) -> Newcomers:
    """Add the people and links of two files to training's.

    Who has an id of training's is that person: their row takes the place of training's.
    Training's links stay.

    Args:
        graph, columns, options: of training.
        trained: training's table of nodes.
        nodes, edges: the files, of the same columns, read as training's.

    Raises:
        DataError: all that is wrong with the files, as in training; or `trained` is not
            what the graph was made of.
    """
    before = tables.read_nodes(trained, options)
    options = _reading(options, nodes, edges)
    given = tables.read_nodes(nodes, options)
    _check_columns(given, columns, options)
    if given.wrong:
        raise told(given.wrong)

    tables.row_finder(given, options.id)  # which notes ids that are none
    ids, rows, everyone = _rows(before, given, options.id)
    links = tables.read_edges(edges, options, everyone)
    groups, cells = _groups(before, given, columns, options)
    labels = _labels(before, given, options)
    _check_values(given, columns, options)
    if given.wrong or links.wrong:
        raise told([*given.wrong, *links.wrong])

    in_training = np.ones(len(before.frame), dtype=bool)
    in_training[list(columns.left_out)] = False
    kept, places = _places(in_training, rows, groups >= 0, len(everyone.frame))
    trained_pairs = np.flatnonzero(in_training)[graph.edge_index]
    pairs = np.concatenate([trained_pairs, links.pairs.T], axis=1)
    edge_index = between(kept, symmetrise(pairs, len(kept)))

    used = places >= 0
    old = replace(before, frame=before.frame[in_training])
    ours = replace(given, frame=given.frame[used])
    made = _features(graph, columns, (old, ours), places[used], edge_index)
    new_count = len(made.features) - graph.num_nodes
    sensitive = np.append(graph.sensitive, np.zeros(new_count, dtype=np.int64))
    sensitive[places[used]] = groups[used]
    other_group = sensitive[: graph.num_nodes] != graph.sensitive
    unknown = np.full(new_count, UNLABELLED)
    joint = Graph(
        made.features,
        np.append(graph.labels, unknown),
        sensitive,
        edge_index,
        graph.groups,
    )
    joint.check()

    said = [
        *_said_of_unscored(cells, groups, rows, in_training),
        *_said_of_links(links, kept),
        *_said_of_columns(before, given),
        *_said_of_categories(ours, columns.features),
        *_said_of_numbers(ours, columns.features),
    ]
    changed = int((made.changed | other_group).sum())
    if changed:
        said.append(f"{changed} of training's people have other values now")
    return Newcomers(joint, ids, places, labels, said)


def _reading(options: tables.Options, nodes: Path, edges: Path) -> tables.Options:
    """Give the options with these files in place of training's."""
    if not options.edges:
        raise DataError(
            "training's links were computed from its people: nobody can join them"
        )
    return options.model_copy(
        update={
            "nodes": _in_place(options.nodes, nodes),
            "edges": _in_place(options.edges, edges),
        }
    )


def _in_place(file: OwnFile, path: Path) -> OwnFile:
    """Declare a file of new people as training's was; refuse one that is not there."""
    kind = irregular(path)
    if kind:
        raise DataError(f"{path} cannot be read: it is {kind}")
    if not path.exists():
        raise DataError(f"{path} does not exist")
    return file.model_copy(update={"file": str(path), "url": None})


def _check_columns(given: Table, columns: Columns, options: tables.Options) -> None:
    """Note columns of training that the file lacks; it may lack the label."""
    needed = [options.id, *options.sensitive]
    needed += [feature.column for feature in columns.features]
    for name in dict.fromkeys(filter(None, needed)):
        with noting(given.wrong):
            given.column(name)


def _rows(
    before: Table, given: Table, name: str | None
) -> tuple[list[str], np.ndarray, Table]:
    """Number the rows of all people, training's first.

    Returns:
        The ids of the given people, (n); their rows, (n,); and a table of the ids of
        all rows. Without ids, row k of both files is the same person.
    """
    import pandas as pd

    if name is None:
        rows = np.arange(len(given.frame))
        count = max(len(before.frame), len(given.frame))
        everyone = pd.DataFrame(index=range(count))
        return [str(row) for row in rows], rows, replace(given, frame=everyone)

    trained = before.texts(name)
    ids = given.texts(name)
    row_of = pd.Series(np.arange(len(trained)), index=pd.Index(trained))
    rows = row_of.reindex(ids, fill_value=-1).to_numpy(copy=True)
    is_new = rows < 0
    rows[is_new] = len(trained) + np.arange(is_new.sum())
    texts = np.concatenate([trained.to_numpy(), ids[is_new].to_numpy()])
    everyone = pd.DataFrame({name: texts})
    # What is wrong with ids is said of the given file.
    return list(ids), rows, Table(everyone.drop_duplicates(), given.where)


def _places(
    in_training: np.ndarray, rows: np.ndarray, of_a_group: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Say which of all rows are nodes, and which node each of the given people is.

    Args:
        in_training: (m,) bool, training's rows that were nodes.
        rows: (n,) of the given people, among all `count` rows.
        of_a_group: (n,) bool, whose group training knows.

    Returns:
        (count,) bool; and (n,) numbers of nodes, -1 for one that is left out.
    """
    kept = np.zeros(count, dtype=bool)
    kept[: len(in_training)] = in_training
    is_new = rows >= len(in_training)
    kept[rows[is_new & of_a_group]] = True

    node_of = np.cumsum(kept) - 1
    used = of_a_group & kept[rows]
    return kept, np.where(used, node_of[rows], -1)


def _groups(
    before: Table, given: Table, columns: Columns, options: Roles
) -> tuple[np.ndarray, list["pd.Series"]]:
    """Number each person's group as training does, (n,), -1 for another group.

    Returns:
        The groups, and the cells of each attribute, (n,) texts.
    """
    group_of = inverted(options.groups or {})
    lenient = options.model_copy(update={"drop": (*options.drop, "unknown_groups")})
    shown = []
    compared = []
    for name in options.sensitive:
        texts = given.texts(name)
        shown.append(texts)
        if options.bins:
            texts = cut(given, name, lenient).astype(object)
        else:
            _check_spelling(before, given, name, group_of)
        if options.groups:
            texts = mapped(texts, group_of, None)
        compared.append(texts)

    number_of = {}
    for place, group in enumerate(columns.groups):
        number_of[tuple(group.values())] = place
    numbers = np.array(
        [number_of.get(each, -1) for each in zip(*compared, strict=True)]
    )
    return numbers, shown


def _said_of_unscored(
    cells: Sequence["pd.Series"],
    groups: np.ndarray,
    rows: np.ndarray,
    in_training: np.ndarray,
) -> Iterator[str]:
    """Say how many people have no score, and why.

    Args:
        cells: of each attribute, (n,) texts.
        groups: (n,) of each person, -1 for one that training did not have.
        rows: (n,) of each person in training's table, or beyond its end.
        in_training: (N,) bool, which rows of that table were trained on.
    """
    is_new = rows >= len(in_training)
    is_old = np.zeros(len(rows), dtype=bool)
    is_old[~is_new] = in_training[rows[~is_new]]
    of_none = groups < 0

    left_out = "they are left out, with their links,"
    yield from _said_of_groups(cells, of_none & is_new, "these", left_out)
    stay = "they keep their group of training in the graph,"
    yield from _said_of_groups(cells, of_none & is_old, "training's", stay)

    left_out_again = int((~is_new & ~is_old).sum())
    if left_out_again:
        yield (
            f"{left_out_again} of these people were left out of training: they have no "
            "score"
        )


def _said_of_groups(
    shown: Sequence["pd.Series"], unknown: np.ndarray, whose: str, what_becomes: str
) -> Iterator[str]:
    """Say how many people, (n,) bool, are of a group that training did not have.

    Args:
        shown: the cells of each attribute, (n,) texts.
    """
    places = np.flatnonzero(unknown)
    if not len(places):
        return
    cells = [str(texts.iloc[places[0]]) or "empty" for texts in shown]
    yield (
        f"{len(places)} of {whose} people are of a group that training did not have, "
        f"as {' and '.join(cells)}: {what_becomes} and have no score"
    )


def _check_spelling(
    before: Table, given: Table, name: str, declared: Iterable[str]
) -> list[str]:
    """Refuse texts that are spelt otherwise than in training, and list them.

    Where "*" stands for all others, such a one would be among them.
    """
    known = {*before.texts(name).unique(), *declared}
    return check_spelling(given, name, known, known, "write it as in training")


def _labels(before: Table, given: Table, options: Roles) -> np.ndarray | None:
    """Give the labels of a file that has them, (n,); an empty cell is none."""
    if options.label is None or options.label not in given.frame:
        return None
    label_of = inverted(options.label_values())
    misspelt = _check_spelling(before, given, options.label, label_of)

    texts = given.texts(options.label)
    label_of.setdefault("", UNLABELLED)
    unknown = -2
    labels = mapped(texts, label_of, unknown).to_numpy(np.int64)
    is_none = (labels == unknown) & ~texts.isin(misspelt)
    given.refuse(is_none, NO_LABEL, options.label)
    return labels


def _check_values(given: Table, columns: Columns, options: Roles) -> None:
    """Note cells of which training would make no feature."""
    for name, kind in _columns_of(columns.features).items():
        if kind == "number":
            number(given, name, options)
        else:
            check_filled(given, name, options)


def _columns_of(features: Sequence[Feature]) -> dict[str, str]:
    """Give the kind of each column of which features are made."""
    return {each.column: each.kind for each in features if each.column is not None}


@dataclass(frozen=True)
class _Made:
    features: np.ndarray
    """(N, F) float32, of training's people and then of the new ones."""
    changed: np.ndarray
    """(N,) bool, which of training's people have other values now."""


def _features(
    graph: Graph,
    columns: Columns,
    people: tuple[Table, Table],
    places: np.ndarray,
    edge_index: np.ndarray,
) -> _Made:
    """Make the features of all people.

    Args:
        people: training's, and those of the file, which are at `places` of the graph.
        edge_index: of the joint graph.

    Raises:
        DataError: training's table does not give training's features.
    """
    old, ours = people
    trained = graph.num_nodes
    degree = np.bincount(graph.edge_index[0], minlength=trained)
    made = values(columns.features, old, degree)
    if not np.array_equal(columns.scaled(made), graph.features):
        raise DataError(
            f"{old.where} does not give the features of the graph beside it, which was "
            "made anew or by another version: make the graph and train again"
        )

    count = max(trained, places.max(initial=-1) + 1)
    degree = np.bincount(edge_index[0], minlength=count)
    joint = np.empty((count, len(columns.features)))
    joint[:trained] = values(columns.features, old, degree[:trained])
    joint[places] = values(columns.features, ours, degree[places])
    of_cells = [feature.column is not None for feature in columns.features]
    differs = joint[:trained, of_cells] != made[:, of_cells]
    return _Made(columns.scaled(joint), differs.any(axis=1))


def _said_of_links(links: Edges, kept: np.ndarray) -> Iterator[str]:
    """Say how many rows are left out, and why.

    Args:
        kept: (m,) bool, which of all rows of people are nodes.
    """
    left_out = dict(links.facts.get("left_out_rows", {}))
    left_out[LEFT_OUT_NODES] = int((~kept[links.pairs]).any(axis=1).sum())
    for reason, count in left_out.items():
        if count:
            what = _LEFT_OUT_LINKS[reason]
            yield f"{count} rows of {links.where} {what}: they are left out"


def _said_of_columns(before: Table, given: Table) -> Iterator[str]:
    """Say which columns are not used, as training had none of them."""
    more = [repr(name) for name in given.frame if name not in before.frame]
    if more:
        yield f"training had no column {', '.join(more)}: not used"


def _said_of_categories(given: Table, features: Sequence[Feature]) -> Iterator[str]:
    """Say how many people have a category that training did not have."""
    for name, kind in _columns_of(features).items():
        if kind != "category":
            continue
        known = {each.value for each in features if each.column == name}
        texts = given.texts(name)
        other = texts[(texts != "") & ~texts.isin(known)]
        if len(other):
            yield (
                f"column {name!r}: {len(other)} of these people have a category that "
                f"training did not have, as {other.iloc[0]!r}: they are of none"
            )


def _said_of_numbers(given: Table, features: Sequence[Feature]) -> Iterator[str]:
    """Say how many people have a number far outside training's."""
    for feature in features:
        if feature.kind != "number":
            continue
        numbers = given.numbers(str(feature.column))
        reach = FAR * (feature.high - feature.low)
        below = numbers < feature.low - reach
        far = numbers[below | (numbers > feature.high + reach)]
        if len(far):
            yield (
                f"column {feature.name!r}: {len(far)} of these people are far outside "
                f"training's {feature.low:g} to {feature.high:g}, as {far[0]:g}"
            )
