"""CudaDevice at the ends of processes: leaving with a GPU in use, after losing it, and forking."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .driver_stand_in import why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")
_ROOT = Path(__file__).resolve().parents[3]

BEGIN = """
import logging, os, sys
from tests.delegates.cuda.driver_stand_in import stand_in
from tests.delegates.cuda.graphs import conv_model, random_input
from tests.delegates.cuda.simulation import interpreter_of, run
from numlite.delegates.cuda.delegate import CudaDelegate
from numlite.delegates.cuda.driver import CudaDevice

logging.disable()
driver = stand_in()
driver.computes = False
driver.configure(devices=2)
watching = driver.watch()
watching.__enter__()
x = random_input("int8", (1, 4, 4, 8))
delegate = CudaDelegate()
interpreter = interpreter_of(conv_model("int8", (1, 4, 4, 8), 8, 1), delegate)
run(interpreter, [x])

def error_of(work, *args):
    try:
        return work(*args) and None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
"""
ENDS = {
    "in use": "",
    "in a circle": "interpreter.itself = interpreter\ndelegate.other = interpreter",
    "work is pending": "d = delegate.device\nd.activate()\nd.copy_in(d.allocate(8), x[0, 0, 0])",
    "lost": "driver.fail('kernel', 700)\nprint(error_of(interpreter.invoke))",
    "lost before": "driver.fail('cuCtxPushCurrent', 4)\nprint(error_of(interpreter.invoke))",
    "closed": "delegate.device.close()",
    "a thread runs": "from threading import Thread\nThread(target=run, args=(interpreter, [x])).start()",
}


def output_of(code: str, **variables: str) -> str:
    """What it prints; it must end well, and complain of nothing."""
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=_ROOT, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize("end", ENDS)
def test_a_process_ends_well(end: str) -> None:
    text = output_of(BEGIN + ENDS[end])
    assert ("InvokeError" in text) == ("lost" in end)


def test_a_fork_says_what_is_wrong() -> None:
    text = output_of(
        BEGIN
        + """
child = os.fork()
if not child:
    print("child", error_of(interpreter.invoke))
    print("child", error_of(CudaDevice))
    delegate = interpreter = None
    print("child ends", flush=True)
    sys.exit()
print("child left", os.waitpid(child, 0)[1])
run(interpreter, [x])
print("parent ends")
"""
    )
    lines = text.splitlines()
    assert "a process that was forked off cannot use a GPU" in lines[0], lines
    assert "DeviceUnavailableError" in lines[1] and "NOT_INITIALIZED" in lines[1]
    assert lines[2:] == ["child ends", "child left 0", "parent ends"]


@pytest.mark.parametrize("missing", ("", "cuInit", "cuDriverGetVersion", "cuDevicePrimaryCtxRetain"))
def test_without_a_driver_or_with_half_of_one(missing: str) -> None:
    """ "" is for no libcuda.so.1 at all."""
    load = "from tests.delegates.cuda.driver_stand_in import stand_in\nstand_in().configure()\n"
    code = (
        "from numlite.delegates.cuda.driver import CudaDevice\n"
        "from numlite.delegates.cuda.device import DeviceUnavailableError\n"
        "try:\n    CudaDevice()\nexcept DeviceUnavailableError as error:\n    print(error)\n"
    )
    text = output_of((load if missing else "") + code, NUMLITE_STAND_IN_HIDES=missing)
    assert "needs an NVIDIA GPU" in text and (missing or "driver library" in text or "dlopen" in text)


@pytest.mark.parametrize(
    "missing",
    (
        "cuStreamCreate",
        "cuMemAlloc",
        "cuModuleLoadData",
        "cuStreamBeginCapture",
        "cuGraphLaunch",
        "cuCtxPopCurrent",
    ),
)
def test_a_driver_that_lacks_what_comes_late(missing: str) -> None:
    begin, _, rest = BEGIN.partition("delegate = CudaDelegate()\n")
    use, _, functions = rest.partition("\n\n")
    body = f"def work():\n    delegate = CudaDelegate()\n    {use.replace(chr(10), chr(10) + '    ')}\n"
    text = output_of(begin + functions + body + "print(error_of(work))\n", NUMLITE_STAND_IN_HIDES=missing)
    assert missing in text and "driver (580 or later)" in text
