"""TensorFlow's guides to quantization after training, with numlite and without TensorFlow.

    python -m numlite.examples.quantize_digits     or     python examples/quantize_digits.py

Converts the digits net (see train_digits.py) in every scheme of the guides (post_training_quantization,
post_training_integer_quant, post_training_integer_quant_16x8), writes the files, and shows what they take and
give, their bytes and how many digits they tell right. The guide to the debugger: debug_digits.py.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def named_samples() -> Iterator[dict[str, np.ndarray]]:
    """The same by the inputs' names, which suits models of several."""
    return ({"image": image} for (image,) in representative_dataset())


def converter(**settings: object) -> Converter:
    made = Converter.from_graph_def(HERE / "digits.pb")
    for name, value in settings.items():
        setattr(made.target_spec if name.startswith("supported") else made, name, value)
    return made


def ends(interpreter: Interpreter) -> tuple[dict[str, Any], dict[str, Any]]:
    """The details of the only input and the only output."""
    return interpreter.get_input_details()[0], interpreter.get_output_details()[0]


def as_taken(images: np.ndarray, detail: dict[str, Any]) -> np.ndarray:
    """Floats as an input of integers takes them."""
    if detail["dtype"] == np.float32:
        return images
    scale, zero_point = detail["quantization"]
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.rint(images / scale) + zero_point, limits.min, limits.max).astype(detail["dtype"])


def predictions(interpreter: Interpreter, images: np.ndarray) -> np.ndarray:
    """What a model takes images for, one after another."""
    interpreter.allocate_tensors()
    given, taken = ends(interpreter)
    found = []
    for image in images:
        interpreter.set_tensor(given["index"], as_taken(np.expand_dims(image, axis=0), given))
        interpreter.invoke()
        found.append(interpreter.get_tensor(taken["index"])[0].argmax())
    return np.array(found)


def accuracy(model: bytes) -> float:
    """The share of images that a model tells right, whatever integers it takes and gives."""
    images, labels = digits()
    return float(np.mean(predictions(Interpreter(model_content=model), images) == labels))


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
    "int16, float fallback": {
        "optimizations": DEFAULT,
        "representative_dataset": named_samples,
        "supported_ops": [INT16, OpsSet.TFLITE_BUILTINS],
    },
    "int16 throughout": {
        "optimizations": DEFAULT,
        "representative_dataset": named_samples,
        "supported_ops": [INT16],
        "inference_input_type": np.int16,
        "inference_output_type": np.int16,
    },
}


def show(name: str, path: Path) -> None:
    given, taken = ends(Interpreter(model_path=path))
    types = f"{given['dtype'].__name__} -> {taken['dtype'].__name__}"
    right = accuracy(path.read_bytes())
    print(f"{name:22} {types:20} {path.stat().st_size:8,} bytes   accuracy {right:.4f}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in SCHEMES.items():
            path = Path(folder) / f"{name}.tflite"
            path.write_bytes(converter(**settings).convert())
            show(name, path)


if __name__ == "__main__":
    main()
