"""Constants read from TensorProto, in all its forms."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.tensor_proto import array_of, proto_of
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema import graph_def
from numlite.schema.graph_def import TensorProto, TensorShapeProto

Dim = TensorShapeProto.Dim


def shape(*sizes: int) -> TensorShapeProto:
    return TensorShapeProto(dim=[Dim(size=size) for size in sizes])


TYPES = ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "F", "D"]


@pytest.mark.parametrize("code", TYPES)
def test_round_trip(code: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(code)
    read = array_of(proto_of(array))
    assert read.dtype == array.dtype and np.array_equal(read, array)


@pytest.mark.parametrize(
    ("proto", "expected"),
    [
        (TensorProto(dtype=1, tensor_shape=shape(2, 2), float_val=[1, 2]), [[1, 2], [2, 2]]),
        (TensorProto(dtype=1, tensor_shape=shape(3)), [0, 0, 0]),
        (TensorProto(dtype=3, tensor_shape=shape(), int_val=[7]), 7),
        (TensorProto(dtype=4, tensor_shape=shape(2), int_val=[255, 1]), [255, 1]),
        (TensorProto(dtype=9, tensor_shape=shape(2), int64_val=[-(2**40)]), [-(2**40)] * 2),
        (TensorProto(dtype=10, tensor_shape=shape(2), bool_val=[True, False]), [True, False]),
        (TensorProto(dtype=19, tensor_shape=shape(2), half_val=[0x3C00, 0xC000]), [1, -2]),
        (TensorProto(dtype=8, tensor_shape=shape(1), scomplex_val=[1, 2]), [1 + 2j]),
        (TensorProto(dtype=23, tensor_shape=shape(1), uint64_val=[2**64 - 1]), [2**64 - 1]),
        (TensorProto(dtype=1, tensor_shape=shape(0, 3)), np.zeros((0, 3))),
    ],
)
def test_forms(proto: TensorProto, expected: object) -> None:
    assert array_of(proto).tolist() == np.asarray(expected).tolist()


def test_a_splat_takes_no_memory() -> None:
    proto = TensorProto(dtype=1, tensor_shape=shape(2**20, 2**20), float_val=[3])
    assert array_of(proto)[5, 5] == 3


@pytest.mark.parametrize(
    "proto",
    [
        TensorProto(dtype=1, tensor_shape=shape(2), tensor_content=b"1234"),
        TensorProto(dtype=1, tensor_shape=shape(1), float_val=[1, 2]),
        TensorProto(dtype=1, tensor_shape=shape(-1)),
        TensorProto(dtype=1, tensor_shape=TensorShapeProto(unknown_rank=True)),
    ],
)
def test_wrong_content(proto: TensorProto) -> None:
    with pytest.raises(ModelError):
        array_of(proto)


def test_types_without_values() -> None:
    with pytest.raises(UnsupportedError, match="constants of resource"):
        array_of(TensorProto(dtype=graph_def.DT_RESOURCE))


@pytest.mark.parametrize("values", [[b"a\0"], [b"x", b"a\0"]])
def test_the_last_string_is_repeated_as_it_is(values: list[bytes]) -> None:
    found = array_of(TensorProto(dtype=graph_def.DT_STRING, tensor_shape=shape(3), string_val=values))
    assert found.dtype == object
    assert found.tolist() == values + [b"a\0"] * (3 - len(values))


def test_repeated_elements_beyond_memory_are_refused() -> None:
    """Two values that stand for more than any machine has."""
    proto = TensorProto(dtype=graph_def.DT_STRING, string_val=[b"a", b"b"])
    proto.tensor_shape.dim.add(size=1 << 50)
    with pytest.raises(ModelError, match=r"constant: \[1125899906842624\] of object: memory: .* are needed"):
        array_of(proto)
