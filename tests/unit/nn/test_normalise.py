"""S2 and S3 against their definitions, and products with weights."""

import pytest
import torch

from fairgat.nn.columns import covariance, moments
from fairgat.nn.normalise import (
    Features,
    leading_vectors,
    spectrally_normalised,
    standardise,
)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (1, 4), (9, 9)])
def test_spectral_norm_is_exact_and_has_its_gradient(double, shape):
    weight = torch.randn(
        *shape, generator=torch.Generator().manual_seed(0), requires_grad=True
    )
    torch.testing.assert_close(
        spectrally_normalised(weight), weight / torch.linalg.matrix_norm(weight, 2)
    )
    assert torch.autograd.gradcheck(spectrally_normalised, (weight,))
    assert torch.equal(spectrally_normalised(torch.zeros(shape)), torch.zeros(shape))


@pytest.mark.parametrize(
    "values", [[3, 2, 1, 0.5], [1, 1 - 1e-6, 0.5, 0], [1, 1, 1, 1]]
)
@pytest.mark.parametrize("tall", [True, False])
def test_singular_vectors(double, values, tall):
    """With a gap, with hardly any, and with none."""
    left, right = (torch.linalg.qr(torch.randn(n, 4))[0] for n in (40, 30))
    weight = left * torch.tensor(values) @ right.t()
    weight = weight if tall else weight.t()
    u, v = leading_vectors(weight)
    torch.testing.assert_close(
        u @ weight @ v, torch.tensor(values[0], dtype=torch.float64), rtol=1e-11, atol=0
    )


def test_spectral_norm_in_single_precision():
    weight = torch.randn(128, 300, generator=torch.Generator().manual_seed(0))
    norm = torch.linalg.matrix_norm(spectrally_normalised(weight).double(), 2)
    torch.testing.assert_close(norm.item(), 1.0, rtol=1e-6, atol=0)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_weight_that_is_not_finite_has_no_spectral_norm(value):
    weight = torch.ones(4, 3)
    weight[1, 1] = value
    assert spectrally_normalised(weight).isnan().any()


@pytest.mark.parametrize("center", [False, True])
def test_standardise(double, center):
    x = torch.randn(50, 4) * torch.tensor([1.0, 10, 0.1, 0]) + 5
    out = standardise(x, 0.75, center)
    torch.testing.assert_close(out.std(0, correction=0)[:3], torch.full((3,), 0.75))
    assert out.isfinite().all()
    torch.testing.assert_close(
        out.mean(0)[:3],
        x.mean(0)[:3] / x.std(0, correction=0)[:3] * 0.75 * (not center),
    )
    assert torch.autograd.gradcheck(
        lambda x: standardise(x, 0.75, center), (x[:, :3].clone().requires_grad_(),)
    )


def test_moments_far_from_zero(double):
    """A mean far above the deviation costs a two-pass variance nothing."""
    x = 1000 + torch.randn(5000, 3)
    for found, exact in zip(
        moments(x.float()), (x.mean(0), x.var(0, correction=0)), strict=True
    ):
        torch.testing.assert_close(found.double(), exact, rtol=1e-4, atol=0)
    torch.testing.assert_close(
        moments(x.float())[0].double(), x.mean(0), rtol=1e-6, atol=0
    )
    (mean,), (cov,) = covariance(x[:, None].float())
    torch.testing.assert_close(mean.double(), x.mean(0), rtol=1e-6, atol=0)
    torch.testing.assert_close(
        cov.double(), torch.cov(x.t(), correction=0), rtol=1e-3, atol=1e-3
    )


def make_features(kind):
    """Features with 2 heads of 3 columns for 20 nodes, as every form of the product."""
    values = torch.randn(20, 2, 5)
    weight = torch.randn(2, 3, 5)
    return {
        "multiplied out": Features(torch.randn(20, 2, 3)),
        "of each head": Features(values, weight),
        "shared": Features(values[:, 0], weight),
    }[kind]


@pytest.mark.parametrize("kind", ["multiplied out", "of each head", "shared"])
def test_what_is_done_to_factors_is_done_to_the_product(double, kind):
    torch.manual_seed(0)
    features = make_features(kind)
    values = (
        features.values
        if features.values.dim() == 3
        else features.values[:, None].expand(-1, 2, -1)
    )
    whole = (
        values
        if features.weight is None
        else torch.einsum("nhf,hcf->nhc", values, features.weight)
    )
    vectors, bias = torch.randn(2, 2, 3), torch.randn(6)
    for each, product in (
        (features, whole),
        (features.standardised(0.75), 0.75 * whole / whole.std(0, correction=0)),
        (
            features.standardised(0.5).standardised(2.0),
            2.0 * whole / whole.std(0, correction=0),
        ),
    ):
        torch.testing.assert_close(
            each.dot(vectors), torch.einsum("khc,nhc->khn", vectors, product)
        )
        if kind != "shared":
            torch.testing.assert_close(each.dense(bias), product.flatten(1) + bias)
            torch.testing.assert_close(each.dense(), product.flatten(1))
            torch.testing.assert_close(each.averaged().dense(), product.mean(1))
    if kind != "of each head":
        expected = standardise(whole, 0.75, center=True)
        torch.testing.assert_close(features.centred(0.75).values, expected)
