"""Shows a model as text: `python -m numlite.lite.dump model.tflite`. Needs no kernels."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..schema import tflite
from ..schema.operator_code import CUSTOM, builtin_code, operator_name
from ..schema.shown import shown
from .errors import ModelError
from .model import Model
from .tensor import TensorType

if TYPE_CHECKING:
    import numpy as np

    from ..schema.flatbuffer import Table


def dump(model: Model) -> Iterator[str]:
    """The model line by line: signatures, then each subgraph's tensors and operators."""
    return map(shown, _lines(model))


def _lines(model: Model) -> Iterator[str]:
    root = model.root
    yield f"model version {root.version}, {model.nbytes:,} bytes: {model.description or 'no description'}"
    for name, data in model.metadata().items():
        yield f"metadata {name!r}: {len(data)} bytes"
    for signature in model.signatures().values():
        arguments = ", ".join(f"{name}={t}" for name, t in signature.inputs.items())
        results = ", ".join(f"{name}={t}" for name, t in signature.outputs.items())
        where = f"signature {signature.key!r} (subgraph {signature.subgraph_index})"
        yield f"{where}: ({arguments}) -> ({results})"
    codes = [_operator_name(code) for code in root.operator_codes]
    for index, subgraph in enumerate(root.subgraphs):
        yield ""
        ends = f"{_list(subgraph.inputs)} -> {_list(subgraph.outputs)}"
        yield f"subgraph {index} {subgraph.name or ''!r}: {ends}"
        for t, tensor in enumerate(subgraph.tensors):
            yield f"  tensor {t}: {_tensor(tensor, model)}"
        for n, operator in enumerate(subgraph.operators):
            yield f"  node {n}: {_operator(operator, codes)}"


def _operator_name(code: tflite.OperatorCode) -> str:
    builtin = builtin_code(code)
    name = f"CUSTOM {code.custom_code!r}" if builtin == CUSTOM else operator_name(builtin)
    return name if code.version == 1 else f"{name} (version {code.version})"


def _operator(operator: tflite.Operator, codes: list[str]) -> str:
    line = f"{codes[operator.opcode_index]} {_list(operator.inputs)} -> {_list(operator.outputs)}"
    options = operator.builtin_options or operator.builtin_options_2
    if options is not None:
        line += f" {_options(options)}"
    if len(operator.custom_options):
        line += f" custom options of {len(operator.custom_options)} bytes"
    return line


def _options(options: Table) -> str:
    values = ", ".join(f"{field.name}={getattr(options, field.name)}" for field in type(options).fields)
    return f"{type(options).__name__}({values})"


def _tensor(tensor: tflite.Tensor, model: Model) -> str:
    try:
        kind = TensorType(tensor.type).name.lower()
    except ValueError:
        kind = f"type {tensor.type}"
    line = f"{kind} {'x'.join(map(str, tensor.shape)) or 'scalar'} {tensor.name or ''!r}"
    if len(tensor.shape_signature):
        line += f" signature {'x'.join(map(str, tensor.shape_signature))}"
    quantization = tensor.quantization
    if quantization is not None and len(quantization.scale):
        line += f" {_quantization(quantization)}"
    if tensor.is_variable:
        line += " variable"
    if tensor.sparsity is not None:
        line += " sparse"
    data = model.buffer(tensor.buffer)
    return line if data is None else f"{line} buffer {tensor.buffer}: {data.size:,} bytes"


def _quantization(quantization: tflite.QuantizationParameters) -> str:
    scales = quantization.scale
    if len(scales) == 1:
        zero_points = quantization.zero_point
        zero_point = zero_points[0] if len(zero_points) else 0
        return f"scale {scales[0]:.6g} zero point {zero_point}"
    return (
        f"{len(scales)} scales {scales.min():.6g} to {scales.max():.6g} "
        f"along dimension {quantization.quantized_dimension}"
    )


def _list(indexes: np.ndarray) -> str:
    return "[" + ", ".join(map(str, indexes)) + "]"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m numlite.lite.dump MODEL", file=sys.stderr)
        return 2
    try:
        for line in dump(Model.from_path(arguments[0])):
            print(line)
    except ModelError as error:
        print(f"numlite: {shown(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
