"""Which form of a node can be converted, as its operands and attributes are."""

from __future__ import annotations

from ...ir.attributes import Attribute
from ...ir.node import Node
from ...transforms.folding.tensors import known_integers
from ...transforms.inline import CALLS
from ...transforms.node_rewriter import rank_of
from ..arithmetic.nodes import FLOATS, element, shape
from .data_format import RANKS, Conversion, data_format_name
from .forms import AGNOSTIC, BINARY, REDUCTIONS, SENSITIVE, Form, at, numbers

_FUSED_CONVS = ("_FusedConv2DBiasActivation", "FusedConv2DBiasActivation")
_FLOAT_ONLY = ("Conv2D", "Conv3D")
_VECTORS = ("Pad", "PadV2", "MirrorPad", "MirrorPadGrad", "Slice", "Tile", "StridedSlice", "Fill")


def sensitive_form(node: Node, conversion: Conversion) -> tuple[Form, int] | None:
    """The form of a node whose attribute names the format to convert from, and its rank."""
    form = SENSITIVE.get(node.op)
    rank = None if form is None else _rank(node, form)
    if form is None or rank not in RANKS:
        return None
    name = data_format_name(node, conversion.of_rank(rank).source)
    if node.attributes.get("data_format", data_format_name(node, "NHWC" if rank == 4 else "NDHWC")) != name:
        return None
    if (
        node.op == "BiasAdd"
        and isinstance(node.operands[0].owner, Node)
        and node.operands[0].owner.op in CALLS
    ):
        # What a function gives has the format that is used in it: the Transposes would meet none.
        return None
    if node.op in _FLOAT_ONLY and element(node.operands[0]) not in FLOATS:
        return None
    if node.op.startswith("FusedBatchNormGrad") and node.attributes.get("is_training") is False:
        return None
    if node.op == "_FusedBatchNormEx" and node.attributes.get("num_side_inputs"):
        form = form.with_tensors((0, 5))
    if node.op in _FUSED_CONVS:
        if node.attributes.get("filter_format", b"HWIO") != b"HWIO":
            return None
        form = form.with_tensors((0, 3) if rank_of(node.operands[3]) == rank else (0,))
    return form, rank


def agnostic_form(node: Node, conversion: Conversion) -> tuple[Form, int] | None:
    """The form of a node that computes in any order, and its rank; None where it must keep its own."""
    form = AGNOSTIC.get(node.op)
    rank = None if form is None else _rank(node, form)
    if form is None or rank not in RANKS:
        return None
    found = _special(node, form, rank, conversion.of_rank(rank))
    return None if found is None else (found, rank)


def _rank(node: Node, form: Form) -> int | None:
    """The rank of what is converted; of a node with several, of the first that has one of 4 or 5 axes."""
    if node.op in ("IdentityN", "ShapeN"):
        return next((rank for value in node.operands if (rank := rank_of(value)) in RANKS), None)
    is_reduction = node.op in REDUCTIONS
    results = [] if is_reduction else at(node.results, form.results)
    ranks = [rank_of(value) for value in (*results, *at(node.operands, form.tensors))]
    return next((rank for rank in ranks if rank is not None), None)


def _special(node: Node, form: Form, rank: int, conversion: Conversion) -> Form | None:
    op = node.op
    if op in BINARY:
        return _binary(node, form, rank)
    if op in REDUCTIONS:
        return _reduction(node, form, conversion)
    if op == "Squeeze":
        return form if conversion.keeps_order(_squeezed(node)) and _squeezed(node) else None
    if op in ("IdentityN", "ShapeN"):
        places = tuple(i for i, value in enumerate(node.operands) if rank_of(value) == rank)
        made = form.with_tensors(places)
        return made.with_results(places) if op == "IdentityN" else _shape_results(made, places)
    if op in ("Select", "SelectV2"):
        return _select(node, form, rank)
    if op in _VECTORS and not all(_rows(value) == rank for value in at(node.operands, form.vectors)):
        return None
    if op == "StridedSlice" and any(
        node.attributes.get(f"{name}_mask") for name in ("ellipsis", "new_axis", "shrink_axis")
    ):
        return None
    if op == "Bitcast" and _width(node.operands[0].type) != _width(node.results[0].type):
        return None
    # All have the rank of the result, also where nobody knows it.
    return form if all(rank_of(value) in (None, rank) for value in at(node.operands, form.tensors)) else None


def _shape_results(form: Form, places: tuple[int, ...]) -> Form:
    return Form(tensors=form.tensors, results=(), result_vectors=places)


def _rows(value: object) -> int:
    """How many entries a vector or rows a matrix has, -1 where that is not known."""
    sizes = shape(value)  # type: ignore[arg-type]
    return int(sizes[0]) if sizes else -1


def _width(type: object) -> str:
    """What of a type's name says how many bits it has."""
    name = str(getattr(getattr(type, "element", None), "name", ""))
    return "".join(letter for letter in name if letter.isdigit())


def _binary(node: Node, form: Form, rank: int) -> Form | None:
    """Two of the rank; or one, beside a scalar or a vector along the last axis (which is reshaped)."""
    ranks = [rank_of(value) for value in node.operands]
    if rank not in ranks or any(each not in (0, 1, rank) for each in ranks):
        return None
    return form.with_tensors(tuple(place for place, each in enumerate(ranks) if each == rank))


def _reduction(node: Node, form: Form, conversion: Conversion) -> Form | None:
    if node.attributes.get("keep_dims"):
        return form
    axes = known_integers(node.operands[1])
    rank = len(conversion.source)
    if axes is None or any(not -rank <= axis < rank for axis in axes):
        return None
    return form.with_results(()) if conversion.keeps_order([axis % rank for axis in axes]) else None


def _squeezed(node: Node) -> list[int]:
    """The axes that go, empty where they are not known."""
    sizes = shape(node.operands[0])
    dims: Attribute = node.attributes.get("squeeze_dims", ())
    if isinstance(dims, tuple) and dims and sizes is not None:
        return [axis % len(sizes) for axis in dims if isinstance(axis, int)]
    if sizes is None or any(size < 0 for size in sizes):
        return []
    return [axis for axis, size in enumerate(sizes) if size == 1]


def _select(node: Node, form: Form, rank: int) -> Form | None:
    """The condition may be a scalar, and of Select a vector along the batch, which stays first."""
    ranks = [rank_of(value) for value in node.operands]
    loose = (0, rank) if node.op == "SelectV2" else (0, 1, rank)
    if ranks[0] not in loose or any(
        each not in ((0, rank) if node.op == "SelectV2" else (rank,)) for each in ranks[1:]
    ):
        return None
    return form.with_tensors(tuple(numbers(form.tensors, 3)[i] for i in range(3) if ranks[i] == rank))
