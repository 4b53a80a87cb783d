"""New results against old ones: ratios, how sure they are, and what has become slower."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

import msgspec

from ..backends.text import markdown, visible
from ..metrics import numbers
from ..metrics.bootstrap import Interval, independent_ratio_interval
from .plan import trial_name

_FEWEST = 2
_FEWEST_OF_DISTURBED = 3
"""If some repetitions were disturbed: two undisturbed ones may agree by chance."""
_MOST_TOKENS = (1 << 31) - 1
_LONGEST_NS = 7 * 24 * 3_600 * 1_000_000_000
"""Of a repetition: a week."""


_Whole = Annotated[int, msgspec.Meta(ge=-(1 << 62), le=1 << 62)]


class AgainstError(Exception):
    """Old results that cannot be read; the message says why."""


class _Repetition(msgspec.Struct, frozen=True, kw_only=True):
    quiet: bool | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A row of ``bench -o json`` or of ``llama-bench -o json``: what is compared, and by what it is found again."""

    model_type: str
    model_size: _Whole
    model_n_params: _Whole
    cpu_info: str
    gpu_info: str = ""
    n_threads: _Whole
    n_batch: _Whole
    n_ubatch: _Whole
    type_k: str
    type_v: str
    n_gpu_layers: _Whole
    flash_attn: _Whole | bool
    n_prompt: int
    n_gen: int
    n_depth: int
    samples_ns: tuple[int, ...]
    sample: bool = False
    repack: bool = True
    build_commit: str | None = None
    repetitions: tuple[_Repetition, ...] = ()

    @property
    def name(self) -> str:
        """The name of the test."""
        return trial_name(self.n_prompt, self.n_gen, self.n_depth) + (" with sampling" if self.sample else "")

    @property
    def place(self) -> str:
        """What else tells it from the other rows."""
        return f"{self.model_type}, {numbers.counted(self.n_threads, 'thread')}"

    @property
    def trial(self) -> tuple[int, int, int, bool]:
        """Equal for rows of the same test."""
        return self.n_prompt, self.n_gen, self.n_depth, self.sample

    @property
    def impossible(self) -> str:
        """Which of its figures cannot be, and why not; empty when all can."""
        for name, count in (("n_prompt", self.n_prompt), ("n_gen", self.n_gen), ("n_depth", self.n_depth)):
            if not 0 <= count <= _MOST_TOKENS:
                return f"{name} is no number of tokens"
        if not self.n_prompt and not self.n_gen:
            return "n_prompt and n_gen are 0, so nothing was measured"
        if any(ns <= 0 for ns in self.samples_ns):
            return f"in samples_ns a repetition of {self.name} took no time, or less"
        if any(ns > _LONGEST_NS for ns in self.samples_ns):
            return f"in samples_ns a repetition of {self.name} took more than a week"
        return ""

    def other(self, old: "Result") -> list[str]:
        """Return in what the two differ, so that they cannot be compared; empty when they can."""
        pairs: list[tuple[str, Any, Any]] = [
            ("model", (self.model_size, self.model_n_params), (old.model_size, old.model_n_params)),
            ("machine", (self.cpu_info, self.gpu_info), (old.cpu_info, old.gpu_info)),
            ("threads", self.n_threads, old.n_threads),
            ("-b", self.n_batch, old.n_batch),
            ("-ub", min(self.n_batch, self.n_ubatch), min(old.n_batch, old.n_ubatch)),
            ("-ctk", self.type_k, old.type_k),
            ("-ctv", self.type_v, old.type_v),
            ("-fa", int(self.flash_attn), int(old.flash_attn)),
            ("--repack", int(self.repack), int(old.repack)),
            ("-ngl", self.n_gpu_layers if self.gpu_info else 0, old.n_gpu_layers if old.gpu_info else 0),
        ]
        words = {"model": (self.model_type, old.model_type), "machine": (self._machine, old._machine)}
        return [
            f"other {what} ({now}, was {before})" if now != before else f"other {what}"
            for what, new_value, old_value in pairs
            if new_value != old_value
            for now, before in [words.get(what, (new_value, old_value))]
        ]

    @property
    def _machine(self) -> str:
        return ", ".join(part for part in (self.cpu_info, self.gpu_info) if part)

    @property
    def busy(self) -> bool:
        """Whether the machine is known to have been busy during a repetition."""
        return any(one.quiet is False for one in self.repetitions)

    @property
    def quiet_ns(self) -> list[int]:
        """The samples during which the machine is not known to have been busy, ns."""
        known = [one.quiet for one in self.repetitions] or [None] * len(self.samples_ns)
        return [ns for ns, quiet in zip(self.samples_ns, known, strict=False) if quiet is not False and ns > 0]

    def too_little(self, when: str) -> str:
        """Return why its repetitions, made ``when``, do not suffice for a comparison; empty when they do.

        Only undisturbed ones are compared. At least two are needed; if any were disturbed, at least three, and half
        of all.
        """
        count, quiet = len(self.samples_ns), len(self.quiet_ns)
        if count < _FEWEST:
            return f"fewer than two repetitions {when}"
        if quiet < count and (quiet < _FEWEST_OF_DISTURBED or 2 * quiet < count):
            return f"too disturbed {when}: {quiet:,} of {numbers.counted(count, 'repetition')} undisturbed"
        return ""


class Change(Enum):
    """What has become of a row's speed."""

    SLOWER = "slower"
    """By more than is tolerated, and the whole interval says so."""
    FASTER = "faster"
    """By more than is tolerated, and the whole interval says so."""
    NONE = "no change shown"


@dataclass(frozen=True, slots=True)
class Compared:
    """A row beside the old one."""

    new: Result
    old: Result
    speed: Interval
    """New tokens per second over old ones."""
    change: Change
    busy: tuple[str, ...] = ()
    """When the machine was busy during repetitions that count: ``now``, ``then``."""


@dataclass(frozen=True, slots=True)
class NotCompared:
    """A row without an old one, or the other way round, or with too little in it."""

    row: Result
    why: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """All rows, the new ones in their order."""

    compared: tuple[Compared, ...]
    left: tuple[NotCompared, ...]
    tolerance: float
    """Share of the speed that may be lost, such as 0.05."""

    @property
    def slower(self) -> list[Compared]:
        """What has become slower."""
        return [one for one in self.compared if one.change is Change.SLOWER]

    @property
    def busy(self) -> list[Compared]:
        """What is compared by repetitions on a busy machine as well."""
        return [one for one in self.compared if one.busy]

    @property
    def conclusion(self) -> str:
        """The same in a sentence."""
        allowed = numbers.percent(self.tolerance)
        if not self.compared:
            return "Nothing could be compared."
        if slower := self.slower:
            names = ", ".join(dict.fromkeys(one.new.name for one in slower))
            return f"Slower by more than {allowed}: {names}."
        return f"Nothing is shown to be slower by more than {allowed}."


def compare(new: Sequence[Result], old: Sequence[Result], tolerance: float, *, noisy: bool = False) -> Comparison:
    """Compare every row of ``new`` with the last one of ``old`` that is alike; ``noisy``: by the repetitions on a busy
    machine, too."""
    compared: list[Compared] = []
    left: list[NotCompared] = []
    used: set[int] = set()
    for row in new:
        same = [(number, one) for number, one in enumerate(old) if one.trial == row.trial]
        alike = [(number, one) for number, one in same if not row.other(one)]
        used |= {number for number, _ in alike}
        if not alike:
            left.append(NotCompared(row, _nearest(row, [one for _, one in same])))
            continue
        found = _compared(row, alike[-1][1], tolerance, noisy=noisy)
        if isinstance(found, Compared):
            compared.append(found)
        else:
            left.append(found)
    left += [
        NotCompared(one, "not measured now")
        for number, one in enumerate(old)
        if number not in used and not any(row.trial == one.trial for row in new)
    ]
    return Comparison(tuple(compared), tuple(left), tolerance)


def _nearest(row: Result, same: Sequence[Result]) -> str:
    if not same:
        return "not in the old results"
    nearest = min((row.other(one) for one in same), key=len)
    return "; ".join(nearest)


def _compared(row: Result, old: Result, tolerance: float, *, noisy: bool) -> Compared | NotCompared:
    busy: tuple[str, ...] = ()
    if noisy:
        busy = tuple(when for when, one in (("now", row), ("then", old)) if one.busy)
        row, old = (msgspec.structs.replace(one, repetitions=()) for one in (row, old))
    for one, when in ((row, "now"), (old, "in the old results")):
        if why := one.too_little(when):
            return NotCompared(row, why)
    speed = independent_ratio_interval(old.quiet_ns, row.quiet_ns)
    if speed is None:
        raise AssertionError("two repetitions each have an interval")
    change = Change.NONE
    if speed.high < 1 - tolerance:
        change = Change.SLOWER
    elif speed.low > 1 / (1 - tolerance):
        change = Change.FASTER
    return Compared(row, old, speed, change, busy)


def results_in(data: bytes, name: str) -> tuple[Result, ...]:
    """Return the rows of a file in JSON or JSON Lines, ours or ``llama-bench``'s; at least one.

    ``name`` is the file's, for what is said of it. Raises AgainstError.
    """
    try:
        if data.lstrip().startswith(b"["):
            found = msgspec.json.decode(data, type=tuple[Result, ...])
        else:
            found = tuple(msgspec.json.decode(line, type=Result) for line in data.splitlines() if line.strip())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise AgainstError(f"{name} holds no results in JSON or JSON Lines: {error}.") from error
    if not found:
        raise AgainstError(f"{name} holds no results: it is empty.")
    for number, row in enumerate(found, start=1):
        if impossible := row.impossible:
            raise AgainstError(f"{name} holds a figure that cannot be, in row {number:,}: {impossible}.")
    return found


def result_of(values: dict[str, Any]) -> Result:
    """Return a row of ours, given as its record."""
    return msgspec.convert(values, Result)


def lines(comparison: Comparison) -> list[str]:
    """Return a table in Markdown, what could not be compared and the conclusion."""
    text = []
    if comparison.compared:
        text = [
            "| test | model | old t/s | new t/s | new / old | 95 % interval | |",
            "| :--- | :--- | ---: | ---: | ---: | ---: | :--- |",
        ]
        text += [f"| {' | '.join(markdown(visible(cell)) for cell in _cells(one))} |" for one in comparison.compared]
        text.append("")
    text += [f"Not compared: {one.row.name} ({one.row.place}): {one.why}." for one in comparison.left]
    if names := ", ".join(dict.fromkeys(one.new.name for one in comparison.busy)):
        text.append(f"The machine was busy, which counts here: {names}. A ratio may tell of that and of nothing else.")
    return [*text, comparison.conclusion]


def _cells(one: Compared) -> list[str]:
    return [
        one.new.name,
        one.new.place,
        numbers.bare_rate(_mean_rate(one.old)),
        numbers.bare_rate(_mean_rate(one.new)),
        numbers.ratio(one.speed.value),
        numbers.interval(one.speed.low, one.speed.high),
        one.change.value + (f", busy {' and '.join(one.busy)}" if one.busy else ""),
    ]


def _mean_rate(result: Result) -> float:
    rates = [(result.n_prompt + result.n_gen) * 1e9 / ns for ns in result.quiet_ns]
    return sum(rates) / len(rates)
