"""Subjects, turns and validity of items; settings of namespaces; sessions, sealed originals,
erasures and the use of models."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from memserver.domain.items import normal_name

POSITION = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON(none_as_null=True)
TIME = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

FACTS_TOGETHER = 500

ADDED: tuple[tuple[str, sa.Column[Any]], ...] = (
    ("api_key", sa.Column("unseals", sa.Boolean(), nullable=False, server_default=sa.false())),
    ("trajectory", sa.Column("subject", sa.Text(), nullable=True)),
    ("item", sa.Column("subject", sa.Text(), nullable=True)),
    ("item", sa.Column("expires_at", TIME, nullable=True)),
    ("version", sa.Column("entity", sa.Text(), nullable=True)),
    ("version", sa.Column("session", sa.Uuid(), nullable=True)),
    ("version", sa.Column("ordinal", sa.Integer(), nullable=True)),
    ("version", sa.Column("speaker", sa.Text(), nullable=True)),
    ("version", sa.Column("context", sa.Text(), nullable=True)),
    ("version", sa.Column("closed_at", TIME, nullable=True)),
    ("belief", sa.Column("mentions", sa.Integer(), nullable=False, server_default="0")),
    ("decision", sa.Column("choice", JSON, nullable=True)),
)
# Table, columns, and the column without which a row is left out of the index.
INDEXES: tuple[tuple[str, tuple[str, ...], str | None], ...] = (
    ("trajectory", ("subject", "tenant_id"), "subject"),
    ("item", ("subject", "tenant_id"), "subject"),
    ("item", ("expires_at", "namespace_id"), "expires_at"),
    ("version", ("namespace_id", "entity"), "entity"),
    ("version", ("session", "namespace_id", "ordinal"), "session"),
    ("session", ("namespace_id", "created_at", "id"), None),
    ("session", ("subject", "tenant_id"), "subject"),
    ("sealed", ("digest", "tenant_id"), None),
    ("sealed", ("subject", "tenant_id"), "subject"),
    ("erasure", ("tenant_id", "created_at", "id"), None),
)
NEW_TABLES = (
    "model_use",
    "erasure",
    "server_secret",
    "sealed",
    "session_event",
    "session",
    "namespace_settings",
)


def upgrade() -> None:
    for table, column in ADDED:
        op.add_column(table, column)
    _new_tables()
    for table, columns, where in INDEXES:
        condition = None if where is None else sa.text(f"{where} IS NOT NULL")
        op.create_index(
            op.f(_name(table, columns)),
            table,
            list(columns),
            unique=False,
            sqlite_where=condition,
            postgresql_where=condition,
        )
    _name_entities()


def downgrade() -> None:
    for table, columns, _ in reversed(INDEXES):
        op.drop_index(op.f(_name(table, columns)), table)
    for table in NEW_TABLES:
        op.drop_table(table)
    for table, column in reversed(ADDED):
        op.drop_column(table, column.name)


def _name(table: str, columns: tuple[str, ...]) -> str:
    return f"ix_{table}_{'_'.join(columns)}"


def _in_namespace(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["namespace_id", "tenant_id"],
        ["namespace.id", "namespace.tenant_id"],
        name=op.f(f"fk_{table}_namespace_id_tenant_id"),
    )


def _of_tenant(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f(f"fk_{table}_tenant_id"))


def _new_tables() -> None:
    op.create_table(
        "namespace_settings",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("position", POSITION, nullable=False),
        sa.Column("half_life_days", sa.Double(), nullable=True),
        sa.Column("most_items", sa.Integer(), nullable=True),
        sa.Column("secrets", sa.Boolean(), nullable=False),
        sa.Column("personal_data", sa.Boolean(), nullable=False),
        sa.Column("consolidate_every_writes", sa.Integer(), nullable=True),
        sa.Column("consolidate_every_hours", sa.Double(), nullable=True),
        sa.Column("consolidate_when_idle_minutes", sa.Double(), nullable=True),
        sa.Column("time_zone", sa.String(), nullable=False),
        _in_namespace("namespace_settings"),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_namespace_settings")),
    )
    op.create_table(
        "session",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("ended_at", TIME, nullable=True),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("summary", sa.Uuid(), nullable=True),
        _in_namespace("session"),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_session")),
    )
    op.create_table(
        "session_event",
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("payload", JSON, nullable=False),
        sa.Column("at", TIME, nullable=False),
        _in_namespace("session_event"),
        sa.ForeignKeyConstraint(
            ["session_id", "tenant_id"],
            ["session.id", "session.tenant_id"],
            name=op.f("fk_session_event_session_id_tenant_id"),
        ),
        sa.PrimaryKeyConstraint("session_id", "tenant_id", "seq", name=op.f("pk_session_event")),
    )
    op.create_table(
        "sealed",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        _in_namespace("sealed"),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_sealed")),
    )
    op.create_table(
        "server_secret",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_server_secret")),
    )
    op.create_table(
        "erasure",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("report", JSON, nullable=False),
        _of_tenant("erasure"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasure")),
    )
    op.create_table(
        "model_use",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.String(), nullable=False),
        sa.Column("tokens", POSITION, nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        _of_tenant("model_use"),
        sa.PrimaryKeyConstraint("tenant_id", "day", name=op.f("pk_model_use")),
    )


def _name_entities() -> None:
    """Facts that were stored before are found by their entity, too."""
    connection = op.get_bind()
    version = sa.table(
        "version",
        sa.column("id", sa.Uuid()),
        sa.column("tenant_id", sa.Uuid()),
        sa.column("body_type", sa.String()),
        sa.column("body", sa.JSON()),
        sa.column("entity", sa.Text()),
    )
    facts = sa.select(version.c.id, version.c.tenant_id, version.c.body).where(
        version.c.body_type == "fact"
    )
    named = sa.update(version).where(
        version.c.id == sa.bindparam("of_id"), version.c.tenant_id == sa.bindparam("of_tenant")
    )
    found = connection.execute(facts).fetchall()
    for start in range(0, len(found), FACTS_TOGETHER):
        connection.execute(
            named,
            [
                {"of_id": row.id, "of_tenant": row.tenant_id, "entity": _entity(row.body)}
                for row in found[start : start + FACTS_TOGETHER]
            ],
        )


def _entity(body: Any) -> str:
    fields = json.loads(body) if isinstance(body, str) else body
    return normal_name(str(fields.get("entity", "")))
