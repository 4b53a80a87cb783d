"""What the program promises in figures, measured: ``python -m benchmarks``."""

import os

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

PROMPT = "Once upon a time, in a village by the sea, there lived"


def prompt_of_length(tokens: int) -> str:
    """A text of exactly that many tokens of the demo model: each word of it is one."""
    return "word" + " word" * (tokens - 1)
