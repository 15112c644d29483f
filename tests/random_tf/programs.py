"""Random programs, as the process that has TensorFlow traces them."""

from __future__ import annotations

import numpy as np

from tests.random_ops.draw import Draw
from tests.random_tf.program import Input
from tests.random_tf.tensorflow_process import TensorFlow
from tests.random_tf.trial import Trial

# Their functions import TensorFlow: the FAMILIES of shapes.py, loops.py, layers.py and texts.py.
FAMILIES = (
    *("composition", "einsum", "segments", "while_loop", "old_loop", "branches", "scan", "lists"),
    *("gradients", "recurrent", "images", "signals", "strings", "ragged", "sparse"),
)
_WORDS = (b"hello world", b"a b  c", b"", b"Foo,Bar", b"12", b"3.5", b"xyzzy plugh", b"\xc3\xa9t\xc3\xa9")
_RUNS = 3


def program_trial(tensorflow: TensorFlow, number: int, family: str) -> Trial:
    """The program of that number, with arrays for three runs; open sizes change from run to run."""
    graph, inputs, names, outputs = tensorflow.trace(number, family)
    draw = Draw(number, sum(map(ord, family)), 1)
    letters = sorted({size for x in inputs for size in x.shape if isinstance(size, str)})
    runs = []
    for _ in range(_RUNS if letters else 2):
        sizes = {letter: draw.number(2, 9) for letter in letters}
        runs.append(tuple(_array(draw, x, sizes) for x in inputs))
    shapes = tuple(tuple(None if isinstance(n, str) else n for n in x.shape) for x in inputs)
    return Trial(graph, tuple(names), shapes, tuple(outputs), tuple(runs), family)


def _array(draw: Draw, x: Input, sizes: dict[str, int]) -> np.ndarray:
    shape = tuple(sizes[n] if isinstance(n, str) else n for n in x.shape)
    if x.type == "string":
        words = np.empty(int(np.prod(shape)), object)
        words[:] = [draw.pick(*_WORDS) for _ in range(words.size)]
        return words.reshape(shape)
    if np.dtype(x.type).kind in "iu":
        return np.asarray(draw.random.integers(int(x.low), int(x.high) + 1, shape), x.type)
    return np.asarray(draw.random.uniform(x.low, x.high, shape), x.type)
