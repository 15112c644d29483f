"""Equal graphs of signatures, kept once."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from ..lite_graph import LiteGraph, LiteModel, LiteOperator, LiteSignature, LiteTensor
from .equal_operators import table_key


def share_graphs(model: LiteModel) -> int:
    """Let signatures use one of equal graphs; returns how many graphs are used no more.

    Given:  signature "serve" of graph A, signature "serving_default" of graph B, equal to A
    Result: both signatures of graph A

    Graphs are equal when they have equal operators in the same order; names do not count. What operators
    call stays theirs: LiteRT fails where a loop and one inside of it have a subgraph in common.
    """
    if len({id(signature.graph) for signature in model.signatures}) < 2:
        return 0
    kept: dict[object, LiteGraph] = {}
    shared = [kept.setdefault(_key(signature.graph), signature.graph) for signature in model.signatures]
    before = len(model.graphs())
    model.signatures = [
        LiteSignature(s.key, graph, s.input_names, s.output_names)
        for s, graph in zip(model.signatures, shared, strict=True)
    ]
    return before - len(model.graphs())


def _key(graph: LiteGraph) -> object:
    """What equal graphs have in common."""
    places = {id(tensor): place for place, tensor in enumerate(graph.tensors())}
    return (
        tuple(_tensor_key(tensor) for tensor in graph.tensors()),
        tuple(_operator_key(operator, places) for operator in graph),
        tuple(places[id(tensor)] for tensor in graph.inputs),
        tuple(places[id(tensor)] for tensor in graph.outputs),
    )


def _operator_key(operator: LiteOperator, places: dict[int, int]) -> object:
    inputs = tuple(-1 if tensor is None else places[id(tensor)] for tensor in operator.operands)
    outputs = tuple(places[id(tensor)] for tensor in operator.results)
    callees = tuple(_key(callee) for callee in operator.callees)
    what = (operator.code, operator.custom_code, operator.custom_options, table_key(operator.options))
    return what, inputs, outputs, callees


def _tensor_key(tensor: LiteTensor) -> object:
    return (
        *(tensor.type, tensor.shape, tensor.is_variable, table_key(tensor.quantization)),
        None if tensor.data is None else _digest(tensor.data),
    )


def _digest(data: np.ndarray) -> bytes | tuple[object, ...]:
    if data.dtype.kind == "O":
        return tuple(data.reshape(-1))
    return blake2b(np.ascontiguousarray(data).reshape(-1).view(np.uint8).data).digest() if data.size else b""
