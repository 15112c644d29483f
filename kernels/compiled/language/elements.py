"""Reading and writing single elements in loops whose iterations are independent.

Writes are declared not to touch what reads see, so that LLVM vectorises such loops without
run-time overlap checks, also when the output shares its input's memory. The promise that the
caller makes: iteration i reads no element that another iteration writes.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_LLVM_TYPES = {
    types.int8: ir.IntType(8),
    types.uint8: ir.IntType(8),
    types.int16: ir.IntType(16),
    types.uint16: ir.IntType(16),
    types.int32: ir.IntType(32),
    types.int64: ir.IntType(64),
    types.float32: ir.FloatType(),
    types.float64: ir.DoubleType(),
}


def _read_scope(module: Any) -> Any:
    domain = module.add_metadata(["numlite elements"])
    scope = module.add_metadata(["numlite reads", domain])
    return module.add_metadata([scope])


def _element(builder: Any, element: Any, address: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(address, element.as_pointer()), [index])


def reader(type_: types.Type, own_writes: bool = False) -> Any:
    """An intrinsic read(address, i): the i-th element of the array at an address, of any alignment.

    With own_writes it may read what an earlier loop wrote, as accumulators need; without, the
    kernel writes none of the memory before it reads it.
    """

    @intrinsic
    def read(typing_context, address, index):
        def codegen(context, builder, signature, args):
            value = builder.load(_element(builder, _LLVM_TYPES[type_], *args), align=1)
            if not own_writes:
                value.set_metadata("alias.scope", _read_scope(builder.module))
            return value

        return type_(types.int64, types.int64), codegen

    return read


def writer(type_: types.Type) -> Any:
    """An intrinsic write(address, i, value) that sets the i-th element of the array at an address."""

    @intrinsic
    def write(typing_context, address, index, value):
        def codegen(context, builder, signature, args):
            store = builder.store(args[2], _element(builder, _LLVM_TYPES[type_], *args[:2]), align=1)
            store.set_metadata("noalias", _read_scope(builder.module))
            return context.get_dummy_value()

        return types.none(types.int64, types.int64, type_), codegen

    return write


def _bitcast(source: types.Type, target: types.Type) -> Any:
    @intrinsic
    def cast(typing_context, value):
        def codegen(context, builder, signature, args):
            return builder.bitcast(args[0], _LLVM_TYPES[target])

        return target(source), codegen

    return cast


read_i8, write_i8 = reader(types.int8), writer(types.int8)
read_u8, write_u8 = reader(types.uint8), writer(types.uint8)
read_i16, write_i16 = reader(types.int16), writer(types.int16)
read_u16 = reader(types.uint16)
read_i32, write_i32 = reader(types.int32), writer(types.int32)
read_i64, write_i64 = reader(types.int64), writer(types.int64)
read_f32, write_f32 = reader(types.float32), writer(types.float32)
read_f64, write_f64 = reader(types.float64), writer(types.float64)

read_back_i8 = reader(types.int8, own_writes=True)
read_back_u8 = reader(types.uint8, own_writes=True)
read_back_i16 = reader(types.int16, own_writes=True)
read_back_i32 = reader(types.int32, own_writes=True)
read_back_i64 = reader(types.int64, own_writes=True)
read_back_f32 = reader(types.float32, own_writes=True)

float_bits = _bitcast(types.float32, types.int32)
float_from_bits = _bitcast(types.int32, types.float32)
double_bits = _bitcast(types.float64, types.int64)
double_from_bits = _bitcast(types.int64, types.float64)
