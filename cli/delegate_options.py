"""What commands are told about a delegate: its options, as KEY=VALUE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def with_archs(options: Mapping[str, str], delegate: str, archs: Sequence[str]) -> dict[str, str]:
    """The options with the GPUs to compile for; UsageError where that makes no sense."""
    if not archs:
        return dict(options)
    from ..delegates.loading import takes_option

    if "arch" in options:
        raise click.UsageError(f"--arch and --option arch={options['arch']} say the same: give one of them")
    if not takes_option(delegate, "arch"):
        raise click.UsageError(f"--arch is for delegates that compile for GPUs, got {delegate!r}")
    return {**options, "arch": ",".join(archs)}
