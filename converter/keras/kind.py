"""Kind: what is known of a class of layers: its rule, its weights, the layers within it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .call import Rule
from .config import Config
from .layer import Layer

Read = Callable[[object], Layer]


@dataclass(frozen=True)
class Kind:
    """How layers of a class are read.

    weights are names in Keras's order; "bias?use_bias" is there where the setting is true or missing,
    "p??s" where it is true, "*mean" is not trained. names, instead, tells them by the settings. parts are the
    layers within, by the attributes that Keras saves them under. keeps_mask: the results have the mask of
    the first input.
    """

    rule: Rule
    weights: str = ""
    names: Callable[[Config], str] | None = None
    parts: Callable[[Config, Read], Mapping[str, Layer]] | None = None
    keeps_mask: bool = False

    def own(self, config: Config) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the weights that are trained, and of the others."""
        words = (self.weights if self.names is None else self.names(config)).split()
        trained: list[str] = []
        still: list[str] = []
        for word in words:
            name, _, setting = word.partition("?")
            is_optional = setting.startswith("?")
            if setting and not config.flag(setting.lstrip("?"), not is_optional):
                continue
            (still if name.startswith("*") else trained).append(name.lstrip("*"))
        return tuple(trained), tuple(still)
