"""The sentence below the table, and what has to be known with it."""

from collections.abc import Mapping, Sequence

from ..backends.events import Failed
from ..backends.launch import sampling_of
from ..backends.text import visible
from ..metrics import numbers
from ..models.facts import ModelFile
from .figures import LaneResult, Ratio
from .lane import Lane
from .ratios import LEAST_RATIO, Standing, is_faster


def verdict(
    rows: Sequence[LaneResult], standing: Standing | None, *, same_vocabulary: bool, so_far: bool = False
) -> str:
    """Return who is faster and by how much, in one sentence with its figures.

    ``standing``: of the ranked lanes, in characters where ``same_vocabulary`` is false; ``None`` below two of them.
    ``so_far``: more rounds are to come.
    """
    names = {row.number: visible(row.label) for row in rows}
    ranked = [row for row in rows if not row.unranked]
    if standing is None:
        return _below_two(rows, ranked, names)
    measure = "as fast as" if same_vocabulary else "as many characters per second as"
    leader, (closest, found) = names[standing.leader], standing.ahead_of[0]
    if found is None:
        return f"{leader} and {names[closest]} have no round in common, so that they cannot be compared."
    if found.low is None:
        told = f"{_one_round(standing, names, measure)}, which may be chance"
        if so_far:
            return f"One round so far: {told}."
        begun = max(len(row.all_rounds) for row in ranked)
        which = "One round" if begun == 1 else "Only one round counts"
        return f"{which}: {told}; three rounds or more can show a difference."
    if standing.shown:
        lead = (
            f"{leader} writes"
            if len(standing.ahead_of) == 1
            else f"{leader} is the fastest of {len(ranked)}: it writes"
        )
        return f"{lead} {_ratios(standing, names, measure)}."
    return _not_told_apart(standing, names, measure)


def _one_round(standing: Standing, names: Mapping[int, str], measure: str) -> str:
    number, found = standing.ahead_of[0]
    if standing.leader == 0 and len(standing.ahead_of) == 1 and found is not None:
        # As in the table: the reference is what others are measured by.
        return f"{names[number]} wrote {_with_interval(found.inverse)} {measure} {names[0]}"
    return f"{names[standing.leader]} wrote {_ratios(standing, names, measure)}"


def _below_two(rows: Sequence[LaneResult], ranked: Sequence[LaneResult], names: Mapping[int, str]) -> str:
    if any(row.unranked == "no figures yet" for row in rows):
        return "No round of two lanes is over yet."
    if not ranked:
        reasons = ", ".join(f"{names[row.number]} ({row.unranked})" for row in rows)
        return f"No lane can be ranked: {reasons}."
    only = ranked[0]
    rate = "" if only.decode_rate is None else f" It writes {numbers.rate(only.decode_rate.median)}."
    return f"Only {names[only.number]} can be ranked, so there is nothing to compare.{rate}"


def _ratios(standing: Standing, names: Mapping[int, str], measure: str) -> str:
    """``1.21× as fast as Q8_0 (95 % interval 1.18 to 1.25)``; of several lanes the next one, and the reference."""
    closest, found = standing.ahead_of[0]
    text = f"{_with_interval(found)} {measure} {names[closest]}{_interval(found)}"
    if len(standing.ahead_of) == 1:
        return text
    text = f"{_with_interval(found)} {measure} {names[closest]}, the next{_interval(found)}"
    reference = dict(standing.ahead_of).get(0)
    if closest == 0 or reference is None:
        return text
    return f"{text}, and {_with_interval(reference)} {measure} {names[0]}, the reference{_interval(reference)}"


def _with_interval(found: Ratio | None) -> str:
    return numbers.ratio(None if found is None else found.value)


def _interval(found: Ratio | None) -> str:
    if found is None or found.low is None:
        return ""
    return f" (95 % interval {numbers.interval(found.low, found.high)})"


def _not_told_apart(standing: Standing, names: Mapping[int, str], measure: str) -> str:
    leader = names[standing.leader]
    alike = [(names[number], found) for number, found in standing.ahead_of if not is_faster(found)]
    slower = [names[number] for number, found in standing.ahead_of if is_faster(found)]
    closest, found = alike[0]
    pair = (leader, closest)
    if standing.leader == 0 and found is not None:
        # As in the table: the reference is what others are measured by.
        pair, found = (closest, leader), found.inverse
    figures = f"{pair[0]} writes {_with_interval(found)} {measure} {pair[1]}{_interval(found)}"
    if found is not None and found.shown and 1 / LEAST_RATIO < found.value < LEAST_RATIO:
        text = f"No difference to speak of: {figures}"
    elif len(alike) == 1:
        text = f"No difference shown: {figures}"
    else:
        text = f"No difference shown between {_listed([leader, *(name for name, _ in alike)])}: {figures}"
    if slower:
        text += f"; shown to be slower than {leader}: {_listed(slower)}"
    return text + "."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def notes(
    lanes: Sequence[Lane], rows: Sequence[LaneResult], *, together: bool, same_tokens: bool, same_vocabulary: bool
) -> tuple[str, ...]:
    """Return what has to be known with the figures, the gravest first; names are safe to draw."""
    said: list[str] = []
    said += [_failure(row) for row in rows if row.failure]
    said += [visible(f"{lane.plan.label}: {warning}") for lane in lanes for warning in lane.warnings]
    said += _sampled_alike(lanes)
    if lanes and lanes[0].failed is not None:
        said.append(f"The reference, {visible(lanes[0].plan.label)}, failed: there are no ratios to it.")
    if together and len(lanes) > 1:
        said.append("All lanes ran at once and disturbed each other: the figures are not those of a lane alone.")
    if not same_vocabulary:
        said.append(
            "The lanes do not read the same prompt tokens, and their vocabularies differ: tokens are not alike, so"
            " characters per second decide."
        )
    elif not same_tokens:
        said.append(
            "The lanes do not read the same prompt tokens, although their vocabularies are the same (another chat"
            " template or tokenizer): their answers begin from different prompts."
        )
    said += [line for row in rows for line in _of_rounds(row)]
    said += _settings(lanes)
    said += _requantized(rows)
    said += [visible(f"{row.label} has {row.fallbacks}.") for row in rows if row.fallbacks]
    said += [f"{visible(row.label)}: {visible(row.scores_note)}" for row in rows if row.scores_note]
    return tuple(said)


def _sampled_alike(lanes: Sequence[Lane]) -> list[str]:
    """Sampling that models ask for and do not get: different sampling would be a different task, and would not compare
    their weights."""
    said = []
    for lane in lanes:
        source = lane.plan.source
        if isinstance(source, ModelFile) and (own := sampling_of(source).values):
            values = ", ".join(f"{name} {value:g}" for name, value in own.items())
            said.append(
                f"{visible(lane.plan.label)}: the model's own sampling defaults ({values}) are not used; all lanes"
                " use the same sampling."
            )
    return said


def cancelled_in(number: int, rounds: int) -> str:
    """Return the note of a comparison that was ended before it was done."""
    return f"Cancelled in round {number} of {rounds}."


def failure(failed: Failed) -> str:
    """Return what failed and the last line of its reason, in one line."""
    return " ".join([failed.what, *failed.reason.strip().splitlines()[-1:]])


def _failure(row: LaneResult) -> str:
    # What failed is often named in the sentence already.
    named = row.failure.startswith(row.label)
    return visible(row.failure if named else f"{row.label}: {row.failure}")


def _of_rounds(row: LaneResult) -> list[str]:
    name = visible(row.label)
    said = []
    for why, what in (
        ("cold", "cold (it waited for the disk, or for what only a first round waits for)"),
        ("cached prompt", "not read as a whole: part of the prompt was cached"),
    ):
        found = [one.number for one in row.all_rounds if one.left_out == why]
        if found:
            said.append(f"{name}: {_rounds(found)} {'was' if len(found) == 1 else 'were'} {what}, and left out.")
    if row.disturbed_rounds:
        found = [one.number for one in row.all_rounds if one.disturbed and not one.left_out]
        said.append(f"{name}: {_rounds(found)} disturbed, more than 5 % of the time lost.")
    return said


def _rounds(found: Sequence[int]) -> str:
    return f"{'round' if len(found) == 1 else 'rounds'} {_listed([str(number) for number in found])}"


def _settings(lanes: Sequence[Lane]) -> list[str]:
    """What engines chose differently although they were asked for the same."""
    models = [(lane.plan.label, lane.model) for lane in lanes if lane.model is not None]
    said = []
    for what, values in (
        ("context", [f"{model.context:,} tokens" for _, model in models]),
        ("threads", [f"{model.threads} and {model.threads_batch}" for _, model in models]),
        ("devices", [", ".join(model.devices) for _, model in models]),
    ):
        if len(set(values)) > 1:
            each = ", ".join(f"{label} {value}" for (label, _), value in zip(models, values, strict=True))
            said.append(visible(f"The lanes differ in their {what}: {each}."))
    return said


def _requantized(rows: Sequence[LaneResult]) -> list[str]:
    by_source: dict[str, list[str]] = {}
    for row in rows:
        if row.requantized_from:
            by_source.setdefault(row.requantized_from, []).append(visible(row.label))
    return [
        f"{_listed(labels)} {'was' if len(labels) == 1 else 'were'} requantized from {visible(source)}:"
        f" {'its' if len(labels) == 1 else 'their'} quality is not that of a quantization of the original weights."
        for source, labels in by_source.items()
    ]
