"""CudaDevice on a stand-in for the driver: results, graphs, memory, several at once, and failures."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numlite.delegates.cuda.compile import compile_kernel, variant_name
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.device import DeviceError, DeviceUnavailableError, OutOfDeviceMemoryError
from numlite.delegates.cuda.driver import CudaDevice
from numlite.delegates.cuda.simulated import why_not_simulated
from numlite.lite.errors import InvokeError, PrepareError, UnsupportedError

from .driver_stand_in import StandIn, stand_in, why_not
from .graphs import conv_model, network, random_input, residual_model
from .machine_code import kernels_of
from .simulation import RESOLVERS, interpreter_of, run

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")
computes = pytest.mark.skipif(why_not_simulated() is not None, reason=why_not_simulated() or "")

TYPES = ("float32", "int8", "uint8")
MODELS = {"network": (network, (9, 9, 3)), "residual": (residual_model, (6, 6, 16))}
SHAPE = (1, 4, 4, 8)
OUT_OF_MEMORY, ILLEGAL_ADDRESS = 2, 700


@pytest.fixture
def driver() -> Iterator[StandIn]:
    """A driver with one GPU; afterwards nothing may be left in it."""
    found = stand_in()
    found.configure()
    with found.watch():
        yield found
    gc.collect()
    try:
        assert not found.complaint
        assert not found.failures, found.failures[0]
        assert not any(found.counts()), found.counts()
    finally:
        found.configure(devices=0)


def small() -> bytes:
    return conv_model("int8", SHAPE, 8, 1)


def small_input(batch: int = 1, seed: int = 1) -> np.ndarray:
    return random_input("int8", (batch, *SHAPE[1:]), seed)


def expected_of(x: np.ndarray) -> np.ndarray:
    return run(interpreter_of(small()), [x])[0]


@computes
@pytest.mark.parametrize("numerics", RESOLVERS)
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", MODELS)
def test_equals_the_cpu(driver: StandIn, name: str, type: str, numerics: str) -> None:
    make, shape = MODELS[name]
    model = make(type)
    interpreter, cpu = interpreter_of(model, CudaDelegate(), numerics), interpreter_of(model, None, numerics)
    for batch in (1, 3, 1):
        x = random_input(type, (batch, *shape), batch)
        (got,), (expected,) = run(interpreter, [x]), run(cpu, [x])
        assert not driver.failures, driver.failures[0]
        if type == "float32":
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
        else:
            np.testing.assert_array_equal(got, expected)
    assert driver.calls("cuGraphLaunch") == 3 and driver.calls("cuLaunchKernel") >= 3


@computes
def test_graphs_are_forgotten_the_oldest_first(driver: StandIn) -> None:
    interpreter = interpreter_of(small(), CudaDelegate())
    for batch in (*range(1, 12), 1):
        x = small_input(batch)
        np.testing.assert_array_equal(run(interpreter, [x])[0], expected_of(x))
        assert driver.counts().graphs <= 8
    assert driver.counts().modules == 1


@computes
def test_an_empty_batch(driver: StandIn) -> None:
    interpreter = interpreter_of(small(), CudaDelegate())
    for batch in (0, 2, 0):
        x = small_input(batch)
        np.testing.assert_array_equal(run(interpreter, [x])[0], expected_of(x))


@computes
def test_profile_runs_launch_by_launch(driver: StandIn) -> None:
    model = network("int8")
    interpreter = interpreter_of(model, CudaDelegate())
    x = random_input("int8", (1, 9, 9, 3))
    run(interpreter, [x])
    rows = [row for row in interpreter.profile(2) if row.op == "CONV_2D"]
    assert len(rows) == 4 and all(row.time_ns > 0 for row in rows)
    (expected,) = run(interpreter_of(model), [x])
    np.testing.assert_array_equal(run(interpreter, [x])[0], expected)
    assert driver.counts().events == 0


def test_much_shared_memory_is_asked_for(driver: StandIn) -> None:
    """More than 48 KB are refused unless the function was told; parameters are as machine code has them."""
    driver.computes = False
    try:
        model = conv_model("int8", (1, 16, 16, 128), 128)
        run(interpreter_of(model, CudaDelegate()), [random_input("int8", (8, 16, 16, 128))])
    finally:
        driver.computes = why_not_simulated() is None
    assert sum(driver.launches.values()) == 1


class Elsewhere:
    """An array of another library, written by a stream of its own that has not been waited for."""

    def __init__(self, value: np.ndarray, version: int) -> None:
        self.device = CudaDevice()
        self.device.activate()
        self.memory = self.device.pinned(value.nbytes)
        self.memory[:] = value.reshape(-1).view(np.uint8)
        address = self.device.allocate(value.nbytes)
        self.device.copy_in(address, self.memory)
        self.__cuda_array_interface__ = {
            "data": (address, False),
            "shape": value.shape,
            "typestr": value.dtype.str,
            "version": version,
        }
        if version >= 3:
            self.__cuda_array_interface__["stream"] = self.device.stream


@computes
@pytest.mark.parametrize("version", (2, 3))
def test_inputs_are_waited_for(driver: StandIn, version: int) -> None:
    delegate = CudaDelegate()
    interpreter = interpreter_of(small(), delegate)
    interpreter.allocate_tensors()
    for seed in (1, 2):
        x = small_input(seed=seed)
        delegate.set_input(interpreter, 0, Elsewhere(x, version))
        interpreter.invoke()
        (detail,) = interpreter.get_output_details()
        np.testing.assert_array_equal(interpreter.get_tensor(detail["index"]), expected_of(x))
    assert driver.calls("cuCtxSynchronize") == (2 if version == 2 else 0)


class Lent:
    """What DLPack asks of an array that cannot be lent; stream is what it was told."""

    stream: int | None = None

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.ordinal

    def __dlpack__(self, *, stream: int | None = None) -> object:
        self.stream = stream
        raise BufferError("it needs a gradient")


def test_dlpack_is_told_the_stream(driver: StandIn) -> None:
    delegate = CudaDelegate()
    interpreter = interpreter_of(small(), delegate)
    interpreter.allocate_tensors()
    array = Lent(0)
    with pytest.raises(UnsupportedError, match="it needs a gradient"):
        delegate.set_input(interpreter, 0, array)
    assert isinstance(delegate.device, CudaDevice) and array.stream == delegate.device.stream
    with pytest.raises(UnsupportedError, match=r"CUDA device 0.*2:1"):
        delegate.set_input(interpreter, 0, Lent(1))


@computes
def test_threads_and_interpreters_share_a_gpu(driver: StandIn) -> None:
    inputs = [small_input(2, seed) for seed in range(3)]
    expected = [expected_of(x) for x in inputs]

    def work(n: int) -> None:
        delegate = CudaDelegate()
        interpreter = interpreter_of(small(), delegate)
        for _ in range(3):
            np.testing.assert_array_equal(run(interpreter, [inputs[n]])[0], expected[n])
            delegate.set_input(interpreter, 0, Elsewhere(inputs[n], 2))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))


@computes
def test_two_gpus(driver: StandIn) -> None:
    driver.configure(devices=2)
    interpreters = [interpreter_of(small(), CudaDelegate(CudaOptions(ordinal=n))) for n in (0, 1)]
    for seed in (1, 2):
        x = small_input(seed=seed)
        for interpreter in interpreters:
            np.testing.assert_array_equal(run(interpreter, [x])[0], expected_of(x))
    del interpreters[0], interpreter
    gc.collect()
    np.testing.assert_array_equal(run(interpreters[0], [x])[0], expected_of(x))


def test_the_thread_keeps_its_gpu(driver: StandIn) -> None:
    """Another library's, at every call that goes to the delegate's own GPU, and after a failure."""
    driver.configure(devices=2)
    driver.computes = False
    other, x = CudaDevice(1), small_input()
    current = other._driver.cuCtxGetCurrent
    try:
        assert int(current()[1]) == 0
        other.activate()
        expected = int(current()[1])
        delegate = CudaDelegate()
        interpreter = interpreter_of(small(), delegate)
        run(interpreter, [x])
        assert int(current()[1]) == expected != 0
        elsewhere = Elsewhere(x, 3)
        other.activate()
        delegate.set_input(interpreter, 0, elsewhere)
        interpreter.invoke()
        driver.fail("cuGraphLaunch", OUT_OF_MEMORY)
        with pytest.raises(InvokeError, match="OUT_OF_MEMORY"):
            interpreter.invoke()
        assert int(current()[1]) == expected
    finally:
        driver.computes = why_not_simulated() is None


def test_nothing_comes_before_somebody_waits(driver: StandIn) -> None:
    """That the stand-in shows what was not waited for."""
    device = CudaDevice()
    device.activate()
    address, memory = device.allocate(16), device.pinned(16)
    memory[:] = 7
    device.copy_in(address, memory)
    memory[:] = 8
    got = np.zeros(16, np.uint8)
    device.copy_out(got, address)
    assert not got.any()
    device.synchronize()
    assert np.all(got == 8)


def test_a_capture_survives_what_others_do(driver: StandIn) -> None:
    """Devices that go meanwhile, collected or closed, and once a wait for the whole GPU."""
    device, other, circle = CudaDevice(), CudaDevice(), CudaDevice()
    circle.activate()
    circle.allocate(16)
    circle.itself = circle  # type: ignore[attr-defined]
    del circle
    device.activate()
    address, memory, tries = device.allocate(16), device.pinned(16), []
    memory[:] = 5

    def work() -> None:
        device.copy_in(address, memory)
        garbage = [[n] for n in range(20_000)]
        assert len(garbage) == 20_000
        other.close()
        if not tries:
            device._driver.cuCtxSynchronize()
        tries.append(1)

    graph = device.capture(work)
    assert len(tries) == 2
    graph.launch()
    got = np.zeros(16, np.uint8)
    device.copy_out(got, address)
    device.synchronize()
    assert np.all(got == 5)


def test_times_are_the_gpus(driver: StandIn) -> None:
    """Of launches, and of graphs, which a capture takes in."""
    device = CudaDevice()
    device.activate()
    address, memory = device.allocate(16), device.pinned(16)
    graph = device.capture(lambda: device.copy_in(address, memory))
    for work in (graph.launch, lambda: device.copy_in(address, memory)):
        assert 0 <= device.time_us(work) < 1e6
    graph.launch()
    device.synchronize()
    assert driver.counts().graphs == 1 and driver.counts().events == 0


def test_a_capture_that_fails_leaves_the_stream(driver: StandIn) -> None:
    device = CudaDevice()
    device.activate()

    def work() -> None:
        device.allocate(16)

    with pytest.raises(DeviceError, match="STREAM_CAPTURE_UNSUPPORTED"):
        device.capture(work)
    device.synchronize()
    device.capture(lambda: None).launch()
    device.synchronize()


@computes
def test_out_of_memory_leaves_smaller_batches(driver: StandIn) -> None:
    driver.configure(memory_bytes=64 << 10)
    interpreter = interpreter_of(small(), CudaDelegate())
    for large, fitting in ((1000, 2), (2000, 1)):
        with pytest.raises((InvokeError, PrepareError), match="OUT_OF_MEMORY"):
            run(interpreter, [small_input(large)])
        with pytest.raises(InvokeError, match="OUT_OF_MEMORY"):
            interpreter.invoke()
        x = small_input(fitting)
        np.testing.assert_array_equal(run(interpreter, [x])[0], expected_of(x))


@computes
@pytest.mark.parametrize(
    "call",
    ("cuModuleLoadData", "cuMemHostAlloc", "cuMemAlloc", "cuGraphInstantiateWithFlags", "cuGraphLaunch"),
)
def test_out_of_memory_wherever_it_comes(driver: StandIn, call: str) -> None:
    interpreter = interpreter_of(small(), CudaDelegate())
    driver.fail(call, OUT_OF_MEMORY)
    x = small_input()
    with pytest.raises((InvokeError, PrepareError), match="OUT_OF_MEMORY"):
        run(interpreter, [x])
    np.testing.assert_array_equal(run(interpreter, [x])[0], expected_of(x))


@computes
def test_a_lost_gpu_fails_once_then_the_cpu_runs(driver: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    interpreter, x = interpreter_of(small(), CudaDelegate()), small_input()
    run(interpreter, [x])
    driver.fail("kernel", ILLEGAL_ADDRESS)
    with pytest.raises(InvokeError, match=r"ILLEGAL_ADDRESS.*runs on the CPU"):
        interpreter.invoke()
    with pytest.raises(DeviceUnavailableError, match="ILLEGAL_ADDRESS"):
        CudaDelegate()
    caplog.set_level(logging.WARNING, "numlite")
    another = interpreter_of(small(), CudaDelegate(CudaOptions(fallback=True)))
    assert caplog.records[-1].message.startswith("running on the CPU")
    caplog.clear()  # records hold the error, and that one the device
    for each in (interpreter, another):
        np.testing.assert_array_equal(run(each, [x])[0], expected_of(x))


@pytest.mark.parametrize(
    "machine, says",
    (
        ({"devices": 0}, "NO_DEVICE"),
        ({"version": 12040}, r"CUDA 12\.4"),
        ({"arch": 75}, r"GPU 0 has 7\.5"),
    ),
)
def test_what_is_missing_is_told(driver: StandIn, machine: dict[str, int], says: str) -> None:
    driver.configure(**machine)
    with pytest.raises(DeviceUnavailableError, match=says):
        CudaDevice()


def test_gpus_that_are_not_there(driver: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceUnavailableError, match="INVALID_DEVICE"):
        CudaDevice(1)
    driver.fail("cuStreamCreate", OUT_OF_MEMORY)
    with pytest.raises(DeviceUnavailableError, match="OUT_OF_MEMORY"):
        CudaDevice()
    driver.configure()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(DeviceUnavailableError, match="NO_DEVICE"):
        CudaDevice()


def test_machine_code_of_another_architecture_is_refused(driver: StandIn) -> None:
    (kernel,) = kernels_of(small(), {0: SHAPE})
    device = CudaDevice()
    device.activate()
    device.cubins.carry({variant_name(kernel, 90): compile_kernel(kernel, 80)})
    with pytest.raises(DeviceError, match="NO_BINARY_FOR_GPU"):
        device.load([kernel])


def _device_first(delegate: CudaDelegate, things: list[object]) -> None:
    assert delegate.device is not None
    delegate.device.close()
    things.clear()


def _interpreter_first(delegate: CudaDelegate, things: list[object]) -> None:
    things.clear()
    gc.collect()
    assert delegate.device is not None
    delegate.device.close()
    delegate.device.close()


def _in_a_circle(delegate: CudaDelegate, things: list[object]) -> None:
    things.append(things)
    delegate.circle = things  # type: ignore[attr-defined]


@computes
@pytest.mark.parametrize("end", (_device_first, _interpreter_first, _in_a_circle))
def test_nothing_is_left(driver: StandIn, end: Callable[[CudaDelegate, list[object]], None]) -> None:
    delegate = CudaDelegate()
    interpreter = interpreter_of(small(), delegate)
    run(interpreter, [small_input()])
    things: list[object] = [interpreter]
    del interpreter
    end(delegate, things)


@computes
def test_a_closed_device_is_lost(driver: StandIn) -> None:
    delegate, x = CudaDelegate(), small_input()
    interpreter = interpreter_of(small(), delegate)
    run(interpreter, [x])
    assert delegate.device is not None
    delegate.device.close()
    with pytest.raises(InvokeError, match="the device was closed"):
        interpreter.invoke()
    np.testing.assert_array_equal(run(interpreter, [x])[0], expected_of(x))


def test_pinned_memory_outlives_the_device(driver: StandIn) -> None:
    device = CudaDevice()
    device.activate()
    memory, empty = device.pinned(8), device.pinned(0)
    memory[:] = 3
    device.free_pinned(memory)
    device.free_pinned(empty)
    device.close()
    del device, empty
    gc.collect()
    assert np.all(memory == 3) and driver.counts() == (1, 0, 0, 0, 0, 1)
    part = memory[2:]
    del memory
    assert np.all(part == 3)


def test_out_of_memory_is_an_error_of_its_own(driver: StandIn) -> None:
    driver.configure(memory_bytes=1000)
    device = CudaDevice()
    device.activate()
    device.allocate(900)
    with pytest.raises(OutOfDeviceMemoryError, match="OUT_OF_MEMORY"):
        device.allocate(101)
    assert device.allocate(100) % 256 == 0
