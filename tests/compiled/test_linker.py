"""The linker: what LLVM emits runs once it is linked and loaded."""

import ctypes
import struct
from itertools import pairwise

import llvmlite.binding as llvm
import pytest
from numlite.kernels.compiled.driver.image import uses_shared_objects
from numlite.kernels.compiled.driver.linker import aarch64, elf, x86_64
from numlite.kernels.compiled.driver.linker.elf import LinkError
from numlite.kernels.compiled.driver.linker.object_file import read_objects
from numlite.kernels.compiled.driver.linker.shared_object import shared_object
from numlite.kernels.compiled.language.host import machine

runs_here = pytest.mark.skipif(not uses_shared_objects(), reason="shared objects of this linker are Linux's")

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


MACHINES = ["x86_64", "aarch64"]


def compile_object(text: str, opt: int = 2, arch: str = "") -> bytes:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = f"{arch or machine()}-unknown-linux-gnu"
    made = llvm.Target.from_triple(triple).create_target_machine(opt=opt, reloc="pic", codemodel="small")
    module = llvm.parse_assembly(text)
    module.triple = triple
    return made.emit_object(module)


@pytest.fixture(params=[0, 2], ids=["O0", "O2"])
def library(request: pytest.FixtureRequest, tmp_path) -> ctypes.CDLL:
    image = shared_object([compile_object(MODULE, request.param)], EXPORTS, ["libm.so.6"])
    path = tmp_path / "linked.bin"
    path.write_bytes(image + b"anything may follow")
    return ctypes.CDLL(str(path))


def int64_function(library: ctypes.CDLL, name: str):
    function = library[name]
    function.restype = ctypes.c_int64
    return lambda *values: function(*map(ctypes.c_int64, values))


@runs_here
def test_constants(library: ctypes.CDLL) -> None:
    assert [int64_function(library, "t_constant")(i) for i in range(3)] == [10, 20, 30]


@runs_here
def test_pointers_in_data(library: ctypes.CDLL) -> None:
    call = int64_function(library, "t_pointer")
    assert (call(0, 21), call(1, 21)) == (42, -21)


@runs_here
def test_variables(library: ctypes.CDLL) -> None:
    add = int64_function(library, "t_variable")
    assert (add(1), add(10)) == (6, 16)


@runs_here
def test_imports(library: ctypes.CDLL) -> None:
    function = library["t_import"]
    function.restype, function.argtypes = ctypes.c_double, (ctypes.c_double,)
    assert function(0.0) == 0.125
    assert int64_function(library, "t_two_imports")(-3) == 3


@runs_here
def test_the_address_of_an_import(library: ctypes.CDLL) -> None:
    function = library["t_address"]
    function.restype = ctypes.c_void_p
    assert function() == ctypes.cast(ctypes.CDLL(None).labs, ctypes.c_void_p).value


@runs_here
def test_jump_tables(library: ctypes.CDLL) -> None:
    assert [int64_function(library, "t_switch")(i) for i in range(6)] == [10, -5, 7, 16, -9, -1]


@runs_here
def test_only_exports_are_visible(library: ctypes.CDLL) -> None:
    with pytest.raises(AttributeError):
        _ = library["twice"]


@runs_here
def test_several_objects_and_texts(tmp_path) -> None:
    """Each has its own local names; what both import is one."""
    other = MODULE.replace("@t_", "@u_").replace("mul i64 %x, 2", "mul i64 %x, 3")
    names = [*EXPORTS, *(name.replace("t_", "u_", 1) for name in EXPORTS)]
    objects = [compile_object(MODULE), compile_object(other)]
    image = shared_object(objects, names, ["libm.so.6"], texts={"about": b"two objects\0"})
    path = tmp_path / "linked.bin"
    path.write_bytes(image)
    library = ctypes.CDLL(str(path))
    assert [int64_function(library, f"{k}_pointer")(0, 21) for k in "tu"] == [42, 63]
    assert [int64_function(library, f"{k}_variable")(10) for k in "tut"] == [15, 15, 25]
    assert ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, "about"))) == b"two objects"
    assert sorted(read_objects(objects).imports) == ["labs", "sin"]


@runs_here
def test_every_export_is_found_among_many(tmp_path) -> None:
    count = 300
    text = "\n".join(f"define i64 @f_{n}() {{ ret i64 {n} }}" for n in range(count))
    path = tmp_path / "linked.bin"
    path.write_bytes(shared_object([compile_object(text)], [f"f_{n}" for n in range(count)]))
    library = ctypes.CDLL(str(path))
    assert [int64_function(library, f"f_{n}")() for n in range(count)] == list(range(count))


@pytest.mark.parametrize("arch", MACHINES)
def test_segments_fit_pages_of_every_size(arch: str) -> None:
    """Offsets and addresses agree modulo the page, and no page is in two segments."""
    image = shared_object([compile_object(MODULE, arch=arch)], EXPORTS)
    page = {"x86_64": 4096, "aarch64": 65536}[arch]
    loaded = [segment for segment in elf.segments(image) if segment[0] == elf.PT_LOAD]
    assert [segment[7] for segment in loaded] == [page] * 3
    assert all(address % page == offset % page for _, _, offset, address, *_ in loaded)
    pages = [range(s[3] // page, (s[3] + s[6] - 1) // page + 1) for s in loaded]
    assert all(one.stop <= other.start for one, other in pairwise(pages))
    assert len(image) < 4096 + len(compile_object(MODULE, arch=arch))


@pytest.mark.parametrize("arch", MACHINES)
def test_what_is_linked_is_read_back(arch: str) -> None:
    objects = [compile_object(MODULE, arch=arch)]
    image = shared_object(objects, EXPORTS, ["libm.so.6"], soname="libme.so")
    start, end = elf.code(image)
    exported = dict(elf.exports(image))
    assert sorted(exported) == sorted(EXPORTS) and all(start <= at < end for at in exported.values())
    entries = elf.dynamic_entries(image)
    names = [
        elf.text_at(image, entries[elf.DT_STRTAB] + entries[tag]) for tag in (elf.DT_NEEDED, elf.DT_SONAME)
    ]
    assert names == ["libm.so.6", "libme.so"]
    assert read_objects(objects).machine == {"x86_64": elf.X86_64, "aarch64": elf.AARCH64}[arch]


def address_of(word: int, load: int, here: int) -> int:
    """Where adrp and the load or addition behind it lead."""
    pages = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
    pages -= (pages >> 20) << 21
    shift = load >> 30 if load & 0x3B000000 == 0x39000000 else 0
    return (here & ~0xFFF) + (pages << 12) + ((load >> 10 & 0xFFF) << shift)


@pytest.mark.parametrize("target", [0x23048, 0x10540, 0x7FFFF008])
def test_aarch64_addresses(target: int) -> None:
    here = 0x3000
    code = bytearray(struct.pack("<2I", 0x90000010, 0xF9400211))
    aarch64.MACHINE.patch(code, 0, aarch64.R_ADR_PREL_PG_HI21, target, here)
    aarch64.MACHINE.patch(code, 4, aarch64.R_LDST64_ABS_LO12_NC, target, here)
    assert address_of(*struct.unpack("<2I", code), here) == target
    jump = struct.unpack("<4I", aarch64.MACHINE.jump(target, here))
    assert address_of(jump[0], jump[1], here) == target
    assert len(aarch64.MACHINE.jump(target, here)) == aarch64.MACHINE.jump_bytes


@pytest.mark.parametrize("distance", [-(1 << 27), -4, 0, (1 << 27) - 4])
def test_aarch64_calls(distance: int) -> None:
    code = bytearray(struct.pack("<I", 0x94000000))
    aarch64.MACHINE.patch(code, 0, aarch64.R_CALL26, (1 << 30) + distance, 1 << 30)
    (word,) = struct.unpack("<I", code)
    assert word >> 26 == 0x25 and (word & 0x3FFFFFF) * 4 == distance & 0xFFFFFFC


REFUSED = {
    "a call too far": (aarch64, aarch64.R_CALL26, 1 << 27),
    "4 GiB": (aarch64, aarch64.R_ADR_PREL_PG_HI21, 1 << 32),
    "4 GiB to the table": (aarch64, aarch64.R_ADR_GOT_PAGE, -(1 << 32) - 4096),
    "an odd address": (aarch64, aarch64.R_LDST128_ABS_LO12_NC, 8),
    "a distance of 32 bits": (aarch64, aarch64.R_PREL32, 1 << 31),
    "a kind of ARM's that is not known": (aarch64, 999, 0),
    "2 GiB": (x86_64, x86_64.R_PC32, 1 << 31),
    "a kind of x86's that is not known": (x86_64, 19, 0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_reached_or_is_not_known_is_refused(name: str) -> None:
    machine_of, kind, distance = REFUSED[name]
    here = 1 << 33
    with pytest.raises(LinkError, match=f"relocation {kind}"):
        machine_of.MACHINE.patch(bytearray(16), 0, kind, here + distance, here)


@pytest.mark.parametrize("arch", MACHINES)
def test_a_missing_export_is_refused(arch: str) -> None:
    with pytest.raises(LinkError, match="nothing_of_the_kind"):
        shared_object([compile_object(MODULE, arch=arch)], ["nothing_of_the_kind"])


def test_an_export_of_two_objects_is_refused() -> None:
    with pytest.raises(LinkError, match="defined once, got more of t_switch"):
        shared_object([compile_object(MODULE)] * 2, ["t_switch"])


def test_objects_of_two_machines_are_refused() -> None:
    with pytest.raises(LinkError, match="one machine, got x86-64 and aarch64"):
        shared_object([compile_object(MODULE, arch=arch) for arch in MACHINES], EXPORTS)


@pytest.mark.parametrize("image", [b"\x7fELF\x02\x01\x01" + bytes(60), b"MZ" + bytes(100), b""])
def test_another_file_is_refused(image: bytes) -> None:
    with pytest.raises(LinkError, match="relocatable ELF"):
        shared_object([image], [])


@pytest.mark.parametrize("arch", MACHINES)
def test_thread_local_variables_are_refused(arch: str) -> None:
    text = "@t = thread_local global i64 1\ndefine i64 @f() { %r = load i64, ptr @t  ret i64 %r }"
    with pytest.raises(LinkError):
        shared_object([compile_object(text, arch=arch)], ["f"])


@pytest.mark.parametrize("arch", MACHINES)
def test_the_image_does_not_depend_on_the_run(arch: str) -> None:
    images = [shared_object([compile_object(MODULE, arch=arch)], EXPORTS) for _ in range(2)]
    assert images[0] == images[1]
