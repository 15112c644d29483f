"""What commands are told about a delegate: its options, as KEY=VALUE."""

from __future__ import annotations

from collections.abc import Sequence

import click

delegate_option = click.option(
    "--delegate-option", "--option", "options", multiple=True, metavar="KEY=VALUE", help="For the delegate."
)


def parse_options(texts: Sequence[str]) -> dict[str, str]:
    """The options by name; UsageError for one that is no KEY=VALUE."""
    found = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise click.UsageError(f"--delegate-option must be KEY=VALUE, got {text!r}")
        found[key] = value
    return found
