"""Which tools skills of a namespace may declare."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "namespace_settings",
        sa.Column("allowed_tools", sa.JSON(none_as_null=True), nullable=True),
    )


def downgrade() -> None:
    op.drop_column("namespace_settings", "allowed_tools")
