"""What crosses a partition's boundary: staging, results, streams through pinned memory, and who reads it."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.partition_kernel import CudaKernel
from numlite.delegates.cuda.simulated import SimulatedDevice
from numlite.interpreter import Interpreter
from numlite.lite.errors import InvokeError, StateError

from ..graphs import while_model
from .device_arrays import OnDevice
from .graphs import NetworkBuilder, Op, conv_model, network, random_input
from .simulation import interpreter_of, needs_triton, run, simulated, skip_unless_simulated, taken

pytestmark = needs_triton
SHAPE = (1, 4, 4, 8)


class CountingDevice(SimulatedDevice):
    """Counts the copies that are asked for."""

    def __init__(self, **options: int) -> None:
        super().__init__(**options)
        self.copies_in = self.copies_out = self.waits = 0

    def copy_in(self, address: int, source: np.ndarray) -> None:
        self.copies_in += 1
        super().copy_in(address, source)

    def copy_out(self, target: np.ndarray, address: int) -> None:
        self.copies_out += 1
        super().copy_out(target, address)

    def synchronize(self) -> None:
        self.waits += 1
        super().synchronize()


def counting(outputs: str = "host") -> tuple[CudaDelegate, CountingDevice]:
    skip_unless_simulated()
    device = CountingDevice()
    return CudaDelegate(CudaOptions(device="simulated", outputs=outputs), device), device


def quantized_between_floats(shape: tuple[int, ...] = SHAPE) -> bytes:
    """QUANTIZE, conv in int8, DEQUANTIZE."""
    graph = NetworkBuilder("int8")
    x = graph.tensor(shape, np.float32, name="x", shape_signature=[-1, *shape[1:]])
    inner = graph.value(shape)
    graph.op(Op.QUANTIZE, [x], [inner])
    y, y_shape = graph.conv(inner, shape, 8, 1)
    out = graph.tensor(y_shape, np.float32, name="y", shape_signature=[-1, *y_shape[1:]])
    graph.op(Op.DEQUANTIZE, [y], [out])
    return graph.build([x], [out])


def kernels_of(interpreter: Interpreter) -> list[CudaKernel]:
    subgraph = interpreter.core.subgraphs[0]
    found = (subgraph.nodes[n].user_data for n in subgraph.execution_plan)
    return [kernel for kernel in found if isinstance(kernel, CudaKernel)]


@pytest.mark.parametrize("numerics", ("default", "reference"))
def test_floats_are_quantized_on_the_way(numerics: str) -> None:
    """No copies at all: QUANTIZE reads the pinned input, DEQUANTIZE writes the pinned output."""
    model, (delegate, device) = quantized_between_floats(), counting()
    interpreter = interpreter_of(model, delegate, numerics)
    assert taken(delegate, interpreter) == 3
    values = [random_input("float32", (batch, *SHAPE[1:]), batch) for batch in (1, 3, 1)]
    got = [run(interpreter, [x])[0] for x in values]
    assert len(kernels_of(interpreter)) == 1
    before = device.copies_in, device.copies_out
    interpreter.invoke()
    assert (device.copies_in, device.copies_out) == before
    for mine, x in zip(got, values, strict=True):
        np.testing.assert_array_equal(mine, run(interpreter_of(model, None, numerics), [x])[0])
    layout = kernels_of(interpreter)[0]._present.plan.layout  # type: ignore[union-attr]
    assert layout.nbytes < 4 * 256 * 4, "the float input has no place in the arena"


def test_one_wait_an_invoke_and_none_to_read() -> None:
    delegate, device = counting()
    interpreter = interpreter_of(conv_model("int8", SHAPE, 8, 1), delegate)
    x = random_input("int8", SHAPE)
    run(interpreter, [x])
    device.waits = device.copies_out = 0
    interpreter.invoke()
    assert device.waits == 1
    interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    assert device.copies_out == 0


def test_inputs_are_set_where_the_device_reads_them() -> None:
    delegate = simulated()
    interpreter = interpreter_of(conv_model("int8", SHAPE, 8, 1), delegate)
    cpu = interpreter_of(conv_model("int8", SHAPE, 8, 1))
    run(interpreter, [random_input("int8", SHAPE)])
    tensor = interpreter.core.tensor(0)
    memory = tensor.data
    for seed in (2, 3):
        x = random_input("int8", SHAPE, seed)
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        assert tensor.data is memory
        np.testing.assert_array_equal(interpreter.get_tensor(0), x)
        output = interpreter.get_output_details()[0]["index"]
        np.testing.assert_array_equal(interpreter.get_tensor(output), run(cpu, [x])[0])
    view = interpreter.tensor(0)
    view()[...] = random_input("int8", SHAPE, 4)
    interpreter.invoke()
    expected = run(cpu, [random_input("int8", SHAPE, 4)])[0]
    np.testing.assert_array_equal(interpreter.get_tensor(output), expected)


def test_an_input_that_the_cpu_reads_too_stays_where_it_is() -> None:
    graph = NetworkBuilder("float32")
    x = graph.value(SHAPE, name="x")
    a, _ = graph.conv(x, SHAPE, 8, 1)
    left = graph.value(SHAPE)
    graph.op(Op.ATAN2, [x, graph.constant(np.array(2, np.float32))], [left])
    model = graph.build([x], [a, left])
    interpreter, cpu = interpreter_of(model, simulated()), interpreter_of(model)
    for seed in (1, 2):
        value = random_input("float32", SHAPE, seed)
        for mine, theirs in zip(run(interpreter, [value]), run(cpu, [value]), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


def between(outputs: str) -> tuple[bytes, int]:
    """Partition, ATAN2, partition; the first one's result is an output of the model, too."""
    graph = NetworkBuilder("float32")
    x = graph.value(SHAPE, name="x")
    a, _ = graph.conv(x, SHAPE, 8, 1)
    left = graph.value(SHAPE)
    graph.op(Op.ATAN2, [a, graph.constant(np.array(2, np.float32))], [left])
    b, _ = graph.conv(left, SHAPE, 8, 1)
    y = graph.add(b, a, SHAPE)
    return graph.build([x], {"both": [a, y], "last": [y]}[outputs]), a


@pytest.mark.parametrize("outputs", ("both", "last"))
def test_an_output_that_others_read(outputs: str) -> None:
    model, _ = between(outputs)
    interpreter, cpu = interpreter_of(model, simulated()), interpreter_of(model)
    for seed in (1, 2):
        x = random_input("float32", (2, *SHAPE[1:]), seed)
        for mine, theirs in zip(run(interpreter, [x]), run(cpu, [x]), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)
    assert len(kernels_of(interpreter)) == 2


def test_what_only_the_device_reads_is_not_copied() -> None:
    """conv, RELU on the CPU's side of nothing: two partitions that meet at a tensor of theirs alone."""
    graph = NetworkBuilder("float32")
    x, z = graph.value(SHAPE, name="x"), graph.value(SHAPE, name="z")
    a, _ = graph.conv(x, SHAPE, 8, 1)
    left = graph.value(SHAPE)
    graph.op(Op.ATAN2, [z, graph.constant(np.array(2, np.float32))], [left])
    y = graph.add(a, left, SHAPE)
    model = graph.build([x, z], [y])
    delegate = simulated()
    interpreter = Interpreter(
        model_content=model,
        experimental_delegates=[delegate],
        experimental_disable_delegate_clustering=True,
    )
    inputs = [random_input("float32", SHAPE, seed) for seed in (1, 2)]
    run(interpreter, inputs)
    (got,), (expected,) = run(interpreter, inputs), run(interpreter_of(model), inputs)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    kernels = kernels_of(interpreter)
    assert len(kernels) == 2
    copied = [[o.is_copied for o in kernel._boundary.outputs] for kernel in kernels]  # type: ignore[union-attr]
    assert copied == [[False], [True]]


def test_outputs_that_stay_on_the_device_are_copied_when_they_are_read() -> None:
    delegate, device = counting("device")
    model = conv_model("int8", SHAPE, 8, 1)
    interpreter, x = interpreter_of(model, delegate), random_input("int8", SHAPE)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    before = device.copies_out
    interpreter.invoke()
    assert device.copies_out == before
    (output,) = interpreter.get_output_details()
    np.testing.assert_array_equal(interpreter.get_tensor(output["index"]), run(interpreter_of(model), [x])[0])
    assert device.copies_out == before + 1
    interpreter.invoke()
    lent = delegate.get_output(interpreter, output["index"]).__cuda_array_interface__
    assert lent["shape"] == tuple(output["shape"]) and np.dtype(lent["typestr"]) == np.int8
    value = np.empty(lent["shape"], np.int8)
    device.copy_out(value, lent["data"][0])
    np.testing.assert_array_equal(value, run(interpreter_of(model), [x])[0])
    with pytest.raises(StateError, match="get_output"):
        delegate.get_output(interpreter, 0)


def test_set_tensor_after_set_input() -> None:
    """The value that was set last counts, though set_tensor knew the tensor's memory before."""
    delegate, values = simulated(), [random_input("int8", SHAPE, seed) for seed in (1, 2)]
    model = conv_model("int8", SHAPE, 8, 1)
    interpreter = interpreter_of(model, delegate)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, values[0])
    assert isinstance(delegate.device, SimulatedDevice)
    delegate.set_input(interpreter, 0, OnDevice(delegate.device, values[0]))
    interpreter.set_tensor(0, values[1])
    interpreter.invoke()
    (output,) = (detail["index"] for detail in interpreter.get_output_details())
    np.testing.assert_array_equal(interpreter.get_tensor(output), run(interpreter_of(model), [values[1]])[0])


@pytest.mark.parametrize("batches", ((0,), (2, 0, 2), (0, 3)))
def test_empty_batches(batches: tuple[int, ...]) -> None:
    for model in (quantized_between_floats(), conv_model("float32", SHAPE, 8, 1), between("both")[0]):
        interpreter, cpu = interpreter_of(model, simulated()), interpreter_of(model)
        for batch in batches:
            x = random_input("float32", (batch, *SHAPE[1:]))
            for mine, theirs in zip(run(interpreter, [x]), run(cpu, [x]), strict=True):
                assert mine.shape == theirs.shape
                np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


def test_a_partition_without_inputs() -> None:
    """What is computed of constants alone is the CPU's; a second input that nobody reads does no harm."""
    graph = NetworkBuilder("float32")
    x, unused = graph.value(SHAPE, name="x"), graph.value(SHAPE, name="unused")
    y = graph.unary(Op.ABS, x, SHAPE)
    model = graph.build([x, unused], [y, x])
    inputs = [random_input("float32", SHAPE, seed) for seed in (1, 2)]
    interpreter = interpreter_of(model, simulated())
    for _ in range(2):
        for mine, theirs in zip(run(interpreter, inputs), run(interpreter_of(model), inputs), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("type", ("float32", "int8"))
def test_no_batch_needs_kernels_that_are_not_expected(type: str) -> None:
    """Those of the first shape, and those that were compiled ahead, serve every batch."""
    delegate = simulated()
    interpreter = interpreter_of(network(type), delegate)
    interpreter.allocate_tensors()
    device = delegate.device
    assert isinstance(device, SimulatedDevice)
    ready = device.loaded | device.expected
    for batch in (*range(2, 40), 100, 255, 256, 257, 1000):
        interpreter.resize_tensor_input(0, (batch, 9, 9, 3))
        interpreter.allocate_tensors()
    assert device.loaded <= ready


@pytest.mark.parametrize("precision", ("float16", "bfloat16"))
def test_halves_are_converted_on_the_way(precision: str) -> None:
    skip_unless_simulated()
    device = CountingDevice()
    delegate = CudaDelegate(CudaOptions(precision=precision, device="simulated"), device)
    model, x = conv_model("float32", SHAPE, 8, 1), random_input("float32", SHAPE)
    interpreter = interpreter_of(model, delegate)
    (got,) = run(interpreter, [x])
    np.testing.assert_allclose(got, run(interpreter_of(model), [x])[0], rtol=5e-2, atol=5e-2)
    before = device.copies_in, device.copies_out
    interpreter.invoke()
    assert (device.copies_in, device.copies_out) == before


def test_the_same_tensor_twice() -> None:
    graph = NetworkBuilder("float32")
    x = graph.value(SHAPE, name="x")
    y = graph.add(x, x, SHAPE)
    model, value = graph.build([x], [y, y]), random_input("float32", SHAPE)
    for mine in run(interpreter_of(model, simulated()), [value]):
        np.testing.assert_array_equal(mine, value + value)


def test_values_survive_what_comes_between() -> None:
    """Inputs keep their values over release, another delegate and device inputs; old outputs say so."""
    model, delegate = conv_model("int8", SHAPE, 8, 1), simulated()
    interpreter, x = interpreter_of(model, delegate), random_input("int8", SHAPE)
    (expected,) = run(interpreter_of(model), [x])
    run(interpreter, [x])
    interpreter.invoke()
    (output,) = (detail["index"] for detail in interpreter.get_output_details())
    interpreter.resize_tensor_input(0, (5, *SHAPE[1:]))
    interpreter.allocate_tensors()
    with pytest.raises(StateError, match="computed anew"):
        interpreter.get_tensor(output)
    np.testing.assert_array_equal(run(interpreter, [x])[0], expected)
    interpreter.core.release_nonpersistent_memory()
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    np.testing.assert_array_equal(interpreter.get_tensor(output), expected)


def test_a_closed_device() -> None:
    """Tensors stay readable and writable; the invoke says what is wrong, then the CPU runs."""
    model, delegate = conv_model("int8", SHAPE, 8, 1), simulated()
    interpreter, x = interpreter_of(model, delegate), random_input("int8", SHAPE)
    (expected,) = run(interpreter, [x])
    assert isinstance(delegate.device, SimulatedDevice)
    delegate.device.lose()
    interpreter.set_tensor(0, x)
    np.testing.assert_array_equal(interpreter.get_tensor(0), x)
    with pytest.raises(InvokeError, match="lost"):
        interpreter.invoke()
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    (output,) = (detail["index"] for detail in interpreter.get_output_details())
    np.testing.assert_array_equal(interpreter.get_tensor(output), expected)


def test_a_partition_on_the_cpu_reads_what_is_on_the_device() -> None:
    """With fallback, only the second partition had no room: the first one stays on the device."""
    model, _ = between("last")
    skip_unless_simulated()
    device = SimulatedDevice()
    delegate = CudaDelegate(CudaOptions(device="simulated", fallback=True), device)
    interpreter, x = interpreter_of(model, delegate), random_input("float32", SHAPE)
    interpreter.allocate_tensors()
    second = kernels_of(interpreter)[1]
    second._on_cpu = True
    interpreter.core.runtime.resources.generation += 1
    for _ in range(2):
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        (output,) = (detail["index"] for detail in interpreter.get_output_details())
        expected = run(interpreter_of(model), [x])[0]
        np.testing.assert_allclose(interpreter.get_tensor(output), expected, rtol=1e-5, atol=1e-5)
    assert device.graph_launches == 2


def test_an_error_while_capturing_is_forgotten() -> None:
    model, delegate = conv_model("int8", SHAPE, 8, 1), simulated()
    interpreter, x = interpreter_of(model, delegate), random_input("int8", SHAPE)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, x)
    device = delegate.device
    assert isinstance(device, SimulatedDevice)
    loaded, device.loaded = device.loaded, set()
    with pytest.raises(InvokeError, match="must be loaded"):
        interpreter.invoke()
    device.loaded = loaded
    interpreter.invoke()
    (output,) = (detail["index"] for detail in interpreter.get_output_details())
    np.testing.assert_array_equal(interpreter.get_tensor(output), run(interpreter_of(model), [x])[0])


def test_profile_and_invoke_agree() -> None:
    model, x = quantized_between_floats(), random_input("float32", SHAPE)
    interpreter = interpreter_of(model, simulated())
    (expected,) = run(interpreter, [x])
    rows = interpreter.profile(2)
    assert [row.op for row in rows] == ["QUANTIZE", "CONV_2D", "DEQUANTIZE"]
    (output,) = (detail["index"] for detail in interpreter.get_output_details())
    np.testing.assert_array_equal(interpreter.get_tensor(output), expected)


def test_intermediate_tensors_and_signatures() -> None:
    model, a = between("last")
    x = random_input("float32", SHAPE)
    plain = Interpreter(model_content=model, experimental_preserve_all_tensors=True)
    mine = Interpreter(
        model_content=model, experimental_preserve_all_tensors=True, experimental_delegates=[simulated()]
    )
    run(plain, [x])
    run(mine, [x])
    np.testing.assert_allclose(mine.get_tensor(a), plain.get_tensor(a), rtol=1e-5, atol=1e-5)


def test_threads_with_an_interpreter_each() -> None:
    skip_unless_simulated()
    model, failures = quantized_between_floats(), []
    inputs = [random_input("float32", SHAPE, seed) for seed in range(4)]
    expected = [run(interpreter_of(model), [x])[0] for x in inputs]

    def work(x: np.ndarray, y: np.ndarray) -> None:
        interpreter = interpreter_of(model, simulated())
        failures.extend(x for _ in range(3) if not np.array_equal(run(interpreter, [x])[0], y))

    threads = [threading.Thread(target=work, args=pair) for pair in zip(inputs, expected, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_loop_whose_body_is_a_partition() -> None:
    """WHILE: the body's partition runs again and again, on values that the loop hands over."""
    model, x = while_model((5,)), random_input("float32", (5,))
    delegate = simulated()
    (got,) = run(interpreter_of(model, delegate), [x])
    np.testing.assert_allclose(got, run(interpreter_of(model), [x])[0], rtol=1e-5)
    assert delegate.device.graph_launches > 2  # type: ignore[union-attr]
