"""What `numlite benchmark` measures: a model's start, its latency, its memory, and its operators."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..lite.operator_work import multiply_adds, parameters, touched_bytes
from .timing import Spread, time_in_turns

if TYPE_CHECKING:
    from ..interpreter import Interpreter
    from ..lite.memory_report import MemoryReport
    from ..lite.node import Node
    from ..lite.profiler import OpProfile
    from ..lite.subgraph import Subgraph
    from .machine_peak import MachinePeak

_NARROW = frozenset(("INT8", "UINT8", "INT4", "INT2"))


@dataclass(frozen=True)
class Start:
    """A model that has run once. Times in ns: to open it, to prepare it (which may compile), of that run."""

    interpreter: Interpreter
    inputs: Mapping[str, np.ndarray]
    subgraph_index: int
    open_ns: int
    prepare_ns: int
    first_run_ns: int

    def invoke(self) -> None:
        self.interpreter.core.invoke(self.subgraph_index)

    @property
    def graph(self) -> Subgraph:
        return self.interpreter.core.subgraph(self.subgraph_index)

    @property
    def memory(self) -> MemoryReport:
        return self.interpreter.core.memory_report(self.subgraph_index)


def start(
    open_model: Callable[[], Interpreter],
    sources: Sequence[str],
    seed: int,
    signature: str | None,
    timeout: float | None,
) -> Start:
    """Open the model, give it its inputs and run it once, all of which may take timeout s after opening."""
    times = [time.perf_counter_ns()]
    interpreter = open_model()
    times.append(time.perf_counter_ns())
    with interpreter.core.limited(timeout):
        index, inputs = _prepared(interpreter, tuple(sources), seed, signature)
        times.append(time.perf_counter_ns())
        interpreter.core.invoke(index)
        times.append(time.perf_counter_ns())
    return Start(interpreter, inputs, index, *np.diff(times).tolist())


def _prepared(
    interpreter: Interpreter, sources: tuple[str, ...], seed: int, signature: str | None
) -> tuple[int, dict[str, np.ndarray]]:
    """The number of the subgraph that is to run, allocated and with its inputs set; the inputs."""
    if signature is None:
        from .model_runs import set_inputs

        return 0, set_inputs(interpreter, sources, seed)
    from .model_inputs import signature_inputs

    _, inputs = signature_inputs(interpreter, signature, sources, seed)
    core, found = interpreter.core, interpreter.core.signatures[signature]
    for name, array in inputs.items():
        core.resize_input(found.inputs[name], array.shape, False, found.subgraph_index)
    core.allocate_tensors(found.subgraph_index)
    for name, array in inputs.items():
        core.set_tensor(found.inputs[name], array, found.subgraph_index)
    return found.subgraph_index, inputs


@dataclass(frozen=True)
class Latency:
    """Times in ns of one run each, or of runs in rounds of about 10 ms (the round's mean)."""

    times: np.ndarray
    kind: str  # "runs" or "rounds"

    @property
    def spread(self) -> Spread:
        return Spread.of(self.times)


def measure(
    invoke: Callable[[], object],
    seconds: float,
    runs: int | None,
    warmup: int | None,
    on_progress: Callable[[float], None],
) -> Latency:
    """Rounds for that many seconds, or that many runs; warmup runs come first and do not count."""
    for _ in range(warmup if warmup is not None else 1 if runs else 0):
        invoke()
    if runs is None:
        return Latency(time_in_turns([invoke], seconds, on_progress)[:, 0], "rounds")
    times = np.empty(runs)
    for n in range(runs):
        begin = time.perf_counter_ns()
        invoke()
        times[n] = time.perf_counter_ns() - begin
        on_progress((n + 1) / runs)
    return Latency(times, "runs")


class OperatorResult(NamedTuple):
    """What an operator takes and does; rates are of its median time, None where its work is not known.

    macs are multiply-adds, parameters elements of weights, bytes those of its inputs and outputs.
    peak_share is of the multiply-adds that the machine's vector units can do of that type.
    """

    profile: OpProfile
    macs: int | None
    parameters: int
    bytes: int
    gflops: float | None
    gbytes: float | None
    peak_share: float | None


def operator_results(begun: Start, profile: Sequence[OpProfile], peak: MachinePeak) -> list[OperatorResult]:
    """Each row of the profile with its work; inside a delegate's node, that of the model's own operators."""
    graph = begun.graph
    nodes = {node.index: node for node in (*graph.nodes, *graph.schedule)}
    return [_result(graph, nodes[row.node], row, peak) for row in profile]


def _result(graph: Subgraph, node: Node, row: OpProfile, peak: MachinePeak) -> OperatorResult:
    tensor = graph.tensor
    macs = multiply_adds(node, tensor)
    seconds = row.median_ns / 1e9
    nbytes = touched_bytes(node, tensor)
    rate = macs / seconds if macs and seconds else None
    best = _peak_of(graph, node, peak)
    return OperatorResult(
        profile=row,
        macs=macs,
        parameters=parameters(node, tensor),
        bytes=nbytes,
        gflops=None if rate is None else 2 * rate / 1e9,
        gbytes=nbytes / seconds / 1e9 if seconds else None,
        peak_share=None if rate is None or best is None else rate / best,
    )


def _peak_of(graph: Subgraph, node: Node, peak: MachinePeak) -> float | None:
    """The peak that the operator's weights (or else its input) may be held against."""
    types = [graph.tensor(t).type_name.upper() for t in node.inputs if t >= 0]
    if _NARROW.intersection(types[:3]):
        return peak.int8_macs
    return peak.float32_macs if "FLOAT32" in types else None


def peak_memory_bytes() -> int | None:
    """The most memory that this process has held so far; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10


def profile(begun: Start, latency_ns: float, runs: int | None) -> list[OpProfile]:
    """Times of the operators over as many runs as were timed, or as take about a third of a second."""
    from .op_table import profile_runs

    core, graph = begun.interpreter.core, begun.subgraph_index
    return core.profile(runs or profile_runs(latency_ns, len(core.subgraph(graph).nodes)), graph)
