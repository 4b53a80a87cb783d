"""What the tints mean."""

from textual.content import Content

from .tints import TINTS


def legend() -> Content:
    """Return one line that explains the tints, styled as they are."""
    parts: list[Content] = []
    for tint in TINTS:
        parts.append(Content.styled(tint.name, f"{tint.color} {tint.text_style}"))
        parts.append(Content(f" ≥ {tint.threshold:g}×  "))
    return Content.assemble(*parts, "the median time per token")
