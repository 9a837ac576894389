"""What the inbox sorts and sifts questions by, and the sessions of those who look at it.

Revision ID: 0005
"""

import json
from datetime import datetime

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_AT_ONCE = 500
_NEVER = 2**62
_RANKS = {"urgent": 0, "high": 1, "normal": 2, "low": 3}
_OPEN, _SETTLED = sa.text("status = 'open'"), sa.text("status <> 'open'")


def upgrade() -> None:
    op.add_column("questions", sa.Column("rank", sa.Integer(), nullable=False, server_default="2"))
    op.add_column("questions", sa.Column("deadline_at", sa.BigInteger(), nullable=False, server_default=str(_NEVER)))
    op.add_column("questions", sa.Column("agent", sa.Text(), nullable=False, server_default=""))
    op.add_column("questions", sa.Column("asked", sa.Text(), nullable=False, server_default=""))
    _fill(op.get_bind())
    op.create_index(
        "questions_pressing",
        "questions",
        ["workspace_id", "rank", "deadline_at", "id"],
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )
    op.create_index(
        "questions_settled", "questions", ["workspace_id", "id"], sqlite_where=_SETTLED, postgresql_where=_SETTLED
    )
    op.create_table(
        "login_links",
        sa.Column("digest", sa.String(length=64), primary_key=True),
        sa.Column("person_id", sa.String(length=40), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(length=64), primary_key=True),
        sa.Column("person_id", sa.String(length=40), nullable=False),
        sa.Column("idle_until", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.Column("looks_until", sa.BigInteger(), nullable=False, server_default="0"),
    )
    op.create_index("sessions_of_person", "sessions", ["person_id"])


def _fill(connection: sa.Connection) -> None:
    after = ""
    page = sa.text("SELECT id, spec, life FROM questions WHERE id > :after ORDER BY id LIMIT :many")
    change = sa.text(
        "UPDATE questions SET rank = :rank, deadline_at = :deadline, agent = :agent, asked = :asked WHERE id = :id"
    )
    while rows := connection.execute(page, {"after": after, "many": _AT_ONCE}).all():
        connection.execute(change, [_found(row.id, json.loads(row.spec), json.loads(row.life)) for row in rows])
        after = rows[-1].id


def _found(question_id: str, spec: dict[str, object], life: dict[str, object]) -> dict[str, object]:
    deadline, asker, asked = life.get("deadline"), spec.get("asker"), life.get("asked")
    name = asker.get("name", "") if isinstance(asker, dict) else ""
    return {
        "id": question_id,
        "rank": _RANKS.get(str(spec.get("urgency")), 2),
        "deadline": round(datetime.fromisoformat(deadline).timestamp() * 1000) if isinstance(deadline, str) else _NEVER,
        "agent": spec.get("agent") or name,
        "asked": "".join(f"|{person}|" for person in asked) if isinstance(asked, list) else "",
    }
