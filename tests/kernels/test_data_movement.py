"""Shape rules and refusals of the operators that move elements, and what is known in prepare."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.kernels.concatenation import joined_axis
from numlite.kernels.gather import gathered
from numlite.kernels.pad import padded
from numlite.kernels.reshape import expanded, reshaped, squeezed
from numlite.kernels.slice import AxisRange, NoMasks, axis_ranges
from numlite.kernels.split import split_sizes
from numlite.kernels.transpose import permutation
from numlite.lite.errors import InvokeError, PrepareError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder


@pytest.mark.parametrize(
    ("shape", "wanted", "expected"),
    [
        ((2, 3, 4), [4, -1], (4, 6)),
        ((), [1, 1], (1, 1)),
        ((1,), [], ()),
        ((0, 3), [-1, 5], (0, 5)),
        ((0, 3), [0, -1], (0, 3)),
        ((2, 0), [0], (0,)),
    ],
)
def test_reshaped(shape: tuple[int, ...], wanted: list[int], expected: tuple[int, ...]) -> None:
    assert reshaped(shape, wanted) == expected


@pytest.mark.parametrize("wanted", [[5], [-1, -1], [-2, 3], [7, -1], [2**31, 2**31, 2**31]])
def test_reshaped_refuses(wanted: list[int]) -> None:
    with pytest.raises(PrepareError, match="RESHAPE"):
        reshaped((2, 3), wanted)


def test_squeezed_and_expanded() -> None:
    assert squeezed((1, 3, 1), []) == (3,)
    assert squeezed((1, 3, 1), [-1]) == (1, 3)
    assert expanded((2, 3), -1) == (2, 3, 1)
    with pytest.raises(PrepareError, match="must have size 1"):
        squeezed((1, 3), [1])
    with pytest.raises(PrepareError, match=r"must be in \[-3, 3\)"):
        expanded((2, 3), 3)


def test_permutation_refuses_repeated_axes() -> None:
    assert permutation([-1, 0, 1], 3) == (2, 0, 1)
    with pytest.raises(PrepareError, match="once"):
        permutation([0, 0, 1], 3)


def test_axis_ranges_of_negative_strides() -> None:
    (found,) = axis_ranges((9,), [7], [1], [-3], NoMasks())
    assert found == AxisRange(0, 7, -3, 2, False)


def test_axis_ranges_refuses() -> None:
    with pytest.raises(PrepareError, match="strides must not be 0"):
        axis_ranges((9,), [0], [1], [0], NoMasks())
    with pytest.raises(PrepareError, match="at most 1 axes"):
        axis_ranges((9,), [0, 0], [1, 1], [1, 1], NoMasks())


def test_split_sizes() -> None:
    assert split_sizes([2, -1, 3], 9) == [2, 4, 3]
    for wanted in ([2, 3], [-1, -1], [12, -1], [-2, 11]):
        with pytest.raises(PrepareError, match="sum to 9"):
            split_sizes(wanted, 9)


def test_joined_axis() -> None:
    assert joined_axis([(2, 3), (2, 5)], -1).shape == (2, 8)
    for shapes in ([(), ()], [(2, 3), (3, 5)], [(2, 3), (2, 3, 1)], [(2**31 - 1, 1), (1, 1)]):
        with pytest.raises(PrepareError, match="CONCATENATION"):
            joined_axis(shapes, 0)


def test_padded_refuses_sizes_past_32_bits() -> None:
    with pytest.raises(PrepareError, match="output sizes"):
        padded("PAD", (3,), [(2**31 - 1, 0)])


def test_gathered() -> None:
    assert gathered((2, 3, 4), (5, 6), 1, 0) == ((2, 5, 6, 4), 1, 0)
    assert gathered((2, 3, 4), (2, 6), -2, 1) == ((2, 6, 4), 1, 1)
    for positions, axis, batch_dims in (((5,), 3, 0), ((3, 5), 1, 1), ((2,), 1, 2)):
        with pytest.raises(PrepareError, match="GATHER"):
            gathered((2, 3, 4), positions, axis, batch_dims)


def run(model: bytes, *inputs: np.ndarray) -> np.ndarray:
    interpreter = Interpreter(model_content=model)
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.mark.parametrize("position", [-1, 3, 2**31 - 1])
def test_gather_refuses_positions_that_come_while_running(position: int) -> None:
    model = ModelBuilder()
    x, positions = model.tensor((3, 2)), model.tensor((2,), np.int32)
    y = model.tensor((2, 2))
    model.op(BuiltinOperator.GATHER, [x, positions], [y], tflite.GatherOptionsT())
    with pytest.raises(InvokeError, match=r"GATHER: positions must be in \[0, 3\)"):
        run(model.build([x, positions], [y]), np.ones((3, 2), np.float32), np.array([0, position], np.int32))


def shape_from_a_shape() -> bytes:
    """x [B, ...] -> x [B, -1], B read with SHAPE, STRIDED_SLICE and PACK."""
    model = ModelBuilder()
    x, y = model.tensor((2, 3, 4)), model.tensor((2, 12))
    sizes, first, wanted = (
        model.tensor((3,), np.int32),
        model.tensor((), np.int32),
        model.tensor((2,), np.int32),
    )
    model.op(BuiltinOperator.SHAPE, [x], [sizes], tflite.ShapeOptionsT(out_type=tflite.TensorType.INT32))
    model.op(
        BuiltinOperator.STRIDED_SLICE,
        [sizes, model.constant([0]), model.constant([1]), model.constant([1])],
        [first],
        tflite.StridedSliceOptionsT(shrink_axis_mask=1),
    )
    rest = model.constant(np.array(-1, np.int32))
    model.op(BuiltinOperator.PACK, [first, rest], [wanted], tflite.PackOptionsT(values_count=2))
    model.op(BuiltinOperator.RESHAPE, [x, wanted], [y])
    return model.build([x], [y])


@pytest.mark.parametrize("shape", [(2, 3, 4), (5, 2, 2), (1, 1, 1)])
def test_shapes_made_from_shapes_are_known_in_prepare(shape: tuple[int, ...]) -> None:
    model = shape_from_a_shape()
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    np.testing.assert_array_equal(run(model, x), x.reshape(shape[0], -1))
    interpreter = Interpreter(model_content=model)
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], shape)
    interpreter.allocate_tensors()
    assert tuple(interpreter.get_output_details()[0]["shape"]) == (shape[0], x.size // shape[0])


def _strings(code: BuiltinOperator, others: Sequence[np.ndarray], options: object = None) -> np.ndarray:
    model = ModelBuilder()
    x, y = model.tensor((2, 3), tflite.TensorType.STRING), model.tensor((), tflite.TensorType.STRING)
    model.op(code, [x, *map(model.constant, others)], [y], options)
    words = np.array([[b"a", b"", b"ccc"], [b"dd", b"e", b"ff"]], object)
    return run(model.build([x], [y]), words)


def test_strings_are_moved() -> None:
    sliced = _strings(BuiltinOperator.SLICE, [np.array([0, 1], np.int32), np.array([2, 2], np.int32)])
    assert sliced.tolist() == [[b"", b"ccc"], [b"e", b"ff"]]
    turned = _strings(BuiltinOperator.TRANSPOSE, [np.array([1, 0], np.int32)])
    assert turned.tolist() == [[b"a", b"dd"], [b"", b"e"], [b"ccc", b"ff"]]
    rows = _strings(BuiltinOperator.GATHER, [np.array([1, 1, 0], np.int32)], tflite.GatherOptionsT(axis=0))
    assert rows.tolist() == [[b"dd", b"e", b"ff"], [b"dd", b"e", b"ff"], [b"a", b"", b"ccc"]]
    paired = _strings(
        BuiltinOperator.GATHER,
        [np.array([[2, 0], [1, 1]], np.int32)],
        tflite.GatherOptionsT(axis=1, batch_dims=1),
    )
    assert paired.tolist() == [[b"ccc", b"a"], [b"e", b"e"]]
    flat = _strings(BuiltinOperator.RESHAPE, [np.array([-1], np.int32)])
    assert flat.tolist() == [b"a", b"", b"ccc", b"dd", b"e", b"ff"]


def test_strings_are_joined() -> None:
    model = ModelBuilder()
    x, z, y = (model.tensor(shape, tflite.TensorType.STRING) for shape in ((1, 2), (1, 1), ()))
    model.op(BuiltinOperator.CONCATENATION, [x, z, x], [y], tflite.ConcatenationOptionsT(axis=1))
    words = np.array([[b"a", b"bb"]], object), np.array([[b""]], object)
    assert run(model.build([x, z], [y]), *words).tolist() == [[b"a", b"bb", b"", b"a", b"bb"]]
