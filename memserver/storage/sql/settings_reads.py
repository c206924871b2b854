"""Reading how namespaces keep their memory."""

from sqlalchemy import select

from memserver.domain.namespace_settings import NamespaceSettings, default_settings, settings_id
from memserver.domain.scope import Namespace
from memserver.storage.sql.settings_rows import SETTINGS_COLUMNS, to_settings
from memserver.storage.sql.tables import NAMESPACE_SETTINGS
from memserver.storage.sql.view import View


class SettingsReads(View):
    def namespace_settings(self, namespace: Namespace) -> NamespaceSettings:
        row = self._first(
            select(*SETTINGS_COLUMNS).where(
                NAMESPACE_SETTINGS.c.id == settings_id(namespace),
                NAMESPACE_SETTINGS.c.tenant_id == namespace.tenant,
            )
        )
        if row is None:
            return default_settings(namespace)
        return to_settings(row, {namespace.id: namespace})

    def namespaces_with_settings(self) -> tuple[NamespaceSettings, ...]:
        rows = self._all(select(*SETTINGS_COLUMNS).order_by(NAMESPACE_SETTINGS.c.namespace_id))
        names = self._names(row.namespace_id for row in rows)
        return tuple(to_settings(row, names) for row in rows)
