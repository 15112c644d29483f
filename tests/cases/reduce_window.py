"""Cases of REDUCE_WINDOW, STABLEHLO_REDUCE_WINDOW and STABLEHLO_REDUCE."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import EXACT, NO_KERNEL, Case, Close
from .single_op import Kind

_FUNCTIONS: dict[str, tuple[int, Callable[..., np.ndarray], int]] = {
    "ADD": (1, np.sum, 0),
    "MULTIPLY": (2, np.prod, 1),
    "MINIMUM": (3, np.min, 100),
    "MAXIMUM": (4, np.max, -100),
}


def _windows(
    x: np.ndarray, function: Callable[..., np.ndarray], sizes: list[int], strides: list[int], dil: list[int]
) -> np.ndarray:
    reach = [(n - 1) * d + 1 for n, d in zip(sizes, dil, strict=True)]
    shape = [(n - r) // s + 1 for n, r, s in zip(x.shape, reach, strides, strict=True)]
    out = np.zeros(shape, x.dtype)
    for at in np.ndindex(*shape):
        spans = zip(at, strides, reach, dil, strict=True)
        view = x[tuple(slice(i * s, i * s + r, d) for i, s, r, d in spans)]
        out[at] = np.asarray(function(view)).astype(x.dtype)
    return out


def _body(model: ModelBuilder, name: str, dtype: type) -> int:
    body = model.add_subgraph("body")
    a, b, out = (body.tensor((), dtype) for _ in range(3))
    body.op(BuiltinOperator[f"STABLEHLO_{name}"], [a, b], [out])
    body.finish([a, b], [out])
    return body.index


def _case(operator: str, name: str, dtype: type, sizes: list[int]) -> Case:
    kind = Kind((6, 7), dtype)
    id = f"{operator}-{name}-{np.dtype(dtype).name}-{sizes}"
    code, function, start = _FUNCTIONS[name]
    x = kind.random(id, 1)
    stablehlo = operator == "STABLEHLO_REDUCE_WINDOW"
    first = np.array(start, dtype)
    strides, dilations = [1, 2], [2, 1]
    padded = np.pad(x, [(1, 0), (0, 2)], constant_values=first) if stablehlo else x
    out = _windows(padded, function, sizes, strides, dilations)

    def make() -> bytes:
        model = ModelBuilder()
        tensors = [model.tensor(kind.shape, dtype), model.tensor((), dtype, first)]
        y = model.tensor(out.shape, dtype)
        if stablehlo:
            options = tflite.StablehloReduceWindowOptionsT(
                window_dimensions=sizes,
                window_strides=strides,
                base_dilations=[1, 1],
                window_dilations=dilations,
                padding=[1, 0, 0, 2],
                body_subgraph_index=_body(model, name, dtype),
            )
        else:
            options = tflite.ReduceWindowOptionsT(reduce_function=code)
            tensors += [model.constant(np.array(v, np.int64)) for v in (sizes, strides, dilations)]
        model.op(BuiltinOperator[operator], tensors, [y], options)
        return model.build(tensors[:1], [y])

    return Case(
        id=id,
        make=make,
        inputs=[x],
        oracle=lambda x: out,
        closeness=Close(rtol=1e-5, atol=1e-5) if dtype is np.float32 else EXACT,
    )


def _reduce(name: str, dtype: type, axes: list[int]) -> Case:
    kind = Kind((3, 4, 5), dtype)
    id = f"STABLEHLO_REDUCE-{name}-{np.dtype(dtype).name}-{axes}"
    _, function, start = _FUNCTIONS[name]
    x = kind.random(id, 1)
    shape = tuple(n for d, n in enumerate(kind.shape) if d not in axes)

    def make() -> bytes:
        model = ModelBuilder()
        tensors = [model.tensor(kind.shape, dtype), model.tensor((), dtype, np.array(start, dtype))]
        y = model.tensor(shape, dtype)
        options = tflite.StablehloReduceOptionsT(
            dimensions=axes, body_subgraph_index=_body(model, name, dtype)
        )
        model.op(BuiltinOperator.STABLEHLO_REDUCE, tensors, [y], options)
        return model.build(tensors[:1], [y])

    return Case(
        id=id,
        make=make,
        inputs=[x],
        oracle=lambda x: np.asarray(function(x, tuple(axes))).astype(dtype),
        closeness=Close(rtol=1e-5, atol=1e-5) if dtype is np.float32 else EXACT,
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


CASES = [
    *(
        _case(operator, name, dtype, sizes)
        for operator in ("REDUCE_WINDOW", "STABLEHLO_REDUCE_WINDOW")
        for name in _FUNCTIONS
        for dtype in (np.float32, np.int32, np.int8)
        for sizes in ([2, 3], [3, 6])
    ),
    *(_reduce(name, dtype, [0, 2]) for name in _FUNCTIONS for dtype in (np.float32, np.int32)),
    _reduce("ADD", np.float32, []),
    _reduce("ADD", np.float32, [0, 1, 2]),
]
