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
from .element_types import inner_type
from .elementwise import of_floats
from .held import Held
from .linear_algebra import lapack_cholesky, lapack_solve
from .program import Attribute
from .step import Result, Rule, Step


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
    rule = _KNOWN.get(plain)
    if rule is None:
        raise UnsupportedError(f"a call of {name!r}, which the exporting program's own library computes")
    attributes = step.operation.attributes
    held = attributes.get("mhlo.attributes") or attributes.get("mhlo.backend_config")
    return rule(step, held if isinstance(held, dict) else {})


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
_NOTHING = frozenset(("shape_assertion",))
_KNOWN: dict[str, Callable[[Step, Mapping[str, Attribute]], Result]] = {
    "erf": lambda step, _: of_floats(erf)(step),
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
