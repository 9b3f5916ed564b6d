"""Vectors for Numba kernels, masked where a row ends.

Numba leaves vectorising to LLVM, which is good at long loops. In rows of some twenty edges it does most of them one by
one, and it keeps the sums of a row's features in memory. Here a kernel says itself what a vector is; one wider than a
register is several registers.

Numba's cache on disk knows nothing of this file, but of the kernels': so that one names this one's digest.
"""

import operator
from collections.abc import Callable

from llvmlite import ir
from numba import types
from numba.core import cgutils, errors
from numba.extending import intrinsic, models, overload, register_model

# For njit's fastmath, which covers the vectors, too: sums are added up as they stand. A product that is added to
# something at once is not rounded before.
ORDERED = {"contract", "nsz"}
_INT = ir.IntType(32)
_LONG = ir.IntType(64)


class Vector(types.Type):
    """`lanes` numbers of one type; of booleans, a mask."""

    def __init__(self, dtype: types.Type, lanes: int) -> None:
        self.dtype = dtype
        self.lanes = lanes
        super().__init__(name=f"Vector({dtype}, {lanes})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind: Vector) -> None:
        super().__init__(manager, kind, vector_type(kind))


def vector_type(kind: Vector) -> ir.VectorType:
    """The LLVM type of a vector."""
    if kind.dtype in (types.float32, types.float64):
        return ir.VectorType(ir.FloatType() if kind.dtype == types.float32 else ir.DoubleType(), kind.lanes)
    return ir.VectorType(ir.IntType(1 if kind.dtype == types.boolean else kind.dtype.bitwidth), kind.lanes)


def call(builder: ir.IRBuilder, name: str, result: ir.Type, *arguments: ir.Value) -> ir.Value:
    """Call LLVM's intrinsic function `name`."""
    signature = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), arguments)


def suffix(vector: ir.VectorType) -> str:
    """How LLVM's names of intrinsic functions spell a type, such as v16f32."""
    return f"v{vector.count}{ {'float': 'f32', 'double': 'f64'}.get(str(vector.element), str(vector.element)) }"


# ------------------------------------------------------------------------------------------------ vectors and masks


@intrinsic
def zeros(typing_context, like, mask):
    """Zeros of the type of the array `like`, as many as the mask has lanes."""
    kind = Vector(like.dtype, mask.lanes)

    def generate(context, builder, signature, arguments):
        return ir.Constant(vector_type(kind), [0.0] * kind.lanes)

    return kind(like, mask), generate


@intrinsic
def first(typing_context, count, lanes):
    """The mask of the first `count` lanes of `lanes`, a number or a vector; count may be larger, or negative."""
    kind = Vector(types.boolean, _constant(lanes))

    def generate(context, builder, signature, arguments):
        number = context.cast(builder, arguments[0], signature.args[0], types.int32)
        lane = ir.Constant(ir.VectorType(_INT, kind.lanes), list(range(kind.lanes)))
        return builder.icmp_signed("<", lane, _repeat(builder, number, kind.lanes))

    return kind(count, lanes), generate


@intrinsic
def true_at(typing_context, flags, at, mask):
    """The part of the mask where the boolean array is true, from flags[at] on."""

    def generate(context, builder, signature, arguments):
        byte = ir.VectorType(ir.IntType(8), mask.lanes)
        value = _masked_load(builder, _pointer(context, builder, signature, arguments), byte, 1, arguments[2])
        return builder.icmp_unsigned("!=", value, ir.Constant(byte, None))

    return mask(flags, at, mask), generate


@intrinsic
def negative(typing_context, vector):
    """The mask of the lanes below zero."""
    kind = Vector(types.boolean, vector.lanes)

    def generate(context, builder, signature, arguments):
        return builder.fcmp_ordered("<", arguments[0], ir.Constant(arguments[0].type, [0.0] * vector.lanes))

    return kind(vector), generate


@intrinsic
def where(typing_context, mask, vector, other):
    """`vector` in the mask and `other`, a vector or a number, outside."""

    def generate(context, builder, signature, arguments):
        pair = _alike(context, builder, signature.args[1:], arguments[1:], vector)
        return builder.select(arguments[0], *pair)

    return vector(mask, vector, other), generate


# ----------------------------------------------------------------------------------------------------------- memory


@intrinsic
def load(typing_context, array, at, mask):
    """array[at : at + lanes] of a contiguous array (n,); 0 outside the mask, where nothing is read."""
    kind = Vector(array.dtype, mask.lanes)

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        return _masked_load(builder, pointer, vector_type(kind), kind.dtype.bitwidth // 8, arguments[2])

    return kind(array, at, mask), generate


@intrinsic
def store(typing_context, array, at, vector, mask):
    """array[at : at + lanes] = vector; outside the mask nothing is written."""

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        value, inside = arguments[2:]
        pointer = builder.bitcast(pointer, value.type.as_pointer())
        align = ir.Constant(_INT, vector.dtype.bitwidth // 8)
        call(builder, f"llvm.masked.store.{suffix(value.type)}.p0", ir.VoidType(), value, pointer, align, inside)
        return context.get_dummy_value()

    return types.void(array, at, vector, mask), generate


@intrinsic
def take(typing_context, array, index, mask):
    """array[index] for a vector of indices below 2^31; 0 outside the mask."""
    kind = Vector(array.dtype, mask.lanes)

    def generate(context, builder, signature, arguments):
        vector, size = vector_type(kind), kind.dtype.bitwidth // 8
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        longs = ir.VectorType(_LONG, kind.lanes)
        offset = builder.mul(builder.sext(arguments[1], longs), ir.Constant(longs, [size] * kind.lanes))
        address = builder.add(_repeat(builder, builder.ptrtoint(data, _LONG), kind.lanes), offset)
        pointers = builder.inttoptr(address, ir.VectorType(vector.element.as_pointer(), kind.lanes))
        name = f"llvm.masked.gather.{suffix(vector)}.v{kind.lanes}p0"
        return call(builder, name, vector, pointers, ir.Constant(_INT, size), arguments[2], ir.Constant(vector, None))

    return kind(array, index, mask), generate


@intrinsic
def prefetch(typing_context, array, at, mask):
    """Fetch array[at : at + lanes] into the first cache, as many as the mask has lanes."""

    def generate(context, builder, signature, arguments):
        byte = builder.bitcast(_pointer(context, builder, signature, arguments), ir.IntType(8).as_pointer())
        read, near, data = (ir.Constant(_INT, value) for value in (0, 3, 1))
        for line in range(0, mask.lanes * array.dtype.bitwidth // 8, 64):
            address = builder.gep(byte, [ir.Constant(_LONG, line)])
            call(builder, "llvm.prefetch.p0", ir.VoidType(), address, read, near, data)
        return context.get_dummy_value()

    return types.void(array, at, mask), generate


# ------------------------------------------------------------------------------------------------------- arithmetic


def _binary(emit: Callable) -> Callable:
    """A function of two vectors, or of a vector and a number."""

    @intrinsic
    def function(typing_context, a, b):
        kind = a if isinstance(a, Vector) else b

        def generate(context, builder, signature, arguments):
            return emit(builder, *_alike(context, builder, signature.args, arguments, kind))

        return kind(a, b), generate

    return function


def _larger(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
    return builder.select(builder.fcmp_ordered(">", b, a), b, a)


def add(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
    """a + b."""
    return builder.fadd(a, b)


def multiply(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
    """a * b."""
    return builder.fmul(a, b)


_add = _binary(add)
_subtract = _binary(lambda builder, a, b: builder.fsub(a, b))
_multiply = _binary(multiply)
larger = _binary(_larger)


@overload(operator.add)
def _(a, b):
    return (lambda a, b: _add(a, b)) if isinstance(a, Vector) else None


@overload(operator.sub)
def _(a, b):
    return (lambda a, b: _subtract(a, b)) if isinstance(a, Vector) else None


@overload(operator.mul)
def _(a, b):
    return (lambda a, b: _multiply(a, b)) if isinstance(a, Vector) else None


@intrinsic
def total(typing_context, vector):
    """Sum of the lanes."""

    def generate(context, builder, signature, arguments):
        return _reduce(builder, add, arguments[0])

    return vector.dtype(vector), generate


@intrinsic
def largest(typing_context, vector):
    """The largest lane."""

    def generate(context, builder, signature, arguments):
        return _reduce(builder, _larger, arguments[0])

    return vector.dtype(vector), generate


@intrinsic
def dot(typing_context, a, b):
    """Sum of a * b."""
    lanes = min(a.lanes, 32)  # summed up in as many: fewer would wait for each other

    def generate(context, builder, signature, arguments):
        value = ir.Constant(ir.VectorType(arguments[0].type.element, lanes), [0.0] * lanes)
        for at in range(0, a.lanes, lanes):
            pieces = (_piece(builder, argument, at, lanes) for argument in arguments)
            value = add(builder, multiply(builder, *pieces), value)
        return _reduce(builder, add, value)

    return a.dtype(a, b), generate


def _reduce(builder: ir.IRBuilder, emit: Callable, value: ir.Value) -> ir.Value:
    while (half := value.type.count // 2) > 0:
        value = emit(builder, _piece(builder, value, 0, half), _piece(builder, value, half, half))
    return builder.extract_element(value, ir.Constant(_INT, 0))


def _constant(number: types.Type) -> int:
    if isinstance(number, Vector):
        return number.lanes
    if not isinstance(number, types.IntegerLiteral):
        raise errors.RequireLiteralValue("the number of lanes must be a constant")
    return number.literal_value


def _repeat(builder: ir.IRBuilder, value: ir.Value, lanes: int) -> ir.Value:
    undefined = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    single = builder.insert_element(undefined, value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(single, undefined, ir.Constant(ir.VectorType(_INT, lanes), [0] * lanes))


def _piece(builder: ir.IRBuilder, value: ir.Value, at: int, lanes: int) -> ir.Value:
    return builder.shuffle_vector(value, value, ir.Constant(ir.VectorType(_INT, lanes), [*range(at, at + lanes)]))


def _alike(context, builder, signature, arguments, kind: Vector):
    """The arguments as vectors of one kind; numbers are repeated."""
    for type_, value in zip(signature, arguments, strict=True):
        if isinstance(type_, Vector):
            yield value
        else:
            yield _repeat(builder, context.cast(builder, value, type_, kind.dtype), kind.lanes)


def _pointer(context, builder, signature, arguments) -> ir.Value:
    """The address of arguments[0][arguments[1]]."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [context.cast(builder, arguments[1], signature.args[1], types.intp)])


def _masked_load(
    builder: ir.IRBuilder, pointer: ir.Value, vector: ir.VectorType, align: int, mask: ir.Value
) -> ir.Value:
    pointer = builder.bitcast(pointer, vector.as_pointer())
    name, nothing = f"llvm.masked.load.{suffix(vector)}.p0", ir.Constant(vector, None)
    return call(builder, name, vector, pointer, ir.Constant(_INT, align), mask, nothing)
