"""OpResolverType: which kernels an interpreter runs."""

import enum


@enum.unique
class OpResolverType(enum.Enum):
    """Which kernels run.

    AUTO and BUILTIN give the results of LiteRT's default kernels; BUILTIN_REF and
    BUILTIN_WITHOUT_DEFAULT_DELEGATES those of TFLite's reference kernels.
    """

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3

    @property
    def is_reference(self) -> bool:
        """Whether results are those of the reference kernels."""
        return self in (OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
