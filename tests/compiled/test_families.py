"""The table of kernel families: each kernel of each module is in one of them."""

from importlib import import_module

from numlite.kernels.compiled.driver.kernel_source import KernelSources
from numlite.kernels.compiled.driver.sources import _FOLDER
from numlite.kernels.compiled.families import FAMILIES


def test_each_kernel_is_in_one_family() -> None:
    cut: dict[str, list[str]] = {}
    for family in FAMILIES.values():
        assert family.sources(), family
        cut.setdefault(family.module, []).extend(family.sources())
    for module, names in cut.items():
        kernels = import_module(f"numlite.kernels.compiled.{module}").kernels
        assert isinstance(kernels, KernelSources)
        assert sorted(names) == sorted(kernels), module


def test_each_module_with_kernels_is_in_the_table() -> None:
    from pathlib import Path

    listed = {family.module for family in FAMILIES.values()}
    for path in Path(_FOLDER).rglob("*.py"):
        module = ".".join(path.relative_to(_FOLDER).with_suffix("").parts)
        has_kernels = "\nkernels = " in path.read_text(encoding="utf-8")
        assert has_kernels == (module in listed), module
