"""What must not leave does not, what may is left alone, and no text takes long."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.services.exporting.redaction import redacted, redacted_value

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq0-x+/=\nq1w2e3r4\n"
    "-----END RSA PRIVATE KEY-----"
)
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"

SECRETS = [
    ("key", f"ms_{LETTERS}-_A"),
    ("key", "sk-proj-abc123DEF456ghi789"),
    ("key", "sk-ant-api03-" + LETTERS),
    ("key", "ghp_" + LETTERS),
    ("key", "github_pat_11ABCDEFG_" + LETTERS),
    ("key", "glpat-abcdefghij0123456789"),
    ("key", "hf_" + LETTERS),
    ("key", "xoxb-123456789012-abcdef"),
    ("key", "AIza" + LETTERS),
    ("key", "sk_live_" + LETTERS),
    ("key", "AKIAIOSFODNN7EXAMPLE"),
    ("key", "ASIAIOSFODNN7EXAMPLE"),
    ("token", JWT),
    ("private_key", PEM),
    ("private_key", PEM.replace("\n", "\\n")),
    ("private_key", PEM.replace("RSA ", "OPENSSH ")),
    ("private_key", PEM.replace("RSA ", "ENCRYPTED ")),
    ("email", "ada.lovelace+notes@mail.example.co.uk"),
    ("email", "jürgen@bücher.example"),
    ("phone", "+49 (0)30 1234 5678"),
    ("phone", "+1 (555) 123-4567"),
    ("phone", "+41791234567"),
    ("card", "4111111111111111"),
    ("card", "4111 1111 1111 1111"),
    ("card", "5555-5555-5555-4444"),
    ("card", "3782 822463 10005"),
    ("card", "378282246310005"),
    ("card", "6011000990139424"),
    ("iban", "DE89 3704 0044 0532 0130 00"),
    ("iban", "GB82WEST12345698765432"),
    ("ip", "192.0.2.44"),
    ("ip", "2001:db8::8a2e:370:7334"),
    ("phone", "(555) 123-4567"),
    ("national_id", "12345678Z"),
    ("national_id", "529.982.247-25"),
    ("national_id", "RSSMRA85T10A562S"),
    ("national_id", "811218-9876"),
    ("national_id", "131052-308T"),
]
AROUND = [
    ("{}", "{}"),
    ("call {} now", "call {} now"),
    ("<{}>, or", "<{}>, or"),
    ('{{"k": "{}"}}', '{{"k": "{}"}}'),
    ("({}).", "({})."),
    ("first\n{}\nlast", "first\n{}\nlast"),
]


@pytest.mark.parametrize("around", AROUND, ids=range(len(AROUND)))
@pytest.mark.parametrize(("tag", "secret"), SECRETS)
def test_a_secret_is_replaced_and_what_stands_around_it_is_not(
    tag: str, secret: str, around: tuple[str, str]
) -> None:
    before, after = around
    assert redacted(before.format(secret)) == after.format(f"[redacted:{tag}]")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"Authorization: Bearer {JWT}", "Authorization: Bearer [redacted:token]"),
        ("Authorization: bearer abc12345", "Authorization: bearer [redacted:token]"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted:token]"),
        ("https://ada:s3cret@db.example/x?y#z", "https://[redacted:credentials]@db.example/x?y#z"),
        ("postgresql://ada:p@ss@db/x", "postgresql://[redacted:credentials]@db/x"),
        ("redis://:secret@cache:6379/0", "redis://[redacted:credentials]@cache:6379/0"),
        ("1234 4111 1111 1111 1111 here", "1234 [redacted:card] here"),
        ("a@x.org,b@y.org", "[redacted:email],[redacted:email]"),
        (f"key=ms_{LETTERS}&x=1", "key=[redacted:key]&x=1"),
        ("a cut one: -----BEGIN PRIVATE KEY-----\nMIIE", "a cut one: [redacted:private_key]"),
        ("password: hunter2", "password: [redacted:password]"),
        ('password="swordfish"', 'password="[redacted:password]"'),
        ("password=swordfish&x=1", "password=[redacted:password]&x=1"),
        ("DB_PASSWORD='correct horse'", "DB_PASSWORD='[redacted:password]'"),
        ("the wifi password is tulip-77.", "the wifi password is [redacted:password]"),
        (r"{\"token\": \"a8f3k2m9q1\"}", r"{\"token\": \"[redacted:token]\"}"),
        ("api_key = 'Zx9Kq2Lm4Np7Rt8V'", "api_key = '[redacted:token]'"),
        ("API key 9f8e7d6c5b4a39281706f5e4", "API key [redacted:token]"),
        (PEM + "\nand\n" + PEM, "[redacted:private_key]\nand\n[redacted:private_key]"),
    ],
)
def test_what_is_left_of_a_text(text: str, left: str) -> None:
    assert redacted(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "put a clean mug on the desk 2 of 12",
        "the bearer identification card was checked",
        "a basic understanding of sets",
        "https://example.org:8080/path?a=b@c",
        "git clone https://example.org/x.git",
        "at 1767225600000 ms, id 01890000-0000-7000-8000-0000000000aa",
        "4111 1111 1111 1112 fails its check digit",
        "2 + 3 = 5, +1 for that, x = +12345",
        "task-list, risk-free, ghost, sk-short, ms_short, hf_short",
        "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
        "@decorated and user@ and @example.org",
        "go to countertop 1; take apple 1 from countertop 1",
        "größer als 😀",
        "DE89 1704 0044 0532 0130 01 fails its check digits",
        "on 127.0.0.1, 0.0.0.0 and 255.255.255.0, at 10:30:45, in version 1.2.3",
        "std::vector<int>, a::b, 12345678A and 131052-308A",
        "max_tokens: 4096, the token is sent, token = tokenizer.next_token(), password: required",
        "forgot your password? the password is wrong; password: please enter it",
        "password = getpass.getpass(), password=password, secret: I like you",
        "the secret garden of 2019, access token expired, api key missing",
        "",
    ],
)
def test_what_has_no_such_shape_stays_as_it_is(text: str) -> None:
    assert redacted(text) == text


MEGABYTE = 1_000_000
HOSTILE = [
    "a",
    "1",
    "1 ",
    "4111 ",
    "4-",
    "@",
    "a@",
    "a@a",
    "a.",
    "a@a.",
    "+",
    "+1",
    "+1 2",
    "-",
    "eyJ",
    "-eyJ",
    ".eyJaaaaaaaa",
    "eyJaaaaaaaa.",
    "Bearer ",
    "bearer aaaaaaaa ",
    "bearer\t",
    "://",
    "://a:",
    "://a:b",
    "a://",
    "sk-",
    "sk-aaaaaaaaaaaaaaa ",
    "ms_",
    "ghp_",
    "AKIA",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----a-a-",
    "-----BEGIN A PRIVATE KEY",
    "%+-._",
    "[redacted:",
    "[SECRET:key:",
    "é",
    "password",
    "password:",
    "password: a",
    "pwd=aaaa ",
    "password is ",
    'password="',
    "token ",
    "token: a1",
    "token abc1",
    "a_",
    "a_token",
    "api_key",
    "secret:",
    '\\"',
    "DE89",
    "DE89 0000 ",
    "1.",
    "1.1.1.1",
    "f:",
    ":",
    "12345678Z",
    "A",
    "111.111.111-",
    "010101-",
]


OPENED = ["", "://a:", "-----BEGIN PRIVATE KEY-----", "eyJ", "Bearer x"]


@pytest.mark.parametrize(
    ("head", "piece"),
    [("", piece) for piece in HOSTILE] + [(head, piece) for head in OPENED[1:] for piece in "a-@."],
)
def test_a_megabyte_of_anything_takes_a_moment(head: str, piece: str) -> None:
    text = head + piece * (MEGABYTE // len(piece))
    started = time.process_time()
    redacted(text)
    assert time.process_time() - started < 3.0


@given(st.lists(st.sampled_from([*(secret for _, secret in SECRETS), *HOSTILE, " ", "x"])))
def test_redacting_twice_changes_nothing_more(parts: list[str]) -> None:
    once = redacted(" ".join(parts))
    assert redacted(once) == once


@given(st.lists(st.sampled_from([secret for _, secret in SECRETS]), min_size=1))
def test_no_secret_survives_among_others(secrets: list[str]) -> None:
    text = redacted(" | ".join(secrets))
    assert not any(secret in text for secret in secrets)


def test_values_are_redacted_at_every_depth_and_keep_their_shape() -> None:
    value = {"to": ["bob@x.org", {"bob@x.org": 1}], "n": 4111111111111111, "b": None, "t": True}
    assert redacted_value(value) == {
        "to": ["[redacted:email]", {"[redacted:email]": 1}],
        "n": 4111111111111111,
        "b": None,
        "t": True,
    }
