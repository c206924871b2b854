"""A caller's scope as SQL conditions. `memserver.domain.scope.covers` is what they must agree
with; LIKE is not used, since `_`, `%` and case would each let somebody in."""

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, true
from sqlalchemy.sql.elements import False_
from sqlalchemy.sql.expression import false

from memserver.domain.scope import EVERYTHING, Scope
from memserver.storage.sql.tables import NAMESPACE

Condition = ColumnElement[bool]


def path_matches(pattern: str) -> Condition:
    """Whether a namespace's path is reached by the pattern."""
    if pattern == EVERYTHING:
        return true()
    root = pattern.removesuffix("/**")
    path = NAMESPACE.c.path
    if root == pattern:
        return path == root
    prefix = root + "/"
    return or_(path == root, func.substr(path, 1, len(prefix)) == prefix)


def granted(scope: Scope) -> Condition:
    """Whether a namespace of the scope's tenant lies in its grants; never, where there are none."""
    nothing: False_ = false()
    return or_(nothing, *(path_matches(grant) for grant in scope.grants))


def reached(scope: Scope) -> Select[Any]:
    """The ids of the namespaces that the scope reaches."""
    return select(NAMESPACE.c.id).where(NAMESPACE.c.tenant_id == scope.tenant, granted(scope))


def visible(
    scope: Scope, tenant_id: ColumnElement[Any], namespace_id: ColumnElement[Any]
) -> Condition:
    """Whether a row with these columns is within the scope's reach."""
    if EVERYTHING in scope.grants:
        return tenant_id == scope.tenant
    return and_(tenant_id == scope.tenant, namespace_id.in_(reached(scope)))
