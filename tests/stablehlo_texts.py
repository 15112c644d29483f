"""Programs that JAX does not write, in StableHLO's text, and what they compute: for tests/record_jax.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.jax_networks import floats

_NORMS = """
func.func @main(%x: tensor<4x5x3xf32>, %s: tensor<3xf32>, %o: tensor<3xf32>, %g: tensor<4x5x3xf32>)
    -> (tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %y, %m, %v = "stablehlo.batch_norm_training"(%x, %s, %o) {epsilon = 0.01 : f32, feature_index = 2 : i64}
    : (tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %a, %b, %c = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {epsilon = 0.01 : f32, feature_index = 2 : i64}
    : (tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x5x3xf32>)
      -> (tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %y, %m, %v, %a, %b, %c
    : tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x5x3xf32>, tensor<3xf32>, tensor<3xf32>
}
"""
_RNG = """
func.func @main(%low: tensor<f32>, %high: tensor<f32>) -> tensor<4xf32> {
  %n = stablehlo.constant dense<[4]> : tensor<1xi64>
  %y = stablehlo.rng %low, %high, %n, distribution = UNIFORM
    : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
_ONE_DEVICE = """
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<ui32>) {
  %a = "stablehlo.map"(%x, %y) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %r = stablehlo.multiply %p, %two : tensor<f32>
    %s = stablehlo.maximum %r, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "stablehlo.all_reduce"(%a) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "stablehlo.all_gather"(%b) {all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>}
    : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = "stablehlo.collective_permute"(%c) {source_target_pairs = dense<0> : tensor<1x2xi64>}
    : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = "stablehlo.collective_permute"(%c) {source_target_pairs = dense<> : tensor<0x2xi64>}
    : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %f = stablehlo.partition_id : tensor<ui32>
  return %d, %e, %f : tensor<2x3xf32>, tensor<2x3xf32>, tensor<ui32>
}
"""


def _one_device(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    return [np.maximum(x * 2, y), np.zeros_like(x), np.uint32(0)]


def _norms(x: np.ndarray, scale: np.ndarray, offset: np.ndarray, given: np.ndarray) -> list[np.ndarray]:
    x, scale, offset, given = (each.astype(np.float64) for each in (x, scale, offset, given))
    mean, variance = x.mean((0, 1)), x.var((0, 1))
    normal = (x - mean) / np.sqrt(variance + 0.01)
    of_scale, of_offset = (given * normal).sum((0, 1)), given.sum((0, 1))
    own = given - of_offset / 20 - normal * of_scale / 20
    own = own * scale / np.sqrt(variance + 0.01)
    found = (normal * scale + offset, mean, variance, own, of_scale, of_offset)
    return [each.astype(np.float32) for each in found]


# Text, what it computes, and arguments.
TEXTS: dict[str, Callable[[], tuple[str, Callable, list[np.ndarray]]]] = {
    "training_norms": lambda: (_NORMS, _norms, [floats(4, 5, 3), floats(3), floats(3), floats(4, 5, 3)]),
    "one_device": lambda: (_ONE_DEVICE, _one_device, [floats(2, 3), floats(2, 3)]),
    "rng": lambda: (_RNG, lambda low, high: [], [np.float32(0), np.float32(1)]),
}
