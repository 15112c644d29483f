"""Numbers and sizes at the edges of what there is, and memory that is still in use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.operands import Weights
from numlite.delegates.cuda.partition_kernel import CudaKernel
from numlite.delegates.cuda.plan import WeightSlab
from numlite.delegates.cuda.simulated import SimulatedDevice, SimulatedGraph
from numlite.lite.errors import UnsupportedError
from numlite.schema import tflite

from .device_arrays import OnDevice
from .graphs import NetworkBuilder, Op, conv_model, random_input
from .simulation import (
    check_equal,
    interpreter_of,
    needs_triton,
    run,
    simulated,
    skip_unless_simulated,
    taken,
)
from .test_boundary import between

pytestmark = needs_triton
SPECIAL = np.array([0, -0.0, 1, np.nan, np.inf, -np.inf, 1e-40, 3.4e38, 1e20, -1e20, 88, 0.5], np.float32)


def test_local_responses_of_squares_beyond_float32() -> None:
    x = np.array([1e20, 1, 2, 3, 1e-40, 5], np.float32).reshape(1, 1, 1, 6)
    graph = NetworkBuilder("float32")
    a, y = graph.value(x.shape), graph.value(x.shape)
    options = tflite.LocalResponseNormalizationOptionsT(radius=1, bias=1.0, alpha=0.1, beta=0.5)
    graph.op(Op.LOCAL_RESPONSE_NORMALIZATION, [a], [y], options)
    check_equal(graph.build([a], [y]), [x])


@pytest.mark.parametrize("code", (Op.REDUCE_MAX, Op.REDUCE_MIN))
@pytest.mark.parametrize("axes", ([], [0], [2]))
def test_the_largest_of_one_element_is_that(code: tflite.BuiltinOperator, axes: list[int]) -> None:
    x = SPECIAL.reshape(1, -1, 1)
    shape = [n for k, n in enumerate(x.shape) if k not in axes]
    graph = NetworkBuilder("float32")
    a, y = graph.value(x.shape), graph.tensor(shape, np.float32)
    graph.op(
        code, [a, graph.constant(np.array(axes, np.int32))], [y], tflite.ReducerOptionsT(keep_dims=False)
    )
    check_equal(graph.build([a], [y]), [x])


LOWEST = {("int16", "default"), *((type, "reference") for type in ("int8", "uint8", "int16"))}


@pytest.mark.parametrize("numerics", ("default", "reference"))
@pytest.mark.parametrize("type, zero_point", (("int8", 127), ("int8", -128), ("uint8", 255), ("int16", 0)))
def test_no_number_becomes_an_end(type: str, zero_point: int, numerics: str) -> None:
    """The highest of 8 bits by XNNPACK's rounding, else the lowest."""
    graph = NetworkBuilder("float32")
    a = graph.value(SPECIAL.shape)
    y = graph.tensor(SPECIAL.shape, type, scale=0.5, zero_point=zero_point)
    graph.op(Op.QUANTIZE, [a], [y])
    model = graph.build([a], [y])
    check_equal(model, [SPECIAL], numerics)
    (got,) = run(interpreter_of(model, None, numerics), [SPECIAL])
    limits = np.iinfo(type)
    assert got[np.isnan(SPECIAL)] == (limits.min if (type, numerics) in LOWEST else limits.max)


def test_grids_that_no_gpu_takes_are_left_to_the_cpu() -> None:
    """A group is a row of programs, of which there are at most 65,535."""
    groups = 65536
    model = conv_model("float32", (1, 1, 1, groups), groups, 1, groups=groups)
    delegate = simulated()
    interpreter = interpreter_of(model, delegate)
    assert taken(delegate, interpreter) == 0
    assert "programs, got (1, 65536, 1)" in next(iter(delegate._reasons.values()))


@pytest.mark.parametrize("shape, is_taken", (((256, 112, 112, 96), True), ((256, 512, 512, 64), False)))
def test_offsets_that_int32_does_not_hold_are_left_to_the_cpu(shape: tuple[int, ...], is_taken: bool) -> None:
    delegate = simulated()
    interpreter = interpreter_of(conv_model("int8", shape, 16, 1), delegate)
    assert taken(delegate, interpreter) == is_taken
    assert is_taken or "less than 2**31 elements; a smaller batch" in next(iter(delegate._reasons.values()))


def test_weights_that_int32_offsets_do_not_reach_are_refused() -> None:
    weights = Weights(lambda: np.broadcast_to(np.int8(0), (2, 1 << 30)), "i8")
    with pytest.raises(UnsupportedError, match=r"less than 2\*\*31 elements, got 2,147,483,648"):
        WeightSlab(_device()).add({(0, "filter"): weights})


def test_graphs_of_inputs_that_lie_anywhere_are_forgotten() -> None:
    device = _device()
    delegate = CudaDelegate(CudaOptions(device="simulated"), device)
    model = conv_model("int8", (1, 2, 2, 8), 8, 1)
    interpreter, cpu = interpreter_of(model, delegate), interpreter_of(model)
    interpreter.allocate_tensors()
    for seed in range(20):
        x = random_input("int8", (1, 2, 2, 8), seed)
        delegate.set_input(interpreter, 0, OnDevice(device, x))
        interpreter.invoke()
        (output,) = interpreter.get_output_details()
        np.testing.assert_array_equal(interpreter.get_tensor(output["index"]), run(cpu, [x])[0])
    assert device.captures == 20 and len(device.graphs) - device.freed_graphs <= 8


class _BusyDevice(SimulatedDevice):
    """Its work is not done before somebody waits: nothing that a graph may use is freed until then."""

    def __init__(self) -> None:
        super().__init__()
        self.is_busy = False
        self.freed = self.freed_graphs = 0
        self.graphs: list[SimulatedGraph] = []

    def capture(self, work: Callable[[], None]) -> SimulatedGraph:
        graph = super().capture(work)
        self.graphs.append(graph)
        launch, free = graph.launch, graph.free

        def launched() -> None:
            self.is_busy = True
            launch()

        def freed() -> None:
            self._check()
            self.freed_graphs += 1
            free()

        graph.launch, graph.free = launched, freed  # type: ignore[method-assign]
        return graph

    def synchronize(self) -> None:
        super().synchronize()
        self.is_busy = False

    def free(self, address: int) -> None:
        self._check()
        super().free(address)

    def free_pinned(self, memory: np.ndarray) -> None:
        self._check()
        self.freed += 1

    def _check(self) -> None:
        assert not self.is_busy, "what a running graph uses must stay"


def _device() -> _BusyDevice:
    skip_unless_simulated()
    return _BusyDevice()


def test_what_a_running_graph_uses_stays() -> None:
    """Of two partitions the first waits for nothing: where the rest of an invoke fails, it still runs."""
    device = _device()
    delegate = CudaDelegate(CudaOptions(device="simulated"), device)
    interpreter = interpreter_of(between("last")[0], delegate)
    (detail,) = interpreter.get_input_details()
    for batch in range(1, 12):
        x = random_input("float32", (batch, *detail["shape"][1:]))
        run(interpreter, [x])
        subgraph = interpreter.core.subgraphs[0]
        nodes = [subgraph.nodes[n] for n in subgraph.execution_plan]
        first = next(node for node in nodes if isinstance(node.user_data, CudaKernel))
        first.user_data.invoke(subgraph, first)
        assert device.is_busy
    assert device.freed > 0
