"""Compiles the test plugins, where there is a compiler."""

from __future__ import annotations

import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

SOURCES = Path(__file__).parent / "plugins"
_folder = TemporaryDirectory(prefix="numlite-test-plugins-")


def compiled(name: str, variant: str = "", *flags: str) -> str:
    """Path of the plugin of that source, compiled once; skips where there is no compiler for it."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler (cc) to make the test plugin with")
    from numlite.kernels.compiled.driver.image import uses_shared_objects

    if not uses_shared_objects():
        pytest.skip("plugins are shared objects for Linux on x86-64")
    return _compiled(name, variant, flags)


@lru_cache(None)
def _compiled(name: str, variant: str, flags: tuple[str, ...]) -> str:
    path = Path(_folder.name) / f"{name}{variant and '_'}{variant}{len(flags) or ''}.so"
    define = [f'-DVARIANT="{variant}"'] if variant else []
    source = SOURCES / f"{name}.c"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(path), *define, *flags, str(source), "-lpthread"]
    subprocess.run(command, check=True, capture_output=True)
    return str(path)
