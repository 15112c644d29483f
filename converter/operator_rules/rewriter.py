"""OperatorRewriter: what rules of lowered operators change a graph with."""

from __future__ import annotations

from collections.abc import Iterable

from ...schema.objects import TableT
from ...schema.tflite import BuiltinOperator
from ..graph.rewriter import Rewriter
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor


class OperatorRewriter(Rewriter[LiteOperator]):
    """Changes one subgraph. Outputs keep their names, and operators tell whose work they do."""

    block: LiteGraph

    def is_open(self, node: LiteOperator) -> bool:
        """Not one that sets variables which others go on with: it runs each time, for them alone."""
        return not any(tensor.is_variable and tensor.users for tensor in node.results)

    def become(
        self,
        operator: LiteOperator,
        code: BuiltinOperator,
        operands: Iterable[LiteTensor | None],
        options: TableT | None = None,
        parts: Iterable[LiteOperator] = (),
    ) -> bool:
        """The operator computes its results in another way; it does the work of the parts, too. True."""
        operator.code, operator.options = code, options
        operator.sources = sources_of(operator, *parts)
        self.set_operands(operator, operands)
        return True

    def join(self, first: LiteOperator, second: LiteOperator) -> bool:
        """The first one gives the second one's results from now on, and the second goes. True."""
        first.sources = (*first.sources, *second.sources)
        results, own = second.results, first.results
        # The results pass to the first one; what it gave until now, only the second one used.
        second.give(())
        self.erase(second)
        assert not any(tensor.users for tensor in own)
        first.give(results)
        self.changed(first)
        return True

    def move_behind(self, operator: LiteOperator, moved: LiteOperator, middle: LiteTensor) -> None:
        """A RESHAPE or TRANSPOSE that nothing uses any more comes behind an operator, and gives its result.

        The operator gives the middle tensor instead.
        """
        y = operator.result
        assert not moved.used
        operator.give([middle])
        self.block.remove(moved)
        self.block.insert_after(operator, moved)
        moved.give([y])
        self.set_operand(moved, 0, middle)

    def skip(self, operator: LiteOperator, x: LiteTensor) -> bool:
        """Take out an operator whose only result equals a tensor. True.

        An output of the graph keeps its name where the tensor comes from an operator.
        """
        y, source = operator.result, x.producer
        if source is not None and self.block.gives(y) and not self.block.gives(x):
            operator.give(())
            self.erase(operator)
            self.replace_value(x, y)
            source.give([y if tensor is x else tensor for tensor in source.results])
            self.changed(source)
        else:
            self.replace_value(y, x)
            self.erase(operator)
        return True

    def fold(self, operator: LiteOperator) -> bool:
        """Take out an operator whose results have become constants. True."""
        results = operator.results
        users = [user for tensor in results for user in tensor.users]
        for tensor in results:
            tensor.owner = None
        operator.give(())
        self.erase(operator)
        for user in dict.fromkeys(users):
            self.changed(user)
        return True


def sources_of(*operators: LiteOperator) -> tuple[str, ...]:
    """The nodes that the operators do the work of, each once, those of the first one first."""
    return tuple(dict.fromkeys(source for each in operators for source in each.sources))
