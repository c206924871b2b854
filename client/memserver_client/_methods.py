"""Methods made of descriptions, so that two clients offer the same under the same signatures."""

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar, get_args

M = TypeVar("M", bound=Callable[..., Any])


def describes(
    description: Callable[..., Any], *, many: Any = None, answer: Any = None
) -> Callable[[M], M]:
    """Gives a method the name, docstring and parameters of the description that it performs.

    What it returns is what the description's own answer is made of (`Item` for `Call[Item]`),
    several of it where `many` is a kind of iterator, or else `answer`.
    """
    described = inspect.signature(description)
    if answer is None:
        answer = get_args(described.return_annotation)[-1]
    if many is not None:
        answer = many[answer]
    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = described.replace(
        parameters=[receiver, *described.parameters.values()], return_annotation=answer
    )

    def described_as(method: M) -> M:
        update_wrapper(method, description)
        method.__annotations__ = {**description.__annotations__, "return": answer}
        method.__signature__ = signature  # type: ignore[attr-defined]
        return method

    return described_as
