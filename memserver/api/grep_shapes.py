"""From a grep's request to what the service is asked, and back."""

from memserver.services.grepping.asked import GREPPED, Grep
from memserver.services.grepping.grep import Grepped, Hit
from memserver.services.grepping.pattern import Pattern
from memserver.wire import grep as wire


def asked(sent: wire.GrepRequest) -> Grep:
    named = [*([sent.namespace] if sent.namespace else []), *(sent.namespaces or [])]
    return Grep(
        pattern=Pattern(sent.pattern, literal=sent.literal, ignore_case=sent.ignore_case),
        namespaces=tuple(dict.fromkeys(named)),
        kinds=tuple(sent.kinds or GREPPED),
        before=sent.before,
        after=sent.after,
        since=sent.from_,
        until=sent.to,
        limit=sent.limit,
        cursor=sent.cursor,
    )


def grepped(of: Grepped) -> wire.Grepped:
    return wire.Grepped(
        rows=[_hit(hit) for hit in of.hits], next_cursor=of.next_cursor, truncated=of.truncated
    )


def _hit(of: Hit) -> wire.GrepHit:
    start = of.found.start - of.shown.offset
    return wire.GrepHit(
        id=of.text.id,
        version_id=of.text.version,
        namespace=of.text.namespace.path,
        kind=of.text.kind,
        part=of.line.part,
        step=of.line.step,
        line_number=of.line.number,
        line=of.shown.text,
        match_start=start,
        match_end=min(start + of.found.end - of.found.start, len(of.shown.text)),
        cut=of.shown.cut,
        before=[one.text for one in of.before],
        after=[one.text for one in of.after],
        at=of.at,
    )
