"""The layers of a model, of the JSON that Keras 2 and 3 write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...lite.errors import ModelError, UnsupportedError
from ...schema.shown import shown
from .config import Config, cut
from .layer import Layer, Model
from .register import kind_of

# Models within models, wrappers within wrappers.
_DEEPEST = 40
_MOST_LAYERS = 100_000
_MODELS = ("Functional", "Model", "Sequential")
_OPERATIONS = (".ops.", "keras.ops")
_QUANTIZED = ("QuantizedDTypePolicy", "QuantizedFloat8DTypePolicy", "GPTQDTypePolicy", "Int4DTypePolicy")


def model_of(text: str | bytes) -> Model:
    """The model that a config.json, or the attribute model_config of a .h5 file, tells."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"config: it must be JSON ({cut(str(error))})") from error
    layer = layer_of(found)
    if not isinstance(layer, Model):
        raise ModelError(f"config: it must tell a model, got the layer {shown(layer.kind)}")
    layer.version = str(found.get("keras_version") or "")
    return layer


def layer_of(serialized: object) -> Layer:
    """A layer, or a model, as Keras serializes them."""
    return _Reader().layer(serialized)


class _Reader:
    def __init__(self) -> None:
        self.count = self.depth = 0
        # Layers that are in several models, by the numbers that Keras 3 gives them.
        self.shared: dict[object, Layer] = {}

    def layer(self, serialized: object) -> Layer:
        """The layer; models are of the class Model."""
        told = Config(serialized)
        kind = told.text("class_name")
        self.count += 1
        self.depth += 1
        if self.count > _MOST_LAYERS or self.depth > _DEEPEST:
            raise ModelError(f"config: at most {_MOST_LAYERS} layers and {_DEEPEST} within each other")
        config = told.get("config")
        if kind == "Sequential" and isinstance(config, list):
            config = {"name": "sequential", "layers": config}
        settings = Config(config)
        name = str(told.get("name") or settings.get("name") or kind)
        try:
            made = self._made(told, kind, name, settings)
        except ModelError as error:
            if str(error).startswith(("layer ", "config:")):
                raise
            raise ModelError(f"layer {shown(name)} ({shown(kind)}): {error}") from error
        nodes = told.get("inbound_nodes")
        if nodes is not None and not isinstance(nodes, list):
            raise ModelError(f"layer {shown(name)}: inbound_nodes must be a list, got {cut(nodes)}")
        self.depth -= 1
        number = told.get("shared_object_id")
        if isinstance(number, int):
            made = self._one(number, made)
        made.inbound = nodes or ()
        return made

    def _one(self, number: int, made: Layer) -> Layer:
        """The layer with the weights and parts of the one that had the number before."""
        first = self.shared.setdefault(number, made)
        if first is made or first.kind != made.kind:
            return made
        return replace(made, weights=first.weights, stored=first.stored, parts=first.parts)

    def _made(self, told: Config, kind: str, name: str, config: Config) -> Layer:
        if _is_model(kind, config):
            return self._model(kind, name, config, told)
        _check_policy(config)
        module = str(told.get("module") or "")
        full = f"ops.{kind}" if any(part in f"{module}." for part in _OPERATIONS) else kind
        known = kind_of(full)
        trained = config.flag("trainable", True)
        build = told.get("build_config")
        if isinstance(build, Mapping) and isinstance(build.get("input_shape"), list):
            # What InputLayer tells, of a Sequential model that has none.
            config = Config({"build_input_shape": build["input_shape"], **config.values})
        if known is None:
            registered = told.get("registered_name")
            names = (registered,) if isinstance(registered, str) else ()
            return Layer(full, name, config, trained=trained, aliases=names)
        own, still = known.own(config)
        parts = {} if known.parts is None else dict(known.parts(config, self.layer))
        return Layer(full, name, config, True, own, still, trained, parts)

    def _model(self, kind: str, name: str, config: Config, told: Config) -> Model:
        layers: dict[str, Layer] = {}
        for serialized in config.list("layers"):
            layer = self.layer(serialized)
            if layer.name in layers:
                raise ModelError(f"layers must have different names, got two of {shown(layer.name)}")
            layers[layer.name] = layer
        trained = config.flag("trainable", True)
        if config.get("input_layers") is None:
            return Model("Sequential", name, config, True, trained=trained, parts=layers)
        return Model(
            "Functional",
            name,
            config,
            True,
            trained=trained,
            parts=layers,
            inputs=config.get("input_layers"),
            outputs=config.get("output_layers"),
        )


def _is_model(kind: str, config: Config) -> bool:
    """Also of classes that are made of a functional model and say so by their settings."""
    if kind in _MODELS and not isinstance(config.get("layers"), list):
        raise UnsupportedError(
            f"model {shown(config.get('name'))} is made by code, which a file does not hold; export it as a "
            "SavedModel (model.export) and convert that"
        )
    return isinstance(config.get("layers"), list) and (
        kind in _MODELS or isinstance(config.get("input_layers"), list | dict)
    )


def _check_policy(config: Config) -> None:
    """UnsupportedError for weights that are stored as integers."""
    policy = config.get("dtype")
    if isinstance(policy, Mapping) and policy.get("class_name") in _QUANTIZED:
        raise UnsupportedError(
            "its weights are quantized by Keras; save the model before quantize() and quantize here"
        )


def is_reference(value: object) -> bool:
    """Whether it names a tensor of Keras 2: [layer, node, tensor] and perhaps arguments."""
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) in (3, 4)
        and isinstance(value[0], str)
        and all(isinstance(each, int) and not isinstance(each, bool) for each in value[1:3])
    )
