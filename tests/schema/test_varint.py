"""Numbers of seven bits a byte, as protobuf has them."""

import pytest
from google.protobuf.internal.encoder import _VarintBytes
from numlite.schema.fault import ModelError
from numlite.schema.varint import as_varint, varint

NUMBERS = [0, 1, 127, 128, 300, 2**14 - 1, 2**14, 2**35, 2**63, 2**64 - 1]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_bytes_are_protobufs_and_are_read_back(number: int) -> None:
    written = as_varint(number)
    assert written == _VarintBytes(number)
    assert varint(b"x" + written + b"\xff", 1, 1 + len(written), "file") == (number, 1 + len(written))


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 11])
def test_a_number_without_end_is_refused(data: bytes) -> None:
    with pytest.raises(ModelError, match="block 3: a number does not end, at byte 0"):
        varint(data, 0, len(data), "block 3")
