"""Machine code of kernels, compiled without a GPU, and what can be read off it."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from numlite.delegates.cuda.compile import compile_kernel
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.launch import Kernel
from numlite.delegates.cuda.partition_kernel import CudaKernel

from .simulation import interpreter_of

SHARED_BYTES = 227 << 10  # that a program may have on sm_90

_OPCODE = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+ )?([A-Z0-9_]+)", re.MULTILINE)


@dataclass(frozen=True)
class MachineCode:
    """Registers and stack bytes of a thread, dynamic shared memory in bytes, and instructions by name."""

    registers: int
    stack: int
    shared: int
    instructions: Counter[str]


@cache
def machine_code(kernel: Kernel, arch: int = 90) -> MachineCode:
    """Compile and read it with the tools that Triton brings."""
    import triton

    tools = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    cubin = compile_kernel(kernel, arch)
    with TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin.code)
        usage = _output(tools / "cuobjdump", "-res-usage", path)
        listing = _output(tools / "nvdisasm", "-c", path)
    found = re.search(r"REG:(\d+) STACK:(\d+) SHARED:(\d+)", usage)
    assert found is not None, usage
    registers, stack, static = map(int, found.groups())
    return MachineCode(registers, stack, cubin.shared + static, Counter(_OPCODE.findall(listing)))


def _output(tool: Path, *arguments: object) -> str:
    return subprocess.run(
        [str(tool), *map(str, arguments)], check=True, capture_output=True, text=True
    ).stdout


def kernels_of(
    model: bytes,
    shapes: Mapping[int, tuple[int, ...]],
    precision: str = "tf32x3",
    numerics: str = "default",
    arch: int = 90,
) -> list[Kernel]:
    """The variants that the model's partitions use for inputs of these shapes, by their numbers."""
    delegate = CudaDelegate(CudaOptions(precision=precision, arch=arch))
    interpreter = interpreter_of(model, delegate, numerics)
    for t, shape in shapes.items():
        interpreter.resize_tensor_input(t, shape)
    interpreter.allocate_tensors()
    subgraph = interpreter.core.subgraphs[0]
    found: dict[Kernel, None] = {}
    for n in subgraph.execution_plan:
        node = subgraph.nodes[n]
        assert node.delegate is delegate, delegate._reasons
        assert isinstance(node.user_data, CudaKernel)
        inputs = {t: subgraph.tensors[t].shape for t in node.inputs if not subgraph.tensors[t].is_constant}
        found.update((launch.kernel, None) for launch in node.user_data.lowered(subgraph, inputs).launches)
    return list(found)
