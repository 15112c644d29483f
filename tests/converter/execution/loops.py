"""V1 loops written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numlite.converter.graph_builder import GraphBuilder

Nodes = Sequence[str]


def while_loop(
    graph: GraphBuilder,
    frame: str,
    start: Nodes,
    cond: Callable[[Nodes], str],
    body: Callable[[Nodes], Nodes],
    constants: Nodes = (),
    parallel_iterations: int = 10,
) -> list[str]:
    """Exits of a loop over the values that start with those given, then the loop's constants."""

    def enter(value: str, i: int, constant: bool) -> str:
        options = {"frame_name": frame, "is_constant": constant, "parallel_iterations": parallel_iterations}
        return graph.node("Enter", f"{frame}/enter{i}", value, **options)

    inside = [enter(value, i, constant=False) for i, value in enumerate(start)]
    held = [enter(value, i, constant=True) for i, value in enumerate(constants, len(start))]
    # The second input is known only when the body is there.
    merges = [graph.node("Merge", f"{frame}/merge{i}", x, x) for i, x in enumerate(inside)]
    taken = graph.node("LoopCond", f"{frame}/cond", cond([*merges, *held]))
    switches = [graph.node("Switch", f"{frame}/switch{i}", x, taken) for i, x in enumerate(merges)]
    results = body([*(f"{x}:1" for x in switches), *held])
    for i, (merge, result) in enumerate(zip(merges, results, strict=True)):
        following = graph.node("NextIteration", f"{frame}/next{i}", result)
        next(node for node in graph.graph_def.node if node.name == merge).input[1] = following
    return [graph.node("Exit", f"{frame}/exit{i}", x) for i, x in enumerate(switches)]
