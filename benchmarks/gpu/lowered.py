"""A model's launches for one batch and one mode: made without a device, and placed on one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.device import Device, Graph
from numlite.delegates.cuda.launch import Kernel, Place
from numlite.delegates.cuda.lowering import Lowering
from numlite.delegates.cuda.partition_kernel import CudaKernel
from numlite.delegates.cuda.plan import Plan, WeightSlab
from numlite.interpreter import Interpreter, OpResolverType

ARCH = 90
MODES = ("int8", "bfloat16", "float16", "tf32", "tf32x3")


def file_type(mode: str) -> str:
    """Which of a network's files a mode runs."""
    return mode if mode in ("int8", "uint8") else "float32"


def precision_of(mode: str) -> str:
    """The delegate's option for a mode; 8-bit models have no use for it."""
    return mode if file_type(mode) == "float32" else "tf32x3"


def open_device(kind: str) -> Device:
    """The device of a name, "cuda" or "simulated"."""
    if kind == "simulated":
        from numlite.delegates.cuda.simulated import SimulatedDevice

        return SimulatedDevice(ARCH)
    from numlite.delegates.cuda.driver import CudaDevice

    return CudaDevice()


def is_simulated(device: Device) -> bool:
    return device.name.startswith("simulated")


class LoweredModel:
    """What the delegate makes of a whole model; the model must become one partition.

    With a device kernels are made for it, and otherwise for arch. Only of a simulated device memory is used.
    """

    def __init__(
        self,
        model: Path | bytes,
        mode: str,
        batch: int | None = None,
        device: Device | None = None,
        resolver: OpResolverType = OpResolverType.AUTO,
    ) -> None:
        own = device if device is not None and is_simulated(device) else None
        options = CudaOptions(precision_of(mode), arch=ARCH if device is None else device.arch)
        interpreter = new_interpreter(model, CudaDelegate(options, device=own), resolver)
        resize(interpreter, batch)
        interpreter.allocate_tensors()
        subgraph = interpreter.core.subgraphs[0]
        nodes = [subgraph.nodes[n] for n in subgraph.execution_plan]
        if len(nodes) != 1 or not isinstance(nodes[0].user_data, CudaKernel):
            left = [node.registration.name for node in nodes if not isinstance(node.user_data, CudaKernel)]
            raise RuntimeError(f"model: it must be one partition, got {len(nodes)}, on the CPU: {left}")
        shapes = {
            t: subgraph.tensors[t].shape for t in nodes[0].inputs if not subgraph.tensors[t].is_constant
        }
        self.lowering: Lowering = nodes[0].user_data.lowered(subgraph, shapes)
        self._interpreter = interpreter  # whose tensors the lowering reads

    @property
    def kernels(self) -> list[Kernel]:
        return list(dict.fromkeys(launch.kernel for launch in self.lowering.launches))


def new_interpreter(
    model: Path | bytes,
    delegate: CudaDelegate | None = None,
    resolver: OpResolverType = OpResolverType.AUTO,
) -> Interpreter:
    """An interpreter of a file or its content, on the CPU without a delegate."""
    delegates = None if delegate is None else [delegate]
    if isinstance(model, bytes):
        return Interpreter(
            model_content=model,
            experimental_delegates=delegates,
            experimental_op_resolver_type=resolver,
        )
    return Interpreter(
        model_path=str(model), experimental_delegates=delegates, experimental_op_resolver_type=resolver
    )


def resize(interpreter: Interpreter, batch: int | None) -> None:
    """Give every input another first size."""
    for detail in interpreter.get_input_details() if batch is not None else ():
        interpreter.resize_tensor_input(detail["index"], (batch, *map(int, detail["shape"][1:])))


class PlacedModel:
    """A lowered model on a device: its memory, and inputs of random values, there and in pinned memory."""

    def __init__(self, lowered: LoweredModel, device: Device, seed: int = 0) -> None:
        self.device, self.lowered, self.lowering = device, lowered, lowered.lowering
        self.plan = Plan(lowered.lowering)
        self._slab = WeightSlab(device)
        self.plan.upload(device, self._slab)
        self._arena = device.allocate(max(self.plan.layout.nbytes, 1))
        self._inputs: dict[Place, int] = {}
        self._pinned: list[tuple[np.ndarray, Place]] = []
        self._results: list[tuple[np.ndarray, Place]] = []
        self._graphs: list[Graph] = []
        random = np.random.default_rng(seed)
        for t in self.lowering.inputs:
            self._give(t, random)
        for t in self.lowering.outputs:
            place = self.lowering.boundary_place(t)
            self._results.append((device.pinned(self.lowering.place_bytes(place)), place))
        device.synchronize()

    def _give(self, t: int, random: np.random.Generator) -> None:
        """An input's values, in device memory and in pinned memory."""
        tensor, place = self.lowering.graph.tensor(t), self.lowering.boundary_place(t)
        values = random_values(tensor.shape, tensor.dtype, random)
        memory = self.device.pinned(values.nbytes)
        memory[:] = values.reshape(-1).view(np.uint8)
        self._pinned.append((memory, place))
        self._inputs[place] = self.device.allocate(values.nbytes)
        self.device.copy_in(self._inputs[place], memory)

    def graph(self) -> Graph:
        """The launches alone; the input is in device memory."""
        bound = self.plan.bound(self._arena, self._slab, self._inputs)

        def work() -> None:
            for launch, values in bound:
                self.device.launch(launch.kernel, launch.grid, values)

        return self._captured(work)

    def graph_with_copies(self) -> Graph:
        """From pinned memory to the device, the launches, and the outputs back to pinned memory."""
        bound = self.plan.bound(self._arena, self._slab, self._inputs)

        def work() -> None:
            for memory, place in self._pinned:
                self.device.copy_in(self._inputs[place], memory)
            for launch, values in bound:
                self.device.launch(launch.kernel, launch.grid, values)
            for memory, place in self._results:
                self.device.copy_out(memory, self._arena + self.plan.layout.offsets[place])

        return self._captured(work)

    def _captured(self, work: Callable[[], None]) -> Graph:
        self._graphs.append(self.device.capture(work))
        return self._graphs[-1]

    def free(self) -> None:
        """Give everything back, once the device is idle."""
        self.device.synchronize()
        for graph in self._graphs:
            graph.free()
        for memory, _ in (*self._pinned, *self._results):
            self.device.free_pinned(memory)
        self.plan.free(self.device)
        self._slab.free()
        for address in (self._arena, *self._inputs.values()):
            self.device.free(address)


def random_values(shape: tuple[int, ...], dtype: np.dtype, random: np.random.Generator) -> np.ndarray:
    """Normal floats, and integers of the type's whole range. Of large arrays a part is repeated."""
    part = min(int(np.prod(shape)), 1 << 22)
    if np.dtype(dtype).kind == "f":
        values = random.standard_normal(part, np.float32).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        values = random.integers(limits.min, limits.max, part, dtype, endpoint=True)
    return np.resize(values, shape)
