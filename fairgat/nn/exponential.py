"""exp for the kernels: in float32 a form that vectorises, which a call of the C library's expf does not.

Cody and Waite's reduction to [-ln 2 / 2, ln 2 / 2], then a polynomial of degree 6; within 2 units in the last place.
"""

import math

from llvmlite import ir
from numba import float32, int32, types
from numba.extending import intrinsic, overload


def exp(x: float) -> float:
    """exp(x) for x <= 88, inside compiled code; in float32 never below exp(-87)."""
    return math.exp(x)


@intrinsic
def _float_from_bits(typing_context, bits):
    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), codegen


@overload(exp, inline="always")
def _exp(x):
    if x != types.float32:
        return lambda x: math.exp(x)

    def polynomial(x):
        bounded = float32(-87.0) if x < float32(-87.0) else x  # written so that NaN stays NaN
        n = math.floor(bounded * float32(1.44269504) + float32(0.5))
        r = (bounded - n * float32(0.693359375)) + n * float32(2.12194440e-4)
        p = float32(1.9875691500e-4)
        p = p * r + float32(1.3981999507e-3)
        p = p * r + float32(8.3334519073e-3)
        p = p * r + float32(4.1665795894e-2)
        p = p * r + float32(1.6666665459e-1)
        p = p * r + float32(5.0000001201e-1)
        p = p * r * r + r + float32(1.0)
        scale = _float_from_bits((int32(n) + int32(127)) << int32(23))
        return p * scale

    return polynomial
