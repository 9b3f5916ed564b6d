"""The features of a table's rows: which columns they come from, and their values.

A column that cannot be one, or that only repeats the label or a group, is noted.
"""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from fairgat.data.columns import Columns, Feature, values
from fairgat.data.graph import UNLABELLED
from fairgat.data.roles import Roles
from fairgat.data.table import NO_NUMBER, Table, empty, ordered

_LARGEST = float(np.finfo(np.float32).max)
_FEW = 12  # categories that may have a row each
_NEARLY_ALL = 0.9


def features_of(
    nodes: Table, roles: Roles, edge_index: np.ndarray
) -> tuple[Columns, np.ndarray]:
    """Decide on the features, and give them as (N, F) float64, not yet scaled."""
    features: list[Feature] = []
    for name in feature_columns(nodes, roles):
        if name in roles.categories:
            features += _categories(nodes, name, roles)
        else:
            features.append(number(nodes, name, roles))
    features += [Feature(name=name, kind=name) for name in roles.graph_features]
    if not features:
        nodes.wrong.append(
            f"{nodes.where}: no column is left as a feature; "
            "`graph_features: [degree]` makes one"
        )

    degree = np.bincount(edge_index[0], minlength=len(nodes.frame))
    made = values(features, nodes, degree)
    return _with_extremes(features, made, roles), made


def _with_extremes(features: list[Feature], made: np.ndarray, roles: Roles) -> Columns:
    """Note the extremes by which features are scaled."""
    known = []
    for feature, column in zip(features, made.T, strict=True):
        extremes: dict[str, Any] = {}
        if np.isfinite(column).all() and len(column):
            extremes = {"low": float(column.min()), "high": float(column.max())}
        known.append(feature.model_copy(update=extremes))
    return Columns(scaling=roles.scaling, features=tuple(known))


def feature_columns(nodes: Table, roles: Roles) -> list[str]:
    """List the columns that are features."""
    features = list(roles.features or ())
    if roles.features is None:
        taken = {name for name, role in roles.roles().items() if role != "features"}
        features = [name for name in nodes.frame if name not in taken]
    return nodes.there(dict.fromkeys([*features, *roles.categories]))


def number(nodes: Table, name: str, roles: Roles) -> Feature:
    """Make a feature of a column of numbers."""
    numbers = nodes.numbers(name)
    lacking = np.isnan(numbers)
    nothing = lacking & empty(nodes.column(name))
    nodes.refuse_unreadable(lacking & ~nothing, name, NO_NUMBER)
    too_large = np.abs(numbers) > _LARGEST
    nodes.refuse(too_large, f"feature {name!r} should be a number below 1e38")
    if not roles.fill:
        what = (
            "and is a feature: `fill: mean` or `fill: zero` says what takes its place"
        )
        nodes.refuse(nothing, what, name)

    filling = None
    if roles.fill:
        filling = 0.0
    usable = ~(lacking | too_large)
    if roles.fill == "mean" and usable.any():
        filling = float(numbers[usable].mean())
    return Feature(name=name, kind="number", column=name, filling=filling)


def _categories(nodes: Table, name: str, roles: Roles) -> Iterator[Feature]:
    """Make a feature of each value that occurs."""
    check_filled(nodes, name, roles)
    texts = nodes.texts(name)
    different = ordered(set(texts.unique()) - {""})
    rows = int((texts != "").sum())
    if _hardly_any_alike(different, rows):
        nodes.wrong.append(
            f"{nodes.where}: column {name!r} has {len(different)} categories in "
            f"{rows} rows, as {', '.join(different[:3])}: if these are numbers as "
            "23,900, take it out of `categories`, and `read: {thousands: ','}` reads "
            "them; if not, list it in `exclude`"
        )
        return
    for value in different:
        yield Feature(name=f"{name}={value}", kind="category", column=name, value=value)


def check_filled(nodes: Table, name: str, roles: Roles) -> None:
    """Refuse an empty cell of categories, unless one stands for none of them."""
    if not roles.fill:
        what = (
            "and is a feature: with `fill: zero` or `fill: mean` it is none of the "
            "categories"
        )
        nodes.refuse(nodes.texts(name) == "", what, name)


def _hardly_any_alike(categories: list[str], rows: int) -> bool:
    """Say whether nearly every row has its own category, or all are amounts."""
    if len(categories) <= _FEW:
        return False
    amounts = [each for each in categories if re.fullmatch(r"[\d.,]+", each)]
    with_marks = any("," in each for each in amounts)
    if len(amounts) == len(categories) and with_marks:
        return True
    return len(categories) > _NEARLY_ALL * rows


def check_not_again(
    nodes: Table,
    roles: Roles,
    columns: Columns,
    features: np.ndarray,
    sensitive: np.ndarray,
    labels: np.ndarray,
) -> None:
    """Refuse a column whose feature repeats the label or a group, or flags one.

    It is the same for all nodes of each value.
    """
    import pandas as pd

    targets = {"the groups": sensitive, repr(roles.label): labels}
    for name in nodes.there(roles.sensitive):
        codes, _ = pd.factorize(nodes.texts(name))
        targets[repr(name)] = codes

    frame = pd.DataFrame(features)
    found: dict[str | None, str] = {}
    for target, codes in targets.items():
        known = codes != UNLABELLED
        by_value = frame[known].groupby(codes[known])
        low = by_value.min()
        high = by_value.max()
        if not 2 <= len(low) <= known.sum() / 2:
            continue
        one_for_each = (low == high).all()
        differs = low.min() < high.max()
        for place in np.flatnonzero(one_for_each & differs):
            feature = columns.features[place]
            what = f"feature {feature.name!r} is {target} in other words"
            found.setdefault(feature.column, what)
    for what in found.values():
        nodes.wrong.append(
            f"{nodes.where}: {what}: list its column in `exclude`, or all features in "
            "`features`"
        )
