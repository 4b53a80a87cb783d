"""What stderr says while models are measured: a line that moves, or where there is no terminal one for each test."""

from ..backends.events import Event, LoadProgress, Log, PrefillProgress
from ..backends.text import visible
from ..bench.plan import Group
from ..bench.runner import Bench
from .moving_line import MovingLine
from .streams import Messages


class BenchProgress:
    """Follows a bench."""

    def __init__(self, messages: Messages, bench: Bench) -> None:
        self._messages = messages
        self._bench = bench
        self._line = MovingLine(messages)
        self._stood = (0, 0)
        self._said: set[str] = set()

    def update(self, event: Event) -> None:
        """Say what ``event`` says; called after the bench has taken it in."""
        if isinstance(event, Log):
            said = f"{self._bench.group.name}: {event.text}"
            if said not in self._said:  # every engine of a model says it
                self._said.add(said)
                self.say(said)
        elif isinstance(event, LoadProgress) and event.fraction < 1:
            self._line.draw(f"{self._where()}  load  {self._line.bar(event.fraction)} {event.fraction:4.0%}")
        elif isinstance(event, PrefillProgress) and event.processed < event.total:
            fraction = event.processed / event.total
            self._line.draw(f"{self._where()}  fill the depth  {self._line.bar(fraction)} {fraction:4.0%}")

    def stand(self) -> None:
        """Say which test is under way."""
        bench = self._bench
        stands = (bench.number, bench.repetition)
        if self._line.active:
            what = f"repetition {bench.repetition} of {bench.plan.repetitions}" if bench.repetition else "warm-up"
            # At once: nothing may come for long after a repetition has begun.
            self._line.draw(f"{self._where()}  {what}", at_once=stands != self._stood)
        elif self._stood[0] != bench.number:
            self._messages.say(self._where())
        self._stood = stands

    def tell_cancelled(self) -> None:
        """Say that it was cancelled, and what is missing because of that."""
        bench = self._bench
        whole = sum(len(row.repetitions) == bench.plan.repetitions for row in bench.rows)
        lines = [f"Cancelled: {whole} of {bench.plan.rows} tests were measured to the end."]
        for one in bench.missing:
            name = _named(one.group)
            begun, rest = (one.trials[:1], one.trials[1:]) if one.repetitions else ((), one.trials)
            for trial in begun:
                lines.append(f"{name}: {trial.name} has {one.repetitions} of {bench.plan.repetitions} repetitions.")
            if rest:
                lines.append(f"{name}: not measured: {', '.join(trial.name for trial in rest)}.")
        self._messages.say("\n".join(lines))

    def say(self, text: str) -> None:
        """Write whole lines above the one that moves."""
        self._line.clear()
        self._messages.say(text)

    def clear(self) -> None:
        """Wipe the line that moves."""
        self._line.clear()

    def _where(self) -> str:
        bench = self._bench
        return f"{bench.number} of {bench.plan.rows}  {_named(bench.group)}  {bench.trial.name}"


def _named(group: Group) -> str:
    threads = "" if group.settings.threads is None else f"  -t {group.settings.threads}"
    return f"{visible(group.name)}{threads}"
