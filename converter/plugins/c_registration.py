"""What a plugin's TF_InitGraph fills in: TP_OptimizerRegistrationParams and the structs that it points to.

Version 0.0.1 of the interface. Source: TensorFlow 2.21's c/experimental/grappler/grappler.h.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

from ...kernels.plugin.library import INIT_GRAPH, PluginLibrary
from ...kernels.plugin.status import Status, code_name
from ...lite.errors import PluginError
from .plugin import API_VERSION, STATES, TriState
from .registry import checked_version

_P, _SIZE = ctypes.c_void_p, ctypes.c_size_t
# What a newer plugin may write behind the end of a struct that it knows to be longer.
_ROOM_BYTES = 512
REGISTRATION_BYTES, OPTIMIZER_BYTES, CONFIGS_BYTES = 56, 40, 92
# Before auto_mixed_precision_onednn_bfloat16 came, with the same version: the states behind it lie 4 bytes
# lower.
_OLD_CONFIGS_BYTES = 88
_OLD_STATES = tuple(name for name in STATES if name != "auto_mixed_precision_onednn_bfloat16")
_LONGEST_DEVICE_TYPE = 256


class _Configs(ctypes.Structure):
    _fields_ = (
        ("struct_size", _SIZE),
        ("ext", _P),
        ("states", ctypes.c_int32 * len(STATES)),
        ("room", ctypes.c_char * _ROOM_BYTES),
    )


class _Optimizer(ctypes.Structure):
    _fields_ = (
        ("struct_size", _SIZE),
        ("ext", _P),
        ("create", _P),
        ("optimize", _P),
        ("destroy", _P),
        ("room", ctypes.c_char * _ROOM_BYTES),
    )


class _Registration(ctypes.Structure):
    _fields_ = (
        ("struct_size", _SIZE),
        ("ext", _P),
        ("version", ctypes.c_int32 * 3),
        ("device_type", _P),
        ("configs", _P),
        ("optimizer", _P),
        ("room", ctypes.c_char * _ROOM_BYTES),
    )


@dataclass(frozen=True)
class Registered:
    """What a plugin has registered by TF_InitGraph.

    version is MAJOR, MINOR and PATCH of its interface. configs are its wishes by TP_OptimizerConfigs'
    names, configs_bytes the size of that struct as it was built. create, optimize and destroy are
    addresses of C functions; create and destroy are 0 where it has none.
    """

    device_type: str
    version: tuple[int, int, int]
    configs: Mapping[str, TriState]
    configs_bytes: int
    create: int
    optimize: int
    destroy: int


def init_graph(library: PluginLibrary) -> Registered:
    """Let the plugin register its optimizer. PluginError, in TensorFlow's words, for what TensorFlow ends
    at.
    """
    configs, optimizer = _Configs(CONFIGS_BYTES), _Optimizer(OPTIMIZER_BYTES)
    made = _Registration(REGISTRATION_BYTES, None, API_VERSION)
    made.configs, made.optimizer = ctypes.addressof(configs), ctypes.addressof(optimizer)
    with Status() as status:
        library.call(library.function(INIT_GRAPH, None, _P, _P), ctypes.addressof(made), status.address)
        if status.code:
            message = f"{INIT_GRAPH} failed: {status.message} ({code_name(status.code)})"
            raise PluginError(f"plugin {library.path!r}: {message}")
    return _read(library.path, made)


def _read(path: str, made: _Registration) -> Registered:
    _check_size(path, made.struct_size, "TP_OptimizerRegistrationParams", "TP_OPTIMIZER_REGISTRATION_PARAMS")
    if not made.configs or not made.optimizer:
        raise PluginError(f"plugin {path!r}: its structs must be there, got a null pointer in their place")
    # It may have put structs of its own in their place.
    configs, optimizer = _Configs.from_address(made.configs), _Optimizer.from_address(made.optimizer)
    _check_size(path, optimizer.struct_size, "TP_Optimizer", "TP_OPTIMIZER")
    _check_size(path, configs.struct_size, "TP_OptimizerConfigs", "TP_OPTIMIZER_CONFIGS")
    if not made.device_type or made.struct_size < _Registration.device_type.offset + 8:
        raise _unset(path, "device_type", "TP_OptimizerRegistrationParams")
    device_type = _c_string(made.device_type)
    if not device_type:
        raise _unset(path, "device_type", "TP_OptimizerRegistrationParams")
    if not _member(optimizer, "optimize"):
        raise _unset(path, "optimize_func", "TP_Optimizer")
    return Registered(
        device_type,
        checked_version(path, (made.version[0], made.version[1], made.version[2])),
        _states(path, configs),
        configs.struct_size,
        _member(optimizer, "create"),
        _member(optimizer, "optimize"),
        _member(optimizer, "destroy"),
    )


def _check_size(path: str, size: int, struct: str, constant: str) -> None:
    if not size:
        raise PluginError(
            f"plugin {path!r}: struct_size field in {struct} must be set to {constant}_STRUCT_SIZE."
        )


def _unset(path: str, field: str, struct: str) -> PluginError:
    return PluginError(f"plugin {path!r}: '{field}' field in {struct} must be set.")


def _c_string(address: int) -> str:
    """A plugin's text, up to a length that no name of a device has."""
    return ctypes.string_at(address).decode(errors="replace")[:_LONGEST_DEVICE_TYPE]


def _member(optimizer: _Optimizer, name: str) -> int:
    """A function that the plugin's struct is long enough to have, 0 for none."""
    end = getattr(_Optimizer, name).offset + 8
    return (getattr(optimizer, name) or 0) if optimizer.struct_size >= end else 0


def _states(path: str, configs: _Configs) -> dict[str, TriState]:
    size = configs.struct_size
    names = STATES if size > _OLD_CONFIGS_BYTES else _OLD_STATES
    covered = max(0, size - _Configs.states.offset) // 4
    found = dict(zip(names[:covered], configs.states, strict=False))
    wrong = {name: value for name, value in found.items() if value not in tuple(TriState)}
    if wrong:
        raise PluginError(f"plugin {path!r}: configs must be 0, 1 or 2, got {wrong}")
    return {name: TriState(value) for name, value in found.items() if value}
