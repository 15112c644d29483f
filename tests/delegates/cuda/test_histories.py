"""Random histories of one interpreter on the simulated device: after each, values are the CPU's."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.simulated import SimulatedDevice
from numlite.interpreter import Interpreter
from numlite.lite.errors import InvokeError, PrepareError, StateError

from .device_arrays import OnDevice
from .graphs import conv_model, random_input
from .simulation import interpreter_of, needs_triton, skip_unless_simulated
from .test_boundary import between, quantized_between_floats

pytestmark = needs_triton
SHAPE = (4, 4, 8)
STEPS = 25
MODELS: dict[str, tuple[Callable[[], bytes], str]] = {
    "quantized": (quantized_between_floats, "float32"),
    "two partitions": (lambda: between("last")[0], "float32"),
    "two outputs": (lambda: between("both")[0], "float32"),
    "int8": (lambda: conv_model("int8", (1, *SHAPE), 8, 1), "int8"),
}


class History:
    """The interpreter, one without a delegate that is told the same, and what happens to them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        make, self.type = MODELS[self.random.choice(list(MODELS))]
        self.device = SimulatedDevice()
        options = CudaOptions(
            precision="ieee",
            device="simulated",
            fallback=self.random.random() < 0.5,
            outputs=self.random.choice(("host", "device")),
        )
        self.delegate, model = CudaDelegate(options, self.device), make()
        self.mine, self.cpu = interpreter_of(model, self.delegate), interpreter_of(model)
        self.outputs = [detail["index"] for detail in self.cpu.get_output_details()]
        self.is_lost = False
        self.batch = 1
        self.allocate()  # the first shapes choose the CPU's arithmetic, and the delegate has had them already
        self.resize()

    def both(self, act: Callable[[Interpreter], object]) -> None:
        act(self.mine)
        act(self.cpu)

    def new_value(self) -> np.ndarray:
        return random_input(self.type, (self.batch, *SHAPE), self.random.randrange(1 << 30))

    def set(self) -> None:
        x = self.new_value()
        self.both(lambda interpreter: interpreter.set_tensor(0, x))

    def set_on_device(self) -> None:
        if self.is_lost or not self.batch:
            return
        x = self.new_value()
        self.delegate.set_input(self.mine, 0, OnDevice(self.device, x))
        self.cpu.set_tensor(0, x)

    def invoke(self) -> None:
        self.both(Interpreter.invoke)

    def invoke_and_read(self) -> None:
        self.invoke()
        for output in self.outputs:
            got, expected = self.mine.get_tensor(output), self.cpu.get_tensor(output)
            assert got.shape == expected.shape
            if self.type == "int8":
                np.testing.assert_array_equal(got, expected)
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)

    def read_input(self) -> None:
        np.testing.assert_array_equal(self.mine.get_tensor(0), self.cpu.get_tensor(0))

    def profile(self) -> None:
        self.mine.profile(1)

    def allocate(self) -> None:
        self.both(Interpreter.allocate_tensors)

    def resize(self) -> None:
        self.batch = self.random.choice((0, 1, 1, 2, 3, 5))

        def act(interpreter: Interpreter) -> None:
            interpreter.resize_tensor_input(0, (self.batch, *SHAPE))
            interpreter.allocate_tensors()

        self.both(act)
        self.set()

    def release(self) -> None:
        self.both(lambda interpreter: interpreter.release_nonpersistent_memory())
        self.allocate()
        self.set()

    def run_out_of_memory(self) -> None:
        """A batch that has no room; then the one before runs again."""
        before, self.device._left = self.batch, 0
        try:
            self.mine.resize_tensor_input(0, (7, *SHAPE))
            self.mine.allocate_tensors()
            self.mine.set_tensor(0, random_input(self.type, (7, *SHAPE)))
            self.mine.invoke()
        except (InvokeError, PrepareError) as error:
            assert "must be free" in str(error)
        finally:
            self.device._left = None
        self.batch = before
        self.mine.resize_tensor_input(0, (before, *SHAPE))
        self.mine.allocate_tensors()
        self.set()

    def lose_device(self) -> None:
        if self.is_lost or self.random.random() < 0.7:
            return
        self.set()
        self.is_lost = True
        self.device.lose()
        try:
            self.mine.invoke()
        except InvokeError as error:
            assert "runs on the CPU" in str(error)
        for _ in range(2):  # another partition may find it out later
            try:
                self.invoke_and_read()
                return
            except (InvokeError, StateError) as error:
                assert "lost" in str(error)
            self.set()
        self.invoke_and_read()


ACTIONS = (
    *(History.invoke_and_read,) * 4,
    *(History.set,) * 2,
    History.set_on_device,
    History.invoke,
    History.read_input,
    History.profile,
    History.allocate,
    History.resize,
    History.release,
    History.run_out_of_memory,
    History.lose_device,
)


@pytest.mark.parametrize(
    "seed", (*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 100)))
)
def test_history(seed: int) -> None:
    skip_unless_simulated()
    history = History(seed)
    done = []
    for _ in range(STEPS):
        action = history.random.choice(ACTIONS)
        done.append(action.__name__)
        try:
            action(history)
        except Exception as error:
            raise AssertionError(f"{history.delegate.cuda_options}: {done}") from error
