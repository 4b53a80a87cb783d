"""What the help of the compare screen says."""

from ..screens.help import Section, key_entries
from .keys import KEYS, LANE_KEYS

_FIGURES = (
    ("TTFT", "Time to first token: from the request to the first token; reading the prompt is most of it."),
    ("TPOT", "Time per output token: (last token − first token) / (tokens − 1); p50, p95 of the gaps between tokens."),
    ("read, write", "Tokens read and written per second: the median over all rounds that count."),
    ("× ref", "The lane's rate over the first lane's, round by round; with several rounds its 95 % interval."),
    ("KLD", "Mean KLD: how far the lane's distributions are from the first lane's on the same text; 0 is the same."),
    ("same top", "How often the lane's likeliest next token is the first lane's."),
    ("PPL", "Perplexity of that text: how surprised the lane was by it; lower is less."),
    ("diverges", "The first token at which the lane, left alone, wrote something else than the first lane."),
)

HELP: tuple[Section, ...] = (
    ("Keys", key_entries(KEYS), ""),
    ("Lanes", LANE_KEYS, ""),
    (
        "Figures",
        _FIGURES,
        "Lanes run one at a time unless --together was given; the race replays them on one clock, from their times.",
    ),
)
