"""Attributes in the text form, both ways."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.attribute_text import attribute_from_text, attribute_to_text
from numlite.kernels.fallback.tensor_proto import proto_of
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema import graph_def
from numlite.schema.graph_def import AttrValue, NameAttrList, TensorShapeProto

List = AttrValue.ListValue
Dim = TensorShapeProto.Dim

PAIRS = [
    ("list(i32)$1,1,1,1,1", AttrValue(list=List(i=[1] * 5))),
    ("list(i64)$1,8589934592", AttrValue(list=List(i=[1, 1 << 33]))),
    ("padding$SAME", AttrValue(s=b"SAME")),
    ("string$NDHWC", AttrValue(s=b"NDHWC")),
    ("f32", AttrValue(type=graph_def.DT_FLOAT)),
    ("i1", AttrValue(type=graph_def.DT_BOOL)),
    ("quint8", AttrValue(type=graph_def.DT_QUINT8)),
    ("f32$0.1", AttrValue(f=0.1)),
    ("f32$inf", AttrValue(f=float("inf"))),
    ("bool$true", AttrValue(b=True)),
    ("i32$-7", AttrValue(i=-7)),
    ("i64$-9223372036854775808", AttrValue(i=-(1 << 63))),
    ("string$a%2Cb%25%00 c%FF", AttrValue(s=b"a,b%\0 c\xff")),
    ("list(string)$a,,b%2C", AttrValue(list=List(s=[b"a", b"", b"b,"]))),
    ("list(type)$f32,i64,string", AttrValue(list=List(type=[1, 9, 7]))),
    ("shape$2x-1", AttrValue(shape=TensorShapeProto(dim=[Dim(size=2), Dim(size=-1)]))),
    ("shape$?", AttrValue(shape=TensorShapeProto(unknown_rank=True))),
    ("shape$", AttrValue(shape=TensorShapeProto())),
    ("func$body_1", AttrValue(func=NameAttrList(name="body_1"))),
    ("list(i32)$", AttrValue(list=List())),
]


@pytest.mark.parametrize(("text", "value"), PAIRS, ids=[text for text, _ in PAIRS])
def test_both_ways(text: str, value: AttrValue) -> None:
    assert attribute_to_text(value) == text
    assert attribute_from_text(text) == value


def test_a_tensor_comes_back() -> None:
    value = AttrValue(tensor=proto_of(np.arange(6, dtype=np.int16).reshape(2, 3)))
    assert attribute_from_text(attribute_to_text(value)) == value


@pytest.mark.parametrize(
    "text",
    ["", "f33", "list(f33)$1", "i32$x", "bool$yes", "tensor$!!", "shape$2xx", "colour$red", "list(i32"],
)
def test_what_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="attribute text"):
        attribute_from_text(text)


def test_no_text_for_a_function_with_attributes() -> None:
    func = NameAttrList(name="f", attr={"T": AttrValue(type=1)})
    with pytest.raises(UnsupportedError, match="'f' with attributes"):
        attribute_to_text(AttrValue(func=func))
