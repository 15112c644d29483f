"""The models that LiteRT's Python tests ask for and its sources hold as graphs only, made by TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write_models(testdata: Path) -> None:
    """Put what `testdata/BUILD` makes of the .pbtxt files, and two_signatures.tflite, into the folder."""
    frozen(testdata, "permute", "permute_float", ["input"])
    frozen(testdata, "permute", "permute_uint8", ["input"], quantized=True)
    frozen(testdata, "gather", "gather_string", ["input", "indices"])
    frozen(testdata, "gather_0d", "gather_string_0d", ["input", "indices"])
    (testdata / "two_signatures.tflite").write_bytes(two_signatures())


def frozen(testdata: Path, graph: str, name: str, inputs: list[str], quantized: bool = False) -> None:
    """A graph of the folder as a model beside it; quantized: uint8 of scale 1, ranges 0 to 255."""
    import tensorflow as tf

    path = str(testdata / f"{graph}.pbtxt")
    converter = tf.compat.v1.lite.TFLiteConverter.from_frozen_graph(path, inputs, ["output"])
    if quantized:
        converter.inference_type = tf.uint8
        converter.quantized_input_stats = {"input": (0, 1)}
        converter.default_ranges_stats = (0, 255)
    (testdata / f"{name}.tflite").write_bytes(converter.convert())


def two_signatures() -> bytes:
    """Signatures `add` (x + 2) and `multiply` (x * 3), each a subgraph of three tensors."""
    import tensorflow as tf

    class TwoSignatures(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([1], tf.float32)])
        def add(self, x: Any) -> Any:
            return {"result": x + 2.0}

        @tf.function(input_signature=[tf.TensorSpec([1], tf.float32)])
        def multiply(self, x: Any) -> Any:
            return {"result": x * 3.0}

    model = TwoSignatures()
    functions = [model.add.get_concrete_function(), model.multiply.get_concrete_function()]
    content: bytes = tf.lite.TFLiteConverter.from_concrete_functions(functions, model).convert()
    return content
