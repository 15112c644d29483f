"""Records what TensorFlow tells a probe plugin about graphs: names, types, shapes with symbols, values.

    PYTHON tests/record_probes.py

PYTHON has tensorflow; cc must be there, too. Writes tests/optimizers/probes.jsonl, which
tests/optimizers/test_probes.py replays: for each graph as TensorFlow gives it to the plugin what the plugin
logs, in a process of its own, since a plugin's process asks for its files once.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent / "optimizers"
FILE, SOURCE = HERE / "probes.jsonl", HERE / "plugins" / "probe.c"


def dense(tf: Any, x: Any) -> Any:
    return tf.nn.relu(x @ tf.ones([4, 3]) + [1.0, 2.0, 3.0])


def sum_of_two(tf: Any, x: Any, y: Any) -> Any:
    return tf.exp(x + y)


def stretched(tf: Any, x: Any, y: Any) -> Any:
    return tf.tanh(x) * y


def flattened(tf: Any, x: Any) -> Any:
    return tf.reshape(tf.exp(x), [tf.shape(x)[0], 12]) @ tf.ones([12, 5])


def joined(tf: Any, x: Any, y: Any) -> Any:
    return tf.nn.relu(tf.concat([x, y], 1))


def divided(tf: Any, x: Any) -> Any:
    first, _, last = tf.split(tf.exp(x), 3, axis=1)
    return first - last


def convolution(tf: Any, x: Any) -> Any:
    return tf.nn.relu(tf.nn.conv2d(x, tf.ones([3, 3, 3, 4]), 2, "SAME"))


def pooled(tf: Any, x: Any) -> Any:
    return tf.reduce_mean(tf.nn.max_pool2d(tf.exp(x), 2, 2, "VALID"), [1, 2])


def transposed(tf: Any, x: Any) -> Any:
    return tf.exp(tf.transpose(tf.exp(x), [2, 0, 1]))


def looked_up(tf: Any, ids: Any) -> Any:
    return tf.exp(tf.gather(tf.reshape(tf.range(12.0), [6, 2]), ids))


def any_rank(tf: Any, x: Any) -> Any:
    return tf.abs(tf.exp(x)) + 2.0


def packed(tf: Any, x: Any, y: Any) -> Any:
    return tf.exp(tf.stack([x, y], 1))


def padded(tf: Any, x: Any) -> Any:
    return tf.exp(tf.pad(tf.exp(x), [[0, 0], [1, 2]]))


def sliced(tf: Any, x: Any) -> Any:
    return tf.exp(tf.exp(x)[:, 1:3])


def totals(tf: Any, x: Any) -> Any:
    return tf.exp(tf.reduce_sum(tf.exp(x), [1], keepdims=True)), tf.reduce_max(x)


def chosen(tf: Any, x: Any) -> Any:
    return tf.exp(tf.where(x > 0.0, x, tf.exp(x)))


def counted(tf: Any, x: Any) -> Any:
    return tf.range(tf.shape(x)[0]) * 2


def largest(tf: Any, x: Any) -> Any:
    return tf.cast(tf.argmax(tf.exp(x), 1), tf.float32) * 3.0


def one_hot(tf: Any, ids: Any) -> Any:
    return tf.exp(tf.one_hot(ids, 5))


def batch_product(tf: Any, x: Any, y: Any) -> Any:
    return tf.nn.softmax(tf.matmul(x, y))


def attention(tf: Any, q: Any, k: Any) -> Any:
    scores = tf.matmul(q, k, transpose_b=True) / 2.0
    return tf.matmul(tf.nn.softmax(scores), tf.exp(k))


def normalized(tf: Any, x: Any) -> Any:
    return (x - tf.reduce_mean(x, -1, keepdims=True)) * tf.math.rsqrt(
        tf.reduce_mean(x * x, -1, keepdims=True) + 1.0
    )


# Graph, how TensorFlow runs it, and the types and shapes of what is fed.
GRAPHS: list[tuple[Callable[..., Any], str, list[tuple[str, list[int | None] | None]]]] = [
    (dense, "function", [("float32", [None, 4])]),
    (sum_of_two, "function", [("float32", [None, 3]), ("float32", [None, 3])]),
    (stretched, "function", [("float32", [None, 1]), ("float32", [None, 5])]),
    (flattened, "function", [("float32", [None, 4, 3])]),
    (joined, "function", [("float32", [None, 2]), ("float32", [None, 3])]),
    (divided, "function", [("float32", [None, 6])]),
    (convolution, "function", [("float32", [None, 9, 8, 3])]),
    (pooled, "function", [("float32", [None, 9, None, 3])]),
    (transposed, "function", [("float32", [None, 3, None])]),
    (looked_up, "function", [("int32", [None])]),
    (any_rank, "function", [("float32", None)]),
    (packed, "function", [("float32", [None, 2]), ("float32", [None, 2])]),
    (padded, "function", [("float32", [None, 3])]),
    (sliced, "function", [("float32", [None, 6])]),
    (totals, "function", [("float32", [None, None])]),
    (chosen, "function", [("float32", [None, 3])]),
    (counted, "function", [("float32", [None, 3])]),
    (largest, "function", [("float32", [None, 3])]),
    (one_hot, "function", [("int32", [None])]),
    (batch_product, "function", [("float32", [None, None, 4]), ("float32", [None, 4, 5])]),
    (attention, "function", [("float32", [None, None, 8]), ("float32", [None, None, 8])]),
    (normalized, "function", [("float32", [None, None, 6])]),
    (dense, "session", [("float32", [None, 4])]),
    (flattened, "session", [("float32", [None, 4, 3])]),
    (convolution, "session", [("float32", [None, 9, 8, 3])]),
    (joined, "session", [("float32", [None, 2]), ("float32", [None, 3])]),
    (totals, "session", [("float32", [None, None])]),
]


def run(place: int, library: str) -> None:
    """Run one graph in this process, with the plugin loaded."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow as tf
    from tensorflow.python.framework.load_library import load_pluggable_device_library

    load_pluggable_device_library(library)
    made, kind, fed = GRAPHS[place]
    arrays = [tf.zeros([2 if n is None else n for n in shape or [2]], dtype) for dtype, shape in fed]
    if kind == "function":
        specs = [tf.TensorSpec(shape, dtype) for dtype, shape in fed]
        tf.function(lambda *x: made(tf, *x), input_signature=specs)(*arrays)
        return
    numbers = [array.numpy() for array in arrays]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = [tf.compat.v1.placeholder(dtype, shape) for dtype, shape in fed]
        session.run(made(tf, *x), dict(zip(x, numbers, strict=True)))


def recorded(place: int, library: str) -> dict[str, Any]:
    """The graph, and what the plugin logs of it until the next one comes."""
    made, kind, _ = GRAPHS[place]
    with TemporaryDirectory() as folder:
        graph, log = Path(folder, "graph"), Path(folder, "log")

        def probed(nodes: str) -> None:
            log.unlink(missing_ok=True)
            graph.unlink(missing_ok=True)
            environment = os.environ | {
                "PROBE_LOG": str(log),
                "PROBE_SAVE": str(graph),
                "PROBE_NODES": nodes,
            }
            command = [sys.executable, __file__, str(place), library]
            subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL)

        probed("")
        from tensorflow.core.framework.graph_pb2 import GraphDef

        saved = graph.read_bytes()
        content = saved[8 : 8 + int.from_bytes(saved[:8], "little")]
        probed(",".join(node.name for node in GraphDef.FromString(content).node))
        lines = log.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("preserve"))
    ends = [i for i, line in enumerate(lines) if line.startswith("opdef my_func")]
    kept = [line.partition(" in binary")[0] for line in lines[start : ends[0] + 1]]
    return {
        "name": f"{made.__name__}_{kind}",
        "graph": base64.b64encode(zlib.compress(content, 9)).decode(),
        "log": kept,
    }


def main() -> None:
    with TemporaryDirectory() as folder:
        library = str(Path(folder, "probe.so"))
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, str(SOURCE)], check=True)
        found = [recorded(place, library) for place in range(len(GRAPHS))]
    FILE.write_text("".join(json.dumps(each) + "\n" for each in found))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run(int(sys.argv[1]), sys.argv[2])
    else:
        main()
