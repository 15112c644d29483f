"""GraphRunner: a TensorFlow graph that runs, as often as wanted, by the fallback kernels."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...kernels.fallback.attributes import FunctionName
from ...kernels.fallback.environment import Environment, ResourceManager, Watch
from ...kernels.fallback.file_access import FileAccess
from ...kernels.fallback.kernel import checked_shape
from ...kernels.fallback.register import fallback_kernels
from ...kernels.fallback.registry import KernelRegistry
from ...kernels.fallback.status import InvalidArgumentError, ResourceExhaustedError
from ...kernels.fallback.variable import dereferenced
from ...lite.cancellation import Cancellation
from ...lite.errors import CancelledError, ModelError, TimedOutError
from ..saved_model.model_folder import ModelFolder
from .body import Body, Endpoint, graph_body
from .feeds import fed_array
from .frames import LoopRun
from .function_body import FunctionLibrary
from .graph_source import GraphSource, runnable
from .local_files import AssetFiles, LocalFiles
from .nearest_name import nearest
from .operations import Flow
from .plan import Plan
from .plan_builder import PlanBuilder
from .sequence import alive, run_in_order

# Functions that call functions, and so on.
_DEEPEST_CALL = 50

if TYPE_CHECKING:
    from ...schema.graph_def import GraphDef
    from .optimized_body import GraphOptimizer


class GraphRunner:
    """Runs parts of a graph. What a run needs is planned once for the same feeds and fetches.

    Variables, tables and queues live as long as the runner, as in a session. Runs of graphs without
    such state are safe from several threads.
    """

    def __init__(
        self,
        graph: GraphSource,
        registry: KernelRegistry | None = None,
        signature: str | None = None,
        allow_files: bool = False,
        plugins: Iterable[object] = (),
        prefer_plugin_kernels: bool = False,
        optimize: object = False,
    ) -> None:
        """Of a SavedModel runs the signature, which may be left out when it is the only one.

        With allow_files the graph may read and write any file that the process may; without, a SavedModel
        reads its own assets, and nothing else is open. plugins (classes, paths of .so and .py) run the ops
        that they bring; with prefer_plugin_kernels those of TensorFlow's that they have kernels for, too.
        optimize is False, True, "aggressive", an OptimizerConfig or a dictionary of its fields: the graph is
        optimized once for each feeds, fetches and targets. ValueError for anything else.
        ModelError when the graph is damaged: inputs that no node gives, names that are there twice.
        """
        source = runnable(graph, signature, allow_files)
        definition = source.definition
        registry = fallback_kernels() if registry is None else registry
        plugins = tuple(plugins)
        if plugins:
            # Imported for those that ask for it.
            from ..plugins.kernels import plugin_kernels

            registry = plugin_kernels(plugins, prefer_plugin_kernels, registry)
        # The graph's tensors by the signature's names.
        self.inputs, self.outputs = source.inputs, source.outputs
        self._initializers = source.initializers
        self._library = FunctionLibrary(definition.library.function, registry)
        self._body = graph_body(definition.node)
        self._builder = PlanBuilder(self._library, registry)
        self._optimizer = _optimizer(definition, optimize, plugins)
        self._producer = definition.versions.producer
        self._resources = ResourceManager()
        self._files = _files(source.folder, allow_files)
        self._plans: dict[tuple[object, ...], Plan] = {}
        self._lock = threading.RLock()
        self._runs: list[Cancellation] = []
        self._here = threading.local()  # the run of a thread; datasets keep environments of other runs

    def run(
        self,
        feeds: Mapping[str, object] | None = None,
        fetches: Sequence[str] = (),
        targets: Sequence[str] = (),
        timeout_s: float | None = None,
        watch: Watch | None = None,
    ) -> list[np.ndarray]:
        """Values of the fetches, when outputs of nodes are what feeds gives for them.

        Names are those of a SavedModel's signature, or "node" and "node:1"; targets are nodes that run
        for their effect. watch is called after each node of the graph that runs (not of its functions).
        Strings are bytes in object arrays; values of rank 0 are NumPy scalars.
        Raises UnsupportedError that names every
        op without a kernel, ModelError for a graph that makes no sense, and OpError
        (kernels.fallback.status) where a kernel fails; all name the node. So do CancelledError after
        cancel(), and TimedOutError when the run has taken timeout_s seconds; both come between nodes.
        """
        if isinstance(fetches, str):
            raise TypeError(f"fetches: must be a list of names, got {fetches!r}: put it in a list")
        given = {self._endpoint("feed", name, self.inputs): value for name, value in (feeds or {}).items()}
        if len(given) < len(feeds or ()):
            raise ModelError(f"feeds: each must be of another tensor, got {sorted(feeds or ())}")
        results = tuple(self._endpoint("fetch", name, self.outputs) for name in fetches)
        places = tuple(self._body.endpoint(name.removeprefix("^")).node for name in targets)
        with self._stoppable(timeout_s):
            self._initialize()
            flows, arrays = self._run(given, results, places, watch)
        return [_result(flow, name, arrays) for flow, name in zip(flows, fetches, strict=True)]

    def cancel(self) -> None:
        """Stop the runs that are under way, from another thread; later ones run as ever."""
        for run in list(self._runs):
            run.cancel()

    @contextmanager
    def _stoppable(self, timeout_s: float | None) -> Iterator[None]:
        """The block is one run."""
        run, before = Cancellation(), getattr(self._here, "run", None)
        run.limit(timeout_s)
        try:
            self._here.run = run
            self._runs.append(run)
            yield
        finally:
            if run in self._runs:  # a signal may have come before it was there
                self._runs.remove(run)
            self._here.run = before

    def _check(self) -> None:
        """CancelledError or TimedOutError where the run of this thread is to stop."""
        run = getattr(self._here, "run", None)
        if run is not None:
            run.check()

    def _endpoint(self, role: str, name: str, known: Mapping[str, str]) -> Endpoint:
        if not isinstance(name, str):
            raise TypeError(f"{role}: names must be str, got {name!r}")
        try:
            return self._body.endpoint(known.get(name, name))
        except ModelError as error:
            raise ModelError(f"{role} {name!r}: {error}{nearest(role, name, known, self._body)}") from error

    def _initialize(self) -> None:
        """Give variables and tables of a SavedModel their first contents, once."""
        if not self._initializers:
            return
        with self._lock:
            names, self._initializers = self._initializers, ()
            try:
                self._run({}, (), tuple(self._body.endpoint(name).node for name in names))
            except (CancelledError, TimedOutError, KeyboardInterrupt):
                self._initializers = names
                raise

    def _run(
        self,
        given: Mapping[Endpoint, object],
        results: tuple[Endpoint, ...],
        targets: tuple[int, ...],
        watch: Watch | None = None,
    ) -> tuple[list[Flow], list[np.ndarray]]:
        """The results, and what was fed."""
        plan = self._plan(tuple(given), results, targets)
        arrays = [
            fed_array(self._body.nodes[endpoint.node], endpoint.port, value, self._library)
            for endpoint, value in given.items()
        ]
        environment = self._environment(0)
        environment.watch = watch
        return _flows(plan, arrays, environment), arrays

    def _plan(
        self, given: tuple[Endpoint, ...], results: tuple[Endpoint, ...], targets: tuple[int, ...]
    ) -> Plan:
        key = given, results, targets
        with self._lock:
            if key not in self._plans:
                if self._optimizer is None:
                    self._plans[key] = self._builder.plan(self._body, given, results, targets)
                else:
                    self._plans[key] = self._optimized_plan(self._optimizer, given, results, targets)
            return self._plans[key]

    def _optimized_plan(
        self,
        optimizer: GraphOptimizer,
        given: tuple[Endpoint, ...],
        results: tuple[Endpoint, ...],
        targets: tuple[int, ...],
    ) -> Plan:
        old = self._body
        body = optimizer.body(old, given, results, targets)
        self._builder.share_state(old, body)
        return self._builder.plan(
            body,
            [_moved(old, body, endpoint) for endpoint in given],
            [_moved(old, body, endpoint) for endpoint in results],
            [body.places[old.nodes[place].name] for place in targets],
        )

    def _environment(self, depth: int) -> Environment:
        call = partial(self._call, depth + 1)
        return Environment(call, self._producer, self._resources, self._files, self._check)

    def _call(self, depth: int, function: FunctionName, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        if depth > _DEEPEST_CALL:
            message = f"function {function.name!r}: calls must be at most {_DEEPEST_CALL} deep"
            raise ResourceExhaustedError(f"{message}, got {depth}")
        self._check()
        plan = self._builder.function_plan(function)
        if len(inputs) != len(plan.given):
            message = f"function {function.name!r}: must have {len(plan.given)} arguments, got {len(inputs)}"
            raise InvalidArgumentError(message)
        flows = _flows(plan, inputs, self._environment(depth))
        return [alive(flow, f"result {i} of function {function.name!r}") for i, flow in enumerate(flows)]


def _files(folder: ModelFolder | None, allow_files: bool) -> FileAccess | None:
    if allow_files:
        return LocalFiles()
    return None if folder is None else AssetFiles(folder)


def _flows(plan: Plan, given: Sequence[np.ndarray], environment: Environment) -> list[Flow]:
    run = LoopRun(plan, environment).run if plan.has_loops else partial(run_in_order, plan, environment)
    with np.errstate(all="ignore"):
        flows = run(given)
    for place in plan.references:
        flow = flows[place]
        if isinstance(flow, np.ndarray):
            flows[place] = dereferenced(flow)
    return flows


def _result(flow: Flow, name: str, fed: Iterable[np.ndarray]) -> np.ndarray:
    """A result that nobody else holds; of rank 0 a NumPy scalar, as TensorFlow gives it.

    A string of rank 0 stays an array of an object: NumPy's own strings drop the NULs at their end.
    """
    value = alive(flow, f"fetch {name!r}")
    if not value.ndim:
        item = value[()]
        if isinstance(item, np.generic):
            scalar: np.ndarray = item
            return scalar
    is_shared = value.base is not None or not value.flags.writeable or any(value is other for other in fed)
    if not is_shared:
        return value
    checked_shape(value.shape, value.dtype)  # it may be one number that is repeated
    return value.copy()


def run_graph(
    graph: GraphSource,
    feeds: Mapping[str, object],
    fetches: Sequence[str],
    signature: str | None = None,
    allow_files: bool = False,
    timeout_s: float | None = None,
    plugins: Iterable[object] = (),
    prefer_plugin_kernels: bool = False,
    optimize: object = False,
) -> list[np.ndarray]:
    """Run a graph or a SavedModel once, from a fresh state: values of the fetches for these feeds.

    See GraphRunner.
    """
    runner = GraphRunner(graph, None, signature, allow_files, plugins, prefer_plugin_kernels, optimize)
    return runner.run(feeds, fetches, timeout_s=timeout_s)


def _optimizer(definition: GraphDef, optimize: object, plugins: Iterable[object]) -> GraphOptimizer | None:
    if optimize is False or optimize is None:
        return None
    # Imported for those that ask for it.
    from .optimized_body import GraphOptimizer, optimizer_config

    return GraphOptimizer(definition, optimizer_config(optimize), plugins)


def _moved(old: Body, new: Body, endpoint: Endpoint) -> Endpoint:
    """The endpoint in another body that has the node by its name."""
    return Endpoint(new.places[old.nodes[endpoint.node].name], endpoint.port)
