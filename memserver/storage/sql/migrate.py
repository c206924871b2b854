"""Brings a database's tables up to date by Alembic, from the migrations in this package."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from memserver.storage.sql.engines import Engines

_SCRIPTS = Path(__file__).parent / "migrations"


def alembic_config() -> Config:
    config = Config()
    # The value is interpolated, and a folder may have a percent sign in its name.
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def migrate(engines: Engines) -> None:
    """Runs what is missing in one transaction; of several processes that start at once, one
    does it and the others find it done."""
    config = alembic_config()
    head = ScriptDirectory.from_config(config).get_current_head()
    with engines.writing.connect() as connection, connection.begin():
        engines.lock(connection)
        if MigrationContext.configure(connection).get_current_revision() == head:
            return
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
