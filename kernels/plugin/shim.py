"""The shim: the shared object that answers TF_* names, in a process without TensorFlow.

Each function is machine code of its own (native.py), or a jump through a table that callbacks fill. Plugins
find them because the shim is opened for all, before them, and because empty objects bear the names of the
libraries that they were linked against.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...lite.errors import PluginError, UnsupportedError
from ..compiled.driver.image import uses_shared_objects
from ..compiled.driver.ir_object import ir_object, object_path
from ..compiled.language.host import machine
from ..fallback.dtypes import numpy_dtype
from .functions import CALLBACKS, NATIVE, VIEWS
from .native import LIVE, STATUS_AND_BUFFER
from .native_context import TYPE_COUNT, context_ir
from .native_outputs import OUTPUT_FUNCTIONS
from .native_run import RUN
from .native_tensor import TENSOR

# What plugins name in their DT_NEEDED, by TensorFlow's version.
LIBRARIES = (
    "libtensorflow_framework.so.2",
    "libtensorflow_cc.so.2",
    "libtensorflow.so.2",
    "_pywrap_tensorflow_internal.so",
)
_P = ctypes.c_void_p
_SONAME = "libnumlite_plugin_api.so"
_TYPES = {"v": "void", "p": "ptr", "s": "ptr", "t": "ptr", "i": "i32", "z": "i64", "l": "i64", "b": "i8"}
# What every callback is once Python ends: destructors of plugins may run behind that.
_GONE = "numlite_gone"
_OWN = (
    _GONE,
    "numlite_live",
    "numlite_fill",
    "numlite_free",
    "numlite_share",
    "numlite_table",
    "numlite_arrays",
    "numlite_compute",
)

_TABLE = """
@nothing = internal constant [2 x i64] zeroinitializer
define ptr @numlite_gone() {{
  ret ptr null
}}
@table = internal global [{count} x ptr] zeroinitializer
define ptr @numlite_table() {{
  ret ptr @table
}}
"""
_JUMP = """
define {result} @{name}({parameters}) {{
  %place = getelementptr [{count} x ptr], ptr @table, i64 0, i64 {index}
  %function = load ptr, ptr %place
  {assigned}tail call {result} %function({parameters})
  ret {returned}
}}
"""
# The callback gives the address of the two words.
_VIEW = """
define {{ ptr, i64 }} @{name}(ptr %a0) {{
  %place = getelementptr [{count} x ptr], ptr @table, i64 0, i64 {index}
  %function = load ptr, ptr %place
  %given = call ptr %function(ptr %a0)
  %none = icmp eq ptr %given, null
  %words = select i1 %none, ptr @nothing, ptr %given
  %view = load {{ ptr, i64 }}, ptr %words
  ret {{ ptr, i64 }} %view
}}
"""
# A function that is known by its name only says that it was called, and gives 0.
_STUBS = """
@called = internal global [{count} x i32] zeroinitializer
define ptr @numlite_called() {{
  ret ptr @called
}}
"""
_STUB = """
define ptr @{name}() {{
  %place = getelementptr [{count} x i32], ptr @called, i64 0, i64 {index}
  store i32 1, ptr %place
  ret ptr null
}}
"""


def shim_ir() -> str:
    """The whole shim in LLVM's language."""
    context = context_ir([_item_size(type) for type in range(TYPE_COUNT)])
    parts = [STATUS_AND_BUFFER, TENSOR, context, OUTPUT_FUNCTIONS, RUN, _TABLE.format(count=len(CALLBACKS))]
    for index, (name, signature) in enumerate(CALLBACKS.items()):
        values = {"name": name, "index": index, "count": len(CALLBACKS)}
        if name in VIEWS:
            parts.append(_VIEW.format(**values))
            continue
        result = _TYPES[signature[0]]
        values["parameters"] = ", ".join(f"{_TYPES[kind]} %a{i}" for i, kind in enumerate(signature[1:]))
        values["assigned"] = "" if result == "void" else "%result = "
        values["returned"] = "void" if result == "void" else f"{result} %result"
        parts.append(_JUMP.format(result=result, **values))
    return "".join(parts)


def _item_size(type: int) -> int:
    """Bytes of an element, 0 where it is no number."""
    try:
        dtype = numpy_dtype(type)
    except UnsupportedError:
        return 0
    return 0 if dtype.hasobject else dtype.itemsize


class Shim:
    """The open shim; there is one in a process, and it stays."""

    def __init__(self) -> None:
        """PluginError where TensorFlow's own functions would answer."""
        check_machine()
        check_no_tensorflow()
        check_array_layout()
        exports = [*NATIVE, *CALLBACKS, *_OWN]
        self.is_gone = False
        self._functions: dict[str, Any] = {}
        self._library = _opened("plugin_api", shim_ir(), exports, _SONAME)
        for name in LIBRARIES:
            mark = "numlite_" + "".join(filter(str.isalnum, name))
            _opened("plugin_api", f"define void @{mark}() {{\n  ret void\n}}", [mark], name)
        self._table = (ctypes.c_void_p * len(CALLBACKS)).from_address(
            self.call("numlite_table", ctypes.c_void_p)
        )
        self._library["numlite_arrays"](ctypes.py_object(np.ndarray))
        address = ctypes.cast(self._library["numlite_compute"], ctypes.c_void_p).value
        self.compute = ctypes.PYFUNCTYPE(ctypes.c_int64, _P, ctypes.py_object, ctypes.py_object, _P, _P)(
            address or 0
        )
        atexit.register(self._end)
        self._live = (ctypes.c_int64 * len(LIVE)).from_address(self.call("numlite_live", ctypes.c_void_p))
        self._callbacks: dict[str, object] = {}

    def call(self, name: str, result: type | None, *arguments: object) -> int:
        """Call a function of the shim, which always has the same result; integers are given as ctypes has
        them.
        """
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = self._library[name]
            function.restype = result
        answer: int | None = function(*arguments)
        return answer or 0

    def _end(self) -> None:
        """Python ends: nothing of it answers any more."""
        self.is_gone = True
        nothing = ctypes.cast(self._library[_GONE], ctypes.c_void_p).value
        for place in range(len(CALLBACKS)):
            self._table[place] = nothing

    def set_callback(self, name: str, callback: ctypes._CFuncPtr) -> None:  # type: ignore[name-defined]
        """What answers the function from now on; it is kept, because the plugin may call it at any time."""
        self._callbacks[name] = callback
        self._table[list(CALLBACKS).index(name)] = ctypes.cast(callback, ctypes.c_void_p).value

    def live(self) -> dict[str, int]:
        """How many of each of the shim's own structs there are."""
        return dict(zip(LIVE, self._live, strict=True))


class Stubs:
    """Functions of TensorFlow's that are not built, for a plugin that may never call them."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._called = (ctypes.c_int32 * len(names))()
        if not names:
            return
        parts = [_STUBS.format(count=len(names))]
        parts += [_STUB.format(name=name, index=i, count=len(names)) for i, name in enumerate(names)]
        soname = f"libnumlite_stubs_{len(_stub_objects)}.so"
        library = _opened("plugin_stubs", "".join(parts), [*names, "numlite_called"], soname)
        _stub_objects.append(library)
        library.numlite_called.restype = ctypes.c_void_p
        self._called = type(self._called).from_address(library.numlite_called())

    def called(self) -> list[str]:
        """Those that have been called since this was asked last."""
        found = [name for name, called in zip(self._names, self._called, strict=True) if called]
        ctypes.memset(self._called, 0, ctypes.sizeof(self._called))
        return found


_stub_objects: list[ctypes.CDLL] = []


@cache
def shim() -> Shim:
    """The process's shim, opened when it is first asked for."""
    return Shim()


def check_machine() -> None:
    """UnsupportedError where no shim can be made."""
    if not uses_shared_objects() or machine() != "x86_64":
        raise UnsupportedError(
            "plugins: shared libraries made for TensorFlow need Linux on x86-64, got "
            f"{sys.platform} on {machine()}; a plugin in Python runs here"
        )


def check_array_layout() -> None:
    """UnsupportedError where arrays and lists do not have their fields where native_run.py reads them."""
    array = np.zeros((2, 3), np.float32)
    held, known = [array], object.__basicsize__ == 16
    if known:
        words = (ctypes.c_int64 * 9).from_address(id(array))
        low = [word & 0xFFFFFFFF for word in words]
        wanted = id(np.ndarray), array.ctypes.data, array.ndim, array.flags.num
        known = (words[1], words[2], low[3], low[8]) == wanted
        known = known and list((ctypes.c_int64 * 2).from_address(words[4])) == [2, 3]
        items = (ctypes.c_int64 * 4).from_address(id(held))[3]
        known = known and ctypes.c_int64.from_address(items).value == id(array)
    if not known:
        raise UnsupportedError(
            "plugins: kernels read arrays where CPython and NumPy have their fields, got others in NumPy "
            f"{np.__version__} on {sys.version.split()[0]}; a plugin in Python runs here"
        )


def check_no_tensorflow() -> None:
    """PluginError where TensorFlow is in the process: plugins would get its functions, not ours."""
    found = "tensorflow" if "tensorflow" in sys.modules else _mapped(LIBRARIES)
    if found:
        raise PluginError(
            f"plugin: the process must have no TensorFlow of its own, got {found!r}; isolation='process' "
            "gives the plugin a process without it"
        )


def _mapped(names: Collection[str]) -> str:
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            paths = {
                line.split(maxsplit=5)[5].strip() for line in maps if line.count(" ") >= 5 and "/" in line
            }
    except OSError:
        return ""
    return next((path for path in sorted(paths) if os.path.basename(path) in names), "")


def _opened(name: str, ir: str, exports: Collection[str], soname: str) -> ctypes.CDLL:
    path = object_path(*ir_object(name, ir, exports, soname))
    return ctypes.CDLL(path, os.RTLD_NOW | os.RTLD_GLOBAL)
