"""Outputs whose first size a kernel finds out while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall, Sized, SizeFields
from ..lite.tensor import Shape, Tensor

Outputs = Mapping[str, tuple[Tensor, Shape]]


def dynamic_call(
    call: KernelCall,
    context: Context,
    outputs: Outputs,
    count_field: str,
    count_of: Callable[[np.ndarray], int] | str,
) -> KernelCall:
    """The call with dynamic outputs: by the fields of their addresses, and with their sizes but the first.

    The first is kept in args[count_field], -1 as long as there is none. Where the kernel asks for
    another, count_of(args) says which, or raises, or count_of is the field where the kernel has left it.
    """
    found_field = count_of if isinstance(count_of, str) else ""

    def resize(context: Context, args: np.ndarray) -> None:
        args[count_field] = -1  # should anything below fail
        count = int(args[count_of][0]) if isinstance(count_of, str) else count_of(args)
        for field, (tensor, sizes) in outputs.items():
            context.resize_tensor(tensor, (count, *sizes))
            args[field] = tensor.address
        args[count_field] = count

    for tensor, _ in outputs.values():
        context.set_dynamic(tensor)
    call.args[count_field] = -1
    call.resize = resize
    if found_field and len(outputs) == 1:
        [(field, (tensor, _))] = outputs.items()
        call.sized = Sized(tensor, SizeFields(field, count_field, found_field))
    return call
