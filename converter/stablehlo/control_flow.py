"""if, case and while: functions of the module, to which what they use of the surroundings is passed."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError
from ...schema.graph_def import DT_BOOL
from ..building.body import Body, plain_shape
from ..building.control_flow import if_node, while_node
from ..building.region import Region
from ..building.tensor import Tensor
from ..ir.types import TensorType, element_type
from ..shapes.dimensions import either
from .complex_numbers import is_complex
from .held import Complex, Held, tensors_of, values_of
from .program import Block, Value, free_values
from .step import Result, Rule, Step


def _region(step: Step, what: str, like: Sequence[Tensor]) -> Region:
    return Region(step.importer.shared, what, like)


def _imported(
    step: Step, body: Body, block: Block, arguments: Sequence[Held], outer: dict[Value, Held]
) -> list[Tensor]:
    """What the computation returns, whose ops the body takes. outer are values of the surroundings."""
    importer = step.importer.inner(body)
    importer.values.update(outer)
    return tensors_of(importer.run(block, arguments))


def captures(step: Step, *blocks: Block) -> dict[Value, Held]:
    """Values of the surroundings that computations use, but for constants."""
    found = {}
    for value in free_values(*blocks):
        held = step.importer.find(value)
        if not held.is_constant or held.sizes is not None:
            found[value] = held
    return found


def _passed(region: Region, first: int, outer: dict[Value, Held]) -> dict[Value, Held]:
    """The captured values as the region's arguments from one on."""
    return dict(zip(outer, values_of(region.given[first:], _like(list(outer.values()))), strict=True))


def _like(values: Sequence[Held]) -> list[tuple[bool, Sequence[int]]]:
    return [(isinstance(each, Complex), each.shape) for each in values]


def _results(step: Step, tensors: Sequence[Tensor]) -> list[Held]:
    """What a node of control flow gives, as the operation's results."""
    types = [step.result_type(place) for place in range(len(step.operation.results))]
    if len(tensors) != sum(1 + is_complex(type) for type in types):
        raise ModelError(f"it must have {len(tensors)} results, got {len(types)}")
    return values_of(tensors, [(is_complex(type), type.shape) for type in types])


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


def _case(step: Step, number: Tensor, branches: Sequence[Block]) -> list[Held]:
    outer = captures(step, *branches)
    body = step.body
    state = [number, *tensors_of(list(outer.values()))]

    def chosen(body: Body, given: Sequence[Tensor], first: int) -> list[Tensor]:
        """Branches from one on, by an IF in a body that has what is given."""
        is_first = given[0].equals(first)
        ends, functions = [], []
        for what, count in (("then", 1), ("else", len(branches) - first - 1)):
            region = _region(step, f"{body.prefix or 'case'}/{what}", given)
            if what == "then" or count == 1:
                block = branches[first if what == "then" else first + 1]
                results = _imported(step, region.body, block, [], _passed(region, 1, outer))
            else:
                results = chosen(region.body, region.given, first + 1)
            ends.append(region.finish(results))
            functions.append(region.function.name)
        return if_node(body, is_first, given, ends, functions)

    return _results(step, chosen(body, state, 0))


def _chosen(step: Step, condition: Tensor, yes: Block, no: Block) -> Result:
    if condition.data is not None:
        return _in_place(step, yes if condition.data.reshape(-1)[0] else no)
    outer = captures(step, yes, no)
    state = tensors_of(list(outer.values()))
    ends, functions = [], []
    for what, block in (("then", yes), ("else", no)):
        region = _region(step, f"if/{what}", state)
        ends.append(region.finish(_imported(step, region.body, block, [], _passed(region, 0, outer))))
        functions.append(region.function.name)
    return _results(step, if_node(step.body, condition, state, ends, functions))


def _in_place(step: Step, block: Block) -> list[Held]:
    return step.importer.inner(step.body).run(block, [])


def while_(step: Step) -> Result:
    """WHILE over the operands and what the two computations use of the surroundings."""
    condition, block = step.region(0), step.region(1)
    outer = captures(step, condition, block)
    own = tensors_of(step.operands)
    count = len(own)
    state = [*own, *tensors_of(list(outer.values()))]

    def run(what: str, of: Block) -> tuple[Region, list[Tensor]]:
        region = _region(step, f"while/{what}", state)
        arguments = values_of(region.given[:count], _like(step.operands))
        return region, _imported(step, region.body, of, arguments, _passed(region, count, outer))

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
    return _results(step, while_node(step.body, state, types, test, region)[:count])


REGISTRATIONS: dict[str, Rule] = {"case": case, "if": if_, "while": while_}
