"""The error that a damaged file raises."""

from .shown import shown_lines


class ModelError(ValueError):
    """The file is damaged or says something that no valid model says.

    As text it has no control characters, which names in files may have.
    """

    def __str__(self) -> str:
        return shown_lines(super().__str__())
