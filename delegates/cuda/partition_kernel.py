"""CudaKernel: runs one partition as one graph of the device."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...lite.delegate import NULL_BUFFER_HANDLE
from ...lite.errors import InvokeError, PrepareError, UnsupportedError
from ..replaced_node import prepare_replaced
from ..simple import SimpleDelegateKernel
from .device import DeviceError, DeviceLostError
from .fusion import Step, fuse
from .plan import Plan, WeightSlab
from .ready_plan import Arena, ReadyPlan
from .shadow import ShadowGraph

if TYPE_CHECKING:
    from ...lite.context import Context
    from ...lite.delegate import DelegateContext, DelegateParams
    from ...lite.kernel_call import KernelCall
    from ...lite.node import Node
    from ...lite.tensor import Shape, Tensor
    from .delegate import CudaDelegate
    from .device import Device
    from .launch import Launch, Place
    from .lowering import Lowering

_LOG = logging.getLogger("numlite")
_MOST_PLANS = 8  # kept for each partition, the least recently used goes first


class HeldTensor:
    """A tensor's value on the device; owner is what keeps memory of others there."""

    def __init__(self, device: Device, address: int = 0, shape: Shape = (), owner: object = None) -> None:
        self._device = device
        self.address = address
        self.shape = shape
        self._owner = owner

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
        self._plans: OrderedDict[tuple[object, ...], ReadyPlan] = OrderedDict()
        self._slab: WeightSlab | None = None
        self._arena = Arena()
        self._present: ReadyPlan | None = None
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

    def _ready(self, context: Context) -> ReadyPlan:
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
            found = self._plans[key] = ReadyPlan(plan)
            self._forget_plans(device)
        self._plans.move_to_end(key)
        return found

    def _forget_plans(self, device: Device) -> None:
        while len(self._plans) > _MOST_PLANS:
            _, oldest = self._plans.popitem(last=False)
            oldest.free(device)

    # --- running

    def invoke(self, context: Context, node: Node) -> None:
        delegate = self._delegate
        assert delegate.device is not None
        try:
            delegate.device.activate()
            if self._present is None:
                self._present = self._ready(context)  # it was freed when memory had run out
            self._run(context, delegate.device, self._present)
        except DeviceError as error:
            self._give_up(context, error)
            again = "the next invoke runs on the CPU" if self._on_cpu else "a smaller batch may run"
            raise InvokeError(f"{delegate.name}: {error}; {again}") from error
        for t in self._outputs:
            tensor = context.tensor(t)
            if tensor.buffer_handle == NULL_BUFFER_HANDLE or tensor.buffer_handle not in delegate.handles:
                tensor.buffer_handle = delegate.hold(self._held[t])
            tensor.data_is_stale = True

    def _run(self, context: Context, device: Device, ready: ReadyPlan) -> None:
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
            held.shape = context.tensor(t).shape
            held.address = arena + plan.layout.offsets[plan.lowering.border_place(self._inner(t))]
        self._pending = True
        fault = plan.fault(device)
        if fault is not None:
            raise InvokeError(fault)
        if self._read_by_host.intersection(self._outputs):
            device.synchronize()
            self._pending = False

    def _stage(self, device: Device, ready: ReadyPlan, t: int, tensor: Tensor) -> None:
        """Put an input's value where the graph copies it from."""
        if t not in ready.staging:
            ready.staging[t] = device.pinned(tensor.nbytes)
        if tensor.nbytes:
            assert tensor.data is not None
            ready.staging[t][:] = tensor.data[: tensor.nbytes]

    def _profile(
        self, context: Context, device: Device, ready: ReadyPlan, arena: int, outside: Mapping[Place, int]
    ) -> None:
        """Run launch by launch, and tell how long each took."""
        assert context.operator_profiler is not None and self._slab is not None
        ready.copy_inputs(device, arena, outside)
        for number, (launch, values) in enumerate(ready.plan.bound(arena, self._slab, outside)):

            def work(launch: Launch = launch, values: Sequence[int | float] = values) -> None:
                device.launch(launch.kernel, launch.grid, values)

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
