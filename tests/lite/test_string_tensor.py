"""The bytes of string tensors: written, read, and refused where they are damaged."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.lite import available_memory
from numlite.lite.errors import PrepareError, StateError
from numlite.lite.string_tensor import pack_strings, repeat_string, strings_of
from numlite.lite.tensor import Tensor, TensorType


def strings(data: np.ndarray, shape: tuple[int, ...]) -> list[bytes]:
    tensor = Tensor(3, "t", TensorType.STRING, shape)
    tensor.bind(data)
    return strings_of(tensor)


def words(values: list[int], characters: bytes = b"") -> np.ndarray:
    return np.frombuffer(np.array(values, "<i4").tobytes() + characters, np.uint8)


@pytest.mark.parametrize("values", [[], [b""], [b"\0", bytes(range(256)), b""], [b"a"] * 1000], ids=len)
def test_strings_may_hold_any_byte(values: list[bytes]) -> None:
    assert strings(pack_strings(values), (len(values),)) == values


@pytest.mark.parametrize("text", [b"", b"a", b"\0longer"])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_one_string_repeated(text: bytes, count: int) -> None:
    np.testing.assert_array_equal(repeat_string(text, count), pack_strings([text] * count))


def test_bytes_between_and_behind_the_strings_mean_nothing() -> None:
    assert strings(words([2, 16, 17, 18], b"-ab-")[:-1], (2,)) == [b"-", b"a"]
    assert strings(words([1, 14, 15], b"--a--"), ()) == [b"a"]


@pytest.mark.parametrize(
    "values",
    [
        [],
        [1],
        [-1, 8],
        [1, 12],
        [1, 12, 13],
        [1, 12, 4],
        [1, 12, 99],
        [1, 99, 99],
        [1, -12, 12],
        [1, -12, -12],
        [0, 8],
        [2, 16, 16, 16],
        [1 << 30, 8],
        [-(1 << 31), 8],
    ],
    ids=str,
)
def test_damaged_strings_have_no_place_in_a_tensor(values: list[int]) -> None:
    tensor = Tensor(3, "t", TensorType.STRING, (1, 1))
    with pytest.raises(StateError, match=r"tensor 3 't' string 1x1: .* strings"):
        tensor.bind(words(values))
    assert tensor.data is None


@pytest.mark.parametrize(
    "data", [np.zeros(4, np.int32), np.full((3, 4), 1, np.uint8), np.array([b"a"], object)]
)
def test_strings_come_as_flat_bytes(data: np.ndarray) -> None:
    with pytest.raises(StateError, match="its strings must be flat uint8, got"):
        Tensor(0, "t", TensorType.STRING, ()).bind(data)


def test_a_tensor_of_another_size_gives_its_strings_up() -> None:
    tensor = Tensor(0, "t", TensorType.STRING, (2, 3))
    tensor.bind(pack_strings([b"a"] * 6))
    tensor.resize((3, 2))
    assert strings_of(tensor) == [b"a"] * 6
    tensor.resize((5,))
    with pytest.raises(StateError, match="nothing gives it a value"):
        strings_of(tensor)
    tensor.resize((0, 5))
    assert strings_of(tensor) == []


def test_what_is_written_behind_the_back_is_seen_when_it_is_read() -> None:
    tensor = Tensor(0, "t", TensorType.STRING, (1,))
    tensor.bind(pack_strings([b"abc"]))
    assert tensor.data is not None
    tensor.data[4:8] = 0xFF
    with pytest.raises(StateError, match="offsets"):
        strings_of(tensor)


def test_offsets_are_int32() -> None:
    with pytest.raises(StateError, match="must take less than 2 GB, got 2147491848 bytes"):
        repeat_string(bytes(1 << 20), 1 << 11)
    with pytest.raises(StateError, match="must take less than 2 GB"):
        repeat_string(b"", 1 << 29)


def test_more_than_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each string counts what it takes in memory, not the 4 bytes of its offset."""
    monkeypatch.setattr(available_memory, "available_bytes", lambda: 100_000_000)
    with pytest.raises(PrepareError, match=r"160,000,016 bytes are needed, 100,000,000 are available"):
        repeat_string(b"", 10_000_000)
    tensor = Tensor(0, "t", TensorType.STRING, (2_000_000,))
    tensor.bind(repeat_string(b"", 2_000_000))
    with pytest.raises(PrepareError, match=r"208,000,008 bytes are needed"):
        strings_of(tensor)
