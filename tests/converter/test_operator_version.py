"""Versions of operators: what the table's words ask for, and that each word means something."""

from __future__ import annotations

import re

import pytest
from numlite.converter.lite_graph import LiteOperator, LiteTensor
from numlite.converter.operator_version import runtime_version, version_of
from numlite.kernels.operators import OPERATORS
from numlite.lite.tensor import TensorType
from numlite.schema import tflite
from numlite.schema.operator_code import options_table
from numlite.schema.tflite import BuiltinOperator

F32, I4, I8, I16, U32, BOOL = (
    *(TensorType.FLOAT32, TensorType.INT4, TensorType.INT8),
    *(TensorType.INT16, TensorType.UINT32, TensorType.BOOL),
)
IMAGE, FILTER, GROUPED = (1, 4, 4, 3), (2, 1, 1, 3), (3, 1, 1, 1)


def tensor(type: TensorType, shape: tuple[int, ...] = (2, 3), scales: int = 0) -> LiteTensor:
    made = LiteTensor("x", type, shape)
    if scales:
        made.quantization = tflite.QuantizationParametersT(scale=[0.5] * scales)
    return made


def operator(
    name: str, operands: list[LiteTensor | None], results: list[LiteTensor], **options: int
) -> LiteOperator:
    table = options_table(name)
    made = getattr(tflite, f"{table}T")(**options) if table else None
    return LiteOperator(BuiltinOperator[name], operands, results, made, ())


HYBRID = ([tensor(F32, IMAGE), tensor(I8, FILTER)], [tensor(F32)])
CASES = {
    "plain floats": (1, operator("ADD", [tensor(F32), tensor(F32)], [tensor(F32)])),
    "first type": (2, operator("ADD", [tensor(I8), tensor(I8)], [tensor(I8)])),
    "result's type": (1, operator("ADD", [tensor(I16, scales=1)] * 2, [tensor(F32)], pot_scale_int16=False)),
    "option not set": (
        3,
        operator("ADD", [tensor(I16, scales=1)] * 2, [tensor(I16)], pot_scale_int16=False),
    ),
    "option set": (1, operator("ADD", [tensor(I16, scales=1)] * 2, [tensor(I16)], pot_scale_int16=True)),
    "without scales": (5, operator("ADD", [tensor(I16)] * 2, [tensor(I16)])),
    "dimensions": (5, operator("SLICE", [tensor(F32, (1,) * 5)], [tensor(F32)])),
    "any operand": (3, operator("SELECT", [tensor(BOOL), tensor(F32), tensor(F32, (1,) * 5)], [tensor(F32)])),
    "not the type": (2, operator("WHERE", [tensor(U32)], [tensor(F32)])),
    "unusual dilation": (
        2,
        operator("DEPTHWISE_CONV_2D", [tensor(F32, IMAGE), tensor(F32)], [tensor(F32)], dilation_w_factor=2),
    ),
    "usual dilation": (1, operator("DEPTHWISE_CONV_2D", [tensor(F32, IMAGE), tensor(F32)], [tensor(F32)])),
    "16 bits beside int8 filters": (
        3,
        operator("DEPTHWISE_CONV_2D", [tensor(I16, IMAGE), tensor(I8, FILTER)], [tensor(I16)]),
    ),
    "16 bits, and an unusual dilation": (
        3,
        operator(
            *("DEPTHWISE_CONV_2D", [tensor(I16, IMAGE), tensor(I8, FILTER)], [tensor(I16)]),
            dilation_h_factor=2,
        ),
    ),
    "hybrid": (2, operator("CONV_2D", *HYBRID)),
    "scales of channels": (
        5,
        operator("CONV_2D", [tensor(F32, IMAGE), tensor(I8, FILTER, scales=2)], [tensor(F32)]),
    ),
    "grouped int4": (
        6,
        operator("CONV_2D", [tensor(I8, IMAGE), tensor(I4, GROUPED)], [tensor(I8)]),
    ),
    "no bias": (6, operator("FULLY_CONNECTED", [tensor(I8), tensor(I4)], [tensor(I8)])),
    "bias left out": (10, operator("FULLY_CONNECTED", [tensor(I8), tensor(I4), None], [tensor(I8)])),
    "operand given": (3, operator("TRANSPOSE_CONV", [tensor(F32)] * 4, [tensor(F32)])),
    "operand None": (1, operator("TRANSPOSE_CONV", [*[tensor(F32)] * 3, None], [tensor(F32)])),
    "stretched": (3, operator("MAXIMUM", [tensor(F32, (1,) * 5), tensor(F32, (2,))], [tensor(F32)])),
    "scales below": (2, operator("MUL", [tensor(I8, scales=1)] * 2, [tensor(I8, scales=1)])),
    "first version long gone": (2, operator("BROADCAST_TO", [tensor(F32), tensor(F32)], [tensor(F32)])),
    "one operand of two": (1, operator("DIV", [tensor(F32)], [tensor(F32)])),
}


@pytest.mark.parametrize("name", CASES)
def test_versions(name: str) -> None:
    version, made = CASES[name]
    assert version_of(made) == version


@pytest.mark.parametrize("name", [name for name, facts in OPERATORS.items() if facts.versions])
def test_words_of_the_table(name: str) -> None:
    versions = OPERATORS[name].versions
    fields = {field[0] for field in tflite.TABLES.get(options_table(name), ())}
    assert set(re.findall(r"\.([a-z]\w*)", versions)) <= fields, "options that the schema has not"
    three = [tensor(F32, IMAGE), tensor(F32, IMAGE), tensor(F32, IMAGE)]
    made = operator(name, three, three[:2])
    assert 1 <= version_of(made) <= len(versions.split(", "))


def test_releases() -> None:
    add, lstm = BuiltinOperator.ADD, BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM
    assert runtime_version([(add, 1), (add, 3)]) == "2.4.0"
    assert runtime_version([(lstm, 1)]) == "1.13.1"
    assert runtime_version([(lstm, 5)]) == "", "not known"
    assert runtime_version([(add, 0), (add, 99)]) == ""
