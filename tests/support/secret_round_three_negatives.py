"""Texts without a secret of the third round."""

from typing import Final

_SHA1: Final = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"
_SHA256: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_UUID: Final = "7d444840-9dc0-11d1-b245-5ffdce74fad2"

NEGATIVES: Final[dict[str, tuple[str, ...]]] = {
    "compose files and units": (
        "PASSWORD_FILE=/run/secrets/db", "secrets:\n  db_password:\n    file: ./db_password.txt",
        "      - DB_PASSWORD=${DB_PASSWORD}", "API_TOKEN: ${{ secrets.API_TOKEN }}",
        "token: $CI_JOB_TOKEN", "key: $CI_COMMIT_REF_SLUG-v2", "password: !vault |",
        "password: \"{{ vault_db_password }}\"", "Environment=TOKEN_TTL=3600", "ARG TOKEN",
        "ENV TOKEN_PATH=/x1", "secretName: db-tls-2", "external_secret: true",
        "key: gradle-${{ hashFiles('*.lock') }}", "id-token: write",
        "permissions:\n  id-token: write",
        "with:\n  token: ${{ github.token }}", "persist-credentials: false", "cache-key: v3",
        "args: [\"--token-ttl=3600\"]", "- --secret-name=db-prod-2",
    ),
    "talk": (
        "the password policy changed in v2", "I changed the token parser to v3",
        "login with your account", "login: see page 4", "credentials: see the vault",
        "pass: all 12 tests", "pw: pull request waiting", "the key is on line 12",
        "token 3 of 7 is an identifier", "secret sauce v2", "the api key is missing in step 3",
        "new password form, take 2", "the passphrase is asked for twice",
        "default credentials are refused", "her password is longer than mine2day",
        "your token has 3 days left", "the mnemonic of the opcode", "seed words per minute: 40",
        "recovery phrase screen, 12 words", "PIN code screen", "the auth plain text mode",
        "wifi password dialog", "a bearer of 2 tokens", "basic authentication in 3 steps",
    ),
    "code": (
        "if password == confirm1:", "password = password.strip()", "token = tokens[0]",
        "const { token } = useAuth();", "secret: process.env.SECRET", "apiKey={apiKey}",
        "api_key=api_key,", "def set_password(self, raw: str) -> None:",
        "user.set_password(data['password'])", "setPassword(e.target.value)",
        "password: hash(password)", "Some(password)", "password: Some(pw.clone())",
        "token: Some(Token::Eof)", "key: Some(\"name\")", "assertEqual(token.type, 'NAME')",
        "expect(screen.getByLabelText('Password')).toBeVisible()", "cy.get('#password1').type(pw)",
        "await page.fill('#password', user.password)", "login(user, password1)",
        "client.login('bob', get_pw())", "auth: { username, password }", "auth=(u, p)",
        "requests.get(url, auth=auth1)", "password_re = re.compile(r'pass\\w+')",
        "SECRET = secrets.token_urlsafe(32)", "KEY_PATTERN = '[a-z]{3}-[0-9]{4}'",
        "PASSWORD_MAX = 128", "token_bucket(rate=10)", "yield Token('NUM', '12')",
        "raise InvalidToken('at 12')", "err := login(ctx, user)", "private readonly key = 'id1';",
        "<PasswordInput name=\"pw1\" />", "v-model=\"password2\"", "#password1 { color: red }",
        ".token.keyword { color: #07a }", "token.string = '#690'", "[data-token='x1']",
        "type Secret = { name: string }", "enum Token { Plus, Minus }", "key?: string;",
        "keyPassword = props.getProperty(\"keyPassword\")",
        "storePassword keystoreProperties['x1']",
    ),
    "output of runs": (
        "collected 12 items / 3 deselected", "tests/test_pass.py::test_pw[abc1-def2] PASSED",
        "test tests::token_2_of_3 ... ok", "PASS: test_login2", "PASS 12/12", "[PASS] login2 works",
        "ok - auth plain2", "  PASS  tests/unit/login2.spec.ts (5.2 s)", "> PASS test_x2.sh",
        "Passed 12 of 12", "1 passed, secret2 skipped", "running token_test2...",
        f"key {_SHA1} not found", f"blob {_SHA256}", f"run id {_UUID}", f"tree={_SHA1}",
        "session 2 opened for bob", "auth: 3 ok", "secret scanning: 0 alerts",
        "tokens/s: 123.4", "prompt tokens: 1,024", "max_new_tokens=256", "token_acc=0.91",
        "KEY    VALUE\nname   bob1", "key1=value1 key2=value2", "password strength: 3/4",
        "hashing password (12 rounds)", "took 3 passes", "two-pass=2", "passphrase ok 1",
        "step 3: login as bob2", "user=bob2 action=login", "login=bob2 ip=10.0.0.1",
        f"artifact_{_SHA1}", f"image-{_SHA256}", "snap-0abc123def4567890",
        "vol-049df61146c4d7901", "node_modules_abc123", "x_train_2024_v3_final",
    ),
    "data": (
        "{\"key\": \"user:1234:profile\"}", "{\"token_type\": \"Bearer\", \"expires_in\": 3600}",
        "{\"secret\": false}", "{\"password\": null, \"id\": 12}", "{\"hasPassword\": true}",
        "{\"key\": \"q1w2e3\", \"value\": 1}", "{\"public_key\": \"MCowBQYDK2VwAyEA\"}",
        "{\"auth\": {\"type\": \"oauth2\"}}", "{\"kid\": \"2024-01-k1\", \"kty\": \"RSA\"}",
        "{\"tokens\": [\"the\", \"cat2\"]}", "key,value\na1,b2", "id,token\n1,verb",
        "[key1]\nname = 'x2'", "primary_key = \"id2\"", "sort_keys: [name2, date3]",
        "password;strength\nlow;1", "<key>CFBundleVersion</key><string>1.2.3</string>",
        "<string name=\"password\">Password</string>",
        "<string name=\"token_hint\">Enter it</string>",
        "hash: $2b$12$", "fingerprint=SHA256:abc123", "sk: skip, sl: slow", "d: 3, k: 4, p: 5",
        "\"k\": 12", "\"d\": \"M10 10 L20 20 Z\"", "\"p\": \"0.001\"", "data-token-count=\"3\"",
    ),
}  # fmt: skip
