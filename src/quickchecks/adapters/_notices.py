"""What a person should know and no caller waits for: through the logger `quickchecks`, by default on standard error."""

from __future__ import annotations

__all__ = ("notice",)


def notice(text: str) -> None:
    """Log a warning."""
    import logging

    logging.getLogger("quickchecks").warning(text)
