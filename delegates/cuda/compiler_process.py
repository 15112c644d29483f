"""The process that compiles kernels for compile_pool.py: kernels come in by a pipe, machine code goes out."""

from __future__ import annotations

import os
import pickle

from ...lite.errors import UnsupportedError
from .compile import compile_kernel, kernel_key
from .compile_pool import READY
from .launch import Kernel


def main() -> None:
    """Answer each (kernel, architecture) with its key and code or an error's text; end with the pipe."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what compilers print must not come between the answers
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
