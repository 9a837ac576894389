"""The tables. Instants are whole milliseconds since 1970; what nobody queries inside is one JSON text."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
    true,
)

metadata = MetaData()

# Partial indexes serve only queries that say the same words; a bound value would not do. So these are literals.
IS_OPEN = text("status = 'open'")
IS_LEASED = text("lease_until > 0")
IS_CLOSING = text("closing")

IS_SETTLED = text("status <> 'open'")

#: Later than any deadline: a number sorts alike everywhere, which an empty value does not.
NEVER = 2**62

_RowNumber = BigInteger().with_variant(Integer, "sqlite")

questions = Table(
    "questions",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(64), nullable=False),
    Column("project_id", Text),
    Column("job_id", Text),
    Column("asker", Text, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("status", String(16), nullable=False),
    Column("version", Integer, nullable=False),
    Column("asked_at", BigInteger, nullable=False),
    Column("due_at", BigInteger),
    # what was asked, never rewritten / what has become of it
    Column("spec", Text, nullable=False),
    Column("life", Text, nullable=False),
    Column("holding_slot", Integer),
    Column("lease_until", BigInteger, nullable=False, server_default="0"),
    Column("fence", Integer, nullable=False, server_default="0"),
    # for those who look through them: urgency as a number, the deadline or NEVER, who asks, and whom it is put to
    Column("rank", Integer, nullable=False, server_default="2"),
    Column("deadline_at", BigInteger, nullable=False, server_default=str(NEVER)),
    Column("agent", Text, nullable=False, server_default=""),
    Column("asked", Text, nullable=False, server_default=""),
)
Index("questions_open", questions.c.workspace_id, questions.c.id, sqlite_where=IS_OPEN, postgresql_where=IS_OPEN)
Index(
    "questions_open_by_kind",
    questions.c.workspace_id,
    questions.c.kind,
    questions.c.id,
    sqlite_where=IS_OPEN,
    postgresql_where=IS_OPEN,
)
Index(
    "questions_open_by_project",
    questions.c.workspace_id,
    questions.c.project_id,
    questions.c.id,
    sqlite_where=text("status = 'open' AND project_id IS NOT NULL"),
    postgresql_where=text("status = 'open' AND project_id IS NOT NULL"),
)
Index(
    "questions_open_by_asker",
    questions.c.workspace_id,
    questions.c.asker,
    questions.c.id,
    sqlite_where=IS_OPEN,
    postgresql_where=IS_OPEN,
)
Index(
    "questions_by_job",
    questions.c.workspace_id,
    questions.c.job_id,
    questions.c.id,
    sqlite_where=text("job_id IS NOT NULL"),
    postgresql_where=text("job_id IS NOT NULL"),
)
# Most pressing first, as the inbox shows them.
Index(
    "questions_pressing",
    questions.c.workspace_id,
    questions.c.rank,
    questions.c.deadline_at,
    questions.c.id,
    sqlite_where=IS_OPEN,
    postgresql_where=IS_OPEN,
)
Index(
    "questions_settled", questions.c.workspace_id, questions.c.id, sqlite_where=IS_SETTLED, postgresql_where=IS_SETTLED
)
Index(
    "questions_due",
    questions.c.due_at,
    sqlite_where=text("due_at IS NOT NULL"),
    postgresql_where=text("due_at IS NOT NULL"),
)
Index(
    "questions_leased",
    questions.c.lease_until,
    sqlite_where=IS_LEASED,
    postgresql_where=IS_LEASED,
)
# Where policy limits the open questions that hold a job, the database itself refuses one too many.
Index(
    "questions_holding_slot",
    questions.c.workspace_id,
    questions.c.job_id,
    questions.c.holding_slot,
    unique=True,
    sqlite_where=text("holding_slot IS NOT NULL"),
    postgresql_where=text("holding_slot IS NOT NULL"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("workspace_id", String(64), nullable=False),
    Column("id", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("status", String(32), nullable=False),
    Column("version", Integer, nullable=False),
    Column("closing", Boolean, nullable=False),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("workspace_id", "id"),
)
Index("jobs_by_owner", jobs.c.workspace_id, jobs.c.owner, jobs.c.id)
Index("jobs_closing", jobs.c.id, sqlite_where=IS_CLOSING, postgresql_where=IS_CLOSING)

events = Table(
    "events",
    metadata,
    Column("position", _RowNumber, primary_key=True, autoincrement=True),
    Column("workspace_id", String(64), nullable=False),
    Column("question_id", String(40)),
    Column("job_id", Text),
    Column("sequence", Integer, nullable=False),
    Column("name", String(40), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("data", Text, nullable=False),
    # whose question or job it is about
    Column("owner", Text),
    # PostgreSQL's transaction: what an older one is still writing must not be skipped by whoever reads in order
    Column("xid", BigInteger),
    UniqueConstraint("question_id", "sequence", name="events_of_question"),
    sqlite_autoincrement=True,
)
Index(
    "events_of_job",
    events.c.workspace_id,
    events.c.job_id,
    events.c.position,
    sqlite_where=text("job_id IS NOT NULL"),
    postgresql_where=text("job_id IS NOT NULL"),
)

Index("events_of_owner", events.c.workspace_id, events.c.owner, events.c.position)

commands = Table(
    "commands",
    metadata,
    Column("id", Text, primary_key=True),
    Column("fingerprint", String(80), nullable=False),
    Column("question_id", String(40)),
    Column("at", BigInteger, nullable=False),
)
Index("commands_by_age", commands.c.at)

notices = Table(
    "notices",
    metadata,
    Column("id", Text, primary_key=True),
    Column("question_id", String(40), nullable=False),
    Column("surface", String(32), nullable=False),
    Column("address", Text, nullable=False),
    Column("wanted_version", Integer, nullable=False),
    # when to try; empty once the target shows what is wanted, or never will
    Column("ready_at", BigInteger),
    Column("attempt", Integer, nullable=False),
    Column("ref", Text),
    Column("failure", Text),
    Column("lease_until", BigInteger, nullable=False),
    Column("fence", Integer, nullable=False),
    # what to say beside the message; empty where the message itself is meant
    Column("nudge", Text),
)
Index(
    "notices_ready",
    notices.c.ready_at,
    sqlite_where=text("ready_at IS NOT NULL"),
    postgresql_where=text("ready_at IS NOT NULL"),
)

webhook_endpoints = Table(
    "webhook_endpoints",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace_id", String(64), nullable=False),
    Column("owner", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("patterns", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("previous_secret", Text),
    Column("previous_until", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    Column("disabled_at", BigInteger),
    Column("disabled_why", Text),
)
Index("webhook_endpoints_of_owner", webhook_endpoints.c.owner, webhook_endpoints.c.workspace_id)

IS_WAITING = text("due_at IS NOT NULL")
webhook_messages = Table(
    "webhook_messages",
    metadata,
    Column("id", String(120), primary_key=True),
    Column("workspace_id", String(64), nullable=False),
    Column("owner", Text, nullable=False),
    Column("event", String(40), nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("endpoint_id", String(40)),
    Column("callback_url", Text),
    Column("key_id", String(40)),
    Column("question_id", String(40)),
    Column("job_id", Text),
    Column("state", String(16), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # what was sent, the same on every attempt / when to try again, empty once it is settled
    Column("body", Text),
    Column("due_at", BigInteger),
    Column("attempt", Integer, nullable=False),
    Column("failure", Text),
    Column("lease_until", BigInteger, nullable=False),
    Column("fence", Integer, nullable=False),
)
Index("webhook_messages_due", webhook_messages.c.due_at, sqlite_where=IS_WAITING, postgresql_where=IS_WAITING)
Index("webhook_messages_of_owner", webhook_messages.c.workspace_id, webhook_messages.c.owner, webhook_messages.c.id)
Index("webhook_messages_of_endpoint", webhook_messages.c.endpoint_id)

webhook_attempts = Table(
    "webhook_attempts",
    metadata,
    Column("message_id", String(120), nullable=False),
    Column("number", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("status", Integer),
    Column("failure", Text),
    Column("milliseconds", Integer, nullable=False),
    PrimaryKeyConstraint("message_id", "number"),
)

redeemed_receipts = Table(
    "redeemed_receipts",
    metadata,
    Column("nonce", String(80), primary_key=True),
    Column("question_id", String(40), nullable=False),
    Column("redeemed_by", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

people = Table(
    "people",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", Text, nullable=False),
    Column("role", String(16), nullable=False),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    Column("merged_into", String(40)),
    # hours, absence and the like, which are only ever read whole
    Column("profile", Text, nullable=False, server_default="{}"),
)

handles = Table(
    "handles",
    metadata,
    Column("surface", String(32), nullable=False),
    Column("address", Text, nullable=False),
    Column("person_id", String(40), nullable=False),
    Column("place", Integer, nullable=False),
    PrimaryKeyConstraint("surface", "address"),
)
Index("handles_of_person", handles.c.person_id)

link_codes = Table(
    "link_codes",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("person_id", String(40), nullable=False),
    Column("expires_at", BigInteger, nullable=False),
)

login_links = Table(
    "login_links",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("person_id", String(40), nullable=False),
    Column("expires_at", BigInteger, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("person_id", String(40), nullable=False),
    Column("idle_until", BigInteger, nullable=False),
    Column("ends_at", BigInteger, nullable=False),
    # until when the inbox counts as being before this person's eyes
    Column("looks_until", BigInteger, nullable=False, server_default="0"),
)
Index("sessions_of_person", sessions.c.person_id)

policy_versions = Table(
    "policy_versions",
    metadata,
    # the version is the key, so that of two who build on the same one only one succeeds
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("by", Text, nullable=False),
    Column("diff", Text, nullable=False),
    # whom the names in the text meant when it was applied
    Column("meant", Text, nullable=False, server_default="{}"),
)

audit = Table(
    "audit",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("at", BigInteger, nullable=False),
    Column("by", Text, nullable=False),
    Column("what", String(40), nullable=False),
    Column("subject", Text, nullable=False),
    Column("detail", Text, nullable=False),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("hint", String(16), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("workspace_id", String(64), nullable=False),
    Column("person_id", String(40)),
    Column("created_at", BigInteger, nullable=False),
    Column("last_used_at", BigInteger),
    Column("revoked_at", BigInteger),
    Column("callback_secret", Text),
    Column("callback_hosts", Text, nullable=False, server_default=""),
    Column("owner_id", String(40)),
)
