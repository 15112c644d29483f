"""A progress bar on standard error, where that is a terminal, else a line of the log."""

from __future__ import annotations

import sys
from typing import Any


class Progress:
    """A context manager that counts steps from 0 to total.

    Without a terminal the log has one line that says what begins: title, how many, and note.
    """

    def __init__(self, title: str, total: int, note: str) -> None:
        self.title, self.total, self.note, self.count = title, total, note, 0
        self._bar: Any = None
        self._task: Any = None
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        if self._shown:
            try:
                from rich.console import Console
                from rich.progress import Progress as Bar

                self._bar = Bar(console=Console(stderr=True), transient=True)
                self._bar.start()
                self._task = self._bar.add_task(self.title, total=self.total)
            except ImportError:
                self._print()
        else:
            import logging

            logging.getLogger("numlite").info("%s: %d %s", self.title, self.total, self.note)
        return self

    def step(self) -> None:
        self.count += 1
        if self._bar is not None:
            self._bar.advance(self._task)
        elif self._shown:
            self._print()

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._shown:
            sys.stderr.write("\r\033[K")

    def _print(self) -> None:
        sys.stderr.write(f"\r{self.title}: {self.count}/{self.total}")
        sys.stderr.flush()
