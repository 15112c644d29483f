"""Damaged files are refused with the place of the damage, and never crash or stall the reader."""

import random
import struct
import sys
from collections.abc import Callable

import pytest
from numlite.lite.errors import ModelError
from numlite.schema import tflite
from numlite.schema.flatbuffer import Table, TableVector
from numlite.schema.verifier import strict_findings, verify

from ..hostile_files import hostile_file
from .models import convolution

NO_FLATBUFFER = "The model is not a valid Flatbuffer buffer"


def refusal(data: bytes) -> str:
    with pytest.raises(ModelError) as caught:
        verify(data)
    return str(caught.value)


def test_a_good_file_is_accepted() -> None:
    verify(tflite.pack(convolution()))


@pytest.mark.parametrize("data", [b"", b"TFL3", b"\0" * 7])
def test_too_short(data: bytes) -> None:
    assert "too few" in refusal(data)


def test_wrong_identifier() -> None:
    data = bytearray(tflite.pack(convolution()))
    data[4:8] = b"TFL2"
    assert refusal(data) == f"{NO_FLATBUFFER}: identifier must be TFL3, got b'TFL2'"


def first_operator(model: tflite.ModelT) -> tflite.OperatorT:
    return model.subgraphs[0].operators[0]


def set_if(model: tflite.ModelT, then_index: int, else_index: int = 0) -> None:
    first_operator(model).builtin_options = tflite.IfOptionsT(
        then_subgraph_index=then_index, else_subgraph_index=else_index
    )


WRONG: dict[str, tuple[Callable[[tflite.ModelT], object], str]] = {
    "version": (lambda m: setattr(m, "version", 4), "model: schema version must be 3, got 4"),
    "no subgraph": (lambda m: setattr(m, "subgraphs", []), "model: a model must have at least one subgraph"),
    "opcode": (
        lambda m: setattr(first_operator(m), "opcode_index", 17),
        "subgraph 0, operator 0: opcode_index 17, the model has 1",
    ),
    "operator input": (
        lambda m: setattr(first_operator(m), "inputs", [0, 3]),
        "subgraph 0, operator 0: inputs name tensor 3, the subgraph has 3",
    ),
    "operator input below -1": (
        lambda m: setattr(first_operator(m), "inputs", [-2]),
        "subgraph 0, operator 0: inputs name tensor -2, the subgraph has 3",
    ),
    "operator output": (
        lambda m: setattr(first_operator(m), "outputs", [-1]),
        "subgraph 0, operator 0: outputs name tensor -1, the subgraph has 3",
    ),
    "subgraph output": (
        lambda m: setattr(m.subgraphs[0], "outputs", [2, 99]),
        "subgraph 0: outputs name tensor 99, the subgraph has 3",
    ),
    "buffer": (
        lambda m: setattr(m.subgraphs[0].tensors[1], "buffer", 3),
        "subgraph 0, tensor 1: buffer 3, the model has 3",
    ),
    "type": (
        lambda m: setattr(m.subgraphs[0].tensors[1], "type", 23),
        "subgraph 0, tensor 1: type must be 0 to 22, got 23",
    ),
    "data too short": (
        lambda m: setattr(m.buffers[1], "data", bytes(71)),
        "subgraph 0, tensor 1: float32 [2, 3, 3, 1] needs 72 bytes, buffer 1 has 71",
    ),
    "negative size": (
        lambda m: setattr(m.subgraphs[0].tensors[0], "shape", [1, -1]),
        "subgraph 0, tensor 0: shape must have no negative size, got [1, -1]",
    ),
    "scales": (
        lambda m: setattr(m.subgraphs[0].tensors[1].quantization, "quantized_dimension", 1),
        "subgraph 0, tensor 1: quantization has 2 scales along dimension 1 of [2, 3, 3, 1]",
    ),
    "zero points": (
        lambda m: setattr(m.subgraphs[0].tensors[1].quantization, "zero_point", []),
        "subgraph 0, tensor 1: quantization must have a zero_point for each scale, got 0 and 2",
    ),
    "details": (
        lambda m: setattr(
            m.subgraphs[0].tensors[1].quantization, "details", tflite.BlockwiseQuantizationT(scales=3)
        ),
        "subgraph 0, tensor 1: BlockwiseQuantization names tensor 3, the subgraph has 3",
    ),
    "signature subgraph": (
        lambda m: setattr(m.signature_defs[0], "subgraph_index", 1),
        "signature 0: subgraph_index 1, the model has 1 subgraphs",
    ),
    "signature tensor": (
        lambda m: setattr(m.signature_defs[0].inputs[0], "tensor_index", 3),
        "signature 0: tensor_index 3, subgraph 0 has 3",
    ),
    "metadata": (lambda m: setattr(m.metadata[0], "buffer", 3), "metadata 0: buffer 3, the model has 3"),
    "called subgraph": (
        lambda m: set_if(m, 1),
        "subgraph 0, operator 0: then_subgraph_index 1, the model has 1 subgraphs",
    ),
    "recursion": (lambda m: set_if(m, 0), "model: subgraph 0 calls itself"),
    "offset of a buffer": (
        lambda m: m.buffers.append(tflite.BufferT(offset=2**64 - 8, size=16)),
        "buffer 3: 16 bytes at offset 18446744073709551608 run past the end",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_index(case: str) -> None:
    change, message = WRONG[case]
    model = convolution()
    change(model)
    assert message in refusal(tflite.pack(model))
    assert any(message in finding for finding in strict_findings(tflite.pack(model)))


TOLERATED = {
    "signature subgraph",
    "signature tensor",
    "operator input",
    "operator input below -1",
    "operator output",
    "subgraph output",
    "details",
}


@pytest.mark.parametrize("case", WRONG)
def test_tolerance(case: str) -> None:
    model = convolution()
    WRONG[case][0](model)
    if case in TOLERATED:
        verify(tflite.pack(model), tolerant=True)
    else:
        with pytest.raises(ModelError):
            verify(tflite.pack(model), tolerant=True)


def test_unknown_union_member() -> None:
    model = convolution()
    first_operator(model).builtin_options_type = 200
    message = refusal(tflite.pack(model))
    where = "subgraph 0, operator 0, builtin_options"
    assert message == f"{NO_FLATBUFFER}: {where}: builtin_options_type must be 1 to 126, got 200"


def test_buffer_behind_the_flatbuffer() -> None:
    model = convolution()
    model.buffers[1] = tflite.BufferT(offset=2**20, size=72)
    data = tflite.pack(model)
    model.buffers[1].offset = len(data)
    data = tflite.pack(model)
    assert "run past the end" in refusal(data + bytes(71))
    verify(data + bytes(72))


def test_bytes_inside_and_behind_must_both_fill_the_tensor() -> None:
    model = convolution()
    model.buffers[1].offset, model.buffers[1].size = 2, 71
    assert "needs 72 bytes, buffer 1 has 71" in refusal(tflite.pack(model))


def test_shared_offsets_do_not_multiply_the_work() -> None:
    """Many operators may share one vector of indices; overlapping vectors are refused."""

    def calls(operators: int) -> int:
        """Function calls that verifying takes."""
        model = convolution()
        model.subgraphs[0].operators = [tflite.OperatorT(inputs=[0] * 5000) for _ in range(operators)]
        content = tflite.pack(model)
        count = 0

        def counted(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(counted)
        try:
            verify(content)
        finally:
            sys.setprofile(None)
        return count

    assert calls(1000) < 11 * calls(100)


@pytest.mark.parametrize("size", ["small", "large"])
def test_shared_tables_do_not_multiply_the_work(size: str) -> None:
    """Whoever reads all tables of all subgraphs meets a shared one each time."""
    model = convolution()
    count = 300 if size == "large" else 3
    tensors = [tflite.TensorT(name="t", shape=[1]) for _ in range(300)]
    model.subgraphs = [tflite.SubGraphT(tensors=[] if n else tensors) for n in range(count)]
    model.signature_defs = None
    content = bytearray(tflite.pack(model))
    graphs = tflite.read(bytes(content)).subgraphs
    for place in range(graphs._start, graphs._start + 4 * count, 4):
        struct.pack_into("<I", content, place, graphs[0]._position - place)
    if size == "small":
        verify(content)
    else:
        assert "counted each time" in refusal(bytes(content))


def test_the_hostile_file_of_shared_tables_is_refused() -> None:
    assert "counted each time" in refusal(hostile_file("other/shared_tables.tflite").read_bytes())


def damage(data: bytes, random_: random.Random) -> bytearray:
    """One of: a truncation, random bytes, or random offsets and lengths."""
    damaged = bytearray(data)
    choice = random_.random()
    if choice < 0.15:
        return damaged[: random_.randrange(len(damaged))]
    for _ in range(random_.choice((1, 1, 2, 4, 16))):
        at = random_.randrange(len(damaged) - 4) & ~3
        if choice < 0.6:
            damaged[at + random_.randrange(4)] = random_.randrange(256)
        else:
            number = random_.choice((0, 2**31 - 1, 2**31, 2**32 - 1, random_.randrange(len(data))))
            damaged[at : at + 4] = number.to_bytes(4, "little")
    return damaged


def read_all(table: Table) -> None:
    for field in type(table).fields:
        value = getattr(table, field.name)
        if isinstance(value, Table):
            read_all(value)
        elif isinstance(value, TableVector):
            for item in value:
                read_all(item)
        elif field.kind == "vector" and len(value):
            value.sum()


def models() -> dict[str, tflite.ModelT]:
    branches = convolution()
    branches.subgraphs += convolution().subgraphs + convolution().subgraphs
    set_if(branches, 1, 2)
    blockwise = convolution()
    details = tflite.BlockwiseQuantizationT(scales=0, zero_points=-1, block_size=32)
    blockwise.subgraphs[0].tensors[1].quantization.details = details
    return {"convolution": convolution(), "branches": branches, "blockwise": blockwise}


@pytest.mark.parametrize("name", models())
def test_ten_thousand_damages(name: str) -> None:
    """Each is refused, or every field of it can be read."""
    data = tflite.pack(models()[name])
    random_ = random.Random(name)
    refused = 0
    for _ in range(10_000 // 3 + 1):
        damaged = damage(data, random_)
        try:
            verify(damaged, tolerant=True)
        except ModelError as error:
            refused += 1
            assert str(error).removeprefix(f"{NO_FLATBUFFER}: ") in " ".join(strict_findings(damaged))
            continue
        read_all(tflite.read(damaged))
    assert 1000 < refused < 3300
