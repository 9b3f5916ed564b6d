"""S2 and S3 against their definitions, and products with weights."""

import pytest
import torch
from torch import Tensor

from fairgat.nn.columns import covariance, moments
from fairgat.nn.normalise import (
    Features,
    leading_vectors,
    spectrally_normalised,
    standardise,
)

# ----------------------------------------------------------------------------- step 2


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (1, 4), (9, 9)])
def test_the_spectral_norm_is_exact_and_has_its_gradient(double, shape):
    weight = drawn(*shape).requires_grad_()

    found = spectrally_normalised(weight)

    norm = torch.linalg.matrix_norm(weight, 2)
    torch.testing.assert_close(found, weight / norm)
    assert torch.autograd.gradcheck(spectrally_normalised, (weight,))


def test_a_weight_of_zeros_stays_one():
    nothing = torch.zeros(3, 5)
    assert torch.equal(spectrally_normalised(nothing), nothing)


@pytest.mark.parametrize(
    "values",
    [[3, 2, 1, 0.5], [1, 1 - 1e-6, 0.5, 0], [1, 1, 1, 1]],
    ids=["a gap", "hardly a gap", "no gap"],
)
@pytest.mark.parametrize("tall", [True, False])
def test_singular_vectors_are_those_of_the_largest_value(double, values, tall):
    left, _ = torch.linalg.qr(torch.randn(40, 4))
    right, _ = torch.linalg.qr(torch.randn(30, 4))
    weight = left * torch.tensor(values) @ right.t()
    if not tall:
        weight = weight.t()

    u, v = leading_vectors(weight)

    assert (u @ weight @ v).item() == pytest.approx(values[0], rel=1e-11)


def test_the_spectral_norm_in_single_precision():
    found = spectrally_normalised(drawn(128, 300))
    norm = torch.linalg.matrix_norm(found.double(), 2)
    assert norm.item() == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_weight_that_is_not_finite_has_no_spectral_norm(value):
    weight = torch.ones(4, 3)
    weight[1, 1] = value
    assert spectrally_normalised(weight).isnan().any()


# ----------------------------------------------------------------------------- step 3


@pytest.mark.parametrize("center", [False, True])
def test_columns_have_the_deviation_eta(double, center):
    x = torch.randn(50, 4) * torch.tensor([1.0, 10, 0.1, 0]) + 5

    out = standardise(x, 0.75, center)

    assert out.isfinite().all()
    three = x[:, :3]  # the last does not vary
    deviations = out[:, :3].std(0, correction=0)
    torch.testing.assert_close(deviations, torch.full((3,), 0.75))
    means = 0.75 * three.mean(0) / three.std(0, correction=0)
    if center:
        means = torch.zeros(3)
    torch.testing.assert_close(out[:, :3].mean(0), means)


@pytest.mark.parametrize("center", [False, True])
def test_step_3_has_its_gradient(double, center):
    x = (5 + torch.randn(50, 3)).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: standardise(x, 0.75, center), (x,))


def test_moments_far_from_zero(double):
    """A mean far above the deviation costs a two-pass variance nothing."""
    x = 1000 + torch.randn(5000, 3)

    mean, variance = moments(x.float())

    torch.testing.assert_close(mean.double(), x.mean(0), rtol=1e-6, atol=0)
    exact = x.var(0, correction=0)
    torch.testing.assert_close(variance.double(), exact, rtol=1e-4, atol=0)


def test_covariances_far_from_zero(double):
    x = 1000 + torch.randn(5000, 3)

    (mean,), (found,) = covariance(x[:, None].float())

    torch.testing.assert_close(mean.double(), x.mean(0), rtol=1e-6, atol=0)
    exact = torch.cov(x.t(), correction=0)
    torch.testing.assert_close(found.double(), exact, rtol=1e-3, atol=1e-3)


# ------------------------------------------------------------- products with a weight


def made_features(form: str) -> tuple[Features, Tensor]:
    """Features with 2 heads of 3 columns for 20 nodes, and the product (20, 2, 3)."""
    torch.manual_seed(0)
    values, weight = torch.randn(20, 2, 5), torch.randn(2, 3, 5)
    if form == "multiplied out":
        product = torch.randn(20, 2, 3)
        return Features(product), product
    if form == "of each head":
        product = torch.einsum("nhf,hcf->nhc", values, weight)
        return Features(values, weight), product
    product = torch.einsum("nf,hcf->nhc", values[:, 0], weight)
    return Features(values[:, 0], weight), product


def unscaled(features, product):
    return features, product


def scaled(features, product):
    deviations = product.std(0, correction=0)
    return features.standardised(0.75), 0.75 * product / deviations


def scaled_twice(features, product):
    deviations = product.std(0, correction=0)
    return features.standardised(0.5).standardised(2.0), 2.0 * product / deviations


FORMS = ["multiplied out", "of each head", "shared"]
SCALINGS = pytest.mark.parametrize("scaling", [unscaled, scaled, scaled_twice])


@pytest.mark.parametrize("form", FORMS)
@SCALINGS
def test_dots_of_factors_are_those_of_the_product(double, form, scaling):
    features, product = scaling(*made_features(form))
    vectors = torch.randn(2, 2, 3)

    expected = torch.einsum("khc,nhc->khn", vectors, product)
    torch.testing.assert_close(features.dot(vectors), expected)


@pytest.mark.parametrize("form", ["multiplied out", "of each head"])
@SCALINGS
def test_factors_are_multiplied_out_as_the_product(double, form, scaling):
    features, product = scaling(*made_features(form))
    bias = torch.randn(6)

    torch.testing.assert_close(features.dense(), product.flatten(1))
    torch.testing.assert_close(features.dense(bias), product.flatten(1) + bias)
    torch.testing.assert_close(features.averaged().dense(), product.mean(1))


@pytest.mark.parametrize("form", ["multiplied out", "shared"])
@SCALINGS
def test_factors_are_centred_as_the_product(double, form, scaling):
    features, product = scaling(*made_features(form))
    expected = standardise(product, 0.75, center=True)
    torch.testing.assert_close(features.centred(0.75).values, expected)
