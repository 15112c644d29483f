"""Ops that one builtin operator computes, whose options are read from the node's attributes."""

from __future__ import annotations

from collections.abc import Callable

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema import tflite
from ...schema.objects import TableT
from ...schema.tflite import BuiltinOperator, MirrorPadMode
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule

_PARTS = {TensorType.COMPLEX64: TensorType.FLOAT32, TensorType.COMPLEX128: TensorType.FLOAT64}


def _rule(
    code: BuiltinOperator,
    options: Callable[[Node], TableT] | None = None,
    *,
    keeps_shape: bool = False,
    integers: int | None = None,
    type: TensorType | Callable[[LiteTensor], TensorType] | None = None,
) -> Rule:
    """The operator of the node's inputs.

    keeps_shape: the result has the first input's shape, as it is known. Inputs from the place `integers` on
    are made int32. type is the result's, where that is not the first input's.
    """

    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        inputs = lowering.inputs(node)
        if integers is not None:
            inputs[integers:] = [as_int32(lowering, node, each) for each in inputs[integers:]]
        shape = inputs[0].shape if keeps_shape else lowering.result_shape(node)
        given = type(inputs[0]) if callable(type) and not isinstance(type, TensorType) else type
        table = None if options is None else options(node)
        return lowering.operator(node, code, inputs, shape, table, type=given)

    return rule


def _index(code: BuiltinOperator, table: Callable[..., TableT]) -> Rule:
    """The place of an extremum, of the node's own type."""

    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        type = lowering.result_type(node)
        if type not in (TensorType.INT32, TensorType.INT64):
            raise UnsupportedError(f"{code.name} gives int32 or int64, not {type.name.lower()}")
        shape, options = lowering.result_shape(node), table(output_type=type)
        return lowering.operator(node, code, lowering.inputs(node), shape, options, type=type)

    return rule


def _blocks(code: BuiltinOperator) -> Rule:
    """Blocks of images as batches, and back."""
    rule = _rule(code, integers=1)

    def checked(lowering: Lowering, node: Node) -> LiteTensor:
        x = lowering.input(node, 0)
        if x.shape is not None and not 3 <= len(x.shape) <= 4:
            raise UnsupportedError(f"{code.name} takes 3 or 4 dimensions, got {len(x.shape)}")
        made = rule(lowering, node)
        assert isinstance(made, LiteTensor)
        return made

    return checked


def _squares(code: BuiltinOperator) -> Rule:
    """Square blocks of images, whose side is an attribute, as batches, and back."""

    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        x, edges = lowering.inputs(node)
        sides = lowering.integers(lowering.name(node, "/sides"), [node.integer("block_size")] * 2)
        inputs = [x, sides, as_int32(lowering, node, edges)]
        return lowering.operator(node, code, inputs, lowering.result_shape(node))

    return rule


def _range(lowering: Lowering, node: Node) -> LiteTensor:
    """RANGE from start to before limit in steps."""
    inputs, shape = lowering.inputs(node), lowering.result_shape(node) or (-1,)
    return lowering.operator(node, BuiltinOperator.RANGE, inputs, shape, tflite.RangeOptionsT())


def _mirror(node: Node) -> TableT:
    mode = node.text("mode")
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise UnsupportedError(f"mode {mode} is not built")
    return tflite.MirrorPadOptionsT(mode=MirrorPadMode[mode])


def _block_size(node: Node) -> int:
    if node.text("data_format") != "NHWC":
        raise UnsupportedError(f"data_format {node.text('data_format')} is not built, NHWC is")
    return node.integer("block_size")


def _corners(node: Node) -> dict[str, bool]:
    return {name: node.flag(name) for name in ("align_corners", "half_pixel_centers")}


def _response(node: Node) -> TableT:
    reals = {name: node.real(name) for name in ("bias", "alpha", "beta")}
    return tflite.LocalResponseNormalizationOptionsT(radius=node.integer("depth_radius"), **reals)


def part_type(x: LiteTensor) -> TensorType:
    return _PARTS.get(x.type, x.type)


def _segments(code: BuiltinOperator) -> Rule:
    return _rule(code, integers=1)


REGISTRATIONS: dict[str, Rule] = {
    "ArgMax": _index(BuiltinOperator.ARG_MAX, tflite.ArgMaxOptionsT),
    "ArgMin": _index(BuiltinOperator.ARG_MIN, tflite.ArgMinOptionsT),
    "BatchToSpace": _squares(BuiltinOperator.BATCH_TO_SPACE_ND),
    "BatchToSpaceND": _blocks(BuiltinOperator.BATCH_TO_SPACE_ND),
    "Bucketize": _rule(
        BuiltinOperator.BUCKETIZE,
        lambda node: tflite.BucketizeOptionsT(boundaries=node.reals("boundaries")),
        keeps_shape=True,
        type=TensorType.INT32,
    ),
    "ComplexAbs": _rule(BuiltinOperator.COMPLEX_ABS, keeps_shape=True, type=part_type),
    "Cumsum": _rule(
        BuiltinOperator.CUMSUM,
        lambda node: tflite.CumsumOptionsT(exclusive=node.flag("exclusive"), reverse=node.flag("reverse")),
        keeps_shape=True,
        integers=1,
    ),
    "DepthToSpace": _rule(
        BuiltinOperator.DEPTH_TO_SPACE, lambda node: tflite.DepthToSpaceOptionsT(block_size=_block_size(node))
    ),
    "Gather": _rule(BuiltinOperator.GATHER, lambda node: tflite.GatherOptionsT()),
    "GatherNd": _rule(BuiltinOperator.GATHER_ND, lambda node: tflite.GatherNdOptionsT()),
    "LRN": _rule(BuiltinOperator.LOCAL_RESPONSE_NORMALIZATION, _response, keeps_shape=True),
    "LogSoftmax": _rule(
        BuiltinOperator.LOG_SOFTMAX, lambda node: tflite.LogSoftmaxOptionsT(), keeps_shape=True
    ),
    "LogicalNot": _rule(
        BuiltinOperator.LOGICAL_NOT, lambda node: tflite.LogicalNotOptionsT(), keeps_shape=True
    ),
    "MirrorPad": _rule(BuiltinOperator.MIRROR_PAD, _mirror),
    "Range": _range,
    "ResizeBilinear": _rule(
        BuiltinOperator.RESIZE_BILINEAR, lambda node: tflite.ResizeBilinearOptionsT(**_corners(node))
    ),
    "ResizeNearestNeighbor": _rule(
        BuiltinOperator.RESIZE_NEAREST_NEIGHBOR,
        lambda node: tflite.ResizeNearestNeighborOptionsT(**_corners(node)),
    ),
    "SegmentSum": _segments(BuiltinOperator.SEGMENT_SUM),
    "Softmax": _rule(
        BuiltinOperator.SOFTMAX, lambda node: tflite.SoftmaxOptionsT(beta=1.0), keeps_shape=True
    ),
    "SpaceToBatch": _squares(BuiltinOperator.SPACE_TO_BATCH_ND),
    "SpaceToBatchND": _blocks(BuiltinOperator.SPACE_TO_BATCH_ND),
    "SpaceToDepth": _rule(
        BuiltinOperator.SPACE_TO_DEPTH, lambda node: tflite.SpaceToDepthOptionsT(block_size=_block_size(node))
    ),
    "UnsortedSegmentMax": _segments(BuiltinOperator.UNSORTED_SEGMENT_MAX),
    "UnsortedSegmentMin": _segments(BuiltinOperator.UNSORTED_SEGMENT_MIN),
    "UnsortedSegmentProd": _segments(BuiltinOperator.UNSORTED_SEGMENT_PROD),
    "UnsortedSegmentSum": _segments(BuiltinOperator.UNSORTED_SEGMENT_SUM),
}
