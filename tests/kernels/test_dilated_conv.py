"""Convolutions over blocks of pixels: one by dilation, with the bytes of the operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType
from numlite.lite.errors import PrepareError
from numlite.schema import tflite
from numlite.schema.tflite import Padding

from ..row_chains import Chain

pytestmark = pytest.mark.filterwarnings("ignore:Warning. Enabling .experimental_preserve")
DEPTH, UNITS = 8, 20


class Blocks(Chain):
    """SPACE_TO_BATCH_ND, CONV_2D and BATCH_TO_SPACE_ND. Shapes in the file are nominal: they are resized."""

    def cut(self, x: int, block: Sequence[int], pads: int) -> int:
        return self.add("SPACE_TO_BATCH_ND", [x, self.constant(block), pads], [1] * (len(block) + 2))

    def conv(self, x: int, taps: tuple[int, int], stride: int = 1, dilation: int = 1) -> int:
        options = tflite.Conv2DOptionsT(
            padding=Padding.VALID,
            stride_h=stride,
            stride_w=1,
            dilation_h_factor=1,
            dilation_w_factor=dilation,
        )
        w = self.row(len(taps), [UNITS, *taps, DEPTH])
        return self.add("CONV_2D", [x, w, self.row(9, [UNITS])], [1, 1, 1, UNITS], options)

    def joined(self, x: int, block: Sequence[int], crops: int) -> int:
        return self.add("BATCH_TO_SPACE_ND", [x, self.constant(block), crops], [1] * (len(block) + 2))

    def margins(self, *sides: int) -> int:
        return self.constant(np.array(sides, np.int32).reshape(-1, 2))


def along_a_row(block: int, taps: int, pads: tuple[int, int], crops: tuple[int, int], axis: int = 1) -> bytes:
    """Of images [N, W, C]; the convolution's are [N, 1, W, C], or [N, W, 1, C] with axis 2."""
    b = Blocks()
    x = b.tensor([1, 24, DEPTH], shape_signature=[-1, -1, DEPTH])
    cut = b.cut(x, [block], b.margins(*pads))
    wide = b.add("EXPAND_DIMS", [cut, b.constant(np.array(axis, np.int32))], [1, 1, 1, DEPTH])
    made = b.conv(wide, (1, taps) if axis == 1 else (taps, 1))
    flat = b.tensor([1, 1, UNITS])
    b.op(tflite.BuiltinOperator.SQUEEZE, [made], [flat], tflite.SqueezeOptionsT(squeeze_dims=[axis]))
    return b.build([x], [b.joined(flat, [block], b.margins(*crops))])


def of_images(
    block: tuple[int, int], taps: tuple[int, int], pads: Sequence[int], crops: Sequence[int]
) -> bytes:
    b = Blocks()
    x = b.tensor([1, 24, 24, DEPTH], shape_signature=[-1, -1, -1, DEPTH])
    made = b.conv(b.cut(x, block, b.margins(*pads)), taps)
    return b.build([x], [b.joined(made, block, b.margins(*crops))])


def of_any_length(block: int = 4, reads: str = "SHAPE") -> bytes:
    """Margins that fill the last block up, computed from the length, as TensorFlow's converter has them."""
    b = Blocks()
    x = b.tensor([1, 24, DEPTH], shape_signature=[1, -1, DEPTH])

    def integers(name: str, inputs: list[int], shape: list[int], options: object = None) -> int:
        y = b.tensor(shape, np.int32)
        b.op(getattr(tflite.BuiltinOperator, name), inputs, [y], options)
        return y

    if reads == "SHAPE":
        sizes = integers("SHAPE", [x], [3], tflite.ShapeOptionsT(out_type=tflite.TensorType.INT32))
        size = integers(
            "STRIDED_SLICE",
            [sizes, *(b.constant([n]) for n in (1, 2, 1))],
            [],
            tflite.StridedSliceOptionsT(shrink_axis_mask=1),
        )
    else:  # the values of the input decide, which nobody knows before the run
        first = b.add("SUM", [x, b.constant([0, 1, 2])], [], tflite.ReducerOptionsT())
        size = integers("CAST", [first], [])
    steps = b.constant(np.array(block, np.int32))
    rest = integers("SUB", [steps, integers("FLOOR_MOD", [size, steps], [])], [], tflite.SubOptionsT())
    right = integers("FLOOR_MOD", [rest, steps], [])
    pair = integers(
        "PACK", [b.constant(np.array(0, np.int32)), right], [2], tflite.PackOptionsT(values_count=2)
    )
    margins = integers("RESHAPE", [pair, b.constant([1, 2])], [1, 2])
    wide = b.add("EXPAND_DIMS", [b.cut(x, [block], margins), b.constant([-3])], [1, 1, 1, DEPTH])
    flat = b.add("RESHAPE", [b.conv(wide, (1, 3)), b.constant([block, -1, UNITS])], [1, 1, UNITS])
    return b.build([x], [b.joined(flat, [block], margins)])


def ready(content: bytes, shape: Sequence[int], **settings: object) -> Interpreter:
    interpreter = Interpreter(model_content=content, **settings)
    resize(interpreter, shape)
    return interpreter


def resize(interpreter: Interpreter, shape: Sequence[int]) -> None:
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], shape)
    interpreter.allocate_tensors()


def result(interpreter: Interpreter) -> tuple[list[int], bytes]:
    """Of normal numbers, with an infinity and a negative zero."""
    detail = interpreter.get_input_details()[0]
    x = np.random.default_rng(7).normal(size=detail["shape"]).astype(np.float32)
    if x.size > 1:
        x.flat[0], x.flat[-1] = np.inf, -0.0
    interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return list(y.shape), y.tobytes()


def kernels(interpreter: Interpreter) -> list[str]:
    return [call.kernel for node in interpreter.core.subgraph().schedule for call in node.calls or ()]


def is_whole(interpreter: Interpreter) -> bool:
    assert len(interpreter.core.subgraph().schedule) < 3, "the pattern was not met"
    return kernels(interpreter) == ["indirect_f32"]


ROWS = {
    "pads": (along_a_row(2, 3, (4, 0), (0, 0)), (1, 24, DEPTH), True),
    "crops": (along_a_row(4, 3, (8, 3), (1, 2)), (3, 17, DEPTH), True),
    "along the other axis": (along_a_row(3, 2, (3, 0), (0, 1), axis=2), (2, 12, DEPTH), True),
    "no padding": (along_a_row(2, 3, (0, 0), (0, 0)), (1, 24, DEPTH), True),
    "more crops than pads": (along_a_row(2, 3, (0, 0), (3, 0)), (1, 24, DEPTH), False),
    "blocks of one": (along_a_row(1, 3, (2, 0), (0, 0)), (1, 24, DEPTH), False),
    "one tap": (along_a_row(2, 1, (0, 0), (0, 0)), (1, 24, DEPTH), False),
    "one output a block": (along_a_row(2, 3, (0, 0), (0, 0)), (1, 6, DEPTH), False),
    "no image": (along_a_row(2, 3, (4, 0), (0, 0)), (0, 24, DEPTH), False),
}
IMAGES = {
    "two axes": (of_images((2, 3), (2, 3), (2, 2, 3, 3), (0, 1, 1, 0)), (2, 12, 15, DEPTH), True),
    "one axis": (of_images((2, 1), (3, 1), (4, 0, 0, 0), (0, 0, 0, 2)), (2, 12, 15, DEPTH), True),
    "taps side by side": (of_images((2, 1), (2, 3), (2, 2, 0, 0), (0, 0, 0, 0)), (1, 12, 15, DEPTH), False),
    "one row": (of_images((1, 2), (1, 3), (0, 0, 4, 0), (0, 0, 0, 0)), (1, 1, 30, DEPTH), True),
}
CASES = {**ROWS, **IMAGES}


@pytest.mark.parametrize("resolver", [OpResolverType.AUTO, OpResolverType.BUILTIN_REF], ids=["auto", "ref"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_the_bytes_of_its_operators(name: str, threads: int, resolver: OpResolverType) -> None:
    content, shape, whole = CASES[name]
    settings = {"experimental_op_resolver_type": resolver, "num_threads": threads}
    apart = ready(content, shape, experimental_preserve_all_tensors=True, **settings)
    fused = ready(content, shape, **settings)
    assert is_whole(fused) == whole
    assert len(apart.core.subgraph().schedule) > 2
    assert result(fused) == result(apart)


def test_winograds_sums_stay() -> None:
    b = Blocks()
    x = b.tensor([1, 16, 16, 16])
    w = b.row(1, [16, 3, 3, 16])
    cut = b.cut(x, (2, 2), b.margins(4, 4, 4, 4))
    options = tflite.Conv2DOptionsT(padding=Padding.VALID, stride_h=1, stride_w=1)
    made = b.add("CONV_2D", [cut, w, b.row(2, [16])], [1, 1, 1, 16], options)
    content = b.build([x], [b.joined(made, (2, 2), b.margins(0, 0, 0, 0))])
    fused = ready(content, (1, 16, 16, 16))
    assert "winograd_f32" in kernels(fused)
    assert result(fused) == result(ready(content, (1, 16, 16, 16), experimental_preserve_all_tensors=True))


@pytest.mark.parametrize("length", [24, 6])
def test_a_bias_may_be_missing(length: int) -> None:
    b = Blocks()
    x = b.tensor([1, 1, 24, DEPTH], shape_signature=[1, 1, -1, DEPTH])
    options = tflite.Conv2DOptionsT(padding=Padding.VALID, stride_h=1, stride_w=1)
    cut = b.cut(x, (1, 2), b.margins(0, 0, 0, 0))
    made = b.add("CONV_2D", [cut, b.row(1, [UNITS, 1, 3, DEPTH]), -1], [1, 1, 1, UNITS], options)
    content = b.build([x], [b.joined(made, (1, 2), b.margins(0, 0, 0, 0))])
    fused = ready(content, (1, 1, length, DEPTH))
    assert is_whole(fused) == (length == 24)
    apart = ready(content, (1, 1, length, DEPTH), experimental_preserve_all_tensors=True)
    assert result(fused) == result(apart)


def test_lengths_that_change() -> None:
    content = of_any_length()
    fused = ready(content, (1, 24, DEPTH))
    apart = ready(content, (1, 24, DEPTH), experimental_preserve_all_tensors=True)
    for length in (24, 25, 31, 12, 24, 27):
        for interpreter in (fused, apart):
            resize(interpreter, (1, length, DEPTH))
        assert kernels(fused).count("indirect_f32") == (0 if length == 12 else 1)
        assert ("space_to_batch" in kernels(fused)) == (length == 12)  # one output a block
        assert result(fused) == result(apart)


def test_margins_that_only_a_run_tells() -> None:
    fused = ready(of_any_length(reads="values"), (1, 24, DEPTH))
    x = np.zeros((1, 24, DEPTH), np.float32)
    x[0, 0, 0] = 8
    fused.set_tensor(fused.get_input_details()[0]["index"], x)
    fused.invoke()
    y = fused.get_tensor(fused.get_output_details()[0]["index"])
    assert y.shape == (1, 16, UNITS)


@pytest.mark.parametrize("change", ["stride", "dilation", "block", "reader"])
def test_what_is_no_dilation_runs_apart(change: str) -> None:
    b = Blocks()
    x = b.tensor([1, 12, 12, DEPTH])
    cut = b.cut(x, (2, 2), b.margins(0, 0, 0, 0))
    made = b.conv(cut, (2, 2), 2 if change == "stride" else 1, 2 if change == "dilation" else 1)
    y = b.joined(made, (4, 1) if change == "block" else (2, 2), b.margins(0, 0, 0, 0))
    content = b.build([x], [y, made] if change == "reader" else [y])
    plain = ready(content, (1, 12, 12, DEPTH))
    assert len(plain.core.subgraph().schedule) == 3
    result(plain)


def test_an_error_names_the_operator_at_fault() -> None:
    content = along_a_row(2, 3, (4, 0), (0, 0))
    told = []
    for settings in ({}, {"experimental_preserve_all_tensors": True}):
        interpreter = ready(content, (1, 24, DEPTH), **settings)
        with pytest.raises(PrepareError) as error:
            resize(interpreter, (1, 23, DEPTH))
        told.append(str(error.value))
    assert told[0] == told[1] and told[0].startswith("node 0 (SPACE_TO_BATCH_ND)")
