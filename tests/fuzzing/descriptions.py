"""Models with damaged metadata, names and signatures: what is shown, and what tells the order of nodes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numlite
from numlite.lite.control_edges import METADATA_NAME as CONTROL_EDGES
from numlite.lite.control_edges import serialize_control_dependencies
from numlite.lite.dump import dump
from numlite.lite.model import Model
from numlite.lite.partition_program import METADATA_NAME as COMPILATIONS
from numlite.lite.strict_check import model_findings
from numlite.schema import tflite

from tests.delegates.numpy_delegate import NumpyDelegate
from tests.fuzzing import models
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.model_mutations import mutate

_NAMES = (
    CONTROL_EDGES,
    COMPILATIONS,
    "min_runtime_version",
    "CONVERSION_METADATA",
    "TFLITE_METADATA",
    "",
    None,
)
_TEXTS = ("", "x", "\x1b[31m", "\u202e", "<script>", "\0", "a\nb", "n" * 70_000, "é")
_ODD_INDEXES = (0, 1, -1, 2**31 - 1, 2**32 - 1)


def seeds(given: Sequence[Path]) -> list[Seed]:
    """Every second of the models."""
    return models.seeds(given)[:: 1 if given else 2]


def damage(seed: Seed, draw: random.Random) -> Mutant:
    model = tflite.unpack(tflite.read(seed.content))
    for _ in range(draw.choice((1, 2, 3))):
        draw.choice(_CHANGES)(model, draw)
    try:
        content = tflite.pack(model)
    except (ValueError, TypeError, OverflowError):
        content = seed.content
    if draw.random() < 0.2:
        mutant = mutate(content, draw.getrandbits(32))
        return Mutant(mutant.content, mutant.kind, mutant.must_fail, draw.getrandbits(32))
    return Mutant(content, "metadata", draw=draw.getrandbits(32))


def _entry(model: Any, draw: random.Random) -> None:
    """Metadata of a known or unknown name, with any bytes."""
    model.buffers.append(tflite.BufferT(data=_bytes(model, draw)))
    buffer = draw.choice((len(model.buffers) - 1, len(model.buffers) - 1, *_ODD_INDEXES[:2]))
    entry = tflite.MetadataT(name=draw.choice(_NAMES), buffer=buffer)
    model.metadata = [*(model.metadata or ()), entry]


def _bytes(model: Any, draw: random.Random) -> bytes:
    counts = [len(graph.operators or ()) for graph in model.subgraphs]
    edges = [
        [(draw.randrange(-2, count + 2), draw.randrange(-2, count + 2)) for _ in range(draw.randrange(4))]
        for count in counts[: draw.choice((len(counts), 0))]
    ]
    good = serialize_control_dependencies(edges)
    texts = (
        b"[]",
        b"{}",
        b'[{"delegate": "cuda"}]',
        b"[" * 100_000,
        b"\xff" * 9,
        b"1.5.0",
        bytes(16),
        b"\x01\xff\xff",
    )
    damaged = bytearray(good)
    if damaged:
        damaged[draw.randrange(len(damaged))] = draw.randrange(256)
    return draw.choice((good, good, bytes(damaged), *texts, draw.randbytes(draw.randrange(1, 99))))


def _signature(model: Any, draw: random.Random) -> None:
    """Names and numbers of arguments that may be no one's."""
    graph = draw.choice(model.subgraphs)

    def arguments(listed: Any) -> list[Any]:
        found = [
            tflite.TensorMapT(name=draw.choice((f"a{n}", "same", *_TEXTS)), tensor_index=int(t))
            for n, t in enumerate(listed if listed is not None else ())
        ]
        if found and draw.random() < 0.4:
            draw.choice(found).tensor_index = draw.choice((0, 1, 2**31 - 1, 2**32 - 1))
        return found[: draw.choice((len(found), len(found), 1, 0))]

    entry = tflite.SignatureDefT(
        signature_key=draw.choice(("serve", "serving_default", *_TEXTS, None)),
        inputs=arguments(graph.inputs),
        outputs=arguments(graph.outputs),
        subgraph_index=draw.choice((model.subgraphs.index(graph), 0, 1, 99, 2**32 - 1)),
    )
    model.signature_defs = [*(model.signature_defs or ()), entry]


def _text(model: Any, draw: random.Random) -> None:
    """Names of subgraphs, tensors and codes, and the description."""
    graph = draw.choice(model.subgraphs)
    places = [(model, "description"), (graph, "name")]
    if graph.tensors:
        places.append((draw.choice(graph.tensors), "name"))
    table, field = draw.choice(places)
    setattr(table, field, draw.choice((*_TEXTS, None)))


def _version(model: Any, draw: random.Random) -> None:
    model.version = draw.choice((0, 1, 2, 3, 4, 2**32 - 1))
    code = draw.choice(model.operator_codes) if model.operator_codes else None
    if code is not None and draw.random() < 0.7:
        code.version = draw.choice((0, 1, 2, 99, -1, 2**31 - 1))


_CHANGES = (_entry, _entry, _signature, _signature, _text, _version)


def run_described(mutant: Mutant) -> str:
    """Show the model, list what breaks rules, let a delegate ask for the nodes' order; run by signatures."""
    draw = random.Random(mutant.draw)
    content = models.guarded_memory.guarded_copy(mutant.content)
    model_findings(mutant.content)
    list(dump(Model(content)))
    delegates = [NumpyDelegate()] if draw.random() < 0.5 else []
    interpreter = numlite.Interpreter(model_content=content, experimental_delegates=delegates)
    interpreter.allocate_tensors()
    outcome = models.use(interpreter, draw)
    if outcome == "invoked":
        for key in interpreter.get_signature_list():
            _call(interpreter, key)
    return outcome


def _call(interpreter: numlite.Interpreter, key: str) -> None:
    """Call a signature with ones."""
    runner = interpreter.get_signature_runner(key)
    arguments = {
        name: models.ones(detail["shape"], detail["dtype"])
        for name, detail in runner.get_input_details().items()
    }
    runner.get_output_details()
    runner(**arguments)


DESCRIPTIONS = Kind("descriptions", seeds, damage, run_described, models.MODELS.endings)
