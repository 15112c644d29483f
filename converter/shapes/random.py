"""Random numbers."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY, shape_of_sizes


def shaped(c: ShapeContext) -> Results:
    """The first input is the shape; for a stateful generator, the third."""
    sizes = c.sizes(2 if c.op in _AFTER_ALGORITHM else 0)
    return [None if sizes is None else shape_of_sizes(sizes)]


_AFTER_ALGORITHM = (
    *("StatefulStandardNormalV2", "StatefulTruncatedNormal", "StatefulUniform", "StatefulUniformInt"),
    *("StatefulUniformFullInt",),
)


def multinomial(c: ShapeContext) -> Results:
    """A row of samples for each row of logits."""
    x, count = c.ranked(0, 2), c.number(1)
    return [(x[0], ANY if count is None else count)]


def gamma(c: ShapeContext) -> Results:
    """RandomGamma, RandomPoisson: the shape, then that of the parameters."""
    sizes, alpha = c.sizes(0), c.shape_of(1)
    return [None if sizes is None or alpha is None else shape_of_sizes(sizes) + alpha]


def candidates(c: ShapeContext) -> Results:
    """Samplers: classes, and expected counts of the true and the sampled."""
    x = c.ranked(0, 2)
    count = c.integer("num_sampled")
    return [(count,), x, (count,)]


def sobol(c: ShapeContext) -> Results:
    """A row of as many coordinates as the first input says, for each of the second's points."""
    dims, points = c.number(0), c.number(1)
    return [(ANY if points is None else points, ANY if dims is None else dims)]


def key_counter(c: ShapeContext) -> Results:
    """StatelessRandomGetKeyCounter: for the algorithm that is chosen."""
    return [(1,), (2,)]


def algorithm(c: ShapeContext) -> Results:
    return [()]


def key_counter_algorithm(c: ShapeContext) -> Results:
    return [(1,), (2,), ()]


_SHAPED = (
    *("RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal"),
    *("ParameterizedTruncatedNormal", "StatelessRandomUniform", "StatelessRandomNormal"),
    *("StatelessTruncatedNormal", "StatelessRandomUniformInt", "StatelessRandomUniformFullInt"),
    *("StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"),
    *("StatelessRandomUniformIntV2", "StatelessRandomUniformFullIntV2", "StatelessRandomBinomial"),
    *(
        "StatelessRandomPoisson",
        "StatelessRandomGammaV2",
        "StatelessRandomGammaV3",
        "StatelessParameterizedTruncatedNormal",
    ),
    *_AFTER_ALGORITHM,
)
_SAMPLERS = ("UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler")
REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(_SHAPED, shaped),
    **dict.fromkeys(("Multinomial", "StatelessMultinomial"), multinomial),
    **dict.fromkeys(("RandomGamma", "RandomPoisson", "RandomPoissonV2"), gamma),
    **dict.fromkeys(
        ("UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler"),
        candidates,
    ),
    "SobolSample": sobol,
    "StatelessRandomGetKeyCounter": key_counter,
    "StatelessRandomGetAlg": algorithm,
    "StatelessRandomGetKeyCounterAlg": key_counter_algorithm,
}
