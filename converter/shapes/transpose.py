"""Axes in another order, and blocks between space, batch and depth."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction, axis_of
from .dimensions import ANY, PartialShape, quotient, times


def transpose(c: ShapeContext) -> Results:
    """Transpose, ConjugateTranspose."""
    shape, order = c.shape_of(0), c.known_numbers(1)
    if order is None:
        count = c.ranked(1, 1)[0]
        rank = len(shape) if shape is not None else count
        return [None if rank == ANY else (ANY,) * rank]
    shape = c.ranked(0, len(order))
    axes = [axis_of(c, axis, len(shape)) for axis in order]
    if sorted(axes) != list(range(len(shape))):
        raise c.fault(f"perm must be an order of {len(shape)} axes, got {order}")
    return [tuple(shape[axis] for axis in axes)]


def space_to_depth(c: ShapeContext) -> Results:
    return [_blocks(c, True)]


def depth_to_space(c: ShapeContext) -> Results:
    return [_blocks(c, False)]


def _blocks(c: ShapeContext, to_depth: bool) -> PartialShape:
    form = c.text("data_format")
    if form == "NCHW_VECT_C":
        return None
    x, size = c.ranked(0, 4), c.integer("block_size")
    first = form == "NCHW"
    n, ch = x[0], x[1] if first else x[3]
    rows, columns = x[2:] if first else x[1:3]
    if to_depth:
        rows, columns, ch = quotient(rows, size), quotient(columns, size), times(ch, size * size)
    else:
        rows, columns, ch = times(rows, size), times(columns, size), quotient(ch, size * size)
    return (n, ch, rows, columns) if first else (n, rows, columns, ch)


def space_to_batch(c: ShapeContext) -> Results:
    """SpaceToBatchND: padded axes are cut into blocks."""
    return [_batched(c, True)]


def batch_to_space(c: ShapeContext) -> Results:
    """BatchToSpaceND: blocks become axes, which are cropped."""
    return [_batched(c, False)]


def _batched(c: ShapeContext, to_batch: bool) -> PartialShape:
    x = c.at_least(0, 1)
    if x is None:
        return None
    if c.op.endswith("ND"):
        blocks, rows = c.known_numbers(1), c.values[2]
    else:
        blocks, rows = [c.integer("block_size")] * 2, c.values[1]
    if blocks is None:
        count = c.ranked(1, 1)[0]
        return (ANY,) * len(x) if count == ANY else (*([ANY] * (count + 1)), *x[count + 1 :])
    batch = x[0]
    found = []
    for i, block in enumerate(blocks):
        sides = (
            None
            if rows is None or rows.shape != (len(blocks), 2) or (rows[i] < 0).any()
            else int(rows[i].sum())
        )
        size = x[i + 1]
        if to_batch:
            batch = times(batch, block)
            found.append(ANY if sides is None or size == ANY else quotient(size + sides, block))
        else:
            batch = quotient(batch, block)
            found.append(ANY if sides is None or size == ANY else size * block - sides)
    return (batch, *found, *x[len(blocks) + 1 :])


def extract_patches(c: ShapeContext) -> Results:
    """Windows of an image, each as a row of channels."""
    x = c.ranked(0, 4)
    windows, strides, rates = (c.integers(name) for name in ("ksizes", "strides", "rates"))
    found = []
    for axis in (1, 2):
        extent = (windows[axis] - 1) * rates[axis] + 1
        size = x[axis]
        if size == ANY:
            found.append(ANY)
        elif c.text("padding") == "SAME":
            found.append(-(-size // strides[axis]))
        else:
            found.append(max(size - extent, -1) // strides[axis] + 1)
    return [(x[0], *found, times(x[3], windows[1] * windows[2]))]


def extract_volume_patches(c: ShapeContext) -> Results:
    x = c.ranked(0, 5)
    windows, strides = c.integers("ksizes"), c.integers("strides")
    found = []
    for axis in (1, 2, 3):
        size = x[axis]
        if size == ANY:
            found.append(ANY)
        elif c.text("padding") == "SAME":
            found.append(-(-size // strides[axis]))
        else:
            found.append(max(size - windows[axis], -1) // strides[axis] + 1)
    return [(x[0], *found, times(x[4], windows[1] * windows[2] * windows[3]))]


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("Transpose", "ConjugateTranspose"), transpose),
    "SpaceToDepth": space_to_depth,
    "DepthToSpace": depth_to_space,
    **dict.fromkeys(("SpaceToBatchND", "SpaceToBatch"), space_to_batch),
    **dict.fromkeys(("BatchToSpaceND", "BatchToSpace"), batch_to_space),
    "ExtractImagePatches": extract_patches,
    "ExtractVolumePatches": extract_volume_patches,
}
