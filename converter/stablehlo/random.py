"""Random numbers, of which a program does not say which they are: why there is nothing for them."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from .step import Result, Rule, Step


def rng(step: Step) -> Result:
    """UnsupportedError: each call gives other numbers, of whichever generator runs it."""
    raise UnsupportedError(
        "its numbers are another device's in each run; make them of a key (jax.random with threefry2x32) or "
        "have them as an input"
    )


def rng_bit_generator(step: Step) -> Result:
    """UnsupportedError: bits of 64-bit states have no operators; the usual algorithm is each device's own."""
    algorithm = step.text("rng_algorithm")
    raise UnsupportedError(
        f"bits by the algorithm {algorithm}, whose state of 64 bits has no operators; JAX's generator "
        "threefry2x32 (jax.random.key(seed, impl='threefry2x32')) needs neither"
    )


REGISTRATIONS: dict[str, Rule] = {"rng": rng, "rng_bit_generator": rng_bit_generator}
