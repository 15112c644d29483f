"""Machine code of kernels, compiled without a GPU, and what can be read off it."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from numlite.delegates.cuda.compile import CubinStore
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.launch import Kernel, Launch
from numlite.delegates.cuda.partition_kernel import CudaKernel
from numlite.lite.errors import UnsupportedError

from .simulation import interpreter_of

SHARED_BYTES = 227 << 10  # that a program may have on sm_90

_LINE = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][A-Z0-9_]*)(\S*)(.*)|^(\.L\w+):")
_TARGET = re.compile(r"\((\.L\w+)\)")


class Instruction(NamedTuple):
    """Its name, its modifiers (".E.128") and, of a branch, the label that it goes to."""

    name: str
    modifiers: str
    target: str

    @property
    def form(self) -> str:
        """The name, and of memory accesses how wide they are in bits: "LDG.128"."""
        if not self.name.startswith(("LDG", "STG", "LDS", "STS")):
            return self.name
        width = re.search(r"\.[US]?(8|16|64|128)\b", self.modifiers)
        return f"{self.name}.{width.group(1) if width else 32}"


@dataclass(frozen=True)
class MachineCode:
    """Registers and stack bytes of a thread, shared memory in bytes, and the instructions in order.

    labels gives the number of the instruction behind each label.
    """

    registers: int
    stack: int
    shared: int
    listing: tuple[Instruction, ...]
    labels: Mapping[str, int]

    @property
    def instructions(self) -> Counter[str]:
        """By name."""
        return Counter(instruction.name for instruction in self.listing)

    @property
    def loop(self) -> tuple[Instruction, ...]:
        """The longest loop's instructions, none where there is no loop."""
        best = range(0)
        for end, instruction in enumerate(self.listing):
            start = self.labels.get(instruction.target, end)
            if instruction.name == "BRA" and end - start >= len(best):
                best = range(start, end + 1) if start < end else best
        return self.listing[best.start : best.stop]


@cache
def _store(arch: int) -> CubinStore:
    return CubinStore(arch)


def compile_together(kernels: Iterable[Kernel], arch: int = 90) -> None:
    """Compile side by side what machine_code is going to read, which raises what does not compile."""
    with suppress(UnsupportedError):
        _store(arch).have(kernels)


@cache
def machine_code(kernel: Kernel, arch: int = 90) -> MachineCode:
    """Compile, where nobody has it yet, and read it with the tools that Triton brings."""
    import triton

    tools = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    cubin = _store(arch).cubin(kernel)
    with TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin.code)
        usage = _output(tools / "cuobjdump", "-res-usage", path)
        listing, labels = read_listing(_output(tools / "nvdisasm", "-c", path))
    found = re.search(r"REG:(\d+) STACK:(\d+) SHARED:(\d+)", usage)
    assert found is not None, usage
    registers, stack, static = map(int, found.groups())
    return MachineCode(registers, stack, cubin.shared + static, listing, labels)


def read_listing(text: str) -> tuple[tuple[Instruction, ...], dict[str, int]]:
    """The instructions of nvdisasm's listing of one kernel, and where its labels are."""
    found: list[Instruction] = []
    labels: dict[str, int] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        name, modifiers, rest, label = match.groups()
        if label:
            labels[label] = len(found)
        elif name != "NOP":
            target = _TARGET.search(rest)
            found.append(Instruction(name, modifiers, target.group(1) if target else ""))
    return tuple(found), labels


def _output(tool: Path, *arguments: object) -> str:
    return subprocess.run(
        [str(tool), *map(str, arguments)], check=True, capture_output=True, text=True
    ).stdout


def launches_of(
    model: bytes,
    shapes: Mapping[int, tuple[int, ...]],
    precision: str = "tf32x3",
    numerics: str = "default",
    arch: int = 90,
) -> list[Launch]:
    """The launches of the model's partitions for inputs of these shapes, by their numbers."""
    delegate = CudaDelegate(CudaOptions(precision=precision, arch=arch))
    interpreter = interpreter_of(model, delegate, numerics)
    for t, shape in shapes.items():
        interpreter.resize_tensor_input(t, shape)
    interpreter.allocate_tensors()
    subgraph = interpreter.core.subgraphs[0]
    found: list[Launch] = []
    for n in subgraph.execution_plan:
        node = subgraph.nodes[n]
        assert node.delegate is delegate, delegate._reasons
        assert isinstance(node.user_data, CudaKernel)
        inputs = {t: subgraph.tensors[t].shape for t in node.inputs if not subgraph.tensors[t].is_constant}
        found += node.user_data.lowered(subgraph, inputs).launches
    return found


def kernels_of(
    model: bytes,
    shapes: Mapping[int, tuple[int, ...]],
    precision: str = "tf32x3",
    numerics: str = "default",
    arch: int = 90,
) -> list[Kernel]:
    """The variants that launches_of uses, each once."""
    launches = launches_of(model, shapes, precision, numerics, arch)
    return list(dict.fromkeys(launch.kernel for launch in launches))
