"""Puts into wheels what a checkout has not: the libraries of `numlite explore`, and packs.

`NUMLITE_WHEEL=manylinux2014_aarch64 python -m build --wheel` makes one with the packs of that machine, and
for its platforms only. All else stands in pyproject.toml.
"""

from __future__ import annotations

import os
import runpy
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

_ROOT = Path(__file__).resolve().parent
_LIBRARIES = runpy.run_path(str(_ROOT / "cli/page/libraries.py"))
_FOLDER = "cli/page/libraries"
_PLATFORMS = os.environ.get("NUMLITE_WHEEL", "")


def _ship(folder: Path) -> None:
    """Without them `numlite explore` fetches them when it is first used, or says what would help."""
    try:
        _LIBRARIES["ship"](folder)
    except _LIBRARIES["LibraryError"] as error:
        print(f"warning: built without the libraries of pages: {error}")


class _BuildPy(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        _ship(Path(self.build_lib) / "numlite" / _FOLDER)
        put_packs = runpy.run_path(str(_ROOT / "packs/wheel.py"))["put_packs"]
        put_packs(_PLATFORMS, _ROOT / "packs", Path(self.build_lib, "numlite/packs"))


class _Sdist(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        _ship(Path(base_dir) / _FOLDER)


class _Wheel(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        # Packs use nothing of Python's: one wheel is for all versions of it.
        return ("py3", "none", _PLATFORMS) if _PLATFORMS else super().get_tag()


class _Distribution(Distribution):
    def has_ext_modules(self) -> bool:
        return bool(_PLATFORMS)


setup(
    cmdclass={"build_py": _BuildPy, "sdist": _Sdist, "bdist_wheel": _Wheel},
    distclass=_Distribution,
)
