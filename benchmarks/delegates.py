"""What delegates cost: partitioning, and an invoke's overhead for each partition, in Python and native.

    python benchmarks/delegates.py

Pin it to one CPU. The model is a chain of NEG over four floats; every other node is delegated.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

import numpy as np
from numlite.delegates import (
    Delegate,
    DelegateContext,
    SimpleDelegate,
    SimpleDelegateKernel,
    SimpleDelegateOptions,
)
from numlite.interpreter import Interpreter
from numlite.lite.context import Context
from numlite.lite.kernel_call import KernelCall
from numlite.lite.node import Node
from numlite.lite.partition import PartitionMode, PlanNode, partition
from numlite.lite.registration import Registration
from numlite.schema import tflite
from numlite.schema.operator_code import operator_code

LENGTH = 100
EVERY_OTHER = SimpleDelegateOptions(allow_nodes=tuple(range(0, LENGTH, 2)))


class PythonKernel(SimpleDelegateKernel):
    def invoke(self, context: Context, node: Node) -> None:
        """Nothing: what remains is the overhead."""


class NativeKernel(SimpleDelegateKernel):
    """Runs the replaced node's own compiled kernel."""

    def init(self, context: DelegateContext, params: object) -> None:
        (self._replaced,) = params.nodes_to_replace
        self._node, self._registration = context.node_and_registration(self._replaced)

    def prepare(self, context: Context, node: Node) -> Sequence[KernelCall] | None:
        return self._registration.prepare(context, self._node)


class Chain(SimpleDelegate):
    def __init__(self, kernel: type[SimpleDelegateKernel]) -> None:
        super().__init__(EVERY_OTHER)
        self._make = kernel

    def is_node_supported(self, context: DelegateContext, node: Node, registration: Registration) -> bool:
        return True

    def create_kernel(self) -> SimpleDelegateKernel:
        return self._make()


def chain() -> bytes:
    model = tflite.ModelT(
        version=3,
        operator_codes=[
            operator_code(tflite.BuiltinOperator.NEG),
        ],
        buffers=[tflite.BufferT()],
        subgraphs=[
            tflite.SubGraphT(
                tensors=[
                    tflite.TensorT(shape=[4], type=0, buffer=0, name=f"t{n}") for n in range(LENGTH + 1)
                ],
                operators=[
                    tflite.OperatorT(opcode_index=0, inputs=[n], outputs=[n + 1]) for n in range(LENGTH)
                ],
                inputs=[0],
                outputs=[LENGTH],
            )
        ],
    )
    return tflite.pack(model)


def invoke_ns(delegates: list[Delegate]) -> float:
    interpreter = Interpreter(model_content=chain(), experimental_delegates=delegates)
    interpreter.allocate_tensors()
    return best_ns(interpreter.invoke, 200)


def best_ns(function: Callable[[], object], calls: int, rounds: int = 15) -> float:
    times = []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            function()
        times.append((time.perf_counter_ns() - begin) / calls)
    return min(times)


def random_plan(count: int) -> tuple[list[PlanNode], set[int]]:
    """Nodes of two operands each, one in three chosen."""
    choose = random.Random(count)
    plan = [
        PlanNode(n, (choose.randrange(max(0, n - 50), n + 1), choose.randrange(n + 1)), (n + 1,))
        for n in range(count)
    ]
    return plan, {n for n in range(count) if choose.random() < 1 / 3}


def main() -> None:
    print("partitioning, ms")
    for count in (1_000, 10_000, 100_000):
        plan, chosen = random_plan(count)
        for mode in PartitionMode:
            subsets = partition(plan, [count], chosen, mode=mode)
            time_ms = best_ns(lambda: partition(plan, [count], chosen, mode=mode), 1, 3) / 1e6  # noqa: B023
            print(f"{count:>8} nodes, {mode.value:<15} {time_ms:8.1f}  ({len(subsets)} subsets)")
    plain = invoke_ns([])
    print(f"chain of {LENGTH} NEG, ns for an invoke: {plain:.0f}")
    for name, kernel in (("Python", PythonKernel), ("native", NativeKernel)):
        taken = invoke_ns([Chain(kernel)])
        partitions = len(EVERY_OTHER.allow_nodes or ())
        each = (taken - plain) / partitions
        print(f"{name} delegate, ns more for each of {partitions} partitions: {each:.1f}")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
