"""Skills as others keep them: one as an Agent Skill in an archive, all of a namespace as a bank."""

from dataclasses import dataclass
from uuid import UUID

from memserver.domain.errors import ItemNotFound, SkillNotExportable
from memserver.domain.items import Entry, Kind, SkillBody, Status
from memserver.domain.ports import Clock, ItemFilter, Store
from memserver.domain.scope import Namespace, Scope
from memserver.services.paging import every
from memserver.services.skills.importing import IMPORT
from memserver.services.skills.lines import write_lines
from memserver_skills.agent_skills import BadSkill, pack, write_folder
from memserver_skills.agent_skills.exchange import agent_skill
from memserver_skills.incoming import Incoming
from memserver_skills.skillbank import SECTION, Section
from memserver_skills.skillrl import bank_text, write_bank


@dataclass(frozen=True, slots=True)
class Archive:
    name: str
    data: bytes


class SkillExporting:
    def __init__(self, store: Store, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def agent_skill(self, scope: Scope, item_id: UUID) -> Archive:
        """The skill's present version as a zip with its folder, always the same bytes for the same
        version. Raises `ItemNotFound`, `SkillNotExportable`."""
        with self._store.reading() as reader:
            entry = reader.item(scope, item_id)
        if entry is None or entry.item.status is Status.DELETED:
            raise ItemNotFound(item_id)
        version = entry.version
        if not isinstance(version.body, SkillBody):
            raise ItemNotFound(item_id)
        try:
            skill = agent_skill(
                version.title,
                version.body,
                task_type=version.task_type,
                metadata=version.metadata,
            )
            return Archive(skill.front.name, pack(skill.front.name, write_folder(skill)))
        except BadSkill as error:
            raise SkillNotExportable([fault.message for fault in error.faults]) from error

    def bank(self, scope: Scope, namespace: Namespace, *, statuses: tuple[Status, ...]) -> bytes:
        """The namespace's skills and common mistakes as a SkillRL bank."""
        return bank_text(write_bank(self._shelf(scope, namespace, statuses))).encode()

    def lines(self, scope: Scope, namespace: Namespace, *, statuses: tuple[Status, ...]) -> bytes:
        """The same as JSON lines of ours."""
        return write_lines(self._shelf(scope, namespace, statuses))

    def _shelf(
        self, scope: Scope, namespace: Namespace, statuses: tuple[Status, ...]
    ) -> list[Incoming]:
        live = self._clock() if Status.ACTIVE in statuses else None
        where = ItemFilter(
            (namespace.id,), kinds=(Kind.SKILL, Kind.RULE), statuses=statuses, live_at=live
        )
        with self._store.reading() as reader:
            found = every(lambda page: reader.items(scope, where, page))
            return [_shelved(entry) for entry in found if _is_of_a_bank(entry)]


def _is_of_a_bank(entry: Entry) -> bool:
    """Skills, and those rules that a bank calls mistakes; guardrails and others are no skills."""
    if entry.item.kind is Kind.SKILL:
        return True
    return entry.version.metadata.get(SECTION) == Section.MISTAKE


def _shelved(entry: Entry) -> Incoming:
    version = entry.version
    return Incoming(
        where=str(entry.item.id),
        kind=entry.item.kind,
        title=version.title,
        body=version.body,
        task_type=version.task_type,
        metadata={key: value for key, value in version.metadata.items() if key != IMPORT},
    )
