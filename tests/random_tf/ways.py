"""The ways in which numlite computes a graph, each compared with TensorFlow's results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numlite import interpreter as numlite_api
from numlite.converter import convert, run_graph
from numlite.converter.target_spec import OpsSet, Settings, TargetSpec
from numlite.lite.errors import UnsupportedError

from tests.random_ops.litert_process import LiteRT, Outcome, run
from tests.random_ops.one_op import Trial as Model
from tests.random_tf.tensorflow_process import Refused
from tests.random_tf.trial import Trial, differences

Arrays = list[np.ndarray]


class Oracle(Protocol):
    """What TensorFlow says; Refused where it says no."""

    def run(self, graph: bytes, feeds: dict[str, np.ndarray], fetches: Sequence[str]) -> Arrays: ...

    def run_perturbed(self, graph: bytes, feeds: dict[str, np.ndarray], fetches: Sequence[str]) -> Arrays: ...

    def convert(self, graph: bytes, inputs: Sequence[str], outputs: Sequence[str], flex: bool) -> bytes: ...


@dataclass(frozen=True)
class Comparison:
    """A trial with TensorFlow's results of each run that it does (None for others).

    Without LiteRT nothing is asked of it, nor of TensorFlow's converter.
    """

    trial: Trial
    wanted: list[Arrays | None]
    oracle: Oracle
    litert: LiteRT | None

    def findings(self) -> Iterator[str]:
        """What each way has that TensorFlow has not; "no form: why" where both have no conversion."""
        yield from self._graph()
        model, refusal = self._converted(flex=False)
        if model is not None:
            yield from self._model("numlite", model, self._by_numlite)
            if self.litert is not None:
                yield from self._model("LiteRT", model, self._by_litert)
            return
        yield from self._unconverted("conversion", refusal, flex=False)
        if "select TensorFlow" not in refusal and "SELECT_TF_OPS" not in refusal:
            return
        model, refusal = self._converted(flex=True)
        if model is not None:
            yield from self._model("numlite with select ops", model, self._by_numlite)
        else:
            yield from self._unconverted("conversion with select ops", refusal, flex=True)

    def _graph(self) -> Iterator[str]:
        """run_graph."""
        t = self.trial
        for turn, wanted in enumerate(self.wanted):
            if wanted is None:
                continue
            try:
                found = run_graph(t.graph, t.feeds(turn), list(t.outputs))
            except Exception as error:
                yield f"run_graph: {type(error).__name__}: {error}"
                return
            if text := differences(t, found, wanted):
                yield f"run_graph, run {turn}: {text}"
                return

    def _converted(self, flex: bool) -> tuple[bytes | None, str]:
        """The model, or None and why there is none."""
        t, target = self.trial, TargetSpec()
        if flex:
            target.supported_ops = [OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS]
        shapes = {name: list(shape) for name, shape in zip(t.inputs, t.shapes, strict=True)}
        try:
            made = convert(t.graph, list(t.inputs), list(t.outputs), shapes, Settings.of(target, False))
        except UnsupportedError as error:
            return None, f"UnsupportedError: {error}"
        except Exception as error:
            return None, f"{type(error).__name__}, which is no UnsupportedError: {error}"
        return made.model, ""

    def _unconverted(self, way: str, refusal: str, flex: bool) -> Iterator[str]:
        """A fault where TensorFlow has a model that computes what it should."""
        t = self.trial
        if "no UnsupportedError" in refusal:
            yield f"{way}: {refusal}"
            return
        if self.litert is None:
            yield f"no form: {refusal}"
            return
        try:
            model = self.oracle.convert(t.graph, t.inputs, t.outputs, flex)
        except Refused:
            yield f"no form: {refusal}"
            return
        runs = self._by_numlite if flex else self._by_litert
        bad = next(self._model("TensorFlow's", model, runs), "")
        yield f"no form: {refusal}" if bad else f"{way}: TensorFlow has one: {refusal}"

    def _by_numlite(self, model: bytes) -> Outcome:
        return run(numlite_api, self._model_trial(model), "AUTO")

    def _by_litert(self, model: bytes) -> Outcome:
        assert self.litert is not None
        return self.litert.run(self._model_trial(model), "AUTO")

    def _model_trial(self, model: bytes) -> Model:
        """With the runs before the first that TensorFlow refuses, of which an interpreter may die."""
        count = next((i for i, wanted in enumerate(self.wanted) if wanted is None), len(self.wanted))
        return Model(model, list(self.trial.runs[:count]), "")

    def _model(self, way: str, model: bytes, runtime: Callable[[bytes], Outcome]) -> Iterator[str]:
        """The runs by one interpreter, as far as TensorFlow does them."""
        outcome = runtime(model)
        for turn, wanted in enumerate(self.wanted):
            if wanted is None:
                return
            if turn >= len(outcome.outputs):
                yield f"{way}, run {turn}: {outcome.refusal or 'died'}"
                return
            if text := differences(self.trial, outcome.outputs[turn], wanted):
                yield f"{way}, run {turn}: {text}"
                return


def compared(trial: Trial, oracle: Oracle, litert: LiteRT | None) -> str:
    """How a trial ended: "same", "refused" by TensorFlow, "no form" of either converter, or what differs."""
    wanted: list[Arrays | None] = []
    for turn in range(len(trial.runs)):
        try:
            wanted.append(oracle.run(trial.graph, trial.feeds(turn), trial.outputs))
        except Refused:
            wanted.append(None)
    if not wanted or wanted[0] is None:
        return "refused"
    found = list(Comparison(trial, wanted, oracle, litert).findings())
    faults = [text for text in found if not text.startswith("no form")]
    if faults and not _is_defined(trial, wanted, oracle):
        return "known: TensorFlow's results hang on what its memory held"
    if faults:
        return f"differs: {' ## '.join(faults)} | {trial.told}"
    return found[0] if found else "same"


def _is_defined(trial: Trial, wanted: Sequence[Arrays | None], oracle: Oracle) -> bool:
    """Whether the same comes of other bytes in TensorFlow's memory: it may read what nothing wrote."""
    for turn, arrays in enumerate(wanted):
        if arrays is None:
            continue
        try:
            again = oracle.run_perturbed(trial.graph, trial.feeds(turn), trial.outputs)
        except Refused:
            return False
        if differences(trial, again, arrays):
            return False
    return True
