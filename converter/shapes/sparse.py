"""Sparse tensors: indices, values and a dense shape."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY


def fill_empty_rows(c: ShapeContext) -> Results:
    """Indices, values, which rows were empty, and where each value went."""
    indices, sizes = c.ranked(0, 2), c.numbers(2)
    rows = sizes[0] if sizes else None
    return [(ANY, indices[1]), (ANY,), (ANY if rows is None else rows,), (indices[0],)]


def reshape(c: ShapeContext) -> Results:
    indices, sizes = c.ranked(0, 2), c.ranked(2, 1)
    return [(indices[0], sizes[0]), sizes]


def reorder(c: ShapeContext) -> Results:
    return [c.ranked(0, 2), c.ranked(1, 1)]


def concat(c: ShapeContext) -> Results:
    count = c.integer("N")
    ranks = c.merged(*c.inputs[2 * count :])
    rank = ANY if ranks is None else ranks[0]
    return [(ANY, rank), (ANY,), (rank,)]


def slice_(c: ShapeContext) -> Results:
    rank = c.ranked(0, 2)[1]
    return [(ANY, rank), (ANY,), c.ranked(2, 1)]


def values_like(c: ShapeContext) -> Results:
    """Ops on the values of a sparse tensor."""
    return [c.ranked(1, 1)]


def dense_like(c: ShapeContext) -> Results:
    """SparseTensorDenseAdd: as the dense operand, which is last."""
    return [c.shape_of(3)]


def ragged_to_tensor(c: ShapeContext) -> Results:
    """RaggedTensorToTensor: the first input is the shape, -1 for what the rows need."""
    sizes = c.numbers(0)
    if not sizes:
        return [None]
    return [tuple(ANY if size is None or size < 0 else size for size in sizes)]


def crossed(c: ShapeContext) -> Results:
    return [(ANY, 2), (ANY,), (2,)]


def ctc_greedy(c: ShapeContext) -> Results:
    """Indices, values, shape of the decoded, and a probability for each of the batch."""
    x = c.ranked(0, 3)
    return [(ANY, 2), (ANY,), (2,), (x[1], 1)]


def ctc_beam(c: ShapeContext) -> Results:
    x, paths = c.ranked(0, 3), c.integer("top_paths")
    return [*([(ANY, 2)] * paths), *([(ANY,)] * paths), *([(2,)] * paths), (x[1], paths)]


def ctc_loss(c: ShapeContext) -> Results:
    x = c.ranked(0, 3)
    return [x[1:2], x]


REGISTRATIONS: dict[str, ShapeFunction] = {
    "SparseFillEmptyRows": fill_empty_rows,
    "SparseReshape": reshape,
    "SparseReorder": reorder,
    "SparseConcat": concat,
    "SparseSlice": slice_,
    **dict.fromkeys(("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"), values_like),
    "SparseSoftmax": values_like,
    "SparseTensorDenseAdd": dense_like,
    "RaggedTensorToTensor": ragged_to_tensor,
    **dict.fromkeys(("SparseCross", "SparseCrossV2", "SparseCrossHashed"), crossed),
    "CTCGreedyDecoder": ctc_greedy,
    "CTCBeamSearchDecoder": ctc_beam,
    **dict.fromkeys(("CTCLoss", "CTCLossV2"), ctc_loss),
}
