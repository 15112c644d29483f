"""Importer: models layer by layer, each call by the rule of its class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ...lite.errors import ModelError, PrepareError, UnsupportedError
from ...schema.shown import shown
from ..building.body import Body
from ..building.module_builder import FailedError, ModuleBuilder, Refusal
from ..building.tensor import Tensor
from .call import Call, Given, Result, Value, flat
from .config import cut
from .inbound import Node, Reference, nodes_of, references, tensors_at
from .kind import Kind
from .layer import Layer, Model
from .model_config import layer_of
from .register import kind_of

_FAULTS = (ModelError, PrepareError, ValueError, TypeError, KeyError, OverflowError, IndexError, MemoryError)


class Shared(ModuleBuilder):
    """What all graphs of a model have in common."""

    def __init__(self, is_keras_2: bool = False) -> None:
        super().__init__()
        # Some functions and defaults are others there.
        self.is_keras_2 = is_keras_2


class Importer:
    """Calls layers and models. custom are the functions of users, by names of classes or layers."""

    def __init__(self, shared: Shared, body: Body, custom: Mapping[str, Callable[[Call], Result]]) -> None:
        self.shared = shared
        self.body = body
        self.custom = custom

    def inner(self, body: Body) -> Importer:
        """The importer of a function's body."""
        return Importer(self.shared, body, self.custom)

    def called(
        self, layer: Layer, arguments: Sequence[Given], named: Mapping[str, Given], body: Body | None = None
    ) -> Result:
        """What the layer gives: values, with masks, in its structure."""
        if isinstance(layer, Model):
            importer = self if body is None or body is self.body else self.inner(body)
            return importer.modelled(layer, arguments[0] if arguments else dict(named))
        call = Call(self, layer, arguments, named, body)
        before, call.body.prefix = call.body.prefix, _joined(call.body.prefix, layer.name)
        try:
            return self._ruled(call, layer)
        except UnsupportedError as error:
            self.shared.refusals.append(Refusal(layer.name, layer.class_name, str(error)))
            raise FailedError from error
        except _FAULTS as error:
            what = f"layer {shown(layer.name)} ({shown(layer.class_name)})"
            raise error if str(error).startswith("layer ") else ModelError(f"{what}: {error}") from error
        finally:
            call.body.prefix = before

    def _ruled(self, call: Call, layer: Layer) -> Result:
        names = (layer.name, layer.class_name, *layer.aliases)
        hook = next((self.custom[name] for name in names if name in self.custom), None)
        if hook is not None:
            return _valued(hook(call), None)
        kind = kind_of(layer.kind)
        if kind is None:
            raise UnsupportedError(
                f"the class is not known; custom_layers={{{layer.class_name!r}: function}} makes it"
            )
        return _valued(kind.rule(call), _kept_mask(kind, call))

    def hooked(self, hook: Callable[[Call], Result], c: Call, x: Tensor) -> Tensor:
        """What a user's function gives for one tensor."""
        return self.tensor(_valued(hook(Call(self, c.layer, [Value(x)], {}, x.body)), None))

    def layer(self, serialized: object) -> Layer:
        """A layer within another layer's settings; it has no weights."""
        return layer_of(serialized)

    def tensor(self, result: Result) -> Tensor:
        """The one tensor of a result."""
        found = list(flat(_valued(result, None)))
        if len(found) != 1:
            raise ModelError(f"one tensor is wanted, got {len(found)}")
        return found[0].tensor

    def modelled(self, model: Model, given: Given) -> Result:
        """What the model gives for its inputs."""
        if model.inputs is None:
            for layer in model.layers.values():
                if layer.class_name != "InputLayer":
                    given = self.called(layer, [given], {})
            return given  # type: ignore[return-value]
        run = _Run(self, model)
        run.give(given)
        run.all()
        return run.result()


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}/{name}" if prefix else name


def _kept_mask(kind: Kind, call: Call) -> Tensor | None:
    return call.mask if kind.keeps_mask else None


def _valued(result: Result, mask: Tensor | None) -> Result:
    """The result with its tensors as values of the mask."""
    if isinstance(result, Tensor):
        return Value(result, mask)
    if isinstance(result, Value):
        return result
    if isinstance(result, Mapping):
        return {key: _valued(each, mask) for key, each in result.items()}
    if isinstance(result, list | tuple):
        return [_valued(each, mask) for each in result]
    raise ModelError(f"its function must give tensors, got {type(result).__name__}")


class _Run:
    """One call of a functional model: the nodes of its layers in the order in which they need each other."""

    def __init__(self, importer: Importer, model: Model) -> None:
        self.importer = importer
        self.model = model
        nodes = {name: list(nodes_of(layer, model)) for name, layer in model.layers.items()}
        first = _first_places(model, nodes)
        self.nodes: dict[tuple[str, int], Node] = {
            (name, place): node
            for name, calls in nodes.items()
            for place, node in enumerate(calls, first.get(name, 0))
        }
        self.results: dict[tuple[str, int], Result | None] = {}

    def give(self, given: Given) -> None:
        """The values of the model's inputs, in their order or by their names."""
        inputs = references(self.model.inputs)
        values = _input_values(given, self.model.inputs, inputs)
        if len(values) != len(inputs):
            raise ModelError(
                f"model {shown(self.model.name)}: it must be given {len(inputs)} inputs, got {len(values)}"
            )
        for reference, value in zip(inputs, values, strict=True):
            self.results[(reference.layer, reference.node)] = value

    def all(self) -> None:
        """Run what the outputs need."""
        for reference in references(self.model.outputs):
            self._need((reference.layer, reference.node))

    def result(self) -> Result:
        found = tensors_at(self.model.outputs, self._value)
        return found  # type: ignore[return-value]

    def _need(self, wanted: tuple[str, int]) -> None:
        """Depth first, without recursion, as nets are deep."""
        open_nodes: list[tuple[tuple[str, int], Iterator[Reference]]] = []
        entered = set()

        def enter(key: tuple[str, int]) -> None:
            if key in self.results:
                return
            if key not in self.nodes:
                raise ModelError(f"layer {shown(key[0])}: it must have a call {key[1]}, it has none")
            if key in entered:
                raise ModelError(f"layer {shown(key[0])}: its inputs must not need its result")
            entered.add(key)
            open_nodes.append((key, iter(self.nodes[key].references())))

        enter(wanted)
        while open_nodes:
            key, needs = open_nodes[-1]
            reference = next(needs, None)
            if reference is not None:
                enter((reference.layer, reference.node))
                continue
            open_nodes.pop()
            self.results[key] = self._called(key)

    def _called(self, key: tuple[str, int]) -> Result | None:
        node = self.nodes[key]
        try:
            arguments, named = node.filled(self._value)
            return self.importer.called(self.model.layers[key[0]], arguments, named)
        except FailedError:
            return None

    def _value(self, reference: Reference) -> Given:
        key = (reference.layer, reference.node)
        found = self.results.get(key)
        if found is None:
            if key in self.results:
                raise FailedError
            raise ModelError(
                f"layer {shown(reference.layer)}: it must have a call {reference.node}, it has none"
            )
        leaves = list(flat(found))
        if not 0 <= reference.tensor < len(leaves):
            raise ModelError(
                f"layer {shown(reference.layer)}: result {reference.tensor} is wanted, it has {len(leaves)}"
            )
        return leaves[reference.tensor]


def _first_places(model: Model, nodes: Mapping[str, Sequence[Node]]) -> dict[str, int]:
    """What the first call of each model within is counted as: 1 where its own making counts as call 0."""
    used: dict[str, set[int]] = {
        name: set() for name, layer in model.layers.items() if isinstance(layer, Model)
    }
    found = [reference for calls in nodes.values() for node in calls for reference in node.references()]
    for reference in [*found, *references(model.outputs)]:
        if reference.layer in used:
            used[reference.layer].add(reference.node)
    return {
        name: int(max(places, default=0) >= len(nodes[name]) and 0 not in places)
        for name, places in used.items()
    }


def _input_values(given: Given, structure: object, inputs: Sequence[Reference]) -> list[Value]:
    if isinstance(given, Mapping) and not isinstance(structure, Mapping):
        # Inputs by the names of their layers.
        names = [reference.layer for reference in inputs]
        if set(names) <= set(map(str, given)):
            return [value for name in names for value in flat(given[name])]
    if not isinstance(given, Value | Mapping | list | tuple):
        raise ModelError(f"a model must be called with tensors, got {cut(given)}")
    return list(flat(given))
