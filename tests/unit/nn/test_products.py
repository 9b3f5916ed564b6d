"""Matrix products by kernels against float64, and who does them on how many threads."""

import numpy as np
import pytest
import torch

from fairgat.nn import linear as linear_module
from fairgat.nn import parallel, set_num_threads

products = pytest.importorskip("fairgat.nn.products", reason="Numba is not there")


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def times(x, weight, bias=None, relu=False):
    out = np.full((len(x), len(weight)), np.nan, np.float32)
    products.times(x, weight, bias, relu, out)
    return out


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("rows", [1, 7, 96, 501])
@pytest.mark.parametrize(("terms", "columns"), [(1, 1), (17, 128), (128, 17), (40, 33), (1100, 70), (128, 128)])
def test_product_of_rows(threads, count, rows, terms, columns):
    threads(count)
    x, weight = normal(rows, terms), normal(columns, terms, seed=1)
    exact = x.astype(np.float64) @ weight.T
    np.testing.assert_allclose(times(x, weight), exact, atol=1e-4 * terms**0.5)
    bias = normal(columns, seed=2)
    np.testing.assert_allclose(times(x, weight, bias, relu=True), np.maximum(exact + bias, 0), atol=1e-4 * terms**0.5)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("rows", [1, 7, 5000])
@pytest.mark.parametrize(("m", "k"), [(1, 1), (17, 17), (128, 17), (17, 128), (70, 33), (128, 128), (3, 300)])
def test_product_over_rows(threads, count, rows, m, k):
    threads(count)
    g, x = normal(rows, m), normal(rows, k, seed=1)
    np.testing.assert_allclose(
        products.transposed_times(g, x), g.astype(np.float64).T @ x, atol=2e-6 * max(rows, 100), rtol=1e-5
    )


def test_no_rows():
    assert times(normal(0, 3), normal(2, 3)).shape == (0, 2)
    assert (products.transposed_times(normal(0, 3), normal(0, 2)) == np.zeros((3, 2))).all()


@pytest.mark.parametrize("relu", [False, True])
def test_what_is_no_number_stays_in_its_row(relu):
    x = normal(9, 20)
    x[2, 3], x[4, 5] = np.nan, np.inf
    out = times(x, np.abs(normal(5, 20)), None, relu)
    assert np.isnan(out[2]).all() and np.isinf(out[4]).all()
    assert np.isfinite(np.delete(out, [2, 4], axis=0)).all()


def test_no_number_depends_on_how_rows_are_divided(threads):
    found = []
    for count in (1, 2, 3):
        threads(count)
        x, weight, g = normal(5000, 30), normal(50, 30, seed=1), normal(5000, 20, seed=2)
        found.append((times(x, weight).tobytes(), products.transposed_times(g, x).tobytes()))
    assert len(set(found)) == 1


@pytest.mark.skipif(not products.AVX512, reason="only with AVX-512")
def test_the_kernels_do_the_products(threads, monkeypatch):
    done = []
    for name in ("times", "transposed_times"):
        real = getattr(products, name)
        monkeypatch.setattr(products, name, lambda *given, name=name, real=real: done.append(name) or real(*given))
    x, weight = torch.from_numpy(normal(3000, 17)), torch.from_numpy(normal(64, 17, seed=1)).requires_grad_()
    for count in (1, 2):
        threads(count)
        assert (parallel.num_threads(), torch.get_num_threads()) == (count, 1)
        linear_module.linear(x, weight).sum().backward()
        assert set(done) == {"times", "transposed_times"}
        done.clear()


@pytest.mark.skipif(not products.AVX512, reason="only with AVX-512")
@pytest.mark.parametrize(("rows", "divided"), [(8 * 200, True), (8 * 200 - 1, False)])
def test_few_rows_are_left_to_the_libraries(threads, monkeypatch, rows, divided):
    done = []
    monkeypatch.setattr(products, "times", lambda *given: done.append("times"))
    monkeypatch.setattr(products, "transposed_times", lambda g, x: done.append("sums") or g.T @ x)
    threads(2)
    x = torch.from_numpy(normal(rows, 30))
    linear_module.linear(x, torch.from_numpy(normal(200, 30)))
    linear_module.transposed_product(x, torch.from_numpy(normal(rows, 200)))
    assert done == (["times", "sums"] if divided else [])


def test_the_last_word_on_threads(threads):
    threads(2)
    assert parallel.num_threads() == 2
    for count in (3, 1):
        torch.set_num_threads(count)
        assert parallel.num_threads() == count
    threads(2)
    threads(1)
    assert parallel.num_threads() == torch.get_num_threads() == 1


@pytest.mark.parametrize(("count", "error"), [(0, ValueError), (2.5, TypeError)])
def test_no_number_of_threads(count, error):
    with pytest.raises(error):
        set_num_threads(count)
