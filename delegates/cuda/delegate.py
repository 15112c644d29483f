"""CudaDelegate: takes what the op families can lower, and runs each partition as one graph of the device."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from ...lite.delegate import (
    NULL_BUFFER_HANDLE,
    DelegateFlags,
    SerializedPartition,
)
from ...lite.errors import InvokeError, PrepareError, UnsupportedError
from ..replaced_node import prepare_replaced
from ..simple import SimpleDelegate, SimpleDelegateKernel, SimpleDelegateOptions
from .device import DeviceError, DeviceLostError, DeviceUnavailableError
from .families import FAMILIES
from .fusion import Step, fuse
from .lowering import PRECISIONS, Lowering
from .plan import Plan, WeightSlab
from .shadow import ShadowGraph

if TYPE_CHECKING:
    from ...lite.context import Context
    from ...lite.delegate import DelegateContext, DelegateParams
    from ...lite.kernel_call import KernelCall
    from ...lite.node import Node
    from ...lite.registration import Registration
    from ...lite.tensor import Shape, Tensor
    from .device import Device, Graph
    from .launch import Place

_LOG = logging.getLogger("numlite")
_MOST_PLANS = 8  # kept for each partition, the least recently used goes first
_DEVICES = ("cuda", "simulated")


@dataclass(frozen=True)
class CudaOptions:
    """How the delegate computes and where.

    precision is one of PRECISIONS. device is "cuda" (the GPU with number ordinal) or "simulated".
    arch, when it is not 0, makes kernels for that compute capability (90 for 9.0) without any device:
    for compiling models. With fallback, what the device cannot do runs on the CPU.
    """

    precision: str = "tf32x3"
    device: str = "cuda"
    ordinal: int = 0
    arch: int = 0
    fallback: bool = False
    min_nodes: int = 1

    def check(self) -> None:
        """UnsupportedError unless the values are ones that there are."""
        if self.precision not in PRECISIONS:
            raise UnsupportedError(
                f"precision must be one of {', '.join(PRECISIONS)}, got {self.precision!r}"
            )
        if self.device not in _DEVICES:
            raise UnsupportedError(f"device must be one of {', '.join(_DEVICES)}, got {self.device!r}")
        if self.arch and not 80 <= self.arch < 200:
            raise UnsupportedError(f"arch must be 80 (for 8.0) or more, got {self.arch}")


def create_delegate(
    precision: str = "tf32x3",
    device: str = "cuda",
    ordinal: str = "0",
    arch: str = "0",
    fallback: str = "false",
    min_nodes: str = "1",
) -> CudaDelegate:
    """The delegate from options as texts, as commands and compiled models have them."""
    numbers = {"ordinal": ordinal, "arch": str(arch).removeprefix("sm_"), "min_nodes": min_nodes}
    try:
        parsed = {name: int(text) for name, text in numbers.items()}
    except ValueError as error:
        raise UnsupportedError(f"ordinal, arch and min_nodes must be numbers, got {numbers}") from error
    yes = str(fallback).lower()
    if yes not in ("true", "false", "1", "0"):
        raise UnsupportedError(f"fallback must be true or false, got {fallback!r}")
    return CudaDelegate(CudaOptions(precision, device, fallback=yes in ("true", "1"), **parsed))


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
        self.cuda_options.check()
        super().__init__(SimpleDelegateOptions(min_nodes_per_partition=self.cuda_options.min_nodes))
        self.device = device
        self.handles: dict[int, HeldTensor] = {}
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
            _LOG.warning("running on the CPU: %s", error)

    # --- what it takes

    def is_node_supported(self, context: DelegateContext, node: Node, registration: Registration) -> bool:
        return self._fault(context, node) is None

    def why_not_supported(self, context: DelegateContext, node: Node, registration: Registration) -> str:
        return self._fault(context, node) or ""

    def _fault(self, context: DelegateContext, node: Node) -> str | None:
        """Why the node cannot be lowered, None when it can."""
        if node.registration.name not in FAMILIES:
            return f"{node.registration.name} is not built for CUDA"
        if self.device is None and not self.cuda_options.arch:
            return "there is no CUDA device"
        tensors = [context.tensor(t) for t in (*node.inputs, *node.outputs) if t >= 0]
        dynamic = [tensor for tensor in tensors if tensor.is_dynamic]
        if dynamic or any(tensor.is_variable for tensor in tensors):
            return f"{dynamic[0]!r} gets its shape by running" if dynamic else "it uses a variable"
        graph = ShadowGraph(context.tensor, [node], context.kernel_context.numerics)
        try:
            self.lowering(graph, (), ()).lower(Step(node))
        except (UnsupportedError, PrepareError) as error:
            return str(error)
        return None

    def lowering(self, graph: ShadowGraph, inputs: Sequence[int], outputs: Sequence[int]) -> Lowering:
        """An empty lowering for this delegate's device and precision."""
        options = self.cuda_options
        arch = self.device.arch if self.device is not None else options.arch
        simulated = self.device is not None and self.device.name.startswith("simulated")
        return Lowering(graph, inputs, outputs, options.precision, arch, simulated)

    def create_kernel(self) -> CudaKernel:
        return CudaKernel(self)

    # --- tensors on the device

    def hold(self, held: HeldTensor) -> int:
        """A new handle."""
        handle = next(self._numbers)
        self.handles[handle] = held
        return handle

    def copy_from_buffer_handle(self, context: Context, handle: int, tensor: Tensor) -> None:
        held = self.handles[handle]
        held.read(tensor.array())

    def free_buffer_handle(self, context: Context, handle: int) -> None:
        self.handles.pop(handle, None)

    def address_of(self, tensor: Tensor) -> int | None:
        """Where the device has the tensor's present value, None where only the host has it."""
        if tensor.delegate is not self or not tensor.data_is_stale:
            return None
        held = self.handles.get(tensor.buffer_handle)
        return None if held is None else held.address

    # --- compiled models

    def serialize_partition(
        self, context: DelegateContext, params: DelegateParams, user_data: object
    ) -> SerializedPartition:
        from .program import write_program

        assert isinstance(user_data, CudaKernel)
        inputs = tuple(t for t in params.input_tensors if not context.tensor(t).is_constant)
        return SerializedPartition(write_program(self, context, params, user_data), inputs)

    def load_partition(self, context: Context, node: Node, program: bytes) -> CudaKernel:
        from .program import read_program

        if self.device is None:
            self._open()
        if self.device is None:
            raise DeviceUnavailableError(
                "a compiled partition runs on a CUDA device, and there is none; the source model would run "
                "on the CPU"
            )
        kernel = self.create_kernel()
        read_program(self, kernel, context, node, program)
        return kernel


def _open_device(options: CudaOptions) -> Device:
    if options.device == "simulated":
        from .simulated import SimulatedDevice

        return SimulatedDevice(options.arch or 90)
    from .driver import CudaDevice

    return CudaDevice(options.ordinal)


class HeldTensor:
    """A partition's output on the device; address is 0 while it has none."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.address = 0

    def read(self, target: np.ndarray) -> None:
        """Copy the value to host memory, once the device has it."""
        self._device.activate()
        self._device.copy_out(target, self.address)
        self._device.synchronize()


class CudaKernel(SimpleDelegateKernel):
    """One partition: its graphs by the shapes of its inputs, its arena and its weights."""

    def __init__(self, delegate: CudaDelegate) -> None:
        self._delegate = delegate
        self._find: Callable[[int], Tensor] | None = None
        self._nodes: list[Node] = []
        self._replaced: list[Node] = []
        self._inputs: tuple[int, ...] = ()
        self._outputs: tuple[int, ...] = ()
        # The partition's numbers of the tensors, by those of the subgraph that it runs in.
        self._names: dict[int, int] = {}
        self._read_by_host: frozenset[int] = frozenset()
        self._plans: OrderedDict[tuple[object, ...], _ReadyPlan] = OrderedDict()
        self._slab: WeightSlab | None = None
        self._arena = _Arena()
        self._staging: dict[int, np.ndarray] = {}
        self._present: _ReadyPlan | None = None
        self._pending = False
        self._on_cpu = False
        self._held: dict[int, HeldTensor] = {}

    # --- what it runs

    def init(self, context: DelegateContext, params: DelegateParams) -> None:
        nodes = [context.node_and_registration(n)[0] for n in params.nodes_to_replace]
        inputs = tuple(t for t in params.input_tensors if not context.tensor(t).is_constant)
        tensors = {t: context.tensor(t) for n in nodes for t in (*n.inputs, *n.outputs) if t >= 0}
        self.take(tensors.__getitem__, nodes, inputs, params.output_tensors, {})
        self._replaced = nodes
        self._read_by_host = frozenset(context.outputs)

    def take(
        self,
        find: Callable[[int], Tensor],
        nodes: Sequence[Node],
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        names: Mapping[int, int],
    ) -> None:
        """Run these nodes; names gives their numbers of the border's tensors where they differ."""
        self._find, self._nodes = find, list(nodes)
        self._inputs, self._outputs, self._names = inputs, outputs, dict(names)

    def _inner(self, t: int) -> int:
        return self._names.get(t, t)

    # --- shapes

    def lowered(self, context: Context, shapes: Mapping[int, Shape]) -> Lowering:
        """The launches for inputs of these shapes (by the partition's own numbers), fused."""
        assert self._find is not None
        graph = ShadowGraph(self._find, self._nodes, context.numerics).fresh(shapes)
        inputs, outputs = [*map(self._inner, self._inputs)], [*map(self._inner, self._outputs)]
        plain = self._delegate.lowering(graph, inputs, outputs)
        for node in self._nodes:
            plain.lower(Step(node))  # for the shapes
        fused = self._delegate.lowering(graph, inputs, outputs)
        fused.enter()
        for step in fuse(graph, outputs):
            fused.lower(step)
        fused.leave()
        return fused

    def prepare(self, context: Context, node: Node) -> Sequence[KernelCall] | None:
        delegate = self._delegate
        if delegate.device is None or self._on_cpu:
            return self._prepare_for_cpu(context, node)
        try:
            delegate.device.activate()
            self._present = self._ready(context)
        except DeviceError as error:
            self._give_up(context, error)
            if not isinstance(error, DeviceLostError) and not delegate.cuda_options.fallback:
                raise PrepareError(f"{delegate.name}: {error}") from error
            return self._prepare_for_cpu(context, node)
        for t, shape in self._present.plan.output_shapes.items():
            outer = next(o for o in self._outputs if self._inner(o) == t)
            context.resize_tensor(context.tensor(outer), shape)
        return None

    def _ready(self, context: Context) -> _ReadyPlan:
        """The plan for the inputs' present shapes, kept or made."""
        shapes = {self._inner(t): context.tensor(t).shape for t in self._inputs}
        key = (context.numerics, *sorted(shapes.items()))
        found = self._plans.get(key)
        if found is None:
            device = self._delegate.device
            assert device is not None
            plan = Plan(self.lowered(context, shapes))
            if self._slab is None:
                self._slab = WeightSlab(device)
            plan.upload(device, self._slab)
            found = self._plans[key] = _ReadyPlan(plan)
            self._forget_plans(device)
        self._plans.move_to_end(key)
        return found

    def _forget_plans(self, device: Device) -> None:
        while len(self._plans) > _MOST_PLANS:
            _, oldest = self._plans.popitem(last=False)
            oldest.free(device)

    # --- running

    def invoke(self, context: Context, node: Node) -> None:
        delegate, ready = self._delegate, self._present
        assert ready is not None and delegate.device is not None
        try:
            delegate.device.activate()
            self._run(context, delegate.device, ready)
        except DeviceError as error:
            self._give_up(context, error)
            again = "the next invoke runs on the CPU" if self._on_cpu else "a smaller batch may run"
            raise InvokeError(f"{delegate.name}: {error}; {again}") from error
        for t in self._outputs:
            tensor = context.tensor(t)
            if tensor.buffer_handle == NULL_BUFFER_HANDLE or tensor.buffer_handle not in delegate.handles:
                tensor.buffer_handle = delegate.hold(self._held[t])
            tensor.data_is_stale = True

    def _run(self, context: Context, device: Device, ready: _ReadyPlan) -> None:
        if self._pending:
            device.synchronize()  # the staging memory may still be read
        plan = ready.plan
        arena = self._arena.address(device, plan.layout.nbytes, self._plans.values())
        outside: dict[Place, int] = {}
        for t in self._inputs:
            tensor, place = context.tensor(t), plan.lowering.border_place(self._inner(t))
            address = self._delegate.address_of(tensor)
            if address is None:
                self._stage(device, ready, self._inner(t), tensor)
            else:
                outside[place] = address
        graph = ready.graph(device, arena, self._slab, outside)
        if context.operator_profiler is None:
            graph.launch()
        else:
            self._profile(context, device, ready, arena, outside)
        for t in self._outputs:
            held = self._held.setdefault(t, HeldTensor(device))
            held.address = arena + plan.layout.offsets[plan.lowering.border_place(self._inner(t))]
        self._pending = True
        if self._read_by_host.intersection(self._outputs):
            device.synchronize()
            self._pending = False

    def _stage(self, device: Device, ready: _ReadyPlan, t: int, tensor: Tensor) -> None:
        """Put an input's value where the graph copies it from."""
        if t not in ready.staging:
            ready.staging[t] = device.pinned(tensor.nbytes)
        if tensor.nbytes:
            assert tensor.data is not None
            ready.staging[t][:] = tensor.data[: tensor.nbytes]

    def _profile(
        self, context: Context, device: Device, ready: _ReadyPlan, arena: int, outside: Mapping[Place, int]
    ) -> None:
        """Run launch by launch, and tell how long each took."""
        assert context.operator_profiler is not None and self._slab is not None
        ready.copy_inputs(device, arena, outside)
        for number, (launch, values) in enumerate(ready.plan.bound(arena, self._slab, outside)):

            def work(launch: object = launch, values: Sequence[int | float] = values) -> None:
                device.launch(launch.kernel, launch.grid, values)  # type: ignore[attr-defined]

            # A compiled partition's nodes have numbers of their own, which mean nothing here.
            node = launch.node if self._replaced and launch.node >= 0 else -1 - number
            context.operator_profiler.add(launch.label, node, round(device.time_us(work) * 1e3))

    # --- when the device fails

    def _give_up(self, context: Context, error: DeviceError) -> None:
        """Free what can be; from now on the CPU runs the partition where the device is lost."""
        self.free()
        if isinstance(error, DeviceLostError) or self._delegate.cuda_options.fallback:
            if not self._on_cpu:
                _LOG.warning("%s: running on the CPU from now on: %s", self._delegate.name, error)
            self._on_cpu = True
            context.resources.generation += 1  # has the nodes prepared again

    def _prepare_for_cpu(self, context: Context, node: Node) -> list[KernelCall]:
        if not self._replaced:
            raise UnsupportedError("a compiled partition runs on a CUDA device only, and it is lost")
        for t in self._outputs:
            tensor = context.tensor(t)
            self._delegate.handles.pop(tensor.buffer_handle, None)
            tensor.buffer_handle, tensor.data_is_stale = NULL_BUFFER_HANDLE, False
        calls: list[KernelCall] = []
        for replaced in self._replaced:
            calls += prepare_replaced(context, node, replaced) or ()
        return calls

    def free(self) -> None:
        device = self._delegate.device
        plans, self._plans = list(self._plans.values()), OrderedDict()
        slab, self._slab = self._slab, None
        self._present = None
        if device is None:
            return
        try:
            device.activate()
            device.synchronize()
            for ready in plans:
                ready.free(device)
            if slab is not None:
                slab.free()
            self._arena.free(device)
        except DeviceError as error:
            _LOG.debug("%s: memory of a device that is lost: %s", self._delegate.name, error)


class _Arena:
    """One block of device memory for all shapes of a partition; it grows to the largest."""

    def __init__(self) -> None:
        self._start = self._nbytes = 0

    def address(self, device: Device, nbytes: int, plans: object) -> int:
        """Where nbytes lie; graphs that were captured for an older block are dropped."""
        if nbytes > self._nbytes or not self._start:
            self.free(device)
            for ready in plans:  # type: ignore[attr-defined]
                ready.drop_graphs()
            self._start, self._nbytes = device.allocate(max(nbytes, 1)), nbytes
        return self._start

    def free(self, device: Device) -> None:
        if self._start:
            device.free(self._start)
        self._start = self._nbytes = 0


class _ReadyPlan:
    """A plan with its constants on the device, its graphs and its staging memory."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.staging: dict[int, np.ndarray] = {}
        self._graphs: dict[tuple[tuple[Place, int], ...], Graph] = {}

    def copy_inputs(self, device: Device, arena: int, outside: Mapping[Place, int]) -> None:
        """Copy the staged inputs into the arena."""
        for t, memory in self.staging.items():
            place = self.plan.lowering.border_place(t)
            if place not in outside and memory.size:
                device.copy_in(arena + self.plan.layout.offsets[place], memory)

    def graph(
        self, device: Device, arena: int, slab: WeightSlab | None, outside: Mapping[Place, int]
    ) -> Graph:
        """The graph for inputs that lie on the device at these addresses; captured once."""
        key = tuple(sorted(outside.items()))
        found = self._graphs.get(key)
        if found is None:
            assert slab is not None
            bound = self.plan.bound(arena, slab, outside)

            def work() -> None:
                self.copy_inputs(device, arena, outside)
                for launch, values in bound:
                    device.launch(launch.kernel, launch.grid, values)

            found = self._graphs[key] = device.capture(work)
        return found

    def drop_graphs(self) -> None:
        for graph in self._graphs.values():
            graph.free()
        self._graphs.clear()

    def free(self, device: Device) -> None:
        self.drop_graphs()
        for memory in self.staging.values():
            device.free_pinned(memory)
        self.staging.clear()
        self.plan.free(device)


__all__ = ["CudaDelegate", "CudaOptions", "create_delegate"]
