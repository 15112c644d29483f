"""The table of how plugins' configs change the user's."""

from __future__ import annotations

import pytest
from numlite.converter.optimizers.config import AutoParallel, OptimizerConfig
from numlite.converter.optimizers.toggle import MemoryMode, Toggle
from numlite.converter.plugins.merge import OFF_BY_DEFAULT, PluginConfigs, merge_configs
from numlite.converter.plugins.plugin import STATES, TriState

DEFAULT, OFF, ON = TriState
_TOGGLES = [name for name in STATES if isinstance(getattr(OptimizerConfig(), name), Toggle)]


def plugins(name: str, *states: TriState) -> list[PluginConfigs]:
    return [PluginConfigs(f"p{i}", {name: state}) for i, state in enumerate(states)]


def changed(warnings: list[str]) -> bool:
    return any(
        text.startswith("User's config has been changed based on plugin's config.") for text in warnings
    )


def differ(warnings: list[str]) -> bool:
    start = "Plugins have conflicting configs. Potential performance regression may happen."
    return any(text.startswith(start) for text in warnings)


@pytest.mark.parametrize("user", [Toggle.DEFAULT, Toggle.ON, Toggle.AGGRESSIVE])
@pytest.mark.parametrize("one", TriState)
@pytest.mark.parametrize("other", TriState)
def test_each_row_of_the_table(user: Toggle, one: TriState, other: TriState) -> None:
    """Of every optimizer that the user has on."""
    for name in _TOGGLES:
        if user == Toggle.DEFAULT and name in OFF_BY_DEFAULT:
            continue
        final, warnings = merge_configs(OptimizerConfig(**{name: user}), plugins(name, one, other))
        is_off = OFF in (one, other)
        assert getattr(final, name) == (Toggle.OFF if is_off else user)
        assert changed(warnings) == is_off
        assert differ(warnings) == (is_off and one != other)


@pytest.mark.parametrize("state", TriState)
def test_what_the_user_has_off_stays_off(state: TriState) -> None:
    for name in _TOGGLES:
        user = Toggle.DEFAULT if name in OFF_BY_DEFAULT else Toggle.OFF
        final, warnings = merge_configs(OptimizerConfig(**{name: user}), plugins(name, state))
        assert getattr(final, name) == user and not warnings


def test_pruning_is_reversed() -> None:
    name = "disable_model_pruning"
    for user in (False, True):
        for states in ((ON,), (OFF,), (DEFAULT,), (ON, OFF), (DEFAULT, OFF)):
            final, warnings = merge_configs(
                OptimizerConfig(disable_model_pruning=user), plugins(name, *states)
            )
            assert final.disable_model_pruning == (user or ON in states)
            assert changed(warnings) == (not user and ON in states)


def test_memory_and_replicas_have_levels_of_their_own() -> None:
    user = OptimizerConfig(auto_parallel=AutoParallel(True, 2))
    final, _ = merge_configs(user, [PluginConfigs("p", {"memory_optimization": OFF, "auto_parallel": OFF})])
    assert final.memory_optimization == MemoryMode.NO_MEM_OPT and not final.auto_parallel.enable
    quiet = OptimizerConfig(memory_optimization=MemoryMode.NO_MEM_OPT)
    assert merge_configs(quiet, plugins("memory_optimization", OFF)) == (quiet, [])
    assert merge_configs(OptimizerConfig(), plugins("auto_parallel", OFF))[1] == []


def test_the_table_of_a_warning() -> None:
    user = OptimizerConfig(remapping=Toggle.AGGRESSIVE)
    configs = [PluginConfigs("npu", {"remapping": OFF}), PluginConfigs("other", {"remapping": ON})]
    _, warnings = merge_configs(user, configs)
    assert warnings[0].splitlines()[1:] == [
        "           user        npu  other  final",
        "remapping  aggressive  OFF  ON     off",
    ]
    assert len(warnings) == 2


def test_no_plugins_change_nothing() -> None:
    assert merge_configs(OptimizerConfig(), []) == (OptimizerConfig(), [])
