"""An archive is read back as it was written, or refused: no damage passes for content."""

import gzip
import io
from datetime import UTC, datetime

import pytest

from memserver.domain.backups import ArchiveWriter, Manifest, check, lines
from memserver.domain.errors import InvalidBackup

ROWS = {"item": [b'{"n":%d}' % n for n in range(100)], "version": [], "key": [b'{"t":"\xc3\xa9"}']}


def written(member_bytes: int = 4 * 1024 * 1024) -> bytes:
    out = io.BytesIO()
    writer = ArchiveWriter(out, member_bytes=member_bytes)
    for table, rows in ROWS.items():
        writer.add(table, rows)
    writer.close(
        Manifest(
            version="1.0",
            schema="0005",
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            encoder="hash/64",
            position=9,
            tables=tuple(ROWS),
            members=tuple(writer.members),
        )
    )
    return out.getvalue()


@pytest.mark.parametrize("member_bytes", [1, 20, 4 * 1024 * 1024])
def test_rows_come_back_in_their_order_however_small_the_members_are(member_bytes: int) -> None:
    file = io.BytesIO(written(member_bytes))
    manifest = check(file)
    found: dict[str, list[bytes]] = {table: [] for table in ROWS}
    for table, some in lines(file, manifest):
        found[table] += [line.rstrip(b"\n") for line in some]

    assert found == ROWS
    assert manifest.rows == {"item": 100, "version": 0, "key": 1}
    assert (manifest.encoder, manifest.position) == ("hash/64", 9)


def test_no_member_is_much_larger_than_it_may_be() -> None:
    assert len(check(io.BytesIO(written(20))).members) > 30


def test_an_archive_that_ends_anywhere_before_its_end_is_refused() -> None:
    whole = written()
    for end in range(len(whole)):
        with pytest.raises(InvalidBackup):
            check(io.BytesIO(whole[:end]))


def test_a_byte_that_is_another_is_refused_unless_the_content_is_the_same() -> None:
    whole = written()
    content = gzip.decompress(whole)
    accepted = 0
    for place in range(len(whole)):
        changed = whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :]
        try:
            check(io.BytesIO(changed))
        except InvalidBackup:
            continue
        accepted += 1
        assert gzip.decompress(changed) == content
    assert accepted < len(whole) / 10


def test_a_later_format_is_refused_by_its_number() -> None:
    manifest = Manifest(
        version="9", schema="1", created_at=datetime(2026, 1, 1, tzinfo=UTC), encoder=None,
        position=0, tables=(), members=(),
    )  # fmt: skip
    later = manifest.to_json().replace(b'"format": 1', b'"format": 2')

    with pytest.raises(InvalidBackup, match="2"):
        Manifest.from_json(later)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b'{"format": 1}', b"\xff", b"[" * 100_000, b'{"format": "1"}']
)
def test_what_is_no_manifest_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidBackup):
        Manifest.from_json(content)
