"""if, case and while: functions of the module, to which what they use of the surroundings is passed."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError
from ...schema.graph_def import DT_BOOL
from ..building.body import Body, plain_shape
from ..building.tensor import Tensor
from ..ir.attributes import Attributes, FuncAttr
from ..ir.module import Function
from ..ir.node import RETURN, Node
from ..ir.types import TensorType, element_type
from ..shapes.dimensions import either
from .held import Held
from .program import Block, Value, free_values
from .step import Result, Rule, Step


class Region:
    """A function under construction, which stands for a computation. given are its arguments."""

    def __init__(self, step: Step, what: str, like: Sequence[Tensor]) -> None:
        shared = step.importer.shared
        self.function: Function = step.importer.new_function(what)
        self.body = Body(self.function.body, shared.names)
        self.importer = step.importer.inner(self.body)
        self.given = [self._argument(place, each) for place, each in enumerate(like)]

    def _argument(self, place: int, like: Tensor) -> Tensor:
        type = TensorType(element_type(like.type), plain_shape(like.shape))
        value = self.function.add_argument(type, {"tfg.name": f"argument{place}".encode()})
        return Tensor(self.body, like.type, like.shape, value)

    def run(self, block: Block, arguments: Sequence[Held], outer: dict[Value, Held]) -> list[Tensor]:
        """Import the computation; what it returns. outer are values of the surroundings."""
        self.importer.values.update(outer)
        return [each.whole for each in self.importer.run(block, arguments)]

    def finish(self, results: Sequence[Tensor]) -> list[TensorType]:
        """End the function with its results; their types."""
        types = []
        operands = [tensor.value for tensor in results]
        for place, tensor in enumerate(results):
            type = TensorType(element_type(tensor.type), plain_shape(tensor.shape))
            self.function.add_result(type, {"tfg.name": f"result{place}".encode()})
            types.append(type)
        end = Node(RETURN, attributes={"control_ret_attrs": ()})
        self.function.body.append(end)
        end.operands = operands
        return types


def captures(step: Step, *blocks: Block) -> dict[Value, Held]:
    """Values of the surroundings that computations use, but for constants."""
    found = {}
    for value in free_values(*blocks):
        held = step.importer.find(value)
        if held.tensor.data is None or held.sizes is not None:
            found[value] = held
    return found


def _passed(region: Region, first: int, outer: dict[Value, Held]) -> dict[Value, Held]:
    """The captured values as the region's arguments from one on."""
    given = region.given[first:]
    return {value: Held(x, held.shape) for (value, held), x in zip(outer.items(), given, strict=True)}


def if_(step: Step) -> Result:
    """IF; the branch itself where the condition is constant."""
    return _chosen(step, step.input(0), step.region(0), step.region(1))


def case(step: Step) -> Result:
    """IF within IF, as many as there are branches. A number that is none of theirs is the last one's."""
    branches = step.operation.regions
    if not branches:
        raise ModelError("branches must be there, got none")
    number = step.input(0)
    if number.data is not None:
        place = int(number.data.reshape(-1)[0]) if number.data.size else -1
        return _in_place(step, branches[place if 0 <= place < len(branches) else -1])
    if len(branches) == 1:
        return _in_place(step, branches[0])
    return _case(step, number, branches)


def _case(step: Step, number: Tensor, branches: Sequence[Block]) -> list[Tensor]:
    outer = captures(step, *branches)
    body = step.body
    state = [number, *(held.whole for held in outer.values())]

    def chosen(body: Body, given: Sequence[Tensor], first: int) -> list[Tensor]:
        """Branches from one on, by an IF in a body that has what is given."""
        is_first = given[0].equals(first)
        ends, functions = [], []
        for what, count in (("then", 1), ("else", len(branches) - first - 1)):
            region = Region(step, f"{body.prefix or 'case'}/{what}", given)
            if what == "then" or count == 1:
                block = branches[first if what == "then" else first + 1]
                results = region.run(block, [], _passed(region, 1, outer))
            else:
                results = chosen(region.body, region.given, first + 1)
            ends.append(region.finish(results))
            functions.append(region.function.name)
        return _if_node(body, is_first, given, ends, functions)

    return chosen(body, state, 0)


def _chosen(step: Step, condition: Tensor, yes: Block, no: Block) -> Result:
    if condition.data is not None:
        return _in_place(step, yes if condition.data.reshape(-1)[0] else no)
    outer = captures(step, yes, no)
    state = [held.whole for held in outer.values()]
    ends, functions = [], []
    for what, block in (("then", yes), ("else", no)):
        region = Region(step, f"if/{what}", state)
        ends.append(region.finish(region.run(block, [], _passed(region, 0, outer))))
        functions.append(region.function.name)
    return _if_node(step.body, condition, state, ends, functions)


def _if_node(
    body: Body,
    condition: Tensor,
    given: Sequence[Tensor],
    ends: Sequence[Sequence[TensorType]],
    functions: Sequence[str],
) -> list[Tensor]:
    if len(ends[0]) != len(ends[1]):
        raise ModelError(f"both branches must give as much, got {len(ends[0])} and {len(ends[1])} values")
    types = []
    for one, other in zip(*ends, strict=True):
        if one.element != other.element:
            raise ModelError(f"both branches must give one type, got {one} and {other}")
        types.append(TensorType(one.element, either(one.shape, other.shape)))
    attributes: Attributes = {
        "Tcond": element_type(DT_BOOL),
        "Tin": tuple(element_type(x.type) for x in given),
        "Tout": tuple(type.element for type in types),
        "then_branch": FuncAttr(functions[0], {}),
        "else_branch": FuncAttr(functions[1], {}),
    }
    return body.call("StatelessIf", [condition, *given], types, attributes)


def _in_place(step: Step, block: Block) -> list[Held]:
    return step.importer.inner(step.body).run(block, [])


def while_(step: Step) -> Result:
    """WHILE over the operands and what the two computations use of the surroundings."""
    condition, block = step.region(0), step.region(1)
    outer = captures(step, condition, block)
    count = len(step.operands)
    state = [*step.inputs(), *(held.whole for held in outer.values())]
    shapes = [held.shape for held in (*step.operands, *outer.values())]

    def run(what: str, of: Block) -> tuple[Region, list[Tensor]]:
        region = Region(step, f"while/{what}", state)
        arguments = [Held(x, shape) for x, shape in zip(region.given, shapes, strict=True)]
        return region, region.run(of, arguments[:count], _passed(region, count, outer))

    test, goes_on = run("cond", condition)
    if len(goes_on) != 1 or goes_on[0].type != DT_BOOL:
        raise ModelError("the condition must give one truth value")
    test.finish(goes_on)
    region, nexts = run("body", block)
    if len(nexts) != count:
        raise ModelError(f"the body must give {count} values, got {len(nexts)}")
    for before, after in zip(state, nexts, strict=False):
        if before.type != after.type:
            raise ModelError(f"the body must give the types that it takes, got {after} for {before}")
    region.finish([*nexts, *region.given[count:]])
    types = [
        TensorType(element_type(x.type), either(plain_shape(x.shape), plain_shape(after.shape)))
        for x, after in zip(state, [*nexts, *state[count:]], strict=True)
    ]
    attributes: Attributes = {
        "T": tuple(type.element for type in types),
        "cond": FuncAttr(test.function.name, {}),
        "body": FuncAttr(region.function.name, {}),
    }
    return step.body.call("StatelessWhile", state, types, attributes)[:count]


REGISTRATIONS: dict[str, Rule] = {"case": case, "if": if_, "while": while_}
