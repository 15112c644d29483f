"""SimpleDelegate and GraphPartitionHelper: which partitions are taken; finding delegates; the report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite import delegates
from numlite.cli.main import cli, run_command
from numlite.delegates import (
    Delegate,
    DelegateContext,
    DelegateFlags,
    DelegateParams,
    GraphPartitionHelper,
    PartitionMode,
    SimpleDelegateOptions,
    load_delegate,
)
from numlite.delegates import loading as loading_module
from numlite.delegates.report import delegation_report
from numlite.interpreter import Interpreter
from numlite.interpreter import load_delegate as litert_load_delegate
from numlite.lite.errors import UnsupportedError

from .graphs import sine, sine_model, while_model, while_result
from .numpy_delegate import NumpyDelegate, NumpyKernel
from .test_application import X, ran, run


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        ({}, [(0, 1, 2, 3, 4)]),
        ({"deny_nodes": (1,)}, [(0, 2, 3), (4,)]),
        ({"deny_nodes": (1,), "max_delegated_partitions": 1}, [(0, 2, 3)]),
        ({"deny_nodes": (1,), "min_nodes_per_partition": 2}, [(0, 2, 3)]),
        ({"deny_nodes": (1,), "min_nodes_per_partition": 4}, []),
        ({"deny_nodes": ("ADD",)}, [(0, 2, 3)]),
        ({"deny_nodes": ("t4",)}, [(0, 1), (3, 4)]),
        ({"allow_nodes": ("SIN",)}, [(0,), (3,)]),
        ({"allow_nodes": ("SIN",), "partition_mode": PartitionMode.FEWEST}, [(0, 3)]),
    ],
    ids=str,
)
def test_options(options: dict[str, Any], taken: list[tuple[int, ...]]) -> None:
    delegate = NumpyDelegate(options=SimpleDelegateOptions(**options))
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    report = delegation_report(interpreter.core.subgraph(), delegate)
    assert [partition.nodes for partition in report.partitions] == taken
    assert np.array_equal(run(interpreter, X), sine(X))


class Helped(NumpyDelegate):
    """Keeps what a helper says while the delegate is prepared."""

    def prepare(self, context: DelegateContext) -> None:
        self.helper = GraphPartitionHelper(context, self.is_node_supported)
        self.helper.partition(start=1)
        super().prepare(context)


def test_helper() -> None:
    delegate = Helped("SIN", "ADD")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    helper = delegate.helper
    assert interpreter and (helper.num_total_nodes, helper.num_supported_nodes) == (5, 3)
    assert [params.nodes_to_replace for params in helper.partitions] == [(1, 3, 4)]
    assert helper.unsupported_nodes == [0, 2]
    assert helper.nodes_of_first_n_largest_partitions(1) == [1, 3, 4]
    assert helper.first_n_largest_partitions(min_nodes_per_partition=4) == []


def test_report() -> None:
    delegate = NumpyDelegate("SIN")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    report = delegation_report(interpreter.core.subgraph(), delegate)
    assert (report.total_nodes, report.delegated_nodes, report.copied_bytes) == (5, 2, 96)
    assert [(entry.node, entry.reason) for entry in report.left_out] == [
        (1, "ADD is not supported"),
        (2, "MUL is not supported"),
        (4, "ADD is not supported"),
    ]


class Explaining(NumpyDelegate):
    """Takes SIN, and says in its answer why nothing else."""

    def is_node_supported(self, context: DelegateContext, node: Any, registration: Any) -> bool | str:
        return registration.name == "SIN" or f"{registration.name} is no sine"


def test_the_reason_may_be_the_answer() -> None:
    delegate = Explaining()
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    report = delegation_report(interpreter.core.subgraph(), delegate)
    assert [(entry.node, entry.reason) for entry in report.left_out] == [
        (1, "ADD is no sine"),
        (2, "MUL is no sine"),
        (4, "ADD is no sine"),
    ]
    assert np.array_equal(run(interpreter, X), sine(X))


class Asked(Explaining):
    def prepare(self, context: DelegateContext) -> None:
        self.helper = GraphPartitionHelper(context, self.is_node_supported)
        self.helper.partition()


def test_a_reason_is_a_no_to_the_helper() -> None:
    delegate = Asked()
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    assert interpreter and delegate.helper.supported_nodes == [0, 3]


class Counting(NumpyKernel):
    """Counts its runs."""

    runs = 0

    def invoke(self, context: Any, node: Any) -> None:
        self.runs += 1
        super().invoke(context, node)

    def reset_variables(self, context: Any, node: Any) -> None:
        self.runs = 0


def test_kernels_forget_when_variables_are_reset() -> None:
    made: list[Counting] = []

    class CountingDelegate(NumpyDelegate):
        def create_kernel(self) -> Counting:
            made.append(Counting())
            return made[-1]

    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[CountingDelegate("SIN")])
    run(interpreter, X)
    run(interpreter, X)
    assert [kernel.runs for kernel in made] == [2, 2]
    interpreter.reset_all_variables()
    assert [kernel.runs for kernel in made] == [0, 0]


MODULE = """
from numlite.delegates import Delegate

class Idle(Delegate):
    def __init__(self, **options):
        self.options = options
    def prepare(self, context):
        pass

def create_delegate(**options):
    return Idle(**options)

def create_nothing():
    return None
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "idle_delegate.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "idle_delegate", raising=False)
    return "idle_delegate"


def test_load_by_module(module: str) -> None:
    loaded: Any = load_delegate(module, {"level": 3})
    assert isinstance(loaded, Delegate) and loaded.options == {"level": 3}
    assert load_delegate(f"{module}:Idle").name == "Idle"
    interpreter = Interpreter(
        model_content=sine_model(), experimental_delegates=[litert_load_delegate(module, {1: "a"})]
    )
    assert np.allclose(run(interpreter, X), sine(X), atol=1e-6)


def test_load_by_entry_point(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        name = "idle"

        @staticmethod
        def load() -> Any:
            return __import__(module).Idle

    monkeypatch.setattr(
        loading_module, "entry_points", lambda group, name="idle": [Entry] if name == "idle" else []
    )
    assert load_delegate("idle").name == "Idle"
    with pytest.raises(ValueError, match=r"neither a module nor .* \(cuda, idle\)"):
        load_delegate("nowhere")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.to.be_found", "neither a module nor one of the installed delegates"),
        ("libedgetpu.so.1", "it is a native library"),
        ("idle_delegate:missing", "missing"),
        ("idle_delegate:create_nothing", "must make a Delegate"),
    ],
)
def test_load_failures(module: str, name: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"Failed to load delegate from {name}: .*{message}"):
        load_delegate(name)


def test_native_libraries_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="native library") as caught:
        load_delegate("libdelegate.so")
    assert isinstance(caught.value, OSError)
    assert str(caught.value).startswith("Failed to load delegate from libdelegate.so")


def test_inspect(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(sine_model())
    (tmp_path / "sine_only.py").write_text(
        f"import sys\nNumpyDelegate = sys.modules[{NumpyDelegate.__module__!r}].NumpyDelegate\n"
        "def create_delegate(operators):\n    return NumpyDelegate(*operators.split())\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ["inspect", str(model), "--delegate", "sine_only", "--delegate-option"]
    assert run_command(cli, [*arguments, "operators=SIN"]) == 0
    shown = capsys.readouterr().out
    for expected in ("takes 2 of 5 nodes in 2 partitions", "96 bytes", "MUL is not supported", "bytes in"):
        assert expected in shown
    assert run_command(cli, [*arguments, "operators"]) != 0


class Skipping(NumpyDelegate):
    """Looks at the body of a loop from outside and has it skipped."""

    def prepare(self, context: DelegateContext) -> None:
        if context.index == 0:
            body = context.acquire_subgraph_context(2)
            assert body.execution_plan == (0, 1, 2)
            context.mark_subgraph_as_delegation_skippable(2)
        super().prepare(context)


def test_skipped_subgraph() -> None:
    interpreter = Interpreter(model_content=while_model(), experimental_delegates=[Skipping()])
    x = np.linspace(0, 1, 3, dtype=np.float32)
    assert np.allclose(run(interpreter, x), while_result(x), rtol=1e-6)
    assert interpreter.core.subgraph(2).execution_plan == [0, 1, 2]


class AddingTensors(NumpyDelegate):
    """Gives its kernels a tensor of their own."""

    flags = DelegateFlags.ALLOW_DYNAMIC_TENSORS | DelegateFlags.REQUIRE_PROPAGATED_SHAPES

    def prepare(self, context: DelegateContext) -> None:
        first = context.add_tensors(2)
        assert context.tensor_count == first + 2
        context.resize_tensor(context.tensor(first), (5,))
        assert context.tensor(first).shape == (5,)
        super().prepare(context)


def test_added_tensors() -> None:
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[AddingTensors("SIN")])
    assert np.array_equal(run(interpreter, X), sine(X))
    assert [name for name, _ in ran(interpreter)].count("AddingTensors") == 2


def test_kernel_sees_its_params() -> None:
    class Kernel(NumpyKernel):
        def init(self, context: DelegateContext, params: DelegateParams) -> None:
            super().init(context, params)
            seen.append(params.nodes_to_replace)

    class Watching(NumpyDelegate):
        def create_kernel(self) -> Kernel:
            return Kernel()

    seen: list[tuple[int, ...]] = []
    Interpreter(model_content=sine_model(), experimental_delegates=[Watching("SIN", "MUL")])
    assert seen == [(0, 2, 3)]


def test_public_names() -> None:
    homes = [name for names in delegates._HOMES.values() for name in names]
    assert sorted(homes) == sorted(delegates.__all__)
    assert all(getattr(delegates, name).__module__.startswith("numlite.") for name in delegates.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        delegates.nothing  # noqa: B018
