"""What all tables of the store share."""

from typing import Any, ClassVar, cast

from sqlalchemy import (
    ForeignKeyConstraint,
    MetaData,
    Table,
    text,
)
from sqlalchemy.orm import registry
from sqlmodel import SQLModel

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


class Base(SQLModel, registry=registry(metadata=metadata)):
    """The root of the store's own tables, apart from any other use of SQLModel."""

    metadata: ClassVar[MetaData] = metadata


def in_namespace() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["namespace_id", "tenant_id"], ["namespace.id", "namespace.tenant_id"]
    )


def where_set(column: str) -> dict[str, Any]:
    """Confines an index to the few rows that have a value in the column."""
    condition = text(f"{column} IS NOT NULL")
    return {"sqlite_where": condition, "postgresql_where": condition}


def table_of(model: type[Base]) -> Table:
    return cast(Table, model.__table__)  # type: ignore[attr-defined]
