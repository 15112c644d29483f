"""The process that has TensorFlow: traces programs, runs graphs and converts them.

Started by `tensorflow_process.py` with the Python that was named; it imports nothing of numlite.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "TF_ENABLE_ONEDNN_OPTS": "0"}

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
from tensorflow.python.ops import control_flow_util

from tests.pickle_pipe import serve
from tests.random_ops.draw import Draw
from tests.random_tf import layers, loops, shapes, texts
from tests.random_tf.program import Input, Program

V1 = tf.compat.v1
FAMILIES = {**shapes.FAMILIES, **loops.FAMILIES, **layers.FAMILIES, **texts.FAMILIES}


def trace(number: int, family: str) -> tuple[bytes, list[Input], list[str], list[str]]:
    """The graph, its inputs (those that it uses) with their names, and the names of its outputs."""
    program = FAMILIES[family](Draw(number, sum(map(ord, family))))
    graph, names, outputs = _traced_v1(program) if program.old else _traced(program)
    places = [int(name.split(":")[0][2:]) for name in names]
    return graph, [program.inputs[place] for place in places], names, outputs


def _specs(program: Program) -> list[tf.TensorSpec]:
    shapes = [[None if isinstance(size, str) else size for size in x.shape] for x in program.inputs]
    return [
        tf.TensorSpec(shape, x.type, name=f"in{i}")
        for i, (shape, x) in enumerate(zip(shapes, program.inputs, strict=True))
    ]


def _traced(program: Program) -> tuple[bytes, list[str], list[str]]:
    concrete = tf.function(program.function, autograph=False).get_concrete_function(*_specs(program))
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=False)
    inputs = [tensor.name for tensor in frozen.inputs if tensor.dtype != tf.resource]
    return frozen.graph.as_graph_def().SerializeToString(), inputs, [t.name for t in frozen.outputs]


def _traced_v1(program: Program) -> tuple[bytes, list[str], list[str]]:
    was = control_flow_util.ENABLE_CONTROL_FLOW_V2
    V1.disable_control_flow_v2()
    try:
        graph = tf.Graph()
        with graph.as_default():
            inputs = [V1.placeholder(s.dtype, s.shape, name=s.name) for s in _specs(program)]
            results = tf.nest.flatten(program.function(*inputs))
            outputs = [tf.identity(y, name=f"out{i}") for i, y in enumerate(results)]
        return graph.as_graph_def().SerializeToString(), [x.name for x in inputs], [y.name for y in outputs]
    finally:
        control_flow_util.ENABLE_CONTROL_FLOW_V2 = was


def _imported(content: bytes) -> tf.Graph:
    graph = tf.Graph()
    with graph.as_default():
        tf.graph_util.import_graph_def(V1.GraphDef.FromString(content), name="")
    return graph


def run(content: bytes, feeds: dict[str, np.ndarray], fetches: Sequence[str]) -> list[np.ndarray]:
    """The outputs, with TensorFlow's optimizers off; quantized types as plain integers."""
    config = config_pb2.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with V1.Session(graph=_imported(content), config=config) as session:
        found = [_array(y) for y in session.run(list(fetches), feeds)]
    return [y.view(f"{y.dtype.names[0][1:-1]}{8 * y.itemsize}") if y.dtype.names else y for y in found]


def _array(y: Any) -> np.ndarray:
    """One string as an object: NumPy's own type would lose zeros at its end."""
    return np.array(y, object) if isinstance(y, bytes) else np.asarray(y)


def convert(content: bytes, inputs: Sequence[str], outputs: Sequence[str], flex: bool) -> bytes:
    """TensorFlow's own model."""
    graph = _imported(content)
    with V1.Session(graph=graph) as session:
        ends = [[graph.get_tensor_by_name(name) for name in names] for names in (inputs, outputs)]
        converter = V1.lite.TFLiteConverter.from_session(session, *ends)
        if flex:
            sets = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]
            converter.target_spec.supported_ops = sets
        model: bytes = converter.convert()
        return model


def answer(what: str, *arguments: Any) -> tuple[Any, str]:
    """What was asked for, and "", or None and the error."""
    try:
        return {"trace": trace, "run": run, "convert": convert}[what](*arguments), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    serve(answer)
