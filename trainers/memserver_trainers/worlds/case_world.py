"""CaseWorld: tasks and cases as texts, in which what is alike on the surface does not help.

A sentence is mostly about a topic, so vectors of sentences lie together by topic. Whether a case
helps with a task depends on the skill that both need, which only a few words tell. Memory holds
cases of but two skills for each topic, so that the nearest case mostly is of the wrong skill.
Tasks of the test split are from other topics and ask in other words than those of training.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import numpy.typing as npt

from memserver_trainers.dataset import SPLITS
from memserver_trainers.worlds.case_words import SKILLS, TOPICS

Vectors = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]
"""Texts to unit vectors [n, d]."""

HELPED, UNHELPED = 0.9, 0.05
SKILLS_OF_A_TOPIC = 2
CASES_OF_A_SKILL = 3
MOST_TASKS = 4000
TOPICS_OF = {"train": 10, "validation": 3, "test": 3}

ASKED = (
    "{a}, {b} and {c} at the {topic}: I need to {skill}.",
    "At the {topic} we have {a} and {b}, also {c}, and I need to {skill}.",
    "About the {topic} with its {a}, {b} and {c}: I need to {skill}.",
)
TOLD = (
    "Done at the {topic}, among {a}, {b} and {c}: we had to {skill}.",
    "How we managed at the {topic} with {a}, {b} and {c} when we had to {skill}.",
    "The {topic}: {a}, {b}, {c}. We were asked to {skill}.",
)


@dataclass(frozen=True, slots=True)
class Case:
    """What is remembered: `text` is all that a memory sees."""

    id: str
    text: str
    topic: str
    skill: str


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked: `text` is all that a policy sees, `group` is the same for the same task."""

    text: str
    group: str
    split: str
    topic: str
    skill: str


class CaseWorld:
    """One world a seed: the same seed gives the same cases and tasks."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        rng = np.random.default_rng((seed, 0))
        topics = [str(topic) for topic in rng.permutation(list(TOPICS))]
        rest = iter(topics)
        self._topics = {
            split: tuple(itertools.islice(rest, count)) for split, count in TOPICS_OF.items()
        }
        self._cases = tuple(self._told(topics, rng))
        self._by_id = {case.id: case for case in self._cases}

    def cases(self) -> tuple[Case, ...]:
        """All that memory holds."""
        return self._cases

    def tasks(self, split: str, n: int) -> tuple[Task, ...]:
        """`n` tasks, no two of one text; fewer are the first of more. Raises ValueError for more
        than `MOST_TASKS`, since there are only so many texts."""
        if n > MOST_TASKS:
            raise ValueError(f"CaseWorld tells {MOST_TASKS} tasks apart in a split, not {n}.")
        rng = np.random.default_rng((self._seed, 1 + SPLITS.index(split)))
        found: dict[str, Task] = {}
        while len(found) < n:
            topic = str(rng.choice(self._topics[split]))
            skill = str(rng.choice(list(SKILLS)))
            said = str(rng.choice(getattr(SKILLS[skill], split)))
            text = _sentence(str(rng.choice(ASKED)), topic, said, rng)
            group = hashlib.sha256(text.encode()).hexdigest()
            found.setdefault(text, Task(text, group, split, topic, skill))
        return tuple(found.values())

    def outcome(self, task: Task, case_id: str | None, rng: np.random.Generator) -> float:
        """1 if the task succeeded with this case at hand, or with none, else 0."""
        return float(rng.random() < self.chance(task, case_id))

    def chance(self, task: Task, case_id: str | None) -> float:
        """The probability of success, which no policy gets to see."""
        helped = case_id is not None and self._by_id[case_id].skill == task.skill
        return HELPED if helped else UNHELPED

    def _told(self, topics: Sequence[str], rng: np.random.Generator) -> Iterator[Case]:
        """Skills go round, so that each is known of equally many topics."""
        skills = itertools.cycle([str(skill) for skill in rng.permutation(list(SKILLS))])
        for topic in topics:
            for skill in itertools.islice(skills, SKILLS_OF_A_TOPIC):
                for number in range(CASES_OF_A_SKILL):
                    said = str(rng.choice(SKILLS[skill].train))
                    text = _sentence(str(rng.choice(TOLD)), topic, said, rng)
                    name = f"memserver:case-world/{self._seed}/{topic}/{skill}/{number}"
                    yield Case(str(uuid5(NAMESPACE_URL, name)), text, topic, skill)


def _sentence(frame: str, topic: str, skill: str, rng: np.random.Generator) -> str:
    a, b, c = (str(word) for word in rng.choice(TOPICS[topic], size=3, replace=False))
    return frame.format(topic=topic, skill=skill, a=a, b=b, c=c)
