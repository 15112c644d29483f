"""CudaDelegate: takes what the op families can lower."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Protocol

from ...lite.delegate import (
    DelegateFlags,
    SerializedPartition,
)
from ...lite.errors import PrepareError, StateError, UnsupportedError
from ...schema.shown import shown
from ..graph_partition import GraphPartitionHelper
from ..simple import SimpleDelegate, SimpleDelegateOptions
from .boundary import HeldTensor, LentTensor
from .device import DeviceUnavailableError
from .device_array import NO_STREAM, device_array
from .families import FAMILIES, lower
from .fusion import Step
from .lowering import Lowering
from .options import CudaOptions
from .partition_cost import ProfitablePartitions
from .partition_graph import PartitionGraph
from .partition_kernel import CudaKernel

if TYPE_CHECKING:
    from ...lite.context import Context
    from ...lite.delegate import DelegateContext, DelegateParams
    from ...lite.interpreter import Interpreter
    from ...lite.node import Node
    from ...lite.registration import Registration
    from ...lite.tensor import Tensor
    from .device import Device
    from .tuning import Choices

_LOG = logging.getLogger("numlite")
_ADDRESS_ALIGNMENT = 16  # that kernels are compiled for


def create_delegate(
    precision: str = "tf32x3",
    device: str = "cuda",
    ordinal: str = "0",
    arch: str = "",
    fallback: str = "false",
    min_nodes: str = "0",
    batches: str = "1,4,16,64,256",
    outputs: str = "host",
    tune: str = "false",
) -> CudaDelegate:
    """The delegate from options as texts, as commands and compiled models have them."""
    texts = {
        "precision": precision,
        "device": device,
        "ordinal": ordinal,
        "arch": arch,
        "fallback": fallback,
        "min_nodes": min_nodes,
        "batches": batches,
        "outputs": outputs,
        "tune": tune,
    }
    return CudaDelegate(CudaOptions.parse({name: str(text) for name, text in texts.items()}))


class HasCore(Protocol):
    """numlite.Interpreter, as far as the delegate looks into it."""

    @property
    def core(self) -> Interpreter: ...


class CudaDelegate(SimpleDelegate):
    """Runs partitions on a GPU. One delegate is for one interpreter; several may share a GPU.

    Without a device: DeviceUnavailableError, or with the option fallback one line in the log, and the
    model runs on the CPU.
    """

    flags = (
        DelegateFlags.ALLOW_DYNAMIC_TENSORS
        | DelegateFlags.REQUIRE_PROPAGATED_SHAPES
        | DelegateFlags.PER_OPERATOR_PROFILING
    )

    def __init__(self, options: CudaOptions | None = None, device: Device | None = None) -> None:
        self.cuda_options = options or CudaOptions()
        super().__init__(SimpleDelegateOptions(min_nodes_per_partition=self.cuda_options.min_nodes))
        self.device = device
        self.handles: dict[int, HeldTensor] = {}
        self._too_small: dict[tuple[int, int], str] = {}
        self._numbers = count()
        self._is_lost = False
        if device is None and not self.cuda_options.arch:
            self._open()

    def _open(self) -> None:
        try:
            self.device = _open_device(self.cuda_options)
        except DeviceUnavailableError as error:
            if not self.cuda_options.fallback:
                raise
            self._is_lost = True
            _LOG.warning("running on the CPU: %s", error)

    def is_node_supported(self, context: DelegateContext, node: Node, registration: Registration) -> bool:
        return self._fault(context, node) is None

    def why_not_supported(self, context: DelegateContext, node: Node, registration: Registration) -> str:
        return self._fault(context, node) or ""

    def _fault(self, context: DelegateContext, node: Node) -> str | None:
        """Why the node cannot be lowered, None when it can."""
        if node.registration.name not in FAMILIES:
            return f"{shown(node.registration.name)} is not built for CUDA"
        if self.device is None and not self.cuda_options.arch:
            return "there is no CUDA device"
        tensors = [context.tensor(t) for t in (*node.inputs, *node.outputs) if t >= 0]
        dynamic = [tensor for tensor in tensors if tensor.is_dynamic]
        if dynamic or any(tensor.is_variable for tensor in tensors):
            return f"{dynamic[0]!r} gets its shape by running" if dynamic else "it uses a variable"
        graph = PartitionGraph(context.tensor, [node], context.kernel_context.numerics)
        try:
            lower(self.lowering(graph, (), ()), Step(node))
        except (UnsupportedError, PrepareError) as error:
            return str(error)
        known = any(graph.tensor(t).is_constant for t in node.outputs if t >= 0)
        return "its value is known before it runs" if known else None

    def partition_helper(self, context: DelegateContext) -> GraphPartitionHelper:
        self._too_small = {place: why for place, why in self._too_small.items() if place[0] != context.index}
        if self.cuda_options.min_nodes:
            return super().partition_helper(context)
        return ProfitablePartitions(context, self.takes_node, self.cuda_options.batches, self._too_small)

    def why_left_out(self, subgraph: int, node: int) -> str | None:
        return self._too_small.get((subgraph, node)) or super().why_left_out(subgraph, node)

    def lowering(
        self,
        graph: PartitionGraph,
        inputs: Sequence[int],
        outputs: Sequence[int],
        arch: int = 0,
        batch: tuple[int, int] = (0, 0),
        choices: Choices | None = None,
    ) -> Lowering:
        """An empty lowering for this delegate's precision, and for its device where arch is 0.

        Kernels are chosen for batch[1] where the batch is batch[0]; choices are those of tuning.
        """
        options = self.cuda_options
        if not arch:
            arch = self.device.arch if self.device is not None else options.arch
        simulated = self.device is not None and self.device.name.startswith("simulated")
        return Lowering(
            graph,
            inputs,
            outputs,
            options.precision,
            arch=arch,
            simulated=simulated,
            batch=batch,
            choices=choices or {},
        )

    def create_kernel(self) -> CudaKernel:
        return CudaKernel(self)

    def hold(self, held: HeldTensor) -> int:
        """A new handle."""
        handle = next(self._numbers)
        self.handles[handle] = held
        return handle

    def copy_from_buffer_handle(self, context: Context, handle: int, tensor: Tensor) -> None:
        self.handles[handle].read(tensor)

    def copy_to_buffer_handle(self, context: Context, handle: int, tensor: Tensor) -> None:
        """Nothing: a value that the host has set is copied by the next invoke that reads it."""

    def set_input(self, interpreter: HasCore, index: int, array: object) -> None:
        """Give an input the value of an array in device memory, which stays where it is.

        array has __cuda_array_interface__ or __dlpack__, and the input's type and shape; its memory must
        not change until the next invoke is done. set_tensor gives the input a value of the host again.
        UnsupportedError for other arrays, StateError for another shape.
        """
        subgraph = interpreter.core.subgraphs[0]
        tensor = interpreter.core.tensor(index)
        if self.device is None or index not in subgraph.inputs:
            raise StateError(f"set_input: tensor {tensor!r} must be an input, and there must be a device")
        found = device_array(array, self.cuda_options.ordinal, self.device.stream)
        if (found.shape, found.dtype) != (tensor.shape, tensor.dtype):
            raise StateError(
                f"set_input: {tensor!r} must get its type and shape, got {found.dtype} {found.shape}"
            )
        if found.address % _ADDRESS_ALIGNMENT:
            raise UnsupportedError(f"set_input: memory must be aligned to 16 bytes, got {found.address:#x}")
        if found.stream != NO_STREAM:
            with self.device.active():
                self.device.wait_for(found.stream)
        handle = self.hold(HeldTensor(self.device, found.address, found.shape, found.owner))
        interpreter.core.set_buffer_handle(index, handle, self)
        tensor.data_is_stale = True

    def get_output(self, interpreter: HasCore, index: int) -> LentTensor:
        """What the last invoke has put into an output, where it lies in device memory.

        The result has __cuda_array_interface__, and is good until the next invoke. With the option
        outputs=device nothing else is done with outputs. StateError where the device does not have it.
        """
        tensor = interpreter.core.tensor(index)
        held = self.handles.get(tensor.buffer_handle) if tensor.delegate is self else None
        if held is None or index not in interpreter.core.subgraphs[0].outputs or not held.is_on_device:
            raise StateError(
                f"get_output: tensor {tensor!r} must be an output that an invoke has computed on the device; "
                "with the option outputs=device it stays there"
            )
        return LentTensor(held, tensor.dtype)

    def free_buffer_handle(self, context: Context, handle: int) -> None:
        self.handles.pop(handle, None)

    def address_of(self, tensor: Tensor) -> int | None:
        """Where the device has the tensor's present value, None where only the host has it."""
        if tensor.delegate is not self or not tensor.data_is_stale:
            return None
        held = self.handles.get(tensor.buffer_handle)
        if held is None:
            return None
        if held.shape != tensor.shape:
            raise StateError(f"{tensor!r} has been resized since it was set, from {held.shape}; set it again")
        return held.address

    def serialize_partition(
        self, context: DelegateContext, params: DelegateParams, user_data: object
    ) -> SerializedPartition:
        from .program import write_program

        assert isinstance(user_data, CudaKernel)
        inputs = tuple(t for t in params.input_tensors if not context.tensor(t).is_constant)
        return SerializedPartition(write_program(self, context, params, user_data), inputs)

    def load_partition(self, context: Context, node: Node, program: bytes) -> CudaKernel:
        from .program import read_program

        if self.device is None and not self._is_lost:
            self._open()
        kernel = self.create_kernel()
        read_program(self, kernel, context, node, program)
        return kernel


def _open_device(options: CudaOptions) -> Device:
    if options.device == "simulated":
        from .simulated import SimulatedDevice

        return SimulatedDevice(options.arch or 90)
    from .driver import CudaDevice

    return CudaDevice(options.ordinal)
