"""The first schema.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("hint", sa.String(length=16), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("workspace_id", sa.String(length=64), nullable=False),
        sa.Column("person_id", sa.String(length=40), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_table(
        "commands",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(length=80), nullable=False),
        sa.Column("question_id", sa.String(length=40), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("commands_by_age", "commands", ["at"], unique=False)
    op.create_table(
        "events",
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("workspace_id", sa.String(length=64), nullable=False),
        sa.Column("question_id", sa.String(length=40), nullable=True),
        sa.Column("job_id", sa.Text(), nullable=True),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("position"),
        sa.UniqueConstraint("question_id", "sequence", name="events_of_question"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "events_of_job",
        "events",
        ["workspace_id", "job_id", "position"],
        unique=False,
        sqlite_where=sa.text("job_id IS NOT NULL"),
        postgresql_where=sa.text("job_id IS NOT NULL"),
    )
    op.create_table(
        "jobs",
        sa.Column("workspace_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("closing", sa.Boolean(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "id"),
    )
    op.create_index("jobs_by_owner", "jobs", ["workspace_id", "owner", "id"], unique=False)
    op.create_index(
        "jobs_closing",
        "jobs",
        ["id"],
        unique=False,
        sqlite_where=sa.text("closing"),
        postgresql_where=sa.text("closing"),
    )
    op.create_table(
        "notices",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("question_id", sa.String(length=40), nullable=False),
        sa.Column("surface", sa.String(length=32), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("wanted_version", sa.Integer(), nullable=False),
        sa.Column("ready_at", sa.BigInteger(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("ref", sa.Text(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "notices_ready",
        "notices",
        ["ready_at"],
        unique=False,
        sqlite_where=sa.text("ready_at IS NOT NULL"),
        postgresql_where=sa.text("ready_at IS NOT NULL"),
    )
    op.create_table(
        "people",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "questions",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("workspace_id", sa.String(length=64), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=True),
        sa.Column("job_id", sa.Text(), nullable=True),
        sa.Column("asker", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("life", sa.Text(), nullable=False),
        sa.Column("holding_slot", sa.Integer(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("fence", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "questions_by_job",
        "questions",
        ["workspace_id", "job_id", "id"],
        unique=False,
        sqlite_where=sa.text("job_id IS NOT NULL"),
        postgresql_where=sa.text("job_id IS NOT NULL"),
    )
    op.create_index(
        "questions_due",
        "questions",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_index(
        "questions_leased",
        "questions",
        ["lease_until"],
        unique=False,
        sqlite_where=sa.text("lease_until > 0"),
        postgresql_where=sa.text("lease_until > 0"),
    )
    op.create_index(
        "questions_holding_slot",
        "questions",
        ["workspace_id", "job_id", "holding_slot"],
        unique=True,
        sqlite_where=sa.text("holding_slot IS NOT NULL"),
        postgresql_where=sa.text("holding_slot IS NOT NULL"),
    )
    op.create_index(
        "questions_open",
        "questions",
        ["workspace_id", "id"],
        unique=False,
        sqlite_where=sa.text("status = 'open'"),
        postgresql_where=sa.text("status = 'open'"),
    )
    op.create_index(
        "questions_open_by_asker",
        "questions",
        ["workspace_id", "asker", "id"],
        unique=False,
        sqlite_where=sa.text("status = 'open'"),
        postgresql_where=sa.text("status = 'open'"),
    )
    op.create_index(
        "questions_open_by_kind",
        "questions",
        ["workspace_id", "kind", "id"],
        unique=False,
        sqlite_where=sa.text("status = 'open'"),
        postgresql_where=sa.text("status = 'open'"),
    )
    op.create_index(
        "questions_open_by_project",
        "questions",
        ["workspace_id", "project_id", "id"],
        unique=False,
        sqlite_where=sa.text("status = 'open' AND project_id IS NOT NULL"),
        postgresql_where=sa.text("status = 'open' AND project_id IS NOT NULL"),
    )
