"""Time of rewriting by the number of nodes: conversion, and the transforms of TensorFlow graphs.

    python benchmarks/rewriting.py                    # 25 000 and 100 000 nodes
    python benchmarks/rewriting.py --nodes 10000 --only fan

A chain (each node behind the one before), a fan (all behind one), and many small patterns side by side.
The time for a node must not grow with their number.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.ir import import_graph_def
from numlite.converter.ir.module import Module
from numlite.converter.transforms import transform
from numlite.converter.transforms.graph_to_func import lift_graph_to_func
from numlite.schema.graph_def import GraphDef

STEPS = ("tfg-constant-folding", "tfg-cse", "canonicalize", "tfg-remapper", "tfg-toposort")


class Net(GraphBuilder):
    """A graph with an input and constants."""

    def __init__(self) -> None:
        super().__init__()
        self.x = self.placeholder("x", [4, 4])
        self.zero, self.two = (self.constant(f"c{n}", np.array(n, np.float32)) for n in (0, 2))

    def end(self, values: list[str]) -> GraphDef:
        """Sums the values up, in a tree."""
        level = 0
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            sums = [self.node("AddV2", f"s{level}_{i}", *pair) for i, pair in enumerate(pairs)]
            values, level = sums + values[len(sums) * 2 :], level + 1
        self.node("Identity", "y", values[0])
        return self.graph_def


def chain(count: int) -> GraphDef:
    """x * 2 + 0, then its sine, and so on."""
    net = Net()
    last = net.x
    for i in range(count // 3):
        last = net.node("Mul", f"m{i}", last, net.two)
        last = net.node("Sin", f"n{i}", net.node("AddV2", f"a{i}", last, net.zero))
    return net.end([last])


def fan(count: int) -> GraphDef:
    """Many users of one value, equal in pairs."""
    net = Net()
    numbers = [net.constant(f"k{i}", np.array(i, np.float32)) for i in range(count // 8)]
    made = [net.node("AddV2", f"n{i}", net.x, numbers[i // 2 % len(numbers)]) for i in range(count // 4)]
    return net.end([net.node("Mul", f"m{i}", value, net.two) for i, value in enumerate(made)])


def patterns(count: int) -> GraphDef:
    """Leaky rectifiers of negated values that are negated twice more, side by side."""
    net = Net()
    found = []
    for i in range(count // 7):
        x = net.node("Mul", f"x{i}", net.x, net.constant(f"k{i}", np.array(i + 2, np.float32)))
        x = net.node("Neg", f"o{i}", net.node("Neg", f"n{i}", x))
        found.append(net.node("Maximum", f"y{i}", x, net.node("Mul", f"m{i}", net.two, x)))
    return net.end(found)


SHAPES: dict[str, Callable[[int], GraphDef]] = {"chain": chain, "fan": fan, "patterns": patterns}


def transformed(graph: GraphDef) -> Module:
    module = import_graph_def(graph)
    lift_graph_to_func(module, feeds=["x"], fetches=["y"])
    for step in STEPS:
        transform(step).run(module)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=[25_000, 100_000])
    parser.add_argument("--only", choices=SHAPES, default="")
    settings = parser.parse_args()
    print(f"{'graph':10}{'nodes':>9}{'convert s':>11}{'us/node':>9}{'transform s':>13}{'us/node':>9}")
    for name, build in SHAPES.items():
        for count in settings.nodes if settings.only in ("", name) else ():
            graph = build(count)
            row = f"{name:10}{len(graph.node):9}"
            for step, width in ((convert_graph, 11), (transformed, 13)):
                start = time.process_time()
                step(graph)
                seconds = time.process_time() - start
                row += f"{seconds:{width}.2f}{seconds / len(graph.node) * 1e6:9.0f}"
            print(row, flush=True)


if __name__ == "__main__":
    main()
