"""Errors whose message is a sentence that can be shown to a visitor as it is."""


class AttnvizError(ValueError):
    """A bad argument, told in one sentence: what was expected, what came, what to change."""


class EmptyRowError(AttnvizError):
    """A query row that the mask leaves without a single key to attend to."""


class TooLargeError(AttnvizError):
    """Work that would not fit in memory or in a limit of this deployment."""


class ModelError(AttnvizError):
    """A model that cannot be found, loaded or captured."""


class Cancelled(Exception):
    """Raised by a progress callback when nobody waits for the result any more."""
