"""The table of constraints against what TensorFlow makes of graphs of one operator."""

import json

import pytest
from numlite.converter.quantization.constraints import CONSTRAINTS, INT8, INT16
from numlite.kernels.operators import OPERATORS

from ..shared_files import SHARED

RULES = SHARED / "convert" / "quant" / "quant_rules.json"
TYPES = {"int8": INT8, "int16x8": INT16}
Tensor = list  # type, scale, zero point

# Where the table has something else on purpose, by TensorFlow's graph and scheme, and why.
DIFFERENT = {
    ("elu", "int8"): "LiteRT has an int8 table",
    ("split", "int8"): "float only where both neighbours are",
    ("unpack", "int8"): "float only where both neighbours are",
    ("padv2", "int16x8"): "TensorFlow leaves the constant float, which LiteRT refuses",
    ("select", "int16x8"): "TensorFlow selects from operands of different scales: wrong values",
    ("squared_difference", "int16x8"): "LiteRT does not run it: SUB and MUL take its place",
    ("prelu", "int16x8"): "TensorFlow takes NEG of integers for one of floats",
}


def cases() -> list[tuple[str, str]]:
    if not RULES.exists():
        return []
    return [(name, scheme) for name, found in json.loads(RULES.read_text()).items() for scheme in found]


@pytest.mark.skipif(not RULES.exists(), reason="needs ../shared/convert/quant")
@pytest.mark.parametrize(("name", "scheme"), cases())
def test_operators_are_quantized_as_in_tensorflow(name: str, scheme: str) -> None:
    steps = json.loads(RULES.read_text())[name][scheme]
    found = [fault for step in steps for fault in faults(*step, scheme)]
    assert bool(found) == ((name, scheme) in DIFFERENT), found


def faults(operator: str, operands: list[Tensor], results: list[Tensor], scheme: str) -> list[str]:
    """What TensorFlow does otherwise than the table says."""
    if operator in ("QUANTIZE", "DEQUANTIZE"):
        return []
    rule, type_ = CONSTRAINTS.get(operator), TYPES[scheme]
    is_integer = any(t is not None and t[1] is not None for t in (*operands, *results))
    has_floats = any(t is not None and t[0] == "float32" for t in (*operands, *results))
    if rule is None or type_ not in rule.types:
        return [f"{operator} is an integer operator"] if is_integer else []
    if not is_integer:
        return [f"{operator} stays float"] if has_floats else []
    places = list(rule.operand_places(len(operands)))
    weights = [] if rule.weights is None else [rule.weights.place, rule.weights.bias]
    quantized = [p for p, t in enumerate(operands) if t is not None and t[1] is not None]
    found = []
    if any(p not in (*places, *weights) for p in quantized) or any(p not in quantized for p in places):
        found.append(f"{operator}: operands {quantized}")
    if [p for p, t in enumerate(results) if t[1] is not None] != list(rule.result_places(len(results))):
        found.append(f"{operator}: results {results}")
    given = [results[p] for p in rule.result_places(len(results))]
    scales = [t[1:] for t in (*(operands[p] for p in places if p in quantized), *given)]
    if rule.tied and any(each != scales[0] for each in scales):
        found.append(f"{operator}: scales {scales}")
    fixed = rule.fixed(type_)
    if fixed is not None and given[0][1:] != [pytest.approx(fixed[0]), fixed[1]]:
        found.append(f"{operator}: fixed {given[0]}")
    return found


def test_the_table_names_operators_that_there_are() -> None:
    assert set(CONSTRAINTS) <= set(OPERATORS)


def test_a_filter_of_a_depthwise_convolution_has_its_channels_last() -> None:
    dimensions = {name: rule.weights.dimension for name, rule in CONSTRAINTS.items() if rule.weights}
    assert dimensions == {
        **{"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0, "TRANSPOSE_CONV": 0},
    }
