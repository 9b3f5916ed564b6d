"""exp of the kernels' vectors.

In float32 Cody and Waite's reduction to [-ln 2 / 2, ln 2 / 2], then a polynomial of degree 6; within 2 units in the
last place. In float64 the C library's.
"""

from functools import partial

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fairgat.nn import simd
from fairgat.nn.simd import call, suffix, vector_type

_POLYNOMIAL = 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1


@intrinsic
def exp(typing_context, vector):
    """exp of every lane, for lanes of at most 88; in float32 never below exp(-87)."""
    emit = _exp32 if vector.dtype == types.float32 else _exp64

    def generate(context, builder, signature, arguments):
        return emit(builder, arguments[0], vector_type(vector))

    return vector(vector), generate


def _exp64(builder: ir.IRBuilder, x: ir.Value, vector: ir.VectorType) -> ir.Value:
    return call(builder, f"llvm.exp.{suffix(vector)}", vector, x)


def _exp32(builder: ir.IRBuilder, x: ir.Value, vector: ir.VectorType) -> ir.Value:
    integers = ir.VectorType(ir.IntType(32), vector.count)

    def constant(value: float, kind: ir.VectorType = vector) -> ir.Constant:
        return ir.Constant(kind, [value if kind is integers else float(np.float32(value))] * vector.count)

    add, multiply = partial(simd.add, builder), partial(simd.multiply, builder)
    lowest = constant(-87)
    x = builder.select(builder.fcmp_ordered("<", x, lowest), lowest, x)  # so written, NaN stays NaN
    rounded = add(multiply(x, constant(1.44269504)), constant(0.5))
    n = call(builder, f"llvm.floor.{suffix(vector)}", vector, rounded)
    r = builder.fsub(x, multiply(n, constant(0.693359375)))  # ln 2 in two numbers: as one it would cost digits
    r = builder.fadd(r, multiply(n, constant(2.12194440e-4)))
    p = constant(_POLYNOMIAL[0])
    for coefficient in _POLYNOMIAL[1:]:
        p = add(multiply(p, r), constant(coefficient))
    p = add(add(multiply(multiply(p, r), r), r), constant(1))
    n = builder.select(builder.fcmp_ordered("<", n, constant(129)), n, constant(0))  # NaN has no integer
    exponent = builder.add(builder.fptosi(n, integers), constant(127, integers))
    return multiply(p, builder.bitcast(builder.shl(exponent, constant(23, integers)), vector))
