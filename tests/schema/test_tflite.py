"""Models are written and read back with the same content."""

import subprocess
import sys

import numpy as np
import pytest
from numlite.schema import tflite
from numlite.schema.flatbuffer import is_present
from numlite.schema.operator_code import builtin_code, operator_code
from numlite.schema.verifier import verify

from ..shared_folder import SHARED
from .models import convolution


def test_read_back() -> None:
    model = tflite.read(tflite.pack(convolution()))
    subgraph = model.subgraphs[0]
    operator = subgraph.operators[-1]
    assert (model.version, len(model.subgraphs), subgraph.name) == (3, 1, "main")
    assert [tensor.name for tensor in subgraph.tensors] == ["x", "w", "größe"]
    assert subgraph.tensors[0].shape_signature.tolist() == [-1, 4, 4, 1]
    assert operator.inputs.tolist() == [0, 1, -1]
    assert isinstance(operator.builtin_options, tflite.Conv2DOptions)
    assert (operator.builtin_options.stride_w, operator.builtin_options.dilation_w_factor) == (2, 1)
    assert operator.builtin_options_2 is None
    assert bytes(model.buffers[2].data) == b"notes"


def test_absent_fields_read_as_defaults() -> None:
    tensor = tflite.read(tflite.pack(convolution())).subgraphs[0].tensors[0]
    assert tensor.shape_signature.dtype == np.int32
    assert (tensor.quantization, tensor.type, tensor.is_variable) == (None, 0, False)
    assert len(tensor.variant_tensors) == 0
    assert is_present(tensor, "shape") and not is_present(tensor, "buffer")


def test_scalar_vectors_are_views() -> None:
    data = np.frombuffer(tflite.pack(convolution()), np.uint8)
    weights = tflite.read(data).buffers[1].data
    assert np.shares_memory(data, weights)
    assert not weights.flags.writeable


def test_buffers_are_aligned() -> None:
    data = tflite.pack(convolution())
    for buffer in tflite.read(data).buffers:
        if len(buffer.data):
            assert (buffer.data.ctypes.data - np.frombuffer(data, np.uint8).ctypes.data) % 16 == 0


def test_equal_vectors_and_strings_are_held_once() -> None:
    def packed(count: int) -> bytes:
        zero = tflite.QuantizationParametersT(scale=[0.5] * 64, zero_point=[0] * 64)
        tensors = [tflite.TensorT(name="a", shape=[64], quantization=zero) for _ in range(count)]
        model = tflite.ModelT(
            version=3, subgraphs=[tflite.SubGraphT(tensors=tensors)], buffers=[tflite.BufferT()]
        )
        return tflite.pack(model)

    one, data = packed(1), packed(9)
    # A pointer, a table of the tensor and one of its quantization.
    assert len(data) - len(one) <= 8 * (4 + 24 + 24)
    verify(data)
    for tensor in tflite.read(data).subgraphs[0].tensors:
        assert (tensor.name, tensor.shape.tolist()) == ("a", [64])
        assert tensor.quantization.zero_point.tolist() == [0] * 64


def test_vectors_of_other_widths_stay_apart() -> None:
    """Of the same bytes, but other alignments: two int32 are no int64."""
    tensor = tflite.TensorT(
        shape=[1, 2], quantization=tflite.QuantizationParametersT(zero_point=[1 + (2 << 32)])
    )
    graph = tflite.SubGraphT(tensors=[tensor, tensor])
    data = tflite.pack(tflite.ModelT(version=3, subgraphs=[graph], buffers=[tflite.BufferT()]))
    verify(data)
    for read in tflite.read(data).subgraphs[0].tensors:
        assert read.shape.tolist() == [1, 2]
        assert read.quantization.zero_point.tolist() == [1 + (2 << 32)]


def test_unpack_then_pack_gives_the_same_file() -> None:
    data = tflite.pack(convolution())
    assert tflite.pack(tflite.unpack(tflite.read(data))) == data


def test_negative_and_slice_indices_of_table_vectors() -> None:
    tensors = tflite.read(tflite.pack(convolution())).subgraphs[0].tensors
    assert [tensor.name for tensor in tensors[1:]] == ["w", "größe"]
    assert tensors[-3].name == "x"
    with pytest.raises(IndexError):
        tensors[3]


@pytest.mark.parametrize("code", [0, 126, 127, 128, 209])
def test_operator_codes_beyond_the_older_field(code: int) -> None:
    model = tflite.ModelT(version=3, operator_codes=[operator_code(code)])
    assert builtin_code(tflite.read(tflite.pack(model)).operator_codes[0]) == code


def test_large_numbers() -> None:
    buffer = tflite.BufferT(offset=2**40, size=2**33)
    read = tflite.read(tflite.pack(tflite.ModelT(buffers=[buffer]))).buffers[0]
    assert (read.offset, read.size) == (2**40, 2**33)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tflite.TensorT(shape=[2**31]), "shape: must fit int32"),
        (lambda: tflite.TensorT(shape=[0.5]), "shape: must be a vector of int32"),
        (lambda: tflite.TensorT(buffer=-1), "buffer: must fit"),
    ],
)
def test_values_that_do_not_fit_are_refused(make: object, message: str) -> None:
    model = tflite.ModelT(subgraphs=[tflite.SubGraphT(tensors=[make()])])
    with pytest.raises(ValueError, match=message):
        tflite.pack(model)


def test_wrong_table_in_a_union_is_refused() -> None:
    operator = tflite.OperatorT(builtin_options=tflite.TensorT())
    model = tflite.ModelT(subgraphs=[tflite.SubGraphT(operators=[operator])])
    with pytest.raises(ValueError, match="must be a table of BuiltinOptions, got Tensor"):
        tflite.pack(model)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(TypeError, match="'strides'"):
        tflite.Conv2DOptionsT(strides=1)
    with pytest.raises(AttributeError, match="Conv4DOptions"):
        tflite.Conv4DOptions  # noqa: B018


@pytest.mark.parametrize("name", tflite.UNIONS["BuiltinOptions"])
def test_every_options_table_survives_a_round_trip(name: str) -> None:
    """Each union member, written with every field away from its default, reads back the same."""
    values = {field.name: filled(field) for field in getattr(tflite, name).fields}
    options = getattr(tflite, name + "T")(**values)
    operator = tflite.OperatorT(builtin_options=options)
    data = tflite.pack(tflite.ModelT(subgraphs=[tflite.SubGraphT(operators=[operator])]))
    read = tflite.read(data).subgraphs[0].operators[0].builtin_options
    assert type(read).__name__ == name
    for field, value in values.items():
        assert np.array_equal(getattr(read, field), value)


def filled(field: object) -> object:
    if field.kind == "string":
        return "text"
    return [1, 1, 0] if field.kind == "vector" else (not field.default if field.type == "?" else 5)


def test_litert_reads_what_we_write() -> None:
    schema = pytest.importorskip(
        "ai_edge_litert.schema_py_generated", reason="ai-edge-litert is not installed"
    )
    model = schema.ModelT.InitFromPackedBuf(tflite.pack(convolution()))
    assert model.subgraphs[0].tensors[1].name == b"w"
    assert model.subgraphs[0].operators[0].builtinOptions.strideW == 2
    assert model.signatureDefs[0].outputs[0].tensorIndex == 2


def test_import_is_cheap() -> None:
    """The schema is imported by every process that runs a model: it may not make 300 classes first."""
    code = (
        "import numpy, numlite; from numlite.tests.lines_run import lines_run\n"
        "def load():\n    import numlite.schema.tflite\n"
        "print(lines_run(load), len(numlite.schema.tflite.SCHEMA._made))"
    )
    lines, made = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert int(lines) < 5_000 and made == "0"


MODELS = sorted(SHARED.glob("models/*.tflite"))


@pytest.mark.skipif(not MODELS, reason="../shared/models is absent")
def test_real_models_survive_a_round_trip() -> None:
    for path in MODELS:
        model = tflite.unpack(tflite.read(path.read_bytes()))
        written = tflite.pack(model)
        verify(written)
        assert repr(tflite.unpack(tflite.read(written))) == repr(model), path.name
