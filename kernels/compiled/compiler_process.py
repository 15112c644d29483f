"""A process that compiles the families it is told on its standard input, one line each.

The answer to a line is `ok <digest> <bytes>` or `error <digest> <bytes>`, and then that many
bytes: the family's image, or what went wrong. The digest is that of the sources as read here.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module

from .cache import family_digest
from .image import SYMBOL_PREFIX, uses_shared_objects


def family_image(family: str) -> bytes:
    """Compile a family in this process."""
    from .compile import kernel_module, target_machine
    from .elf import shared_object

    sources = import_module(f".{family}", __package__).kernels.sources
    image: bytes = target_machine().emit_object(kernel_module(sources))
    if not uses_shared_objects():
        return image
    return shared_object(image, [SYMBOL_PREFIX + name for name in sources], _libraries())


def _libraries() -> list[str]:
    """What holds sinf and its like: glibc has them in a library of their own, musl has not."""
    try:
        return ["libm.so.6"] if os.confstr("CS_GNU_LIBC_VERSION") else []
    except ValueError:
        return []


def main() -> None:
    # Answers go to a copy of standard output, so that nothing that is printed mixes with them.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # An interrupt is the parent's to handle; it ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Numba asks SciPy for a BLAS, which costs 0.2 s and no kernel uses.
    sys.modules["scipy"] = None  # type: ignore[assignment]
    from .compile import only_compile

    only_compile()
    for line in sys.stdin:
        family = line.strip()
        digest = family_digest(family)
        try:
            word, answer = "ok", family_image(family)
        except Exception:
            import traceback

            word, answer = "error", traceback.format_exc().encode()
        answers.write(f"{word} {digest} {len(answer)}\n".encode() + answer)
        answers.flush()
