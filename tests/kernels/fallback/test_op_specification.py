"""Text specifications of arguments and attributes."""

from __future__ import annotations

import pytest
from numlite.kernels.fallback.op_metadata import OpMetadata
from numlite.schema import graph_def
from numlite.schema.graph_def import OpDef


def attribute(spec: str) -> OpDef.AttrDef:
    return OpMetadata.parse("Op", attributes=[spec]).op_def.attr[0]


def test_types_that_are_allowed_and_a_default() -> None:
    found = attribute("T: {float, bfloat16} = DT_FLOAT")
    assert (found.name, found.type) == ("T", "type")
    assert list(found.allowed_values.list.type) == [graph_def.DT_FLOAT, graph_def.DT_BFLOAT16]
    assert found.default_value.type == graph_def.DT_FLOAT


@pytest.mark.parametrize(
    ("spec", "kind", "field", "value"),
    [
        ("a: int = -3", "int", "i", -3),
        ("a:float=1e-3", "float", "f", pytest.approx(1e-3)),
        ("a: bool = true", "bool", "b", True),
        ("a: string = 'NHWC'", "string", "s", b"NHWC"),
        ('a: {"SAME", "VALID"} = "SAME"', "string", "s", b"SAME"),
    ],
)
def test_defaults(spec: str, kind: str, field: str, value: object) -> None:
    found = attribute(spec)
    assert found.type == kind and getattr(found.default_value, field) == value


def test_lists_minima_and_sets() -> None:
    found = attribute("strides: list(int) >= 4 = [1, 2, 2, 1]")
    assert (found.type, found.has_minimum, found.minimum) == ("list(int)", True, 4)
    assert list(found.default_value.list.i) == [1, 2, 2, 1]
    empty = attribute("pads: list(int) = []")
    assert empty.default_value.WhichOneof("value") == "list" and not empty.default_value.list.i
    assert graph_def.DT_QINT8 in attribute("T: numbertype").allowed_values.list.type
    assert graph_def.DT_QINT8 not in attribute("T: realnumbertype").allowed_values.list.type
    mixed = attribute("T: {float, quantizedtype}").allowed_values.list.type
    assert len(mixed) == 6 and mixed[0] == graph_def.DT_FLOAT
    assert list(attribute('w: {"a", "b"}').allowed_values.list.s) == [b"a", b"b"]
    assert not attribute("shape: shape").HasField("default_value")
    assert attribute("s: shape = { unknown_rank: true }").default_value.shape.unknown_rank


def test_an_argument_of_a_list_of_types() -> None:
    op = OpMetadata.parse("Op", ["x: Tin", "n: N * T"], ["y: T"], ["Tin: list(type)", "N: int", "T: type"])
    listed, numbered = op.op_def.input_arg
    assert (listed.type_list_attr, listed.type_attr) == ("Tin", "")
    assert (numbered.number_attr, numbered.type_attr) == ("N", "T")


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "T",
        "T:",
        "T: flat",
        "T: {flat}",
        "N: int >=",
        "N: int = x",
        "b: bool = 3",
        "f: func = x",
        "T: list(int",
    ],
)
def test_what_is_no_specification(spec: str) -> None:
    with pytest.raises(ValueError, match="attribute: "):
        attribute(spec)
