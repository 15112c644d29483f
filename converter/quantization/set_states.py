"""Variables that an operator sets in each run, where they become integers."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import UnpackOptionsT
from .float_graph import FloatGraph, Site, Step
from .parameters import Parameters

_UNPACK = "UNPACK"


def sets_integers(graph: FloatGraph, step: Step) -> bool:
    """Whether all that the operator gave are variables that have become integers."""
    sites = [Site(step.graph, t) for t in step.outputs if t >= 0]
    return bool(sites) and all(graph.tensor(site).is_variable and not graph.is_float(site) for site in sites)


def may_be_integers(graph: FloatGraph, variable: Site) -> bool:
    """Whether nothing sets the variable, or an UNPACK of a constant does."""
    setter = graph.producers.get(variable)
    return setter is None or (
        setter.name == _UNPACK and graph.is_constant(Site(setter.graph, setter.inputs[0]))
    )


def set_integers(graph: FloatGraph, variable: Site, parameters: Parameters) -> None:
    """Let an UNPACK of its own set the variable to integers, where one of floats would set it.

    Given:  a, b = UNPACK(floats)             a becomes int8
    Result: b = UNPACK(floats); a = UNPACK(integers)
    """
    setter = graph.producers.get(variable)
    if setter is None:
        return
    editor, subgraph, unpack = graph.editor, graph.subgraphs[variable.graph], setter.operator
    operators = subgraph.operators
    assert operators is not None and unpack.outputs is not None
    left = [int(t) for t in unpack.outputs]
    # The operator may have been cut already.
    values = graph.constant(Site(variable.graph, setter.inputs[0]))
    first = values[setter.outputs.index(variable.tensor)][np.newaxis]
    left.remove(variable.tensor)
    place = next(i for i, operator in enumerate(operators) if operator is unpack)
    integers = parameters.integers.type
    stored = parameters.quantized(first).astype(np.int8 if integers == TensorType.INT8 else np.int16)
    name = f"{graph.name(variable)}/begin"
    own = editor.add_constant(subgraph, name, integers, stored, parameters.table())
    editor.insert(subgraph, place + 1, _UNPACK, [own], [variable.tensor], UnpackOptionsT(num=1))
    if not left:
        operators.remove(unpack)
        return
    kept = np.stack([values[setter.outputs.index(t)] for t in left])
    unpack.inputs = [editor.add_constant(subgraph, f"{name}/others", TensorType.FLOAT32, kept)]
    unpack.outputs, unpack.builtin_options = left, UnpackOptionsT(num=len(left))
