"""BufferedSignature: one signature of a model, run on memory of its caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from .bound_memory import BoundMemory, address_of
from .errors import StateError
from .tensor import TensorType

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from .interpreter import Interpreter
    from .model import Signature
    from .subgraph import Subgraph
    from .tensor import Shape, Tensor


class Buffer(Protocol):
    """What a run needs of a buffer: memory is flat uint8; host memory has no shape of its own."""

    type: int
    shape: Shape
    is_host_memory: bool

    @property
    def memory(self) -> np.ndarray: ...

    @property
    def size(self) -> int: ...


_Place = tuple["Tensor", str, Buffer]


class BufferedSignature:
    """A signature whose names are in the order of its subgraph's inputs and outputs."""

    def __init__(self, core: Interpreter, signature: Signature) -> None:
        graph = core.subgraph(signature.subgraph_index)
        self.key = signature.key
        self.inputs = _in_order(signature.inputs, graph.inputs)
        self.outputs = _in_order(signature.outputs, graph.outputs)
        self._number = signature.subgraph_index
        self._core = core
        self._bound = BoundMemory(graph)
        self._in_place: list[np.ndarray] = []  # the memory of the last run, where all tensors lie in it

    @property
    def graph(self) -> Subgraph:
        return self._core.subgraph(self._number)

    def tensor(self, index: int) -> Tensor:
        return self._core.tensor(index, self._number)

    def allocate(self) -> None:
        """Prepare it for the inputs' shapes as they are, if they have changed."""
        self._core.allocate_tensors(self._number)

    def resize(self, index: int, shape: Iterable[int], strict: bool) -> None:
        self.unbind()
        self._core.resize_input(index, tuple(shape), strict, self._number)

    def unbind(self) -> None:
        """Let go of the memory of the last run; needed before another signature runs."""
        self._in_place = []
        self._core.bind_memory(self._bound, {})

    def run(self, inputs: Iterable[tuple[str, Buffer]], outputs: Iterable[tuple[str, Buffer]]) -> None:
        """One run, on buffers by the signature's names.

        ValueError for a buffer of another type, RuntimeError for one that does not fit.
        """
        taken = [(self.tensor(self.inputs[name]), name, buffer) for name, buffer in inputs]
        given = [(self.tensor(self.outputs[name]), name, buffer) for name, buffer in outputs]
        buffers = [buffer for _, _, buffer in (*taken, *given)]
        if not self._is_in_place(buffers):
            self._make_ready(taken, given)
        self._core.invoke(self._number)
        if not self._is_in_place(buffers):
            for tensor, name, buffer in given:
                self._copy_out(tensor, name, buffer)

    def _is_in_place(self, buffers: list[Buffer]) -> bool:
        """Whether the last run was on the same memory, all tensors lie in it, and still do."""
        if len(buffers) != len(self._in_place) or not self._bound.is_valid or not self.graph.is_current:
            return False
        return all(buffer.memory is memory for buffer, memory in zip(buffers, self._in_place, strict=True))

    def _make_ready(self, taken: list[_Place], given: list[_Place]) -> None:
        """Resize and allocate for these buffers; have tensors lie in them, or copy the inputs."""
        self._in_place = []
        for tensor, name, buffer in taken:
            self._check_type(tensor, f"input {name!r}", buffer)
            self._match_shape(tensor, name, buffer)
        self.allocate()
        for tensor, name, buffer in given:
            self._check_type(tensor, f"output {name!r}", buffer)
            if not buffer.memory.flags.writeable:
                raise StateError(f"{self._where(f'output {name!r}')}: its host memory is read-only")
            if not tensor.is_dynamic:
                self._check_room(tensor, name, buffer)
        self._core.bind_memory(self._bound, _wanted(taken, given))
        for tensor, name, buffer in taken:
            self._copy_in(tensor, name, buffer)
        if all(tensor.address == address_of(buffer.memory) for tensor, _, buffer in (*taken, *given)):
            self._in_place = [buffer.memory for _, _, buffer in (*taken, *given)]

    def _match_shape(self, tensor: Tensor, name: str, buffer: Buffer) -> None:
        """Resize the input to its buffer's shape, where only sizes differ that the model leaves open."""
        if tensor.shape == buffer.shape or (buffer.is_host_memory and buffer.size == tensor.size):
            return
        known = tensor.shape_signature
        is_open = len(known) == len(buffer.shape) and all(
            k in (-1, n) for k, n in zip(known, buffer.shape, strict=True)
        )
        if not is_open:
            raise StateError(
                f"{self._where(f'input {name!r}')}: its shape must be {tensor.shape}, got {buffer.shape}; "
                "resize_input_tensor changes it"
            )
        self.resize(tensor.index, buffer.shape, strict=True)

    def _check_type(self, tensor: Tensor, what: str, buffer: Buffer) -> None:
        if buffer.type != tensor.type:
            got = TensorType(buffer.type).name.lower()
            raise ValueError(f"{self._where(what)}: its type must be that of tensor {tensor!r}, got {got}")

    def _check_room(self, tensor: Tensor, name: str, buffer: Buffer) -> None:
        if len(buffer.memory) < tensor.nbytes:
            raise StateError(
                f"{self._where(f'output {name!r}')}: must have room for the {tensor.nbytes:,} bytes of "
                f"tensor {tensor!r}, got {len(buffer.memory):,}"
            )

    def _copy_in(self, tensor: Tensor, name: str, buffer: Buffer) -> None:
        if tensor.address == address_of(buffer.memory):
            return
        if tensor.is_constant or tensor.data is None:
            raise StateError(f"{self._where(f'input {name!r}')}: tensor {tensor!r} cannot be set")
        tensor.data[: tensor.nbytes] = buffer.memory[: tensor.nbytes]
        if tensor.delegate is not None:
            from .buffer_handles import written_from_outside

            written_from_outside(self.graph, tensor)

    def _copy_out(self, tensor: Tensor, name: str, buffer: Buffer) -> None:
        found = self._core.readable_tensor(tensor.index, self._number)
        self._check_room(found, name, buffer)
        if found.address != address_of(buffer.memory):
            buffer.memory[: found.nbytes] = found.dense_bytes()

    def _where(self, what: str) -> str:
        return f"signature {self.key!r}, {what}"


def _wanted(taken: list[_Place], given: list[_Place]) -> dict[int, np.ndarray]:
    """The memory in which tensors are to lie, by their index.

    Not that of an input that comes out elsewhere: another result may be written to either of its places.
    """
    found = {tensor.index: buffer for tensor, _, buffer in given if not tensor.is_dynamic}
    for tensor, _, buffer in taken:
        if found.setdefault(tensor.index, buffer) is not buffer:
            del found[tensor.index]
    sizes = {tensor.index: tensor.nbytes for tensor, _, _ in (*taken, *given)}
    return {t: buffer.memory[: sizes[t]] for t, buffer in found.items()}


def _in_order(names: dict[str, int], tensors: Iterable[int]) -> dict[str, int]:
    places = {t: place for place, t in enumerate(tensors)}
    return dict(sorted(names.items(), key=lambda item: places.get(item[1], len(places))))
