"""Outputs whose first size a kernel finds out while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.tensor import Shape, Tensor

Outputs = Mapping[str, tuple[Tensor, Shape]]


def dynamic_call(
    call: KernelCall,
    context: Context,
    outputs: Outputs,
    count_field: str,
    count_of: Callable[[np.ndarray], int],
) -> KernelCall:
    """The call with dynamic outputs: by the fields of their addresses, and with their sizes but the first.

    The first is kept in args[count_field], -1 as long as there is none. Where the kernel asks for
    another, count_of(args) says which, or raises.
    """

    def resize(context: Context, args: np.ndarray) -> None:
        args[count_field] = -1  # should anything below fail
        count = count_of(args)
        for field, (tensor, sizes) in outputs.items():
            context.resize_tensor(tensor, (count, *sizes))
            args[field] = tensor.address
        args[count_field] = count

    for tensor, _ in outputs.values():
        context.set_dynamic(tensor)
    call.args[count_field] = -1
    call.resize = resize
    return call
