"""Fusions of the remapper, and what is left alone."""

from __future__ import annotations

import pytest
from numlite.converter.ir import parse_module, print_module, verify
from numlite.converter.transforms import transform

from .file_check import file_check

CPU = 'device("/job:localhost/replica:0/task:0/device:CPU:0")'
F = "tensor<2x2xf32>"


def remapped(body: str, **options: object) -> str:
    text = f"""tfg.func @f(%x: {F} {{tfg.name = "x"}}, %w: {F} {{tfg.name = "w"}},
                           %b: tensor<2xf32> {{tfg.name = "b"}}) {{
      {body}
      return
    }}"""
    module = parse_module(text)
    verify(module)
    transform("tfg-remapper").run(module, **options)
    verify(module)
    return print_module(module)


def matmul(device: str = CPU, more: str = "") -> str:
    return f"""
      %m, %cm = MatMul(%x, %w) [%b.ctl] {device} name("m") {{T = f32, transpose_b = true}}
        : ({F}, {F}) -> ({F})
      %d, %cd = BiasAdd(%m, %b) {device} name("d") {{T = f32}} : ({F}, tensor<2xf32>) -> ({F})
      %y, %cy = Relu(%d) {device} name("y") {{T = f32}} : ({F}) -> ({F})
      {more}"""


def test_all_that_the_nodes_said_is_in_the_fused_one() -> None:
    printed = remapped(matmul())
    y = 'CHECK: _FusedMatMul(%x, %w, %b) [%b.ctl] device({{.*}}) name("y") {T = f32'
    file_check(printed, f'{y}\nCHECK-SAME: fused_ops = ["BiasAdd", "Relu"]\nCHECK-SAME: transpose_b = true')


def test_what_is_fused_is_dropped_by_pruning() -> None:
    head = f"tfg.func @f(%x: {F}, %w: {F}, %b: tensor<2xf32>) -> ({F})"
    module = parse_module(f"{head} {{ {matmul()} return(%y) : {F} }}")
    for name in ("tfg-remapper", "canonicalize"):
        transform(name).run(module)
    verify(module)
    assert print_module(module).count("name(") == 1


UNCHANGED = {
    "without a device": matmul(device=""),
    "on another device": matmul(device='device("/device:TPU:0")'),
    "of a product that others use": matmul(
        more=f'%z, %cz = Neg(%m) {CPU} name("z") {{T = f32}} : ({F}) -> ({F})'
    ),
    "of a product that others wait for": matmul(more=f'%cz = NoOp [%cm] {CPU} name("z")'),
}


@pytest.mark.parametrize("body", UNCHANGED.values(), ids=UNCHANGED)
def test_no_fusion(body: str) -> None:
    assert "_Fused" not in remapped(body)


def test_swish_needs_its_patterns_asked_for() -> None:
    body = f"""
      %s, %cs = Sigmoid(%x) {CPU} name("s") {{T = f32}} : ({F}) -> ({F})
      %y, %cy = Mul(%s, %x) {CPU} name("y") {{T = f32}} : ({F}, {F}) -> ({F})"""
    assert "_MklSwish" not in remapped(body)
    assert "_MklSwish(%x)" in remapped(body, enable_onednn_patterns=True)


def test_numbers_that_are_written_in_a_form_of_their_own_are_not_hashed_as_numbers() -> None:
    body = f"""
      %n, %cn = Const {CPU} name("n") {{dtype = i32, value = dense<1> : tensor<i32>}} : () -> (tensor<i32>)
      %s, %cs = AsString(%n) {CPU} name("s") {{T = i32WIDTH}} : (tensor<i32>) -> (tensor<!tf_type.string>)
      %y, %cy = StringToHashBucketFast(%s) {CPU} name("y") {{num_buckets = 9}}
        : (tensor<!tf_type.string>) -> (tensor<i64>)"""
    assert "_TensorToHashBucketFast(%Const)" in remapped(body.replace("WIDTH", ""))
    assert "_TensorToHashBucketFast" not in remapped(body.replace("WIDTH", ", width = 4"))
