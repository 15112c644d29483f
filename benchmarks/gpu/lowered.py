"""A model's launches for one batch and one mode: made without a device, and placed on one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.device import Device, Graph
from numlite.delegates.cuda.launch import Launch, Place
from numlite.delegates.cuda.lowering import Lowering
from numlite.delegates.cuda.partition_kernel import CudaKernel
from numlite.delegates.cuda.plan import Plan, WeightSlab
from numlite.interpreter import Interpreter
from numlite.tests.delegates.cuda.simulation import interpreter_of

ARCH = 90
_MOST_BYTES = 16 << 30  # of arenas
MODES = ("int8", "bfloat16", "float16", "tf32", "tf32x3")
Bound = Sequence[tuple[Launch, tuple[int | float, ...]]]  # launches with their arguments' values


def delegate_for(mode: str, device: Device | None = None) -> CudaDelegate:
    """With the mode's precision, of which 8-bit models have no use; without a device one for ARCH."""
    precision = "tf32x3" if mode == "int8" else mode
    return CudaDelegate(CudaOptions(precision, arch=0 if device else ARCH), device=device)


def new_interpreter(
    model: Path | bytes, delegate: CudaDelegate | None, batch: int, numerics: str = "default"
) -> Interpreter:
    """An interpreter of a file or its content for inputs of a batch; on the CPU without a delegate."""
    content = model if isinstance(model, bytes) else model.read_bytes()
    interpreter = interpreter_of(content, delegate, numerics)
    for detail in interpreter.get_input_details():
        interpreter.resize_tensor_input(detail["index"], (batch, *map(int, detail["shape"][1:])))
    interpreter.allocate_tensors()
    return interpreter


class LoweredModel:
    """What the delegate makes of a whole model, for a device or for ARCH; it must become one partition."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter, subgraph = interpreter, interpreter.core.subgraphs[0]
        nodes = [subgraph.nodes[n] for n in subgraph.execution_plan]
        if len(nodes) != 1 or not isinstance(nodes[0].user_data, CudaKernel):
            left = [node.registration.name for node in nodes if not isinstance(node.user_data, CudaKernel)]
            raise RuntimeError(f"model: it must be one partition, got {len(nodes)}, on the CPU: {left}")
        tensors = {t: subgraph.tensors[t] for t in nodes[0].inputs}
        shapes = {t: tensor.shape for t, tensor in tensors.items() if not tensor.is_constant}
        self.lowering: Lowering = nodes[0].user_data.lowered(subgraph, shapes)


def lowered(
    model: Path | bytes, mode: str, batch: int, device: Device | None = None, numerics: str = "default"
) -> LoweredModel:
    return LoweredModel(new_interpreter(model, delegate_for(mode, device), batch, numerics))


class PlacedModel:
    """A lowered model on a device, with inputs of random values.

    arenas says how many copies there are at most of the memory that its launches write.
    """

    def __init__(self, lowered: LoweredModel, device: Device, seed: int = 0, arenas: int = 1) -> None:
        self.device, lowering = device, lowered.lowering
        self.plan = Plan(lowering)
        self._slab = WeightSlab(device)
        self.plan.upload(device, self._slab)
        nbytes = max(self.plan.layout.nbytes, 1)
        arenas = min(arenas, max(2, _MOST_BYTES // nbytes))
        self._arenas = [device.allocate(nbytes) for _ in range(arenas)]
        self._inputs: dict[Place, int] = {}
        self._graphs: list[Graph] = []
        random = np.random.default_rng(seed)
        for t in lowering.inputs:
            tensor, place = lowering.graph.tensor(t), lowering.boundary_place(t)
            values = random_values(tensor.shape, tensor.dtype, random).reshape(-1).view(np.uint8)
            self._inputs[place] = device.allocate(values.nbytes)
            device.copy_in(self._inputs[place], values)
            device.synchronize()

    def bound(self) -> list[Bound]:
        """The launches, for each arena."""
        return [self.plan.bound(arena, self._slab, self._inputs) for arena in self._arenas]

    def graph(self, launches: Bound) -> Graph:
        """Of some of them."""
        self._graphs.append(self.device.capture(lambda: launch_all(self.device, launches)))
        return self._graphs[-1]

    def free(self) -> None:
        """Give everything back, once the device is idle."""
        self.device.synchronize()
        for graph in self._graphs:
            graph.free()
        self.plan.free(self.device)
        self._slab.free()
        for address in (*self._arenas, *self._inputs.values()):
            self.device.free(address)


def launch_all(device: Device, launches: Bound) -> None:
    for launch, values in launches:
        device.launch(launch.kernel, launch.grid, values)


def random_values(shape: tuple[int, ...], dtype: np.dtype, random: np.random.Generator) -> np.ndarray:
    """Normal floats, and integers of the type's whole range. Of large arrays a part is repeated."""
    part = min(int(np.prod(shape)), 1 << 22)
    if np.dtype(dtype).kind == "f":
        return np.resize(random.standard_normal(part, np.float32).astype(dtype), shape)
    return np.resize(random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, part, dtype), shape)
