"""Policies, exploration, and decisions that say how they were made."""

from typing import Any

import sqlalchemy as sa
from alembic import op

POSITION = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON(none_as_null=True)
TIME = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

FIRST_NAMESPACE = {
    "sqlite": "json_extract(namespaces, '$[0]')",
    "postgresql": "(namespaces->>0)::integer",
}
ADDED_TO_DECISION: tuple[sa.Column[Any], ...] = (
    sa.Column("namespace_id", sa.Integer(), nullable=False, server_default="0"),
    sa.Column("k", sa.Integer(), nullable=False, server_default="0"),
    sa.Column("explored", sa.Boolean(), nullable=False, server_default=sa.false()),
    sa.Column("temperature", sa.Double(), nullable=False, server_default="0"),
    sa.Column("exposure_slots", sa.Integer(), nullable=False, server_default="0"),
    sa.Column("encoder", sa.String(), nullable=False, server_default=""),
    sa.Column("query_vector", sa.LargeBinary(), nullable=True),
    sa.Column("shadows", JSON, nullable=True),
)


def upgrade() -> None:
    op.create_table(
        "policy_weights",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_policy_weights")),
    )

    op.create_table(
        "policy",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("position", POSITION, nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("manifest", JSON, nullable=False),
        sa.Column("weights_hash", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("previous", sa.Uuid(), nullable=True),
        sa.Column("baseline", JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id", "tenant_id"],
            ["namespace.id", "namespace.tenant_id"],
            name=op.f("fk_policy_namespace_id_tenant_id"),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_policy")),
    )
    op.create_index(
        op.f("ix_policy_namespace_id_role_state"),
        "policy",
        ["namespace_id", "role", "state"],
        unique=False,
    )

    op.create_table(
        "exploration",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("position", POSITION, nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("temperature", sa.Double(), nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("exposure_slots", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id", "tenant_id"],
            ["namespace.id", "namespace.tenant_id"],
            name=op.f("fk_exploration_namespace_id_tenant_id"),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_exploration")),
    )

    for column in ADDED_TO_DECISION:
        op.add_column("decision", column)
    first = FIRST_NAMESPACE[op.get_bind().dialect.name]
    op.execute(sa.text(f"UPDATE decision SET namespace_id = coalesce({first}, 0)"))
    op.create_index(
        op.f("ix_decision_namespace_id_created_at_id"),
        "decision",
        ["namespace_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_decision_created_at_tenant_id_id"),
        "decision",
        ["created_at", "tenant_id", "id"],
        unique=False,
    )


def downgrade() -> None:
    op.drop_index(op.f("ix_decision_created_at_tenant_id_id"), "decision")
    op.drop_index(op.f("ix_decision_namespace_id_created_at_id"), "decision")
    for column in ADDED_TO_DECISION:
        op.drop_column("decision", column.name)
    op.drop_table("exploration")
    op.drop_table("policy")
    op.drop_table("policy_weights")
