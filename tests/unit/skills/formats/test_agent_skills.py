"""Agent Skills folders: what is written is read back the same, and each rule says so by itself."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver.domain.items import (
    FileEncoding,
    Form,
    SkillBody,
    SkillFile,
    SkillStep,
    Slot,
)
from memserver_skills.agent_skills import (
    SKILL_FILE,
    AgentSkill,
    BadSkill,
    Front,
    read_folder,
    read_skill_file,
    skill_file,
    write_folder,
)
from memserver_skills.agent_skills.exchange import STRUCTURE, agent_skill, incoming

# What a text may hold: anything that UTF-8 can say and a store can keep.
SIGNS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
TEXTS = st.text(SIGNS, max_size=60)
WORDS = st.text(SIGNS, min_size=1, max_size=60).filter(str.strip)
NAMES = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}", fullmatch=True)
TOOLS = st.from_regex(r"[A-Za-z_]{1,12}(\([a-z:* ]{0,8}\))?", fullmatch=True)
PATHS = st.from_regex(r"(scripts|references|assets|x)/[a-z]{4,12}\.(md|py|bin)", fullmatch=True)
FRONTS = st.builds(
    Front,
    name=NAMES,
    description=WORDS,
    license=st.none() | TEXTS,
    compatibility=st.none() | st.text(SIGNS, min_size=1, max_size=60),
    metadata=st.dictionaries(WORDS, TEXTS, max_size=3),
    tools=st.lists(TOOLS, max_size=3, unique=True).map(tuple),
)
SKILLS = st.builds(
    AgentSkill,
    front=FRONTS,
    text=TEXTS,
    files=st.dictionaries(PATHS, st.binary(max_size=40), max_size=4),
)
BODIES = st.builds(
    SkillBody,
    when=TEXTS,
    steps=st.lists(st.builds(SkillStep, action=WORDS, expect=TEXTS), max_size=3).map(tuple),
    slots=st.lists(st.builds(Slot, name=NAMES, type=WORDS, example=TEXTS), max_size=2).map(tuple),
    goal=TEXTS,
    form=st.sampled_from([form.value for form in Form]),
    text=TEXTS,
    files=st.just((SkillFile("scripts/run.py", "print('hi')"),)) | st.just(()),
    tools=st.lists(TOOLS | WORDS, max_size=3, unique=True).map(tuple),
)


def head(**fields: str) -> bytes:
    told = {"name": "a-skill", "description": "What it does.", **fields}
    return "".join(
        ["---\n", *(f"{key}: {value}\n" for key, value in told.items()), "---\n"]
    ).encode()


@settings(max_examples=80, deadline=None)
@given(SKILLS)
def test_a_folder_that_is_written_is_read_as_the_same_skill_with_the_same_bytes(
    skill: AgentSkill,
) -> None:
    files = write_folder(skill)
    again = read_folder(files, folder=skill.front.name)

    assert (again.front, again.text, again.files) == (skill.front, skill.text, skill.files)
    assert write_folder(again) == files


@settings(max_examples=60, deadline=None)
@given(SKILLS)
def test_an_imported_skill_is_exported_as_the_folder_that_it_came_in(skill: AgentSkill) -> None:
    files = write_folder(skill)
    taken = incoming(read_folder(files, folder=skill.front.name), where="")
    assert isinstance(taken.body, SkillBody)
    out = agent_skill(taken.title, taken.body, task_type=taken.task_type, metadata=taken.metadata)

    assert write_folder(out) == files


@settings(max_examples=60, deadline=None)
@given(WORDS, BODIES, st.none() | WORDS)
def test_a_skill_of_any_form_is_imported_as_what_was_exported(
    title: str, body: SkillBody, task_type: str | None
) -> None:
    out = agent_skill(title, body, task_type=task_type, metadata={})
    back = incoming(read_folder(write_folder(out), folder=out.front.name), where="")

    assert (back.title, back.body, back.task_type) == (title, body, task_type)


def test_a_rendering_that_somebody_has_edited_counts_and_not_what_it_was_made_from() -> None:
    body = SkillBody(when="the pan is hot", steps=(SkillStep("add oil"),))
    out = agent_skill("Fry", body, task_type=None, metadata={})
    files = write_folder(out)
    files[SKILL_FILE] = files[SKILL_FILE].replace(b"add oil", b"add butter")
    back = incoming(read_folder(files, folder="fry"), where="")

    assert isinstance(back.body, SkillBody)
    assert "add butter" in back.body.text
    assert (back.body.form, back.body.steps) == ("document", ())
    assert [file.path for file in back.body.files] == [STRUCTURE]


def test_front_matter_comes_back_as_it_was_written_for_as_long_as_it_says_the_same() -> None:
    written = b"---\n# by hand\ndescription: 'What it does.'\nname:   a-skill\n---\nDo it.\n"
    skill = read_skill_file(written, folder="a-skill")
    renamed = AgentSkill(Front("b-skill", "What it does."), skill.text, source=skill.source)

    assert skill_file(skill) == written
    assert skill_file(renamed) == b"---\nname: b-skill\ndescription: What it does.\n---\nDo it.\n"


def test_a_file_that_is_no_text_is_kept_byte_for_byte() -> None:
    data = bytes(range(256))
    skill = AgentSkill(
        Front("a", "b"), "", {"assets/x.bin": data, "assets/y.md": b"\xef\xbb\xbfhi"}
    )
    taken = incoming(skill, where="")
    assert isinstance(taken.body, SkillBody)

    assert [f.encoding for f in taken.body.files] == [FileEncoding.BYTES, FileEncoding.TEXT]
    assert agent_skill("a", taken.body, task_type=None, metadata={}).files == skill.files


def test_values_are_texts_whatever_they_look_like() -> None:
    front = read_skill_file(
        b"---\nname: 1\ndescription: yes\nmetadata:\n  version: 1.0\n  on: null\n---\n", folder="1"
    ).front

    assert (front.name, front.description) == ("1", "yes")
    assert front.metadata == {"version": "1.0", "on": "null"}


@pytest.mark.parametrize(
    ("declared", "tools"),
    [
        ("Read Write", ("Read", "Write")),
        ("Read, Write,Read", ("Read", "Write")),
        ("Bash(git add:*) Bash(jq:*)", ("Bash(git add:*)", "Bash(jq:*)")),
        ("[Read, 'Bash(ls -l)']", ("Read", "Bash(ls -l)")),
        ("''", ()),
    ],
)
def test_tools_stand_with_blanks_or_commas_between_or_in_a_list(
    declared: str, tools: tuple[str, ...]
) -> None:
    front = read_skill_file(head(**{"allowed-tools": declared}), folder=None).front

    assert front.tools == tools


BROKEN = [
    ("front_matter_missing", b"# A skill\n"),
    ("front_matter_open", b"---\nname: a-skill\n"),
    ("front_matter_long", head(license="x" * 70_000)),
    ("front_matter_yaml", b"---\nname: [\n---\n"),
    ("front_matter_mapping", b"---\n- a\n---\n"),
    ("front_matter_alias", b"---\nname: &a a-skill\ndescription: *a\n---\n"),
    ("front_matter_tag", b"---\nname: !!python/object/apply:os.system [ls]\n---\n"),
    ("front_matter_deep", b"---\nname: " + b"[" * 5_000 + b"\n---\n"),
    ("front_matter_key", b"---\n? [a]\n: b\n---\n"),
    ("front_matter_repeats", b"---\nname: a\nname: b\n---\n"),
    ("skill_file_not_utf8", b"---\nname: \xff\n---\n"),
    ("skill_file_nul", b"---\nname: a\n---\n\x00"),
    ("skill_file_large", head() + b"x" * 800_000),
    ("unknown_key", head(author="me")),
    ("name_missing", b"---\ndescription: x\n---\n"),
    ("name_no_text", head(name="[a]")),
    ("name_empty", head(name="''")),
    ("name_long", head(name="a" * 65)),
    ("name_upper_case", head(name="A-skill")),
    ("name_characters", head(name="a_skill")),
    ("name_characters", head(name="höhe")),
    ("name_outer_hyphen", head(name="a-skill-")),
    ("name_double_hyphen", head(name="a--skill")),
    ("name_not_folder", head(name="b-skill")),
    ("description_missing", b"---\nname: a-skill\n---\n"),
    ("description_no_text", head(description="[a]")),
    ("description_empty", head(description="'  '")),
    ("description_long", head(description="x" * 1_025)),
    ("license_no_text", head(license="[a]")),
    ("compatibility_no_text", head(compatibility="[a]")),
    ("compatibility_empty", head(compatibility="''")),
    ("compatibility_long", head(compatibility="x" * 501)),
    ("metadata_no_mapping", head(metadata="x")),
    ("metadata_no_text", head(metadata="{a: [b]}")),
    ("tools_no_text", head(**{"allowed-tools": "{a: b}"})),
    ("tools_no_text", head(**{"allowed-tools": "[[a]]"})),
    ("tools_unreadable", head(**{"allowed-tools": "Bash(ls"})),
]


@pytest.mark.parametrize(("code", "file"), BROKEN)
def test_each_rule_that_is_broken_has_a_code_of_its_own(code: str, file: bytes) -> None:
    with pytest.raises(BadSkill) as refused:
        read_skill_file(file, folder=None if code == "name_missing" else "a-skill")

    assert code in [fault.code for fault in refused.value.faults]


def test_each_rule_has_a_message_of_its_own() -> None:
    messages: dict[str, set[str]] = {}
    for _, file in BROKEN:
        with pytest.raises(BadSkill) as refused:
            read_skill_file(file, folder="a-skill")
        for fault in refused.value.faults:
            messages.setdefault(fault.message, set()).add(fault.code)

    assert [codes for codes in messages.values() if len(codes) > 1] == []


def test_all_that_is_wrong_is_said_at_once() -> None:
    files = {SKILL_FILE: head(name="A--b", color="red"), "../x": b"", "a.md": b"", "A.md": b""}
    with pytest.raises(BadSkill) as refused:
        read_folder(files, folder="c")

    assert [fault.code for fault in refused.value.faults] == [
        "unknown_key",
        "name_upper_case",
        "name_double_hyphen",
        "name_not_folder",
        "path_traversal",
        "path_case",
    ]


def test_a_folder_without_a_skill_file_is_told_of_its_spelling() -> None:
    with pytest.raises(BadSkill, match="upper case"):
        read_folder({"skill.md": head()}, folder="a-skill")


def test_more_files_than_a_skill_may_have_and_larger_ones_are_refused() -> None:
    many = {f"x/{number}.md": b"" for number in range(201)}
    with pytest.raises(BadSkill) as refused:
        read_folder({SKILL_FILE: head(), **many, "y.bin": b"x" * 800_000}, folder="a-skill")

    assert [fault.code for fault in refused.value.faults] == ["file_large", "too_many_files"]


@settings(max_examples=80, deadline=None)
@given(st.text(string.printable + "é\u200b", max_size=120))
def test_no_front_matter_does_more_than_be_refused(text: str) -> None:
    try:
        skill = read_skill_file(f"---\n{text}\n---\n".encode(), folder=None)
    except BadSkill:
        return
    assert read_skill_file(skill_file(skill), folder=None).front == skill.front
