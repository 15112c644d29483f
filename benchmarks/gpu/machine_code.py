"""What the machine code of each launch says about its speed, without a GPU.

    python benchmarks/gpu/machine_code.py mobilenet_v2 int8 --batch 256

For each kind of layer: the launches' tiles, registers, shared memory, programs on a multiprocessor and
waves, the instructions of the main loop, and estimates in microseconds. `issue` is how long the schedulers
take to issue the instructions, `alu` the integer pipe, `mac` the tensor cores (with padded work), `floor`
the larger of bytes over bandwidth and multiply-adds over their rate. The estimates leave out latency and
all that is not counted here: they show what a kernel cannot be faster than, not how fast it is.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from functools import cache

from layers import NETWORKS, Layer
from numlite.delegates.cuda.launch import Kernel, Launch
from numlite.tests.delegates.cuda.graphs import NONE, RELU6, NetworkBuilder
from numlite.tests.delegates.cuda.machine_code import Instruction, MachineCode, launches_of, machine_code

# Of an H200: 4 schedulers on each of its multiprocessors, about 1.75 GHz; measured copy bandwidth, and
# rates of multiply-adds of matrices from the measured one of bfloat16 (others by the data sheet's ratios).
PROCESSORS, SCHEDULERS, CLOCK_MHZ = 132, 4, 1755
BYTES_PER_US = 4.3e6
MACS_PER_US = {
    "int8": 788e6,
    "bfloat16": 394e6,
    "float16": 394e6,
    "tf32": 197e6,
    "tf32x3": 66e6,
    "ieee": 30e6,
}
_PROCESSOR_REGISTERS, _PROCESSOR_SHARED, _PROCESSOR_THREADS = 65536, 228 << 10, 2048
_ELEMENT_BYTES = {"int8": 1, "bfloat16": 2, "float16": 2}
# A scheduler gives these to its integer pipe, at half its rate.
_INTEGER = (
    *("IADD3", "LOP3", "SHF", "PRMT", "ISETP", "FSETP", "FSEL", "SEL", "FMNMX", "VIADD", "VIMNMX", "I2FP"),
    *("LEA", "PLOP3", "IABS", "SGXT", "BMSK", "I2IP", "MOV", "CS2R", "VIADDMNMX"),
)
_TENSOR_CORES = ("IGMMA", "HGMMA", "IMMA", "HMMA")


@dataclass(frozen=True)
class Estimate:
    """One launch: how it is spread, and microseconds that parts of it take at least."""

    launch: Launch
    code: MachineCode
    per_processor: int
    waves: int
    iterations: int
    issue_us: float
    alu_us: float
    mac_us: float


def loop_iterations(launch: Launch) -> int:
    """How often a program runs its main loop."""
    names = [name for name, _ in launch.kernel.signature]
    values = dict(zip(names, launch.args, strict=True))
    if launch.kernel.function != "conv":
        return 1
    return int(values["steps"])  # type: ignore[arg-type]


def _issued(instructions: Counter[str], names: tuple[str, ...] | None = None) -> int:
    return sum(count for name, count in instructions.items() if names is None or name in names)


@cache
def _counts(kernel: Kernel) -> tuple[MachineCode, Counter[str], Counter[str]]:
    """The code, what is issued once, and what is issued in each turn of the main loop."""
    code = machine_code(kernel)
    loop = Counter(instruction.name for instruction in code.loop) if kernel.function == "conv" else Counter()
    return code, code.instructions - loop, loop


def estimate(launch: Launch, mode: str) -> Estimate:
    kernel = launch.kernel
    code, once, loop = _counts(kernel)
    threads = 32 * kernel.warps
    per_processor = min(
        _PROCESSOR_REGISTERS // (-(-code.registers // 8) * 8 * threads),
        _PROCESSOR_SHARED // (code.shared + 1024),
        _PROCESSOR_THREADS // threads,
        32,
    )
    programs = launch.grid[0] * launch.grid[1] * launch.grid[2]
    iterations = loop_iterations(launch)
    most = -(-programs // PROCESSORS)  # that one multiprocessor runs

    def us(names: tuple[str, ...] | None, slots: int) -> float:
        warp = _issued(once, names) + iterations * _issued(loop, names)
        return most * kernel.warps * warp * slots / SCHEDULERS / CLOCK_MHZ

    constants = dict(kernel.constants)
    tile = [int(constants.get(name, 0)) for name in ("BM", "BN", "BK")]
    macs = most * PROCESSORS * iterations * tile[0] * tile[1] * tile[2]
    waves = -(-programs // (PROCESSORS * per_processor))
    return Estimate(
        launch, code, per_processor, waves, iterations, us(None, 1), us(_INTEGER, 2), macs / MACS_PER_US[mode]
    )


def layer_launches(layer: Layer, batch: int, mode: str) -> list[Launch]:
    """The launches of a layer alone; mode is int8 or a precision of float32.

    Floats have an activation; of 8 bits, networks have scales that leave a RELU6 nothing to clamp.
    """
    graph = NetworkBuilder("int8" if mode == "int8" else "float32")
    fused = NONE if mode == "int8" else RELU6
    if layer.kind == "fc":
        shape: tuple[int, ...] = (batch, layer.depth)
        x = graph.value(shape)
        y = graph.fully_connected(x, layer.depth, layer.columns)
    else:
        shape = (batch, layer.side, layer.side, layer.depth)
        x = graph.value(shape)
        if layer.kind == "dw":
            y, _ = graph.depthwise(x, shape, layer.size, stride=layer.stride, fused=fused)
        else:
            y, _ = graph.conv(x, shape, layer.columns, layer.size, stride=layer.stride, fused=fused)
    precision = "tf32x3" if mode == "int8" else mode
    launches = launches_of(graph.build([x], [y]), {x: shape}, precision)
    return [launch for launch in launches if launch.label != "CAST"]  # a network has them at its ends


def floor_us(layer: Layer, batch: int, mode: str) -> float:
    """The larger of bytes over bandwidth and multiply-adds over their rate."""
    activations, weights = layer.elements
    nbytes = (batch * activations + weights) * _ELEMENT_BYTES.get(mode, 4)
    macs = 0 if layer.kind == "dw" else batch * layer.macs
    return max(nbytes / BYTES_PER_US, macs / MACS_PER_US[mode])


def _classes(loop: tuple[Instruction, ...]) -> str:
    """The main loop in short: tensor cores, loads by their widths, barriers, integer pipe, the rest."""
    forms = Counter(instruction.form for instruction in loop)
    named = [name for name in forms if name.startswith((*_TENSOR_CORES, "LDG", "LDS", "STS", "BAR"))]
    others = {name: count for name, count in forms.items() if name not in named}
    integer = sum(count for name, count in others.items() if name in _INTEGER)
    text = " ".join(f"{name}:{forms[name]}" for name in sorted(named))
    return f"{text} integer:{integer} other:{sum(others.values()) - integer}"


def _report(layer: Layer, count: int, batch: int, mode: str) -> tuple[float, float]:
    """Print a layer's lines; its floor and the largest estimate, for all of its kind."""
    floor = floor_us(layer, batch, mode)
    most = 0.0
    print(f"{count} x {layer}: floor {floor:.1f} us")
    for launch in layer_launches(layer, batch, mode):
        e = estimate(launch, mode)
        most += max(e.issue_us, e.alu_us, e.mac_us)
        constants = dict(launch.kernel.constants)
        tile = "x".join(str(constants[name]) for name in ("BM", "BN", "BK") if name in constants)
        stores = {i.form for i in e.code.listing if i.name == "STG"}
        programs = launch.grid[0] * launch.grid[1] * launch.grid[2]
        print(
            f"    {launch.kernel.function} {tile} w{launch.kernel.warps} s{launch.kernel.stages} "
            f"programs {programs} on each {e.per_processor} waves {e.waves} registers {e.code.registers} "
            f"shared {e.code.shared >> 10}K issue {e.issue_us:.1f} alu {e.alu_us:.1f} mac {e.mac_us:.1f} us"
        )
        print(
            f"        {e.iterations} x [{_classes(e.code.loop)}] "
            f"once {len(e.code.listing) - len(e.code.loop)} {' '.join(sorted(stores))}"
        )
    return count * floor, count * max(floor, most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("mode", choices=MACS_PER_US)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--layer", default="", help="only layers whose line has this text")
    chosen = parser.parse_args()
    layers = {k: n for k, n in NETWORKS[chosen.network].items() if chosen.layer in str(k)}
    floors, bounds = zip(
        *(_report(layer, n, chosen.batch, chosen.mode) for layer, n in layers.items()), strict=True
    )
    print(
        f"floors together {sum(floors):.0f} us, bounds {sum(bounds):.0f} us: at most "
        f"{sum(floors) / sum(bounds):.0%} of the limit"
    )


if __name__ == "__main__":
    main()
