"""Goals to practise on, and libraries that are frozen."""

import sqlalchemy as sa
from alembic import op

JSON = sa.JSON(none_as_null=True)
TIME = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "namespace_settings",
        sa.Column("frozen", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.create_table(
        "practice_goal",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("task_type", sa.String(), nullable=True),
        sa.Column("environment", sa.String(), nullable=True),
        sa.Column("template", sa.Text(), nullable=False),
        sa.Column("slots", JSON, nullable=False),
        sa.Column("why", JSON, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("refusal", sa.String(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("decided_at", TIME, nullable=True),
        sa.Column("trajectory", sa.Uuid(), nullable=True),
        sa.Column("sent_hash", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id", "tenant_id"],
            ["namespace.id", "namespace.tenant_id"],
            name=op.f("fk_practice_goal_namespace_id_tenant_id"),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_practice_goal")),
    )
    op.create_index(
        op.f("ix_practice_goal_namespace_id_created_at_id"),
        "practice_goal",
        ["namespace_id", "created_at", "id"],
        unique=False,
    )
    decided = sa.text("trajectory IS NOT NULL")
    op.create_index(
        op.f("ix_practice_goal_trajectory_tenant_id"),
        "practice_goal",
        ["trajectory", "tenant_id"],
        unique=False,
        sqlite_where=decided,
        postgresql_where=decided,
    )


def downgrade() -> None:
    op.drop_table("practice_goal")
    op.drop_column("namespace_settings", "frozen")
