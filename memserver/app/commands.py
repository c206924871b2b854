"""What the command line runs in this process: serve, demo, doctor and the offline reindex.

Each imports what it needs when it is called: every other command is a client, and must not wait
seconds for the server's libraries."""

import json
from collections.abc import Sequence

from memserver.app.settings import Settings, read_settings
from memserver.cli import (
    DemoOptions,
    DoctorOptions,
    Finding,
    ReindexOptions,
    ServeOptions,
    ServerCommands,
)
from memserver.domain.errors import MemserverError


def _serve(options: ServeOptions) -> None:
    from memserver.app.serving import serve

    serve(
        read_settings(
            data=options.data,
            host=options.host,
            port=options.port,
            database_url=options.database_url,
        ),
        as_json=options.json,
    )


def _demo(options: DemoOptions) -> None:
    from memserver.demo.play import play

    play(as_json=options.json)


def _reindex_offline(options: ReindexOptions) -> None:
    from memserver.app.reindexing import reindex_offline

    settings: Settings = read_settings(data=options.data, database_url=options.database_url)
    done = reindex_offline(settings)
    if options.json:
        print(json.dumps({"documents": done.documents, "encoder": done.encoder}))
    else:
        print(f"Rebuilt: {done.documents} documents, encoded by {done.encoder}.")


def _doctor(options: DoctorOptions) -> Sequence[Finding]:
    from memserver.app.doctor import examine

    return examine(options)


SERVER_COMMANDS = ServerCommands(
    serve=_serve,
    demo=_demo,
    reindex_offline=_reindex_offline,
    doctor=_doctor,
    refusals=(MemserverError,),
)
