"""What functions say they implement, by name, and what becomes of calls of these."""

from __future__ import annotations

from ....lite.errors import UnsupportedError
from ....schema.tflite import BuiltinOperator, StableHLOCompositeOptionsT
from ...declared import COMPOSITE_VERSION, FUSABLE, composite_name, declared, given_attributes
from ...ir.attributes import FuncAttr
from ...ir.module import Function
from ...ir.node import Node
from ...lite_graph import LiteGraph, LiteTensor
from ..body import lower_function
from ..flex import flexbuffer_map
from ..lowering import Lowering
from .call import Composite, CompositeCall
from .custom import CUSTOM_OPS_NEEDED, CustomComposite
from .embedding import EMBEDDING
from .image import DENSE_IMAGE_WARP, DETECTION, MAX_UNPOOLING
from .lstm import LSTM
from .non_max_suppression import NON_MAX_SUPPRESSION
from .text import NGRAMS, PROJECTION, WHITESPACE_TOKENIZER

COMPOSITES: dict[str, Composite | CustomComposite] = {
    "addons:DenseImageWarp": DENSE_IMAGE_WARP,
    "addons:MaxUnpooling2D": MAX_UNPOOLING,
    "embedding_matmul": EMBEDDING,
    "lstm": LSTM,
    "non_max_suppression_padded_v2": NON_MAX_SUPPRESSION,
    "TFLite_Detection_PostProcess": DETECTION,
    "tftext:Ngrams": NGRAMS,
    "tftext:WhitespaceTokenizer": WHITESPACE_TOKENIZER,
    "tftext:custom:SgnnProjection": PROJECTION,
}


def composite_results(lowering: Lowering, node: Node, function: Function) -> list[LiteTensor] | None:
    """The results of a call by the operators of what its function says it implements; None without such.

    Of the names of the table only what the body was seen to compute; a function that is to be one custom
    operator (tfl_fusable_op) is one wherever these are allowed.
    """
    name = composite_name(function)
    if name in COMPOSITES:
        return COMPOSITES[name].lowered(CompositeCall(lowering, node, function))
    held = declared(function)
    if isinstance(held, FuncAttr) and COMPOSITE_VERSION in held.attributes:
        return _composite(lowering, node, function, held)
    if name and lowering.program.settings.custom_ops:
        return _custom(lowering, node, function, name)
    if name and CompositeCall(lowering, node, function).is_placeholder:
        raise UnsupportedError(f"the function's body only stands for {name!r}, which {CUSTOM_OPS_NEEDED}")
    return None


def _composite(lowering: Lowering, node: Node, function: Function, held: FuncAttr) -> list[LiteTensor]:
    """STABLEHLO_COMPOSITE, whose subgraph is the function's body."""
    graph = LiteGraph(lowering.name(node, "_decomposition"))
    inputs = lowering.inputs(node)
    graph.inputs = [LiteTensor(f"{graph.name}_arg{i}", x.type, x.shape) for i, x in enumerate(inputs)]
    graph.outputs = lower_function(lowering.program, function, graph.inputs, graph, "")
    version = held.attributes[COMPOSITE_VERSION]
    options = StableHLOCompositeOptionsT(
        name=held.name,
        version=version if isinstance(version, int) else 0,
        composite_attributes=flexbuffer_map(given_attributes(held)),
    )
    results = lowering.results(node, [y.shape for y in graph.outputs], [y.type for y in graph.outputs])
    operator = lowering.add(node, BuiltinOperator.STABLEHLO_COMPOSITE, inputs, results, options)
    operator.callees, operator.option_fields = (graph,), ("decomposition_subgraph_index",)
    return results


def _custom(lowering: Lowering, node: Node, function: Function, name: str) -> list[LiteTensor]:
    """A custom operator of the name, whose options are a flexbuffer map of the name's attributes.

    Source: TensorFlow compiler/mlir/lite/transforms/prepare_composite_functions_tf.cc, tfl_fusable_op.
    """
    held = declared(function)
    assert isinstance(held, FuncAttr)
    types = [lowering.result_type(node, i) for i in range(len(node.results))]
    results = lowering.results(node, [getattr(t, "shape", None) for t in function.result_types], types)
    operator = lowering.add(node, BuiltinOperator.CUSTOM, lowering.inputs(node), results)
    told = {key: value for key, value in held.attributes.items() if key != FUSABLE}
    operator.custom_code, operator.custom_options = name, flexbuffer_map(told)
    return results
