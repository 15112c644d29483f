"""Damaged models with strings: those that have them, and others whose tensors become strings."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numlite.lite.tensor import TensorType
from numlite.schema import tflite

from tests.fuzzing import models
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.retyped import count_of, set_data, set_type
from tests.fuzzing.string_buffers import string_buffer
from tests.model_mutations import mutate
from tests.test_cases import CASES

# Operators that take tensors of any type, and those of strings.
_MOVERS = frozenset(
    name
    for line in (
        "BROADCAST_TO TRANSPOSE CONCATENATION PACK UNPACK SLICE STRIDED_SLICE TILE REVERSE_V2",
        "REVERSE_SEQUENCE GATHER GATHER_ND RESHAPE EXPAND_DIMS SQUEEZE SPLIT SPLIT_V PAD PADV2",
        "MIRROR_PAD SPACE_TO_DEPTH",
        "DEPTH_TO_SPACE SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND SELECT SELECT_V2 FILL EQUAL NOT_EQUAL IF WHILE",
        "CALL READ_VARIABLE ASSIGN_VARIABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_LOOKUP SKIP_GRAM",
        "LSH_PROJECTION DYNAMIC_UPDATE_SLICE SCATTER_ND WHERE SHAPE RANK CUSTOM STABLEHLO_CONCATENATE",
        "STABLEHLO_TRANSPOSE STABLEHLO_BROADCAST_IN_DIM STABLEHLO_SLICE STABLEHLO_PAD STABLEHLO_GATHER",
        "STABLEHLO_SELECT STABLEHLO_COMPARE STABLEHLO_RESHAPE",
    )
    for name in line.split()
)
_NUMBERS = {int(code) for name, code in tflite.ENUMS["BuiltinOperator"].items() if name in _MOVERS}


def seeds(given: Sequence[Path]) -> list[Seed]:
    """Models with an operator that takes strings."""
    found = models.seeds(given) if given else [*models.seeds(()), *_string_cases()]
    return [seed for seed in found if _moves(tflite.read(seed.content))]


def _string_cases() -> list[Seed]:
    """All cases with strings, which the other kind's sample may miss."""
    cases = (Seed(name, CASES[name].make()) for name in sorted(CASES))
    return [seed for seed in cases if models.has_type(seed.content, TensorType.STRING)]


def _moves(model: tflite.Model) -> bool:
    codes = {max(code.builtin_code, code.deprecated_builtin_code) for code in model.operator_codes}
    return bool(codes & _NUMBERS)


def damage(seed: Seed, draw: random.Random) -> Mutant:
    """Tensors of one type become strings, buffers of strings are forged, and perhaps something else."""
    model = tflite.unpack(tflite.read(seed.content))
    how = "strings"
    has_strings = models.has_type(seed.content, TensorType.STRING)
    if not has_strings or draw.random() < 0.2:
        _become_strings(model, draw)
    if has_strings and draw.random() < 0.7:
        _forge(model, draw)
        how = "forged strings"
    try:
        content = tflite.pack(model)
    except (ValueError, TypeError, OverflowError):
        content = seed.content
    if draw.random() < 0.4:
        other = mutate(content, draw.getrandbits(32))
        return Mutant(other.content, f"{how}, {other.kind}", other.must_fail, draw.getrandbits(32))
    return Mutant(content, how, draw=draw.getrandbits(32))


def _become_strings(model: Any, draw: random.Random) -> None:
    """The tensors of one type, and now and then one more."""
    tensors = [tensor for graph in model.subgraphs for tensor in graph.tensors]
    operator = draw.choice([op for graph in model.subgraphs for op in graph.operators or ()])
    graph = next(g for g in model.subgraphs if any(op is operator for op in g.operators or ()))
    moved = [int(t) for t in (operator.inputs if operator.inputs is not None else ())]
    chosen = graph.tensors[moved[0]] if moved and 0 <= moved[0] < len(graph.tensors) else draw.choice(tensors)
    before = chosen.type
    for tensor in tensors:
        if tensor.type == before:
            if draw.random() < 0.1:
                tensor.type = TensorType.STRING  # a constant keeps its old bytes
            else:
                set_type(model, tensor, TensorType.STRING, draw)


def _forge(model: Any, draw: random.Random) -> None:
    """Constants of strings get other bytes; inputs may become constants."""
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            count = count_of(tensor)
            if tensor.type == TensorType.STRING and count < 10_000 and draw.random() < 0.4:
                set_data(model, tensor, string_buffer(count, draw))


STRINGS = Kind("strings", seeds, damage, models.run_model, models.MODELS.endings)
