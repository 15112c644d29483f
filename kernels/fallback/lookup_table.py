"""Tables from keys to values: their handles and what is found in them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

import numpy as np

from .attributes import DataType, PartialShape
from .axis import flattened
from .dtypes import numpy_dtype, type_name
from .kernel import KernelConstruction, KernelContext, OpKernel, zeros
from .partial_shape import in_words
from .registry import kernel, kernel_class
from .status import FailedPreconditionError, InvalidArgumentError
from .variable import handle_of, held, matches

# A key as Python tells it from others; those of dense tables may be vectors.
Key = bytes | int | float | tuple[object, ...]


class LookupTable:
    """Values of one shape by key. A table that is not mutable gets its entries once."""

    def __init__(
        self, key_type: int, value_type: int, value_shape: tuple[int, ...] = (), is_mutable: bool = True
    ) -> None:
        self.key_type = key_type
        self.value_type = value_type
        self.value_shape = value_shape
        self.key_shape: tuple[int, ...] = ()
        self.is_mutable = is_mutable
        self.is_initialized = is_mutable
        # What a model calls it, "" where it has no name.
        self.name = ""
        # Keys that no entry may have.
        self.reserved: tuple[Key, ...] = ()
        self.lock = threading.RLock()
        self.entries: dict[Key, object] = {}

    def keys_of(self, op: str, keys: np.ndarray) -> tuple[tuple[int, ...], list[Key]]:
        """The shape that the keys are laid out in, and each of them."""
        if keys.dtype != numpy_dtype(self.key_type):
            raise InvalidArgumentError(f"{op}: keys must be {type_name(self.key_type)}, got {keys.dtype}")
        rank = len(self.key_shape)
        outer = keys.shape[: keys.ndim - rank] if rank else keys.shape
        if keys.shape != (*outer, *self.key_shape):
            raise InvalidArgumentError(
                f"{op}: keys must be like {list(self.key_shape)}, got {list(keys.shape)}"
            )
        found: list[Key] = keys.reshape(-1).tolist()
        if rank:
            found = [tuple(row) for row in flattened(keys, len(outer)).tolist()]
        if not self.reserved:
            return outer, found
        wrong = [key for key in found if key in self.reserved]
        if wrong:
            raise InvalidArgumentError(
                f"{op}: keys must not be the empty or the deleted key, got {wrong[0]!r}"
            )
        return outer, found

    def values_of(self, op: str, outer: Sequence[int], values: np.ndarray) -> list[object]:
        """Each of the values for keys that are laid out in that shape."""
        if values.dtype != numpy_dtype(self.value_type):
            message = f"values must be {type_name(self.value_type)}"
            raise InvalidArgumentError(f"{op}: {message}, got {values.dtype}")
        if values.shape != (*outer, *self.value_shape):
            wanted = [*outer, *self.value_shape]
            raise InvalidArgumentError(f"{op}: values must be {wanted}, got {list(values.shape)}")
        if not self.value_shape:
            scalars: list[object] = (
                values.reshape(-1).tolist() if values.dtype.kind == "O" else list(values.flat)
            )
            return scalars
        return list(flattened(values, len(outer)).copy())

    def stacked(self, outer: Sequence[int], values: Iterable[object], count: int) -> np.ndarray:
        """Values as one tensor."""
        made = zeros((count, *self.value_shape), numpy_dtype(self.value_type))
        for i, value in enumerate(values):
            made[i] = value
        return made.reshape(*outer, *self.value_shape)

    def initialize(self, op: str, keys: Sequence[Key], values: Sequence[object]) -> None:
        """Give a table that is not mutable its entries, or the same ones again."""
        entries: dict[Key, object] = {}
        for key, value in zip(keys, values, strict=True):
            if entries.setdefault(key, value) != value:
                raise InvalidArgumentError(f"{op}: key {key!r} must have one value, got {value!r} as well")
        with self.lock:
            if self.is_initialized and entries != self.entries:
                raise FailedPreconditionError(f"{op}: the table was initialized already, with other entries")
            self.entries, self.is_initialized = entries, True

    def check_initialized(self, op: str) -> None:
        if not self.is_initialized:
            named = f"the table {self.name!r}" if self.name else "the table"
            raise FailedPreconditionError(f"{op}: {named} must be initialized before it is read")

    def check_mutable(self, op: str) -> None:
        if not self.is_mutable:
            raise InvalidArgumentError(f"{op}: the table must be mutable, a HashTable is not")


class TableOp(OpKernel):
    """table_handle: that of the table with this container and shared name (or the node's).

    Source: TensorFlow tensorflow/core/kernels/lookup_table_op.cc.
    """

    is_mutable = True

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._anonymous = not construction.has_attr("shared_name")
        if not self._anonymous:
            self._container = construction.get_attr("container", str)
            self._name = construction.get_attr("shared_name", str) or construction.name
        self._key_type = construction.get_attr("key_dtype", DataType)
        self._value_type = construction.get_attr("value_dtype", DataType)
        self._value_shape: PartialShape = ()
        if construction.has_attr("value_shape"):
            self._value_shape = construction.get_attr("value_shape", PartialShape)  # type: ignore[arg-type]
        if self._value_shape is None or -1 in self._value_shape:
            message = f"value_shape must be known, got {in_words(self._value_shape)}"
            construction.failure(InvalidArgumentError(f"{construction.op}: {message}"))

    def compute(self, context: KernelContext) -> None:
        if self._anonymous:
            context.set_output(0, handle_of(self._made(context)))
            return
        table = context.environment.resources.lookup_or_create(
            LookupTable, self._container, self._name, lambda: self._made(context)
        )
        wanted = self._key_type, self._value_type
        if (table.key_type, table.value_type) != wanted:
            held_names = f"{type_name(table.key_type)} to {type_name(table.value_type)}"
            message = f"table {self._name!r} is from {held_names}"
            names = f"{type_name(wanted[0])} to {type_name(wanted[1])}"
            context.failure(InvalidArgumentError(f"{self.construction.op}: {message}, got {names}"))
        context.set_output(0, handle_of(table))

    def _made(self, context: KernelContext) -> LookupTable:
        assert self._value_shape is not None
        table = LookupTable(self._key_type, self._value_type, self._value_shape, self.is_mutable)
        table.name = "" if self._anonymous else self._name
        return table


class HashTableOp(TableOp):
    """table_handle: that of a table that gets its entries once."""

    is_mutable = False


class DenseTableOp(TableOp):
    """table_handle: that of a table of keys that are none of the inputs."""

    def _made(self, context: KernelContext) -> LookupTable:
        table = super()._made(context)
        table.key_shape = context.input(0).shape
        reserved = [table.keys_of(self.construction.op, key)[1][0] for key in context.inputs]
        if reserved.count(reserved[0]) > 1:
            message = f"empty_key and deleted_key must differ, got {reserved[0]!r} twice"
            context.failure(InvalidArgumentError(f"{self.construction.op}: {message}"))
        table.reserved = tuple(reserved)
        return table


def find(table_handle: np.ndarray, keys: np.ndarray, default_value: np.ndarray) -> np.ndarray:
    """The keys' values, the default for those that the table lacks (one for all, or one for each)."""
    op = "LookupTableFind"
    table = held(table_handle, LookupTable, op)
    with table.lock:
        table.check_initialized(op)
        outer, found = table.keys_of(op, keys)
        if default_value.shape == table.value_shape:
            (default,) = table.values_of(op, (), default_value)
            values: Iterable[object] = (table.entries.get(key, default) for key in found)
        else:
            defaults = table.values_of(op, outer, default_value)
            values = (table.entries.get(key, d) for key, d in zip(found, defaults, strict=True))
        return table.stacked(outer, values, len(found))


def insert(table_handle: np.ndarray, keys: np.ndarray, values: np.ndarray) -> None:
    """Put the values under the keys, in place of others that were there."""
    _put("LookupTableInsert", table_handle, keys, values, clear=False)


def replace_all(table_handle: np.ndarray, keys: np.ndarray, values: np.ndarray) -> None:
    """Have these entries and no others; a HashTable gets them as its entries."""
    table = held(table_handle, LookupTable, "LookupTableImport")
    if table.is_mutable:
        _put("LookupTableImport", table_handle, keys, values, clear=True)
    else:
        initialize(table_handle, keys, values)


def _put(op: str, handle: np.ndarray, keys: np.ndarray, values: np.ndarray, clear: bool) -> None:
    table = held(handle, LookupTable, op)
    with table.lock:
        table.check_mutable(op)
        outer, found = table.keys_of(op, keys)
        entries = zip(found, table.values_of(op, outer, values), strict=True)
        if clear:
            table.entries.clear()
        table.entries.update(entries)


def remove(table_handle: np.ndarray, keys: np.ndarray) -> None:
    """Have no entries with these keys."""
    op = "LookupTableRemove"
    table = held(table_handle, LookupTable, op)
    with table.lock:
        table.check_mutable(op)
        for key in table.keys_of(op, keys)[1]:
            table.entries.pop(key, None)


def export(table_handle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All keys, in any order, and their values."""
    table = held(table_handle, LookupTable, "LookupTableExport")
    with table.lock:
        count = len(table.entries)
        keys = zeros((count, *table.key_shape), numpy_dtype(table.key_type))
        for i, key in enumerate(table.entries):
            keys[i] = key
        return keys, table.stacked((count,), table.entries.values(), count)


def size(table_handle: np.ndarray) -> np.ndarray:
    """The number of entries, int64."""
    return np.array(len(held(table_handle, LookupTable, "LookupTableSize").entries), np.int64)


def initialize(table_handle: np.ndarray, keys: np.ndarray, values: np.ndarray) -> None:
    """Give a HashTable its entries."""
    op = "InitializeTable"
    table = held(table_handle, LookupTable, op)
    if table.is_mutable:
        raise InvalidArgumentError(f"{op}: the table must be a HashTable, got a mutable one")
    if keys.ndim != 1 or not matches(values.shape, keys.shape):
        shapes = f"{list(keys.shape)} and {list(values.shape)}"
        raise InvalidArgumentError(f"{op}: keys and values must be vectors of one length, got {shapes}")
    outer, found = table.keys_of(op, keys)
    table.initialize(op, found, table.values_of(op, outer, values))


REGISTRATIONS = (
    *(kernel_class(op, HashTableOp) for op in ("HashTable", "HashTableV2", "AnonymousHashTable")),
    *(
        kernel_class(f"{anonymous}MutableHashTable{of_tensors}{version}", TableOp)
        for of_tensors in ("", "OfTensors")
        for anonymous, version in (("", ""), ("", "V2"), ("Anonymous", ""))
    ),
    *(
        kernel_class(op, DenseTableOp)
        for op in ("MutableDenseHashTable", "MutableDenseHashTableV2", "AnonymousMutableDenseHashTable")
    ),
    *(
        kernel(f"{op}{version}", function)
        for version in ("", "V2")
        for op, function in (
            ("LookupTableFind", find),
            ("LookupTableInsert", insert),
            ("LookupTableImport", replace_all),
            ("LookupTableExport", export),
            ("LookupTableSize", size),
            ("InitializeTable", initialize),
        )
    ),
    kernel("LookupTableRemoveV2", remove),
)
