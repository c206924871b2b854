"""How a namespace explores: set by an admin, logged as a change."""

from dataclasses import replace

from memserver.domain.changes import Change, Draft, Verb
from memserver.domain.errors import InvalidExploration
from memserver.domain.policies import Exploration, Mode, PolicyRole
from memserver.domain.ports import Reader, Store, Writer
from memserver.domain.scope import Namespace, Scope
from memserver.services.access import Access
from memserver.services.policies.serving import default_exploration


class Exploring:
    def __init__(self, store: Store, access: Access) -> None:
        self._store = store
        self._access = access

    def get(self, namespace: Namespace, role: PolicyRole) -> Exploration:
        with self._store.reading() as reader:
            return exploration_of(reader, namespace, role)

    def set(self, tx: Writer, scope: Scope, wanted: Exploration) -> Change:
        """Holds from the next retrieve on. Raises `InvalidExploration` for a learning namespace
        in which nothing would be left to chance, and for a fixed one in which something would."""
        self._access.require_admin(scope, "set how namespaces explore")
        self._access.require_writable(scope, wanted.namespace)
        chance = wanted.share > 0 and (wanted.temperature > 0 or wanted.exposure_slots > 0)
        if wanted.mode is Mode.LEARNING and not chance:
            raise InvalidExploration(
                "a learning namespace needs a share above 0, and a temperature above 0 or "
                "exposure slots"
            )
        settings = wanted if wanted.mode is Mode.LEARNING else _nothing_to_chance(wanted)
        return tx.apply(
            Draft(
                tenant=scope.tenant,
                verb=Verb.EXPLORE,
                actor=scope.key,
                reason=_told(settings),
                puts=(settings,),
            )
        )


def exploration_of(reader: Reader, namespace: Namespace, role: PolicyRole) -> Exploration:
    """As it was set; a namespace where it never was is fixed."""
    return reader.serving(namespace, role).exploration or default_exploration(namespace, role)


def _nothing_to_chance(wanted: Exploration) -> Exploration:
    return replace(wanted, temperature=0.0, share=0.0, exposure_slots=0)


def _told(settings: Exploration) -> str:
    if settings.mode is Mode.FIXED:
        return "fixed"
    return (
        f"learning: {settings.share:g} of the runs, temperature {settings.temperature:g}, "
        f"{settings.exposure_slots} exposure slots"
    )
