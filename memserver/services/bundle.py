"""All services together, as the API is handed them."""

from dataclasses import dataclass

from memserver.domain.ports import Store
from memserver.services.access import Access
from memserver.services.asking import Asking
from memserver.services.backing_up import BackingUp
from memserver.services.changing import Changing
from memserver.services.consolidating import Consolidating
from memserver.services.distilling import Distilling
from memserver.services.entities import Entities
from memserver.services.erasing import Erasing
from memserver.services.evolving import Evolving
from memserver.services.exporting.export import Exporting
from memserver.services.gate import Gate
from memserver.services.grepping.grep import Grepping
from memserver.services.guarding.guarding import Guarding
from memserver.services.guiding import Guiding
from memserver.services.housekeeping import Housekeeping
from memserver.services.indexing import Indexer
from memserver.services.model_budget import ModelBudget
from memserver.services.namespace_settings import Settling
from memserver.services.operations import OperationService
from memserver.services.policies.exploring import Exploring
from memserver.services.policies.lifecycle import Lifecycle
from memserver.services.policies.overview import Overviewing
from memserver.services.portfolios import Portfolios
from memserver.services.practising import Practising
from memserver.services.preferring.preferring import Preferring
from memserver.services.privacy.unsealing import Unsealing
from memserver.services.readiness import Readiness
from memserver.services.reindexing import Reindexing
from memserver.services.remembering import Remembering
from memserver.services.restoring import Restoring
from memserver.services.retrieval.retrieve import Retrieve
from memserver.services.routing import Routing
from memserver.services.sessions.ending import Ending
from memserver.services.sessions.reading import Sessions
from memserver.services.sessions.recording import Recording
from memserver.services.similar_cases import SimilarCases
from memserver.services.skills.card import Cards
from memserver.services.skills.exporting import SkillExporting
from memserver.services.skills.importing import Importing
from memserver.services.skills.quarantine import Quarantine
from memserver.services.tools.calling import Tools
from memserver.services.tracing import Tracing
from memserver.services.trajectories import Trajectories
from memserver.services.valuing import Valuing
from memserver.services.writing.writing import Writing


@dataclass(frozen=True, slots=True)
class Services:
    store: Store
    access: Access
    trajectories: Trajectories
    practising: Practising
    remembering: Remembering
    writing: Writing
    restoring: Restoring
    entities: Entities
    tracing: Tracing
    importing: Importing
    quarantine: Quarantine
    skill_exporting: SkillExporting
    cards: Cards
    unsealing: Unsealing
    erasing: Erasing
    retrieve: Retrieve
    grep: Grepping
    policies: Lifecycle
    exploring: Exploring
    overview: Overviewing
    housekeeping: Housekeeping
    settling: Settling
    valuing: Valuing
    routing: Routing
    evolving: Evolving
    portfolios: Portfolios
    distilling: Distilling
    consolidating: Consolidating
    reindexing: Reindexing
    changing: Changing
    exporting: Exporting
    operations: OperationService
    indexer: Indexer
    readiness: Readiness
    recording: Recording
    sessions: Sessions
    ending: Ending
    tools: Tools
    gate: Gate
    backing_up: BackingUp
    model_budget: ModelBudget
    preferring: Preferring
    guarding: Guarding
    guiding: Guiding
    similar_cases: SimilarCases
    asking: Asking | None = None
