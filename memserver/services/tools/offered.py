"""Which tools there are. A new one is a file beside this and a line here."""

from collections.abc import Callable

from memserver.services.access import Access
from memserver.services.remembering import Remembering
from memserver.services.retrieval.retrieve import Retrieve
from memserver.services.sessions.reading import Sessions
from memserver.services.sessions.recording import Recording
from memserver.services.sessions.summing_up import SummingUp
from memserver.services.tools.calling import Tools
from memserver.services.tools.discard import DiscardTool
from memserver.services.tools.filter import FilterTool
from memserver.services.tools.retrieve import RetrieveTool
from memserver.services.tools.store import StoreTool
from memserver.services.tools.summarise import SummariseTool
from memserver.services.tools.update import UpdateTool


def memory_tools(
    *,
    access: Access,
    remembering: Remembering,
    retrieve: Retrieve,
    sessions: Sessions,
    recording: Recording,
    summing_up: SummingUp,
    count: Callable[[str], int],
) -> Tools:
    return Tools(
        [
            StoreTool(access, remembering),
            RetrieveTool(retrieve, count=count),
            UpdateTool(access, remembering),
            SummariseTool(sessions, recording, summing_up),
            FilterTool(sessions, recording, count=count),
            DiscardTool(access, remembering),
        ],
        access,
        sessions,
    )
