"""Puts the libraries of `numlite explore` into wheels and sdists; all else stands in pyproject.toml."""

from __future__ import annotations

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

_LIBRARIES = runpy.run_path(str(Path(__file__).parent / "cli/page/libraries.py"))
_FOLDER = "cli/page/libraries"


def _ship(folder: Path) -> None:
    """Without them `numlite explore` fetches them when it is first used, or says what would help."""
    try:
        _LIBRARIES["ship"](folder)
    except _LIBRARIES["LibraryError"] as error:
        print(f"warning: built without the libraries of pages: {error}")


class _BuildPy(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            _ship(Path(self.build_lib) / "numlite" / _FOLDER)


class _Sdist(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        _ship(Path(base_dir) / _FOLDER)


setup(cmdclass={"build_py": _BuildPy, "sdist": _Sdist})
