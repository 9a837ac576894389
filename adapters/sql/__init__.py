"""SQLAlchemy Core on SQLite and PostgreSQL: one code for both, different only where the databases are."""
