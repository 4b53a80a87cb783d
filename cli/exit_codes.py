"""What the exit status says."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit statuses; those from 128 on are 128 plus the signal's number, as shells report a death by signal."""

    DONE = 0
    FAILED = 1
    """The generation failed, or its output could not be written."""
    USAGE = 2
    NOT_LOADED = 3
    """The model could not be found or loaded."""
    NOT_COMPARED = 4
    """Nothing could be compared with the old results, so that nobody knows whether something has become slower."""
    HUNG_UP = 129
    CANCELLED = 130
    NOBODY_READS = 141
    """The reader of stdout went away, as with ``| head``."""
    TERMINATED = 143
