"""What was compared, as a recording tells of it."""

from collections.abc import Iterable

from msgspec.structs import replace

from ..backends.events import RequestTaken
from ..backends.requests import EngineSettings, Request, Sampling
from ..traces.lanes import ComparisonBegun, Record
from .plan import ComparisonPlan, LanePlan, RecordedModel


def recorded_plan(begun: ComparisonBegun, records: Iterable[Record]) -> ComparisonPlan:
    """Return the plan, of which nothing can be loaded; ``records``: of the recording."""
    lanes = tuple(
        LanePlan(lane.label, RecordedModel(lane.name, lane.quantization, lane.bytes), lane.make) for lane in begun.lanes
    )
    return ComparisonPlan(
        lanes=lanes,
        settings=EngineSettings(),
        request=Request(prompt=begun.prompt, sampling=_sampling(records)),
        rounds=begun.rounds,
        together=begun.together,
        quality=begun.quality,
    )


def _sampling(records: Iterable[Record]) -> Sampling:
    """Return how all lanes drew, with the seed that they had in common."""
    taken = next((record for record in records if isinstance(record, RequestTaken)), None)
    return Sampling() if taken is None else replace(taken.sampling, seed=taken.seed)
