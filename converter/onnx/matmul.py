"""Products of matrices and tensors."""

from __future__ import annotations

from ...lite.errors import ModelError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ..building.contraction import product
from ..building.tensor import Tensor
from .call import Call, Rule


def matmul(c: Call) -> Tensor:
    """Products of the last two axes, as numpy.matmul has them."""
    a, b = c.inputs()
    return product(a, b)


def gemm(c: Call) -> Tensor:
    """alpha a b + beta c, where a and b may be transposed."""
    a, b, added = c.input(0), c.input(1), c.optional(2)
    alpha, beta = c.real("alpha", 1.0), c.real("beta", 1.0)
    if a.rank != 2 or b.rank != 2:
        raise ModelError(f"a and b must be matrices, got {a.rank} and {b.rank} dimensions")
    type = a.type
    a, b = c.body.cast(a, DT_FLOAT), c.body.cast(b, DT_FLOAT)
    y = c.make("MatMul", a, b, transpose_a=c.flag("transA"), transpose_b=c.flag("transB"))
    if alpha != 1:
        y = y * alpha
    if added is not None and beta:
        added = c.body.cast(added, DT_FLOAT)
        y = y + (added if beta == 1 else added * beta)
    return c.body.cast(y, type)


def einsum(c: Call) -> Tensor:
    """Sums of products by an equation."""
    equation = c.text("equation").replace(" ", "")
    if "->" not in equation:
        letters = equation.replace(",", "").replace("...", "")
        once = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
        equation += "->" + ("..." if "..." in equation else "") + once
    tensors = [c.body.cast(x, DT_FLOAT) for x in c.inputs()]
    return c.body.cast(c.make("Einsum", *tensors, equation=equation), c.input(0).type)


def det(c: Call) -> Tensor:
    """Determinants of small matrices, by their first row."""
    x = c.input(0)
    size = x.sizes[-1]
    if size != x.sizes[-2] or not 1 <= size <= 4:
        from ...lite.errors import UnsupportedError

        raise UnsupportedError(f"matrices of 1 to 4 rows are built, got {list(x.sizes[-2:])}")
    return _det(x, list(range(size)), list(range(size)))


def _det(x: Tensor, rows: list[int], columns: list[int]) -> Tensor:
    body = x.body

    def entry(row: int, column: int) -> Tensor:
        line = body.op("GatherV2", x, body.scalar(row, DT_INT32), body.scalar(x.rank - 2, DT_INT32))
        return body.op("GatherV2", line, body.scalar(column, DT_INT32), body.scalar(x.rank - 2, DT_INT32))

    if len(rows) == 1:
        return entry(rows[0], columns[0])
    total: Tensor | None = None
    for place, column in enumerate(columns):
        rest = [other for other in columns if other != column]
        term = entry(rows[0], column) * _det(x, rows[1:], rest)
        total = term if total is None else total - term if place % 2 else total + term
    assert total is not None
    return total


REGISTRATIONS: dict[str, Rule] = {"Det": det, "Einsum": einsum, "Gemm": gemm, "MatMul": matmul}
