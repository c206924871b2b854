"""What `Memory` and `AsyncMemory` promise in the same words, and that neither offers more."""

import inspect
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import get_args, get_origin, get_overloads

import pytest

from memserver_client import (
    AsyncEpisode,
    AsyncMemory,
    AsyncSession,
    Episode,
    Memory,
    Session,
    _calls,
)

PAIRS = [(Memory, AsyncMemory), (Episode, AsyncEpisode), (Session, AsyncSession)]
AWAITING = {Episode: AsyncEpisode, Session: AsyncSession, Iterator: AsyncIterator}
DIFFERENT_BY_NATURE = {"transport", "clock"}  # the network and time, blocking or awaited


def methods(of):
    return {
        name: found
        for name, found in inspect.getmembers(of, inspect.isfunction)
        if not name.startswith("_")
    }


def forms_of_remember(of):
    """Python keeps them under the method's place in the source, which is not its description's."""
    named = SimpleNamespace(__module__=of.__module__, __qualname__=f"{of.__name__}.remember")
    return get_overloads(named)


def awaited(annotation):
    """What the awaiting twin of a method with this return annotation gives."""
    origin = get_origin(annotation)
    if origin in AWAITING:
        return AWAITING[origin][get_args(annotation)]
    return AWAITING.get(annotation, annotation)


@pytest.mark.parametrize(("blocking", "awaiting"), PAIRS, ids=["Memory", "Episode", "Session"])
def test_both_have_the_same_methods_with_the_same_signatures(blocking, awaiting):
    ones, others = methods(blocking), methods(awaiting)
    assert ones.keys() == others.keys()
    for name in ones:
        one, other = inspect.signature(ones[name]), inspect.signature(others[name])
        assert one.parameters == other.parameters, name
        assert awaited(one.return_annotation) == other.return_annotation, name


def test_the_two_are_made_with_the_same_arguments():
    one, other = (inspect.signature(each).parameters for each in (Memory, AsyncMemory))
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].default == other[name].default
        if name not in DIFFERENT_BY_NATURE:
            assert one[name] == other[name]


def test_what_answers_in_one_is_awaited_in_the_other():
    """All but what gives an iterator, an episode or a session, and what is only written down."""
    plain = {"episode", "session", "step", "finish"}
    for blocking, awaiting in PAIRS:
        assert not any(map(inspect.iscoroutinefunction, methods(blocking).values()))
        for name, method in methods(awaiting).items():
            iterates = get_origin(inspect.signature(method).return_annotation) is AsyncIterator
            assert inspect.iscoroutinefunction(method) is not (iterates or name in plain), name


def test_the_forms_of_remember_are_the_same_in_both():
    one, other = map(forms_of_remember, (Memory, AsyncMemory))
    assert len(one) == len(other) == 3
    assert list(map(inspect.signature, one)) == list(map(inspect.signature, other))


def test_every_description_is_a_method_of_both():
    """And each method bears its description's name, so a line that joins the wrong two shows."""
    described = {
        name: found
        for module in map(vars(_calls).get, _calls.__all__)
        for name, found in inspect.getmembers(module, inspect.isfunction)
        if found.__module__ == module.__name__ and not name.startswith("_")
    }
    for each in (Memory, AsyncMemory):
        offered = methods(each)
        assert offered.keys() - described.keys() == {"episode", "session", "close"}
        for name, description in described.items():
            assert inspect.unwrap(offered[name]) is description
            assert offered[name].__doc__ == description.__doc__
