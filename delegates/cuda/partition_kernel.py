"""CudaKernel: runs one partition as one graph of the device."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from ...lite.delegate import NULL_BUFFER_HANDLE
from ...lite.errors import InvokeError, PrepareError, UnsupportedError
from ..replaced_node import prepare_replaced
from ..simple import SimpleDelegateKernel
from .batches import batch_of, batched, tuned_batch
from .boundary import Boundary, HeldTensor, find_boundary
from .cpu_partition import CpuPartition
from .device import DeviceError, DeviceLostError
from .families import lower
from .fusion import Step, fuse
from .partition_graph import PartitionGraph
from .plan import Plan, WeightSlab
from .ready_plan import Arena, Outside, ReadyPlan
from .tuning import Choices, tuned

if TYPE_CHECKING:
    from ...lite.context import Context
    from ...lite.delegate import DelegateContext, DelegateParams
    from ...lite.kernel_call import KernelCall
    from ...lite.node import Node
    from ...lite.tensor import Shape, Tensor
    from .delegate import CudaDelegate
    from .device import Device
    from .launch import Launch
    from .lowering import Lowering

_LOG = logging.getLogger("numlite")
_MOST_PLANS = 8  # kept for each partition, the least recently used goes first


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
        self._plans: OrderedDict[tuple[object, ...], ReadyPlan] = OrderedDict()
        self._slab: WeightSlab | None = None
        self._arena = Arena()
        self._present: ReadyPlan | None = None
        self._boundary: Boundary | None = None
        self._pointed = 0  # the arena that the outputs' handles stand for
        self._pending = False
        self._on_cpu = False
        self._make_cpu: Callable[[], CpuPartition] | None = None
        self._cpu: CpuPartition | None = None
        # What runs on the CPU where calls alone do not: each node with its calls, None where Python runs it.
        self._in_turn: list[tuple[Node, Sequence[KernelCall] | None]] = []
        self._held: dict[int, HeldTensor] = {}

    def init(self, context: DelegateContext, params: DelegateParams) -> None:
        nodes = [context.node_and_registration(n)[0] for n in params.nodes_to_replace]
        inputs = tuple(t for t in params.input_tensors if not context.tensor(t).is_constant)
        tensors = {t: context.tensor(t) for n in nodes for t in (*n.inputs, *n.outputs) if t >= 0}
        self.take(tensors.__getitem__, nodes, inputs, params.output_tensors, {})
        self._replaced = nodes

    def take(
        self,
        find: Callable[[int], Tensor],
        nodes: Sequence[Node],
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        names: Mapping[int, int],
        make_cpu: Callable[[], CpuPartition] | None = None,
    ) -> None:
        """Run these nodes; names gives their numbers of the boundary's tensors where they differ.

        make_cpu gives what runs them without a device, where they are not the graph's own.
        """
        self._find, self._nodes, self._make_cpu = find, list(nodes), make_cpu
        self._inputs, self._outputs, self._names = inputs, outputs, dict(names)

    def _inner(self, t: int) -> int:
        return self._names.get(t, t)

    def lowered(
        self,
        context: Context,
        shapes: Mapping[int, Shape],
        arch: int = 0,
        choices: Choices | None = None,
    ) -> Lowering:
        """The launches for inputs of these shapes (by the partition's own numbers), fused.

        They are for an architecture, or the device's where it is 0. choices are those of tuning.
        """
        assert self._find is not None
        graph = PartitionGraph(self._find, self._nodes, context.numerics).fresh(shapes)
        inputs, outputs = [*map(self._inner, self._inputs)], [*map(self._inner, self._outputs)]
        plain = self._delegate.lowering(graph, inputs, outputs, arch)
        for node in self._nodes:
            lower(plain, Step(node))  # for the shapes
        batch = batch_of(shapes)
        batches = batch, tuned_batch(batch, self._delegate.cuda_options.batches)
        fused = self._delegate.lowering(graph, inputs, outputs, arch, batches, choices)
        fused.enter()
        for step in fuse(graph, outputs):
            lower(fused, step)
        fused.leave()
        return fused

    def prepare(self, context: Context, node: Node) -> Sequence[KernelCall] | None:
        delegate = self._delegate
        self._boundary = None
        self._in_turn = []
        if delegate.device is None or self._on_cpu:
            return self._prepare_for_cpu(context, node)
        try:
            with delegate.device.active():
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

    def _ready(self, context: Context) -> ReadyPlan:
        """The plan for the inputs' present shapes, kept or made."""
        shapes = {self._inner(t): context.tensor(t).shape for t in self._inputs}
        key = (context.numerics, *sorted(shapes.items()))
        found = self._plans.get(key)
        if found is None:
            device = self._delegate.device
            assert device is not None
            lowering = self.lowered(context, shapes)
            if self._delegate.cuda_options.tune:
                lowering = tuned(device, lowering, lambda choices: self.lowered(context, shapes, 0, choices))
            plan = Plan(lowering, device.maps_pinned)
            if self._slab is None:
                self._slab = WeightSlab(device)
            plan.upload(device, self._slab)
            if not self._plans:
                self._compile_ahead(context, device, shapes)
            found = self._plans[key] = ReadyPlan(plan, device)
            self._forget_plans(device)
        self._plans.move_to_end(key)
        return found

    def _compile_ahead(self, context: Context, device: Device, shapes: Mapping[int, Shape]) -> None:
        """Have kernels for other batch sizes compiled meanwhile, where the model leaves its batch open."""
        if not any(context.tensor(t).shape_signature[:1] == (-1,) for t in context.inputs):
            return
        for others in islice(batched(shapes, self._delegate.cuda_options.batches), 1, None):
            with suppress(UnsupportedError, PrepareError):  # not every batch has to be possible
                device.expect([launch.kernel for launch in self.lowered(context, others).launches])

    def _forget_plans(self, device: Device) -> None:
        while len(self._plans) > _MOST_PLANS:
            self._settle(device)
            _, oldest = self._plans.popitem(last=False)
            oldest.free()

    def invoke(self, context: Context, node: Node) -> None:
        if self._cpu is not None:
            self._cpu.invoke(context, node)
            return
        if self._in_turn:
            self._run_in_turn(context, node)
            return
        delegate = self._delegate
        device = delegate.device
        assert device is not None
        try:
            with device.active():
                if self._present is None:
                    self._present = self._ready(context)  # it was freed when memory had run out
                    self._boundary = None
                self._settle(device)
                boundary = self._boundary or self._find_boundary(context, node, device, self._present)
                self._run(context, device, self._present, boundary)
        except DeviceError as error:
            self._give_up(context, error)
            again = "the next invoke runs on the CPU" if self._on_cpu else "a smaller batch may run"
            raise InvokeError(f"{delegate.name}: {error}; {again}") from error
        for output in boundary.outputs:
            tensor = output.tensor
            if tensor.buffer_handle not in delegate.handles:
                tensor.buffer_handle = delegate.hold(output.held)
            tensor.data_is_stale = True

    def _find_boundary(self, context: Context, node: Node, device: Device, ready: ReadyPlan) -> Boundary:
        """The boundary as the plan of the whole graph is now, which prepare does not know yet."""
        for t in self._outputs:
            self._held.setdefault(t, HeldTensor(device))
        place = ready.plan.lowering.boundary_place
        self._boundary = find_boundary(
            context.graph,
            node,
            self._delegate,
            {t: place(self._inner(t)) for t in self._inputs},
            {t: place(self._inner(t)) for t in self._outputs},
            self._held,
        )
        ready.attach(self._boundary)
        self._pointed = 0
        return self._boundary

    def _settle(self, device: Device) -> None:
        """Wait for a run that nobody has waited for: its graph and its staging memory are still in use."""
        if self._pending:
            device.synchronize()
            self._pending = False

    def _run(self, context: Context, device: Device, ready: ReadyPlan, boundary: Boundary) -> None:
        arena = self._arena.address(device, ready.plan.layout.nbytes, self._plans.values())
        outside: Outside = ()
        for entry in boundary.inputs:
            tensor = entry.tensor
            address = self._delegate.address_of(tensor) if tensor.data_is_stale else None
            if address is not None:
                outside += ((entry.place, address),)
            elif tensor.data is not entry.staged or entry.staged is None:
                ready.stage(entry)
        graph = ready.graph(arena, self._slab, outside)
        if context.operator_profiler is None:
            graph.launch()
        else:
            self._profile(context, device, ready, arena, outside)
        if arena != self._pointed:
            ready.point(arena)
            self._pointed = arena
        self._pending = True
        if boundary.waits or ready.has_status:
            device.synchronize()
            self._pending = False
        fault = ready.fault()
        if fault is not None:
            raise InvokeError(fault)

    def _profile(
        self, context: Context, device: Device, ready: ReadyPlan, arena: int, outside: Outside
    ) -> None:
        """Run launch by launch, and tell how long each took."""
        assert context.operator_profiler is not None and self._slab is not None
        ready.copy_in(arena, outside)
        for number, (launch, values) in enumerate(ready.bound(arena, self._slab, outside)):

            def work(launch: Launch = launch, values: Sequence[int | float] = values) -> None:
                device.launch(launch.kernel, launch.grid, values)

            # A compiled partition's nodes have numbers of their own, which mean nothing here.
            node = launch.node if self._replaced and launch.node >= 0 else -1 - number
            context.operator_profiler.add(launch.label, node, round(device.time_us(work) * 1e3))
        ready.copy_out(arena)

    def stay_on_cpu(self, reason: object) -> None:
        """From now on the CPU runs the partition; the log says why, once."""
        if not self._on_cpu:
            _LOG.warning("%s: running on the CPU from now on: %s", self._delegate.name, reason)
        self._on_cpu = True

    def _give_up(self, context: Context, error: DeviceError) -> None:
        """Free what can be; from now on the CPU runs the partition where the device is lost."""
        self.free()
        if isinstance(error, DeviceLostError) or self._delegate.cuda_options.fallback:
            self.stay_on_cpu(error)
            context.resources.generation += 1  # has the nodes prepared again

    def _prepare_for_cpu(self, context: Context, node: Node) -> list[KernelCall] | None:
        for t in self._outputs:
            tensor = context.tensor(t)
            self._delegate.handles.pop(tensor.buffer_handle, None)
            tensor.buffer_handle, tensor.data_is_stale = NULL_BUFFER_HANDLE, False
        if self._on_cpu:
            node.delegate = None  # so that what is on the device is copied before the node reads it
        if self._make_cpu is not None:
            self._cpu = self._cpu or self._make_cpu()
            self._cpu.prepare(context, node)
            return None
        prepared = [(replaced, prepare_replaced(context, node, replaced)) for replaced in self._replaced]
        if any(calls is None for _, calls in prepared):
            self._in_turn = prepared
            return None
        return [call for _, calls in prepared for call in calls or ()]

    def _run_in_turn(self, context: Context, node: Node) -> None:
        """Run the replaced nodes one after the other, since some of them run in Python."""
        for replaced, calls in self._in_turn:
            if calls is not None:
                context.run_calls(node, calls)
            else:
                assert replaced.registration.invoke is not None
                replaced.registration.invoke(context, replaced)

    def free(self) -> None:
        if self._cpu is not None:
            self._cpu.free()
            self._cpu = None
        device = self._delegate.device
        plans, self._plans = list(self._plans.values()), OrderedDict()
        slab, self._slab = self._slab, None
        self._present = self._boundary = None
        for held in self._held.values():
            held.forget()
        if device is None:
            return
        try:
            with device.active():
                device.synchronize()
                for ready in plans:
                    ready.free()
                if slab is not None:
                    slab.free()
                self._arena.free(device)
        except DeviceError as error:
            _LOG.debug("%s: memory of a device that is lost: %s", self._delegate.name, error)
