"""Transforms of modules that break their ops' rules: a clear error or no change, never a crash."""

from __future__ import annotations

import random

import pytest
from numlite.converter.ir import Module, parse_module, print_module, verify
from numlite.converter.ir.attributes import UNIT, Attribute
from numlite.converter.ir.node import GET_RESULT, TERMINATORS, Node
from numlite.converter.ir.types import TensorType
from numlite.converter.transforms import TRANSFORMS
from numlite.converter.transforms.bodies import bodies
from numlite.lite.errors import ModelError, UnsupportedError

from .ir_texts import LIBRARY, LOOP, REGIONS
from .test_transforms import MERGED, RECURSIVE

CONVOLUTION = """
tfg.func @conv(%x: tensor<1x4x4x2xf32> {tfg.name = "x"}) -> (tensor<*xf32> {tfg.name = "y"}) {
  %w, %cw = Const name("w") {dtype = f32, value = dense<1.0> : tensor<1x1x2x4xf32>}
    : () -> (tensor<1x1x2x4xf32>)
  %b, %cb = Const name("b") {dtype = f32, value = dense<2.0> : tensor<4xf32>} : () -> (tensor<4xf32>)
  %s, %cs = Const name("s") {dtype = i32, value = dense<[1, 4, 4, 4]> : tensor<4xi32>}
    : () -> (tensor<4xi32>)
  %c, %cc = Conv2D(%x, %w) device("/device:CPU:0") name("c")
    {T = f32, strides = [1, 1, 1, 1], padding = "SAME"}
    : (tensor<1x4x4x2xf32>, tensor<1x1x2x4xf32>) -> (tensor<*xf32>)
  %d, %cd = BiasAdd(%c, %b) device("/device:CPU:0") name("d") {T = f32}
    : (tensor<*xf32>, tensor<4xf32>) -> (tensor<*xf32>)
  %e, %ce = Mul(%d, %b) name("e") {T = f32} : (tensor<*xf32>, tensor<4xf32>) -> (tensor<*xf32>)
  %f, %cf = Reshape(%e, %s) name("f") {T = f32} : (tensor<*xf32>, tensor<4xi32>) -> (tensor<*xf32>)
  %g, %cg = ConcatV2(%f, %f, %a) name("g") {N = 2, T = f32}
    : (tensor<*xf32>, tensor<*xf32>, tensor<i32>) -> (tensor<*xf32>)
  %a, %ca = Const name("a") {dtype = i32, value = dense<3> : tensor<i32>} : () -> (tensor<i32>)
  return(%g) : tensor<*xf32>
}
"""
TEXTS = [LOOP, LIBRARY, REGIONS, MERGED, RECURSIVE, CONVOLUTION]
ODD: list[Attribute] = [0, -7, 1 << 40, b"x", (), (b"a",), UNIT, 1.5, True, (1, 2, 3), (-1,)]


def mutated(text: str, seed: int) -> Module | None:
    """The module with a few changes; None when they make it invalid."""
    rng = random.Random(seed)
    module = parse_module(text)
    nodes = [node for body in bodies(module) for node in body.body.walk()]
    nodes = [node for node in nodes if node.op not in TERMINATORS and node.op != GET_RESULT]
    for _ in range(rng.randint(1, 3)):
        _mutate(rng.choice(nodes), nodes, rng)
    try:
        verify(module)
    except ModelError:
        return None
    return module


def _mutate(node: Node, nodes: list[Node], rng: random.Random) -> None:
    kind = rng.randrange(5)
    values = [value for other in nodes for value in other.results]
    if kind == 0 and node.operands:
        node.operands = node.operands[:-1]
    elif kind == 1 and node.attributes:
        name = rng.choice(sorted(node.attributes))
        node.attributes = {key: held for key, held in node.attributes.items() if key != name}
    elif kind == 2 and node.attributes:
        node.attributes = {**node.attributes, rng.choice(sorted(node.attributes)): rng.choice(ODD)}
    elif kind == 3 and node.operands and values:
        node.set_operand(rng.randrange(len(node.operands)), rng.choice(values))
    elif kind == 4 and node.results:
        value = rng.choice(node.results)
        if isinstance(value.type, TensorType):
            shape = rng.choice([(), (0,), (2, 3), None, (1 << 62, 1 << 62), (-1,)])
            value.type = TensorType(value.type.element, shape)


@pytest.mark.parametrize("name", [known.name for known in TRANSFORMS])
def test_mutants(name: str) -> None:
    run = next(known.run for known in TRANSFORMS if known.name == name)
    for text in TEXTS:
        for seed in range(40):
            module = mutated(text, seed)
            if module is None:
                continue
            try:
                run(module)
                print_module(module)
            except (ModelError, UnsupportedError) as error:
                assert str(error)
