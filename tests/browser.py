"""A page in a real browser, without a screen: chromium, spoken to by its DevTools protocol through pipes."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_HEADLESS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe")
# The browser reads at 3 and writes at 4; it ends after ten minutes whatever happens.
_PIPED = ("timeout", "-k", "5", "600", "bash", "-c", 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"', "-")
NAMES = ("chromium", "chromium-browser", "google-chrome")


def installed() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page. Every call returns when the browser has done it."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest, self._count, self._session = b"", 0, ""
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, (method, answer)
                return dict(answer["result"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self._from, 1 << 20)
            assert read, "the browser went away"
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, path: Path, width: int = 1440, height: int = 900) -> None:
        """Load the page, and wait until its programs have run."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Page.navigate", url=path.resolve().as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def run(self, script: str) -> Any:
        """The value of an expression of the page's."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def place(self, selector: str, nth: int = 0) -> tuple[float, float]:
        """The middle of an element on the screen."""
        box = self.run(
            f"(() => {{ const e = document.querySelectorAll({json.dumps(selector)})[{nth}];"
            " if (!e) return null; const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        assert box is not None, f"no {selector} of number {nth}"
        return float(box[0]), float(box[1])

    def click(self, selector: str, nth: int = 0) -> None:
        x, y = self.place(selector, nth)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def wheel(self, x: float, y: float, by: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)
        self.settle()

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def key(self, name: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code)

    def settle(self) -> None:
        """Wait until transitions have ended and the page is drawn."""
        self.run(
            "new Promise((done) => { const look = () => document.querySelectorAll('svg.canvas').values()"
            ".some((svg) => svg.__transition) ? requestAnimationFrame(look) : requestAnimationFrame(done);"
            " requestAnimationFrame(look); })"
        )

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def browser(program: str) -> Iterator[Browser]:
    """A browser with a profile of its own, which ends with the block."""
    read_there, to_browser = os.pipe()
    from_browser, write_there = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        child = subprocess.Popen(
            [*_PIPED, str(read_there), str(write_there), program, *_HEADLESS, f"--user-data-dir={profile}"],
            pass_fds=(read_there, write_there),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_there)
        os.close(write_there)
        try:
            yield Browser(to_browser, from_browser)
        finally:
            os.close(to_browser)
            os.close(from_browser)
            child.terminate()
            child.wait()


@contextmanager
def one_file_read(opened: Browser) -> Iterator[Browser]:
    """The browser, which must have nothing to complain of in the block, and read one file."""
    opened.errors.clear()
    opened.requests.clear()
    yield opened
    assert opened.errors == []
    assert [url[:5] for url in opened.requests] == ["file:"]
