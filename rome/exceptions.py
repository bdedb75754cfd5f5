"""What can go wrong: every error that RoMe raises on purpose, each with a remedy in its text."""


class RomeError(Exception):
    """Base of every error that RoMe raises on purpose; catch this to catch them all."""


class InputError(RomeError, ValueError):
    """The texts, files or options are not what they should be; the message names which and what to do."""


class ModelMissingError(RomeError, FileNotFoundError):
    """A model, or a package that a model needs, is not installed; the message gives the command that gets it."""


class SignatureMismatchError(RomeError, ValueError):
    """Numbers made under one signature were about to be combined under another."""


class StoreError(RomeError, OSError):
    """A store of analyses or a feature table cannot be read or written."""
