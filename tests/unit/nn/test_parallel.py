"""Ranges of rows on several threads: all of them, once, and what happens when one fails."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fairgat.nn import parallel

MANY = 1 << 16  # numbers per row: worth a second thread


@pytest.fixture(autouse=True, params=[2, 5])
def count(request, threads):
    threads(request.param)
    return request.param


def test_every_row_once_and_on_several_threads(count):
    meeting, rows = threading.Barrier(count, timeout=30), []
    met = threading.local()

    def kernel(begin, end):
        if not hasattr(met, "once"):
            met.once = meeting.wait()
        rows.extend(range(begin, end))

    parallel.over_range(kernel, 1000, MANY)
    assert sorted(rows) == list(range(1000))


def test_fewer_rows_than_threads():
    rows = []
    parallel.over_range(lambda begin, end: rows.extend(range(begin, end)), 1, MANY)
    assert rows == [0]


@pytest.mark.parametrize("caller", [True, False], ids=["in the caller", "in another thread"])
def test_an_error_is_raised_when_nobody_writes_any_more(caller):
    main, running, failed = threading.get_ident(), [], []

    def kernel(begin, end):
        running.append(begin)
        try:
            if (threading.get_ident() == main) == caller:
                failed.append(begin)
                raise ArithmeticError("no")
            time.sleep(0.05)
        finally:
            running.remove(begin)

    with pytest.raises(ArithmeticError, match="no"):
        parallel.over_range(kernel, 1000, MANY)
    assert failed and not running
    parallel.over_range(lambda begin, end: running.extend(range(begin, end)), 1000, MANY)
    assert len(running) == 1000


def test_callers_on_several_threads_and_within_a_kernel():
    def covered(depth):
        rows = []

        def kernel(begin, end):
            rows.extend(range(begin, end))
            if depth:
                assert covered(depth - 1) == 100

        parallel.over_range(kernel, 100, MANY)
        return len(rows)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(covered, [1] * 8)) == {100}
