"""Every table of the store. The models do not validate: domain values have done so before.

Content (trajectory, item, version, evidence) is written only through the change log. The foreign
key to (namespace, tenant) makes a row in another tenant's namespace impossible to store.

No index of a content table begins with the tenant: SQLite, which has no statistics here, takes it
for as good as any other, and would read all of a tenant's rows to find one. A namespace's id says
its tenant anyway, and a primary key that begins with the row's id lets an index rebuild walk a
table in id order over all tenants.
"""

from memserver.storage.sql.tables.access import (
    API_KEY,
    NAMESPACE,
    TENANT,
)
from memserver.storage.sql.tables.base import metadata
from memserver.storage.sql.tables.content import (
    BELIEF,
    EVIDENCE,
    EXPLORATION,
    ITEM,
    NAMESPACE_SETTINGS,
    POLICY,
    TRAJECTORY,
    VERSION,
)
from memserver.storage.sql.tables.log import (
    CHANGE,
    ROW_CHANGE,
)
from memserver.storage.sql.tables.plain import (
    DECISION,
    ERASURE,
    IDEMPOTENCY,
    MARK,
    MODEL_USE,
    OPERATION,
    POLICY_WEIGHTS,
    PRACTICE_GOAL,
    SEALED,
    SERVER_SECRET,
    SESSION,
    SESSION_EVENT,
    VECTOR,
)

__all__ = [
    "API_KEY",
    "BELIEF",
    "CHANGE",
    "DECISION",
    "ERASURE",
    "EVIDENCE",
    "EXPLORATION",
    "IDEMPOTENCY",
    "ITEM",
    "MARK",
    "MODEL_USE",
    "NAMESPACE",
    "NAMESPACE_SETTINGS",
    "OPERATION",
    "POLICY",
    "POLICY_WEIGHTS",
    "PRACTICE_GOAL",
    "ROW_CHANGE",
    "SEALED",
    "SERVER_SECRET",
    "SESSION",
    "SESSION_EVENT",
    "TENANT",
    "TRAJECTORY",
    "VECTOR",
    "VERSION",
    "metadata",
]
