"""What a plugin of C is, in words and numbers that cross a pipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...kernels.plugin.elf_symbols import read_symbols, wants
from ...kernels.plugin.library import NOT_CALLED
from .c_optimizer import COptimizer


def description(optimizer: COptimizer) -> Mapping[str, Any]:
    """Device type, version, configs (name: number), bytes of the configs, names of ops and kernels.

    unanswered are functions of TensorFlow's that it may call and that are not built; not_called are its own
    that TensorFlow would call.
    """
    library, registered = optimizer.library, optimizer.registered
    given = read_symbols(library.path).given
    kernels = [[kernel.op, kernel.device, kernel.name] for kernel in library.kernels]
    return {
        "device_type": registered.device_type if registered else "",
        "version": list(registered.version) if registered else [],
        "configs": {name: int(state) for name, state in registered.configs.items()} if registered else {},
        "configs_bytes": registered.configs_bytes if registered else 0,
        "optimizes": registered is not None,
        "ops": len(library.ops),
        "kernels": kernels,
        "unanswered": list(wants(library.path).functions),
        "not_called": [name for name in NOT_CALLED if name in given],
    }
