"""OpenVINO's own reader of .tflite files as a peer: a model compiled for one thread in float32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

_ONE_THREAD = {
    "INFERENCE_NUM_THREADS": 1,
    "NUM_STREAMS": 1,
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_PRECISION_HINT": "f32",  # elsewhere it would take bfloat16 where the processor has it
}


def openvino_call(model: str, inputs: Sequence[np.ndarray]) -> Callable[[], object]:
    """What runs the model once; inputs in the model's order.

    ImportError without the package, RuntimeError where it cannot read the model.
    """
    openvino: Any = import_module("openvino")
    compiled = openvino.Core().compile_model(model, "CPU", _ONE_THREAD)
    request = compiled.create_infer_request()
    for i, x in enumerate(inputs):
        request.set_input_tensor(i, openvino.Tensor(x))
    call: Callable[[], object] = request.infer
    return call


def openvino_version() -> str:
    version: str = import_module("openvino").__version__
    return version
