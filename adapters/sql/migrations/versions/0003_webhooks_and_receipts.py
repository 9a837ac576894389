"""Webhook endpoints, messages and their attempts; receipts that were redeemed; callback secrets of keys.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", sa.String(length=40), primary_key=True),
        sa.Column("workspace_id", sa.String(length=64), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("patterns", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("previous_secret", sa.Text()),
        sa.Column("previous_until", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("disabled_at", sa.BigInteger()),
        sa.Column("disabled_why", sa.Text()),
    )
    op.create_index("webhook_endpoints_of_owner", "webhook_endpoints", ["owner", "workspace_id"])
    op.create_table(
        "webhook_messages",
        sa.Column("id", sa.String(length=120), primary_key=True),
        sa.Column("workspace_id", sa.String(length=64), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("event", sa.String(length=40), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("endpoint_id", sa.String(length=40)),
        sa.Column("callback_url", sa.Text()),
        sa.Column("key_id", sa.String(length=40)),
        sa.Column("question_id", sa.String(length=40)),
        sa.Column("job_id", sa.Text()),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text()),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("failure", sa.Text()),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
    )
    op.create_index(
        "webhook_messages_due",
        "webhook_messages",
        ["due_at"],
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_index("webhook_messages_of_owner", "webhook_messages", ["workspace_id", "owner", "id"])
    op.create_index("webhook_messages_of_endpoint", "webhook_messages", ["endpoint_id"])
    op.create_table(
        "webhook_attempts",
        sa.Column("message_id", sa.String(length=120), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("failure", sa.Text()),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("message_id", "number"),
    )
    op.create_table(
        "redeemed_receipts",
        sa.Column("nonce", sa.String(length=80), primary_key=True),
        sa.Column("question_id", sa.String(length=40), nullable=False),
        sa.Column("redeemed_by", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
    )
    op.add_column("api_keys", sa.Column("callback_secret", sa.Text()))
    op.add_column("api_keys", sa.Column("callback_hosts", sa.Text(), nullable=False, server_default=""))
