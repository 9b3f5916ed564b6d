"""Operators are called directly where nobody looks on, and through PyTorch's dispatcher where somebody does."""

import inspect

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from fairgat.nn.decode import dot_product
from fairgat.nn.scaling import add_bias_backward


def operands():
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(6, 3, generator=generator).requires_grad_()
    return z, torch.tensor([[0, 1, 5], [2, 3, 5]])


class Recording:
    def __init__(self):
        super().__init__()
        self.seen = []

    def record(self, function, types, args=(), kwargs=None):
        self.seen.append(str(function))
        return function(*args, **(kwargs or {}))


class Watching(Recording, TorchDispatchMode):
    __torch_dispatch__ = Recording.record


class Asking(Recording, TorchFunctionMode):
    __torch_function__ = Recording.record


class Subclass(torch.Tensor):
    seen = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.seen.append(str(function))
        return super().__torch_function__(function, types, args, kwargs or {})


def test_both_ways_give_the_same():
    z, edges = operands()
    direct, registered = dot_product(z, edges), dot_product.registered(z, edges)
    assert "Generated" not in type(direct.grad_fn).__name__ and "Generated" in type(registered.grad_fn).__name__
    assert torch.equal(direct, registered)
    assert torch.equal(*(torch.autograd.grad(out.square().sum(), z)[0] for out in (direct, registered)))


def test_who_looks_on_sees_the_operator():
    z, edges = operands()
    plain = z.detach()
    for mode in (Watching(), Asking()):
        with mode:
            dot_product(z, edges)
        assert any("fairgat.dot_product" in name for name in mode.seen)
    dot_product(plain.as_subclass(Subclass), edges)
    assert any("fairgat.dot_product" in name for name in Subclass.seen)
    with torch.profiler.profile() as profile:
        dot_product(z, edges)
    assert "fairgat::dot_product" in {event.key for event in profile.key_averages()}
    assert "fairgat.dot_product.default" in make_fx(dot_product)(plain, edges).code
    assert "fairgat.dot_product.default" in torch.fx.symbolic_trace(lambda z, edges: dot_product(z, edges)).code


def test_tensors_without_numbers():
    z, edges = operands()
    with FakeTensorMode() as mode:
        assert dot_product(mode.from_tensor(z), mode.from_tensor(edges)).shape == (3,)
    assert dot_product(z.to("meta"), edges.to("meta")).shape == (3,)


def test_transformed_and_traced_functions():
    z, edges = operands()
    plain = z.detach()
    several = torch.stack([plain, 2 * plain])
    mapped = torch.vmap(lambda z: dot_product(z, edges))(several)
    torch.testing.assert_close(mapped, torch.stack([dot_product(each, edges) for each in several]))
    for context in (torch.no_grad, torch.enable_grad):
        with context():
            traced = torch.jit.trace(lambda z: dot_product(z, edges), z)
        torch.testing.assert_close(traced(2 * plain), dot_product(2 * plain, edges))


def test_arguments_may_be_named():
    z, edges = operands()
    assert torch.equal(dot_product(z=z, edges=edges), dot_product(z, edges))
    assert list(inspect.signature(dot_product).parameters) == ["z", "edges"]


def test_compiled_code_has_the_operator(recording):
    backend, seen = recording
    z, edges = operands()
    torch.testing.assert_close(torch.compile(dot_product, backend=backend)(z, edges), dot_product(z, edges))
    torch.compile(lambda z: dot_product(z, edges).sum(), backend=backend, fullgraph=True)(z)
    assert sum("fairgat.dot_product" in name for name in seen) == 2


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode])
def test_without_gradients(context):
    z, edges = operands()
    with context():
        assert not dot_product(z, edges).requires_grad
    assert not dot_product(z.detach(), edges).requires_grad


def test_an_operator_without_a_formula_records_nothing():
    grad = torch.randn(4, 3).requires_grad_()
    assert not any(each.requires_grad for each in add_bias_backward(grad, grad.detach(), True))


def test_there_is_no_second_derivative():
    z, edges = operands()
    (gradient,) = torch.autograd.grad(dot_product(z, edges).square().sum(), z, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()
