"""Graphs in the text form that tests of the graph IR share."""

from __future__ import annotations

LOOP = """
tfg.graph #tf_type.version<producer = 1882, min_consumer = 12> {
  %Const, %ctl = Const name("start") {dtype = i32, value = dense<0> : tensor<i32>} : () -> (tensor<*xi32>)
  %Enter, %ctl_0 = Enter(%Const) [%ctl] device("/cpu:0") name("enter")
      {T = i32, frame_name = "f"} : (tensor<*xi32>) -> (tensor<*xi32>)
  %Merge:2, %ctl_1 = Merge(%Enter, %Next) name("merge") {N = 2 : i64, T = i32}
      : (tensor<*xi32>, tensor<*xi32>) -> (tensor<*xi32>, tensor<*xi32>)
  %Next, %ctl_2 = NextIteration(%Merge#0) name("next") {T = i32} : (tensor<*xi32>) -> (tensor<*xi32>)
  %ctl_3 = NoOp [%ctl_2, %ctl_1] name("end")
}
"""

# Every kind of attribute, a call of a function, and one generic function.
LIBRARY = """
module {
  tfg.graph #tf_type.version<producer = 3, min_consumer = 1, bad_consumers = [2, 2]> {
    %Zoo:2, %ctl = Zoo name("zoo") {
      _mlir_fulltype = #tf_type.full_type<array<tensor<var "T">, for_each<product, unset 0 : i64>>>,
      array = [1, 2], b = true, "odd key" = "a\\22b\\\\\\00\\FF", empty = [],
      f = #tf_type.func<@"od d", {T = f32, n = #tf_type.func<"", {}>}>, half = 0x7FC00000 : f32,
      i = -9223372036854775808, none, s = #tf_type.shape<-1x4"batch"x?>, star = #tf_type.shape<*>,
      p = #tf_type.placeholder<"T">, real = 1.500000e+00 : f32, t = !tf_type.f32ref,
      big = dense<1.0> : tensor<1099511627776xf32>, list = dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>,
      bools = dense<[true, false]> : tensor<2xi1>, words = dense<["a\\0A", ""]> : tensor<2x!tf_type.string>,
      complex = dense<[(1.0, -2.5), (0.1, 0.0)]> : tensor<2xcomplex<f64>>, no = dense<> : tensor<0x3xf32>,
      brain = dense<[1.0, 0x7F80]> : tensor<2xbf16>
    } : () -> (!tf_type.tensor, tensor<*x!tf_type.resource<tensor<?xf32>, tensor<2x!tf_type.string>>>)
    %Double, %ctl_0 = Double(%Placeholder) [%ctl] name("call") {} : (tensor<*xf32>) -> (tensor<*xf32>)
    %Placeholder, %ctl_1 = Placeholder name("x") {dtype = f32} : () -> (tensor<*xf32>)
  }
  tfg.func @Double(%x: tensor<*xf32> {tfg.name = "x"}) -> (tensor<*xf32> {tfg.name = "y"})
      attributes {description = "twice", is_stateful, tf._noinline = true} {
    %AddV2, %ctl = AddV2(%x, %x) [%x.ctl] name("sum") {T = f32}
        : (tensor<*xf32>, tensor<*xf32>) -> (tensor<*xf32>) loc(fused["sum@Outer", "add"])
    return(%AddV2) [%ctl {tfg.name = "done"}, %x.ctl {tfg.name = "ready"}] : tensor<*xf32>
  }
  tfg.func generic @Any(%x: !tf_type.tensor {tfg.name = "x", tfg.type_attr = "T"})
      -> (!tf_type.tensor {tfg.name = "y", tfg.type_attr = "T"})
      attributes {tfg.func_attrs = {T = {function_type = "type", minimum = 1 : i32}}} {
    %Mul, %ctl = Mul(%x, %x) name("m") {T = #tf_type.placeholder<"T">}
        : (!tf_type.tensor, !tf_type.tensor) -> (!tf_type.tensor)
    %get_result = get_result(%Mul) "z" : 0
    return(%get_result) : !tf_type.tensor
  }
}
"""

REGIONS = """
tfg.func @regions(%i: tensor<i32> {tfg.name = "i"}, %x: tensor<f32> {tfg.name = "x"},
                  %go: tensor<i1> {tfg.name = "go"}) -> (tensor<f32> {tfg.name = "y"}) {
  %IfRegion, %ctl = IfRegion %go [%x.ctl] then {
    %Neg, %ctl_n = Neg(%x) name("neg") {T = f32} : (tensor<f32>) -> (tensor<f32>)
    yield(%Neg) [%ctl_n] : tensor<f32>
  } else {
    yield(%x) : tensor<f32>
  } {_mlir_name = "if", then_attrs = {a = 1}} : (tensor<i1>) -> tensor<f32>
  %CaseRegion, %ctl_0 = CaseRegion %i {
    yield(%IfRegion) : tensor<f32>
  }, {
    yield(%x) : tensor<f32>
  } {region_attrs = [#tfg.region_attrs<{sym_name = "a"} [] [{}]>, #tfg.region_attrs<{} [] [{k}]>]}
    : (tensor<i32>) -> (tensor<f32>)
  %WhileRegion, %ctl_1 = WhileRegion(%CaseRegion) [%ctl] {
  ^bb0(%a: tensor<f32>, %c: !tf_type.control):
    %Less, %ctl_l = Less(%a, %x) [%c] name("less") {T = f32} : (tensor<f32>, tensor<f32>) -> (tensor<i1>)
    condition %Less : tensor<i1> (%a) [%ctl_l] : tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>, %c: !tf_type.control):
    yield(%a) [%c] : tensor<f32>
  } {parallel_iterations = 10 : i64} : (tensor<f32>) -> (tensor<f32>)
  %ForRegion, %ctl_2 = ForRegion(%WhileRegion) from %i to %i by %i {
  ^bb0(%k: tensor<i32>, %a: tensor<f32>, %kc: !tf_type.control, %ac: !tf_type.control):
    yield(%a) [%kc, %ac] : tensor<f32>
  } : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> (tensor<f32>)
  return(%ForRegion) : tensor<f32>
}
"""
