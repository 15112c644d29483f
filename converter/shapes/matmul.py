"""Products of matrices."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY, PartialShape, broadcast


def matmul(c: ShapeContext) -> Results:
    a, b = c.ranked(0, 2), c.ranked(1, 2)
    return [_product(c, a, b, c.flag("transpose_a"), c.flag("transpose_b"))]


def batch_matmul(c: ShapeContext) -> Results:
    """Matrices in the last two axes; what is before broadcasts."""
    a, b = c.at_least(0, 2), c.at_least(1, 2)
    if a is None or b is None:
        return [None]
    if c.op == "BatchMatMul":
        batch: PartialShape = c.merged(a[:-2], b[:-2])
    else:
        batch = broadcast(a[:-2], b[:-2])
    assert batch is not None
    return [batch + _product(c, a[-2:], b[-2:], c.flag("adj_x"), c.flag("adj_y"))]


def _product(
    c: ShapeContext, a: tuple[int, ...], b: tuple[int, ...], transpose_a: bool, transpose_b: bool
) -> tuple[int, ...]:
    a, b = a[::-1] if transpose_a else a, b[::-1] if transpose_b else b
    c.same(a[1], b[0], "inner sizes")
    return (a[0], b[1])


def einsum(c: ShapeContext) -> Results:
    """The equation's result; an ellipsis stands for axes that broadcast."""
    left, arrow, result = c.text("equation").replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow or len(terms) != len(c):
        raise c.fault(f"equation must have {len(c)} inputs and a result, got {c.text('equation')!r}")
    sizes: dict[str, int] = {}
    around: PartialShape = ()
    for term, shape in zip(terms, c.inputs, strict=True):
        if shape is None:
            around = None if "..." in term else around
            continue
        before, dots, after = term.partition("...")
        count = len(shape) - len(before) - len(after)
        if count < 0 or (count and not dots):
            raise c.fault(f"input must have rank {len(before) + len(after)}, got {len(shape)}")
        inner = shape[len(before) : len(shape) - len(after)]
        around = broadcast(around, inner) if around is not None else None
        for label, size in zip(
            before + after, (*shape[: len(before)], *shape[len(shape) - len(after) :]), strict=True
        ):
            sizes[label] = c.same(sizes.get(label, size), size, f"sizes of {label!r}")
    before, dots, after = result.partition("...")
    if dots and around is None:
        return [None]
    known = tuple(sizes.get(label, ANY) for label in before)
    return [known + ((around or ()) if dots else ()) + tuple(sizes.get(label, ANY) for label in after)]


def sparse_matmul(c: ShapeContext) -> Results:
    """SparseTensorDenseMatMul: indices, values, dense shape, then the matrix."""
    sizes = c.numbers(2)
    a = (ANY, ANY) if sizes is None else tuple(ANY if size is None else size for size in sizes)
    if len(a) != 2:
        raise c.fault(f"dense shape must have 2 elements, got {len(a)}")
    return [_product(c, a, c.ranked(3, 2), c.flag("adjoint_a"), c.flag("adjoint_b"))]


def tridiagonal_product(c: ShapeContext) -> Results:
    return [c.at_least(3, 2)]


REGISTRATIONS: dict[str, ShapeFunction] = {
    "MatMul": matmul,
    "SparseMatMul": matmul,
    **dict.fromkeys(("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), batch_matmul),
    "_MklFusedBatchMatMulV2": batch_matmul,
    "Einsum": einsum,
    "SparseTensorDenseMatMul": sparse_matmul,
    "TridiagonalMatMul": tridiagonal_product,
}
