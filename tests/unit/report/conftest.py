"""The tables of the small finished run."""

import pytest
from small_results import TABLES, build_table


@pytest.fixture(scope="session")
def built(plan):
    return {name: build_table(plan, name) for name in TABLES}
