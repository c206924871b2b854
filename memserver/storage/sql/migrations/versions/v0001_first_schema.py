"""The first schema: tenants and keys, content, the change log, records, the projection's mark."""

import sqlalchemy as sa
from alembic import op

POSITION = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PATH = sa.String().with_variant(sa.String(collation="C"), "postgresql")
JSON = sa.JSON(none_as_null=True)
TIME = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "mark",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("position", POSITION, nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_mark")),
    )

    op.create_table(
        "tenant",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenant")),
        sa.UniqueConstraint("name", name=op.f("uq_tenant_name")),
    )

    op.create_table(
        "vector",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("hash", "fingerprint", name=op.f("pk_vector")),
    )

    op.create_table(
        "api_key",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("grants", JSON, nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_api_key_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_key")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_key_digest")),
    )
    op.create_index(
        op.f("ix_api_key_tenant_id_created_at_id"),
        "api_key",
        ["tenant_id", "created_at", "id"],
        unique=False,
    )

    op.create_table(
        "change",
        sa.Column("position", POSITION, autoincrement=False, nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("verb", sa.String(), nullable=False),
        sa.Column("actor", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("before_hash", sa.String(), nullable=False),
        sa.Column("after_hash", sa.String(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("undoes", sa.Uuid(), nullable=True),
        sa.Column("undone_by", sa.Uuid(), nullable=True),
        sa.Column("operation", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_change_tenant_id")),
        sa.PrimaryKeyConstraint("position", name=op.f("pk_change")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_change_id_tenant_id")),
    )
    op.create_index(
        op.f("ix_change_tenant_id_position"), "change", ["tenant_id", "position"], unique=False
    )

    op.create_table(
        "decision",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespaces", JSON, nullable=False),
        sa.Column("verb", sa.String(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("task_type", sa.String(), nullable=True),
        sa.Column("trajectory_id", sa.Uuid(), nullable=True),
        sa.Column("schema", sa.Integer(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("candidates", JSON, nullable=False),
        sa.Column("features", sa.LargeBinary(), nullable=False),
        sa.Column("asked_by", sa.Uuid(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_decision_tenant_id")),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_decision")),
    )
    op.create_index(
        op.f("ix_decision_trajectory_id_tenant_id"),
        "decision",
        ["trajectory_id", "tenant_id"],
        unique=False,
    )

    op.create_table(
        "idempotency",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("route", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("body_hash", sa.String(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", JSON, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenant.id"], name=op.f("fk_idempotency_tenant_id")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "route", "key", name=op.f("pk_idempotency")),
    )
    op.create_index(op.f("ix_idempotency_created_at"), "idempotency", ["created_at"], unique=False)

    op.create_table(
        "namespace",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("path", PATH, nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_namespace_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_namespace")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_namespace_id_tenant_id")),
        sa.UniqueConstraint("tenant_id", "path", name=op.f("uq_namespace_tenant_id_path")),
    )

    op.create_table(
        "belief",
        sa.Column("subject", sa.Uuid(), nullable=False),
        sa.Column("context", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("successes", sa.Double(), nullable=False),
        sa.Column("failures", sa.Double(), nullable=False),
        sa.Column("outcomes", sa.Integer(), nullable=False),
        sa.Column("last", TIME, nullable=True),
        sa.Column("pieces", sa.Integer(), nullable=False),
        sa.Column("last_seq", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id", "tenant_id"],
            ["namespace.id", "namespace.tenant_id"],
            name=op.f("fk_belief_namespace_id_tenant_id"),
        ),
        sa.PrimaryKeyConstraint("subject", "context", "tenant_id", name=op.f("pk_belief")),
    )

    op.create_table(
        "evidence",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("position", POSITION, nullable=False),
        sa.Column("subject", sa.Uuid(), nullable=False),
        sa.Column("context", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("recorded_at", TIME, nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("cause", sa.Uuid(), nullable=True),
        sa.Column("retracts", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["namespace_id", "tenant_id"],
            ["namespace.id", "namespace.tenant_id"],
            name=op.f("fk_evidence_namespace_id_tenant_id"),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_evidence")),
    )
    op.create_index(
        op.f("ix_evidence_cause_tenant_id"), "evidence", ["cause", "tenant_id"], unique=False
    )
    op.create_index(
        op.f("ix_evidence_retracts_tenant_id"),
        "evidence",
        ["retracts", "tenant_id"],
        unique=False,
        sqlite_where=sa.text("retracts IS NOT NULL"),
        postgresql_where=sa.text("retracts IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_evidence_subject_tenant_id_context_seq"),
        "evidence",
        ["subject", "tenant_id", "context", "seq"],
        unique=False,
    )

    op.create_table(
        "item",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("position", POSITION, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("head", sa.Uuid(), nullable=False),
        sa.Column("merged_into", sa.Uuid(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id", "tenant_id"],
            ["namespace.id", "namespace.tenant_id"],
            name=op.f("fk_item_namespace_id_tenant_id"),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_item")),
    )
    op.create_index(
        op.f("ix_item_merged_into_tenant_id"), "item", ["merged_into", "tenant_id"], unique=False
    )
    op.create_index(
        op.f("ix_item_namespace_id_position_id_tenant_id"),
        "item",
        ["namespace_id", "position", "id", "tenant_id"],
        unique=False,
    )

    op.create_table(
        "operation",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("verb", sa.String(), nullable=False),
        sa.Column("params", JSON, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("requested_by", sa.Uuid(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("progress", JSON, nullable=False),
        sa.Column("steps_done", JSON, nullable=False),
        sa.Column("report", JSON, nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("change_id", sa.Uuid(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id", "tenant_id"],
            ["namespace.id", "namespace.tenant_id"],
            name=op.f("fk_operation_namespace_id_tenant_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_operation")),
    )
    op.create_index(op.f("ix_operation_state"), "operation", ["state"], unique=False)
    op.create_index(
        op.f("ix_operation_tenant_id_created_at_id"),
        "operation",
        ["tenant_id", "created_at", "id"],
        unique=False,
    )

    op.create_table(
        "row_change",
        sa.Column("position", POSITION, nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("table_name", sa.String(), nullable=False),
        sa.Column("row_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("before", JSON, nullable=True),
        sa.Column("after_hash", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["namespace_id"], ["namespace.id"], name=op.f("fk_row_change_namespace_id")
        ),
        sa.ForeignKeyConstraint(
            ["position"], ["change.position"], name=op.f("fk_row_change_position")
        ),
        sa.PrimaryKeyConstraint("position", "ordinal", name=op.f("pk_row_change")),
    )
    op.create_index(
        op.f("ix_row_change_namespace_id_position_tenant_id"),
        "row_change",
        ["namespace_id", "position", "tenant_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_row_change_owner_id_tenant_id"),
        "row_change",
        ["owner_id", "tenant_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_row_change_row_id_tenant_id"), "row_change", ["row_id", "tenant_id"], unique=False
    )

    op.create_table(
        "trajectory",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("position", POSITION, nullable=False),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("goal_hash", sa.String(), nullable=False),
        sa.Column("task_type", sa.String(), nullable=True),
        sa.Column("environment", sa.String(), nullable=True),
        sa.Column("template_id", sa.String(), nullable=True),
        sa.Column("template_hash", sa.String(), nullable=True),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("steps", JSON, nullable=False),
        sa.Column("outcome", JSON, nullable=True),
        sa.Column("success", sa.Boolean(), nullable=True),
        sa.Column("used", JSON, nullable=True),
        sa.Column("mistakes", JSON, nullable=False),
        sa.Column("metadata", JSON, nullable=False),
        sa.Column("sent_hash", sa.String(), nullable=False),
        sa.Column("sender", sa.Uuid(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id", "tenant_id"],
            ["namespace.id", "namespace.tenant_id"],
            name=op.f("fk_trajectory_namespace_id_tenant_id"),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_trajectory")),
    )
    op.create_index(
        op.f("ix_trajectory_goal_hash_tenant_id"),
        "trajectory",
        ["goal_hash", "tenant_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_trajectory_namespace_id_position_id_tenant_id"),
        "trajectory",
        ["namespace_id", "position", "id", "tenant_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_trajectory_template_hash_tenant_id"),
        "trajectory",
        ["template_hash", "tenant_id"],
        unique=False,
    )

    op.create_table(
        "version",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("position", POSITION, nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body_type", sa.String(), nullable=False),
        sa.Column("body", JSON, nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("valid_from", TIME, nullable=False),
        sa.Column("valid_to", TIME, nullable=True),
        sa.Column("recorded_at", TIME, nullable=False),
        sa.Column("parent", sa.Uuid(), nullable=True),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("sources", JSON, nullable=False),
        sa.Column("task_type", sa.String(), nullable=True),
        sa.Column("metadata", JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id", "tenant_id"],
            ["item.id", "item.tenant_id"],
            name=op.f("fk_version_item_id_tenant_id"),
        ),
        sa.ForeignKeyConstraint(
            ["namespace_id", "tenant_id"],
            ["namespace.id", "namespace.tenant_id"],
            name=op.f("fk_version_namespace_id_tenant_id"),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_version")),
    )
    op.create_index(
        op.f("ix_version_content_hash_tenant_id"),
        "version",
        ["content_hash", "tenant_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_version_item_id_tenant_id_number"),
        "version",
        ["item_id", "tenant_id", "number"],
        unique=False,
    )


def downgrade() -> None:
    raise NotImplementedError("There is nothing before the first schema.")
