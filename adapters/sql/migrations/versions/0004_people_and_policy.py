"""People with handles, hours and absence; policy versions; the audit of both; nudges; owners of agents' keys.

What questions froze into themselves before is brought to the new words: roles become a panel, targets their life.

Revision ID: 0004
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_AT_ONCE = 500


def upgrade() -> None:
    op.add_column("people", sa.Column("is_active", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.add_column("people", sa.Column("merged_into", sa.String(length=40)))
    op.add_column("people", sa.Column("profile", sa.Text(), nullable=False, server_default="{}"))
    op.add_column("api_keys", sa.Column("owner_id", sa.String(length=40)))
    op.add_column("notices", sa.Column("nudge", sa.Text()))
    op.create_table(
        "handles",
        sa.Column("surface", sa.String(length=32), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("person_id", sa.String(length=40), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("surface", "address"),
    )
    op.create_index("handles_of_person", "handles", ["person_id"])
    op.create_table(
        "link_codes",
        sa.Column("digest", sa.String(length=64), primary_key=True),
        sa.Column("person_id", sa.String(length=40), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "policy_versions",
        sa.Column("version", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("diff", sa.Text(), nullable=False),
        sa.Column("meant", sa.Text(), nullable=False, server_default="{}"),
    )
    op.create_table(
        "audit",
        sa.Column("sequence", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("what", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
    )
    _reword_questions(op.get_bind())


def _reword_questions(connection: sa.Connection) -> None:
    after = ""
    page = sa.text("SELECT id, spec, life FROM questions WHERE id > :after ORDER BY id LIMIT :many")
    change = sa.text("UPDATE questions SET spec = :spec, life = :life WHERE id = :id")
    while rows := connection.execute(page, {"after": after, "many": _AT_ONCE}).all():
        for row in rows:
            spec, life = json.loads(row.spec), json.loads(row.life)
            roles = spec.get("policy", {}).get("responder_roles", [])
            spec["policy"] = {"panels": [{"name": "an admin", "roles": roles}]} if roles else {"panels": []}
            if spec.get("targets"):
                life["targets"] = spec["targets"]
            for delivery, target in zip(life.get("deliveries", []), spec.get("targets", []), strict=False):
                delivery.setdefault("address", target["address"])
            connection.execute(change, {"id": row.id, "spec": json.dumps(spec), "life": json.dumps(life)})
        after = rows[-1].id
