"""The linker: what LLVM emits runs once it is linked and loaded."""

import ctypes
import sys

import llvmlite.binding as llvm
import pytest
from numlite.kernels.compiled.driver.elf import LinkError
from numlite.kernels.compiled.driver.image import uses_shared_objects
from numlite.kernels.compiled.driver.linker import shared_object

pytestmark = pytest.mark.skipif(not uses_shared_objects(), reason="this linker is for x86-64 Linux")

MODULE = """
@table = internal constant [3 x i64] [i64 10, i64 20, i64 30]
@functions = internal constant [2 x ptr] [ptr @twice, ptr @negative]
@counter = internal global i64 5
@zeros = internal global [100 x i64] zeroinitializer
declare double @sin(double)
declare i64 @labs(i64)
define internal i64 @twice(i64 %x) noinline { %r = mul i64 %x, 2  ret i64 %r }
define internal i64 @negative(i64 %x) noinline { %r = sub i64 0, %x  ret i64 %r }
define i64 @t_constant(i64 %i) {
  %p = getelementptr [3 x i64], ptr @table, i64 0, i64 %i
  %r = load i64, ptr %p
  ret i64 %r
}
define i64 @t_pointer(i64 %i, i64 %x) {
  %p = getelementptr [2 x ptr], ptr @functions, i64 0, i64 %i
  %f = load ptr, ptr %p
  %r = call i64 %f(i64 %x)
  ret i64 %r
}
define i64 @t_variable(i64 %x) {
  %old = load i64, ptr @counter
  %new = add i64 %old, %x
  store i64 %new, ptr @counter
  %p = getelementptr [100 x i64], ptr @zeros, i64 0, i64 99
  %zero = load i64, ptr %p
  %r = add i64 %new, %zero
  ret i64 %r
}
define double @t_import(double %x) {
  %r = call double @sin(double %x)  %s = fadd double %r, 0.125  ret double %s }
define i64 @t_two_imports(i64 %x) { %r = call i64 @labs(i64 %x)  ret i64 %r }
define ptr @t_address() { ret ptr @labs }
define i64 @t_switch(i64 %x) {
  switch i64 %x, label %z [ i64 0, label %a i64 1, label %b i64 2, label %c i64 3, label %d i64 4, label %e ]
a: %ra = call i64 @twice(i64 5)  ret i64 %ra
b: %rb = call i64 @negative(i64 5)  ret i64 %rb
c: %rc = call i64 @labs(i64 -7)  ret i64 %rc
d: %rd = call i64 @twice(i64 8)  ret i64 %rd
e: %re = call i64 @negative(i64 9)  ret i64 %re
z: ret i64 -1
}
"""
EXPORTS = ["t_constant", "t_pointer", "t_variable", "t_import", "t_two_imports", "t_address", "t_switch"]


def compile_object(text: str, opt: int = 2) -> bytes:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    machine = target.create_target_machine(opt=opt, reloc="pic", codemodel="small")
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    return machine.emit_object(module)


@pytest.fixture(params=[0, 2], ids=["O0", "O2"])
def library(request: pytest.FixtureRequest, tmp_path) -> ctypes.CDLL:
    image = shared_object(compile_object(MODULE, request.param), EXPORTS, ["libm.so.6"])
    path = tmp_path / "linked.bin"
    path.write_bytes(image + b"anything may follow")
    return ctypes.CDLL(str(path))


def int64_function(library: ctypes.CDLL, name: str):
    function = library[name]
    function.restype = ctypes.c_int64
    return lambda *values: function(*map(ctypes.c_int64, values))


def test_constants(library: ctypes.CDLL) -> None:
    assert [int64_function(library, "t_constant")(i) for i in range(3)] == [10, 20, 30]


def test_pointers_in_data(library: ctypes.CDLL) -> None:
    call = int64_function(library, "t_pointer")
    assert (call(0, 21), call(1, 21)) == (42, -21)


def test_variables(library: ctypes.CDLL) -> None:
    add = int64_function(library, "t_variable")
    assert (add(1), add(10)) == (6, 16)


def test_imports(library: ctypes.CDLL) -> None:
    function = library["t_import"]
    function.restype, function.argtypes = ctypes.c_double, (ctypes.c_double,)
    assert function(0.0) == 0.125
    assert int64_function(library, "t_two_imports")(-3) == 3


def test_the_address_of_an_import(library: ctypes.CDLL) -> None:
    function = library["t_address"]
    function.restype = ctypes.c_void_p
    assert function() == ctypes.cast(ctypes.CDLL(None).labs, ctypes.c_void_p).value


def test_jump_tables(library: ctypes.CDLL) -> None:
    assert [int64_function(library, "t_switch")(i) for i in range(6)] == [10, -5, 7, 16, -9, -1]


def test_only_exports_are_visible(library: ctypes.CDLL) -> None:
    with pytest.raises(AttributeError):
        _ = library["twice"]


def test_a_missing_export_is_refused() -> None:
    with pytest.raises(LinkError, match="nothing_of_the_kind"):
        shared_object(compile_object(MODULE), ["nothing_of_the_kind"])


@pytest.mark.parametrize("image", [b"\x7fELF\x02\x01\x01" + bytes(60), b"MZ" + bytes(100)])
def test_another_file_is_refused(image: bytes) -> None:
    with pytest.raises(LinkError, match="relocatable ELF"):
        shared_object(image, [])


def test_thread_local_variables_are_refused() -> None:
    text = "@t = thread_local global i64 1\ndefine i64 @f() { %r = load i64, ptr @t  ret i64 %r }"
    with pytest.raises(LinkError):
        shared_object(compile_object(text), ["f"])


def test_the_image_does_not_depend_on_the_run() -> None:
    images = [shared_object(compile_object(MODULE), EXPORTS) for _ in range(2)]
    assert images[0] == images[1]
    assert sys.byteorder == "little"
