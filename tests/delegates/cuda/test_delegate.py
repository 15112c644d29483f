"""The delegate on the simulated device: partitions, arena, handles, resizing, graphs, and failures."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from numlite.delegates import compile_model, load_delegate
from numlite.delegates.cuda.compile import CubinStore, variant_name
from numlite.delegates.cuda.cubin import Cubin
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.device import DeviceUnavailableError
from numlite.delegates.cuda.partition_kernel import CudaKernel
from numlite.delegates.cuda.plan import ALIGNMENT, arena_layout
from numlite.delegates.cuda.program import read_program, write_program
from numlite.delegates.cuda.simulated import SimulatedDevice
from numlite.interpreter import Interpreter
from numlite.lite.arena_checker import find_faults
from numlite.lite.delegate_context import SubgraphDelegateContext
from numlite.lite.errors import InvokeError, ModelError, PrepareError, StateError, UnsupportedError
from numlite.lite.lifetimes import Lifetime
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .device_arrays import OnDevice
from .graphs import NetworkBuilder, Op, conv_model, network, random_input
from .machine_code import kernels_of
from .simulation import interpreter_of, needs_triton, run, simulated, skip_unless_simulated, taken

pytestmark = needs_triton
SHAPE = (1, 9, 9, 3)


def device_of(delegate: CudaDelegate) -> SimulatedDevice:
    assert isinstance(delegate.device, SimulatedDevice)
    return delegate.device


def kernel_of(interpreter: Interpreter) -> CudaKernel:
    subgraph = interpreter.core.subgraphs[0]
    kernel = subgraph.nodes[subgraph.execution_plan[0]].user_data
    assert isinstance(kernel, CudaKernel)
    return kernel


def two_partitions() -> bytes:
    """conv a; ATAN2, which stays on the CPU; conv of that, plus a: the second partition reads a."""
    graph, shape = NetworkBuilder("float32"), (1, 4, 4, 8)
    x = graph.value(shape, name="x")
    a, _ = graph.conv(x, shape, 8)
    left = graph.value(shape)
    graph.op(Op.ATAN2, [a, graph.constant(np.array(2, np.float32))], [left])
    b, _ = graph.conv(left, shape, 8)
    return graph.build([x], [graph.add(b, a, shape)])


def test_the_second_partition_reads_the_first_ones_output_on_the_device() -> None:
    model, delegate = two_partitions(), simulated()
    interpreter = interpreter_of(model, delegate)
    x = random_input("float32", (1, 4, 4, 8))
    for seed in (1, 2):
        x = random_input("float32", (1, 4, 4, 8), seed)
        (got,) = run(interpreter, [x])
        (expected,) = run(interpreter_of(model), [x])
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    subgraph = interpreter.core.subgraphs[0]
    nodes = [subgraph.nodes[n] for n in subgraph.execution_plan]
    assert [node.delegate is delegate for node in nodes] == [True, False, True]
    first, last = nodes[0].outputs[0], nodes[2]
    assert first in last.inputs and subgraph.tensors[first].buffer_handle in delegate.handles
    assert device_of(delegate).captures == 2


def test_outputs_stay_on_the_device_until_they_are_read() -> None:
    delegate = simulated()
    interpreter = interpreter_of(network("int8"), delegate)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, random_input("int8", SHAPE))
    interpreter.invoke()
    (detail,) = interpreter.get_output_details()
    tensor = interpreter.core.subgraphs[0].tensors[detail["index"]]
    assert tensor.data_is_stale
    value = interpreter.get_tensor(detail["index"])
    assert not tensor.data_is_stale
    np.testing.assert_array_equal(value, interpreter.get_tensor(detail["index"]))


def test_one_graph_launch_an_invoke_and_one_capture_a_shape() -> None:
    delegate = simulated()
    interpreter = interpreter_of(network("int8"), delegate)
    device = device_of(delegate)
    batches = (3, 1, 3, 1, 1)
    for n, batch in enumerate(batches):
        run(interpreter, [random_input("int8", (batch, *SHAPE[1:]))])
        assert device.graph_launches == n + 1
    assert device.captures == 2
    assert taken(delegate, interpreter) == 9


def test_resizing_compiles_nothing_and_packs_nothing() -> None:
    delegate = simulated()
    interpreter = interpreter_of(network("int8"), delegate)
    run(interpreter, [random_input("int8", (2, *SHAPE[1:]))])
    device = device_of(delegate)
    before = set(device.loaded)
    slab = kernel_of(interpreter)._slab
    for batch in (3, 5):
        run(interpreter, [random_input("int8", (batch, *SHAPE[1:]))])
    assert device.loaded == before
    assert kernel_of(interpreter)._slab is slab and slab is not None and len(slab._blocks) == 1


def test_a_larger_shape_after_many() -> None:
    """Plans are forgotten, the oldest first; results stay right, and memory does not grow with them."""
    model, delegate = conv_model("int8", (1, 4, 4, 8), 8), simulated()
    interpreter, cpu = interpreter_of(model, delegate), interpreter_of(model)
    sizes = []
    for batch in (*range(1, 13), 1, 12):
        x = random_input("int8", (batch, 4, 4, 8))
        np.testing.assert_array_equal(run(interpreter, [x])[0], run(cpu, [x])[0])
        sizes.append(device_of(delegate).allocated_bytes)
    assert len(kernel_of(interpreter)._plans) == 8
    assert sizes[-1] <= sizes[11]


@pytest.mark.parametrize("precision", ("tf32x3", "float16"))
def test_arena(precision: str) -> None:
    """No two places that are needed at once overlap, and all are aligned."""
    delegate = simulated(precision)
    interpreter = interpreter_of(network("float32"), delegate)
    interpreter.allocate_tensors()
    lowering = kernel_of(interpreter).lowered(interpreter.core.subgraphs[0], {0: (4, *SHAPE[1:])})
    layout = arena_layout(lowering)
    uses: dict[object, list[int]] = {}
    for position, launch in enumerate(lowering.launches):
        for place in launch.places:
            if place in layout.offsets:
                uses.setdefault(place, []).append(position)
    borders = [lowering.boundary_place(t) for t in (*lowering.inputs, *lowering.outputs)]
    for place in borders:
        uses.setdefault(place, []).append(0 if place == borders[0] else len(lowering.launches))
    places = list(layout.offsets)
    lifetimes = [
        Lifetime(n, lowering.place_bytes(place), min(uses[place]), max(uses[place]))
        for n, place in enumerate(places)
    ]
    offsets = [layout.offsets[place] for place in places]
    assert all(offset % ALIGNMENT == 0 for offset in offsets)
    assert not find_faults(lifetimes, offsets, layout.nbytes, ALIGNMENT)
    assert layout.nbytes < sum(lifetime.nbytes for lifetime in lifetimes)


def test_several_interpreters_share_nothing_that_moves() -> None:
    model = network("int8")
    interpreters = [interpreter_of(model, simulated()) for _ in range(2)]
    inputs = [random_input("int8", SHAPE, seed) for seed in (1, 2)]
    expected = [run(interpreter_of(model), [x])[0] for x in inputs]
    for _ in range(2):
        for interpreter, x, y in zip(interpreters, inputs, expected, strict=True):
            np.testing.assert_array_equal(run(interpreter, [x])[0], y)


def test_profile_has_a_row_for_each_launch() -> None:
    interpreter = interpreter_of(network("int8"), simulated())
    run(interpreter, [random_input("int8", SHAPE)])
    rows = [row.op for row in interpreter.profile(1)]
    assert rows.count("CONV_2D") == 4 and "DEPTHWISE_CONV_2D" in rows and "FULLY_CONNECTED" in rows


def test_without_a_device_it_says_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numlite.delegates.cuda.delegate._open_device", _no_device)
    with pytest.raises(DeviceUnavailableError, match="needs an NVIDIA GPU"):
        CudaDelegate()
    with pytest.raises(UnsupportedError, match="needs an NVIDIA GPU"):
        load_delegate("cuda")


def test_fallback_logs_one_line(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("numlite.delegates.cuda.delegate._open_device", _no_device)
    x = random_input("int8", SHAPE)
    with caplog.at_level(logging.WARNING, "numlite"):
        delegate = CudaDelegate(CudaOptions(fallback=True))
        interpreter = interpreter_of(network("int8"), delegate)
        got = run(interpreter, [x])
    np.testing.assert_array_equal(got[0], run(interpreter_of(network("int8")), [x])[0])
    assert [record.message.split(":")[0] for record in caplog.records] == ["running on the CPU"]


def _no_device(options: CudaOptions) -> object:
    from numlite.delegates.cuda.device import NEEDS

    raise DeviceUnavailableError(NEEDS)


def limited(nbytes: int, fallback: bool = False) -> CudaDelegate:
    skip_unless_simulated()
    options = CudaOptions(device="simulated", fallback=fallback)
    return CudaDelegate(options, SimulatedDevice(memory_bytes=nbytes))


def test_out_of_memory_leaves_smaller_batches() -> None:
    model = network("int8")
    interpreter = interpreter_of(model, limited(64 << 10))
    large, small = random_input("int8", (64, *SHAPE[1:])), random_input("int8", SHAPE)
    with pytest.raises((InvokeError, PrepareError), match="must be free"):
        run(interpreter, [large])
    with pytest.raises(InvokeError, match="must be free"):
        interpreter.invoke()
    np.testing.assert_array_equal(run(interpreter, [small])[0], run(interpreter_of(model), [small])[0])


def test_out_of_memory_falls_back() -> None:
    model = network("int8")
    interpreter = interpreter_of(model, limited(1 << 10, fallback=True))
    x = random_input("int8", SHAPE)
    np.testing.assert_array_equal(run(interpreter, [x])[0], run(interpreter_of(model), [x])[0])


def test_a_lost_device_fails_once_then_the_cpu_runs() -> None:
    model, delegate = two_partitions(), simulated()
    interpreter = interpreter_of(model, delegate)
    x = random_input("float32", (1, 4, 4, 8))
    (expected,) = run(interpreter_of(model), [x])
    run(interpreter, [x])
    device_of(delegate).lose()
    with pytest.raises(InvokeError, match=r"the device is lost.*runs on the CPU"):
        interpreter.invoke()
    for _ in range(2):
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        (detail,) = interpreter.get_output_details()
        np.testing.assert_allclose(interpreter.get_tensor(detail["index"]), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "options",
    ({"precision": "float8"}, {"device": "rocm"}, {"arch": "50"}, {"arch": "new"}, {"fallback": "perhaps"}),
)
def test_options_are_checked(options: dict[str, str]) -> None:
    with pytest.raises(UnsupportedError, match="must be"):
        load_delegate("cuda", options)


def test_what_is_left_out_says_why() -> None:
    graph = ModelBuilder()
    x, y = graph.tensor((2, 3)), graph.tensor((2, 3))
    graph.op(Op.ATAN2, [x, graph.constant(np.array(2, np.float32))], [y])
    delegate = simulated()
    interpreter_of(graph.build([x], [y]), delegate)
    assert "ATAN2 is not built for CUDA" in (delegate.why_left_out(0, 0) or "")


def test_cubins_are_kept_and_damaged_ones_made_again(tmp_path: Path) -> None:
    (kernel,) = kernels_of(conv_model("int8", (1, 4, 4, 16), 16, 1), {0: (1, 4, 4, 16)})
    cubin = CubinStore(90, tmp_path).cubin(kernel)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    assert Cubin.unpack(whole) == cubin
    for damaged in (b"", whole[:-1], whole[:40], bytes([*whole[:100], whole[100] ^ 1, *whole[101:]])):
        assert Cubin.unpack(damaged) is None
    file.write_bytes(whole[:-7])
    assert CubinStore(90, tmp_path).cubin(kernel) == cubin
    assert file.read_bytes() == whole
    assert CubinStore(80, tmp_path).key(kernel) != CubinStore(90, tmp_path).key(kernel)


def compiled_network(archs: tuple[int, ...] = (90,)) -> bytes:
    offline = CudaDelegate(CudaOptions(arch=archs[0], more_archs=archs[1:]))
    core = interpreter_of(network("int8"), offline).core
    compiled = compile_model(core, offline, "cuda", {"arch": ",".join(map(str, archs)), "min_nodes": "1"})
    assert len(compiled.partitions) == 1
    return compiled.content


def opened(model: bytes, delegate: CudaDelegate) -> Interpreter:
    delegate.loaded_as = "cuda"
    return Interpreter(model_content=model, experimental_delegates=[delegate])


def test_compiled_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file carries its machine code for any batch, and runs where the delegate has a device."""
    model, delegate = network("int8"), simulated()
    interpreter = opened(compiled_network(), delegate)
    for batch in (1, 3):
        x = random_input("int8", (batch, *SHAPE[1:]))
        np.testing.assert_array_equal(run(interpreter, [x])[0], run(interpreter_of(model), [x])[0])
    monkeypatch.setattr("numlite.delegates.cuda.compile.compile_kernel", _no_compiler)
    store = device_of(delegate).cubins
    assert all(store.cubin(kernel).code for b in (1, 3) for kernel in kernels_of(model, {0: (b, *SHAPE[1:])}))


def test_code_of_several_architectures_is_carried() -> None:
    """Each device takes its own; for one that has none it is compiled."""
    skip_unless_simulated()
    compiled = compiled_network((80, 90))
    for arch in (80, 90):
        delegate = CudaDelegate(CudaOptions(device="simulated"), SimulatedDevice(arch))
        opened(compiled, delegate).allocate_tensors()
        carried = device_of(delegate).cubins._known
        kernels = kernels_of(network("int8"), {0: SHAPE}, arch=arch)
        assert {variant_name(kernel, arch) for kernel in kernels} <= carried.keys()
    delegate = CudaDelegate(CudaOptions(device="simulated"), SimulatedDevice(86))
    opened(compiled, delegate).allocate_tensors()
    assert not device_of(delegate).cubins._known


def test_code_for_another_gpu_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless_simulated()
    compiled = compiled_network()
    delegate = CudaDelegate(CudaOptions(device="simulated"), SimulatedDevice(86))
    monkeypatch.setattr("numlite.delegates.cuda.program.find_spec", lambda name: None)
    with pytest.raises(UnsupportedError, match=r"must have code for this GPU, 86, got 90.*--arch 86"):
        opened(compiled, delegate).allocate_tensors()
    fallback = CudaDelegate(CudaOptions(device="simulated", fallback=True), SimulatedDevice(86))
    x = random_input("int8", SHAPE)
    (got,) = run(opened(compiled, fallback), [x])
    np.testing.assert_array_equal(got, run(interpreter_of(network("int8")), [x])[0])
    assert not device_of(fallback).graph_launches


def test_compiled_models_without_a_device(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With fallback the CPU runs them, and says so once; otherwise the error says what is needed."""
    compiled = compiled_network()
    monkeypatch.setattr("numlite.delegates.cuda.delegate._open_device", _no_device)
    with pytest.raises((PrepareError, UnsupportedError), match="needs an NVIDIA GPU"):
        Interpreter(model_content=compiled, trust_compiled_code=True).allocate_tensors()
    with caplog.at_level(logging.WARNING, "numlite"):
        interpreter = opened(compiled, CudaDelegate(CudaOptions(fallback=True)))
        for batch in (1, 3, 1):
            x = random_input("int8", (batch, *SHAPE[1:]), batch)
            expected = run(interpreter_of(network("int8")), [x])[0]
            np.testing.assert_array_equal(run(interpreter, [x])[0], expected)
    assert [record.message.split(":")[0] for record in caplog.records] == ["running on the CPU"]


def test_compiled_models_outlive_their_device() -> None:
    delegate, x = simulated(), random_input("int8", SHAPE)
    interpreter = opened(compiled_network(), delegate)
    (expected,) = run(interpreter, [x])
    device_of(delegate).lose()
    with pytest.raises(InvokeError, match="runs on the CPU"):
        interpreter.invoke()
    for _ in range(2):
        np.testing.assert_array_equal(run(interpreter, [x])[0], expected)


def _no_compiler(kernel: object, arch: int) -> Cubin:
    raise AssertionError(f"{kernel} must be in the file")


def test_damaged_programs_are_errors() -> None:
    model = conv_model("int8", (1, 4, 4, 16), 16, 1)
    offline = CudaDelegate(CudaOptions(arch=90))
    core = interpreter_of(model, offline).core
    subgraph = core.subgraphs[0]
    node = subgraph.nodes[subgraph.execution_plan[0]]
    context = SubgraphDelegateContext(subgraph, offline, may_replace=False)
    program = write_program(offline, context, node.options, node.user_data)  # type: ignore[arg-type]
    delegate = simulated()
    for damaged in (b"", program[:10], program[:200], program[:-1], b"x" + program[1:]):
        with pytest.raises(ModelError, match="it must be a program of"):
            read_program(delegate, CudaKernel(delegate), subgraph, node, damaged)


def test_inputs_in_device_memory_are_read_where_they_are() -> None:
    model, delegate = network("int8"), simulated()
    interpreter = interpreter_of(model, delegate)
    interpreter.allocate_tensors()
    (index,) = (detail["index"] for detail in interpreter.get_input_details())
    (result,) = (detail["index"] for detail in interpreter.get_output_details())
    values = [random_input("int8", SHAPE, seed) for seed in (1, 2, 3)]
    expected = [run(interpreter_of(model), [x])[0] for x in values]
    arrays = [OnDevice(device_of(delegate), x) for x in values]
    for n in (0, 1, 0):
        delegate.set_input(interpreter, index, arrays[n])
        interpreter.invoke()
        np.testing.assert_array_equal(interpreter.get_tensor(result), expected[n])
        np.testing.assert_array_equal(interpreter.get_tensor(index), values[n])
        delegate.set_input(interpreter, index, arrays[n])
    interpreter.set_tensor(index, values[2])
    interpreter.invoke()
    np.testing.assert_array_equal(interpreter.get_tensor(result), expected[2])
    delegate.set_input(interpreter, index, arrays[0])
    interpreter.resize_tensor_input(index, (2, *SHAPE[1:]))
    interpreter.allocate_tensors()
    with pytest.raises(InvokeError, match="set it again"):
        interpreter.invoke()


def test_device_inputs_are_checked() -> None:
    delegate = simulated()
    interpreter = interpreter_of(network("int8"), delegate)
    interpreter.allocate_tensors()
    (index,) = (detail["index"] for detail in interpreter.get_input_details())
    wrong = OnDevice(device_of(delegate), np.zeros((2, 9, 9, 3), np.int8))
    with pytest.raises(StateError, match="its type and shape"):
        delegate.set_input(interpreter, index, wrong)
    with pytest.raises(StateError, match="must be an input"):
        delegate.set_input(interpreter, index + 1, wrong)
    with pytest.raises(UnsupportedError, match="__dlpack__"):
        delegate.set_input(interpreter, index, [1, 2])
    with pytest.raises(UnsupportedError, match="memory of CUDA device 0"):
        delegate.set_input(interpreter, index, np.zeros(SHAPE, np.int8))
    wrong.__cuda_array_interface__["strides"] = (1, 1, 1, 1)
    with pytest.raises(UnsupportedError, match="contiguous"):
        delegate.set_input(interpreter, index, wrong)


def test_nodes_that_python_runs_are_run_without_a_device() -> None:
    """float16 sums run in NumPy on the CPU: without a device the partition runs each node in its turn."""
    model = ModelBuilder()
    x, middle, y = (model.tensor((2, 3), tflite.TensorType.FLOAT16) for _ in range(3))
    model.op(tflite.BuiltinOperator.ADD, [x, x], [middle], tflite.AddOptionsT())
    model.op(tflite.BuiltinOperator.ABS, [middle], [y])
    content = model.build([x], [y])
    value = np.linspace(-2, 3, 6).astype(np.float16).reshape(2, 3)
    interpreter = interpreter_of(content, CudaDelegate(CudaOptions(arch=90)), "default")
    interpreter.allocate_tensors()
    subgraph = interpreter.core.subgraphs[0]
    assert [subgraph.nodes[n].registration.name for n in subgraph.execution_plan] == ["CudaDelegate"]
    for sign in (1, -2):
        interpreter.set_tensor(x, value * np.float16(sign))
        interpreter.invoke()
        assert np.array_equal(interpreter.get_tensor(y), np.abs(value * np.float16(2 * sign)))
