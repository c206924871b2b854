"""What every result line says about itself: seed, versions, data and machine."""

import hashlib
import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    "memserver",
    "torch",
    "sentence-transformers",
    "qdrant-edge-py",
    "fastapi",
    "uvicorn",
    "sqlalchemy",
)


def provenance(
    *, seed: int, data_sha256: str | None = None, now: datetime | None = None
) -> dict[str, Any]:
    """The keys that all benchmarks share. The load is part of the machine: a figure that was
    measured beside other work says so."""
    line: dict[str, Any] = {
        "seed": seed,
        "date": (now or datetime.now(UTC)).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **_versions()},
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "system": platform.platform(),
            "load": [round(load, 2) for load in os.getloadavg()],
        },
    }
    return line if data_sha256 is None else {**line, "data_sha256": data_sha256}


def sha256_of(files: Iterable[Path]) -> str:
    """One hash over the files' contents, in the order given."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    names = info.read_text().splitlines() if info.exists() else []
    named = (line.partition(":")[2].strip() for line in names if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
