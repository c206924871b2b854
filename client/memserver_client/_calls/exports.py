"""Whole lists of rows, for trainers and for other servers. Rows are dictionaries, as they came."""

from datetime import datetime
from typing import Any

from memserver_client._call import Lines, Params


def export_decisions(
    *,
    namespace: str,
    since: datetime | None = None,
    split: str | None = None,
    text: bool = True,
) -> Lines[dict[str, Any]]:
    """The decisions that a namespace's policy made, with their features and what came of them.

    `split` is `train`, `validation` or `test`; the tasks of one are never in another. Queries
    are redacted, or left out with `text=False`. A stream that stops before its end raises
    StreamBroken, after the rows that came.
    """
    return _rows("decisions", _part(namespace, since, split) | {"text": text})


def export_vectors(
    *, namespace: str, since: datetime | None = None, split: str | None = None
) -> Lines[dict[str, Any]]:
    """The vector of each version or run that those decisions considered, and the encoder's name."""
    return _rows("vectors", _part(namespace, since, split))


def export_trajectories(
    *,
    namespace: str,
    since: datetime | None = None,
    split: str | None = None,
    text: bool = True,
    redact: bool = True,
) -> Lines[dict[str, Any]]:
    """The runs of a namespace, each in the form that `import_trajectories` takes as a line.
    Secrets and personal data of known shapes are taken out, unless `redact=False`."""
    told = {"text": text, "redact": redact}
    return _rows("trajectories", _part(namespace, since, split) | told)


def export_items(
    *, namespace: str, text: bool = True, redact: bool = True
) -> Lines[dict[str, Any]]:
    """The active memories and skills of a namespace, or of a subtree such as `team/**`."""
    return _rows("items", {"namespace": namespace, "text": text, "redact": redact})


def _part(namespace: str, since: datetime | None, split: str | None) -> dict[str, Any]:
    return {
        "namespace": namespace,
        "since": None if since is None else since.isoformat(),
        "split": split,
    }


def _rows(what: str, params: Params) -> Lines[dict[str, Any]]:
    return Lines(path=f"/v1/export/{what}", params=params, row=dict[str, Any], sealed=True)
