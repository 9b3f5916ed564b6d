"""How an operator is made of a function, and the check that all its arrays pass.

Kernels look at no bounds. So each operator's schema gives every array its shape, in
brackets, and what does not fit that, the graph or the other arrays is refused before
the function is called. H are heads, N sources, M rows, E edges, S segments and C, F, K
numbers of columns.
"""

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual

from fairgat.nn.cache import has_storage
from fairgat.nn.parallel import available
from fairgat.nn.pointers import NAMES, Sizes, sizes_of

# Which the operators take, by device; `fairgat.nn.gpu` adds CUDA's.
DTYPES = {"cpu": (torch.float32,)}

# An argument of a schema: its type, its name and, of a tensor, its shape.
_ARGUMENT = re.compile(r"(\w+\??) (\w+)(?:\[([^]]*)\])?")
_library = torch.library.Library("fairgat", "DEF")
_checks: dict[str, "ArgumentCheck"] = {}  # by the operator's name


def fused(*tensors: Tensor) -> bool:
    """Whether the operators take the reference's place.

    They have no rules for what torch.func makes of tensors, nor forward derivatives,
    which PyTorch would leave out without a word.
    """
    own = all(
        each.dtype in DTYPES.get(each.device.type, ()) and has_storage(each)
        for each in tensors
    )
    return own and available() and not any(map(_has_tangent, tensors))


def _has_tangent(x: Tensor) -> bool:
    """Whether x carries a derivative of PyTorch's forward mode."""
    if torch.compiler.is_compiling():
        return False
    return unpack_dual(x).tangent is not None


def operator(schema: str, fake, backward=None, setup=None, device: str = "CPU"):
    """Decorator: make a function the operator `fairgat::schema` on a device.

    The shapes in the schema's brackets are ours, not PyTorch's: each call is checked
    against them.

    Args:
        schema: name, arguments and results, as `torch.library.define` takes them, with
            the shape of each array that is not a graph's: `Tensor x[N F]`.
        fake: gives empty results of the right shapes, for torch.compile.
        backward, setup: the autograd formula, as for `torch.library.register_autograd`;
            it has no second derivative.
    """
    check = ArgumentCheck(schema)
    name = "fairgat::" + check.operator
    schema_of_torch = re.sub(r"\[[^]]*\]", "", schema)

    def register(function):
        _library.define(schema_of_torch)
        _checks[check.operator] = check
        implement({check.operator: function}, device)
        fake_one_device = check.refusing_mixed_devices(fake)
        torch.library.register_fake(name, fake_one_device, lib=_library)
        if backward is not None:
            torch.library.register_autograd(
                name,
                _without_second_derivative(backward),
                setup_context=setup,
                lib=_library,
            )
        return function

    return register


def implement(functions: dict, device: str, **options) -> None:
    """Make functions the operators `fairgat::name` on another device."""
    for name, function in functions.items():
        checked = _checks[name].before(function)
        _library.impl("fairgat::" + name, checked, device, **options)


def _without_second_derivative(backward):
    """Refuse to be differentiated again; `once_differentiable` has ways around it."""

    def first_derivative(ctx, *grads):
        if torch.is_grad_enabled():  # under create_graph=True
            raise RuntimeError(
                "the layers have no second derivatives in float32 (nor in half "
                "precision on a GPU): leave out create_graph=True, or convert layer "
                "and input by .double()"
            )
        return backward(ctx, *grads)

    return first_derivative


# ------------------------------------------------------------------ the check of a call


class _Argument(NamedTuple):
    """An argument of an operator: a number, an array of the graph, or another array."""

    place: int  # among the arguments
    type: str  # such as "Tensor?"
    name: str
    shape: tuple[str, ...]  # names of the dimensions of an array that isn't a graph's


class ArgumentCheck:
    """What an operator's arrays must be, read from its schema."""

    def __init__(self, schema: str) -> None:
        self.operator, signature = schema.split("(", 1)
        inputs, _ = signature.split(" -> ")
        arguments = []
        for place, (type_, name, shape) in enumerate(_ARGUMENT.findall(inputs)):
            arguments.append(_Argument(place, type_, name, tuple(shape.split())))
        self.count = len(arguments)
        self.required = [each for each in arguments if each.type == "Tensor"]

        # Of each array that a graph has, in the order of NAMES; None: not an argument.
        places = {each.name: each.place for each in arguments}
        self.graph_places = [places.get(name) for name in NAMES]

        tensors = [each for each in arguments if each.type.startswith("Tensor")]
        self.arrays = [each for each in tensors if each.name not in NAMES]
        for array in self.arrays:
            if not array.shape:
                raise TypeError(f"{self.operator}: {array.name} has no shape")

        # Kernels read these without strides.
        self.contiguous = []
        for array in self.arrays:
            if array.name == "mass" or len(array.shape) == 1:
                self.contiguous.append(array.place)

    def before(self, function: Callable) -> Callable:
        """The function, called only with arguments that fit."""
        has_graph = any(place is not None for place in self.graph_places)

        @wraps(function)
        def call(*given):
            # PyTorch leaves out what is None by default.
            arguments = [*given, *[None] * (self.count - len(given))]
            for array in self.required:
                if arguments[array.place] is None:  # as which an undefined tensor comes
                    raise ValueError(f"{self.operator}: {array.name} is missing")

            sizes = Sizes()
            if has_graph:
                sizes = sizes_of(*self._of_graph(arguments))
            forms = tuple([_form(arguments[array.place]) for array in self.arrays])
            _check(self, sizes, forms)

            for place in self.contiguous:
                if arguments[place] is not None:
                    arguments[place] = arguments[place].contiguous()
            return function(*arguments)

        return call

    def _of_graph(self, arguments: list) -> list[Tensor | None]:
        """The arrays of the graph, in the order of NAMES."""
        places = self.graph_places
        return [None if place is None else arguments[place] for place in places]

    def refusing_mixed_devices(self, fake: Callable) -> Callable:
        """The fake function, which refuses arrays of different devices."""

        @wraps(fake)
        def call(*arguments):
            tensors = [each for each in arguments if isinstance(each, Tensor)]
            devices = {str(each.device) for each in tensors}
            if len(devices) > 1:
                raise ValueError(f"{self.operator}: arrays are on {sorted(devices)}")
            return fake(*arguments)

        return call


def _form(array: Tensor | None) -> tuple | None:
    """What of an array is checked: its shape, type and device."""
    return None if array is None else (array.shape, array.dtype, array.device)


@lru_cache(maxsize=1024)  # forms come again and again
def _check(check: ArgumentCheck, sizes: Sizes, forms: tuple) -> None:
    """Refuse arrays, by their `_form`, that do not fit the graph or one another.

    Raises:
        ValueError: a shape, type or device is wrong.
    """
    known_sizes = sizes._asdict()  # of M, N, E and S; the arrays tell the others
    device = known_sizes.pop("device") or next(form[2] for form in forms if form)
    for array, form in zip(check.arrays, forms, strict=True):
        if form is None:
            continue
        shape, dtype, own_device = form
        allowed = DTYPES.get(device.type, ())
        if array.name == "keep":
            allowed = (torch.bool,)
        typed = dtype in allowed and own_device == device
        if not (typed and _fits(shape, array.shape, known_sizes)):
            sized = {key: size for key, size in known_sizes.items() if size is not None}
            raise ValueError(
                f"{check.operator}: {array.name} must be {_names(allowed)} on "
                f"{device}, of shape ({', '.join(array.shape)}) with {sized}, got "
                f"{dtype} on {own_device}, of shape {tuple(shape)}"
            )

    for named_by_edges, dimension in (("sources", "N"), ("targets", "M")):
        least, nodes = known_sizes[named_by_edges], known_sizes.get(dimension)
        if least > (nodes or 0):
            raise ValueError(
                f"{check.operator}: the graph has edges of node {least - 1}, and the "
                f"arrays are for {nodes} nodes"
            )


def _fits(shape: tuple, dimensions: tuple[str, ...], known_sizes: dict) -> bool:
    """Whether a shape has the sizes known for these dimensions, such as ("H", "E").

    A size that is not known yet becomes known. `(H)` may be left out, and `1|H` may be
    1.
    """
    if len(shape) < len(dimensions):
        dimensions = tuple(each for each in dimensions if each[0] != "(")
    if len(shape) != len(dimensions):
        return False
    for size, dimension in zip(shape, dimensions, strict=True):
        name = dimension.strip("1|()")
        if dimension.startswith("1|") and size == 1:
            continue
        if known_sizes.get(name) is None:
            known_sizes[name] = size
        if known_sizes[name] != size:
            return False
    return True


def _names(dtypes: tuple) -> str:
    return " or ".join(str(each).removeprefix("torch.") for each in dtypes)
