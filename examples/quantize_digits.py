"""TensorFlow's guide to quantization after training, with numlite and without TensorFlow.

    python -m numlite.examples.quantize_digits     or     python examples/quantize_digits.py

Converts the digits net (see train_digits.py) in every scheme of the guide, and shows bytes and accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numlite.converter import Converter, OpsSet, Optimize
from numlite.interpreter import Interpreter

HERE = Path(__file__).parent


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Images float32 [n, 8, 8, 1] and what they show."""
    table = np.loadtxt(HERE / "digits_test.csv", delimiter=",")
    return table[:, :64].reshape(-1, 8, 8, 1).astype(np.float32), table[:, 64]


def representative_dataset() -> Iterator[list[np.ndarray]]:
    for image in digits()[0][:100]:
        yield [image[np.newaxis]]


def converter(**settings: object) -> Converter:
    made = Converter.from_graph_def(HERE / "digits.pb")
    for name, value in settings.items():
        setattr(made.target_spec if name.startswith("supported") else made, name, value)
    return made


def accuracy(model: bytes) -> float:
    """The share of images that a model tells right, whatever integers it takes and gives."""
    interpreter = Interpreter(model_content=model)
    given, taken = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    images, labels = digits()
    if given["dtype"] != np.float32:
        scale, zero_point = given["quantization"]
        limits = np.iinfo(given["dtype"])
        images = np.clip(np.rint(images / scale) + zero_point, limits.min, limits.max).astype(given["dtype"])
    interpreter.resize_tensor_input(given["index"], images.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(given["index"], images)
    interpreter.invoke()
    return float(np.mean(interpreter.get_tensor(taken["index"]).argmax(axis=1) == labels))


DEFAULT = [Optimize.DEFAULT]
INT16 = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
SCHEMES: dict[str, dict[str, object]] = {
    "float": {},
    "dynamic range": {"optimizations": DEFAULT},
    "float16": {"optimizations": DEFAULT, "supported_types": [np.float16]},
    "int8, float fallback": {"optimizations": DEFAULT, "representative_dataset": representative_dataset},
    "int8 throughout": {
        "optimizations": DEFAULT,
        "representative_dataset": representative_dataset,
        "supported_ops": [OpsSet.TFLITE_BUILTINS_INT8],
        "inference_input_type": np.uint8,
        "inference_output_type": np.uint8,
    },
    "int16 activations": {
        "optimizations": DEFAULT,
        "representative_dataset": representative_dataset,
        "supported_ops": [INT16],
    },
}


def main() -> None:
    for name, settings in SCHEMES.items():
        model = converter(**settings).convert()
        print(f"{name:22} {len(model):8,} bytes   accuracy {accuracy(model):.4f}")


if __name__ == "__main__":
    main()
