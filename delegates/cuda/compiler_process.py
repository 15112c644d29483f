"""The process that compiles kernels for compile_pool.py: kernels come in by a pipe, machine code goes out."""

from __future__ import annotations

import os
import pickle
from contextlib import suppress
from shutil import rmtree
from typing import IO

from ...lite.errors import UnsupportedError
from .compile import compile_kernel, kernel_key
from .compile_pool import READY
from .launch import Kernel


def main(folder: str) -> None:
    """Answer each (kernel, architecture) with its key and code or an error's text; end with the pipe.

    folder is the process's own, and goes with it where nobody else is left to remove it.
    """
    with suppress(BrokenPipeError), os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what compilers print must not come between the answers
        _answer_all(answers)
    rmtree(folder, ignore_errors=True)


def _answer_all(answers: IO[bytes]) -> None:
    requests = os.fdopen(os.dup(0), "rb")
    answers.write(READY)
    answers.flush()
    while True:
        try:
            kernel, arch = pickle.load(requests)
        except EOFError:
            return
        pickle.dump(_answer(kernel, arch), answers)
        answers.flush()


def _answer(kernel: Kernel, arch: int) -> tuple[str, bytes | str]:
    try:
        return kernel_key(kernel, arch), compile_kernel(kernel, arch).pack()
    except UnsupportedError as error:
        return "", str(error)
