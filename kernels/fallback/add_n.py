"""AddN: the sum of tensors of one shape."""

from __future__ import annotations

import numpy as np

from .dtypes import NUMBERS
from .kernel import KernelContext, OpKernel
from .registry import kernel_class
from .status import InvalidArgumentError


class AddN(OpKernel):
    """inputs: N tensors of T, one shape; sum: their sum, added from the first to the last.

    Source: TensorFlow tensorflow/core/kernels/aggregate_ops.cc.
    """

    def compute(self, context: KernelContext) -> None:
        first, *others = context.inputs
        for index, other in enumerate(others, 1):
            if other.shape != first.shape:
                message = f"inputs must have one shape, got {list(first.shape)} and, at {index}, "
                context.failure(InvalidArgumentError(f"AddN: {message}{list(other.shape)}"))
        # Only the memory of the first two: the others are still to be read when the sum is begun.
        candidates = range(min(2, len(context.inputs)))
        total = context.forward_input_or_allocate_output(candidates, 0, first.shape)
        if not others:
            np.copyto(total, first)
            return
        np.add(first, others[0], out=total)
        for other in others[1:]:
            np.add(total, other, out=total)


REGISTRATIONS = (kernel_class("AddN", AddN, T=NUMBERS),)
