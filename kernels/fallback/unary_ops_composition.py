"""_UnaryOpsComposition: elementwise ops one after another, as TensorFlow's remapper writes them."""

from __future__ import annotations

import numpy as np

from ...schema import graph_def
from ...schema.graph_def import NodeDef
from .kernel import KernelConstruction, KernelContext, OpKernel
from .node_runner import NodeRunner
from .registry import kernel_class
from .status import InvalidArgumentError

# Source: TensorFlow tensorflow/core/kernels/unary_ops_composition.cc.
OPS = frozenset(
    (
        *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Elu", "Exp"),
        *("Expm1", "Floor", "Inv", "Log", "Log1p", "Neg", "Reciprocal", "Relu", "Relu6", "Rint", "Round"),
        *("Rsqrt", "Selu", "Sigmoid", "Sin", "Sinh", "Sqrt", "Square", "Tan", "Tanh"),
    )
)


class UnaryOpsComposition(OpKernel):
    """y: x, put through the ops of op_names in their order."""

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        names = construction.get_attr("op_names", list[str])
        strangers = [name for name in names if name not in OPS]
        if strangers or not names:
            message = f"op_names must be elementwise ops, got {strangers[:3]}"
            construction.failure(InvalidArgumentError(f"_UnaryOpsComposition: {message}"))
        type = construction.attributes["T"]
        self._runners = [
            NodeRunner(NodeDef(op=name, name=construction.name, attr={"T": type})) for name in names
        ]

    def compute(self, context: KernelContext) -> None:
        value: np.ndarray = context.input(0)
        for runner in self._runners:
            (value,) = runner([value], context.environment)
        context.set_output(0, value)


_FLOATS = (graph_def.DT_HALF, graph_def.DT_FLOAT, graph_def.DT_DOUBLE)
REGISTRATIONS = (kernel_class("_UnaryOpsComposition", UnaryOpsComposition, T=_FLOATS),)
