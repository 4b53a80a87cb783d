"""The columns of the table, and which of them there is room for."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..backends.requests import EngineSettings
from ..backends.text import markdown, visible
from ..metrics import numbers
from .figures import Row
from .plan import BenchPlan

_MIB, _GIB = 2**20, 2**30
_GIVE_WAY = ("backend", "params", "size", "threads", "ITL p95 ms", "ITL p99 ms", "TTFT ms", "disturbed", "ITL p50 ms")
"""What is left out where there is no room, the first first; what differs between the rows stays."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column."""

    heading: str
    width: int
    """In characters, at least; columns of numbers are flush right."""
    cell: Callable[[Row], str]
    right: bool = True
    least: int | None = None
    """Its width where room is short; ``None``: the same."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A table as it is printed."""

    columns: tuple[Column, ...]
    left_out: tuple[str, ...] = ()
    """Headings of the columns that there was no room for."""


def line(columns: tuple[Column, ...], cells: list[str]) -> str:
    """Return one row of the table."""
    padded = [
        f"{cell:>{column.width}}" if column.right else f"{cell:<{column.width}}"
        for cell, column in zip(cells, columns, strict=True)
    ]
    return f"| {' | '.join(padded)} |\n"


def layout(plan: BenchPlan, width: int | None) -> Layout:
    """Return the columns for lines of ``width`` characters; ``None``: all of them, however wide.

    Where room is short columns first become narrow, then they are left out. What is then over is the model's name's,
    which is cut.
    """
    full = _columns(plan)
    if width is None or _taken(full) <= width:
        return Layout(full)
    kept = tuple(replace(one, width=one.width if one.least is None else one.least) for one in full)
    stays = {"threads"} if len({group.settings.threads for group in plan.groups}) > 1 else set[str]()
    left_out: list[str] = []
    for heading in _GIVE_WAY:
        if _taken(kept) <= width:
            break
        if heading not in stays:
            left_out.append(heading)
            kept = tuple(one for one in kept if one.heading != heading)
    spare = max(width - _taken(kept), 0)
    name, widest = kept[0], full[0].width
    room = min(name.width + spare, widest)
    kept = (replace(name, width=room, cell=lambda row: _cut(name.cell(row), room)), *kept[1:])
    return Layout(kept, tuple(one.heading for one in full if one.heading in left_out))


def _taken(columns: tuple[Column, ...]) -> int:
    return len(line(columns, [""] * len(columns)).rstrip("\n"))


def _cut(text: str, width: int) -> str:
    # No backslash may be left that would escape the sign of the cut.
    return text if len(text) <= width else text[: width - 1].rstrip("\\") + "…"


def _columns(plan: BenchPlan) -> tuple[Column, ...]:
    """Return what differs between the rows, or is not the default, and the figures."""
    groups, default = plan.groups, EngineSettings()
    longest = max(len(name) for name in ("test", *(trial.name for group in groups for trial in group.trials)))

    def varies(setting: str) -> bool:
        return {getattr(group.settings, setting) for group in groups} != {getattr(default, setting)}

    found = [
        Column("model", 30, lambda row: markdown(visible(row.ran_with.model)), right=False, least=10),
        Column("size", 10, lambda row: _size(row.model.bytes)),
        Column("params", 10, lambda row: _parameters(row.model.parameters), least=9),
        Column("backend", 10, lambda row: markdown(visible(",".join(row.ran_with.backends))), right=False),
        Column("threads", 7, lambda row: str(row.model.threads)),
    ]
    for setting, heading, width in (
        ("gpu_layers", "ngl", 3),
        ("batch", "n_batch", 7),
        ("micro_batch", "n_ubatch", 8),
        ("cache_type_k", "type_k", 6),
        ("cache_type_v", "type_v", 6),
        ("flash_attention", "fa", 4),
    ):
        if varies(setting):
            found.append(Column(heading, width, _of_setting(setting)))
    if varies("repack"):
        found.append(Column("repack", 6, lambda row: str(int(row.ran_with.repack))))
    if any(trial.sample for group in groups for trial in group.trials):
        found.append(Column("sample", 6, lambda row: str(int(row.trial.sample))))
    found += [
        Column("test", max(15, longest), lambda row: row.trial.name, least=longest),
        Column("t/s", 20, _rate, least=17),
        Column("TTFT ms", 9, lambda row: numbers.bare_milliseconds(row.ttft_ns), least=7),
    ]
    found += [Column(f"ITL {name} ms", 10, _of_itl(name)) for name in ("p50", "p95", "p99")]
    found.append(Column("disturbed", 12, _disturbed, least=_disturbed_width(plan)))
    return tuple(found)


def _disturbed_width(plan: BenchPlan) -> int:
    most = plan.repetitions * max((trial.generate for group in plan.groups for trial in group.trials), default=0)
    return max(len(f"{most} of {most}, busy"), len("disturbed"))


def _of_setting(setting: str) -> Callable[[Row], str]:
    return lambda row: str(getattr(row.group.settings, setting))


def _of_itl(name: str) -> Callable[[Row], str]:
    return lambda row: numbers.bare_milliseconds(None if row.itl is None else getattr(row.itl, name))


def _rate(row: Row) -> str:
    deviation = row.rate_deviation
    return f"{row.mean_rate:.2f}" if deviation is None else f"{row.mean_rate:.2f} ± {deviation:.2f}"


def _disturbed(row: Row) -> str:
    counted = numbers.MISSING if row.judged is None else f"{row.disturbed} of {row.judged}"
    return counted if row.quiet is not False else f"{counted}, busy"


def _size(count: int) -> str:
    return f"{count / _MIB:.2f} MiB" if count < _GIB else f"{count / _GIB:.2f} GiB"


def _parameters(count: int) -> str:
    return f"{count / 1e6:.2f} M" if count < 1e9 else f"{count / 1e9:.2f} B"
