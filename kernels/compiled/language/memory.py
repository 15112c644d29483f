"""Typed pointers from addresses, for use inside compiled kernels.

`carray(float32_pointer(a.x), (n, c))` is a view of the memory at the address a.x.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.extending import intrinsic


def pointer(target: types.Type) -> Callable[[int], Any]:
    """An intrinsic that turns an int64 address into a pointer to target."""

    @intrinsic
    def to_pointer(typing_context, address):
        def codegen(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(target)(types.int64), codegen

    made: Any = to_pointer
    return made


def record_pointer(block: np.dtype) -> Callable[[int], Any]:
    """An intrinsic that turns an int64 address into a pointer to a record of dtype block."""
    return pointer(from_dtype(block))


def stack_bytes(size: int) -> Callable[[], Any]:
    """An intrinsic that gives the address of so many bytes, a multiple of 64: the function's own."""

    @intrinsic
    def on_stack(typing_context):
        def codegen(context, builder, signature, args):
            with builder.goto_entry_block():
                place = builder.alloca(ir.ArrayType(ir.VectorType(ir.IntType(8), 64), size // 64))
            return builder.ptrtoint(place, ir.IntType(64))

        return types.int64(), codegen

    made: Any = on_stack
    return made


int8_pointer = pointer(types.int8)
uint8_pointer = pointer(types.uint8)
int16_pointer = pointer(types.int16)
uint16_pointer = pointer(types.uint16)
int32_pointer = pointer(types.int32)
uint32_pointer = pointer(types.uint32)
int64_pointer = pointer(types.int64)
uint64_pointer = pointer(types.uint64)
float32_pointer = pointer(types.float32)
float64_pointer = pointer(types.float64)
bool_pointer = pointer(types.boolean)
