"""Opening plugins that register ops and kernels. Each opens in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numlite.kernels.plugin.elf_symbols import read_symbols, wants
from numlite.kernels.plugin.library import check_file
from numlite.lite.errors import PluginError

from ...optimizers.c_plugins import compiled

_OPEN = """
import json, sys
from numlite.kernels.plugin.library import PluginLibrary
from numlite.kernels.plugin.shim import shim
from numlite.lite.errors import PluginError
try:
    plugin = PluginLibrary(sys.argv[1])
except PluginError as error:
    print(json.dumps({"error": str(error)}))
else:
    ops = [(op.name, [attr.type for attr in op.attr]) for op in plugin.ops]
    kernels = [(k.name, k.op, k.device, k.priority, k.types) for k in plugin.kernels]
    alive = sum(shim().live().values()) + len(plugin.host.handles)
    print(json.dumps({"ops": ops, "kernels": kernels, "alive": alive}))
"""


def opened(path: str) -> tuple[dict[str, Any], str]:
    """What a process that opens the plugin finds, and what the plugin wrote on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, path], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout), done.stderr


def test_ops_and_kernels_are_registered() -> None:
    found, errors = opened(compiled("kernels"))
    assert found == {
        "ops": [["TestScale", ["type", "list(float)"]]],
        "kernels": [["TestScaleKernel", "TestScale", "CPU", 7, {"T": [1]}]],
        "alive": 0,
    }
    assert errors == ""


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        ("specification", "op: op 'TestScale': attribute: allowed types must be TensorFlow's, got ['flat']"),
        ("type", "type: kernel 'TestScale': type must be TensorFlow's, got 999"),
        ("compute", "kernel: kernel 'TestScaleKernel': it must have a compute function, got null"),
    ],
)
def test_a_wrong_registration_is_a_status(variant: str, text: str) -> None:
    found, errors = opened(compiled("kernels", variant))
    assert text in errors and "error" not in found and found["alive"] == 0


def test_a_function_that_is_not_built_is_named_when_it_is_called() -> None:
    found, _ = opened(compiled("kernels", "unbuilt"))
    assert "must do without TF_ShapeInferenceContextDim, which is not built" in found["error"]


def test_symbols_are_those_of_the_file() -> None:
    found = read_symbols(compiled("kernels"))
    assert "TF_InitKernel" in found.given
    assert {"TF_NewStatus", "TF_RegisterOpDefinition"} <= set(found.wanted)
    assert wants(compiled("kernels", "unbuilt")).functions == ("TF_ShapeInferenceContextDim",)


def written(folder: Path, text: str) -> str:
    """A library of this source."""
    source = folder / "plugin.c"
    source.write_text(text)
    path = str(folder / "plugin.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, str(source)], check=True, capture_output=True)
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "void TF_InitGraphPlugin(void) {}",
            "got TF_InitGraphPlugin alone: that is the older form of RFC 318",
        ),
        ("void SE_InitPlugin(void) {}", "got SE_InitPlugin alone, which is not called here"),
        ("int nothing;", "it must export TF_InitGraph or TF_InitKernel, got neither"),
        (
            "void _ZN10tensorflow5GraphEv(void); void TF_InitGraph(void) { _ZN10tensorflow5GraphEv(); }",
            "got 1 C++ symbols of TensorFlow's own libraries (_ZN10tensorflow5GraphEv ...)",
        ),
    ],
)
def test_what_is_no_plugin_is_told_without_opening_it(tmp_path: Path, text: str, message: str) -> None:
    compiled("kernels")  # skips where there is no compiler
    with pytest.raises(PluginError) as caught:
        check_file(written(tmp_path, text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must be a shared library (ELF), got b''"),
        (b"#!/bin/sh\n", "must be a shared library (ELF), got b'#!/b'"),
        (b"\x7fELF\x01\x01" + bytes(80), "must be ELF of 64 bits"),
        (b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xb7\x00" + bytes(60), "got one for AArch64"),
        (b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\x3e\x00" + bytes(60), "must be a whole ELF file"),
    ],
)
def test_files_that_are_no_libraries(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "plugin.so"
    path.write_bytes(content)
    with pytest.raises(PluginError) as caught:
        check_file(str(path))
    assert message in str(caught.value)


def test_damaged_libraries_are_told(tmp_path: Path) -> None:
    whole = Path(compiled("kernels")).read_bytes()
    path = tmp_path / "plugin.so"
    for at in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) * 9 + whole[at + 9 :])
        try:
            check_file(str(path))
        except PluginError as error:
            assert str(path) in str(error)
        path.write_bytes(whole[:at])
        try:
            check_file(str(path))
        except PluginError as error:
            assert str(path) in str(error)


def test_a_process_with_tensorflow_refuses() -> None:
    code = (
        "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow')\n"
        "from numlite.kernels.plugin.shim import shim\n"
        "try: shim()\nexcept Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("PluginError plugin: the process must have no TensorFlow of its own")
    assert "isolation='process'" in done.stdout
