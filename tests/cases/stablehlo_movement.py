"""Cases of StableHLO's operators that only move elements, and of STABLEHLO_SORT."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import NO_KERNEL, Case
from .single_op import Kind, single_op


def _case(
    name: str,
    kinds: Sequence[Kind],
    oracle: Callable[..., np.ndarray],
    options: TableT | None = None,
    constants: Mapping[int, np.ndarray] | None = None,
) -> Case:
    given = constants or {}
    id = f"STABLEHLO_{name}-{'-'.join('x'.join(map(str, k.shape)) for k in kinds)}-{len(given)}"
    id += f"-{np.dtype(kinds[0].dtype).name}" if kinds else ""
    inputs = [given.get(i, kind.random(f"{id}{i}")) for i, kind in enumerate(kinds)]
    out = oracle(*inputs)
    return Case(
        id=id,
        make=lambda: single_op(
            BuiltinOperator[f"STABLEHLO_{name}"],
            kinds,
            Kind(out.shape, out.dtype.type),
            options,
            constants=constants,
        ),
        inputs=[x for i, x in enumerate(inputs) if i not in given],
        oracle=lambda *_: out,
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


def _update(x: np.ndarray, box: np.ndarray, *starts: np.ndarray) -> np.ndarray:
    result = x.copy()
    result[1:3, 2:5] = box
    return result


def _sort(axis: int, direction: int, count: int, swapped: bool) -> Case:
    shape = (4, 9)
    keys = Kind(shape, np.int32).random(f"{axis}{direction}") % 5
    others = np.arange(36, dtype=np.float32).reshape(shape)
    types = [np.int32, np.float32][:count]
    inputs = [keys.astype(np.int32), others][:count]

    def make() -> bytes:
        model = ModelBuilder()
        xs = [model.tensor(shape, dtype) for dtype in types]
        ys = [model.tensor(shape, dtype) for dtype in types]
        body = model.add_subgraph("compare")
        operands = [body.tensor((), dtype) for dtype in types for _ in range(2)]
        result = body.tensor((), np.bool_)
        options = tflite.StablehloCompareOptionsT(comparison_direction=direction)
        pair = operands[1::-1] if swapped else operands[:2]
        body.op(BuiltinOperator.STABLEHLO_COMPARE, pair, [result], options)
        body.finish(operands, [result])
        sort = tflite.StablehloSortOptionsT(
            dimension=axis, is_stable=True, comparator_subgraph_index=body.index
        )
        model.op(BuiltinOperator.STABLEHLO_SORT, xs, ys, sort)
        return model.build(xs, ys)

    def oracle(*xs: np.ndarray) -> list[np.ndarray]:
        key = -xs[0] if (direction in (2, 3)) != swapped else xs[0]
        places = np.argsort(key, axis, kind="stable")
        return [np.take_along_axis(x, places, axis) for x in xs]

    return Case(
        id=f"STABLEHLO_SORT-{axis}-{direction}-{count}-{swapped}",
        make=make,
        inputs=inputs,
        oracle=oracle,
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


_SCALAR = Kind((), np.int32)
_TYPES = (np.float32, np.int8, np.int64)

CASES = [
    *(_case("RESHAPE", [Kind((3, 8), dtype)], lambda x: x.reshape(2, 12)) for dtype in _TYPES),
    *(
        _case(
            "TRANSPOSE",
            [Kind((2, 3, 4), dtype)],
            lambda x: x.transpose(2, 0, 1),
            tflite.StablehloTransposeOptionsT(permutation=[2, 0, 1]),
        )
        for dtype in _TYPES
    ),
    *(
        _case(
            "SLICE",
            [Kind((5, 7), dtype)],
            lambda x: x[1:5:2, 0:6:3],
            tflite.StablehloSliceOptionsT(start_indices=[1, 0], limit_indices=[5, 6], strides=[2, 3]),
        )
        for dtype in _TYPES
    ),
    _case(
        "CONCATENATE",
        [Kind((2, 3)), Kind((2, 1)), Kind((2, 4))],
        lambda *xs: np.concatenate(xs, 1),
        tflite.StablehloConcatenateOptionsT(dimension=1),
    ),
    *(
        _case(
            "BROADCAST_IN_DIM",
            [Kind((3, 1), dtype)],
            lambda x: np.broadcast_to(x.reshape(3, 1, 1), (3, 2, 4)).copy(),
            tflite.StablehloBroadcastInDimOptionsT(broadcast_dimensions=[0, 2]),
        )
        for dtype in _TYPES
    ),
    _case(
        "BROADCAST_IN_DIM",
        [Kind(())],
        lambda x: np.full((2, 3), x),
        tflite.StablehloBroadcastInDimOptionsT(broadcast_dimensions=[]),
    ),
    _case(
        "IOTA",
        [],
        lambda: np.broadcast_to(np.arange(3, dtype=np.float32)[:, None], (3, 4)).copy(),
        tflite.StablehloIotaOptionsT(iota_dimension=0),
    ),
    _case(
        "DYNAMIC_SLICE",
        [Kind((5, 7)), _SCALAR, _SCALAR],
        lambda x, i, j: x[3:5, 0:3],
        tflite.StablehloDynamicSliceOptionsT(slice_sizes=[2, 3]),
        {1: np.array(9, np.int32), 2: np.array(-4, np.int32)},
    ),
    _case(
        "DYNAMIC_UPDATE_SLICE",
        [Kind((5, 7)), Kind((2, 3)), _SCALAR, _SCALAR],
        _update,
        None,
        {2: np.array(1, np.int32), 3: np.array(2, np.int32)},
    ),
    *(_sort(axis, direction, 2, False) for axis in (0, 1) for direction in (3, 5)),
    _sort(1, 5, 1, True),
]
