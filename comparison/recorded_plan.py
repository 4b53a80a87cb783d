"""What was compared, as a recording tells of it."""

from ..backends.requests import EngineSettings, Request
from ..traces.lanes import ComparisonBegun
from .plan import ComparisonPlan, LanePlan, RecordedModel


def recorded_plan(begun: ComparisonBegun) -> ComparisonPlan:
    """Return the plan, of which nothing can be loaded."""
    lanes = tuple(
        LanePlan(lane.label, RecordedModel(lane.name, lane.quantization, lane.bytes), lane.make) for lane in begun.lanes
    )
    return ComparisonPlan(
        lanes=lanes,
        settings=EngineSettings(),
        request=Request(prompt=begun.prompt),
        rounds=begun.rounds,
        together=begun.together,
        quality=begun.quality,
    )
