"""The commands `numlite` and `convert-model`, which say what to install where click or rich is missing."""

from __future__ import annotations

import sys
from importlib import import_module

from ..lite.errors import UnsupportedError
from ..lite.extras import needed_for


def numlite() -> None:
    """The command `numlite`; it ends the process."""
    _run("numlite", "main")


def convert_model() -> None:
    """The command `convert-model`; it ends the process."""
    _run("convert-model", "convert_model")


def _run(command: str, module: str) -> None:
    try:
        with needed_for(command):
            main = import_module(f".{module}", __name__).main
    except UnsupportedError as error:
        sys.exit(str(error))
    main()
