"""Control flow by regions becomes control flow by functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..ir.attributes import Attribute, FuncAttr, RegionAttrs
from ..ir.module import Module, text_attribute
from ..ir.node import CASE_REGIONS, FOR_REGIONS, IF_REGIONS, REGION_OPS, WHILE_REGIONS, Block, Node, Value
from ..transforms.bodies import bodies
from .explicit_capture import capture_explicitly, loop_inputs
from .functional_ops import branch_forms, functional_op
from .region_outline import outlined
from .same_region import same_region


def region_to_functional(module: Module, force_control_capture: bool = False) -> None:
    """Make functions of the regions of If, Case, While and For, the innermost first.

    Given:  y = IfRegion c then { b = Neg(x); yield(b) } else { .. } {_mlir_name = "if"}
    Result: y = If(c, x) {then_branch = @if_then_function, ..}; func @if_then_function(x) { .. }

    When the functions that all regions were before still do the same, those are used, else each region
    gets a new one. A region that waits for a node without results is left as it is, and so is what is
    around it; with force_control_capture, a constant brings the token in.
    Source: TensorFlow core/transforms/region_to_functional.
    """
    outliner = _Outliner(module, force_control_capture)
    left: list[list[Node]] = []
    for body in bodies(module):
        _by_height(body.body, left)
    for nodes in left:
        for node in nodes:
            outliner.convert(node)


def _by_height(block: Block, found: list[list[Node]]) -> int:
    """Region ops of the block by how deep regions are nested in them; the height of the block."""
    most = 0
    for node in block:
        if not node.regions or node.op not in REGION_OPS:
            continue
        height = max((_by_height(region, found) for region in node.regions), default=0)
        while len(found) <= height:
            found.append([])
        found[height].append(node)
        most = max(most, height + 1)
    return most


@dataclass(frozen=True)
class _Region:
    """A region, what is kept of its function, the call's attributes and a name for want of a better."""

    block: Block
    preserved: RegionAttrs | None
    attributes: Mapping[str, Attribute]
    default: str

    @property
    def former(self) -> str:
        """Name of the function that the region was, "" when it was none."""
        return text_attribute(self.preserved.attributes.get("sym_name")) if self.preserved else ""


class _Outliner:
    def __init__(self, module: Module, force: bool) -> None:
        self.module = module
        self.force = force
        self.functions = module.functions
        self.names = SymbolNames(self.functions)

    def convert(self, node: Node) -> None:
        regions = _regions_of(node)
        if any(_has_regions(region.block) for region in regions):
            return
        former = [self.functions[r.former] for r in regions if r.former in self.functions]
        if any(_has_regions(function.body) for function in former):
            return
        captured = capture_explicitly(node, self.force)
        if captured is None:
            return
        if node.op in IF_REGIONS or node.op in CASE_REGIONS:
            inputs: tuple[Value, ...] = tuple(captured)
        else:
            inputs = (*loop_inputs(node), *captured)
            _carry(node, len(captured))
        funcs = self.reused(regions) or [
            FuncAttr(self.outline(node, i, region, inputs), region.attributes)
            for i, region in enumerate(regions)
        ]
        _replace(node, funcs, captured)

    def reused(self, regions: list[_Region]) -> list[FuncAttr] | None:
        """The former functions, if all of them still do what the regions do."""
        found = []
        for region in regions:
            function = self.functions.get(region.former)
            if function is None or not same_region(region.block, function):
                return None
            found.append(FuncAttr(function.name, region.attributes))
        return found

    def outline(self, node: Node, index: int, region: _Region, inputs: tuple[Value, ...]) -> str:
        """The name of a new function with the region's body."""
        name = region.former or region.default
        if region.former and node.name:
            place = "".join(c if c.isascii() and c.isalnum() else "_" for c in node.name)
            name = f"{name}_tfg_region_specialized_{place}_{index}"
        function = outlined(self.names.unique(name), region.block, region.preserved, inputs)
        self.functions[function.name] = function
        self.module.ops.append(function)
        return function.name


def _has_regions(block: Block) -> bool:
    return any(node.regions for node in block)


def _regions_of(node: Node) -> list[_Region]:
    attributes = node.attributes
    if node.op in CASE_REGIONS:
        kept, called = attributes.get("region_attrs"), attributes.get("branch_attrs")
        found = []
        for i, block in enumerate(node.regions):
            one = kept[i] if isinstance(kept, tuple) and i < len(kept) else None
            call = called[i] if isinstance(called, tuple) and i < len(called) else None
            found.append(_region(block, one, call, f"case_function_{i}"))
        return found
    return [
        _region(block, attributes.get(form.region_attrs), attributes.get(form.attrs), form.default)
        for form, block in zip(branch_forms(node.op), node.regions, strict=True)
    ]


def _region(block: Block, kept: Attribute | None, called: Attribute | None, default: str) -> _Region:
    preserved = kept if isinstance(kept, RegionAttrs) else None
    return _Region(block, preserved, called if isinstance(called, Mapping) else {}, default)


def _carry(node: Node, count: int) -> None:
    """Let the loop's body give back its last arguments, which are what was captured."""
    body = node.regions[-1]
    half = len(body.arguments) // 2
    if count and body.last is not None:
        body.last.operands = (*body.last.operands, *body.arguments[half - count : half])


def _replace(node: Node, funcs: list[FuncAttr], captured: list[Value]) -> None:
    """The functional op in the place of the region op; a loop gives back what it captured, too."""
    attributes = dict(node.attributes)
    if node.op in CASE_REGIONS:
        attributes["branches"] = tuple(funcs)
        dropped = ["region_attrs", "branch_attrs"]
    else:
        forms = branch_forms(node.op)
        for form, func in zip(forms, funcs, strict=True):
            attributes[form.function] = func
        dropped = [name for form in forms for name in (form.attrs, form.region_attrs)]
    for name in dropped:
        attributes.pop(name, None)
    types = [value.type for value in node.results]
    if node.op in WHILE_REGIONS or node.op in FOR_REGIONS:
        types += [value.type for value in captured]
    made = Node(functional_op(node.op), node.name, types, attributes, node.device, node.assigned_device)
    made.location, made.line = node.location, node.line
    assert node.block is not None
    node.block.insert_before(node, made)
    made.operands, made.controls = (*node.operands, *captured), node.controls
    for old, new in zip(node.results, made.results, strict=False):
        old.replace_all_uses_with(new)
    node.control.replace_all_uses_with(made.control)
    node.erase()


class SymbolNames:
    """Names that are taken; a new name that is taken gets a number from one count for all."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._clashes = 0

    def unique(self, name: str) -> str:
        found = name
        while found in self._taken:
            found = f"{name}_{self._clashes}"
            self._clashes += 1
        self._taken.add(found)
        return found
