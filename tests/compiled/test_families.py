"""The table of kernel families: each kernel of each module is in one of them."""

import subprocess
import sys
from importlib import import_module

from numlite.kernels.compiled.driver.kernel_source import KernelSources
from numlite.kernels.compiled.driver.sources import _FOLDER
from numlite.kernels.compiled.families import all_families


def test_each_kernel_is_in_one_family() -> None:
    cut: dict[str, list[str]] = {}
    for family in all_families().values():
        assert family.sources(), family
        cut.setdefault(family.module, []).extend(family.sources())
    for module, names in cut.items():
        kernels = import_module(f"numlite.kernels.compiled.{module}").kernels
        assert isinstance(kernels, KernelSources)
        assert sorted(names) == sorted(kernels), module


def test_each_module_with_kernels_is_in_the_table() -> None:
    from pathlib import Path

    listed = {family.module for family in all_families().values()}
    for path in Path(_FOLDER).rglob("*.py"):
        module = ".".join(path.relative_to(_FOLDER).with_suffix("").parts)
        has_kernels = "\nkernels = " in path.read_text(encoding="utf-8")
        assert has_kernels == (module in listed), module


def test_a_start_reads_the_table_of_elements_only_when_it_is_asked() -> None:
    program = """
import sys
from numlite.kernels.compiled.families import FAMILIES, Family
print(FAMILIES["reshape"], "numlite.kernels.element_functions" in sys.modules)
print(FAMILIES["cast"].module, "numlite.kernels.element_functions" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [
        "Family(module='strided_copy', kernels='flat_copy') False",
        "element_kernels True",
    ], done.stderr
