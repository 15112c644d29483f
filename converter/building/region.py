"""Region: a function of the module under construction."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.node import RETURN, Node
from ..ir.types import TensorType, element_type
from .body import Body, plain_shape
from .module_builder import ModuleBuilder
from .tensor import Tensor


class Region:
    """A function whose body takes ops. given are its arguments, one like each tensor it is made for.

    prefix is what its nodes are named after.
    """

    def __init__(self, builder: ModuleBuilder, name: str, like: Sequence[Tensor], prefix: str = "") -> None:
        self.function = builder.new_function(name)
        self.body = Body(self.function.body, builder.names)
        self.body.prefix = prefix
        self.given = [self._argument(place, each) for place, each in enumerate(like)]

    def _argument(self, place: int, like: Tensor) -> Tensor:
        type = TensorType(element_type(like.type), plain_shape(like.shape))
        value = self.function.add_argument(type, {"tfg.name": f"argument{place}".encode()})
        return Tensor(self.body, like.type, like.shape, value)

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
