"""IF and WHILE, whose branches and turns are functions of the module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32
from ..ir.attributes import Attributes, FuncAttr
from ..ir.types import TensorType, element_type
from ..shapes.dimensions import either
from .body import Body, plain_shape
from .module_builder import ModuleBuilder
from .region import Region
from .tensor import Tensor


def if_node(
    body: Body,
    condition: Tensor,
    given: Sequence[Tensor],
    ends: Sequence[Sequence[TensorType]],
    functions: Sequence[str],
) -> list[Tensor]:
    """One of two functions by a condition. given is what both take, ends are the types that each gives."""
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


def while_node(
    body: Body, state: Sequence[Tensor], types: Sequence[TensorType], test: Region, turn: Region
) -> list[Tensor]:
    """The state after as many turns as the test wants, in types that hold before and after a turn."""
    attributes: Attributes = {
        "T": tuple(type.element for type in types),
        "cond": FuncAttr(test.function.name, {}),
        "body": FuncAttr(turn.function.name, {}),
    }
    return body.call("StatelessWhile", state, types, attributes)


# A list for so many turns is made before the loop; one for more, of a loop that may end before, grows.
_MOST_RESERVED = 1 << 16


# A turn: the body that takes its ops, its number, what is carried, and the outer tensors by their names.
Turn = Callable[[Body, Tensor, Sequence[Tensor], dict[str, Tensor]], list[Tensor]]


def while_loop(
    builder: ModuleBuilder,
    body: Body,
    outer: dict[str, Tensor],
    carried: Sequence[Tensor],
    scans: int,
    turn: Turn,
    count: Tensor | None,
    keeps: Tensor,
) -> list[Tensor]:
    """While a condition holds and at most so many turns (int32).

    A turn gives the next condition, what is carried on, and what is listed. The results are what is carried
    in the end, then all that was listed, each along a new first axis: as many as there were turns.
    """
    types, is_endless = _listed_types(builder, body, outer, carried, scans, turn)
    ends_early = count is None or not is_endless or not _is_true(keeps)
    element_shapes = [_List(type, count, ends_early) for type in types]
    lists = [each.begun(body) for each in element_shapes]
    zero = body.scalar(0, DT_INT32)
    state = [zero, keeps, *carried, *lists, *outer.values()]
    test = _region(builder, body, "cond", state)
    goes_on = test.given[1]
    names = list(outer)
    if count is not None:
        if count.data is None:
            # The limit is one more that is passed on.
            names.append("")
            state.append(count)
            test = _region(builder, body, "cond", state)
            goes_on = test.body.op("LogicalAnd", test.given[0] < test.given[-1], test.given[1])
        else:
            goes_on = test.body.op("LogicalAnd", test.given[0] < int(count.data), test.given[1])
    test.finish([goes_on])
    region = _region(builder, body, "body", state)
    held = dict(zip(names, region.given[len(state) - len(names) :], strict=True))
    held.pop("", None)
    own = region.given[2 : 2 + len(carried)]
    again, *results = turn(region.body, region.given[0], own, held)
    listed = region.given[2 + len(carried) : 2 + len(carried) + scans]
    put = [
        each.put(region.body, held_list, region.given[0], item)
        for each, held_list, item in zip(element_shapes, listed, results[len(carried) :], strict=True)
    ]
    again = region.body.op("Reshape", again, region.body.integers([]))
    nexts = [region.body.cast(new, old.type) for new, old in zip(results[: len(carried)], own, strict=True)]
    region.finish([region.given[0] + 1, again, *nexts, *put, *region.given[2 + len(carried) + scans :]])
    types = [
        TensorType(element_type(x.type), _loop_shape(x, new))
        for x, new in zip(state, [None, None, *nexts, *put], strict=False)
    ]
    types += [TensorType(element_type(x.type), plain_shape(x.shape)) for x in state[len(types) :]]
    ended = while_node(body, state, types, test, region)
    stacked = [
        each.stacked(body, ended[2 + len(carried) + place], ended[0])
        for place, each in enumerate(element_shapes)
    ]
    return [*ended[2 : 2 + len(carried)], *stacked]


def _region(builder: ModuleBuilder, body: Body, what: str, like: Sequence[Tensor]) -> Region:
    return Region(builder, f"{body.prefix}/{what}", like, what)


def _loop_shape(before: Tensor, after: Tensor | None) -> tuple[int, ...] | None:
    """The shape that a carried value has before and after a turn."""
    own = plain_shape(before.shape)
    other = own if after is None else plain_shape(after.shape)
    if own is None or other is None or len(own) != len(other):
        return None
    return tuple(a if a == b else -1 for a, b in zip(own, other, strict=True))


def _listed_types(
    builder: ModuleBuilder,
    body: Body,
    outer: dict[str, Tensor],
    carried: Sequence[Tensor],
    scans: int,
    turn: Turn,
) -> tuple[list[TensorType], bool]:
    """What one turn lists, and whether it always asks for the next one, as a turn on trial tells."""
    if not scans:
        return [], False
    trial = _region(builder, body, "trial", [body.scalar(0, DT_INT32), *carried, *outer.values()])
    held = dict(zip(outer, trial.given[1 + len(carried) :], strict=True))
    before = len(builder.refusals)
    try:
        results = turn(trial.body, trial.given[0], trial.given[1 : 1 + len(carried)], held)
    finally:
        builder.module.ops.remove(trial.function)
    # They come again with the turn itself; where the trial failed, they are its reasons.
    del builder.refusals[before:]
    types = [TensorType(element_type(x.type), plain_shape(x.shape)) for x in results[1 + len(carried) :]]
    return types, _is_true(results[0])


def _is_true(condition: Tensor) -> bool:
    return condition.data is not None and bool(condition.data.all())


@dataclass(frozen=True)
class _List:
    """What turns list: tensors of a type, at most count of them, fewer where the loop may end before."""

    type: TensorType
    count: Tensor | None
    ends_early: bool

    @property
    def most(self) -> int:
        """The count, -1 where it is not known."""
        return -1 if self.count is None or self.count.data is None else int(self.count.data)

    @property
    def grows(self) -> bool:
        """Whether it begins with nothing, rather than with room for all."""
        return self.ends_early and (self.count is None or self.most > _MOST_RESERVED)

    @property
    def shape(self) -> tuple[int, ...]:
        shape = self.type.shape
        if shape is None:
            raise UnsupportedError("what each turn lists must have a known rank")
        if self.grows and -1 in shape:
            raise UnsupportedError(
                "what each turn lists must have a known shape where the loop has no limit but its condition"
            )
        return shape

    def begun(self, body: Body) -> Tensor:
        held = {"element_dtype": self.type.element, "shape_type": element_type(DT_INT32)}
        if self.grows:
            return body.op("EmptyTensorList", body.integers(self.shape), body.scalar(-1, DT_INT32), **held)
        assert self.count is not None
        return body.op("TensorListReserve", body.integers(self.shape), self.count, **held)

    def put(self, body: Body, held: Tensor, place: Tensor, item: Tensor) -> Tensor:
        element = element_type(item.type)
        if self.grows:
            return body.op("TensorListPushBack", held, item, element_dtype=element)
        return body.op("TensorListSetItem", held, place, item, element_dtype=element)

    def stacked(self, body: Body, held: Tensor, turns: Tensor) -> Tensor:
        known = -1 if self.grows else self.most
        whole = body.op(
            "TensorListStack",
            held,
            body.integers(self.shape),
            element_dtype=self.type.element,
            num_elements=known,
        )
        if self.grows or not self.ends_early:
            return whole
        bounds = [body.integers([0]), body.vector([turns]), body.integers([1])]
        return body.op("StridedSlice", whole, *bounds, begin_mask=1)
