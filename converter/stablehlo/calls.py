"""Calls of functions, of composites and of what has no operations of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.elementwise import erf, tan
from ..building.region import Region
from ..building.tensor import Tensor
from ..declared import composite_attribute
from ..ir.attributes import Attributes, FuncAttr
from ..ir.types import element_type
from .computation import described, reduction
from .element_types import inner_type
from .elementwise import of_floats
from .factors import lapack_lu, lapack_orthogonal, lapack_qr
from .held import Held
from .linear_algebra import lapack_cholesky, lapack_solve
from .open_windows import open_windows
from .program import Attribute, Name, Operation
from .step import Result, Rule, Step
from .window import reduce_window


def call(step: Step) -> Result:
    """The function's operations."""
    return step.importer.called(step.text("callee"), step.operation, step.operands)


def composite(step: Step) -> Result:
    """The operator that does the whole, where there is one, else the decomposition."""
    name, attributes = step.text("name"), step.operation.attributes.get("composite_attributes")
    if name in step.importer.shared.keep_composites:
        return _kept(step, name, attributes if isinstance(attributes, dict) else {})
    rule = _KNOWN.get(name.removeprefix("chlo.").removeprefix("mhlo."))
    if rule is not None:
        try:
            return rule(step, attributes if isinstance(attributes, dict) else {})
        except UnsupportedError:
            # The decomposition may be able to.
            pass
    return step.importer.called(step.text("decomposition"), step.operation, step.operands)


def _kept(step: Step, name: str, attributes: Mapping[str, Attribute]) -> list[Tensor]:
    """A call of a function of the decomposition, which says what it implements."""
    inputs = step.inputs()
    region = Region(step.importer.shared, name, inputs)
    held = [Held(x, operand.shape) for x, operand in zip(region.given, step.operands, strict=True)]
    inner = step.importer.inner(region.body)
    types = region.finish(
        [each.whole for each in inner.called(step.text("decomposition"), step.operation, held)]
    )
    version = step.integer("version") if step.has("version") else 0
    said = {key: value for key, value in attributes.items() if isinstance(value, bool | int | float | str)}
    region.function.attributes["_implements"] = composite_attribute(name, version, said)
    called: Attributes = {
        "Tin": tuple(element_type(x.type) for x in inputs),
        "Tout": tuple(type.element for type in types),
        "f": FuncAttr(region.function.name, {}),
    }
    return step.body.call("PartitionedCall", inputs, types, called)


def custom_call(step: Step) -> Result:
    """What the table knows; shape assertions are left out."""
    name = step.text("call_target_name")
    if name in _SAME:
        return list(step.operands[: len(step.operation.results)])
    if name in _NOTHING and not step.operation.results:
        return []
    plain = name.removeprefix("mhlo.").removeprefix("chlo.").removeprefix("stablehlo.")
    if plain == "dynamic_reduce_window":
        return _dynamic_windows(step)
    rule = _KNOWN.get(plain)
    if rule is None:
        raise UnsupportedError(
            f"a call of {name!r}, which the exporting program's own library computes{_instead(plain)}"
        )
    attributes = step.operation.attributes
    held = attributes.get("mhlo.attributes") or attributes.get("mhlo.backend_config")
    return rule(step, held if isinstance(held, dict) else {})


def _dynamic_windows(step: Step) -> Result:
    """reduce_window, whose numbers are operands."""
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding")
    count = len(step.operands) - len(names)
    given = [held.tensor.data for held in step.operands[max(count, 0) :]]
    called = step.operation.attributes.get("called_computations")
    if count != 2 or not isinstance(called, list) or len(called) != 1:
        raise UnsupportedError("windows over several operands at once")
    own, name = step.operation, called[0]
    body = step.importer.shared.program.function(name.text if isinstance(name, Name) else str(name)).body
    if any(data is None for data in given):
        joined = reduction(body)
        if joined is None:
            raise UnsupportedError("windows of open sizes by another computation; give input_shapes")
        numbers_given = [held.tensor for held in step.operands[count:]]
        return open_windows(step, step.held(0).whole, step.held(1).tensor, joined, numbers_given)
    numbers: dict[str, Attribute] = {
        key: [int(each) for each in data.reshape(-1)]
        for key, data in zip(names, given, strict=True)
        if data is not None
    }
    plain = Operation("reduce_window", own.operands[:count], own.results, numbers, [body])
    return reduce_window(Step(step.importer, plain, step.operands[:count]))


def _instead(name: str) -> str:
    """What would help, of names that are known."""
    for part, advice in _INSTEAD.items():
        if part in name:
            return f"; {advice}"
    return ""


def approximate_top_k(step: Step, attributes: Mapping[str, Attribute]) -> Result:
    """The largest or smallest along an axis with their places, all of them found."""
    k, axis = attributes.get("top_k"), attributes.get("reduction_dim")
    x, places, body = step.input(0), step.held(1), step.body
    order = _order_of(step)
    if not isinstance(k, int) or axis != x.rank - 1 or places.stretched != frozenset(range(x.rank - 1)):
        raise UnsupportedError("the largest along another axis than the last, or with other places")
    if attributes.get("aggregate_to_topk") is not True:
        raise UnsupportedError("more elements than are asked for; give it aggregate_to_topk=True")
    values, at = body.ops("TopKV2", x if order == "GT" else -x, body.scalar(k, DT_INT32), sorted=True)
    return [values if order == "GT" else -values, body.cast(at, inner_type(step.result_type(1)))]


def _order_of(step: Step) -> str:
    """GT or LT: by which of them the function compares its first two arguments."""
    called = step.operation.attributes.get("called_computations")
    name = called[0] if isinstance(called, list) and len(called) == 1 else None
    name = name.text if isinstance(name, Name) else name
    if isinstance(name, str):
        for order, formula in (("GT", "GT(a,b)"), ("LT", "GT(b,a)")):
            if described(step.importer.shared.program.function(name).body) == [formula]:
                return order
    raise UnsupportedError("an order other than that of numbers")


def top_k(step: Step, attributes: Mapping[str, Attribute]) -> Result:
    """The k largest along the last axis, in order, and their places."""
    k, largest = attributes.get("k"), attributes.get("largest", True)
    if not isinstance(k, int):
        k = step.shape[-1]
    if k < 0 or (largest is not None and not largest):
        raise UnsupportedError("only the largest of a known number are built")
    x = step.input(0)
    values, at = step.body.ops("TopKV2", x, step.body.scalar(k, DT_INT32), sorted=True)
    return [values, step.body.cast(at, inner_type(step.result_type(1)))]


def barrier(step: Step) -> Sequence[Held]:
    """The operands."""
    return list(step.operands)


# Marks for devices, and for how values are divided among them.
_SAME = frozenset(
    (
        *("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"),
        *("LayoutConstraint", "xla.sdy.FuncResultSharding", "MoveToHost", "MoveToDevice"),
    )
)
# What computes the same of operations that are read.
_INSTEAD = {
    "gesdd": "singular values are not built: compute them outside, or export without jnp.linalg.svd and pinv",
    "gesvd": "singular values are not built: compute them outside, or export without jnp.linalg.svd and pinv",
    "syev": "eigenvalues are not built: compute them outside, and give them as an input",
    "heev": "eigenvalues are not built: compute them outside, and give them as an input",
    "geev": "eigenvalues are not built: compute them outside, and give them as an input",
    "callback": "a model holds no Python: export without callbacks",
}
_NOTHING = frozenset(("shape_assertion",))
_KNOWN: dict[str, Callable[[Step, Mapping[str, Attribute]], Result]] = {
    "erf": lambda step, _: of_floats(erf)(step),
    "ApproxTopK": approximate_top_k,
    "lapack_sgeqrf_ffi": lapack_qr,
    "lapack_sgetrf_ffi": lapack_lu,
    "lapack_sorgqr_ffi": lapack_orthogonal,
    "lapack_spotrf_ffi": lapack_cholesky,
    "lapack_strsm_ffi": lapack_solve,
    "tan": lambda step, _: of_floats(tan)(step),
    "top_k": top_k,
    "topk": top_k,
}
REGISTRATIONS: dict[str, Rule] = {
    "call": call,
    "composite": composite,
    "custom_call": custom_call,
    "optimization_barrier": barrier,
}
