"""How an operator is made of a function, and the one door by which arrays enter it.

Kernels look at no bounds. So each operator's schema gives every array its shape, in
brackets, and what does not fit that, the graph or the other arrays is refused before
the function is called. H are heads, N sources, M rows, E edges, S segments and C, F, K
numbers of columns.
"""

import re
from collections.abc import Callable
from functools import lru_cache, wraps

import torch
from torch import Tensor

from fairgat.nn.cache import has_storage
from fairgat.nn.parallel import available
from fairgat.nn.pointers import NAMES, Sizes, sizes_of

# Which the operators take, by device; `fairgat.nn.gpu` adds CUDA's.
DTYPES = {"cpu": (torch.float32,)}

_ARGUMENT = re.compile(r"(\w+\??) (\w+)(?:\[([^]]*)\])?")
_library = torch.library.Library("fairgat", "DEF")
_doors: dict[str, "Door"] = {}


def fused(*tensors: Tensor) -> bool:
    """Whether the operators take the reference's place.

    They have no rules for what torch.func makes of tensors.
    """
    own = all(
        each.dtype in DTYPES.get(each.device.type, ()) and has_storage(each)
        for each in tensors
    )
    return own and available()


def operator(schema: str, fake, backward=None, setup=None, device: str = "CPU"):
    """Decorator: make a function the operator `fairgat::schema` on a device.

    Args:
        schema: name, arguments and results, as `torch.library.define` takes them, with
            the shape of each array that is not a graph's: `Tensor x[N F]`.
        fake: gives empty results of the right shapes.
        backward, setup: the autograd formula, as for `torch.library.register_autograd`;
            it has no second derivative.
    """
    door = Door(schema)
    name = "fairgat::" + door.name

    def register(function):
        _library.define(re.sub(r"\[[^]]*\]", "", schema))
        _doors[door.name] = door
        implement({door.name: function}, device)
        torch.library.register_fake(name, door.on_one_device(fake), lib=_library)
        if backward is not None:
            torch.library.register_autograd(
                name, _once(backward), setup_context=setup, lib=_library
            )
        return function

    return register


def implement(functions: dict, device: str, **options) -> None:
    """Make functions the operators `fairgat::name` on another device."""
    for name, function in functions.items():
        guarded = _doors[name].guard(function)
        _library.impl("fairgat::" + name, guarded, device, **options)


def _once(backward):
    """Refuse to be differentiated again; `once_differentiable` has ways around it."""

    def first(ctx, *grads):
        if torch.is_grad_enabled():  # under create_graph=True
            raise RuntimeError(
                "the layers have no second derivatives in float32 (nor in half "
                "precision on a GPU): leave out create_graph=True, or convert layer "
                "and input by .double()"
            )
        return backward(ctx, *grads)

    return first


# ---------------------------------------------------------------------------- the door


class Door:
    """What an operator's arrays must be, read from its schema."""

    def __init__(self, schema: str) -> None:
        self.name, arguments = schema.split("(", 1)
        found = _ARGUMENT.findall(arguments.split(" -> ")[0])
        names = [name for _, name, _ in found]
        self.count = len(names)

        self.arrays = [names.index(each) if each in names else None for each in NAMES]
        self.values = []  # places of the other arrays
        self.shapes = []  # their names and dimensions
        self.dense = []  # places of those whose numbers must lie side by side
        self.needed = {
            name: place
            for place, (kind, name, _) in enumerate(found)
            if kind == "Tensor"
        }
        for place, (kind, name, shape) in enumerate(found):
            if not kind.startswith("Tensor") or name in NAMES:
                continue
            if not shape:
                raise TypeError(f"{self.name}: the schema gives {name} no shape")
            self.values.append(place)
            self.shapes.append((name, tuple(shape.split())))
            if name == "mass" or " " not in shape:
                self.dense.append(place)

    def guard(self, function: Callable) -> Callable:
        """The function, for arguments that fit."""
        has_graph = any(place is not None for place in self.arrays)
        count = self.count

        @wraps(function)
        def call(*arguments):
            # PyTorch leaves out what is None by default.
            arguments = (*arguments, *[None] * (count - len(arguments)))
            for name, place in self.needed.items():
                if arguments[place] is None:  # as which an undefined tensor comes
                    raise ValueError(f"{self.name}: {name} is missing")
            sizes = Sizes()
            if has_graph:
                arrays = [None if at is None else arguments[at] for at in self.arrays]
                sizes = sizes_of(*arrays)
            forms = tuple([_form(arguments[place]) for place in self.values])
            _check(self, sizes, forms)
            arguments = list(arguments)
            for place in self.dense:
                if arguments[place] is not None:
                    arguments[place] = arguments[place].contiguous()
            return function(*arguments)

        return call

    def on_one_device(self, fake: Callable) -> Callable:
        """The fake function, which a real array is not mixed with."""

        @wraps(fake)
        def call(*arguments):
            tensors = [each for each in arguments if isinstance(each, Tensor)]
            devices = {str(each.device) for each in tensors}
            if len(devices) > 1:
                raise ValueError(f"{self.name}: arrays are on {sorted(devices)}")
            return fake(*arguments)

        return call


def _form(array: Tensor | None) -> tuple | None:
    return None if array is None else (array.shape, array.dtype, array.device)


@lru_cache(maxsize=1024)  # forms come again and again
def _check(door: Door, sizes: Sizes, forms: tuple) -> None:
    """Refuse forms that do not fit the graph or one another.

    Raises:
        ValueError: a shape, type or device is wrong.
    """
    known = sizes._asdict()
    device = known.pop("device") or next(each[2] for each in forms if each)
    for (name, dimensions), form in zip(door.shapes, forms, strict=True):
        if form is None:
            continue
        shape, dtype, place = form
        allowed = (torch.bool,) if name == "keep" else DTYPES.get(device.type, ())
        typed = dtype in allowed and place == device
        if not (typed and _fits(shape, dimensions, known)):
            sized = {key: size for key, size in known.items() if size is not None}
            raise ValueError(
                f"{door.name}: {name} must be {_names(allowed)} on {device}, of shape "
                f"({', '.join(dimensions)}) with {sized}, got {dtype} on {place}, of "
                f"shape {tuple(shape)}"
            )
    for at_least, name in (("sources", "N"), ("targets", "M")):
        if known[at_least] > (known.get(name) or 0):
            raise ValueError(
                f"{door.name}: the graph has edges of node {known[at_least] - 1}, and "
                f"the arrays are for {known.get(name)} nodes"
            )


def _fits(shape: tuple, dimensions: tuple[str, ...], known: dict) -> bool:
    """Whether a shape is the one of these dimensions; unknown ones become known.

    `(H)` may be left out, and `1|H` may be 1.
    """
    if len(shape) < len(dimensions):
        dimensions = tuple(each for each in dimensions if each[0] != "(")
    if len(shape) != len(dimensions):
        return False
    for size, dimension in zip(shape, dimensions, strict=True):
        name = dimension.strip("1|()")
        if dimension.startswith("1|") and size == 1:
            continue
        if known.get(name) is None:
            known[name] = size
        if known[name] != size:
            return False
    return True


def _names(dtypes: tuple) -> str:
    return " or ".join(str(each).removeprefix("torch.") for each in dtypes)
