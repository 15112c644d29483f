"""The same elements in another shape, and shapes as values."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction, axes_of
from .dimensions import ANY, PartialShape, Symbol, is_known, product, same_size, shape_of_sizes, times


def reshape(c: ShapeContext) -> Results:
    """-1 among the sizes is what the others leave."""
    sizes = c.sizes(1)
    if sizes is None:
        return [None]
    shape = shape_of_sizes(sizes)
    # A size of -1 is computed; one that is not known could be -1 or any other. A symbol is neither.
    computed = [size == ANY and not isinstance(size, Symbol) for size in sizes]
    places = [i for i, size in enumerate(sizes) if computed[i] or size is None]
    if sum(computed) > 1:
        raise c.fault(f"at most one size may be -1, got {c.numbers(1)}")
    whole = product(c.shape_of(0))
    if len(places) == 1:
        return [_completed(c, shape, places[0])]
    if is_known(shape) and whole == ANY:
        _ask_rest(c, times(*shape))
    if is_known(shape) and whole != ANY and times(*shape) != whole:
        raise c.fault(f"sizes must hold {whole} elements, got {list(shape)}")
    return [shape]


def _ask_rest(c: ShapeContext, whole: int) -> None:
    """The one size of the input that is not known is what the others leave."""
    sizes = c.shape_of(0) or ()
    others = product([size for size in sizes if size != ANY])
    if sizes.count(ANY) == 1 and others and not whole % others:
        c.same(sizes[sizes.index(ANY)], whole // others)


def _completed(c: ShapeContext, shape: tuple[int, ...], place: int) -> PartialShape:
    """The shape with its one open size, which the number of elements gives; equal symbols cancel out."""
    before = c.shape_of(0)
    if before is None:
        return shape
    sizes, others = list(before), [size for i, size in enumerate(shape) if i != place]
    for size in list(others):
        if isinstance(size, Symbol):
            found = next((i for i, other in enumerate(sizes) if same_size(size, other)), None)
            if found is None:
                return shape
            del sizes[found], others[next(i for i, other in enumerate(others) if other is size)]
    whole, divisor = product([size for size in sizes if size != ANY]), product(others)
    unknown = [size for size in sizes if size == ANY]
    if divisor <= 0:
        return shape
    if not whole or not unknown:
        if whole % divisor:
            raise c.fault(f"sizes must hold {product(before)} elements, got {list(shape)}")
        rest = whole // divisor
    else:
        rest = unknown[0] if len(unknown) == 1 and whole == divisor else ANY
    return (*shape[:place], rest, *shape[place + 1 :])


def expand_dims(c: ShapeContext) -> Results:
    shape = c.shape_of(0)
    axis = c.number(1)
    if shape is None:
        return [None]
    rank = len(shape) + 1
    if axis is None:
        return [(ANY,) * rank]
    if not -rank <= axis < rank:
        raise c.fault(f"axis must be in [{-rank}, {rank}), got {axis}")
    axis %= rank
    return [(*shape[:axis], 1, *shape[axis:])]


def squeeze(c: ShapeContext) -> Results:
    shape = c.shape_of(0)
    if shape is None:
        return [None]
    axes = axes_of(c, c.integers("squeeze_dims"), len(shape))
    if axes:
        wrong = [shape[axis] for axis in sorted(axes) if shape[axis] not in (1, ANY)]
        if wrong:
            raise c.fault(f"squeezed sizes must be 1, got {wrong}")
        return [tuple(size for i, size in enumerate(shape) if i not in axes)]
    if not is_known(shape):
        return [None]
    return [tuple(size for size in shape if size != 1)]


def ensure_shape(c: ShapeContext) -> Results:
    return [c.merged(c.shape_of(0), c.shape("shape"))]


_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "ui8": 1}
_BYTES |= {"ui16": 2, "ui32": 4, "ui64": 8, "complex<f32>": 8, "complex<f64>": 16, "i1": 1}
_BYTES |= {"qint8": 1, "quint8": 1, "qint16": 2, "quint16": 2, "qint32": 4}


def bitcast(c: ShapeContext) -> Results:
    """Larger elements swallow the last axis, smaller ones add one."""
    shape = c.shape_of(0)
    result = c.attributes.get("type")
    old, new = _BYTES.get(c.elements[0].name), _BYTES.get(getattr(result, "name", ""))
    if shape is None or old is None or new is None:
        return [None]
    if old == new:
        return [shape]
    if old > new:
        return [(*shape, old // new)]
    if not shape or shape[-1] not in (new // old, ANY):
        raise c.fault(f"last size must be {new // old}, got {list(shape)}")
    return [shape[:-1]]


def shape(c: ShapeContext) -> Results:
    """Shape, ShapeN: a size for each axis of each input."""
    return [(ANY if shape is None else len(shape),) for shape in c.inputs[: max(len(c.given), 1)]]


def variable_shape(c: ShapeContext) -> Results:
    held = c.held[0][0].shape if c.held[0] else None
    return [(ANY if held is None else len(held),)]


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("Shape", "ShapeN"), shape),
    "VariableShape": variable_shape,
    "Reshape": reshape,
    "ExpandDims": expand_dims,
    "Squeeze": squeeze,
    "EnsureShape": ensure_shape,
    "Bitcast": bitcast,
}
