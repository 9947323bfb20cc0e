"""Made-up secrets in the shapes that vendors and standards document, and what only looks like one.

A positive is a text with its secret between « and ». Tokens are put together at run time from a
seeded generator, so that no file holds one and no scanner takes this file for a leak.
"""

import base64
import random
import string
from typing import Final

_random = random.Random(20240229)
_ALNUM: Final = string.ascii_letters + string.digits
_URL: Final = _ALNUM + "-_"
_BASE64: Final = _ALNUM + "+/"
_HEX: Final = "0123456789abcdef"


def _make(alphabet: str, length: int) -> str:
    """Return random characters among which are a digit and a letter, the ends alphanumeric."""
    middle = "".join(_random.choice(alphabet) for _ in range(length - 4))
    return "a7" + middle + "3b"


def _alnum(length: int) -> str:
    return _make(_ALNUM, length)


def _url(length: int) -> str:
    return _make(_URL, length)


def _hex(length: int) -> str:
    return _make(_HEX, length)


def _upper(length: int) -> str:
    return _make(string.ascii_uppercase + "234567", length).upper()


def _base64(length: int) -> str:
    return _make(_BASE64, length)


def _segment(json: str) -> str:
    return base64.urlsafe_b64encode(json.encode()).decode().rstrip("=")


_JWT: Final = ".".join(
    (_segment('{"alg":"HS256","typ":"JWT"}'), _segment('{"sub":"1234","exp":1700000000}'), _url(43))
)
_PEM_LINES: Final = [_base64(64) for _ in range(6)]
_DASHES: Final = "-" * 5


def _pem(kind: str, lines: list[str], end: bool = True) -> str:
    head = f"{_DASHES}BEGIN {kind}PRIVATE KEY{_DASHES}"
    tail = f"{_DASHES}END {kind}PRIVATE KEY{_DASHES}"
    return "\n".join([head, *lines, *([tail] if end else [])])


_TOKENS: Final[dict[str, str]] = {
    "memprove": "mpv" + "_" + _hex(16) + "_" + _url(43),
    "github classic": "gh" + "p_" + _alnum(36),
    "github oauth": "gh" + "o_" + _alnum(36),
    "github user": "gh" + "u_" + _alnum(36),
    "github server": "gh" + "s_" + _alnum(36),
    "github refresh": "gh" + "r_" + _alnum(76),
    "github fine-grained": "github" + "_pat_" + _alnum(22) + "_" + _alnum(59),
    "gitlab": "gl" + "pat-" + _url(20),
    "gitlab deploy": "gl" + "dt-" + _url(20),
    "gitlab runner": "gl" + "rt-" + _url(20),
    "aws key id": "AK" + "IA" + _upper(16),
    "aws temporary key id": "AS" + "IA" + _upper(16),
    "google api key": "AI" + "za" + _url(35),
    "google oauth": "ya" + "29." + _url(60),
    "google client": "GO" + "CSPX-" + _url(28),
    "slack bot": "xo" + "xb-" + "123456789012-" + _alnum(24),
    "slack user": "xo" + "xp-" + "123456789012-123456789012-" + _hex(32),
    "slack app": "xa" + "pp-1-A0" + _upper(9) + "-123456789-" + _hex(40),
    "stripe": "sk" + "_live_" + _alnum(24),
    "stripe restricted": "rk" + "_live_" + _alnum(24),
    "stripe webhook": "wh" + "sec_" + _alnum(32),
    "openai": "s" + "k-" + _alnum(48),
    "openai project": "s" + "k-proj-" + _url(64),
    "anthropic": "s" + "k-ant-api03-" + _url(80),
    "huggingface": "h" + "f_" + _alnum(34),
    "npm": "np" + "m_" + _alnum(36),
    "pypi": "py" + "pi-AgEIcHlwaS5vcmc" + _url(60),
    "digitalocean": "do" + "p_v1_" + _hex(64),
    "sendgrid": "S" + "G." + _url(22) + "." + _url(43),
    "twilio": "S" + "K" + _hex(32),
    "docker": "dc" + "kr_pat_" + _url(27),
    "shopify": "sh" + "pat_" + _hex(32),
    "databricks": "da" + "pi" + _hex(32),
    "grafana": "gl" + "sa_" + _alnum(32) + "_" + _hex(8),
    "postman": "PM" + "AK-" + _hex(24) + "-" + _hex(34),
    "linear": "lin" + "_api_" + _alnum(40),
    "figma": "fi" + "gd_" + _url(40),
    "vault": "hv" + "s." + _url(90),
    "rubygems": "ruby" + "gems_" + _hex(48),
    "groq": "gs" + "k_" + _alnum(52),
    "age": "AGE-" + "SECRET-KEY-1" + _upper(58),
    "jwt": _JWT,
}

POSITIVES: Final[dict[str, tuple[str, ...]]] = {
    "vendor tokens, alone in a log line": tuple(
        f"2024-05-06T07:08:09Z using «{token}» for upload" for token in _TOKENS.values()
    ),
    "vendor tokens, quoted in code": tuple(
        f'client = Client("«{token}»")' for token in _TOKENS.values()
    ),
    "environment lines": (
        "DB_PASS=«hunter2»",
        "DB_PASSWORD=«sunshine»",
        "export API_KEY=«" + _hex(32) + "»",
        "  -e POSTGRES_PASSWORD=«Tr0ub4dor&3» \\",
        "AWS_SECRET_ACCESS_KEY=«" + _base64(40) + "»",
        "SECRET_KEY_BASE64=«" + _base64(44) + "»",
        "AUTH_TOKEN=«" + _hex(8) + "-1111-4222-8333-" + _hex(12) + "»",
        "REDIS_PASS='«p4ss word»'",
        'ENV NPM_TOKEN="«' + _alnum(30) + '»"',
        "PGPASSWORD=«s3cr3t» psql -h db -U app",
        "DATADOG_API_KEY=«" + _hex(32) + "»",
        "$env:CLIENT_SECRET = '«" + _alnum(24) + "»'",
        "OPENAI_KEY=«" + _alnum(30) + "»",
    ),
    "JSON": (
        '{"user":"bob","password":"«hunter2»"}',
        '{"password": "«x9y»"}',
        '{"apiKey": "«' + _alnum(24) + '»", "ok": true}',
        '{"access_token":"«' + _url(40) + '»","token_type":"bearer","expires_in":3600}',
        '{\\"password\\":\\"«hunter2»\\"}',
        '{"name": "DB_PASSWORD", "value": "«hunter2»"}',
        '  "client_secret": "«' + _url(24) + '»",',
        '{"refreshToken": "«' + _url(60) + '»"}',
        '{"db": {"passwd": "«correct horse battery staple»"}}',
        '{"privateKey": "«' + _base64(44) + '»"}',
    ),
    "YAML": (
        "password: «hunter2»",
        "  db_password: «sunshine»\n  host: db",
        'secret_key: "«' + _alnum(32) + '»"',
        "- name: API_TOKEN\n  value: «" + _alnum(24) + "»",
        "api-key: «" + _hex(32) + "»",
        "    auth_token: '«" + _alnum(20) + "»'",
        "  passphrase: «open-sesame-77»",
    ),
    "TOML and INI": (
        'password = "«hunter2»"',
        "password = «hunter2»",
        'token = "«' + _alnum(20) + '»"',
        "smtp_password=«S3nd!Mail»",
        "//registry.example.org/:_authToken=«" + _alnum(36) + "»",
        "aws_secret_access_key = «" + _base64(40) + "»",
        "_auth=«" + _base64(20) + "==»",
    ),
    "code": (
        "$cfg['password'] => '«hunter2»'",
        "'password' => '«hunter2»',",
        'const apiKey = "«' + _alnum(32) + '»";',
        "os.environ['API_KEY'] = '«" + _alnum(20) + "»'",
        'setenv("DB_PASSWORD", "«hunter2»", 1)',
        'password := "«hunter2»"',
        'String secret = "«' + _base64(32) + '»";',
        "db.connect(user='app', password='«hunter2»')",
        "E       assert login(token='«" + _alnum(20) + "»') == 401",
        "self.client_secret = '«" + _url(32) + "»'",
        "CREATE USER app IDENTIFIED BY '«hunter2»';",
        "ALTER USER app WITH PASSWORD '«hunter2»';",
    ),
    "command lines": (
        "deploy --password «hunter2» --verbose",
        "deploy --password=«hunter2»",
        "tool --api-key «" + _alnum(24) + "»",
        "tool --token «" + _alnum(24) + "» push",
        "mysql -u root -p«S3cret99» db",
        "sshpass -p «hunter2» ssh host",
        "curl -u bob:«hunter2» https://example.org",
        "curl --user bob:«hunter2» https://example.org",
        "redis-cli -h cache -a «hunter2» ping",
        "docker login -u bob -p «hunter2» registry.example.org",
        "openssl rsa -in k.pem -passin pass:«hunter2»",
    ),
    "headers": (
        "Authorization: Bearer «" + _url(24) + "»",
        "authorization: Basic «" + _base64(20) + "==»",
        "> Authorization: token «" + _hex(40) + "»",
        "curl -H 'Authorization: Bearer «" + _url(30) + "»' https://example.org",
        "{'Authorization': 'Bearer «" + _url(30) + "»'}",
        "('Authorization', 'Bearer «" + _url(30) + "»')",
        "X-Api-Key: «" + _hex(32) + "»",
        "x-auth-token: «" + _url(32) + "»",
        "Proxy-Authorization: Basic «" + _base64(24) + "»",
        "Cookie: «session=" + _hex(32) + "; csrftoken=" + _alnum(20) + "»",
        "< Set-Cookie: sid=«" + _url(32) + "»; Path=/; HttpOnly",
        '{"Cookie": "«sid=' + _hex(16) + '»"}',
        "PRIVATE-TOKEN: «" + _alnum(20) + "»",
        "sent Bearer «" + _url(32) + "» and got 403",
    ),
    "URLs": (
        "https://bob:«hunter2»@example.org/x.git",
        "redis://:«pw123»@cache:6379/0",
        "postgresql://app:«s3cr3t»@db:5432/app",
        "DATABASE_URL=mysql://root:«p%40ss»@127.0.0.1/app",
        "amqp://guest:«Gu3st!»@mq",
        "mongodb+srv://app:«" + _alnum(16) + "»@cluster0.example.net/?retryWrites=true",
        "https://«" + _hex(40) + "»@example.org/repo.git",
        "https://example.org/cb?access_token=«" + _url(24) + "»&state=1",
        "https://example.org/login?user=bob&password=«sunshine»&next=/",
        "https://hooks.slack.com/services/«T0" + _upper(8) + "/B0" + _upper(8) + "/"
        + _alnum(24) + "»",
        "https://acct.blob.example.net/c?sv=2022&sig=«" + _alnum(42) + "%3D»",
    ),
    "private keys": (
        "«" + _pem("RSA ", _PEM_LINES) + "»",
        "«" + _pem("", _PEM_LINES) + "»\nnext line",
        "«" + _pem("OPENSSH ", _PEM_LINES) + "»",
        "key: |\n  «" + _pem("EC ", _PEM_LINES).replace("\n", "\n  ") + "»",
        '{"private_key": "«' + _pem("", _PEM_LINES).replace("\n", "\\n") + '\\n»"}',
        "«" + _pem("RSA ", _PEM_LINES, end=False) + "»",
        "...\n«" + "\n".join(_pem("RSA ", _PEM_LINES).splitlines()[3:]) + "»",
        "«" + _pem("RSA ", ["Proc-Type: 4,ENCRYPTED", "", *_PEM_LINES]) + "»",
    ),
    "connection strings": (
        "Server=db;Database=app;User Id=sa;Password=«P@ssw0rd1»;Encrypt=true",
        "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=«" + _base64(86) + "==»",
        "Endpoint=sb://x.example.net/;SharedAccessKeyName=root;SharedAccessKey=«"
        + _base64(43) + "=»",
        "host=db user=app password=«s3cr3t9» dbname=app",
    ),
    "XML": (
        "<password>«hunter2»</password>",
        '<add key="ApiKey" value="«' + _alnum(24) + '»"/>',
        "<client-secret>«" + _alnum(24) + "»</client-secret>",
    ),
    "prose": (
        "the password is «hunter2».",
        "Password for bob is «Tr0ub4dor&3», please change it",
        "use password `«hunter2»` on staging",
        "the admin password was changed to «N3wPass!»",
        "kata sandi saya adalah «rahasia123»",
        "kata sandi: «rahasia123»",
        "sandinya «rahasia123»",
        "密码是«abc12345»",
        "密码：«abc12345»",
        "**Password:** «hunter2»",
        "the api key is «" + _alnum(24) + "»",
    ),
    "wrapped by a terminal": (
        "x" * 50 + " «" + _TOKENS["github classic"][:24] + "\n"
        + _TOKENS["github classic"][24:] + "»",
        "Authorization: Bearer «" + _JWT[:70] + "\n" + _JWT[70:] + "»",
        "y" * 70 + " «" + _TOKENS["github classic"][:9] + "\n"
        + _TOKENS["github classic"][9:] + "» z",
        "API_KEY=«" + _base64(72) + "\n" + _base64(20) + "»",
    ),
}  # fmt: skip

# Families kept aside while the rules were first written.
HELD_OUT: Final[dict[str, tuple[str, ...]]] = {
    "tools": (
        "machine api.example.org login bob password «hunter2»",
        "db.example.org:5432:app:bob:«hunter2»",
        "Login successful, token=«" + _hex(24) + "» expires=3600",
        "kubectl create secret generic x --from-literal=password=«hunter2»",
        "docker run -e MYSQL_ROOT_PASSWORD=«hunter2» mysql",
        "aws configure set aws_secret_access_key «" + _base64(40) + "»",
        "gh secret set DEPLOY_TOKEN --body «" + _alnum(30) + "»",
        "git clone https://oauth2:«" + _alnum(26) + "»@git.example.org/a/b.git",
        "ssh-keygen -t ed25519 -N '«hunter2»' -f key",
        "ansible_ssh_pass=«hunter2»",
        "wget --http-password=«hunter2» https://example.org/f",
        "http -a bob:«hunter2» GET example.org",
        "helm install app . --set auth.rootPassword=«hunter2»",
        "psql postgres://bob:«hunter2»@db/app -c 'select 1'",
        "terraform apply -var 'db_password=«hunter2»'",
    ),
    "output": (
        "Config(host='db', password='«hunter2»', port=5432)",
        "Settings(api_key=«" + _alnum(24) + "», debug=True)",
        "E   KeyError: {'token': '«" + _alnum(24) + "»'}",
        "DEBUG env: {\"SECRET_KEY\": \"«" + _alnum(50) + "»\", \"HOME\": \"/root\"}",
        "map[password:«hunter2» user:bob]",
        "password -> «hunter2»",
        "Generated password: «x7Kq-22mz-Lp0a»",
        "Your API key: «" + _alnum(32) + "»",
        "| password | «hunter2» |",
        "[info] session token «" + _hex(32) + "» created",
        "Enter password: «hunter2»",
        "temporary password «Ab3dEf9h» sent to bob",
        "  Secret: «" + _base64(32) + "»",
    ),
    "files": (
        "spring.datasource.password=«hunter2»",
        "requirepass «hunter2»",
        "'PASSWORD': '«hunter2»',",
        "  password: !!str «hunter2»",
        "password=\"«hunter2»\" # prod",
        "define('DB_PASSWORD', '«hunter2»');",
        "const string Pwd = \"«hunter2»\";",
        "private static final String API_SECRET = \"«" + _alnum(32) + "»\";",
        "let token: String = \"«" + _alnum(32) + "»\".into();",
        "  access_key: «" + _upper(20) + "»",
        "<property name=\"password\" value=\"«hunter2»\"/>",
        "<Password xsi:type=\"xsd:string\">«hunter2»</Password>",
        "set password=«hunter2»",
        "db_pwd = '«hunter2»'",
        "encryption_key: «" + _base64(43) + "=»",
    ),
    "words": (
        "I set the root password to «hunter2» for now",
        "login with bob / password «hunter22»",
        "her passphrase is '«correct horse battery staple»'",
        "the new token is «" + _hex(40) + "»",
        "kata sandi database: «Merdeka45»",
        "password barunya «Merdeka45»",
        "数据库密码为 «Qwerty123»",
        "das Passwort ist «Geheim99»",
        "el password es «Secreto77»",
        "password=«hunter2», user=bob",
    ),
    "vendors": (
        "key-«" + _hex(32) + "» (mailgun)",
        "«" + "sntr" + "ys_" + _base64(60) + "»",
        "bot«1234567890:AA" + _url(33) + "»/getMe",
        "«" + "oy" + "2" + _make(string.ascii_lowercase + string.digits, 43) + "»",
        "https://discord.example.com/api/webhooks/123456789012345678/«" + _url(68) + "»",
        "«" + "ATAT" + "T3xFfGF0" + _url(80) + "»",
        "«" + "NR" + "AK-" + _upper(27) + "»",
        "«" + "pscale" + "_tkn_" + _url(43) + "»",
    ),
    "a second look": (
        "MONGO_INITDB_ROOT_PASSWORD: «hunter2»",
        "rabbitmqctl add_user bob «hunter2»",
        "jdbc:mysql://db:3306/app?user=bob&password=«s3cr3tPw»",
        "jdbc:sqlserver://db;user=sa;password=«Str0ngPw!»;encrypt=true",
        "smtp://bob%40example.org:«hunter2»@mail.example.org:587",
        "ftp://anonymous:«guest99»@ftp.example.org",
        "export GITLAB_PRIVATE_TOKEN='«" + _alnum(20) + "»'",
        "set -x; + TOKEN=«" + _alnum(32) + "»",
        "+ curl -s -H 'PRIVATE-TOKEN: «" + _alnum(20) + "»' https://git.example.org",
        "INFO  app - connecting with password=«hunter2» to db",
        "[DEBUG] headers={'X-Auth-Token': '«" + _url(40) + "»', 'Accept': '*/*'}",
        "< x-amz-security-token: «" + _base64(80) + "»",
        "POST /login {\"username\":\"bob\",\"password\":\"«Winter2024!»\"}",
        "username=bob&password=«Winter2024»&csrf=1",
        "E   assert {'password': '«pa55w0rd»'} == {}",
        "User(name='bob', password='«pa55w0rd»')",
        "pw: «hunter2»",
        "  passwd: «Sup3rS3cret»  # change",
        "API_SECRET = '«" + _alnum(40) + "»'",
        "apiSecret: '«" + _alnum(40) + "»',",
        "api_token: \"«" + _hex(40) + "»\"",
        "\"aws_session_token\": \"«" + _base64(120) + "»\"",
        "sessionToken=«" + _base64(60) + "»",
        "STRIPE_SECRET=«" + _alnum(30) + "»",
        "JWT_SECRET=«this-is-my-jwt-signing-phrase»",
        "DJANGO_SECRET_KEY='«" + _alnum(20) + "!@#$%^&*(-_=+)" + _alnum(10) + "»'",
        "SECRET_KEY = 'django-insecure-«" + _alnum(40) + "»'",
        "hmac_key = b'«" + _alnum(32) + "»'",
        "credentials: \"«bob:hunter2»\"",
        "ADMIN_PASS=«letmein99»",
        "root:«hunter2»@tcp(127.0.0.1:3306)/app",
        "Password «S3cure#1» works for bob",
        "the db password: «S3cure#1»",
        "PASSWORD=«S3cure#1» ./run.sh",
        "env TOKEN=«" + _alnum(20) + "» make deploy",
        "--set-string adminPassword=«S3cure1x»",
        "vault login «hv"+"s." + _alnum(24) + "»",
        "npm config set //registry.example.org/:_authToken «" + _alnum(36) + "»",
        "git remote add o https://bob:«" + _alnum(20) + "»@git.example.org/x",
        "<input type='hidden' name='csrf_token' value='«" + _url(32) + "»'>",
        "Set-Cookie: JSESSIONID=«" + _hex(32) + "»; Secure",
        "Cookie: «PHPSESSID=" + _hex(26) + "»",
        "x-goog-api-key: «AI"+"za" + _url(35) + "»",
        "Ocp-Apim-Subscription-Key: «" + _hex(32) + "»",
        "client_id=abc&client_secret=«" + _alnum(32) + "»&grant_type=x",
        "密码: «Qwerty!23»", "口令为「«Qwerty!23»」",
        "sandi akun: «Rahasia99»", "password-nya «Rahasia99»",
        "Le mot de passe est «Azerty99!»",
    ),
}  # fmt: skip

_SHA1: Final = "9c1e2ab4d5f60718293a4b5c6d7e8f9012345678"
_SHA256: Final = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
_UUID: Final = "018f4e2a-7b1c-7def-8a90-123456789abc"
_PLACEHOLDERS: Final = (
    "<token>", "<your token>", "xxxx", "XXXXXXXX", "***", "********", "${TOKEN}", "$TOKEN", "%s",
    "{token}", "{{ token }}", "None", "null", "true", "false", "example", "changeme", "change-me",
    "your-token-here", "YOUR_API_KEY", "...", "[REDACTED:secret-value]", "REDACTED", "undefined",
    "string", "required", "os.environ['X']", "get_token()", "config.token", "self.token",
)  # fmt: skip
_SYNTAXES: Final = (
    "token={}", "token: {}", 'password = "{}"', "API_KEY={}", '"secret": "{}"', "--password {}",
)  # fmt: skip

NEGATIVES: Final[dict[str, tuple[str, ...]]] = {
    "placeholders": tuple(
        syntax.format(word)
        for syntax in _SYNTAXES
        for word in _PLACEHOLDERS
        if not ('"' in syntax and word in ("os.environ['X']",))
    ),
    "digests and ids": (
        f"commit {_SHA1}",
        f"HEAD is now at {_SHA1[:7]} Fix token expiry",
        f"tree {_SHA1}",
        f"sha256:{_SHA256}",
        f"sha512:{_SHA256}{_SHA256}",
        f"{_SHA256}  dist/memprove-0.1.0.tar.gz",
        f"integrity sha256-{'A7b' * 14}w=",
        f'"integrity": "sha512-{"Zk9" * 28}Q==",',
        f"--hash=sha256:{_SHA256}",
        f"Session {_UUID} ended",
        f"task id {_UUID}",
        f"request-id: {_UUID}",
        f"docker.io/library/python@sha256:{_SHA256}",
        f"key fingerprint SHA256:{'b3Kd' * 10}abc",
        f"ETag: \"{_SHA1[:32]}\"",
        f"cache-key: v1-deps-{_SHA1}",
        f"cache_key={_SHA1}",
        f"primary_key={_UUID}",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB9q9l4b bob@host",
        "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUabcdefgh\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0\n-----END PUBLIC KEY-----",
        "looks for '-----BEGIN RSA PRIVATE KEY-----' in the file",
        f"password_hash: {_SHA256}",
        f"token_sha256={_SHA256}",
        f"secret digest sha256:{_SHA256}",
        "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJuYW1lcyI6W119",
        f"npm ERR! integrity checksum failed: wanted sha512-{'Yt3' * 20}==",
        f"r12 passed test 214/214 12.3 s tree {_SHA1[:7]}",
        f"publicKeyToken={_SHA1[:16]}",
        f"index {_SHA1[:7]}..{_SHA1[8:15]} 100644",
    ),
    "code": (
        "password = get_password()",
        "token: str",
        "def password(self):",
        "assert token == expected",
        "assert password != other",
        "def login(user: str, password: str) -> Token:",
        "password: Optional[str] = None",
        "token: Annotated[str, Depends(oauth2_scheme)]",
        "login(username=username, password=password)",
        "client = Client(token=auth_token)",
        "token = request.headers['X-Token']",
        "secret = os.environ.get('SECRET')",
        'api_key = os.environ["API_KEY"]',
        "const token = await getToken(user);",
        "let token = tokens.next();",
        "token := lexer.Next()",
        "if token.type == TokenType.NAME:",
        "self.password = password",
        "this.apiKey = options.apiKey;",
        "apiKey: this.apiKey,",
        "$password = $input;",
        "password := os.Getenv(\"DB_PASSWORD\")",
        "token = Token(kind, value)",
        "TOKEN_URL = '/oauth/token'",
        "token_type = 'bearer'",
        "max_tokens=4096",
        "maxTokens: 4096,",
        "n_tokens = 12",
        "tokenizer = AutoTokenizer.from_pretrained('x')",
        "secretary: Bob",
        "author: bob",
        "authors = ['bob']",
        "monkey=banana7",
        "keyboard: qwerty1",
        "bypass = True",
        "compass: north1",
        "passed: 3",
        "pass: 12",
        "passes=7",
        "pwd=/home/bob/project1",
        "PWD=/work/main",
        "PASS tests/test_x.py",
        "key: value",
        "sort_key = 'name1'",
        "for key in keys:",
        "key=lambda row: row.id",
        "foreign_key=users.id",
        "class PasswordField(forms.CharField):",
        "password = forms.CharField(widget=forms.PasswordInput)",
        "<input type=\"password\" name=\"password\" id=\"pw1\">",
        "password: &str,",
        "pub token: String,",
        "private readonly token: string;",
        "token?: string | undefined",
        "secret: Buffer.from(value)",
        "@token_required",
        "next_token = response['NextToken']",
        "nextPageToken: 'CAUQAA1'",
        "token_count=1523",
        "with secrets.token_hex(16) as token:",
        "secrets: inherit",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "secretKeyRef:",
        "secretName: tls-secret",
        "credentials: 'same-origin'",
        "from getpass import getpass",
        "password_regex = r'(?i)password:\\s*(\\w+)'",
        "arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbC12",
        "passwordField.setText(value1)",
        "{'password': ['This field is required.']}",
        "'password': 'required|string|min:8'",
        "f'password={password!r}'",
        "print(f\"token={token}\")",
    ),
    "test output": (
        "tests/test_auth.py::test_password_reset[True] PASSED",
        "tests/test_auth.py::test_token_1 PASSED [ 10%]",
        "FAILED tests/test_auth.py::test_password_is_checked[abc123-False]",
        "E       AssertionError: assert token=None",
        "E       assert 'token' in {}",
        "E       TypeError: login() missing 1 required argument: 'password'",
        "self = <TestToken object at 0x7f3a2b1c>, token = None",
        "password = <MagicMock id='140234'>",
        "ok 12 - rejects a wrong password",
        "not ok 3 - token expires after 3600s",
        "--- PASS: TestPassword/short_1 (0.00s)",
        "test auth::token::parses_2 ... ok",
        "  ✓ shows the password field (12 ms)",
        "tests/test_tokenizer.py ..........  [100%]",
        "src/password.py:12: error: Missing return",
        "src/token.go:45:2: undefined: secret1",
        "token.py:12:5: E501 line too long (120 > 100)",
        "coverage: src/secrets.py 97%",
        "1 failed, 12 passed in 0.42s",
        "    at Token.parse (/src/token.js:12:5)",
        "ValueError: invalid token 'foo' at line 3",
        "SyntaxError: unexpected token '}' in JSON at position 15",
        "jest: token: expected \"NAME\", got \"EOF\"",
        "Basic tests 12/12",
        "bearer of bad news1",
    ),
    "prose": (
        "the password is required",
        "password is incorrect",
        "your password was changed",
        "the token is expired",
        "the secret is base64 encoded",
        "the token is invalid; get a new one",
        "password must contain at least 8 characters",
        "Password: must be at least 8 characters long",
        "add a --token flag to the client",
        "use --password to pass the password",
        "--password PASSWORD  the password of the user",
        "--token TOKEN        access token",
        "set API_KEY in the environment",
        "the api key is read from the environment",
        "token bucket with 10 tokens per second",
        "kata sandi salah",
        "kata sandi wajib diisi",
        "密码不能为空",
        "请输入密码",
        "password reset v2 is live",
        "cookie: accepted",
        "Cookie consent is shown",
        "Authorization: required",
        "the Authorization header is missing",
        "authorization: none",
        "secret santa 2024 list",
        "tokens: 1523 in, 88 out",
        "key: sha256:" + _SHA256,
        "prints `Password:` and waits",
        "password hashing uses argon2id",
    ),
    "URLs and paths": (
        "https://example.org/reset?token=<token>",
        "https://user@example.org/x.git",
        "git@example.org:a/b.git",
        "http://localhost:8000/token",
        "http://[::1]:8080/secret/1",
        "https://example.org/@scope/pkg",
        "https://x:${PASSWORD}@example.org",
        "https://user:<password>@example.org",
        "postgres://user:***@db/app",
        "password_file: /run/secrets/db_password",
        "token_path=/var/run/secrets/token1",
        "TOKEN_FILE=/run/secrets/token",
        "secret: ./config/secret1.yaml",
        "secrets/db.env: 3 keys",
        "/home/bob/.aws/credentials",
        "C:\\Users\\bob\\password1.txt",
        "src/auth/password_reset.py",
        "registry=https://registry.example.org/",
        "-p 8080:80",
        "docker run -u 1000:1000 image",
        "mkdir -p build/token",
        "ssh -p 2222 host",
        "mysql -u root -p db",
        "curl -u bob https://example.org",
    ),
}  # fmt: skip


def split(sample: str) -> tuple[str, str]:
    """Return the text of a positive and the secret in it."""
    before, _, rest = sample.partition("«")
    secret, _, after = rest.partition("»")
    return before + secret + after, secret
