"""Alembic's entry: runs the migrations on the connection that `migrate` opened, inside its transaction."""

from alembic import context

from adapters.sql.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
