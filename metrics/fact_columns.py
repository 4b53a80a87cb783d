"""What happened to the engine during every token of a run, as columns."""

from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from ..backends.token_facts import Scheduling
from .series import Column, Int32Array, Int64Array, Series

UNKNOWN = -1
"""Stands in a column for what the platform did not tell."""

_LARGEST = 2**31 - 1
_PAGE = 4096


class FactColumns:
    """The scheduling facts of each token, all of shape (n,), with ``UNKNOWN`` where there is none.

    The first token's are about the time since the request was taken.
    """

    def __init__(self) -> None:
        self._involuntary = Column(np.int32)
        self._voluntary = Column(np.int32)
        self._minor_faults = Column(np.int32)
        self._major_faults = Column(np.int32)
        self._wait = Series()
        self._longest_wait = Series()
        self._cpu = Series()
        self._read_bytes: dict[int, int] = {}
        self._suspended: dict[int, int] = {}
        self._counts = (self._involuntary, self._voluntary, self._minor_faults, self._major_faults)
        self._columns: tuple[tuple[Column[np.int32] | Series, str], ...] = (
            (self._involuntary, "involuntary_switches"),
            (self._voluntary, "voluntary_switches"),
            (self._minor_faults, "minor_faults"),
            (self._major_faults, "major_faults"),
            (self._wait, "wait_ns"),
            (self._longest_wait, "longest_wait_ns"),
            (self._cpu, "cpu_ns"),
        )

    def append(self, facts: Scheduling | None) -> None:
        """Take in the facts of the next token."""
        facts = facts or Scheduling()
        if facts.read_bytes is not None:
            self._read_bytes[len(self._cpu)] = facts.read_bytes
        if facts.suspended_ns is not None:
            self._suspended[len(self._cpu)] = facts.suspended_ns
        for counts, count in (
            (self._involuntary, facts.involuntary_switches),
            (self._voluntary, facts.voluntary_switches),
            (self._minor_faults, facts.minor_faults),
            (self._major_faults, facts.major_faults),
        ):
            counts.append(UNKNOWN if count is None else min(count, _LARGEST))
        for times, time in (
            (self._wait, facts.wait_ns),
            (self._longest_wait, facts.longest_wait_ns),
            (self._cpu, facts.cpu_ns),
        ):
            times.append(UNKNOWN if time is None else time)

    def extend(self, facts: Sequence[Scheduling | None]) -> None:
        """Take in the facts of many tokens."""
        none = Scheduling()
        known = [one or none for one in facts]
        first = len(self._cpu)
        for place, one in enumerate(known, first):
            if one.read_bytes is not None:
                self._read_bytes[place] = one.read_bytes
            if one.suspended_ns is not None:
                self._suspended[place] = one.suspended_ns
        for column, name in self._columns:
            values = list(map(attrgetter(name), known))
            if None in values:
                values = [UNKNOWN if value is None else value for value in values]
            column.extend(np.minimum(np.array(values, dtype=np.int64), _LARGEST) if column in self._counts else values)

    def take(self, other: "FactColumns", count: int) -> None:
        """Take in the facts of the first ``count`` tokens of another run."""
        first = len(self._cpu)
        self._read_bytes |= {first + place: read for place, read in other._read_bytes.items() if place < count}
        self._suspended |= {first + place: ns for place, ns in other._suspended.items() if place < count}
        for (own, _), (column, _) in zip(self._columns, other._columns, strict=True):
            own.extend(column.values[:count])

    def at(self, position: int) -> Scheduling:
        """Return the facts of the token at ``position`` (from 0)."""

        def value(column: Int32Array | Int64Array) -> int | None:
            number = int(column[position])
            return None if number == UNKNOWN else number

        return Scheduling(
            involuntary_switches=value(self.involuntary_switches),
            voluntary_switches=value(self.voluntary_switches),
            minor_faults=value(self.minor_faults),
            major_faults=value(self.major_faults),
            read_bytes=self._read_bytes.get(position),
            wait_ns=value(self.wait_ns),
            longest_wait_ns=value(self.longest_wait_ns),
            cpu_ns=value(self.cpu_ns),
            suspended_ns=self._suspended.get(position),
        )

    def suspended_ns(self, first: int, end: int) -> int:
        """Return for how long the tokens from index ``first`` up to ``end`` (from 0) were suspended."""
        return sum(ns for place, ns in self._suspended.items() if first <= place < end)

    @property
    def bytes_from_disk(self) -> int | None:
        """What all tokens together waited for from the disk, prefill included; ``None`` where the platform is silent.

        Where it tells of faults and not of bytes, a page each is the least that it was.
        """
        faults = self.major_faults
        known = faults[faults != UNKNOWN]
        if len(known) == 0:
            return None
        return sum(self._read_bytes.values()) if self._read_bytes else int(known.sum()) * _PAGE

    @property
    def involuntary_switches(self) -> Int32Array:
        """How often a thread was taken off its core."""
        return self._involuntary.values

    @property
    def voluntary_switches(self) -> Int32Array:
        """How often a thread gave up its core to wait."""
        return self._voluntary.values

    @property
    def minor_faults(self) -> Int32Array:
        """Pages mapped without the disk."""
        return self._minor_faults.values

    @property
    def major_faults(self) -> Int32Array:
        """Pages waited for from the disk."""
        return self._major_faults.values

    @property
    def wait_ns(self) -> Int64Array:
        """Time in which threads were ready and had no core, all threads together."""
        return self._wait.values

    @property
    def longest_wait_ns(self) -> Int64Array:
        """The same of the thread that waited longest."""
        return self._longest_wait.values

    @property
    def cpu_ns(self) -> Int64Array:
        """Processor time of all threads."""
        return self._cpu.values
