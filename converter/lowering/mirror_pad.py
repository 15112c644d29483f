"""MirrorPad."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from ...schema.tflite import BuiltinOperator, MirrorPadMode, MirrorPadOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def mirror_pad(lowering: Lowering, node: Node) -> LiteTensor:
    """MIRROR_PAD, reflecting or symmetric."""
    mode = node.text("mode")
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise UnsupportedError(f"mode {mode} is not built")
    options = MirrorPadOptionsT(mode=MirrorPadMode[mode])
    inputs, shape = lowering.inputs(node), lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.MIRROR_PAD, inputs, shape, options)


REGISTRATIONS: dict[str, Rule] = {"MirrorPad": mirror_pad}
