"""TFLite's TensorList operators and VariantAddN, on the lists that VARIANT tensors hold."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import NUMPY_DTYPES, Shape, Tensor, TensorType
from .held_list import (
    TensorList,
    check_element,
    check_list,
    check_told_shape,
    check_type,
    copy_of,
    give_list,
    held_list,
    list_output,
    merged,
    told_shape,
)
from .index_vector import MAX_SIZE, check_counts, check_index_type, scalar_integer

_INT32 = (TensorType.INT32,)


def _element_type(node: Node) -> int:
    """The schema's TensorType in the operator's options, of which it is the first byte."""
    code = node.custom_options[0] if len(node.custom_options) else -1
    if code not in NUMPY_DTYPES:
        raise PrepareError(
            f"{node.registration.name}: options must start with the number of a type that NumPy has, "
            f"got {bytes(node.custom_options[:8])!r}"
        )
    return int(code)


def _prepare_reserve(context: Context, node: Node) -> None:
    check_counts(node.registration.name, node, 2)
    check_told_shape(node, context.input(node, 0))
    check_index_type(node.registration.name, "number of elements", context.input(node, 1), _INT32)
    _element_type(node)
    list_output(context, node)


def _reserve(context: Context, node: Node) -> None:
    length = scalar_integer(node.registration.name, "number of elements", context.input(node, 1))
    if length < 0:
        raise InvokeError(f"number of elements must be 0 or more, got {length}")
    made = TensorList(_element_type(node), told_shape(context.input(node, 0)), length, {})
    give_list(context.output(node, 0), made)


def _prepare_from_tensor(context: Context, node: Node) -> None:
    check_counts(node.registration.name, node, 2)
    x = context.input(node, 0)
    check_element(node, x)
    if not x.shape:
        raise PrepareError(f"{node.registration.name}: input must not be a scalar, got {x!r}")
    check_told_shape(node, context.input(node, 1))
    list_output(context, node)


def _from_tensor(context: Context, node: Node) -> None:
    x, element_shape = context.input(node, 0), told_shape(context.input(node, 1))
    if element_shape and merged(element_shape, x.shape[1:]) != x.shape[1:]:
        raise InvokeError(f"the element shape must fit the input, got {list(element_shape)} for {x!r}")
    if x.size:
        made = TensorList(x.type, element_shape, x.shape[0], dict(enumerate(x.array().copy())))
    else:
        # However many: elements without values need not be kept.
        made = TensorList(x.type, x.shape[1:], x.shape[0], {})
    give_list(context.output(node, 0), made)


# Operators that change lists: their output is another list.
def _prepare_set_item(context: Context, node: Node) -> None:
    check_counts(node.registration.name, node, 3)
    check_list(node, context.input(node, 0))
    check_index_type(node.registration.name, "index", context.input(node, 1), _INT32)
    check_element(node, context.input(node, 2))
    list_output(context, node)


def _set_item(context: Context, node: Node) -> None:
    """An index behind the list's end makes it longer."""
    held, item = held_list(context.input(node, 0)), context.input(node, 2)
    at = scalar_integer(node.registration.name, "index", context.input(node, 1))
    if not 0 <= at < MAX_SIZE:
        raise InvokeError(f"index must be in [0, {MAX_SIZE}), got {at}")
    check_type(held, item)
    give_list(context.output(node, 0), held.with_element(at, copy_of(item)))


def _prepare_push_back(context: Context, node: Node) -> None:
    check_counts(node.registration.name, node, 2)
    check_list(node, context.input(node, 0))
    check_element(node, context.input(node, 1))
    list_output(context, node)


def _push_back(context: Context, node: Node) -> None:
    held, item = held_list(context.input(node, 0)), context.input(node, 1)
    check_type(held, item)
    if held.length == MAX_SIZE:
        raise InvokeError(f"a list must have at most {MAX_SIZE} elements")
    give_list(context.output(node, 0), held.with_element(held.length, copy_of(item)))


def _prepare_resize(context: Context, node: Node) -> None:
    check_counts(node.registration.name, node, 2)
    check_list(node, context.input(node, 0))
    check_index_type(node.registration.name, "size", context.input(node, 1), _INT32)
    list_output(context, node)


def _resize(context: Context, node: Node) -> None:
    length = scalar_integer(node.registration.name, "size", context.input(node, 1))
    if length < 0:
        raise InvokeError(f"size must be 0 or more, got {length}")
    give_list(context.output(node, 0), held_list(context.input(node, 0)).resized(length))


def _prepare_lists(context: Context, node: Node) -> None:
    """Lists in, one list out."""
    if not node.inputs or len(node.outputs) != 1:
        raise PrepareError(
            f"{node.registration.name}: must have inputs and 1 output, "
            f"got {len(node.inputs)} and {len(node.outputs)}"
        )
    for i in range(len(node.inputs)):
        check_list(node, context.input(node, i))
    list_output(context, node)


def _prepare_zeros_like(context: Context, node: Node) -> None:
    check_counts(node.registration.name, node, 1)
    _prepare_lists(context, node)


def _zeros_like(context: Context, node: Node) -> None:
    held = held_list(context.input(node, 0))
    zeros = {at: np.zeros_like(element) for at, element in held.elements.items()}
    made = TensorList(held.type, held.element_shape, held.length, zeros)
    give_list(context.output(node, 0), made)


def _add_n(context: Context, node: Node) -> None:
    """Sums of the elements at each place. A place that no list has set stays so: it reads as zeros."""
    lists = [held_list(context.input(node, i)) for i in range(len(node.inputs))]
    first = lists[0]
    if any((held.type, held.length) != (first.type, first.length) for held in lists):
        raise InvokeError(
            "lists must have one type and length, "
            f"got {[(TensorType(held.type).name.lower(), held.length) for held in lists]}"
        )
    shape: Shape = ()
    sums: dict[int, np.ndarray] = {}
    for held in lists:
        shape = merged(shape, held.element_shape)
        for at, element in held.elements.items():
            sums[at] = _sum(sums[at], element) if at in sums else element
    if len(sums) < first.length and -1 in shape:
        raise InvokeError(f"an element that no list has set must have a known shape, got {list(shape)}")
    give_list(context.output(node, 0), TensorList(first.type, shape, first.length, sums))


def _sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.shape != b.shape:
        raise InvokeError(f"elements at one place must have one shape, got {a.shape} and {b.shape}")
    with np.errstate(all="ignore"):
        return np.asarray(a + b)


def _prepare_element(context: Context, node: Node, y: Tensor, shape: Tensor) -> None:
    """The output has the file's shape, or that of the element where the file leaves it open."""
    check_list(node, context.input(node, 0))
    check_element(node, y)
    check_told_shape(node, shape)
    if not y.signature or -1 in y.signature:
        context.set_dynamic(y)
    else:
        context.resize_tensor(y, y.signature)


def _give_element(context: Context, held: TensorList, at: int, y: Tensor, shape: Tensor) -> None:
    check_type(held, y)
    element = held.elements.get(at)
    if element is None:
        element_shape = y.shape if not y.is_dynamic else _unset_shape(held, told_shape(shape))
        element = np.zeros((), y.dtype)
    else:
        element_shape = element.shape
    if y.is_dynamic:
        context.resize_tensor(y, element_shape)
    elif element_shape != y.shape:
        raise InvokeError(f"element {at} must have the output's shape, got {element_shape} for {y!r}")
    if y.size:
        y.array()[...] = element


def _unset_shape(held: TensorList, shape: Shape) -> Shape:
    """The shape of an element that was not set: what is said of it, else what the others have."""
    known = merged(held.element_shape, shape)
    if known and -1 not in known:
        return known
    others = held.shape_of_set()
    if others is None:
        raise InvokeError("an element that was not set must have a known shape, and nothing tells it")
    return others


def _prepare_get_item(context: Context, node: Node) -> None:
    check_counts(node.registration.name, node, 3)
    check_index_type(node.registration.name, "index", context.input(node, 1), _INT32)
    _prepare_element(context, node, context.output(node, 0), context.input(node, 2))


def _get_item(context: Context, node: Node) -> None:
    held = held_list(context.input(node, 0))
    at = scalar_integer(node.registration.name, "index", context.input(node, 1))
    if not 0 <= at < held.length:
        raise InvokeError(f"index must be in [0, {held.length}), got {at}")
    _give_element(context, held, at, context.output(node, 0), context.input(node, 2))


def _prepare_pop_back(context: Context, node: Node) -> None:
    check_counts(node.registration.name, node, 2, 2)
    _prepare_element(context, node, context.output(node, 1), context.input(node, 1))
    list_output(context, node)


def _pop_back(context: Context, node: Node) -> None:
    held = held_list(context.input(node, 0))
    if not held.length:
        raise InvokeError("the list must have an element, and has none")
    _give_element(context, held, held.length - 1, context.output(node, 1), context.input(node, 1))
    give_list(context.output(node, 0), held.resized(held.length - 1))


def _prepare_stack(context: Context, node: Node) -> None:
    check_counts(node.registration.name, node, 2)
    check_list(node, context.input(node, 0))
    check_told_shape(node, context.input(node, 1))
    check_element(node, context.output(node, 0))
    context.set_dynamic(context.output(node, 0))


def _stack(context: Context, node: Node) -> None:
    """Elements that were not set are zeros. Elements of the shape [1] are stacked as scalars are.

    Source: LiteRT tflite/kernels/variants/list_kernels/list_stack.cc, Eval.
    """
    held, y = held_list(context.input(node, 0)), context.output(node, 0)
    check_type(held, y)
    shape = merged(merged(told_shape(context.input(node, 1)), held.element_shape), held.shape_of_set() or ())
    if -1 in shape:
        raise InvokeError(f"the elements' shape must be known, got {list(shape)}")
    context.resize_tensor(y, (held.length, *(() if shape == (1,) else shape)))
    odd = [element.shape for element in held.elements.values() if element.size * held.length != y.size]
    if odd:
        raise InvokeError(f"the elements must have the shape {list(shape)}, got {list(odd[0])}")
    if y.size:
        y.array()[...] = 0
        for at, element in held.elements.items():
            y.array()[at] = element.reshape(y.shape[1:])


def _prepare_length(context: Context, node: Node) -> None:
    check_counts(node.registration.name, node, 1)
    check_list(node, context.input(node, 0))
    y = context.output(node, 0)
    check_index_type(node.registration.name, "length", y, _INT32)
    context.resize_tensor(y, ())


def _length(context: Context, node: Node) -> None:
    context.output(node, 0).array()[...] = held_list(context.input(node, 0)).length


def _prepare_element_shape(context: Context, node: Node) -> None:
    check_counts(node.registration.name, node, 1)
    check_list(node, context.input(node, 0))
    check_index_type(node.registration.name, "element shape", context.output(node, 0), _INT32)
    context.set_dynamic(context.output(node, 0))


def _element_shape(context: Context, node: Node) -> None:
    """A vector, or the scalar -1 where the list takes elements of any shape."""
    shape, y = held_list(context.input(node, 0)).element_shape, context.output(node, 0)
    context.resize_tensor(y, (len(shape),) if shape else ())
    y.array()[...] = shape or -1


REGISTRATIONS = (
    Registration("TensorListReserve", _prepare_reserve, _reserve),
    Registration("TensorListFromTensor", _prepare_from_tensor, _from_tensor),
    Registration("TensorListSetItem", _prepare_set_item, _set_item),
    Registration("TensorListPushBack", _prepare_push_back, _push_back),
    Registration("TensorListResize", _prepare_resize, _resize),
    Registration("VariantZerosLike", _prepare_zeros_like, _zeros_like),
    Registration("VariantAddN", _prepare_lists, _add_n),
    Registration("TensorListGetItem", _prepare_get_item, _get_item),
    Registration("TensorListPopBack", _prepare_pop_back, _pop_back),
    Registration("TensorListStack", _prepare_stack, _stack),
    Registration("TensorListLength", _prepare_length, _length),
    Registration("TensorListElementShape", _prepare_element_shape, _element_shape),
)
