"""The prompt objects that stand in for a step: the types only. Asking a model is what the extra `judge` brings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from quickchecks.errors import MissingExtraError

if TYPE_CHECKING:
    from quickchecks._scorer.context import Context

__all__ = ("Judge", "Prompt")


class Judge(Struct, frozen=True, kw_only=True):
    """The model that prompt steps ask.

    Args:
        model: The model as you write it elsewhere, such as "openai/gpt-5-mini", or a model object.
        instructions: What the model is told before every prompt.
    """

    model: object
    instructions: str = ""


class Prompt(Struct, frozen=True, kw_only=True):
    """A step that asks a model and gets structured output.

    Args:
        description: What the step finds out, as one sentence.
        output_type: The type of the answer: a pydantic model, a msgspec Struct, a dataclass or a JSON schema.
        create_prompt: Makes the prompt; takes by name what a function step may take.
        judge: The model for this step; by default the scorer's.
    """

    description: str
    output_type: object
    create_prompt: Callable[..., str]
    judge: Judge | None = None

    def execute(self, context: Context) -> object:
        """Ask the model.

        Raises:
            MissingExtraError: The extra `judge` is not installed.
        """
        raise MissingExtraError("A step that asks a model", "judge")
