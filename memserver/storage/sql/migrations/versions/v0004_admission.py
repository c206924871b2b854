"""How a namespace admits what is distilled into its library."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "namespace_settings",
        sa.Column("admission", sa.String(), nullable=False, server_default="none"),
    )


def downgrade() -> None:
    op.drop_column("namespace_settings", "admission")
