"""Archives of skills: what is packed is unpacked the same, and no hostile one gets anywhere."""

import io
import stat
import struct
import zipfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver_skills.agent_skills import BadSkill, Bounds, pack, unpack

SKILL = "a/SKILL.md"
PATHS = st.from_regex(r"[a-z]{1,6}(/[a-z]{1,6}){0,3}\.(md|bin)", fullmatch=True)


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], skill: bool = True) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ((SKILL, b"x"), *members) if skill else members:
            archive.writestr(name, data)
    return buffer.getvalue()


def of_kind(kind: int, name: str = "a/x") -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.create_system = 3
    member.external_attr = (kind | 0o777) << 16
    return member


def named(name: str) -> bytes:
    """An archive with a path that the library would write in another way."""
    stand_in = "a/" + "z" * (len(name.encode()) - 2)
    return zipped((stand_in, b"x")).replace(stand_in.encode(), name.encode())


def codes(data: bytes, bounds: Bounds | None = None) -> set[str]:
    with pytest.raises(BadSkill) as refused:
        unpack(data, bounds)
    return {fault.code for fault in refused.value.faults}


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(PATHS, st.binary(max_size=200), max_size=6))
def test_what_is_packed_is_unpacked_the_same(files: dict[str, bytes]) -> None:
    files = {f"x/{number}/{path}": data for number, (path, data) in enumerate(files.items())}
    files["SKILL.md"] = b"x"
    [found] = unpack(pack("a-skill", files)).skills

    assert (found.folder, found.files) == ("a-skill", files)


def test_the_same_files_give_the_same_bytes() -> None:
    assert pack("a", {"x": b"1", "SKILL.md": b"2"}) == pack("a", {"SKILL.md": b"2", "x": b"1"})


def test_several_skills_are_told_apart_wherever_they_lie() -> None:
    found = unpack(
        zipped(
            ("repo/skills/b/SKILL.md", b"y"),
            ("repo/skills/b/scripts/run.py", b"z"),
            ("repo/skills/b/examples/c/SKILL.md", b"inner"),
            ("repo/README.md", b"r"),
        )
    )

    assert {one.folder: sorted(one.files) for one in found.skills} == {
        "a": ["SKILL.md"],
        "b": ["SKILL.md", "examples/c/SKILL.md", "scripts/run.py"],
    }
    assert found.strays == ("repo/README.md",)


def test_a_skill_at_the_root_has_no_folder_to_be_named_by() -> None:
    [found] = unpack(zipped(("SKILL.md", b"x"), ("scripts/a.py", b"y"), skill=False)).skills

    assert (found.folder, sorted(found.files)) == (None, ["SKILL.md", "scripts/a.py"])


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("path_traversal", "../../etc/passwd"),
        ("path_traversal", "a/../../x"),
        ("path_absolute", "/etc/passwd"),
        ("path_absolute", "//host/share"),
        ("path_drive", "C:/windows/x"),
        ("path_drive", "c:x"),
        ("path_backslash", "..\\..\\x"),
        ("path_backslash", "a\\b"),
        ("path_not_plain", "a/./x"),
        ("path_not_plain", "a//x"),
        ("path_deep", "a/" + "b/" * 10 + "x"),
        ("path_long", "a/" + "b" * 300),
        ("path_unseen", "a/x\ny"),
        ("path_not_portable", "a/con.txt"),
        ("path_not_portable", "a/x."),
        ("path_not_portable", "a/ x"),
        ("path_not_portable", "a/x?y"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_by_its_own_rule(code: str, name: str) -> None:
    assert codes(named(name)) == {code}


def test_a_path_that_reads_as_another_is_refused() -> None:
    assert codes(zipped(("a/x\u202egpj.exe", b"x"))) == {"path_unseen"}


def test_a_path_that_is_cut_at_a_nul_is_refused() -> None:
    assert codes(named("a/x\x00.md")) == {"path_unseen"}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("zip_link", stat.S_IFLNK),
        ("zip_no_file", stat.S_IFIFO),
        ("zip_no_file", stat.S_IFCHR),
        ("zip_no_file", stat.S_IFSOCK),
    ],
)
def test_links_and_devices_are_refused(code: str, kind: int) -> None:
    assert codes(zipped((of_kind(kind), b"/etc/passwd"))) == {code}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_are_there_twice_or_differ_in_case_alone_are_refused() -> None:
    assert codes(zipped(("a/x", b"1"), ("a/x", b"2"))) == {"path_twice"}
    assert codes(zipped(("a/x", b"1"), ("a/X", b"2"))) == {"path_case"}
    assert codes(zipped(("a/caf\u00e9", b"1"), ("a/cafe\u0301", b"2"))) == {"path_case"}
    assert codes(zipped(("a/x", b"1"), ("a/x/y", b"2"))) == {"path_file_and_folder"}


def test_an_encrypted_member_is_refused() -> None:
    data = bytearray(zipped(("a/x", b"1")))
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.rindex(sign) + at
        data[place] |= 1

    assert codes(bytes(data)) == {"zip_encrypted"}


def test_a_member_packed_by_another_method_is_refused() -> None:
    buffer = io.BytesIO(zipped())
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("a/x", b"1", zipfile.ZIP_LZMA)

    assert codes(buffer.getvalue()) == {"zip_packing"}


def test_a_bomb_is_refused_while_it_is_read() -> None:
    assert codes(zipped(("a/x", b"\x00" * 5_000_000))) == {"zip_bomb"}
    assert codes(zipped(("a/x", b"ab" * 300)), Bounds(total=500)) == {"zip_large"}
    assert codes(zipped(*((f"a/{n}", b"") for n in range(20))), Bounds(files=10)) == {"zip_many"}


def test_what_an_archive_says_of_its_sizes_is_not_believed() -> None:
    """A header that says ten bytes over a member that unpacks to five million."""
    data = bytearray(zipped(("a/x", b"\x00" * 5_000_000)))
    central = data.rindex(b"PK\x01\x02")
    data[central + 24 : central + 28] = struct.pack("<I", 10)

    assert codes(bytes(data)) <= {"zip_broken", "zip_bomb"}


def test_members_that_overlap_are_no_way_around_the_bounds() -> None:
    """Many entries of the directory that lead to one and the same packed member."""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packed.compress(b"\x00" * 400_000) + packed.flush()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(SKILL, b"\x00" * 400_000)
        kernel = archive.infolist()[0]
        for number in range(200):
            twin = zipfile.ZipInfo(f"a/{number:05}.md")
            twin.header_offset, twin.CRC = kernel.header_offset, kernel.CRC
            twin.compress_size, twin.file_size = len(body), kernel.file_size
            twin.compress_type = zipfile.ZIP_DEFLATED
            archive.filelist.append(twin)
            archive.NameToInfo[twin.filename] = twin

    assert codes(buffer.getvalue()) <= {"zip_broken", "zip_bomb"}


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=300), st.data())
def test_no_bytes_do_more_than_be_refused(noise: bytes, data: st.DataObject) -> None:
    whole = bytearray(zipped(("a/x.md", b"some text"), ("b/SKILL.md", b"y")))
    at = data.draw(st.integers(0, len(whole)))
    for torn in (noise, bytes(whole[:at]), bytes(whole[:at] + noise + whole[at + len(noise) :])):
        try:
            found = unpack(torn)
        except BadSkill:
            continue
        assert all("SKILL.md" in one.files for one in found.skills)
