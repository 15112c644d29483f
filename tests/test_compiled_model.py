"""CompiledModel and TensorBuffer, against LiteRT's where it is installed."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import numlite
import numpy as np
import pytest
from numlite.compiled_model import (
    CompiledModel,
    CpuKernelMode,
    CpuOptions,
    Environment,
    GpuOptions,
    HardwareAccelerator,
    Options,
    QualcommOptions,
    TensorBuffer,
)
from numlite.lite.errors import ModelError, StateError, UnsupportedError
from numlite.schema import tflite

from . import small_models
from .compiled_models import Op, aligned, core_of, crossed, vector
from .model_builder import ModelBuilder


def counting() -> bytes:
    """RNN whose state, a variable, sums the inputs."""
    model = ModelBuilder()
    x, y = model.tensor([1, 2], name="x"), model.tensor([1, 2], name="y")
    one = np.eye(2, dtype=np.float32)
    weights = [model.constant(array) for array in (one, one, np.zeros(2, np.float32))]
    state = model.tensor([1, 2], is_variable=True)
    model.op(Op.RNN, [x, *weights, state], [y], tflite.RNNOptionsT())
    return model.build([x], [y])


def places() -> bytes:
    """WHERE: a result whose shape depends on values."""
    model = ModelBuilder()
    x, y = model.tensor([4], np.bool_, name="x"), model.tensor([0, 1], np.int64, shape_signature=[-1, 1])
    model.op(Op.WHERE, [x], [y])
    return model.build([x], [y])


def test_signatures_are_in_the_models_order() -> None:
    model = CompiledModel.from_buffer(crossed())
    assert model.get_signature_list() == {"serve": {"inputs": ["n3", "n2"], "outputs": ["p", "q"]}}
    assert model.get_signature_by_index(0) == {"key": "serve", "inputs": ["n3", "n2"], "outputs": ["p", "q"]}
    assert (model.get_num_signatures(), model.get_signature_index("serve")) == (1, 0)
    assert model.get_signature_index("other") == -1
    assert model.get_output_tensor_details("serve") == {
        "p": {"name": "p", "index": 2, "dtype": "float32", "shape": [2]},
        "q": {"name": "q", "index": 3, "dtype": "float32", "shape": [3]},
    }
    assert model.get_input_buffer_requirements(1) == {"buffer_size": 12, "supported_types": [1]}
    assert model.is_fully_accelerated()


def test_runs_by_index_and_by_name() -> None:
    model = CompiledModel.from_buffer(crossed())
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    for number, buffer in enumerate(inputs):
        buffer.write(np.arange(2 + number, dtype=np.float32) - 1)
    model.run_by_index(0, inputs, outputs)
    np.testing.assert_array_equal(outputs[0].read(2, np.float32), [1, 0])
    np.testing.assert_array_equal(outputs[1].read(3, np.float32), [1, 0, 1])
    inputs[0].write(np.float32([5, 6]))
    model.run_by_name("serve", {"n2": inputs[1], "n3": inputs[0]}, {"q": outputs[1], "p": outputs[0]})
    np.testing.assert_array_equal(outputs[0].read(2, np.float32), [-5, -6])
    np.testing.assert_array_equal(outputs[1].read(3, np.float32), [1, 0, 1])


def test_models_without_signatures_have_one_of_their_tensors_names() -> None:
    model = CompiledModel.from_buffer(vector())
    assert model.get_signature_list() == {"<placeholder signature>": {"inputs": ["x"], "outputs": ["y"]}}


def test_resizing() -> None:
    model = CompiledModel.from_buffer(small_models.chain())
    model.resize_input_tensor(0, [3, 4])
    assert model.get_output_tensor_details("serve")["y"]["shape"] == [3, 4]
    with pytest.raises(RuntimeError, match="unknown dimensions"):
        model.resize_input_tensor(0, [3, 5])
    old = model.create_input_buffers(0), model.create_output_buffers(0)
    model.resize_input_tensor_by_name("serve", "x", [3, 5], strict=False)
    new = model.create_input_buffers(0), model.create_output_buffers(0)
    assert new[1][0].get_tensor_details() == {"dtype": "float32", "shape": [3, 5]}
    new[0][0].write(np.full([3, 5], -2, np.float32))
    model.run_by_index(0, *new)
    assert (new[1][0].read(15, np.float32) == 2).all()
    model.run_by_index(0, *old)
    assert model.get_input_tensor_details("serve")["x"]["shape"] == [3, 4]


def test_signatures_that_share_graphs_run_in_turns() -> None:
    model = CompiledModel.from_buffer(small_models.two_signatures())
    x, y = aligned(2), aligned(2)
    x[...] = -1, 2
    buffers = (
        {"value": TensorBuffer.create_from_host_memory(x)},
        {"result": TensorBuffer.create_from_host_memory(y)},
    )
    for _ in range(2):
        model.run_by_name("negate", *buffers)
        np.testing.assert_array_equal(y, [1, -2])
        model.run_by_name("absolute", *buffers)
        np.testing.assert_array_equal(y, [1, 2])


def test_signatures_of_one_graph_resize_each_other() -> None:
    model = ModelBuilder()
    x, y = model.tensor([4], shape_signature=[-1]), model.tensor([4], shape_signature=[-1])
    model.op(Op.NEG, [x], [y])
    names = {"x": x}, {"y": y}
    compiled = CompiledModel.from_buffer(model.build([x], [y], {"one": names, "two": names}))
    for count in (4, 6, 4):
        for key in ("one", "two"):
            array, result = aligned(count), aligned(count)
            array[...] = count
            host = TensorBuffer.create_from_host_memory
            compiled.run_by_name(key, {"x": host(array)}, {"y": host(result)})
            np.testing.assert_array_equal(result, -array)
        compiled.resize_input_tensor(0, [5], 1)


def test_a_graph_that_another_one_calls_runs_in_its_own_memory_there() -> None:
    content = conditional()
    model = CompiledModel.from_buffer(content)
    x, y = aligned(4), aligned(4)
    x[...] = 1, 2, 3, 4
    host = TensorBuffer.create_from_host_memory
    condition = host(np.array([True]))
    for _ in range(2):
        model.run_by_name("branch", {"x": host(x)}, {"y": host(y)})
        np.testing.assert_array_equal(y, -x)
        model.run_by_name("main", {"if": condition, "x": host(x)}, {"y": host(y)})
        np.testing.assert_array_equal(y, -x)


def conditional() -> bytes:
    """main: IF(condition, x) with branches NEG and ABS; signatures of main and of the first branch."""
    model = ModelBuilder()
    condition, x, y = model.tensor([1], np.bool_), model.tensor([4]), model.tensor([4])
    branches = []
    for code in (Op.NEG, Op.ABS):
        branch = model.add_subgraph(f"branch{code}")
        a, b = branch.tensor([4]), branch.tensor([4])
        branch.op(code, [a], [b])
        branch.finish([a], [b])
        branches.append(branch)
    options = tflite.IfOptionsT(then_subgraph_index=branches[0].index, else_subgraph_index=branches[1].index)
    model.op(Op.IF, [condition, x], [y], options)
    model.finish([condition, x], [y])

    def signature(key: str, graph: int, inputs: dict[str, int], outputs: dict[str, int]) -> object:
        taken, given = (
            [tflite.TensorMapT(name=name, tensor_index=t) for name, t in names.items()]
            for names in (inputs, outputs)
        )
        return tflite.SignatureDefT(signature_key=key, subgraph_index=graph, inputs=taken, outputs=given)

    model.model.signature_defs = [
        signature("main", 0, {"if": condition, "x": x}, {"y": y}),
        signature("branch", branches[0].index, {"x": 0}, {"y": 1}),
    ]
    return tflite.pack(model.model)


def test_a_result_whose_shape_is_found_by_running_needs_memory_of_its_callers() -> None:
    compiled = CompiledModel.from_buffer(places())
    with pytest.raises(UnsupportedError, match="create_from_host_memory"):
        compiled.create_output_buffers(0)
    found = np.full(4, -1, np.int64)
    compiled.run_by_index(
        0,
        [TensorBuffer.create_from_host_memory(np.array([True, False, True, False]))],
        [TensorBuffer.create_from_host_memory(found)],
    )
    np.testing.assert_array_equal(found, [0, 2, -1, -1])
    with pytest.raises(RuntimeError, match="room for the 16 bytes"):
        compiled.run_by_index(
            0,
            [TensorBuffer.create_from_host_memory(np.array([True, False, True, False]))],
            [TensorBuffer.create_from_host_memory(found[:1].copy())],
        )


@pytest.mark.parametrize("mode", [None, *CpuKernelMode])
def test_kernel_modes_give_the_interpreters_results(mode: CpuKernelMode | None) -> None:
    content = small_models.chain((Op.EXP, Op.NEG), (1, 5))
    options = Options(cpu_options=CpuOptions(num_threads=2, kernel_mode=mode))
    model = CompiledModel.from_buffer(content, options=options)
    value = np.linspace(-3, 3, 5, dtype=np.float32)[None]
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    inputs[0].write(value)
    model.run_by_index(0, inputs, outputs)
    types = numlite.OpResolverType
    resolver = types.BUILTIN_REF if mode else types.AUTO
    runner = numlite.Interpreter(
        model_content=content, experimental_op_resolver_type=resolver
    ).get_signature_runner()
    np.testing.assert_array_equal(outputs[0].read(5, np.float32), runner(x=value)["y"][0])


def test_the_gpu_runs_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    from numlite.delegates import cuda

    def simulated(precision: str) -> cuda.CudaDelegate:
        return cuda.create_delegate(precision=precision, device="simulated", min_nodes="1")

    monkeypatch.setattr("numlite.compiled_model._load_gpu", simulated)
    gpu = HardwareAccelerator.GPU
    model = CompiledModel.from_buffer(small_models.chain((Op.NEG,), (1, 4)), gpu)
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    inputs[0].write(np.float32([1, 2, 3, 4]))
    model.run_by_index(0, inputs, outputs)
    np.testing.assert_array_equal(outputs[0].read(4, np.float32), [-1, -2, -3, -4])
    assert model.is_fully_accelerated()
    with pytest.raises(UnsupportedError, match="WHERE"):
        CompiledModel.from_buffer(places(), gpu)
    assert not CompiledModel.from_buffer(places(), gpu | HardwareAccelerator.CPU).is_fully_accelerated()


def test_what_is_not_there_is_refused() -> None:
    content = vector()
    for accelerator in (HardwareAccelerator.NPU, HardwareAccelerator.NPU | HardwareAccelerator.CPU):
        with pytest.raises(UnsupportedError, match="no NPU"):
            CompiledModel.from_buffer(content, accelerator)
    with pytest.raises(UnsupportedError, match="no NPU"):
        QualcommOptions()
    with pytest.raises(UnsupportedError, match="xnnpack_flags"):
        CompiledModel.from_buffer(content, options=Options(cpu_options=CpuOptions(xnnpack_flags=3)))
    with pytest.raises(UnsupportedError, match="benchmark_mode"):
        CompiledModel.from_buffer(content, options=Options(gpu_options=GpuOptions(benchmark_mode=True)))
    with pytest.raises(UnsupportedError, match="dispatch_library_path"):
        Environment.create(dispatch_library_path="/vendors")
    with pytest.raises(ValueError, match="not both"):
        CompiledModel.from_buffer(content, HardwareAccelerator.CPU, None, Options())
    with pytest.raises(ValueError, match="one at least"):
        CompiledModel.from_buffer(content, HardwareAccelerator(0))
    with pytest.raises(ModelError):
        CompiledModel.from_buffer(b"xx")


def test_wrong_names_and_numbers() -> None:
    model = CompiledModel.from_buffer(crossed())
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    with pytest.raises(StateError, match="signature index"):
        model.run_by_index(1, inputs, outputs)
    with pytest.raises(StateError, match="a buffer for each input, 2, got 1"):
        model.run_by_index(0, inputs[:1], outputs)
    with pytest.raises(StateError, match=r"each input needs a buffer, \['n3'\] have none"):
        model.run_by_name("serve", {"n2": inputs[1]}, {})
    with pytest.raises(StateError, match=r"each output needs a buffer, \['q'\] have none"):
        model.run_by_name("serve", {"n2": inputs[1], "n3": inputs[0]}, {"p": outputs[0]})
    for kind in (RuntimeError, ValueError):
        with pytest.raises(kind, match="Unknown signature: 'nope'"):
            model.run_by_name("nope", {}, {})
        with pytest.raises(kind, match="Unknown input 'zzz'"):
            model.run_by_name("serve", {"zzz": inputs[0]}, {})
    with pytest.raises(StateError, match="output index must be below 2"):
        model.get_output_buffer_requirements(9)


def test_a_closed_model_says_so() -> None:
    with CompiledModel.from_buffer(vector()) as model:
        inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    for call in (model.get_num_signatures, lambda: model.run_by_index(0, inputs, outputs)):
        with pytest.raises(StateError, match="closed"):
            call()
    assert outputs[0].read(4, np.float32).shape == (4,)
    model.close()


def test_the_programs_of_the_page(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "compiled_model.md"
    (code,) = [part.split("```")[0] for part in page.read_text().split("```python\n")[1:]]
    names: dict[str, Any] = {"__name__": "page"}
    exec(code, names)
    path = tmp_path / "model.tflite"
    path.write_bytes(small_models.chain((Op.ABS,), (1, 4)))
    np.testing.assert_array_equal(names["classify"](str(path), np.float32([1, -2, 3, -4])), [[1, 2, 3, 4]])
    images, scores = np.full((3, 1, 4), -2, np.float32), np.zeros((3, 1, 4), np.float32)
    names["classify_in_place"](str(path), images, scores)
    assert (scores == 2).all()


def test_variables_keep_their_values() -> None:
    model = CompiledModel.from_buffer(counting())
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    inputs[0].write(np.float32([1, 2]))
    for expected in ([1, 2], [2, 4], [3, 6]):
        model.run_by_index(0, inputs, outputs)
        np.testing.assert_array_equal(outputs[0].read(2, np.float32), expected)


def test_the_names_are_litert_s(litert: Any) -> None:
    from ai_edge_litert import compiled_model, options, tensor_buffer

    own = {"List", "Any", "Optional", "Sequence", "os", "np", "ml_dtypes"}
    names = {name for name in vars(compiled_model) if name[0] != "_"} - own
    assert names - set(dir(numlite.compiled_model)) == set()
    ours = CompiledModel.from_buffer(vector())
    assert set(vars(compiled_model.CompiledModel)) - set(dir(ours)) == set()
    assert {name for name in vars(options.Options) if name[0] != "_"} - set(dir(Options())) == set()
    # A pointer to LiteRT's own buffer is what there is none of.
    theirs = {name for name in vars(tensor_buffer.TensorBuffer) if name[0] != "_"}
    assert theirs - set(dir(TensorBuffer)) == {"capsule"}


@pytest.mark.parametrize(
    "module, name",
    [
        ("compiled_model", "CompiledModel"),
        ("tensor_buffer", "TensorBuffer"),
        ("options", "Options"),
        ("cpu_options", "CpuOptions"),
        ("gpu_options", "GpuOptions"),
        ("environment", "Environment"),
        ("environment", "EnvironmentOptions"),
    ],
)
def test_the_arguments_are_litert_s(litert: Any, module: str, name: str) -> None:
    """Of all that is public: names, kinds, order and defaults."""
    theirs = getattr(importlib.import_module(f"ai_edge_litert.{module}"), name)
    ours = getattr(numlite.compiled_model, name)
    made_by_users = name.endswith("Options")  # others hold pointers of LiteRT's
    methods = [each for each in vars(theirs) if each[0] != "_" and callable(getattr(theirs, each))]
    for method in [*methods, *(["__init__"] if made_by_users else [])]:
        assert arguments(getattr(ours, method)) == arguments(getattr(theirs, method)), method


def arguments(function: Any) -> list[tuple[str, str, str]]:
    """Enumerations are alike by name and value; what is made where nothing is given stands for None."""
    given = inspect.signature(function).parameters.values()
    return [(each.name, each.kind.name, repr(each.default).replace("<factory>", "None")) for each in given]


def test_real_models_give_what_litert_gives(litert: Any, model_path: Path) -> None:
    from ai_edge_litert.compiled_model import CompiledModel as TheirModel

    ours = CompiledModel.from_file(model_path)
    if any(tensor.is_variable for tensor in core_of(ours).subgraph().tensors):
        with pytest.raises(RuntimeError):
            TheirModel.from_file(str(model_path))
        pytest.skip("LiteRT's CompiledModel takes no variables")
    models = ours, TheirModel.from_file(str(model_path))
    assert models[0].get_signature_list() == models[1].get_signature_list()
    key = next(iter(models[0].get_signature_list()))
    for describe in ("get_input_tensor_details", "get_output_tensor_details"):
        assert getattr(models[0], describe)(key) == getattr(models[1], describe)(key)
    for ours, theirs in zip(*map(results, models), strict=True):
        if ours.dtype.kind in "iu":
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)  # another order of sums


def results(model: Any) -> list[np.ndarray]:
    """The outputs for the same random inputs each time; a program of LiteRT's names."""
    random = np.random.default_rng(7)
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    for buffer in inputs:
        detail = buffer.get_tensor_details()
        numbers = random.normal(size=detail["shape"]) * (30 if "int" in detail["dtype"] else 1)
        buffer.write(np.clip(numbers, 0 if detail["dtype"] == "uint8" else -128, 127).astype(detail["dtype"]))
    model.run_by_index(0, inputs, outputs)
    details = [buffer.get_tensor_details() for buffer in outputs]
    counts = [int(np.prod(detail["shape"])) for detail in details]
    types = [np.dtype(detail["dtype"]) for detail in details]
    return [
        buffer.read(count, type)
        if type != np.int64 or isinstance(buffer, TensorBuffer)
        else buffer.read(2 * count, np.int32).view(type)  # LiteRT's reads no int64
        for buffer, count, type in zip(outputs, counts, types, strict=True)
    ]
