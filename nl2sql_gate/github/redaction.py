"""Secrets taken out of everything that is written, in every form in which they turn up."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus, unquote

MASK = "***"

SHORTEST = 4
"""A shorter secret would take letters out of ordinary words; it is masked only inside URLs."""

_LONG_ENOUGH = 8
"""A value that nobody told us is a secret must at least look like one."""

_PUBLIC_WORDS = frozenset(
    (
        *("postgres", "postgresql", "mysql", "mariadb", "sqlite", "sqlserver", "mssql", "duckdb", "root", "admin", "user"),
        *("test", "tests", "password", "passwd", "secret", "none", "null", "true", "false", "empty", "dummy", "example"),
        *("local", "localhost", "default", "public", "change", "changeme"),
    )
)
"""Passwords of throw-away databases and keys of servers that ask for none: masking them would shred every report."""

_USER_INFO = re.compile(r"(?P<start>:{1,2}//[^\s/:@'\"<>`]*:)(?!\d{1,5}(?:[/?#]|$))(?P<password>[^\s'\"<>`]+)(?=@)")
_KEY_VALUE = re.compile(
    r"(?P<start>\b(?:host|server|driver|uid|user|user id|dbname|database|port)=[^\n]{0,200}?[;\s](?:pwd|password)=)"
    r"(?P<password>\{[^}]*\}|[^\s;,&'\"()]+)",
    re.IGNORECASE,
)
"""A password in an ODBC or libpq connection string. SQL may compare a column `password` and must stay as it is."""

_BEARER = re.compile(r"(?P<start>\b(?:Bearer|Basic)\s+)(?P<password>[A-Za-z0-9._~+/=-]{8,})")


_SECRET_VARIABLE = re.compile(r"(?:API_?KEY|ACCESS_KEY|SECRET_KEY|TOKEN|SECRET|PASSWORD|PASSWD|DSN|CREDENTIALS?)$", re.IGNORECASE)


def environment_secrets(environ: Mapping[str, str]) -> list[str]:
    """Values of environment variables whose names say that they are secret: libraries read some that no setting names."""
    return [value for name, value in environ.items() if _SECRET_VARIABLE.search(name) and len(value.strip()) >= _LONG_ENOUGH]


class Redactor:
    """Takes known secrets out of text, and passwords out of anything that looks like a connection string.

    Known are the values given, also URL-encoded, in base64 at any offset, and escaped in JSON or HTML. Redact before shortening:
    half a secret is not recognized.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: dict[str, None] = {}
        self._values: dict[str, None] = {}
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Mask `secret` from now on; of a connection string with a password, the password alone."""
        secret = secret.strip()
        passwords = _passwords(secret)
        for password in passwords:
            self.add(password)
        if passwords or len(secret) < SHORTEST or secret.lower() in _PUBLIC_WORDS or secret == MASK:
            return
        self._values[secret] = None
        forms = {**self._forms, **dict.fromkeys(_forms(secret))}
        # The longest first: a form that holds another must not be left half masked.
        self._forms = dict.fromkeys(sorted(forms, key=lambda form: (-len(form), form)))

    def values(self) -> list[str]:
        """The secrets as given, for the runner's own masking."""
        return list(self._values)

    def __call__(self, text: str) -> str:
        """`text` with `***` for every secret."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        if "//" in text and "@" in text:
            text = _USER_INFO.sub(_masked, text)
        if "=" in text:
            text = _KEY_VALUE.sub(_masked, text)
        return _BEARER.sub(_masked, text) if "earer " in text or "asic " in text else text


def _masked(match: re.Match[str]) -> str:
    return f"{match['start']}{MASK}"


def _passwords(text: str) -> list[str]:
    found = {
        match["password"].strip("{}")
        for written in (text, unquote(text))
        for pattern in (_USER_INFO, _KEY_VALUE)
        for match in pattern.finditer(written)
    }
    return sorted({form for password in found for form in (password, unquote(password)) if form != text})


def _forms(secret: str) -> list[str]:
    forms = [
        secret,
        quote(secret, safe=""),
        quote(secret),
        quote_plus(secret),
        html.escape(secret),
        html.escape(secret, quote=False),
    ]
    forms += [json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], html.escape(json.dumps(secret)[1:-1])]
    forms += [quote(secret, safe="").lower()]
    if len(secret.splitlines()) > 1:
        forms += [line.strip() for line in secret.splitlines() if len(line.strip()) > SHORTEST * 2]
    return [form for form in [*forms, *_base64_forms(secret)] if len(form) >= SHORTEST]


def _base64_forms(secret: str) -> list[str]:
    """The characters that base64 has for `secret` wherever it stands in the encoded bytes, as in `user:secret`."""
    raw = secret.encode("utf-8", "surrogatepass")
    forms = []
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw).decode()
        # Characters that also depend on neighbouring bytes are left out.
        first = -(-offset * 8 // 6)
        last = (offset + len(raw)) * 8 // 6
        core = encoded[first:last]
        if len(core) >= SHORTEST * 2:
            forms += [core, core.translate(str.maketrans("+/", "-_"))]
    whole = base64.b64encode(raw).decode()
    return [*forms, whole, base64.urlsafe_b64encode(raw).decode()] if len(whole) >= SHORTEST * 2 else forms
