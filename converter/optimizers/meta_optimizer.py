"""MetaOptimizer: runs the optimizers over a graph, then over its functions."""

from __future__ import annotations

import time
from collections.abc import Callable
from difflib import get_close_matches

from ...lite.errors import UnsupportedError
from ..ir.module import Function
from ..ir.verifier import verify
from .config import OptimizerConfig
from .external import CheckFactory, Chosen, CustomFactory, ExternalOptimizer, PluginChoice
from .finish import compiled_functions, drop_unreachable, finish, reachable_functions
from .item import GrapplerItem
from .passes import Pass, PassRunner
from .register import OPTIMIZERS, Optimizer, optimizer
from .result import SKIPPED, TIME_OVER, OptimizationResult, PassRecord
from .toggle import NumIterations, Toggle

# Graphs of fewer nodes are left as they are, unless the config says otherwise.
_FEW_NODES = 4
# Functions that may be optimized in turn: each specialisation is one more.
_MOST_FUNCTIONS = 10_000


class MetaOptimizer:
    """Runs the optimizers that a config asks for.

    plugins chooses, for an item and the config, which plugins run behind all others and how they change the
    config; None for no plugins. custom makes an optimizer that the config names and the list does not have.
    check makes what looks at the graph after each pass (Verification); what it refuses counts as failed.
    Raises UnsupportedError for an optimizer or setting that is not built.
    """

    def __init__(
        self,
        config: OptimizerConfig | None = None,
        plugins: PluginChoice | None = None,
        custom: CustomFactory | None = None,
        check: CheckFactory | None = None,
    ) -> None:
        self.config = config or OptimizerConfig()
        self._plugins = plugins
        self._custom = custom
        self._check = check
        _check_settings(self.config)

    def optimize(self, item: GrapplerItem) -> OptimizationResult:
        """Optimize the item's graph and the functions that it reaches; the item's module stays as it is.

        An optimizer that fails leaves the graph as it was before it, and its record says why; with
        fail_on_optimizer_errors its error is raised. Past the timeout the graph stays as it is then.
        Source: TensorFlow core/grappler/optimizers/meta_optimizer.cc.
        """
        item = item.clone()
        result = OptimizationResult(item.module)
        if self.config.disable_meta_optimizer:
            return result
        chosen = self._chosen(item)
        result.warnings += chosen.warnings
        external = list(chosen.optimizers)
        try:
            drop_unreachable(item)
            check = None if self._check is None else self._check(item)
            if check is not None and check.reason:
                result.warnings.append(f"verify: {check.reason}")
            runner = PassRunner(chosen.config, result, self._deadline(), check)
            passes = self._passes(chosen.config, external, result)
            hidden = item.hide_fed_constants()
            self._run(runner, item, passes)
            item.restore_constants(hidden)
            if item.options.optimize_function_library and not item.function:
                self._optimize_functions(runner, item, passes)
            if chosen.config.post_optimization_verifier_config.structure_verifier == Toggle.ON:
                verify(item.module)
        finally:
            for each in external:
                each.close()
        late = [each.optimizer for each in result.passes if each.reason == TIME_OVER]
        if late:
            limit = chosen.config.meta_optimizer_timeout_ms
            over = f"meta_optimizer_timeout_ms: {limit} ms were over before {late[0]}"
            result.warnings.append(f"{over}; passes left out: {len(late)}")
        result.module = item.module
        return result

    def _chosen(self, item: GrapplerItem) -> Chosen:
        if self._plugins is None or self.config.use_plugin_optimizers == Toggle.OFF:
            return Chosen(self.config)
        return self._plugins(item, self.config)

    def _deadline(self) -> float | None:
        limit = self.config.meta_optimizer_timeout_ms
        return time.monotonic() + limit / 1000 if limit > 0 else None

    def _passes(
        self, config: OptimizerConfig, external: list[ExternalOptimizer], result: OptimizationResult
    ) -> list[Pass]:
        """The passes of one iteration; custom optimizers that are made are put before the external ones."""
        plugins = list(external)
        found = self._named(config, external, result) if config.optimizers else _default_passes(config)
        if not config.optimizers:
            for each in config.custom_optimizers:
                found.append(self._made(each.name, dict(each.parameter_map), external))
        return [*found, *(Pass(each.name, external=each) for each in plugins)]

    def _named(
        self, config: OptimizerConfig, external: list[ExternalOptimizer], result: OptimizationResult
    ) -> list[Pass]:
        found = []
        given = {each.name: dict(each.parameter_map) for each in config.custom_optimizers}
        for name in config.optimizers:
            known = optimizer(name)
            if known is not None:
                level = known.level(config)
                found.append(Pass(known.name, Toggle.DEFAULT if level == Toggle.OFF else level, known))
            elif name.startswith("tfg:"):
                if config.disable_tfg_optimizer:
                    record = PassRecord(name, status=SKIPPED, reason="disable_tfg_optimizer is on")
                    result.passes.append(record)
                else:
                    found.append(Pass(name))
            else:
                try:
                    found.append(self._made(name, given.get(name, {}), external))
                except KeyError:
                    reason = f"there is no optimizer {name!r}"
                    result.warnings.append(reason)
                    result.passes.append(PassRecord(name, status=SKIPPED, reason=reason))
        return found

    def _made(self, name: str, parameters: dict[str, object], external: list[ExternalOptimizer]) -> Pass:
        if self._custom is None:
            raise KeyError(name)
        made = self._custom(name, parameters)
        external.append(made)
        return Pass(name, external=made)

    def _iterations(self) -> int:
        return 1 if self.config.meta_optimizer_iterations == NumIterations.ONE else 2

    def _run(self, runner: PassRunner, item: GrapplerItem, passes: list[Pass]) -> None:
        """All iterations over one graph."""
        state = runner.start(item)
        least = self.config.min_graph_nodes or _FEW_NODES
        last = [each for each in passes if each.name == "scoped_allocator"]
        for iteration in range(self._iterations()):
            if len(item.body.body) < least:
                break
            changed = False
            for each in passes:
                if each in last or (iteration and each.runs_once):
                    continue
                changed |= runner.run(each, state, iteration)
            if not changed:
                break
        for each in last:
            runner.run(each, state, self._iterations() - 1)
        finish(item)

    def _optimize_functions(self, runner: PassRunner, item: GrapplerItem, passes: list[Pass]) -> None:
        """Each function once, also those that optimizing others makes."""
        done = compiled_functions(item)
        while len(done) < _MOST_FUNCTIONS:
            drop_unreachable(item)
            waiting = [name for name in reachable_functions(item) if name not in done]
            if not waiting:
                return
            for name in waiting:
                done.add(name)
                function = item.module.functions.get(name)
                if function is not None and _is_optimized(function):
                    self._run(runner, GrapplerItem.from_function(item.module, name, item.devices), passes)


def _is_optimized(function: Function) -> bool:
    """Whether a function is optimized by itself: not generic ones, nor tf.data's."""
    return not function.generic and not any(
        name.removeprefix("tf.") == "_tf_data_function" and value
        for name, value in function.attributes.items()
    )


def _default_passes(config: OptimizerConfig) -> list[Pass]:
    levels: list[tuple[Optimizer, Toggle]] = [(each, each.level(config)) for each in OPTIMIZERS]
    found = [Pass(each.name, level, each) for each, level in levels if level != Toggle.OFF]
    if config.arithmetic_optimization == Toggle.OFF:
        found = [each for each in found if each.name != "common_subgraph_elimination"]
    return found


def _check_settings(config: OptimizerConfig) -> None:
    """UnsupportedError for settings that nothing would follow, ValueError for stages that are none."""
    refused: tuple[tuple[str, Callable[[OptimizerConfig], bool]], ...] = (
        (
            "experimental_conditional_code_motion",
            lambda c: c.experimental_conditional_code_motion in (Toggle.ON, Toggle.AGGRESSIVE),
        ),
        (
            "experimental_disable_compressed_tensor_optimization",
            lambda c: c.experimental_disable_compressed_tensor_optimization,
        ),
        (
            "verification_timeout_in_ms",
            lambda c: (
                c.inter_optimizer_verifier_config.verification_timeout_in_ms > 0
                or c.post_optimization_verifier_config.verification_timeout_in_ms > 0
            ),
        ),
    )
    for name, is_set in refused:
        if is_set(config):
            raise UnsupportedError(f"{name}: is not built; leave it at its default")
    if config.stages:
        # Imported for those that name some.
        from .rule_table import all_rules

        known = {rule.name for rule in all_rules()}
        unknown = sorted(set(config.stages) - known)
        if unknown:
            near = ", ".join(get_close_matches(unknown[0], known)) or "numlite optimize --list names them"
            raise ValueError(f"stages: there is no {unknown[0]!r}: {near}")
