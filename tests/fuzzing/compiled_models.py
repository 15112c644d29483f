"""Damaged compiled models: what they say of their delegate, and the program that it gets."""

from __future__ import annotations

import json
import logging
import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import numlite
from numlite.delegates.cuda import program as cuda_program
from numlite.delegates.cuda.delegate import CudaDelegate
from numlite.delegates.cuda.options import CudaOptions
from numlite.lite.compiled_partition import class_path
from numlite.lite.partition_program import (
    METADATA_NAME,
    Compilation,
    PartitionProgram,
    pack_compilations,
    pack_program,
    unpack_program,
)
from numlite.schema import tflite

from tests.fuzzing import models
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.model_mutations import mutate

_ODD: tuple[Any, ...] = (None, True, 0, -1, 2**63, 1e400, "", "x" * 1000, [], [[]], {}, [1, "a", 9**20], "\0")
_MOST_INNER_BYTES = 20_000


def seeds(given: Sequence[Path]) -> list[Seed]:
    """Models of one operator that carries a small model for the CUDA delegate, which has no GPU."""
    found = []
    for seed in models.seeds(given):
        if len(seed.content) > _MOST_INNER_BYTES:
            continue
        graphs = tflite.read(seed.content).subgraphs
        if len(graphs) == 1 and len(graphs[0].inputs) and len(graphs[0].outputs):
            found.append(Seed(seed.name, _compiled(seed.content)))
    return found


@cache
def _compilation() -> Compilation:
    delegate = CudaDelegate(CudaOptions(fallback=True))
    return Compilation("cuda", class_path(delegate), delegate.version, {}, "0" * 64)


def _program(inner: bytes, header: dict[str, Any] | None = None) -> bytes:
    text = json.dumps(header or {"model": len(inner), "cubins": []}).encode()
    return cuda_program._HEADER.pack(cuda_program._MAGIC, len(text)) + text + inner


def _compiled(inner: bytes) -> bytes:
    """A model whose only operator runs the inner one."""
    model = tflite.unpack(tflite.read(inner))
    (graph,) = model.subgraphs
    compilation = _compilation()
    carried = pack_program(PartitionProgram(compilation, _program(inner)))
    graph.operators = [
        tflite.OperatorT(
            opcode_index=0,
            inputs=graph.inputs,
            outputs=graph.outputs,
            custom_options=carried,
        )
    ]
    model.operator_codes = [
        tflite.OperatorCodeT(
            deprecated_builtin_code=32, builtin_code=32, custom_code=compilation.custom_code, version=1
        )
    ]
    model.buffers = [*model.buffers, tflite.BufferT(data=pack_compilations([compilation]))]
    model.metadata = [tflite.MetadataT(name=METADATA_NAME, buffer=len(model.buffers) - 1)]
    return tflite.pack(model)


def damage(seed: Seed, draw: random.Random) -> Mutant:
    """The program, what it says, or the file around it; checksums stay right."""
    if draw.random() < 0.2:
        mutant = mutate(seed.content, draw.getrandbits(32))
        return Mutant(mutant.content, mutant.kind, mutant.must_fail, draw.getrandbits(32))
    model = tflite.unpack(tflite.read(seed.content))
    operator = model.subgraphs[0].operators[0]
    carried = unpack_program(bytes(operator.custom_options))
    how = draw.choice(sorted(_CHANGES))
    operator.custom_options = _CHANGES[how](carried, draw)
    if draw.random() < 0.2:
        entries = json.loads(bytes(model.buffers[-1].data))
        model.buffers[-1].data = json.dumps(_odd(entries, draw)).encode()
        how += ", list of compilations"
    return Mutant(tflite.pack(model), how, draw=draw.getrandbits(32))


def _odd(value: Any, draw: random.Random) -> Any:
    """JSON with another value somewhere."""
    if isinstance(value, dict) and value and draw.random() < 0.8:
        key = draw.choice(sorted(value))
        if draw.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: _odd(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        at = draw.randrange(len(value))
        return [*value[:at], _odd(value[at], draw), *value[at + 1 :]]
    return draw.choice(_ODD)


def _header(carried: PartitionProgram, draw: random.Random) -> bytes:
    """The header of the operator's options, packed as the library does it."""
    fields = asdict(carried)
    fields.pop("program")
    return _packed_with(_odd(fields, draw), carried.program)


def _packed_with(header: Any, program: bytes) -> bytes:
    from numlite.lite import partition_program

    text = json.dumps(header).encode()
    body = partition_program._HEADER.pack(partition_program._MAGIC, len(text), len(program)) + text + program
    return body + partition_program._checksum(body)


def _shapes(carried: PartitionProgram, draw: random.Random) -> bytes:
    shapes = draw.choice((None, (), ((1,),), ((-1, 2),), ((2**40,),)))
    outputs = draw.choice((None, (), ((1,),)))
    return pack_program(replace(carried, input_shapes=shapes, output_shapes=outputs))


def _inner(carried: PartitionProgram) -> bytes:
    at = cuda_program._HEADER.size
    (_, header_bytes) = cuda_program._HEADER.unpack_from(carried.program)
    return carried.program[at + header_bytes :]


def _inner_model(carried: PartitionProgram, draw: random.Random) -> bytes:
    inner = mutate(_inner(carried), draw.getrandbits(32)).content
    return pack_program(replace(carried, program=_program(inner)))


def _inner_header(carried: PartitionProgram, draw: random.Random) -> bytes:
    inner = _inner(carried)
    cubins = [[draw.choice((75, 90, -1)), "name", draw.choice((0, 10, len(inner), 2**40))]]
    header = _odd({"model": draw.choice((len(inner), 0, -1, len(inner) + 9)), "cubins": cubins}, draw)
    if not isinstance(header, dict):
        header = {"": header}
    return pack_program(replace(carried, program=_program(inner, header)))


def _inner_bytes(carried: PartitionProgram, draw: random.Random) -> bytes:
    program = bytearray(carried.program)
    for _ in range(draw.choice((1, 2, 8))):
        program[draw.randrange(min(len(program), 64))] = draw.randrange(256)
    cut = len(program) if draw.random() < 0.7 else draw.randrange(len(program))
    return pack_program(replace(carried, program=bytes(program[:cut])))


def _container_bytes(carried: PartitionProgram, draw: random.Random) -> bytes:
    packed = bytearray(pack_program(carried))
    at = draw.randrange(0, 20)
    packed[at : at + 4] = struct.pack("<I", draw.choice((0, 1, 2**31, 2**32 - 1)))
    return bytes(packed)


_CHANGES: dict[str, Callable[[PartitionProgram, random.Random], bytes]] = {
    "header": _header,
    "shapes": _shapes,
    "inner model": _inner_model,
    "damaged inner model": _inner_model,
    "inner header": _inner_header,
    "inner bytes": _inner_bytes,
    "container": _container_bytes,
}


def run_compiled(mutant: Mutant) -> str:
    """With the delegate by hand, trusted, or neither."""
    log = logging.getLogger("numlite")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        return _run(mutant)
    finally:
        log.setLevel(level)


def _run(mutant: Mutant) -> str:
    draw = random.Random(mutant.draw)
    settings: dict[str, Any] = draw.choice(
        (
            {"experimental_delegates": [CudaDelegate(CudaOptions(fallback=True))]},
            {"experimental_delegates": [CudaDelegate(CudaOptions(fallback=True))]},
            {"trust_compiled_code": True},
            {},
        )
    )
    interpreter = numlite.Interpreter(
        model_content=models.guarded_memory.guarded_copy(mutant.content), **settings
    )
    interpreter.allocate_tensors()
    return models.use(interpreter, draw)


COMPILED = Kind("compiled", seeds, damage, run_compiled, models.MODELS.endings)
