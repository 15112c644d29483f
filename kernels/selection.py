"""Selection: the operators and kernels that some models need, as a JSON file says."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field

from ..lite.errors import ModelError

_FORMAT = 1
_LONGEST = 200  # characters of a fault that are shown


@dataclass
class Selection:
    """What models need.

    builtin has the least and the greatest version of each builtin operator, custom the custom
    operators, fallback the TensorFlow ops of flex operators, families the families of compiled
    kernels. incomplete says of which models the families are not all known, and why.
    """

    builtin: dict[str, tuple[int, int]] = field(default_factory=dict)
    custom: set[str] = field(default_factory=set)
    fallback: set[str] = field(default_factory=set)
    families: set[str] = field(default_factory=set)
    incomplete: dict[str, str] = field(default_factory=dict)

    def add_builtin(self, name: str, version: int) -> None:
        least, greatest = self.builtin.get(name, (version, version))
        self.builtin[name] = min(least, version), max(greatest, version)

    def to_json(self) -> str:
        """The file's text; the same for the same selection."""
        content = {
            "format": _FORMAT,
            "builtin": {name: list(versions) for name, versions in sorted(self.builtin.items())},
            "custom": sorted(self.custom),
            "fallback": sorted(self.fallback),
            "families": sorted(self.families),
            "incomplete": dict(sorted(self.incomplete.items())),
        }
        return json.dumps(content, indent=2) + "\n"


def read_selection(path: str | os.PathLike[str]) -> Selection:
    """The selection in a file that `numlite select-ops` wrote; ModelError when it is none."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
        _check_is_no_model(data)
        content = json.loads(data)
        if content["format"] != _FORMAT:
            raise ValueError(f"format must be {_FORMAT}, got {content['format']!r}")
        builtin = {str(op): (int(least), int(most)) for op, (least, most) in content["builtin"].items()}
        custom, fallback, families = (_texts(content, key) for key in ("custom", "fallback", "families"))
        return Selection(builtin, custom, fallback, families, dict(content["incomplete"]))
    except OSError as error:
        raise ModelError(f"Could not open {name!r}: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ModelError(f"{name}: it must be a selection that select-ops wrote: {_brief(error)}") from error


def _check_is_no_model(data: bytes) -> None:
    if data[4:8] == b"TFL3":
        raise ValueError("it is a model; numlite select-ops MODEL -o FILE writes the selection of one")


def _brief(error: Exception) -> str:
    """What is wrong, without the file's contents, which some errors hold."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is no text ({error.reason} at byte {error.start})"
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    text = (
        str(error)
        if type(error) in (ValueError, json.JSONDecodeError)
        else f"{type(error).__name__}: {error}"
    )
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _texts(content: dict[str, list[object]], key: str) -> set[str]:
    if not isinstance(content[key], list) or not all(isinstance(text, str) for text in content[key]):
        raise ValueError(f"{key} must be a list of texts")
    return set(map(str, content[key]))
