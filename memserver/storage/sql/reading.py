"""The `Reader` port, put together from its parts."""

from memserver.storage.sql.access_reads import AccessReads
from memserver.storage.sql.arm_reads import ArmReads
from memserver.storage.sql.corpus_reads import CorpusReads
from memserver.storage.sql.decision_reads import DecisionReads
from memserver.storage.sql.entity_reads import EntityReads
from memserver.storage.sql.evidence_reads import EvidenceReads
from memserver.storage.sql.history_reads import HistoryReads
from memserver.storage.sql.index_reads import IndexReads
from memserver.storage.sql.keeping_reads import KeepingReads
from memserver.storage.sql.library_reads import LibraryReads
from memserver.storage.sql.log_reads import LogReads
from memserver.storage.sql.model_use_rows import ModelUseReads
from memserver.storage.sql.policy_reads import PolicyReads
from memserver.storage.sql.practice_reads import PracticeReads
from memserver.storage.sql.sealed_rows import PrivacyReads
from memserver.storage.sql.session_reads import SessionReads
from memserver.storage.sql.settings_reads import SettingsReads


class SqlReader(
    AccessReads,
    HistoryReads,
    CorpusReads,
    EvidenceReads,
    LibraryReads,
    DecisionReads,
    PolicyReads,
    ArmReads,
    EntityReads,
    SettingsReads,
    KeepingReads,
    SessionReads,
    ModelUseReads,
    PracticeReads,
    PrivacyReads,
    LogReads,
    IndexReads,
):
    """A consistent view: every method sees the state in which the first one found the database."""
