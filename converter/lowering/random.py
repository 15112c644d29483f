"""RandomUniform, RandomStandardNormal, Multinomial: numbers that differ from run to run."""

from __future__ import annotations

from ...lite.errors import ModelError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, RandomOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule, check_type

_SEEDS = 1 << 63


def _options(node: Node) -> RandomOptionsT:
    """The op's seeds; 0 and 0 are others in each run."""
    seeds = node.integer("seed"), node.integer("seed2")
    if any(not -_SEEDS <= seed < _SEEDS for seed in seeds):
        raise ModelError(f"seeds must fit int64, got {seeds}")
    return RandomOptionsT(seed=seeds[0], seed2=seeds[1])


def _filled(code: BuiltinOperator) -> Rule:
    """The operator that fills a shape with float32 numbers."""

    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        sizes = as_int32(lowering, node, lowering.input(node, 0))
        made = lowering.operator(
            node, code, [sizes], lowering.result_shape(node), _options(node), type=lowering.result_type(node)
        )
        check_type(made, TensorType.FLOAT32)
        return made

    return rule


def multinomial(lowering: Lowering, node: Node) -> LiteTensor:
    """MULTINOMIAL: places of logits [rows, classes], as many for each row as is asked for."""
    logits, count = lowering.inputs(node)
    check_type(logits, TensorType.FLOAT32)
    shape, type = lowering.result_shape(node), lowering.result_type(node)
    return lowering.operator(
        node, BuiltinOperator.MULTINOMIAL, [logits, count], shape, _options(node), type=type
    )


REGISTRATIONS: dict[str, Rule] = {
    "Multinomial": multinomial,
    "RandomStandardNormal": _filled(BuiltinOperator.RANDOM_STANDARD_NORMAL),
    "RandomUniform": _filled(BuiltinOperator.RANDOM_UNIFORM),
}
