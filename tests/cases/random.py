"""Cases of the random operators; LiteRT tells the numbers of a seed."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import Case

UNIFORM, NORMAL = BuiltinOperator.RANDOM_UNIFORM, BuiltinOperator.RANDOM_STANDARD_NORMAL
_SEEDS = ((1, 0), (0, 9), (2**62 + 5, -7))


def filled(code: BuiltinOperator, shape: tuple[int, ...], seed: int, seed2: int, late: bool = False) -> bytes:
    """A model that fills a shape, which is constant or (late) an input."""
    model = ModelBuilder()
    wanted = model.tensor((len(shape),), np.int32) if late else model.constant(list(shape))
    y = model.tensor(() if late else shape)
    model.op(code, [wanted], [y], tflite.RandomOptionsT(seed=seed, seed2=seed2))
    return model.build([wanted] if late else [], [y])


def drawn(shape: tuple[int, int], count: int, dtype: type) -> bytes:
    """A model that draws so many classes a row of logits."""
    model = ModelBuilder()
    logits, y = model.tensor(shape), model.tensor((shape[0], count), dtype)
    options = tflite.RandomOptionsT(seed=7, seed2=8)
    model.op(BuiltinOperator.MULTINOMIAL, [logits, model.constant(np.array(count, np.int32))], [y], options)
    return model.build([logits], [y])


def bits(algorithm: int, words: int, shape: tuple[int, ...], dtype: type) -> bytes:
    """A model of STABLEHLO_RNG_BIT_GENERATOR with a state of so many words."""
    model = ModelBuilder()
    state, after = model.tensor((words,), np.uint64), model.tensor((words,), np.uint64)
    y = model.tensor(shape, dtype)
    options = tflite.StablehloRngBitGeneratorOptionsT(algorithm=algorithm)
    model.op(BuiltinOperator.STABLEHLO_RNG_BIT_GENERATOR, [state], [after, y], options)
    return model.build([state], [after, y])


def _logits(shape: tuple[int, int]) -> np.ndarray:
    logits = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    logits[0, 0], logits[-1, -1] = np.inf, np.nan
    return logits


CASES = [
    *(
        Case(
            f"{code.name}-{list(shape)}-{seed}-{seed2}",
            lambda code=code, shape=shape, seed=seed, seed2=seed2: filled(code, shape, seed, seed2),
            [],
        )
        for code in (UNIFORM, NORMAL)
        for shape in ((3,), (40, 25))
        for seed, seed2 in _SEEDS
    ),
    *(
        Case(
            f"{code.name}-late",
            lambda code=code: filled(code, (30, 50), 1, 2, True),
            [np.array([30, 50], np.int32)],
        )
        for code in (UNIFORM, NORMAL)
    ),
    *(
        Case(
            f"MULTINOMIAL-{list(shape)}-{count}-{dtype.__name__}",
            lambda shape=shape, count=count, dtype=dtype: drawn(shape, count, dtype),
            [_logits(shape)],
        )
        for shape, count, dtype in (((1, 4), 9, np.int32), ((3, 70), 5, np.int64))
    ),
    *(
        Case(
            f"STABLEHLO_RNG_BIT_GENERATOR-{algorithm}-{words}-{dtype.__name__}-{low}",
            lambda algorithm=algorithm, words=words, dtype=dtype: bits(algorithm, words, (3, 5), dtype),
            [np.array([0x1122334455667788, low, 7][:words], np.uint64)],
        )
        for algorithm, words in ((0, 2), (1, 3), (2, 2))
        for dtype in (np.uint32, np.int64)
        for low in (5, 2**64 - 2)
    ),
]
