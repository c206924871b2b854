"""Importers: formats of runs that others wrote, read into trajectories."""

from memserver.services.importers.registry import IMPORTERS, Importer

__all__ = ["IMPORTERS", "Importer"]
