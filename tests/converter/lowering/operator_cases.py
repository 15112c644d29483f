"""Ops of one node: what each must give, and which operators it becomes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema.graph_def import AttrValue

TYPES = {
    np.float16: 19,
    np.float32: 1,
    np.int32: 3,
    np.int64: 9,
    np.bool_: 10,
    np.uint8: 4,
    np.int8: 6,
    np.complex64: 8,
}
RANDOM = np.random.default_rng(11)
X = RANDOM.uniform(-3, 3, (3, 4)).astype(np.float32)
Z = RANDOM.uniform(0.5, 3, (3, 4)).astype(np.float32)
Z[1, 2] = 0
IMAGE = RANDOM.uniform(-1, 1, (2, 4, 4, 8)).astype(np.float32)
L = RANDOM.integers(-9, 9, (4, 3))
BYTES = np.array([[4, 7, 0], [200, 3, 255]], np.uint8)
NUMBERS = np.array([[4, -7, 0], [9, 3, -2]], np.int32)


@dataclass
class Case:
    """An op of placeholders, then constants; what it must give, and which operators."""

    op: str
    inputs: Sequence[np.ndarray]
    expected: np.ndarray
    operators: str
    constants: Sequence[np.ndarray] = ()
    attributes: dict = field(default_factory=dict)
    name: str = ""

    @property
    def id(self) -> str:
        return f"{self.op}{self.name and '-'}{self.name}"

    def graph(self, shapes: Sequence[Sequence[int] | None] | None = None) -> GraphBuilder:
        g = GraphBuilder()
        names = []
        for i, value in enumerate(self.inputs):
            shape = list(value.shape) if shapes is None else shapes[i]
            names.append(g.placeholder(f"x{i}", shape, TYPES[value.dtype.type]))
        names += [g.constant(f"c{i}", value) for i, value in enumerate(self.constants)]
        g.node(self.op, "y", *names, **self.attributes)
        return g


def i32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def one(value: int) -> np.ndarray:
    return np.array(value, np.int32)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def zero_where(zero: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.where(zero == 0, 0, value).astype(np.float32)


with np.errstate(all="ignore"):
    CASES = [
        Case("Reciprocal", [Z + 1], 1 / (Z + 1), "DIV"),
        Case("Square", [NUMBERS], NUMBERS**2, "MUL", name="integers"),
        Case("Equal", [BYTES, BYTES[:1]], BYTES[:1] == BYTES, "CAST CAST EQUAL", name="bytes"),
        Case("Greater", [BYTES.view(np.int8)], BYTES.view(np.int8) > -3, "CAST GREATER", [np.int8(-3)]),
        Case("Log1p", [Z], np.log1p(Z), "ADD LOG"),
        Case("Expm1", [X], np.expm1(X), "EXP SUB"),
        Case("Roll", [X], np.roll(X, -1, 1), "SLICE SLICE CONCATENATION", [one(-1), one(1)]),
        Case("Roll", [X[0]], X[0], "", [i32(4), i32(0)], name="whole"),
        Case(
            "Roll",
            [IMAGE],
            np.roll(IMAGE, (5, -1), (1, -1)),
            "SLICE SLICE CONCATENATION SLICE SLICE CONCATENATION",
            [i32(5, -1), i32(1, -1)],
            name="two-axes",
        ),
        Case("SquaredDifference", [L[:1], L], (L - L[:1]) ** 2, "SUB MUL", name="int64"),
        Case("Max", [X], X, "", [i32()], name="of-no-axes"),
        Case("DivNoNan", [X], X / (Z + 1), "DIV", [Z + 1], name="constant"),
        Case("DivNoNan", [X], zero_where(Z, X / Z), "DIV SELECT_V2", [Z], name="constant-with-0"),
        Case("Rint", [X], np.rint(X), "ROUND"),
        Case("IsNan", [Z / Z - 1], np.isnan(Z / Z), "NOT_EQUAL"),
        Case("IsInf", [1 / Z], np.isinf(1 / Z), "ABS EQUAL"),
        Case("IsFinite", [1 / Z], np.isfinite(1 / Z), "SUB EQUAL"),
        Case("L2Loss", [X], np.float32((X**2).sum() / 2), "SQUARE SUM MUL"),
        Case("Relu", [NUMBERS], np.maximum(NUMBERS, 0), "MAXIMUM", name="integers"),
        Case("LeakyRelu", [X], np.where(X > 0, X, X * 0.3), "LEAKY_RELU", attributes={"alpha": 0.3}),
        Case("LeakyRelu", [X], X, "", attributes={"alpha": 1.0}, name="of-slope-1"),
        Case(
            "LeakyRelu",
            [X.astype(np.float16)],
            X.astype(np.float16),
            "",
            attributes={"alpha": 1.0},
            name="of-slope-1-halves",
        ),
        Case("Softplus", [X], np.log1p(np.exp(X)), "EXP ADD LOG"),
        Case("Softsign", [X], X / (1 + abs(X)), "ABS ADD DIV"),
        Case(
            "Selu",
            [X],
            1.0507009873554805 * np.where(X > 0, X, 1.6732632423543772 * np.expm1(X)),
            "EXP SUB MUL MUL GREATER SELECT",
        ),
        Case("LogSoftmax", [X], np.log(softmax(X)), "LOG_SOFTMAX"),
        Case("DivNoNan", [X, Z], zero_where(Z, X / Z), "EQUAL DIV SELECT_V2"),
        Case("MulNoNan", [1 / Z, Z], zero_where(Z, 1 / Z * Z), "EQUAL MUL SELECT_V2"),
        Case("Xdivy", [Z, X], zero_where(Z, Z / X), "EQUAL DIV SELECT_V2"),
        Case("Xlogy", [Z, Z], zero_where(Z, Z * np.log(Z)), "EQUAL LOG MUL SELECT_V2"),
        Case("Xlog1py", [Z, Z], zero_where(Z, Z * np.log1p(Z)), "EQUAL ADD LOG MUL SELECT_V2"),
        Case("TruncateDiv", [NUMBERS, NUMBERS * 0 + 2], np.trunc(NUMBERS / 2).astype(np.int32), "DIV"),
        Case(
            "TruncateDiv",
            [X * 9, X + 3],
            np.trunc(X * 9 / (X + 3)),
            "DIV LESS CEIL FLOOR SELECT",
            name="floats",
        ),
        Case("Lgamma", [X + 0.1], np.vectorize(math.lgamma)(X + np.float32(0.1)), ""),
        Case("Cast", [X], X.astype(np.int32), "CAST", attributes={"DstT": AttrValue(type=3)}),
        Case("Select", [X > 0, X, Z], np.where(X > 0, X, Z), "SELECT"),
        Case("SelectV2", [X > 0, X[:1], Z], np.where(X > 0, X[:1], Z), "SELECT_V2"),
        Case("ZerosLike", [X], X * 0, "", name="known"),
        Case("Max", [X], X.max((0, 1)), "REDUCE_MAX", [i32(0, 1)]),
        Case("Prod", [X], X.prod(-1, keepdims=True), "REDUCE_PROD", [i32(-1)], {"keep_dims": True}),
        Case("Any", [X > 1], (X > 1).any(0), "REDUCE_ANY", [i32(0)]),
        Case("ConcatV2", [X, Z], np.concatenate([X, Z], 1), "CONCATENATION", [one(-1)]),
        Case("ConcatV2", [X, X[:, :0]], X, "", [one(-1)], name="nothing"),
        Case("AddN", [X, Z, X], X + Z + X, "ADD_N"),
        Case("Fill", [np.zeros(0, np.int32), np.array(3, np.int64)], np.array(3, np.int64), "", name="one"),
        Case("Pack", [X], X[:, None], "RESHAPE", attributes={"axis": 1}, name="one"),
        Case(
            "Pack",
            [X > 0, Z > 1],
            np.stack([X > 0, Z > 1], -1),
            "RESHAPE RESHAPE CONCATENATION",
            attributes={"axis": -1},
            name="bool",
        ),
        Case("AddN", [L, L, L], 3 * L, "ADD ADD", name="int64"),
        Case("Transpose", [IMAGE], IMAGE.transpose(0, 3, 1, 2), "TRANSPOSE", [i32(0, 3, 1, 2)]),
        Case("Transpose", [X], X, "", [i32(0, 1)], name="same"),
        Case("Slice", [X], X[1:, 1:3], "SLICE", [i32(1, 1), i32(-1, 2)]),
        Case("Slice", [X], X, "", [i32(0, 0), i32(-1, 4)], name="all"),
        Case(
            "StridedSlice",
            [X],
            X[::-1, 1],
            "STRIDED_SLICE",
            [i32(0, 1), i32(0, 2), i32(-1, 1)],
            {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2},
        ),
        Case("StridedSlice", [X], X, "", [i32(0), i32(3), i32(1)], name="all"),
        Case(
            "StridedSlice",
            [X],
            X[1:2],
            "STRIDED_SLICE",
            [i32(1), i32(2), i32(1)],
            {"new_axis_mask": 2},
            name="bits without bounds",
        ),
        Case("Pack", [X, Z], np.stack([X, Z], 1), "PACK", attributes={"axis": 1}),
        Case("GatherV2", [X], X[:, [3, 0]], "GATHER", [i32(3, 0), one(1)]),
        Case("GatherNd", [X], X[[2, 0], [1, 3]], "GATHER_ND", [np.array([[2, 1], [0, 3]], np.int32)]),
        Case(
            "OneHot",
            [i32(2, 0)],
            np.eye(3, dtype=np.float32)[[2, 0]] * 5,
            "ONE_HOT",
            [one(3), np.float32(5), np.float32(0)],
            {"axis": -1},
        ),
        Case("Shape", [X], i32(3, 4), ""),
        Case("Size", [X], one(12), ""),
        Case("Rank", [X], one(2), ""),
        Case("Squeeze", [X[None]], X, "RESHAPE", attributes={"squeeze_dims": (0,)}),
        Case("ExpandDims", [X], X[:, None], "RESHAPE", [one(1)]),
        Case("Tile", [X], np.tile(X, (2, 1)), "TILE", [i32(2, 1)]),
        Case("Tile", [X], X, "", [i32(1, 1)], name="once"),
        Case("BroadcastTo", [X], np.broadcast_to(X, (2, 3, 4)), "BROADCAST_TO", [i32(2, 3, 4)]),
        Case("LogicalNot", [X > 0], ~(X > 0), "LOGICAL_NOT"),
        Case("ArgMax", [X], X.argmax(1), "ARG_MAX", [one(1)]),
        Case("Cumsum", [X], X.cumsum(1), "CUMSUM", [one(1)]),
        Case("ReverseV2", [X], X[:, ::-1], "REVERSE_V2", [i32(1)]),
        Case("AddN", [X], X, "", attributes={"N": 1}, name="one"),
        Case(
            "Bucketize",
            [X],
            np.digitize(X, [-1, 1]).astype(np.int32),
            "BUCKETIZE",
            attributes={"boundaries": AttrValue(list=AttrValue.ListValue(f=[-1, 1]))},
        ),
        Case("SegmentSum", [X], np.stack([X[0] + X[1], X[2]]), "SEGMENT_SUM", [np.array([0, 0, 1])]),
        Case(
            "UnsortedSegmentMax",
            [X],
            np.stack([X[2], np.maximum(X[0], X[1])]),
            "UNSORTED_SEGMENT_MAX",
            [i32(1, 1, 0), one(2)],
        ),
        Case("Where", [X > 0], np.argwhere(X > 0), "WHERE"),
        Case("InvertPermutation", [i32(2, 0, 1)], i32(1, 2, 0), "RESHAPE SCATTER_ND"),
        Case("MatrixDiag", [X[0]], np.diag(X[0]), "MATRIX_DIAG"),
        Case("MatrixSetDiag", [X, Z[:, 0]], np.where(np.eye(3, 4) > 0, Z[:, :1], X), "MATRIX_SET_DIAG"),
        Case("MatrixBandPart", [X], np.triu(np.tril(X, 1), -1), "SELECT_V2", [one(1), one(1)]),
        Case(
            "PadV2",
            [X],
            np.pad(X, ((1, 0), (0, 2)), constant_values=7),
            "PADV2",
            [np.array([[1, 0], [0, 2]], np.int32), np.float32(7)],
        ),
        Case(
            "MirrorPad",
            [X],
            np.pad(X, ((1, 1), (2, 0)), "reflect"),
            "MIRROR_PAD",
            [np.array([[1, 1], [2, 0]], np.int32)],
            {"mode": "REFLECT"},
        ),
        Case(
            "DepthToSpace",
            [IMAGE],
            IMAGE.reshape(2, 4, 4, 2, 2, 2).transpose(0, 1, 3, 2, 4, 5).reshape(2, 8, 8, 2),
            "DEPTH_TO_SPACE",
            attributes={"block_size": 2},
        ),
        Case("RFFT", [X], np.fft.rfft(X).astype(np.complex64), "RESHAPE RFFT2D RESHAPE", [i32(4)]),
        Case(
            "RFFT",
            [X],
            np.fft.rfft(X[:, :3]).astype(np.complex64),
            "FULLY_CONNECTED RESHAPE BITCAST",
            [i32(3)],
            name="of-three",
        ),
        Case(
            "RFFT",
            [X],
            np.fft.rfft(X, 6).astype(np.complex64),
            "FULLY_CONNECTED RESHAPE BITCAST",
            [i32(6)],
            name="longer",
        ),
        Case("MatMul", [X, Z], X.T @ Z, "BATCH_MATMUL", attributes={"transpose_a": True}),
        Case("MatMul", [X], X @ Z.T, "FULLY_CONNECTED", [Z], {"transpose_b": True}, name="constant"),
        Case(
            "Einsum",
            [X, Z],
            np.einsum("ij,kj->ki", X, Z),
            "BATCH_MATMUL TRANSPOSE",
            attributes={"equation": "ij,kj->ki"},
        ),
        Case(
            "Einsum",
            [IMAGE],
            np.einsum("bhwc,cd->dbhw", IMAGE, IMAGE[0, :, :, 0].repeat(2, 0)),
            "FULLY_CONNECTED TRANSPOSE",
            [IMAGE[0, :, :, 0].repeat(2, 0)],
            {"equation": "bhwc,cd->dbhw"},
            name="dense",
        ),
        Case(
            "Einsum",
            [IMAGE, IMAGE[0, 0].T],
            IMAGE @ IMAGE[0, 0].T,
            "BATCH_MATMUL",
            attributes={"equation": "bhwc,cd->bhwd"},
            name="stretched-matrix",
        ),
        Case(
            "Einsum",
            [IMAGE],
            IMAGE.sum((1, 3)).T,
            "SUM TRANSPOSE",
            attributes={"equation": "bhwc->wb"},
            name="sum",
        ),
        Case(
            "Einsum",
            [IMAGE, IMAGE],
            IMAGE @ IMAGE.swapaxes(-1, -2),
            "BATCH_MATMUL",
            attributes={"equation": "...ij,...kj->...ik"},
            name="ellipsis",
        ),
    ]
