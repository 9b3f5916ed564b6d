"""The dot-product decoder against its plain form."""

import pytest
import torch

from fairgat.nn import decode


@pytest.mark.parametrize("fused", [True, False], ids=["numba", "pytorch"])
@pytest.mark.parametrize("threads", [1, 2])
def test_equals_the_plain_form(monkeypatch, fused, threads):
    if not fused:
        monkeypatch.setattr(decode, "pairs", None)
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(50, 24, generator=generator, dtype=torch.float64, requires_grad=True)
    edges = torch.randint(50, (2, 4000), generator=generator)
    edges[:, 0] = 7  # a pair of a node with itself
    weights = torch.randn(4000, generator=generator, dtype=torch.float64)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        ours = decode.dot_product(z, edges)
        (gradient,) = torch.autograd.grad((ours * weights).sum(), z)
    finally:
        torch.set_num_threads(before)
    expected = (z[edges[0]] * z[edges[1]]).sum(1)
    torch.testing.assert_close(ours, expected)
    torch.testing.assert_close(gradient, torch.autograd.grad((expected * weights).sum(), z)[0])


def test_registrations():
    z = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    edges = torch.tensor([[0, 1, 2, 2], [3, 4, 5, 2]])
    torch.library.opcheck(decode.dot_product.registered, (z, edges))
    assert torch.autograd.gradcheck(lambda t: decode.dot_product(t, edges), (z,))


def test_no_pairs():
    assert decode.dot_product(torch.randn(3, 2), torch.zeros(2, 0, dtype=torch.long)).shape == (0,)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32])
@pytest.mark.parametrize("fused", [True, False], ids=["numba", "pytorch"])
def test_other_integers(monkeypatch, fused, dtype):
    if not fused:
        monkeypatch.setattr(decode, "pairs", None)
    z = torch.randn(6, 3, requires_grad=True)
    edges = torch.tensor([[0, 1, 2], [3, 4, 2]])
    results = []
    for pairs in (edges, edges.to(dtype)):
        out = decode.dot_product(z, pairs)
        results.append([out, *torch.autograd.grad(out.square().sum(), z)])
    for a, b in zip(*results, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (torch.tensor([[0], [6]]), r"outside 0 \.\. 5"),
        (torch.tensor([[0], [-1]]), r"outside 0 \.\. 5"),
        (torch.zeros(3, 2, dtype=torch.long), "shape"),
        (torch.zeros(2, dtype=torch.long), "shape"),
        (torch.zeros(2, 4), "integers"),
        (torch.zeros(2, 4, dtype=torch.bool), "integers"),
    ],
)
def test_what_names_no_pairs_of_nodes_is_refused(edges, message):
    with pytest.raises(ValueError, match=message):
        decode.dot_product(torch.randn(6, 3), edges)
