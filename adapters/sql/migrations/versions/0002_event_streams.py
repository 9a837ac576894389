"""Events know whose they are and which transaction wrote them, so that each reader gets its own, in order.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("events", sa.Column("owner", sa.Text(), nullable=True))
    op.add_column("events", sa.Column("xid", sa.BigInteger(), nullable=True))
    op.execute(
        "UPDATE events SET owner = (SELECT asker FROM questions WHERE questions.id = events.question_id) "
        "WHERE question_id IS NOT NULL"
    )
    op.execute(
        "UPDATE events SET owner = (SELECT owner FROM jobs WHERE jobs.workspace_id = events.workspace_id "
        "AND jobs.id = events.job_id) WHERE question_id IS NULL"
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("UPDATE events SET xid = 0")
        op.execute("ALTER TABLE events ALTER COLUMN xid SET DEFAULT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)")
    op.create_index("events_of_owner", "events", ["workspace_id", "owner", "position"], unique=False)
