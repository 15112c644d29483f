"""The environment variables that numlite reads, a warning of those that nothing reads, and processors."""

from __future__ import annotations

import os

from .errors import UnsupportedError

VERSION = "0.1.0"  # of numlite; pyproject.toml says the same

# All of them, and what they are for; each is read where it counts.
VARIABLES = {
    "NUMLITE_CACHE_DIR": "the folder that keeps compiled kernels",
    "NUMLITE_CPU": "the target to compile for, if not the machine's own: docs/machines.md",
    "NUMLITE_DEBUG": "what is shown on stderr, from 0 (nothing) to 4 (values)",
    "NUMLITE_JIT": "memory: kernels are compiled in this process and kept nowhere",
    "NUMLITE_PACK": "off: kernels do not come from packs; a path: they come from this one",
    "NUMLITE_PLUGINS": "off: no plugin optimizes a graph; tensorflow: those installed for it do, too",
    "NUMLITE_PLUGIN_PATH": "folders of plugins that optimize graphs",
    "NUMLITE_PREPARED": "off: prepared models are not kept; a number: how many MiB of them are",
    "NUMLITE_MAX_DECODED_BYTES": "what a file in a tensor may decode to",
    # Of builds.
    "NUMLITE_WHEEL": "the platforms of a wheel with packs: docs/machines.md",
    # Of numlite's own tests.
    "NUMLITE_SHARED": "the folder of models that tests read",
    "NUMLITE_STAND_IN": "tests for GPUs run on a stand-in for the driver",
    "NUMLITE_STAND_IN_HIDES": "what the stand-in lacks",
    "NUMLITE_ONNX": "a Python with the onnx package, for tests/onnx_nodes.py",
    "NUMLITE_TENSORFLOW": "a Python with TensorFlow, for tests/random_graphs.py",
}


_KEPT_MIB = 1024


def processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def kept_bytes() -> int:
    """How much of prepared models the cache holds: NUMLITE_PREPARED's MiB, or 1 GiB; 0 where it says off.

    UnsupportedError where it says anything else.
    """
    text = os.environ.get("NUMLITE_PREPARED", "")
    if text == "off":
        return 0
    if text and not (text.isascii() and text.isdigit()):
        raise UnsupportedError(f"NUMLITE_PREPARED: must be 'off' or a number of MiB, got {text!r}")
    return int(text or _KEPT_MIB) << 20


def debug_level() -> int:
    """How much is shown on stderr, by NUMLITE_DEBUG; UnsupportedError where it names no level."""
    text = os.environ.get("NUMLITE_DEBUG", "")
    if text not in ("", "0", "1", "2", "3", "4"):
        raise UnsupportedError(
            f"NUMLITE_DEBUG: must be 0 (nothing), 1 (plans), 2 (nodes), 3 (times) or 4 (values), got {text!r}"
        )
    return int(text or 0)


def unknown_variables() -> list[str]:
    """The names of numlite's prefix, in whatever case, that are set but not read."""
    return [name for name in os.environ if name[:8].upper() == "NUMLITE_" and name not in VARIABLES]


def warn_of_unknown() -> None:
    """Log one warning for all unknown variables, each with the known name that is nearest."""
    unknown = unknown_variables()
    if not unknown:
        return
    import difflib
    import logging

    nearest = (difflib.get_close_matches(name.upper(), VARIABLES, 1, 0)[0] for name in unknown)
    listed = ", ".join(f"{name!r} (nearest: {near})" for name, near in zip(unknown, nearest, strict=True))
    logging.getLogger("numlite").warning("environment: NUMLITE_ variables must be known, got %s", listed)


def for_children() -> dict[str, str]:
    """The environment for processes of numlite's own, which need not warn again."""
    unknown = unknown_variables()
    return {name: value for name, value in os.environ.items() if name not in unknown}
