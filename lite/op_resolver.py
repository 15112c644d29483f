"""OpResolver: finds the registration of a builtin operator or of a custom one."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Self

from .errors import UnsupportedError
from .registration import Registration


class OpResolver:
    """Builtin operators by code and version, custom operators by name. Later entries win.

    An interpreter asks it once for each operator of its model, when it is made.
    """

    def __init__(self, registrations: Iterable[Registration] = ()) -> None:
        self._builtins: dict[int, list[Registration]] = {}
        self._custom: dict[str, Registration] = {}
        for registration in registrations:
            self.add_builtin(registration)

    def add_builtin(self, registration: Registration) -> None:
        """Offer a builtin operator for the versions that it names, before those added earlier."""
        self._builtins.setdefault(registration.builtin_code, []).insert(0, registration)

    def add_custom(self, name: str, operator: object) -> None:
        """Add a custom operator: a Registration, or an object with invoke(context, node).

        ValueError for anything else. See custom_op.register_custom_op.
        """
        from .custom_op import custom_registration  # which most models do without

        self._custom[name] = custom_registration(name, operator)

    def copy(self) -> Self:
        """A resolver to which operators can be added without changing this one."""
        made = copy(self)
        made._builtins = {code: list(known) for code, known in self._builtins.items()}
        made._custom = dict(self._custom)
        return made

    def find_builtin(self, code: int, version: int, name: str) -> Registration:
        """The registration for a builtin operator; UnsupportedError says what is missing."""
        known = self._builtins.get(code)
        if not known:
            raise UnsupportedError(f"Didn't find op for builtin opcode {name!r} version '{version}'")
        for registration in known:
            if registration.min_version <= version <= registration.max_version:
                return registration
        newest = max(registration.max_version for registration in known)
        raise UnsupportedError(
            f"Didn't find op for builtin opcode {name!r} version '{version}': "
            f"versions up to {newest} are built"
        )

    def find_custom(self, name: str) -> Registration | None:
        """The registration for a custom operator, None where there is none: delegates may take it."""
        return self._custom.get(name)
