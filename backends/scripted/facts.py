"""What a script says happened to the engine during a token."""

import msgspec

from ..token_facts import Scheduling


class ScriptedFacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a token's line says happened to the engine; ``None`` where it says nothing."""

    involuntary: int | None = None
    voluntary: int | None = None
    minor_faults: int | None = None
    major_faults: int | None = None
    read_bytes: int | None = None
    wait_ms: float | None = None
    longest_wait_ms: float | None = None
    suspended_ms: float | None = None
    cpu_ms: float | None = None
    sample_ms: float = 0.0
    rest_ms: float = 0.0

    @property
    def scheduling(self) -> Scheduling:
        """The same as a token carries it."""
        return Scheduling(
            involuntary_switches=self.involuntary,
            voluntary_switches=self.voluntary,
            minor_faults=self.minor_faults,
            major_faults=self.major_faults,
            read_bytes=self.read_bytes,
            wait_ns=nanoseconds(self.wait_ms),
            longest_wait_ns=nanoseconds(self.longest_wait_ms),
            suspended_ns=nanoseconds(self.suspended_ms),
            cpu_ns=nanoseconds(self.cpu_ms),
        )


def nanoseconds(ms: float | None) -> int | None:
    """Return milliseconds as ns; ``None`` stays."""
    return None if ms is None else round(ms * 1_000_000)
