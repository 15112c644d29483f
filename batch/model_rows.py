"""ModelRows: what a model takes and gives row by row, and runs of several rows at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..interpreter import Interpreter, OpResolverType, load_delegate
from ..lite.errors import InvokeError, UnsupportedError

if TYPE_CHECKING:
    from ..metadata import Normalization


class ModelRows:
    """An open model whose inputs and outputs are seen a row at a time.

    A row of an input of [1, ...] or [-1, ...] is what stands behind that first axis; of any other input it is
    all of it. `is_batched` where all inputs leave the first size open, and all outputs have it.
    """

    def __init__(
        self,
        model: str,
        signature: str | None = None,
        threads: int = 1,
        reference: bool = False,
        delegate: str | None = None,
        delegate_options: Mapping[str, str] | None = None,
    ) -> None:
        self._path = model
        self._core = Interpreter(
            model,
            num_threads=threads,
            experimental_op_resolver_type=OpResolverType.BUILTIN_REF if reference else OpResolverType.AUTO,
            experimental_delegates=(
                None if delegate is None else [load_delegate(delegate, dict(delegate_options or {}))]
            ),
        )
        core = self._core.core
        if signature is None:
            self._number = 0
            graph = core.subgraph()
            self._inputs = {
                graph.tensors[t].name: t for t in graph.inputs if not graph.tensors[t].is_constant
            }
            self._outputs = {graph.tensors[t].name: t for t in graph.outputs}
            if len(self._outputs) < len(set(graph.outputs)):
                raise UnsupportedError(f"{model}: outputs share a name; a signature names them")
        elif signature in core.signatures:
            found = core.signatures[signature]
            self._number, self._inputs, self._outputs = found.subgraph_index, found.inputs, found.outputs
        else:
            known = ", ".join(map(repr, core.signatures)) or "none"
            raise ValueError(f"signature {signature!r}: the model's signatures are {known}")
        self.inputs, self.outputs = list(self._inputs), list(self._outputs)
        self._signatures = {name: self._tensor(t).shape_signature for name, t in self._inputs.items()}
        self._details = {name: self._detail(t) for name, t in self._inputs.items()}

    @cached_property
    def is_batched(self) -> bool:
        open_first = [shape[:1] == (-1,) for shape in self._signatures.values()]
        outputs = [self._tensor(t).shape_signature[:1] == (-1,) for t in self._outputs.values()]
        return bool(open_first) and all(open_first) and all(outputs)

    @property
    def output_types(self) -> dict[str, tuple[np.dtype, int]]:
        """Of each output, NumPy's type and the rank that a row has."""
        found = {}
        for name, t in self._outputs.items():
            shape = self._tensor(t).declared_shape
            drops_first = self.is_batched or (self._has_rows and shape[:1] == (1,))
            found[name] = np.dtype(self._detail(t)["dtype"]), len(shape) - drops_first
        return found

    @property
    def _has_rows(self) -> bool:
        """Whether all inputs have a first axis for rows, though perhaps of one alone."""
        return all(shape[:1] in ((-1,), (1,)) for shape in self._signatures.values())

    def value(self, name: str, cell: Any) -> np.ndarray:
        """A cell as the input's value for one row; ValueError, or UnsupportedError, where it is none.

        A flat list serves a row of as many elements. Numbers must fit the input's type; bytes are a picture's
        file unless the input takes strings.
        """
        detail, shape = self._details[name], self._signatures[name]
        row = shape[1:] if shape[:1] in ((-1,), (1,)) else shape
        dtype = np.dtype(detail["dtype"])
        if isinstance(cell, Exception):
            raise cell
        if cell is None:
            raise ValueError(f"input {name!r}: the cell is null")
        if isinstance(cell, bytes | Path) and dtype.kind != "S":
            from ..media import image_input

            return image_input(cell, detail, self._normalizations[name])[0]
        array = np.asarray(cell)
        if array.dtype == object and array.ndim == 1 and array.size:
            array = np.stack([np.asarray(part) for part in array])  # a frame's nested arrays
        if array.dtype != dtype:
            array = _converted(name, array, dtype)
        if len(row) == array.ndim and all(n in (-1, m) for n, m in zip(row, array.shape, strict=True)):
            return array
        if -1 not in row and array.size == int(np.prod(row)):
            return array.reshape(row)
        raise ValueError(f"input {name!r}: a row must be of shape {list(row)}, got {list(array.shape)}")

    def grouped(
        self, values: Iterable[tuple[int, dict[str, np.ndarray]]], sizes: Sequence[int]
    ) -> Iterator[dict[int, dict[str, np.ndarray]]]:
        """The rows by number, those of one shape together, in groups of the largest size that they fill.

        A group of the largest size is given as soon as its last row has come, the others at the end.
        """
        largest = max(sizes) if self.is_batched else 1
        waiting: dict[Any, dict[int, dict[str, np.ndarray]]] = {}
        for place, row in values:
            shape = tuple(array.shape for array in row.values())
            group = waiting.setdefault(shape, {})
            group[place] = row
            if len(group) == largest:
                yield waiting.pop(shape)
        for rest in waiting.values():
            left = list(rest.items())
            while left:
                size = max(size for size in sizes if size <= len(left))
                yield dict(left[:size])
                del left[:size]

    def run(self, rows: Sequence[Mapping[str, np.ndarray]]) -> list[dict[str, np.ndarray]]:
        """The outputs of each row; several only where is_batched."""
        core = self._core.core
        stacked = {name: np.stack([row[name] for row in rows]) for name in self.inputs}
        for name, array in stacked.items():
            if self._signatures[name][:1] not in ((-1,), (1,)):
                stacked[name] = array[0]
            core.resize_input(self._inputs[name], stacked[name].shape, False, self._number)
        core.allocate_tensors(self._number)
        for name, array in stacked.items():
            core.set_tensor(self._inputs[name], array, self._number)
        core.invoke(self._number)
        outputs = {name: core.get_tensor(t, self._number) for name, t in self._outputs.items()}
        if self.is_batched:
            for name, array in outputs.items():
                if array.shape[:1] != (len(rows),):
                    raise InvokeError(
                        f"output {name!r}: must have a row for each of {len(rows)}, got shape {array.shape}"
                    )
            return [{name: array[n] for name, array in outputs.items()} for n in range(len(rows))]
        return [
            {
                name: np.asarray(array[0] if self._has_rows and array.shape[:1] == (1,) else array)
                for name, array in outputs.items()
            }
        ]

    @cached_property
    def _normalizations(self) -> dict[str, Normalization | None]:
        """What the metadata say of each input; they are of the main graph's."""
        from ..metadata import read

        metadata, graph = read(self._path), self._core.core.subgraph()
        known = len(metadata.inputs) if self._number == 0 else 0
        places = {name: list(graph.inputs).index(t) if known else 0 for name, t in self._inputs.items()}
        return {
            name: metadata.normalization(place) if place < known else None for name, place in places.items()
        }

    def _tensor(self, index: int) -> Any:
        return self._core.core.tensor(index, self._number)

    def _detail(self, index: int) -> dict[str, Any]:
        return self._core._get_tensor_details(index, self._number)


def _converted(name: str, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The numbers in the input's type; ValueError where that changes more than a float's last digits."""
    if dtype.kind == "S" and array.dtype.kind in "SUO":
        return array.astype(object) if array.dtype.kind != "S" else array
    if array.dtype == object and any(element is None for element in array.flat):
        raise ValueError(f"input {name!r}: the cell has a null among its elements")
    if array.dtype.kind not in "biuf" or (array.dtype.kind == "f" and dtype.kind != "f"):
        got = "text" if array.dtype.kind == "U" else "other objects" if array.dtype == object else array.dtype
        raise ValueError(f"input {name!r}: must be {dtype}, got {got}")
    with np.errstate(over="ignore"):
        converted = array.astype(dtype)
    if dtype.kind == "f":
        fits = np.array_equal(np.isinf(converted), np.isinf(array))
    else:
        fits = np.array_equal(converted, array)
    if not fits:
        raise ValueError(f"input {name!r}: values must fit {dtype}, got {array.min()} to {array.max()}")
    return converted
