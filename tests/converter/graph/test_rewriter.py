"""The driver of rules: what it looks at again, where it ends, and what it tells."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from numlite.converter.graph import Rewriter, Rule, rule
from numlite.converter.graph.rule import MOST_NODES
from numlite.converter.ir.node import Block, Node
from numlite.converter.ir.types import TensorType, element_type
from numlite.lite.errors import StateError
from numlite.schema import graph_def

FLOAT = TensorType(element_type(graph_def.DT_FLOAT))


def chain(*ops: str) -> Block:
    """Nodes of one operand in a row, named by their ops and places; the first has none."""
    block = Block()
    for i, op in enumerate(ops):
        node = block.append(Node(op, f"{op}{i}", [FLOAT]))
        if i:
            node.operands = node.previous.results
    return block


def ops(block: Block) -> list[str]:
    return [node.op for node in block]


@rule("Neg")
def skip_double_negation(rewriter: Rewriter[Node], node: Node) -> bool:
    """Takes out what is done and undone.

    Given:  y = Neg(Neg(x))
    Result: x wherever y was used
    """
    before = node.operands[0].owner
    if not isinstance(before, Node) or before.op != "Neg":
        return False
    rewriter.replace_value(node.results[0], before.operands[0])
    rewriter.erase(node)
    return True


@rule()
def drop(rewriter: Rewriter[Node], node: Node) -> bool:
    """Given: a node that nothing uses. Result: none."""
    if node.used or node.op == "End":
        return False
    rewriter.erase(node)
    return True


def turned(name: str, op: str, into: str) -> Rule[Rewriter[Node]]:
    """A rule that makes one op another."""

    def rewrite(rewriter: Rewriter[Node], node: Node) -> bool:
        node.op = into
        return True

    return Rule(name, rewrite, frozenset((op,)))


def test_what_a_rule_uncovers_is_looked_at_again() -> None:
    block = chain("X", *["Neg"] * 7, "End")
    trace = Rewriter(block, [[skip_double_negation, drop]]).run()
    assert ops(block) == ["X", "Neg", "End"]
    assert trace.is_complete and trace.count == 6
    assert {name: fired.count for name, fired in trace.fired.items()} == {
        "skip_double_negation": 3,
        "drop": 3,
    }


def test_the_first_rule_of_a_group_wins_and_groups_take_turns() -> None:
    a, b = turned("to_b", "A", "B"), turned("to_c", "A", "C")
    block = chain("A", "A")
    Rewriter(block, [[a, b]]).run()
    assert ops(block) == ["B", "B"]
    block = chain("A", "B")
    trace = Rewriter(block, [[turned("to_d", "B", "D")], [a]]).run()
    assert ops(block) == ["D", "D"]
    assert list(trace.fired) == ["to_d", "to_b"]


def test_a_pattern_that_is_deeper_than_the_neighbours_is_found() -> None:
    """A node far behind the changed one: nothing but another round over all of them comes to it."""

    @rule("End")
    def find(rewriter: Rewriter[Node], node: Node) -> bool:
        """Given: End far behind B. Result: Found."""
        value = node.operands[0]
        while isinstance(value.owner, Node) and value.owner.operands:
            value = value.owner.operands[0]
        if not isinstance(value.owner, Node) or value.owner.op != "B":
            return False
        node.op = "Found"
        return True

    block = chain("A", *["Sin"] * 50, "End")
    Rewriter(block, [[find], [turned("to_b", "A", "B")]]).run()
    assert ops(block)[0] == "B" and ops(block)[-1] == "Found"


def test_rules_that_undo_each_other_are_named() -> None:
    forth, back = turned("forth", "A", "B"), turned("back", "B", "A")
    with pytest.raises(
        StateError, match=r"rules must come to an end, got \d+ changes .* by back and forth at"
    ):
        Rewriter(chain("X", "A"), [[forth], [back]]).run()


def test_the_deadline_ends_it_with_the_graph_in_order() -> None:
    block = chain("X", *["Neg"] * 7, "End")
    trace = Rewriter(block, [[skip_double_negation]], deadline=time.monotonic() - 1).run()
    assert not trace.is_complete and trace.count == 0 and len(block) == 9


def test_kept_nodes_stay() -> None:
    block = chain("X", "Neg", "End")
    end = block.last
    assert end is not None
    rewriter = Rewriter(block, kept=[end])
    with pytest.raises(ValueError, match="'End2': is kept by name"):
        rewriter.erase(end)
    assert end.block is block


def test_a_trace_names_the_first_nodes_and_counts_all() -> None:
    block = chain(*["A"] * (MOST_NODES + 3))
    trace = Rewriter(block, [[turned("to_b", "A", "B")]]).run()
    [line] = trace.lines(with_nodes=True)
    assert line.startswith("to_b 19: A0, A1, ") and line.endswith(" and 3 more")
    assert trace.lines() == ["to_b 19"]


def test_changed_nodes_are_told() -> None:
    told: list[str] = []
    block = chain("X", "A", "End")
    Rewriter(block, [[turned("to_b", "A", "B")]], changed_node=lambda node: told.append(node.name)).run()
    assert told == ["A1"]


def test_rules_know_their_names_and_what_they_need() -> None:
    made = rule("A", "B", needs=("shapes",), keeps_bits=False, source="somewhere")(drop.rewrite)
    assert (made.name, made.roots, made.needs) == ("drop", frozenset(("A", "B")), frozenset(("shapes",)))
    assert not made.keeps_bits and made.source == "somewhere" and "Given:" in made.given_and_result


@pytest.mark.parametrize("count", [3, 40, 1000])
def test_users_come_and_go_whatever_their_number(count: int) -> None:
    block = Block()
    x, z = (block.append(Node("X", name, [FLOAT])).results[0] for name in "xz")
    users = [block.append(Node("Add", str(i), [FLOAT])) for i in range(count)]
    for user in users:
        user.operands = (x, x)
    assert len(x.users) == 2 * count and users[1] in x.users
    users[1].set_operand(0, z)
    assert len(x.users) == 2 * count - 1 and list(z.users) == [users[1]]
    z.replace_all_uses_with(x)
    for place in np.random.default_rng(5).permutation(count):
        users[place].erase()
    assert len(x.users) == 0


def test_nodes_know_which_comes_first() -> None:
    block = chain("A", "B")
    first, last = block
    for _ in range(100):  # more than there is room for between two numbers
        middle = block.insert_after(first, Node("M"))
        assert block.comes_before(first, middle) and block.comes_before(middle, last)
        last = middle
    order = list(block)
    assert all(block.comes_before(a, b) for a, b in pairwise(order))
    assert list(reversed(block)) == order[::-1] and block.behind(order[-3]) == order[-2:]
