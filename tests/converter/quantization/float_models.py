"""Float models of one or a few operators, to be quantized."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numlite.converter.quantization.calibrate import calibrate
from numlite.converter.quantization.float_graph import FloatGraph
from numlite.converter.quantization.full_integer import quantize_activations, sites_to_observe
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.operator_schemes import OperatorSchemes
from numlite.converter.quantization.scheme import Scheme
from numlite.interpreter import Interpreter
from numlite.lite.model import Model
from numlite.schema import tflite

from ...model_builder import ModelBuilder

Op = tflite.BuiltinOperator
IMAGE = (1, 4, 4, 3)


class Case(NamedTuple):
    """An operator by name, the shapes of its inputs, constant operands by place, result shapes, options."""

    operator: str
    inputs: Sequence[tuple[int, ...]]
    results: Sequence[tuple[int, ...]]
    constants: dict[int, np.ndarray] = {}  # noqa: RUF012, never changed
    options: Any = None
    types: Sequence[str] = ("float32",)  # of the results
    lowest: float = -3.0
    highest: float = 5.0


def weights(shape: Sequence[int], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def build(case: Case, before: str = "", after: str = "") -> bytes:
    """The operator alone, or between unary operators of those names."""
    model = ModelBuilder()
    entries = [model.tensor(shape, name=f"in{i}") for i, shape in enumerate(case.inputs)]
    inputs = list(entries)
    if before:
        for i, shape in enumerate(case.inputs):
            inputs[i] = model.tensor(shape, name=f"before{i}")
            model.op(Op[before], [entries[i]], [inputs[i]])
    operands: list[int] = []
    rest = iter(inputs)
    for place in range(len(case.inputs) + len(case.constants)):
        constant = case.constants.get(place)
        operands.append(next(rest) if constant is None else model.constant(constant, name=f"constant{place}"))
    results = [
        model.tensor(shape, case.types[min(i, len(case.types) - 1)], name=f"out{i}")
        for i, shape in enumerate(case.results)
    ]
    model.op(Op[case.operator], operands, results, case.options)
    ends = list(results)
    if after:
        ends[0] = model.tensor(case.results[0], name="after")
        model.op(Op[after], [results[0]], [ends[0]])
    return model.build(entries, ends)


def samples(content: bytes, count: int = 8, low: float = -3.0, high: float = 5.0) -> list[list[np.ndarray]]:
    """Random inputs of a model."""
    random = np.random.default_rng(1)
    interpreter = Interpreter(model_content=content)
    details = interpreter.get_input_details()
    return [[random.uniform(low, high, d["shape"]).astype(np.float32) for d in details] for _ in range(count)]


def ranges(content: bytes, data: Sequence[Sequence[np.ndarray]], kind: str = "minmax") -> Any:
    model = Model(content)
    return calibrate(
        Interpreter(model_content=model).core, data, sites_to_observe(FloatGraph(ModelEditor(model))), kind
    )


def schemes(bits: int = 8, **changes: Any) -> OperatorSchemes:
    """One scheme for all operators, with activations of so many bits; changes are fields of Scheme."""
    return OperatorSchemes(Scheme(activation_bits=bits, **changes))


def quantized(
    content: bytes,
    data: Sequence[Sequence[np.ndarray]],
    bits: int = 8,
    *,
    per_channel: bool = True,
    weight_bits: int = 8,
    **options: Any,
) -> bytes:
    """The integer model, calibrated on the data."""
    own = schemes(bits, per_channel=per_channel, weight_bits=weight_bits)
    made = quantize_activations(Model(content), ranges(content, data), own, **options)
    return made.editor.finish().content()


def outputs(content: bytes, data: Sequence[np.ndarray], maker: Any = Interpreter) -> list[np.ndarray]:
    """What a model gives, as real numbers; float data become what it takes."""
    interpreter = maker(model_content=content)
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), data, strict=True):
        scale, zero = detail["quantization"]
        if detail["dtype"] != np.float32 and scale:
            limits = np.iinfo(detail["dtype"])
            value = np.clip(np.rint(value / scale) + zero, limits.min, limits.max).astype(detail["dtype"])
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    found = []
    for detail in interpreter.get_output_details():
        value, (scale, zero) = interpreter.get_tensor(detail["index"]), detail["quantization"]
        found.append((value.astype(np.float64) - zero) * scale if scale else np.asarray(value))
    return found


def operators(content: bytes) -> list[str]:
    """The names of a model's operators in order, all subgraphs."""
    root = Model(content).root
    codes = [max(code.builtin_code, code.deprecated_builtin_code) for code in root.operator_codes]
    return [Op(codes[o.opcode_index]).name for graph in root.subgraphs for o in graph.operators]
