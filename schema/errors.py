"""The error that a damaged file raises."""


class ModelError(ValueError):
    """The file is damaged or says something that no valid model says."""
