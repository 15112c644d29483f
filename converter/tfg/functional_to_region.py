"""Control flow by functions becomes control flow by regions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from ...lite.errors import UnsupportedError
from ..ir.attributes import Attribute, Attributes, FuncAttr, RegionAttrs
from ..ir.module import Function, Module
from ..ir.node import CONDITION, YIELD, Block, Node, Value
from ..ir.types import CONTROL
from ..transforms.bodies import Body, token_of, typed_bodies
from ..transforms.clone import clone_function, clone_nodes
from .functional_ops import (
    CASE_OPS,
    FOR_OPS,
    FUNCTIONAL_OPS,
    TYPE_ATTRIBUTES,
    WHILE_OPS,
    branch_forms,
    branches_of,
    region_op,
)

# A few functions that call each other twice would otherwise become any number of nodes.
MOST_NODES = 1 << 17
# Functions in functions, which recursion would make endless.
DEEPEST = 50
_MARKED = ("tf._xla_compile_id", "tf._tpu_replicate", "tf._XlaMustCompile")
_KEPT = ("description", "is_stateful", "resource_arg_unique_ids_keys", "resource_arg_unique_ids_values")


def functional_to_region(module: Module) -> None:
    """Copy the functions of If, Case, While and For into regions.

    Given:  y = If(c, x) {then_branch = @f, else_branch = @g}; func @f(a) { b = Neg(a); return(b) } ..
    Result: y = IfRegion c then { b = Neg(x); yield(b) } else { .. } {then_region_attrs = <{sym_name = "f"}>}

    If and Case use the values around them, loops have arguments. What the function, its arguments and
    results said is kept in the region's attributes, so that region_to_functional finds the function
    again. A node whose functions are not all known, or are generic, have a gradient or are compiled as a
    whole, stays; so does a call of a function inside itself. UnsupportedError when the regions would
    hold more than MOST_NODES nodes.
    Source: TensorFlow core/transforms/functional_to_region.
    """
    functions = module.functions
    converter = _Converter()
    named = {func.name for body in typed_bodies(module) for func in _called(body.body)}
    for name in named & functions.keys():
        if _may_inline(functions[name]):
            converter.functions[name] = clone_function(functions[name])
    for body in typed_bodies(module):
        own = (body.name,) if isinstance(body, Function) else ()
        converter.check_size(body, own)
        converter.convert(body.body, own)


def _may_inline(function: Function) -> bool:
    marked = any(name in function.attributes for name in ("gradient", *_MARKED))
    return not function.generic and not marked and function.terminator is not None


def _called(block: Block) -> Iterator[FuncAttr]:
    for node in block.walk():
        if node.op in FUNCTIONAL_OPS:
            yield from branches_of(node) or ()


class _Converter:
    def __init__(self) -> None:
        # Copies of functions as they were before any was converted.
        self.functions: dict[str, Function] = {}
        self.sizes: dict[str, int] = {}
        self.expected = 0
        self.copied = 0

    def convert(self, block: Block, inside: tuple[str, ...]) -> None:
        """All functional ops of the block; inside are the functions whose bodies it is a part of."""
        for node in block:
            if node.op not in FUNCTIONAL_OPS:
                for region in node.regions:
                    self.convert(region, inside)
                continue
            branches = branches_of(node)
            if branches and all(self.fits(node, branch, inside) for branch in branches):
                made = self.with_regions(node, branches)
                for region, branch in zip(made.regions, branches, strict=True):
                    self.convert(region, (*inside, branch.name))

    def fits(self, node: Node, branch: FuncAttr, inside: tuple[str, ...]) -> bool:
        function = self.functions.get(branch.name)
        if function is None or branch.name in inside or len(inside) >= DEEPEST:
            return False
        first = 2 if node.op in FOR_OPS else 0 if node.op in WHILE_OPS else 1
        return len(function.arguments) == len(node.operands) - first

    def with_regions(self, node: Node, branches: list[FuncAttr]) -> Node:
        """The region op in the place of the functional one."""
        attributes = {name: held for name, held in node.attributes.items() if name not in TYPE_ATTRIBUTES}
        loop = node.op in (*WHILE_OPS, *FOR_OPS)
        functions = [self.functions[branch.name] for branch in branches]
        kept = [_preserved(function, loop) for function in functions]
        _describe_regions(node.op, attributes, branches, kept)
        types = [value.type for value in node.results]
        made = Node(region_op(node.op), node.name, types, attributes, node.device, node.assigned_device)
        made.location, made.line = node.location, node.line
        assert node.block is not None
        node.block.insert_before(node, made)
        chooses = not loop
        made.operands = node.operands[:1] if chooses else node.operands
        made.controls = node.controls
        made.regions = [Block(made) for _ in functions]
        for i, function in enumerate(functions):
            rename = partial(_inlined_name, made.name, i)
            # Where functions call each other in circles there may be more than was expected.
            self.copied += len(function.body)
            _check_count(self.copied)
            if chooses:
                _fill_branch(made.regions[i], function, node.operands[1:], rename)
            else:
                _fill_loop(made.regions[i], function, node.op in WHILE_OPS and i == 0, rename)
        node.replace_with(made)
        node.erase()
        return made

    def check_size(self, body: Body, inside: tuple[str, ...]) -> None:
        """UnsupportedError when the body and all that would be copied into it are too many nodes."""
        self.expected += self.size(body, inside)
        _check_count(self.expected)

    def size(self, body: Body, inside: tuple[str, ...]) -> int:
        """Nodes of the body with those of the functions in it, each as often as it is called."""
        if isinstance(body, Function) and body.name in self.sizes:
            return self.sizes[body.name]
        found = len(body.body)
        for func in _called(body.body):
            function = self.functions.get(func.name)
            if function is not None and func.name not in inside and len(inside) < DEEPEST:
                found += self.size(function, (*inside, func.name))
        if isinstance(body, Function):
            self.sizes[body.name] = found
        return found


def _check_count(count: int) -> None:
    if count > MOST_NODES:
        raise UnsupportedError(
            f"functions in functions: regions must hold at most {MOST_NODES} nodes in all, "
            f"got {count}; keep the functions"
        )


def _inlined_name(op_name: str, region: int, name: str) -> str:
    return f"{name}_tfg_inlined_{op_name}_{region}" if op_name else name


def _preserved(function: Function, arguments: bool) -> RegionAttrs:
    """What the function says beyond its body; arguments of If and Case are gone."""
    attributes: Attributes = {
        name: held for name, held in function.attributes.items() if name in _KEPT or name.startswith("tf.")
    }
    attributes["sym_name"] = function.name.encode()
    described: tuple[Mapping[str, Attribute], ...] = ()
    if arguments:
        described = tuple(function.argument_attributes)
    return RegionAttrs(attributes, described, tuple(function.result_attributes))


def _describe_regions(
    op: str, attributes: Attributes, branches: list[FuncAttr], kept: list[RegionAttrs]
) -> None:
    """Exchange the functions among the attributes for what the regions must say of them."""
    if op in CASE_OPS:
        del attributes["branches"]
        attributes["branch_attrs"] = tuple(branch.attributes for branch in branches)
        attributes["region_attrs"] = tuple(kept)
        return
    for form, branch, region in zip(branch_forms(op), branches, kept, strict=True):
        del attributes[form.function]
        attributes[form.attrs] = branch.attributes
        attributes[form.region_attrs] = region


def _fill_branch(
    region: Block, function: Function, operands: tuple[Value, ...], rename: partial[str]
) -> None:
    """The function's body, its arguments being values around the region."""
    values: dict[Value, Value] = {}
    for argument, operand in zip(function.arguments, operands, strict=True):
        values[argument] = operand
        values[function.control_of(argument)] = token_of(operand)
    clone_nodes(function.body, region, values, rename)
    _end(region, YIELD, ())


def _fill_loop(region: Block, function: Function, condition: bool, rename: partial[str]) -> None:
    """The function's body, with the same arguments: data, then tokens."""
    values = {argument: region.add_argument(argument.type) for argument in function.arguments}
    data = tuple(region.arguments)
    for argument in function.arguments:
        values[function.control_of(argument)] = region.add_argument(CONTROL)
    clone_nodes(function.body, region, values, rename)
    _end(region, CONDITION if condition else YIELD, data if condition else ())


def _end(region: Block, op: str, passed: tuple[Value, ...]) -> None:
    """The terminator in the place of the copied return."""
    returned = region.last
    assert returned is not None
    operands, controls = returned.operands, returned.controls
    returned.erase()
    end = region.append(Node(op))
    end.operands, end.controls = (*operands, *passed), controls
