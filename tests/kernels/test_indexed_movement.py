"""Operators that index by data: refusals, strings, and pieces of work that run in parallel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.kernels.fingerprint import fingerprint64
from numlite.lite.errors import InvokeError, PrepareError
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder


def run(
    operator: str,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[type | TensorType],
    options: TableT | None = None,
    constants: Sequence[int] = (),
    num_threads: int = 1,
) -> list[np.ndarray]:
    """The outputs of one operator; arrays of objects are strings."""
    model = ModelBuilder()
    tensors = [
        model.tensor(
            x.shape, TensorType.STRING if x.dtype == object else x.dtype, x if i in constants else None
        )
        for i, x in enumerate(inputs)
    ]
    results = [model.tensor((), kind) for kind in outputs]
    model.op(BuiltinOperator[operator], tensors, results, options, 2 if operator == "BROADCAST_TO" else 1)
    free = [i for i in range(len(inputs)) if i not in constants]
    content = model.build([tensors[i] for i in free], results)
    interpreter = Interpreter(model_content=content, num_threads=num_threads)
    interpreter.allocate_tensors()
    for detail, i in zip(interpreter.get_input_details(), free, strict=True):
        interpreter.set_tensor(detail["index"], inputs[i])
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def index(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


_X = np.ones((3, 2), np.float32)
_ONE = np.array(1, np.float32)
_MARGINS = index(1, 2, 3, 1).reshape(2, 2)
_SEQUENCE = tflite.ReverseSequenceOptionsT(seq_dim=1, batch_dim=0)


@pytest.mark.parametrize(
    ("operator", "inputs", "options", "constants"),
    [
        ("GATHER_ND", [_X, index(0, 3).reshape(2, 1)], None, ()),
        ("GATHER_ND", [_X, index(0, -1).reshape(2, 1)], None, ()),
        ("SCATTER_ND", [index(0, 3, 1).reshape(3, 1), _X, index(3, 2)], None, (2,)),
        ("SCATTER_ND", [index(0, -1, 1).reshape(3, 1), _X, index(3, 2)], None, ()),
        ("SPARSE_TO_DENSE", [index(0, 5), index(5), _ONE, _ONE], None, (1,)),
        ("REVERSE_SEQUENCE", [_X, index(1, 2, 3)], _SEQUENCE, ()),
        ("EMBEDDING_LOOKUP", [index(0, 3), _X], None, ()),
        ("UNSORTED_SEGMENT_SUM", [_X, index(0, 5, 1), np.array(5, np.int32)], None, (2,)),
        ("UNSORTED_SEGMENT_SUM", [_X, index(0, 5, 1), np.array(5, np.int32)], None, ()),
        ("SEGMENT_SUM", [_X, index(1, 0, 2)], None, ()),
        ("TILE", [_X, index(2, -1)], None, ()),
        ("BROADCAST_TO", [_X, index(3, 3)], None, ()),
        ("FILL", [index(2, -1), _ONE], None, ()),
        ("RANGE", [_ONE, _ONE + 3, -_ONE], None, ()),
        ("RANGE", [_ONE, _ONE * np.inf, _ONE], None, ()),
    ],
)
def test_refuses_data(
    operator: str, inputs: list[np.ndarray], options: TableT | None, constants: tuple[int, ...]
) -> None:
    with pytest.raises(InvokeError, match=f"{operator}: "):
        run(operator, inputs, [np.float32], options, constants)


@pytest.mark.parametrize(
    ("operator", "inputs", "options"),
    [
        ("SPACE_TO_DEPTH", [np.ones((1, 4, 4, 1), np.float32)], tflite.SpaceToDepthOptionsT(block_size=0)),
        ("DEPTH_TO_SPACE", [np.ones((1, 4, 4, 2), np.float32)], tflite.DepthToSpaceOptionsT(block_size=2)),
        ("SPACE_TO_BATCH_ND", [np.ones((1, 4, 1), np.float32), index(0), index(0, 0).reshape(1, 2)], None),
        ("BATCH_TO_SPACE_ND", [np.ones((2, 4, 1), np.float32), index(2), index(9, 9).reshape(1, 2)], None),
        ("REVERSE_V2", [_X, index(2)], None),
        ("REVERSE_V2", [_X, index(1, 1)], None),
        ("TILE", [_X, index(2**30, 2)], None),
        ("CUMSUM", [_X, np.array(2, np.int32)], None),
        ("TOPK_V2", [_X, np.array(3, np.int32)], None),
        ("ONE_HOT", [index(1), np.array(-1, np.int32), _ONE, _ONE], tflite.OneHotOptionsT(axis=0)),
        ("ONE_HOT", [index(1), np.array(2, np.int32), _ONE, _ONE], tflite.OneHotOptionsT(axis=2)),
        ("MATRIX_SET_DIAG", [_X, np.ones(3, np.float32)], None),
        ("BUCKETIZE", [_X], tflite.BucketizeOptionsT(boundaries=np.array([1, 0], np.float32))),
        ("DENSIFY", [_X], None),
    ],
)
def test_refuses_shapes(operator: str, inputs: list[np.ndarray], options: TableT | None) -> None:
    kinds = {"BUCKETIZE": [np.int32], "TOPK_V2": [np.float32, np.int32]}.get(operator, [np.float32])
    with pytest.raises(PrepareError, match=f"{operator}: "):
        run(operator, inputs, kinds, options, range(1, len(inputs)))


def test_strings() -> None:
    words = np.array([[b"a", b"bc"], [b"", b"xyz"]], object)
    gathered = run("GATHER_ND", [words, index(1, 0, 0, 1).reshape(2, 2)], [TensorType.STRING])
    assert gathered[0].tolist() == [b"", b"bc"]
    tiled = run("TILE", [words, index(1, 2)], [TensorType.STRING])
    assert tiled[0].tolist() == [[b"a", b"bc", b"a", b"bc"], [b"", b"xyz", b"", b"xyz"]]
    filled = run("FILL", [index(2), np.array(b"abc", object)], [TensorType.STRING], None, (0,))
    assert filled[0].tolist() == [b"abc", b"abc"]


@pytest.mark.parametrize(
    ("operator", "inputs", "options", "constants"),
    [
        ("TILE", [np.arange(40000, dtype=np.float32).reshape(50, 800), index(3, 7)], None, (1,)),
        (
            "BROADCAST_TO",
            [np.arange(900, dtype=np.float32).reshape(1, 900, 1), index(9, 900, 99)],
            None,
            (1,),
        ),
        ("FILL", [index(1000, 999), _ONE], None, (0,)),
        ("CUMSUM", [np.ones((999, 700), np.float32), np.array(1, np.int32)], None, (1,)),
        (
            "SPACE_TO_BATCH_ND",
            [np.arange(9 * 90 * 70 * 5, dtype=np.float32).reshape(9, 90, 70, 5), index(3, 2), _MARGINS],
            None,
            (1, 2),
        ),
        (
            "BATCH_TO_SPACE_ND",
            [np.arange(12 * 90 * 70 * 5, dtype=np.float32).reshape(12, 90, 70, 5), index(3, 2), _MARGINS],
            None,
            (1, 2),
        ),
        (
            "REVERSE_SEQUENCE",
            [np.arange(10**6, dtype=np.float32).reshape(1000, 1000), np.arange(1000, dtype=np.int32)],
            _SEQUENCE,
            (),
        ),
    ],
)
def test_parallel_pieces_make_the_whole(
    operator: str, inputs: list[np.ndarray], options: TableT | None, constants: tuple[int, ...]
) -> None:
    alone, together = (run(operator, inputs, [np.float32], options, constants, n) for n in (1, 3))
    np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", 0x9AE16A3B2F90404F),
        (b"abc", 0x24A5B3A074E7F369),
        (b"hello world", 0x588FB7478BD6B01B),
        (b"x" * 20, 0x7241CE1F8EF74DC4),
        (b"y" * 50, 0x155117882C131013),
        (b"z" * 200, 0x79233F659CCC235C),
    ],
)
def test_fingerprint(text: bytes, expected: int) -> None:
    """As TensorFlow 2.21's to_hash_bucket_fast has it."""
    assert fingerprint64(text) == expected
