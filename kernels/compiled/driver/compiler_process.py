"""A process that compiles the families it is told on its standard input, one line each, for one target.

The answer to a line is `ok <digest> <bytes>` or `error <digest> <bytes>`, and then that many bytes: the
family's image (its object, for packs), or what went wrong. The digest is that of the sources as read here.
The process ends with its standard input, so that it never outlives the process that asks.
"""

from __future__ import annotations

import os
import sys
import threading
from queue import SimpleQueue

from ..families import FAMILIES
from ..language.target import compile_for
from ..language.targets import TARGETS
from .image import SYMBOL_PREFIX, uses_shared_objects
from .sources import family_digest


def family_object(family: str) -> bytes:
    """Compile a family in this process: LLVM's object file."""
    from .compile import kernel_module, target_machine

    found: bytes = target_machine().emit_object(kernel_module(FAMILIES[family].sources()))
    return found


def family_image(family: str) -> bytes:
    """Compile a family in this process: what it is loaded from here."""
    image = family_object(family)
    if not uses_shared_objects():
        return image
    from .linker.shared_object import shared_object

    return shared_object([image], [SYMBOL_PREFIX + name for name in FAMILIES[family].sources()])


def main(target: str, form: str, system: str) -> None:
    """Answer until the input ends; form is `image` or `object`, system as in compile_for."""
    compile_for(TARGETS[target], system)
    compiled = {"image": family_image, "object": family_object}[form]
    # Answers go to a copy of standard output, so that nothing that is printed mixes with them.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    families = SimpleQueue[str]()
    threading.Thread(target=_listen, args=(families,), daemon=True).start()
    # Numba asks SciPy for a BLAS, which costs 0.2 s and no kernel uses.
    sys.modules["scipy"] = None  # type: ignore[assignment]
    from .compile import only_compile

    only_compile()
    while True:
        family = families.get()
        digest = family_digest(family)
        try:
            word, answer = "ok", compiled(family)
        except Exception:
            import traceback

            word, answer = "error", traceback.format_exc().encode()
        answers.write(f"{word} {digest} {len(answer)}\n".encode() + answer)
        answers.flush()


def _listen(families: SimpleQueue[str]) -> None:
    """Take the lines as they come; at their end nobody waits for what is being compiled."""
    for line in sys.stdin:
        families.put(line.strip())
    os._exit(0)
