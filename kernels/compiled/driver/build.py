"""Compiling families in parallel processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence

from ....lite.environment import for_children, processors
from ..language.target import target
from ..language.targets import Target
from .sources import family_digest, source_bytes

_MAIN = (
    "import sys; sys.path[:] = {path!r}; from {package}.compiler_process import main; "
    "main({target!r}, {form!r}, {system!r})"
)


class CompileError(RuntimeError):
    """A family does not compile; the message holds the compiler's."""


def build(
    families: Sequence[str],
    done: Callable[[str, bytes], None],
    made_for: Target | None = None,
    form: str = "image",
    system: str = "",
) -> None:
    """Compile families, as many at a time as there are processors; done(family, image) for each.

    They are made for this process's target, or for another one, as images or as objects; system as in
    compile_for.

    done is called from several threads, one at a time. Raises CompileError for the first family
    that fails, once the others are done, and OSError when no process can be started.
    """
    made_for = made_for or target()
    count = min(len(families), processors())
    queue, lock, failures = deque(_largest_first(families)), threading.Lock(), list[BaseException]()

    def work(process: subprocess.Popen[bytes]) -> None:
        try:
            while True:
                with lock:
                    if not queue:
                        return
                    family = queue.popleft()
                image = _ask(process, family, family_digest(family, made_for))
                with lock:
                    done(family, image)
        except Exception as error:
            failures.append(error)

    processes = [_start(made_for, form, system) for _ in range(count)]
    threads = [threading.Thread(target=work, args=(process,)) for process in processes]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    if failures:
        raise failures[0]


def _largest_first(families: Sequence[str]) -> list[str]:
    """By size of all that a family is made from, so that no long one is left for the end."""
    return sorted(families, key=source_bytes, reverse=True)


def _start(made_for: Target, form: str, system: str) -> subprocess.Popen[bytes]:
    words = {"target": made_for.name, "form": form, "system": system}
    code = _MAIN.format(path=sys.path, package=__package__, **words)
    # In a session of its own an interrupt from the keyboard does not reach it: this process ends it then.
    return subprocess.Popen(
        [sys.executable or "python", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=for_children(),
        start_new_session=True,
    )


def _ask(process: subprocess.Popen[bytes], family: str, expected: str) -> bytes:
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(f"{family}\n".encode())
        process.stdin.flush()
        word, digest, size = process.stdout.readline().split()
        answer = process.stdout.read(int(size))
    except (OSError, ValueError):
        raise CompileError(f"{family}: the compiler ended with code {process.wait()}") from None
    if digest.decode() != expected:
        raise CompileError(f"{family}: its sources have changed since this process read them; start it again")
    if word != b"ok":
        raise CompileError(f"{family} does not compile:\n{answer.decode(errors='replace')}")
    return answer
