"""Run by Alembic: migrations use the connection the store hands over."""

from alembic import context

from guildhall.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    compare_type=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
