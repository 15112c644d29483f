"""OptimizerConfig: which optimizers run, how far they go, how often and how long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message

from ...lite.errors import ModelError
from ...schema.rewriter_config import ConfigProto, RewriterConfig
from .toggle import CpuLayout, MemoryMode, NumIterations, Toggle

# What a graph is optimized for: what TensorFlow's binaries run, what pays in NumPy, public ops only.
TARGETS = ("tensorflow", "numlite", "portable")
_DEFAULT, _OFF = Toggle.DEFAULT, Toggle.OFF


@dataclass(frozen=True)
class AutoParallel:
    """Replicas of a training graph."""

    enable: bool = False
    num_replicas: int = 0


@dataclass(frozen=True)
class Verifier:
    """Whether graphs are checked, and how long that may take (ms, 0: as long as it takes)."""

    structure_verifier: Toggle = _DEFAULT
    verification_timeout_in_ms: int = 0


@dataclass(frozen=True)
class CustomOptimizer:
    """An optimizer by the name that it is registered with, and what its init is given."""

    name: str
    parameter_map: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class OptimizerConfig:
    """The fields of TensorFlow's RewriterConfig, by its names and with its defaults, and eight more.

    target is one of TARGETS. assume_valid_feeds trusts the declared shapes of feeds. stages switches single
    rules on or off by name. compute_capability is that of the GPUs that nodes are placed on,
    device_memory_bytes the memory of each device (0: nobody says). lower_control_flow lets function mark If,
    Case and While for lower_functional_ops. Values of another kind are taken where
    their meaning is plain: a toggle is also True, False, its name or its number. Raises ValueError for
    others.
    """

    cpu_layout_conversion: CpuLayout = CpuLayout.NO_CONVERSION_ON_CPU
    layout_optimizer: Toggle = _DEFAULT
    constant_folding: Toggle = _DEFAULT
    shape_optimization: Toggle = _DEFAULT
    remapping: Toggle = _DEFAULT
    common_subgraph_elimination: Toggle = _DEFAULT
    arithmetic_optimization: Toggle = _DEFAULT
    dependency_optimization: Toggle = _DEFAULT
    loop_optimization: Toggle = _DEFAULT
    function_optimization: Toggle = _DEFAULT
    debug_stripper: Toggle = _DEFAULT
    disable_model_pruning: bool = False
    scoped_allocator_optimization: Toggle = _DEFAULT
    pin_to_host_optimization: Toggle = _DEFAULT
    implementation_selector: Toggle = _DEFAULT
    auto_mixed_precision: Toggle = _DEFAULT
    auto_mixed_precision_mkl: Toggle = _DEFAULT
    auto_mixed_precision_onednn_bfloat16: Toggle = _DEFAULT
    auto_mixed_precision_cpu: Toggle = _DEFAULT
    disable_meta_optimizer: bool = False
    disable_tfg_optimizer: bool = False
    use_plugin_optimizers: Toggle = _DEFAULT
    experimental_conditional_code_motion: Toggle = _DEFAULT
    meta_optimizer_iterations: NumIterations = NumIterations.DEFAULT_NUM_ITERS
    min_graph_nodes: int = 0
    experimental_disable_compressed_tensor_optimization: bool = False
    experimental_disable_folding_quantization_emulation: bool = False
    memory_optimization: MemoryMode = MemoryMode.DEFAULT_MEM_OPT
    memory_optimizer_target_node_name_scope: str = ""
    meta_optimizer_timeout_ms: int = 0
    auto_parallel: AutoParallel = field(default_factory=AutoParallel)
    fail_on_optimizer_errors: bool = False
    scoped_allocator_opts: tuple[str, ...] = ()
    optimizers: tuple[str, ...] = ()
    custom_optimizers: tuple[CustomOptimizer, ...] = ()
    inter_optimizer_verifier_config: Verifier = field(default_factory=Verifier)
    post_optimization_verifier_config: Verifier = field(default_factory=Verifier)
    target: str = "tensorflow"
    assume_valid_feeds: bool = False
    stages: Mapping[str, bool] = field(default_factory=dict)
    onednn: bool = True
    compute_capability: float = 8.0
    device_memory_bytes: int = 0
    lower_control_flow: bool = False
    lower_functional_ops: Toggle = _DEFAULT

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            try:
                object.__setattr__(self, each.name, _coerced(each.type, value))
            except ValueError as error:
                raise ValueError(f"{each.name}: {error}") from error
        if self.target not in TARGETS:
            raise ValueError(f"target: must be one of {', '.join(TARGETS)}, got {self.target!r}")

    @classmethod
    def of(cls, value: object) -> OptimizerConfig:
        """Of a config, a dictionary, a RewriterConfig or ConfigProto, a serialized or written
        RewriterConfig, or None for the defaults. ValueError and ModelError for what is none.
        """
        if value is None:
            return cls()
        if isinstance(value, OptimizerConfig):
            return value
        if isinstance(value, Mapping):
            return cls.from_options(value)
        if isinstance(value, bytes):
            return cls.from_bytes(value)
        if isinstance(value, str):
            return cls.from_text(value)
        if isinstance(value, Message):
            return cls.from_message(value)
        raise ValueError(f"config: must be an OptimizerConfig, a dict or a RewriterConfig, got {value!r}")

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> OptimizerConfig:
        """Of the dictionary that tf.config.optimizer.set_experimental_options takes, with more keys: those of
        all fields. ValueError for an unknown key lists them.
        """
        known = [each.name for each in fields(cls)]
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise ValueError(f"config: keys must be of {', '.join(sorted(known))}, got {', '.join(unknown)}")
        return cls(**options)

    @classmethod
    def from_message(cls, message: Message) -> OptimizerConfig:
        """Of a RewriterConfig or ConfigProto, ours or TensorFlow's."""
        kinds = {"RewriterConfig": cls.from_bytes, "ConfigProto": cls.from_config_proto_bytes}
        name = message.DESCRIPTOR.name
        if name not in kinds:
            raise ValueError(f"config: must be a RewriterConfig or ConfigProto, got {name}")
        return kinds[name](message.SerializeToString())

    @classmethod
    def from_bytes(cls, content: bytes) -> OptimizerConfig:
        """Of a serialized RewriterConfig; ModelError for what is none."""
        try:
            return cls._of_proto(RewriterConfig.FromString(content))
        except DecodeError as error:
            raise ModelError(f"RewriterConfig: cannot be read ({error})") from error

    @classmethod
    def from_config_proto_bytes(cls, content: bytes) -> OptimizerConfig:
        """Of a serialized ConfigProto: its graph_options.rewrite_options; ModelError for what is none."""
        try:
            return cls._of_proto(ConfigProto.FromString(content).graph_options.rewrite_options)
        except DecodeError as error:
            raise ModelError(f"ConfigProto: cannot be read ({error})") from error

    @classmethod
    def from_text(cls, text: str) -> OptimizerConfig:
        """Of a RewriterConfig in text form; ModelError for what is none."""
        try:
            return cls._of_proto(text_format.Parse(text, RewriterConfig()))
        except text_format.ParseError as error:
            raise ModelError(f"RewriterConfig: cannot be read ({error})") from error

    @classmethod
    def _of_proto(cls, proto: RewriterConfig) -> OptimizerConfig:
        held: dict[str, Any] = {}
        for each in proto.DESCRIPTOR.fields:
            if each.name not in _MESSAGES:
                value = getattr(proto, each.name)
                held[each.name] = tuple(value) if each.name == "optimizers" else value
        parallel = proto.auto_parallel
        held["auto_parallel"] = AutoParallel(parallel.enable, parallel.num_replicas)
        held["scoped_allocator_opts"] = tuple(proto.scoped_allocator_opts.enable_op)
        held["custom_optimizers"] = tuple(
            CustomOptimizer(each.name, dict(each.parameter_map)) for each in proto.custom_optimizers
        )
        for name in ("inter_optimizer_verifier_config", "post_optimization_verifier_config"):
            value = getattr(proto, name)
            held[name] = Verifier(Toggle(value.structure_verifier), value.verification_timeout_in_ms)
        return cls(**held)

    def with_options(self, **changes: Any) -> OptimizerConfig:
        """The same config but for these fields."""
        return replace(self, **changes)

    def aggressive(self) -> OptimizerConfig:
        """The same with AGGRESSIVE for the optimizers that are built and know such a level, if not off."""
        names = (
            *("constant_folding", "arithmetic_optimization", "dependency_optimization"),
            *("shape_optimization", "loop_optimization", "remapping", "layout_optimizer"),
        )
        return self.with_options(**{name: Toggle.AGGRESSIVE for name in names if getattr(self, name) != _OFF})


# Fields of RewriterConfig that are messages.
_MESSAGES = frozenset(
    (
        *("auto_parallel", "scoped_allocator_opts", "custom_optimizers"),
        *("inter_optimizer_verifier_config", "post_optimization_verifier_config"),
    )
)
_ENUMS: dict[str, type[IntEnum]] = {
    "NumIterations": NumIterations,
    "MemoryMode": MemoryMode,
    "CpuLayout": CpuLayout,
}
_KINDS: dict[str, type] = {each.__name__: each for each in (AutoParallel, Verifier)}


def _coerced(kind: object, value: Any) -> object:
    """The value as what the field's annotation names; ValueError when it is nothing of the kind."""
    name = str(kind)
    if name == "Toggle":
        return Toggle.of(value)
    if name in _ENUMS:
        return _member(_ENUMS[name], value)
    if name == "bool":
        if value not in (0, 1):
            raise ValueError(f"must be True or False, got {value!r}")
        return bool(value)
    if name == "int":
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"must be a whole number, got {value!r}")
        return value
    if name == "float":
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"must be a number, got {value!r}")
        return float(value)
    if name in _KINDS:
        made = _KINDS[name](**value) if isinstance(value, Mapping) else value
        if not isinstance(made, _KINDS[name]):
            raise ValueError(f"must be {name}, got {value!r}")
        return made
    if name.startswith("tuple"):
        if isinstance(value, str | bytes) or not isinstance(value, Iterable):
            raise ValueError(f"must be a list, got {value!r}")
        return tuple(value)
    if name.startswith("Mapping"):
        if not isinstance(value, Mapping) or any(on not in (0, 1) for on in value.values()):
            raise ValueError(f"must be a dictionary of rules' names with True or False, got {value!r}")
        return {str(key): bool(on) for key, on in value.items()}
    return value


def _member(kind: type[IntEnum], value: Any) -> IntEnum:
    if isinstance(value, str) and value.upper() in kind.__members__:
        return kind[value.upper()]
    if isinstance(value, int) and not isinstance(value, bool) and value in tuple(kind):
        return kind(value)
    raise ValueError(f"must be one of {', '.join(kind.__members__)}, got {value!r}")
