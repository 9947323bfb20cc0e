import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.secret_negatives import NEGATIVES
from support.secret_positives import HELD_OUT, POSITIVES
from support.secret_shapes import split

from memprove.ledger.domain.redaction import Redactor, environment_secrets
from memprove.ledger.domain.redaction_rules import RULES

REDACTOR = Redactor()
FOUND = [(family, sample) for family, samples in POSITIVES.items() for sample in samples]
KEPT_ASIDE = [(family, sample) for family, samples in HELD_OUT.items() for sample in samples]
CLEAN = [(family, text) for family, texts in NEGATIVES.items() for text in texts]
EVERYTHING = [split(sample)[0] for _, sample in FOUND + KEPT_ASIDE] + [text for _, text in CLEAN]


def _survivors(sample: str) -> list[str]:
    """Return the lines of the sample's secret that are still there after redaction."""
    text, secret = split(sample)
    shown = REDACTOR.text(text)
    telling = [line for line in secret.split("\n") if len(line) > 3 and "PRIVATE KEY" not in line]
    return [line for line in telling or [secret] if line in shown and "Proc-Type" not in line]


def test_the_sample_is_large_enough() -> None:
    assert len(FOUND) >= 150
    assert len(CLEAN) >= 300
    assert len(KEPT_ASIDE) >= 100


@pytest.mark.parametrize(("family", "sample"), FOUND)
def test_a_secret_is_cut(family: str, sample: str) -> None:
    assert not _survivors(sample), family


def test_of_the_families_kept_aside_nearly_all_are_cut() -> None:
    missed = [sample for _, sample in KEPT_ASIDE if _survivors(sample)]
    assert len(missed) <= 0.05 * len(KEPT_ASIDE), missed


@pytest.mark.parametrize(("family", "text"), CLEAN)
def test_what_only_looks_like_a_secret_survives(family: str, text: str) -> None:
    assert REDACTOR.text(text) == text, family


def test_all_negatives_survive_in_one_text() -> None:
    text = "\n".join(text for _, text in CLEAN)
    assert REDACTOR.text(text) == text


@pytest.mark.parametrize("text", EVERYTHING)
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once


@given(st.lists(st.one_of(st.sampled_from(EVERYTHING), st.text(max_size=12)), max_size=4))
def test_redacting_a_mixture_twice_changes_nothing(parts: list[str]) -> None:
    once = REDACTOR.text("".join(parts))
    assert REDACTOR.text(once) == once


@given(st.text(alphabet=st.characters(), max_size=80))
def test_any_text_goes_through(text: str) -> None:
    assert "hunter2x" not in REDACTOR.text(text + "\nDB_PASSWORD=hunter2x")


@given(st.binary(max_size=200))
def test_any_bytes_go_through(data: bytes) -> None:
    secret = b"hunter2secret"
    assert secret not in REDACTOR.data(data + b"\nDB_PASSWORD=" + secret + b"\n" + data)


def test_lone_surrogates_survive() -> None:
    assert REDACTOR.text("\ud83d password: hunter2 \udcff") == (
        "\ud83d password: [REDACTED:secret-value] \udcff"
    )


def test_text_and_data_agree() -> None:
    for text in EVERYTHING:
        assert REDACTOR.text(text).encode() == REDACTOR.data(text.encode())


def test_a_rule_is_named_in_what_replaces_its_secret() -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    assert REDACTOR.text(f"GITHUB_TOKEN={token}") == "GITHUB_TOKEN=[REDACTED:github-token]"


def test_the_text_around_a_secret_stays() -> None:
    assert REDACTOR.text("https://bob:hunter2@example.org/x?a=1") == (
        "https://bob:[REDACTED:url-credentials]@example.org/x?a=1"
    )


def test_a_secret_far_inside_ordinary_output_is_cut() -> None:
    output = "".join(f"tests/test_a.py::test_{n} PASSED [{n % 100}%]\n" for n in range(2_000))
    assert REDACTOR.text(output) == output
    assert REDACTOR.text(output + "DB_PASSWORD=hunter2\n" + output) == (
        output + "DB_PASSWORD=[REDACTED:secret-value]\n" + output
    )


def test_keywords_of_folded_rules_are_lower_case() -> None:
    assert all(
        keyword == keyword.lower() for rule in RULES if rule.folded for keyword in rule.keywords
    )


# Exact values of the environment


def test_the_values_of_secret_named_variables_are_found_longest_first() -> None:
    environment = {
        "CI_JOB_TOKEN": "9aXk22hq",
        "DB_PASSWORD": "correct horse battery",
        "PATH": "/usr/bin:/bin",
        "API_KEY": "short",
        "TOKEN_FILE": "/run/secrets/token",
        "SECRET_PATH": "not-a-secret-9",
        "USE_TOKEN": "true",
        "AUTH_TIMEOUT_SECRET": "123456789",
        "PRIVATE_KEY_DIR": "/home/bob/.keys",
        "TOKEN_URL": "https://example.org/token",
        "AUTHOR": "bob-the-builder-1",
        "MY_CREDENTIAL": "password",
        "BROKER_SECRET": "amqp://bob:hunter2@mq/v",
    }
    assert environment_secrets(environment) == (
        "amqp://bob:hunter2@mq/v",
        "correct horse battery",
        "9aXk22hq",
    )


def test_an_exact_value_is_cut_wherever_it_stands() -> None:
    redactor = Redactor(['pl"ain välue'])
    assert redactor.text('say pl"ain välue twice: pl"ain välue') == (
        "say [REDACTED:environment] twice: [REDACTED:environment]"
    )


@pytest.mark.parametrize("printed", ['"a\\"b c/d\\ne"', "a%22b%20c%2Fd%0Ae", 'a"b c/d\ne'])
def test_an_exact_value_is_cut_as_json_and_percent_encoded(printed: str) -> None:
    assert "b" not in Redactor(['a"b c/d\ne']).text(printed).replace("[REDACTED:environment]", "")


def test_an_exact_value_that_is_not_utf8_is_cut_from_text_and_data() -> None:
    redactor = Redactor(["p\udcffssw0rdish"])
    assert redactor.text("x p\udcffssw0rdish") == "x [REDACTED:environment]"
    assert redactor.data(b"x p\xffssw0rdish") == b"x [REDACTED:environment]"


def test_an_empty_exact_value_is_no_value() -> None:
    assert Redactor([""]).text("abc") == "abc"


# Arguments


@pytest.mark.parametrize(
    ("argv", "stored"),
    [
        ("deploy --password hunter2 -v", "deploy --password [REDACTED:argument] -v"),
        ("deploy --db-password=hunter2", "deploy --db-password=[REDACTED:secret-value]"),
        ("tool --token --verbose", "tool --token --verbose"),
        ("tool --max-tokens 4096", "tool --max-tokens 4096"),
        ("tool --token $TOKEN", "tool --token $TOKEN"),
        ("curl -u bob:pw https://x.org", "curl -u bob:[REDACTED:argument] https://x.org"),
        ("curl -ubob:pw https://x.org", "curl -ubob:[REDACTED:argument] https://x.org"),
        ("curl --user=bob:pw x.org", "curl --user=bob:[REDACTED:argument] x.org"),
        ("curl -b sid=a7 https://x.org", "curl -b [REDACTED:argument] https://x.org"),
        ("curl -b jar.txt https://x.org", "curl -b jar.txt https://x.org"),
        ("curl -u bob https://x.org", "curl -u bob https://x.org"),
        ("env A=1 /bin/mysql -pS3c db", "env A=1 /bin/mysql -p[REDACTED:argument] db"),
        ("docker login -u b -p x r.org", "docker login -u b -p [REDACTED:argument] r.org"),
        ("mysql -p db", "mysql -p db"),
        ("sshpass -p hunter2 ssh h", "sshpass -p [REDACTED:argument] ssh h"),
        ("docker run -u 1000:1000 -p 80:80 i", "docker run -u 1000:1000 -p 80:80 i"),
        ("mkdir -p build/x", "mkdir -p build/x"),
        ("pytest -k token tests/test_token.py", "pytest -k token tests/test_token.py"),
    ],
)  # fmt: skip
def test_arguments_are_redacted_together(argv: str, stored: str) -> None:
    assert REDACTOR.argv(argv.split()) == tuple(stored.split())


def test_a_header_in_one_argument_is_redacted() -> None:
    argv = ("curl", "-H", "Authorization: Bearer a7Bc9dEf1gH2", "https://u:p4ss@example.org")
    assert REDACTOR.argv(argv) == (
        "curl",
        "-H",
        "Authorization: Bearer [REDACTED:authorization]",
        "https://u:[REDACTED:url-credentials]@example.org",
    )


def test_arguments_redacted_twice_do_not_change() -> None:
    once = REDACTOR.argv(["curl", "-u", "bob:pw", "--password", "x", "DB_PASS=hunter2", "-pX"])
    assert REDACTOR.argv(once) == once


# Hostile text: a rule that is not linear would take minutes here

HOSTILE = [
    "token=", "key", 'password="', "-----BEGIN RSA PRIVATE KEY-----", "://a:", "eyJ-", "sk-",
    "cookie: a=${x} ", "curl ", "password is ", "a.a/", "[REDACTED:", "bearer ", "\\", "密码:",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_hostile_line_ends(piece: str) -> None:
    line = (piece * (300_000 // len(piece))).encode()
    assert REDACTOR.data(line) is not None
