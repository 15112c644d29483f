"""What the executor needs of the machine: indirect calls, atomic words, a pause."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from . import operations

_I64 = ir.IntType(64)


def _caller(arity: int) -> Callable[..., int]:
    """An intrinsic (function address, arguments ...) -> result, all int64."""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        function = ir.FunctionType(_I64, [_I64] * arity)
        return builder.call(builder.inttoptr(values[0], function.as_pointer()), values[1:])

    # Numba reads an intrinsic's arity from its signature, so one is made for each arity.
    names = ", ".join(["function", *(f"a{k}" for k in range(arity))])
    scope = {"signature": types.int64(*[types.int64] * (arity + 1)), "codegen": codegen}
    exec(f"def call{arity}(context, {names}):\n    return signature, codegen\n", scope)
    typer: Any = scope[f"call{arity}"]
    return intrinsic(typer)


call0 = _caller(0)
call1 = _caller(1)
call2 = _caller(2)
call3 = _caller(3)
call7 = _caller(7)


def _word(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _I64.as_pointer())


@intrinsic
def atomic_load(typing_context, address):
    def codegen(context, builder, signature, args):
        return builder.load_atomic(_word(builder, args[0]), "seq_cst", 8)

    return types.int64(types.int64), codegen


@intrinsic
def atomic_store(typing_context, address, value):
    def codegen(context, builder, signature, args):
        builder.store_atomic(args[1], _word(builder, args[0]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def atomic_add(typing_context, address, value):
    """Add to the word; the result is what it was before."""

    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("add", _word(builder, args[0]), args[1], "seq_cst")

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def compare_and_swap(typing_context, address, expected, value):
    """Put value where expected is found; 1 if so, else 0."""

    def codegen(context, builder, signature, args):
        pair = builder.cmpxchg(_word(builder, args[0]), args[1], args[2], "seq_cst", "seq_cst")
        return builder.zext(builder.extract_value(pair, 1), _I64)

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def pause(typing_context):
    """Tell the processor that this thread is spinning."""

    def codegen(context, builder, signature, args):
        operations.pause(builder)
        return context.get_dummy_value()

    return types.void(), codegen
