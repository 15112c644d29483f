"""Damaged models, and what a user does with a model."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numlite
import numpy as np
from numlite.schema import tflite

from tests import guarded_memory
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.retyped import retype
from tests.model_mutations import mutate
from tests.shared_folder import SHARED
from tests.test_cases import CASES

MAX_MODEL_BYTES = 120_000
CORPUS_STEP = 4
CASE_STEP = 3
MAX_ELEMENTS = 1_000_000
RUN_SECONDS = 5  # a loop may be endless: that is its author's right
TOO_LARGE = "too large to invoke"
_RESIZED = (0, 1, 2, 3, 5)


def seeds(given: Sequence[Path]) -> list[Seed]:
    """Small models: the given ones, else the shared ones, a sample of the corpus, and those of the cases.

    Only those that can be built: damage behind a missing operator stays unseen.
    """
    if given:
        folders = [sorted(path.rglob("*.tflite")) if path.is_dir() else [path] for path in given]
        return [Seed(str(path), path.read_bytes()) for found in folders for path in found]
    networks = sorted((SHARED / "models").glob("*.tflite"))
    corpus = sorted((SHARED / "corpus").rglob("*.tflite"))[::CORPUS_STEP]
    files = [Seed(path.name, path.read_bytes()) for path in [*networks, *corpus] if is_small(path)]
    return [seed for seed in (*files, *case_seeds()) if builds(seed.content)]


def case_seeds() -> Iterator[Seed]:
    """Models of the operators' test cases."""
    for name in sorted(CASES)[::CASE_STEP]:
        content = CASES[name].make()
        if len(content) <= MAX_MODEL_BYTES:
            yield Seed(name, content)


def is_small(path: Path) -> bool:
    return path.stat().st_size <= MAX_MODEL_BYTES


def builds(content: bytes) -> bool:
    try:
        numlite.Interpreter(model_content=content)
    except (ValueError, RuntimeError):
        return False
    return True


def damage(seed: Seed, draw: random.Random) -> Mutant:
    """Any damage; a fifth of the models are well-formed ones whose tensors are of another sort."""
    if draw.random() < 0.2:
        content, how = retype(seed.content, draw)
        if draw.random() < 0.7:
            return Mutant(content, how, draw=draw.getrandbits(32))
    else:
        content, how = seed.content, ""
    mutant = mutate(content, draw.getrandbits(32))
    how = f"{how}, {mutant.kind}" if how else mutant.kind
    return Mutant(mutant.content, how, mutant.must_fail, draw.getrandbits(32))


def run_model(mutant: Mutant) -> str:
    """Open, allocate, fill, invoke, read; often again with another shape. Half of them in each numerics."""
    draw = random.Random(mutant.draw)
    interpreter = opened(mutant.content, draw)
    interpreter.get_signature_list()
    interpreter.get_tensor_details()
    interpreter.allocate_tensors()
    outcome = use(interpreter, draw)
    if outcome == "invoked" and draw.random() < 0.4:
        _resize(interpreter, draw)
        outcome = use(interpreter, draw)
    return outcome


def opened(content: bytes, draw: random.Random) -> numlite.Interpreter:
    """An interpreter with chosen settings, whose file lies before a page that cannot be touched."""
    kinds = (numlite.OpResolverType.AUTO, numlite.OpResolverType.BUILTIN_REF)
    return numlite.Interpreter(
        model_content=guarded_memory.guarded_copy(content),
        num_threads=draw.choice((1, 1, 1, 2)),
        experimental_op_resolver_type=draw.choice(kinds),
    )


def use(interpreter: numlite.Interpreter, draw: random.Random) -> str:
    """Fill an allocated interpreter's inputs, run it once or twice, and read what comes out."""
    details = interpreter.get_tensor_details()
    if sum(int(np.prod(detail["shape"], dtype=float)) for detail in details) > MAX_ELEMENTS:
        return TOO_LARGE
    for detail in interpreter.get_input_details():
        if np.dtype(detail["dtype"]).kind != "O" and draw.random() < 0.9:
            interpreter.set_tensor(detail["index"], ones(detail["shape"], detail["dtype"]))
    for _ in range(draw.choice((1, 2))):
        interpreter.invoke(timeout_s=RUN_SECONDS)
    for detail in interpreter.get_output_details():
        found = interpreter.get_tensor(detail["index"])
        if found.shape != tuple(detail["shape"]) and not detail["sparsity_parameters"]:
            return f"promised {tuple(detail['shape'])}, gave {found.shape}"
    if draw.random() < 0.2:
        interpreter.reset_all_variables()
        interpreter.invoke(timeout_s=RUN_SECONDS)
    return "invoked"


def ones(shape: Sequence[int], dtype: type) -> np.ndarray:
    """A value for an input of that type."""
    return np.full(shape, b"ab", object) if np.dtype(dtype).kind == "S" else np.ones(shape, dtype)


def _resize(interpreter: numlite.Interpreter, draw: random.Random) -> None:
    """Give an input another shape: other sizes, or all of them along one axis."""
    details = interpreter.get_input_details()
    if not details:
        return
    detail = draw.choice(details)
    shape = [int(size) for size in detail["shape"]]
    if shape and draw.random() < 0.8:
        shape[draw.randrange(len(shape))] = draw.choice(_RESIZED)
    else:
        shape = [int(np.prod(shape))]
    interpreter.resize_tensor_input(detail["index"], shape)
    interpreter.allocate_tensors()


def has_type(content: bytes, type: int) -> bool:
    """Whether a tensor of the model has the type."""
    return any(t.type == type for graph in tflite.read(content).subgraphs for t in graph.tensors)


MODELS = Kind("models", seeds, damage, run_model, frozenset({"invoked", TOO_LARGE}))
