import re
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import secret_rounds
from support.secret_negatives import NEGATIVES
from support.secret_positives import HELD_OUT, POSITIVES
from support.secret_shapes import split

from memprove.ledger.domain.redaction import Redactor, environment_secrets
from memprove.ledger.domain.redaction_beginnings import beginnings
from memprove.ledger.domain.redaction_density import COST, CREDIT
from memprove.ledger.domain.redaction_rule import Locate, Span
from memprove.ledger.domain.redaction_rules import RULES
from memprove.ledger.domain.redaction_vocabulary import Vocabulary

REDACTOR = Redactor()
FOUND = [(family, sample) for family, samples in POSITIVES.items() for sample in samples]
KEPT_ASIDE = [(family, sample) for family, samples in HELD_OUT.items() for sample in samples]
CLEAN = [(family, text) for family, texts in NEGATIVES.items() for text in texts]
LATER = [sample for round in secret_rounds.POSITIVES.values() for sample in round]
LATER_CLEAN = [text for round in secret_rounds.NEGATIVES.values() for text in round]
EVERYTHING = [
    *(split(sample)[0] for _, sample in FOUND + KEPT_ASIDE),
    *(text for _, text in CLEAN),
    *(split(sample)[0] for sample in LATER),
    *LATER_CLEAN,
]
CHUNKS = [EVERYTHING[at : at + 200] for at in range(0, len(EVERYTHING), 200)]


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


@pytest.mark.parametrize("round", secret_rounds.POSITIVES)
def test_of_each_later_round_nearly_all_are_cut(round: str) -> None:
    samples = secret_rounds.POSITIVES[round]
    missed = [sample for sample in samples if _survivors(sample)]
    assert len(missed) <= 0.05 * len(samples), missed


def test_what_only_looks_like_a_secret_in_a_later_round_survives() -> None:
    assert [text for text in LATER_CLEAN if REDACTOR.text(text) != text] == []


@pytest.mark.parametrize(("family", "text"), CLEAN)
def test_what_only_looks_like_a_secret_survives(family: str, text: str) -> None:
    assert REDACTOR.text(text) == text, family


def test_all_negatives_survive_in_one_text() -> None:
    text = "\n".join(text for _, text in CLEAN)
    assert REDACTOR.text(text) == text


@pytest.mark.parametrize("texts", CHUNKS, ids=len)
def test_redacting_twice_changes_nothing(texts: list[str]) -> None:
    for text in texts:
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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "XkQzJwVpLmRt"),
        ("DB_PASSWORD", "opensesame"),
        ("DB_PASSWORD", "12345678901"),
        ("DB_PASSWORD", "/x8f/kd93"),
        ("API_TOKEN", "XkQzJwVpLmRt"),
        ("API_TOKEN", "20240131"),
        ("GITHUB_TOKEN", "abcdefghijklmnop"),
        ("JWT_SECRET", "this-is-my-jwt-signing-phrase"),
        ("AUTH_KEY", "a8f-kd93-x"),
        ("AZURE_STORAGE_CONNECTION_STRING", "AccountName=a;AccountKey=k9"),
    ],
)
def test_the_value_of_a_secret_named_variable_is_cut(name: str, value: str) -> None:
    assert environment_secrets({name: value, "HOME": "/home/bob"}) == (value,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "short12"),
        ("DB_PASSWORD", "ChangeMe"),
        ("DB_PASSWORD", "production"),
        ("DB_PASSWORD", "********"),
        ("API_TOKEN", "${OTHER_TOKEN}"),
        ("API_TOKEN", "filesystem"),
        ("API_TOKEN", "https://example.org/token"),
        ("CREDENTIALS", "/run/secrets/token"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/data/keys/a.json"),
        ("SSH_KEY", "~/.ssh/id_ed25519"),
        ("SSH_KEY_TYPE", "ed25519-sk"),
        ("SSH_AUTH_SOCK", "/x8f/agent.123"),
        ("GPG_KEY", "A035C8C19219BA821ECEA86B64E628F8D684696D"),
        ("KEYBOARD", "pc105-extended"),
        ("SORT_KEY", "created_at"),
        ("AUTH", "basic.ldap"),
        ("TOKEN_EXPIRES", "1700000000"),
        ("DB_PASS", "bob.builder"),
        ("OLDPWD", "/x8f/kd93"),
        ("DATABASE_URL", "postgres://db/app"),
        ("PUBLIC_KEY", "9aXk22hq9aXk22hq"),
    ],
)
def test_what_is_clearly_no_secret_is_not_cut(name: str, value: str) -> None:
    plain = {"HOME": "/home/bob", "DATA": "/data", "USER": "bob.builder"}
    assert environment_secrets({**plain, name: value}) == ()


def test_a_secret_that_another_variable_repeats_is_still_cut() -> None:
    assert environment_secrets({"DB_PASSWORD": "hunter2xx", "DB": "hunter2xx"}) == ("hunter2xx",)


def test_of_an_address_the_password_is_cut() -> None:
    environment = {"DATABASE_URL": "postgres://app:s3cr%40t99@db/app", "PROXY": "http://x:pw@p"}
    assert environment_secrets(environment) == ("s3cr%40t99", "s3cr@t99")


def test_a_value_that_a_marker_holds_does_not_cut_the_marker() -> None:
    redactor = Redactor(["environment", "hunter2secret"])
    once = redactor.text("in hunter2secret and environment")
    assert once == "in [REDACTED:environment] and [REDACTED:environment]"
    assert redactor.text(once) == once


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


# Hostile text: work is counted, in places that are judged

HOSTILE = [
    "token=", "token: ", "key", "key-", '"key": "', "password=", 'password="', "--password ",
    "PASSWORD=pw1Nx9q\n", "password is ", "api_key=", "mot de passe ", "密码:",
    "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "://a:", "eyJ", "eyJ-",
    "sk-", "pat", "1/", "SK", "hf_", "cookie: a=${x} ", "curl ", "mysql ", "authorization: no ",
    "a.a/", "[REDACTED:", "bearer ", "\\",
]  # fmt: skip


class _Work:
    """Counts the places that are judged."""

    def __init__(self) -> None:
        self.places = 0
        rules = [replace(rule, locate=self._counted(rule.locate)) for rule in RULES]
        self.redactor = Redactor(rules=rules)

    def _counted(self, locate: Locate) -> Locate:
        def counted(text: bytes, at: int) -> Span | None:
            self.places += 1
            return locate(text, at)

        return counted


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_more_places_are_judged_than_the_text_pays_for(piece: str) -> None:
    text = (piece * (300_000 // len(piece))).encode()
    work = _Work()
    once = work.redactor.data(text)
    assert COST * work.places <= 2 * (len(text) + CREDIT)  # in two passes
    assert REDACTOR.data(once) == once


@pytest.mark.parametrize("piece", ["PASSWORD=pw1Nx9q\n", "token: ", "cookie: a=${x} "])
def test_a_crowd_of_secrets_is_cut_and_the_text_around_it_stays(piece: str) -> None:
    before, after = "12 passed\n" * 50, "\n12 failed" * 50
    cut = REDACTOR.text(before + piece * 20_000 + after)
    assert "[REDACTED:too-dense]" in cut
    assert "Nx9q" not in cut
    assert cut.startswith(before)
    assert cut.endswith(after)
    assert len(cut) < len(before + after) + 200


def test_of_thousands_of_secrets_each_is_cut_by_itself() -> None:
    output = "PASSWORD=pw1Nx9q\n" * 4_000
    assert REDACTOR.text(output) == "PASSWORD=[REDACTED:secret-value]\n" * 4_000


def test_a_crowd_does_not_end_inside_a_marker() -> None:
    marked = "PASSWORD: [REDACTED:secret-value]x1 " * 9_000
    once = REDACTOR.text(marked)
    assert once.count("[") == once.count("]") == once.count("[REDACTED:")


@pytest.mark.parametrize(
    "line",
    [
        "tests/test_token.py::test_token_{} PASSED\n",
        '{{"key": "a{}", "value": 1}},\n',
        '  - user: u{}\n    token: null\n    password: ""\n',
        "GET https://example.org/{} 200\n",
    ],
)
def test_much_output_that_only_names_secrets_stays(line: str) -> None:
    output = "".join(map(line.format, range(20_000)))
    assert REDACTOR.text(output) == output


def test_where_little_changed_little_is_judged_again() -> None:
    line = "the token bucket number one has no more tokens in it, see tests/test_bucket.py\n"
    work = _Work()
    work.redactor.text(line * 5_000 + "DB_PASSWORD=hunter2\n" + line * 5_000)
    once = _Work()
    once.redactor.text(line * 10_000)
    assert work.places < 1.1 * once.places


_compiled = cache(re.compile)  # more patterns than re itself remembers


@pytest.mark.parametrize("texts", CHUNKS, ids=len)
def test_a_gate_lets_every_place_through_that_a_rule_confirms(texts: list[str]) -> None:
    for text in texts:
        _check_gates(text)


def _check_gates(text: str) -> None:
    data = text.encode()
    folded = data.lower()
    for rule in RULES:
        if rule.gate is None:
            continue
        for keyword in rule.keywords:
            searched = folded if rule.folded else data
            if keyword not in searched:
                continue
            kept = {match.start() for match in _compiled(rule.gate(keyword)).finditer(searched)}
            for found in re.finditer(re.escape(keyword), searched):
                if span := rule.locate(data, found.start()):
                    cut = data[slice(*span)].startswith(b"[REDACTED:")
                    assert cut or found.start() in kept, (rule.name, keyword)


@pytest.mark.parametrize("texts", CHUNKS, ids=len)
def test_the_vocabulary_of_a_text_holds_every_keyword_that_counts(texts: list[str]) -> None:
    for text in texts:
        _check_vocabulary(text)


def _check_vocabulary(text: str) -> None:
    data = text.encode()
    folded = data.lower()
    words = Vocabulary(folded, [(0, len(data))])
    beginning = {(rank, keyword) for rank, _, keyword in beginnings(RULES).found_in(folded)}
    for rank, rule in enumerate(RULES):
        for keyword in rule.keywords:
            searched = folded if rule.folded else data
            found = re.finditer(re.escape(keyword), searched)
            if any(rule.locate(data, match.start()) for match in found):
                assert words.may_hold(keyword, at_start=rule.at_start), (rule.name, keyword)
                assert (rank, keyword) in beginning, (rule.name, keyword)
