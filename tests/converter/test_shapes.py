"""Shape functions: against cases written from the ops' definitions, and against TensorFlow's own results."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.converter.ir.attribute_import import attributes_of
from numlite.converter.ir.attributes import Attribute, ShapeAttr
from numlite.converter.ir.signature import registered
from numlite.converter.ir.types import ElementType, TensorType, element_type
from numlite.converter.shapes.context import UNKNOWN
from numlite.converter.shapes.infer import Inferred, infer
from numlite.converter.shapes.register import shape_functions
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.graph_def import NodeDef
from numlite.schema.op_defs import op_defs

from .shared_files import SHARED

Shape = tuple[int, ...] | None
F32, I32 = ElementType("f32"), ElementType("i32")
STRIDED = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
NEW_LAST = {**STRIDED, "new_axis_mask": 2, "ellipsis_mask": 1}
CONV = {"T": F32, "strides": (1, 2, 2, 1), "padding": b"SAME", "data_format": b"NHWC"}
VALID = {**CONV, "padding": b"VALID"}
ANY = -1


def v(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def scalar(number: float) -> np.ndarray:
    return np.array(number, np.int64 if isinstance(number, int) else np.float64)


# Op, attributes, inputs (a shape, or the elements of a small tensor), shapes of the results.
CASES: list[tuple[str, dict[str, Attribute], list[Any], list[Shape]]] = [
    ("Relu", {}, [(2, ANY)], [(2, ANY)]),
    ("Relu", {}, [None], [None]),
    ("Add", {}, [(2, 1, 3), (4, 1)], [(2, 4, 3)]),
    ("Add", {}, [(ANY, 3), (3,)], [(ANY, 3)]),
    ("Add", {}, [(ANY,), (5,)], [(5,)]),
    ("Add", {}, [(ANY,), (1,)], [(ANY,)]),
    ("Add", {}, [None, (3,)], [None]),
    ("Equal", {"incompatible_shape_error": False}, [(2,), (3,)], [()]),
    ("Sum", {"keep_dims": False}, [(2, 3, 4), v(0, -1)], [(3,)]),
    ("Sum", {"keep_dims": True}, [(2, 3, 4), v(1)], [(2, 1, 4)]),
    ("Sum", {"keep_dims": True}, [(2, 3), (1,)], [(ANY, ANY)]),
    ("Sum", {"keep_dims": False}, [(2, 3), (1,)], [None]),
    ("ArgMax", {}, [(2, 3, 4), scalar(-2)], [(2, 4)]),
    ("MatMul", {"transpose_a": True, "transpose_b": False}, [(4, 2), (4, 5)], [(2, 5)]),
    ("BatchMatMulV2", {"adj_x": False, "adj_y": True}, [(7, 1, 2, 3), (5, 4, 3)], [(7, 5, 2, 4)]),
    ("Einsum", {"equation": b"...ij,jk->...ik", "N": 2, "T": F32}, [(9, 2, 3), (3, 4)], [(9, 2, 4)]),
    ("Conv2D", CONV, [(1, 7, 8, 3), (3, 3, 3, 5)], [(1, 4, 4, 5)]),
    ("Conv2D", VALID, [(1, 7, ANY, 3), (3, 3, 3, 5)], [(1, 3, ANY, 5)]),
    ("Conv2D", CONV, [None, (3, 3, 3, 5)], [(ANY, ANY, ANY, 5)]),
    ("Dilation2D", {**VALID, "rates": (1, 2, 1, 1)}, [(1, 5, 1, 3), (2, 2, 3)], [(1, 2, 0, 3)]),
    ("DepthwiseConv2dNative", VALID, [(1, 5, 5, 3), (3, 3, 3, 2)], [(1, 2, 2, 6)]),
    ("MaxPool", {**VALID, "ksize": (1, 2, 2, 1)}, [(1, 5, 6, 3)], [(1, 2, 3, 3)]),
    ("ResizeBicubicGrad", {"T": F32}, [(ANY, 3, 7, 2), (1, 4, 5, 2)], [(ANY, 4, 5, 2)]),
    ("Reshape", {}, [(2, 6), v(3, -1)], [(3, 4)]),
    ("Reshape", {}, [(ANY, 6), v(3, -1)], [(3, ANY)]),
    ("Reshape", {}, [(4, 6), v(UNKNOWN, 6)], [(4, 6)]),
    ("Reshape", {}, [(4, 6), (3,)], [(ANY, ANY, ANY)]),
    ("Reshape", {}, [(4, 6), None], [None]),
    ("ExpandDims", {}, [(2, 3), scalar(-1)], [(2, 3, 1)]),
    ("Squeeze", {"squeeze_dims": (-1,)}, [(ANY, 3, 1)], [(ANY, 3)]),
    ("Squeeze", {"squeeze_dims": ()}, [(1, 3, 1)], [(3,)]),
    ("Squeeze", {"squeeze_dims": ()}, [(ANY, 3)], [None]),
    ("ConcatV2", {"N": 2, "T": F32}, [(2, 3), (ANY, 4), scalar(1)], [(2, 7)]),
    ("ConcatV2", {"N": 2, "T": F32}, [(2, 3), (2, ANY), scalar(-1)], [(2, ANY)]),
    ("Pack", {"axis": -1}, [(2, ANY), (ANY, 3)], [(2, 3, 2)]),
    ("Unpack", {"axis": 1, "num": 3, "T": F32}, [(2, 3)], [(2,), (2,), (2,)]),
    ("Split", {"num_split": 2, "T": F32}, [scalar(1), (3, 4)], [(3, 2), (3, 2)]),
    ("SplitV", {"num_split": 2, "T": F32}, [(3, 4), v(1, -1), scalar(1)], [(3, 1), (3, 3)]),
    ("Slice", {}, [(5, 6), v(1, 2), v(-1, 3)], [(4, 3)]),
    ("StridedSlice", STRIDED, [(9,), v(1), v(-1), v(3)], [(3,)]),
    ("StridedSlice", STRIDED, [(9,), v(8), v(-10), v(-2)], [(5,)]),
    ("StridedSlice", {**STRIDED, "shrink_axis_mask": 1}, [(9, 4), v(-1), v(0), v(1)], [(4,)]),
    ("StridedSlice", NEW_LAST, [(9, 4), v(0, 0), v(0, 0), v(1, 1)], [(9, 4, 1)]),
    ("StridedSlice", STRIDED, [(ANY, 4), v(0), v(2), v(1)], [(ANY, 4)]),
    ("GatherV2", {"batch_dims": 0}, [(5, 6, 7), (2, 3), scalar(1)], [(5, 2, 3, 7)]),
    ("GatherV2", {"batch_dims": 1}, [(5, 6, 7), (5, 3), scalar(2)], [(5, 6, 3)]),
    ("GatherNd", {}, [(5, 6, 7), (4, 2)], [(4, 7)]),
    ("Pad", {}, [(2, ANY), np.array([[1, 2], [0, 1]])], [(5, ANY)]),
    ("Tile", {}, [(2, 3), v(2, UNKNOWN)], [(4, ANY)]),
    ("Fill", {}, [v(2, UNKNOWN), ()], [(2, ANY)]),
    ("Transpose", {}, [(2, 3, ANY), v(2, 0, 1)], [(ANY, 2, 3)]),
    ("Range", {}, [scalar(0), scalar(10), scalar(3)], [(4,)]),
    ("Range", {}, [scalar(0.0), scalar(1.0), scalar(0.3)], [(4,)]),
    ("OneHot", {"axis": -1}, [(2, 3), scalar(5), (), ()], [(2, 3, 5)]),
    ("Shape", {}, [(2, ANY)], [(2,)]),
    ("Placeholder", {"shape": ShapeAttr((None, 3)), "dtype": F32}, [], [(ANY, 3)]),
    ("TopKV2", {}, [(2, 9), scalar(4)], [(2, 4), (2, 4)]),
    ("SpaceToDepth", {"block_size": 2, "data_format": b"NHWC"}, [(1, 4, 6, 3)], [(1, 2, 3, 12)]),
    ("UnsortedSegmentSum", {}, [(4, 5), (4,), scalar(7)], [(7, 5)]),
    ("SegmentSum", {}, [(4, 5), v(0, 0, 2, 3)], [(4, 5)]),
    ("Merge", {"N": 2, "T": F32}, [(2, 3), (2, 4)], [(2, ANY), ()]),
    ("NoSuchOp", {}, [(2,)], [None]),
]


def inferred(op: str, attributes: dict[str, Attribute], inputs: list[Any], results: int) -> Inferred:
    types = [
        TensorType(I32 if isinstance(x, np.ndarray) else F32, x.shape if isinstance(x, np.ndarray) else x)
        for x in inputs
    ]
    values = [x if isinstance(x, np.ndarray) else None for x in inputs]
    return infer(op, attributes, types, [TensorType(F32)] * results, values)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[3]}")
def test_case(case: tuple[str, dict[str, Attribute], list[Any], list[Shape]]) -> None:
    op, attributes, inputs, expected = case
    found = inferred(op, attributes, inputs, len(expected))
    assert [type.shape for type in found.types] == expected


WRONG = [
    ("Add", {}, [(2,), (3,)], "broadcast"),
    ("MatMul", {"transpose_a": False, "transpose_b": False}, [(2, 3), (4, 5)], "inner sizes"),
    ("MatMul", {"transpose_a": False, "transpose_b": False}, [(2,), (4, 5)], "rank 2"),
    ("Reshape", {}, [(5,), v(2, -1)], "5 elements"),
    ("Reshape", {}, [(4,), v(-1, -1)], "at most one"),
    ("Reshape", {}, [(4,), v(-2)], "negative"),
    ("Squeeze", {"squeeze_dims": (0,)}, [(2,)], "must be 1"),
    ("Sum", {"keep_dims": False}, [(2,), v(1)], "axis"),
    ("ConcatV2", {"N": 2, "T": F32}, [(2, 3), (3, 3), scalar(1)], "equal"),
    ("Split", {"num_split": 3, "T": F32}, [scalar(0), (4,)], "multiple"),
    ("Conv2D", VALID, [(1, 2, 2, 3), (3, 3, 3, 5)], "window"),
    ("Conv2D", CONV, [(1, 2, 2, 3), (3, 3, 2, 5)], "multiple"),
    ("Dilation2D", {**VALID, "rates": (1, 1, 1, 1)}, [(1, 2, 2, 3), (6, 2, 3)], "window"),
    ("Transpose", {}, [(2, 3), v(0, 0)], "order"),
    ("Slice", {}, [(2,), v(1), v(3)], "inside"),
    ("StridedSlice", STRIDED, [(2,), v(0), v(1), v(0)], "strides"),
    ("Range", {}, [scalar(0), scalar(3), scalar(0)], "delta"),
    ("Pack", {"axis": 5}, [(2,), (2,)], "axis"),
    ("Sum", {}, [(2,)], "as many"),
    ("Conv2D", {**CONV, "strides": (1,)}, [(1, 2, 2, 3), (3, 3, 3, 5)], "too short"),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: f"{case[0]}-{case[3]}")
def test_inputs_that_do_not_fit(case: tuple[str, dict[str, Attribute], list[Any], str]) -> None:
    op, attributes, inputs, message = case
    with pytest.raises(ModelError, match=message):
        inferred(op, attributes, inputs, int(str(attributes.get("num_split", 1))))


VALUES: list[tuple[str, dict[str, Attribute], list[Any], list[int]]] = [
    ("Shape", {}, [(2, ANY)], [2, UNKNOWN]),
    ("Pack", {"axis": 0}, [scalar(3), scalar(4)], [3, 4]),
    ("ConcatV2", {"N": 2, "T": I32}, [v(1, UNKNOWN), v(2), scalar(0)], [1, UNKNOWN, 2]),
    ("StridedSlice", STRIDED, [v(1, 2, 3), v(1), v(3), v(1)], [2, 3]),
    ("Mul", {}, [v(2, UNKNOWN), v(5, 6)], [10, UNKNOWN]),
    ("FloorDiv", {}, [v(7, 1), v(2, 0)], [3, UNKNOWN]),
    ("GatherV2", {"batch_dims": 0}, [v(4, 5, 6), v(2, 0), scalar(0)], [6, 4]),
    ("Range", {}, [scalar(1), scalar(6), scalar(2)], [1, 3, 5]),
]


@pytest.mark.parametrize("case", VALUES, ids=lambda case: case[0])
def test_elements_that_follow(case: tuple[str, dict[str, Attribute], list[Any], list[int]]) -> None:
    op, attributes, inputs, expected = case
    value = inferred(op, attributes, inputs, 1).values[0]
    assert value is not None
    assert value.tolist() == expected


def test_every_function_is_of_an_op_that_tensorflow_has() -> None:
    internal = {
        "_SwitchN",
        "_FusedConv2D",
        "_FusedConv3D",
        "_FusedDepthwiseConv2dNative",
        "_FusedBatchNormEx",
        "_FusedBatchNormGradEx",
    }
    assert shape_functions().keys() <= {*op_defs().names(), *internal}


KERNELS = SHARED / "convert/kernels"


def kernel_cases(file: Path) -> Iterator[tuple[NodeDef, list[dict[str, Any]], list[dict[str, Any]], Any]]:
    described = json.loads(file.read_text(encoding="utf-8"))
    with np.load(file.with_suffix(".npz")) as arrays:
        for case in described["cases"]:
            node = NodeDef.FromString(base64.b64decode(case["node_def"]["b64"]))
            yield node, case["inputs"], case["outputs"], arrays


def small_value(described: dict[str, Any], arrays: Any) -> np.ndarray | None:
    if described["enc"] != "raw" or np.prod(described["shape"]) > 64:
        return None
    array = arrays[described["key"]]
    kinds = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}
    return array.astype(kinds[array.dtype.kind]) if array.dtype.kind in kinds else None


@pytest.mark.skipif(not KERNELS.is_dir(), reason="needs ../shared/convert/kernels")
@pytest.mark.parametrize("known", ["all", "shapes", "ranks", "nothing"])
def test_never_contradicts_tensorflow(known: str) -> None:
    """Whatever is known of the inputs, a result that TensorFlow gave has the inferred shape."""
    checked = 0
    for file in sorted(KERNELS.glob("*.json")):
        if file.stem not in shape_functions():
            continue
        for node, inputs, outputs, arrays in kernel_cases(file):
            found = _of_node(node, inputs, arrays, known)
            if found is None:
                continue
            checked += 1
            for type, value, expected in zip(found.types, found.values, outputs, strict=True):
                assert _fits(type.shape, expected["shape"]), (node.op, known, type, expected["shape"])
                if value is not None and expected["enc"] == "raw":
                    elements = arrays[expected["key"]]
                    assert ((value == UNKNOWN) | (value == elements) | np.isnan(value)).all(), node.op
    assert checked > 1000


def _of_node(node: NodeDef, inputs: list[dict[str, Any]], arrays: Any, known: str) -> Inferred | None:
    """None for types that the graph IR has no form for."""
    signature = registered(node.op)
    assert signature is not None
    try:
        attributes = attributes_of(node.attr)
        held = {**signature.defaults, **attributes}
        results = [TensorType(element_type(number)) for number in signature.result_types(held)]
        numbers = [number for one in signature.inputs for number in one.types(held)]
        elements = [element_type(number) for number in numbers]
    except UnsupportedError:
        return None
    shapes: list[Shape] = [tuple(described["shape"]) for described in inputs]
    if known == "ranks":
        shapes = [None if shape is None else (-1,) * len(shape) for shape in shapes]
    if known == "nothing":
        shapes = [None] * len(shapes)
    types = [TensorType(element, shape) for element, shape in zip(elements, shapes, strict=True)]
    values = [small_value(described, arrays) for described in inputs] if known == "all" else []
    return infer(node.op, attributes, types, results, values)


def _fits(shape: Shape, expected: list[int]) -> bool:
    if shape is None:
        return True
    return len(shape) == len(expected) and all(a in (-1, b) for a, b in zip(shape, expected, strict=True))
