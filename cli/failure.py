"""Failures in words."""


def failure_text(what: str, reason: str = "", remedy: str = "") -> str:
    """Return a failure as lines: what cannot be done, the native reason indented, what to do about it."""
    lines = [what, *(f"  {line}" for line in reason.strip().splitlines())]
    return "\n".join([*lines, remedy] if remedy else lines)
