"""A partition's boundary: which tensors come in and go out, who else has them, and where their values lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import InvokeError, StateError

if TYPE_CHECKING:
    from ...lite.graph import Graph
    from ...lite.node import Node
    from ...lite.tensor import Shape, Tensor
    from .delegate import CudaDelegate
    from .device import Device
    from .launch import Place


class HeldTensor:
    """A tensor's value on the device; owner is what keeps memory of others there.

    copy, where there is one, is host memory that has the value, too, once the device is done.
    """

    def __init__(self, device: Device, address: int = 0, shape: Shape = (), owner: object = None) -> None:
        self._device = device
        self.address = address
        self.shape = shape
        self.copy: np.ndarray | None = None
        self._owner = owner

    @property
    def is_on_device(self) -> bool:
        """Whether the device itself has the value: a launch may have written it to the host alone."""
        on_host = 0 if self.copy is None else self.copy.__array_interface__["data"][0]
        return self.address not in (0, on_host)

    def forget(self) -> None:
        """The memory is not the value's any more."""
        self.address, self.copy = 0, None

    def read(self, tensor: Tensor) -> None:
        """Copy the value to the tensor's memory, once the device has it. StateError where it is gone."""
        if tensor.data is None or tensor.shape != self.shape or (self.address == 0 and tensor.nbytes):
            raise StateError(
                f"tensor {tensor!r}: its value of shape {self.shape} must be set again, or computed anew"
            )
        device, copy = self._device, self.copy
        with device.active():
            if copy is None:
                device.copy_out(tensor.data[: tensor.nbytes], self.address)
            device.synchronize()
        if copy is not None:
            tensor.data[: copy.size] = copy


class LentTensor:
    """An output's value for other libraries, until the next invoke; nothing has to be waited for."""

    def __init__(self, held: HeldTensor, dtype: np.dtype) -> None:
        self.__cuda_array_interface__ = {
            "data": (held.address, True),
            "shape": held.shape,
            "typestr": dtype.str,
            "strides": None,
            "stream": None,
            "version": 3,
        }


class BoundaryInput:
    """An input with bytes. staged is the pinned memory that the device reads it from.

    Where only this delegate reads the tensor, that becomes the tensor's own memory: what is set is then
    in place.
    """

    __slots__ = ("place", "staged", "takes_over", "tensor")

    def __init__(self, tensor: Tensor, place: Place, takes_over: bool) -> None:
        self.tensor = tensor
        self.place = place
        self.takes_over = takes_over
        self.staged: np.ndarray | None = None

    def stage(self, memory: np.ndarray) -> None:
        """Put the value into the pinned memory."""
        tensor = self.tensor
        if tensor.data is None:
            raise InvokeError(f"tensor {tensor!r}: it must have a value before it is read")
        memory[:] = tensor.data[: memory.size]
        self.staged = memory
        if self.takes_over:
            tensor.bind(memory)


@dataclass(frozen=True)
class BoundaryOutput:
    """An output; is_copied says that the host is going to read it, on_device that the device is."""

    tensor: Tensor
    place: Place
    held: HeldTensor
    is_copied: bool
    on_device: bool


@dataclass(frozen=True)
class Boundary:
    """The boundary of a partition as the execution plan is now; waits says that an invoke ends with it."""

    inputs: tuple[BoundaryInput, ...]
    outputs: tuple[BoundaryOutput, ...]
    waits: bool


def find_boundary(
    graph: Graph,
    node: Node,
    delegate: CudaDelegate,
    inputs: Mapping[int, Place],
    outputs: Mapping[int, Place],
    held: Mapping[int, HeldTensor],
) -> Boundary:
    """The boundary of the partition that the node runs; places are by the graph's tensor numbers."""
    nodes = [graph.nodes[n] for n in graph.execution_plan]
    others = _read_by(n for n in nodes if n.delegate is not delegate)
    own = _read_by(n for n in nodes if n.delegate is delegate and n is not node)
    last = next((n for n in reversed(nodes) if n.delegate is delegate), node)
    given = graph.inputs if graph.index == 0 else ()
    stays = delegate.cuda_options.outputs == "device"
    copied = others if stays else others.union(graph.outputs)
    tensors = graph.tensors
    return Boundary(
        tuple(
            BoundaryInput(tensors[t], place, t in given and t not in others)
            for t, place in inputs.items()
            if tensors[t].nbytes
        ),
        tuple(
            BoundaryOutput(tensors[t], place, held[t], t in copied, t in own or t not in copied)
            for t, place in outputs.items()
        ),
        node is last or not set(graph.outputs).isdisjoint(outputs),
    )


def _read_by(nodes: Iterable[Node]) -> set[int]:
    return {t for node in nodes for t in node.inputs}
