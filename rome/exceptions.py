"""Errors that RoMe raises on purpose, each with a remedy in its message."""


class RomeError(Exception):
    """Base of every error that RoMe raises on purpose; catch this to catch them all."""


class InputError(RomeError, ValueError):
    """Texts, files or options are not valid; the message names which, and the remedy."""


class ModelMissingError(RomeError, FileNotFoundError):
    """A model, or a package that a model needs, is not installed; the message gives the command that installs it."""


class SignatureMismatchError(RomeError, ValueError):
    """Numbers of one signature would be combined with those of another."""


class StoreError(RomeError, OSError):
    """A store of analyses or a feature table cannot be read or written."""
