"""Multiply-adds a cycle of kernels' inner loops, by llvm-mca on the code that is compiled for a target."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple


class Loop(NamedTuple):
    """What is looked at: of the loops with the most of an instruction, the one that takes the least cycles.

    The instruction is a pattern; one of them makes so many multiply-adds.
    """

    title: str
    target: str
    family: str
    instruction: str
    multiplies: int
    cpu: str  # LLVM's word
    goal: float


LOOPS = (
    Loop("int8 product", "aarch64-dotprod", "conv_q8", "sdot", 16, "neoverse-n1", 28),
    Loop("int8 product", "aarch64-i8mm", "conv_q8", "smmla", 32, "neoverse-n2", 0),
    Loop("int8 product", "aarch64", "conv_q8", "smull2?|smlal2?", 8, "cortex-a72", 7),
    Loop("float32 product", "aarch64-dotprod", "conv_f32", "fmla", 4, "neoverse-n1", 7),
    Loop("float32 product", "aarch64", "conv_f32", "fmla", 4, "cortex-a72", 3.6),
    Loop("int8 product", "x86-64-v3-vnni", "conv_q8", r"(?:\{vex\}\s)?vpdpbusd", 32, "alderlake", 55),
    Loop("int8 product", "x86-64-v3", "conv_q8", "vpmaddubsw", 32, "znver3", 0),
)

_EMIT = """
import sys
from numlite.kernels.compiled.language.target import compile_for
from numlite.kernels.compiled.language.targets import TARGETS
compile_for(TARGETS[sys.argv[1]])
from numlite.kernels.compiled.driver import compile
from numlite.kernels.compiled.families import all_families
compile.only_compile()
module = compile.kernel_module(all_families()[sys.argv[2]].sources())
sys.stdout.write(compile.target_machine().emit_assembly(module))
"""


class Found(NamedTuple):
    """A loop's instructions, how many of them were asked for, and what llvm-mca says."""

    loop: Loop
    instructions: int
    asked: int
    cycles: float

    @property
    def multiplies_a_cycle(self) -> float:
        return self.asked * self.loop.multiplies / self.cycles


def measured(loop: Loop, mca: str = "llvm-mca") -> Found:
    """Compile the loop's family for its target in a process of its own, and ask llvm-mca."""
    emitted = subprocess.run(
        [sys.executable, "-c", _EMIT, loop.target, loop.family], capture_output=True, text=True, check=True
    ).stdout
    bodies = list(inner_loops(emitted))
    most = max((asked(body, loop.instruction) for body in bodies), default=0)
    if not most:
        raise ValueError(f"{loop.family} for {loop.target}: must have a loop of {loop.instruction}, got none")
    triple = "aarch64-linux-gnu" if loop.target.startswith("aarch64") else "x86_64-linux-gnu"
    command = [mca, f"-mtriple={triple}", f"-mcpu={loop.cpu}", "-iterations=200"]

    def found(body: list[str]) -> Found:
        said = subprocess.run(command, input="\n".join(body), capture_output=True, text=True, check=True)
        return Found(loop, len(body), most, cycles(said.stdout, 200))

    largest = [body for body in bodies if asked(body, loop.instruction) == most]
    return min(map(found, largest), key=lambda each: each.cycles)


def inner_loops(assembly: str) -> Iterator[list[str]]:
    """The instructions of each loop without further labels, its branch back left in."""
    lines = [line for line in assembly.splitlines() if not re.match(r"\s*[.#/]\w*(?<!:)(?:\s|$)", line)]
    labels = {line.split(":")[0]: place for place, line in enumerate(lines) if re.match(r"\.?\w+:", line)}
    starts = set(labels.values())
    for place, line in enumerate(lines):
        branch = re.match(r"\s+(?:j\w+|b\.?\w*|cbn?z|tbn?z)\s+.*?(\.?L\w+)\s*$", line)
        first = labels.get(branch[1], place) if branch else place
        if first < place and not any(first < start <= place for start in starts):
            yield [re.split(r"\s(?://|#\s)", text)[0].strip() for text in lines[first + 1 : place + 1]]


def asked(lines: list[str], instruction: str) -> int:
    return sum(bool(re.match(rf"(?:{instruction})\s", line)) for line in lines)


def cycles(printed: str, iterations: int) -> float:
    """Of one iteration, by what llvm-mca printed."""
    found = re.search(r"Total Cycles:\s+(\d+)", printed)
    if not found:
        raise ValueError("llvm-mca: must print its cycles")
    return int(found[1]) / iterations
