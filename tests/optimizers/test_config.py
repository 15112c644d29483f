"""OptimizerConfig: from keywords, dictionaries, messages, bytes and texts."""

import pytest
from numlite.converter.optimizers import OptimizerConfig, Toggle
from numlite.lite.errors import ModelError
from numlite.schema.rewriter_config import ConfigProto, RewriterConfig


def message() -> RewriterConfig:
    proto = RewriterConfig(remapping=Toggle.OFF, constant_folding=Toggle.AGGRESSIVE, min_graph_nodes=-1)
    proto.optimizers.extend(["pruning", "constfold"])
    proto.custom_optimizers.add(name="mine").parameter_map["n"].i = 3
    proto.auto_parallel.num_replicas = 2
    return proto


@pytest.mark.parametrize(
    "form",
    [lambda m: m, lambda m: m.SerializeToString(), lambda m: str(m), "config"],
    ids=["message", "bytes", "text", "config"],
)
def test_all_forms_of_a_message_say_the_same(form) -> None:  # type: ignore[no-untyped-def]
    proto = message()
    if form == "config":
        wrapped = ConfigProto()
        wrapped.graph_options.rewrite_options.CopyFrom(proto)
        config = OptimizerConfig.of(wrapped)
    else:
        config = OptimizerConfig.of(form(proto))
    assert config.remapping == Toggle.OFF and config.constant_folding == Toggle.AGGRESSIVE
    assert config.min_graph_nodes == -1 and config.optimizers == ("pruning", "constfold")
    assert config.custom_optimizers[0].name == "mine"
    assert config.auto_parallel.num_replicas == 2


def test_it_has_all_fields_of_a_rewriter_config() -> None:
    own = {"target", "assume_valid_feeds", "stages", "onednn", "compute_capability", "device_memory_bytes"}
    own |= {"lower_control_flow", "lower_functional_ops"}
    names = set(OptimizerConfig.__dataclass_fields__) - own
    assert names == {field.name for field in RewriterConfig.DESCRIPTOR.fields}


def test_options_are_true_false_and_numbers() -> None:
    config = OptimizerConfig.of({"remapping": False, "debug_stripper": True, "min_graph_nodes": 7})
    assert (config.remapping, config.debug_stripper) == (Toggle.OFF, Toggle.ON)


def test_an_unknown_key_lists_the_keys() -> None:
    with pytest.raises(ValueError, match=r"keys must be of .*arithmetic_optimization.*, got no_such_key"):
        OptimizerConfig.of({"no_such_key": True})


@pytest.mark.parametrize(
    "options",
    [{"remapping": "often"}, {"min_graph_nodes": "many"}, {"target": "moon"}, {"optimizers": "pruning"}],
    ids=str,
)
def test_values_of_another_kind_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        OptimizerConfig.of(options)


@pytest.mark.parametrize("content", [b"\xff\xff", "remapping: MAYBE"], ids=["bytes", "text"])
def test_what_is_no_config_is_a_model_error(content: object) -> None:
    with pytest.raises(ModelError, match="RewriterConfig: cannot be read"):
        OptimizerConfig.of(content)


def test_aggressive_leaves_what_is_off() -> None:
    config = OptimizerConfig(constant_folding=Toggle.OFF).aggressive()
    assert config.constant_folding == Toggle.OFF and config.dependency_optimization == Toggle.AGGRESSIVE
