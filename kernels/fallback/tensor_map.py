"""Maps from tensors to tensors, held by variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .attributes import DataType
from .dtypes import numpy_dtype
from .kernel import zeros
from .registry import kernel
from .status import InvalidArgumentError
from .variable import held

# What tells one key from another: type, shape and content.
_Key = tuple[str, tuple[int, ...], object]


@dataclass(frozen=True)
class TensorMap:
    """Keys with their values, in the order in which they came; an op that changes a map makes another."""

    entries: Mapping[_Key, tuple[np.ndarray, np.ndarray]]


def _key(key: np.ndarray) -> _Key:
    content = tuple(key.reshape(-1).tolist()) if key.dtype.kind == "O" else key.tobytes()
    return key.dtype.name, key.shape, content


def _map(op: str, handle: np.ndarray) -> TensorMap:
    return held(handle, TensorMap, op)


def empty() -> TensorMap:
    """A map without entries."""
    return TensorMap({})


def insert(input_handle: np.ndarray, key: np.ndarray, value: np.ndarray) -> TensorMap:
    """The map with the value under the key, in place of another that was there."""
    entries = _map("TensorMapInsert", input_handle).entries
    return TensorMap({**entries, _key(key): (key, value)})


def lookup(input_handle: np.ndarray, key: np.ndarray, *, value_dtype: DataType) -> np.ndarray:
    """The value under the key."""
    found = _map("TensorMapLookup", input_handle).entries.get(_key(key))
    if found is None:
        raise InvalidArgumentError(f"TensorMapLookup: the key must be in the map, got {key.tolist()}")
    if found[1].dtype != numpy_dtype(value_dtype):
        wanted = numpy_dtype(value_dtype)
        raise InvalidArgumentError(f"TensorMapLookup: the value must be {wanted}, got {found[1].dtype}")
    return found[1]


def erase(input_handle: np.ndarray, key: np.ndarray) -> TensorMap:
    """The map without the key."""
    entries = dict(_map("TensorMapErase", input_handle).entries)
    if entries.pop(_key(key), None) is None:
        raise InvalidArgumentError(f"TensorMapErase: the key must be in the map, got {key.tolist()}")
    return TensorMap(entries)


def has_key(input_handle: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Whether the key is in the map."""
    return np.array(_key(key) in _map("TensorMapHasKey", input_handle).entries)


def size(input_handle: np.ndarray) -> np.ndarray:
    """The number of entries, int32."""
    return np.array(len(_map("TensorMapSize", input_handle).entries), np.int32)


def stack_keys(input_handle: np.ndarray, *, key_dtype: DataType) -> np.ndarray:
    """The keys, which must be of one type and shape, along a new first axis."""
    keys = [key for key, _ in _map("TensorMapStackKeys", input_handle).entries.values()]
    dtype = numpy_dtype(key_dtype)
    if not keys or any(key.shape != keys[0].shape or key.dtype != dtype for key in keys):
        kinds = sorted({f"{key.dtype} {list(key.shape)}" for key in keys})
        raise InvalidArgumentError(
            f"TensorMapStackKeys: there must be keys of one shape of {dtype}, got {kinds}"
        )
    made = zeros((len(keys), *keys[0].shape), dtype)
    for i, key in enumerate(keys):
        made[i] = key
    return made


REGISTRATIONS = (
    kernel("EmptyTensorMap", empty),
    kernel("TensorMapInsert", insert),
    kernel("TensorMapLookup", lookup),
    kernel("TensorMapErase", erase),
    kernel("TensorMapHasKey", has_key),
    kernel("TensorMapSize", size),
    kernel("TensorMapStackKeys", stack_keys),
)
