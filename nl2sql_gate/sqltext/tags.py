"""SQL between XML-like tags in a reply."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = (
    "sql|sql_query|sqlquery|final_sql|final_query|generated_sql|query|statement|answer|final_answer|final|output|response|result"
    "|code|pre|solution"
)
_TAG = re.compile(
    rf"<(?P<close>/)?(?:(?P<name>{_NAMES})\b[^<>\n]{{0,100}}+|(?P<parameter>parameter)(?:[ \t]++name)?[ \t]*+=[ \t]*+[\"']?"
    r"(?:sql|query|sql_query|statement)[\"']?[ \t]*+|(?P<end>parameter))>|\[(?P<close2>/)?(?P<name2>SQL)\]",
    re.IGNORECASE,
)
_CDATA = re.compile(r"\s*+<!\[CDATA\[(.*)\]\]>\s*+\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tagged:
    """What stands between two tags; `is_closed` where the second is there."""

    name: str
    content: str
    is_closed: bool


def tagged_texts(reply: str) -> list[Tagged]:
    """The texts between tags that may hold SQL, in order, the inner of nested ones first."""
    texts: list[Tagged] = []
    opened: dict[str, int] = {}
    for tag in _TAG.finditer(reply):
        name = (tag.group("name") or tag.group("name2") or "parameter").lower()
        if tag.group("close") or tag.group("close2"):
            start = opened.pop(name, None)
            if start is not None:
                texts.append(Tagged(name, _content(reply[start : tag.start()]), is_closed=True))
        elif not tag.group("end"):
            opened[name] = tag.end()
    texts.extend(Tagged(name, _content(reply[start:]), is_closed=False) for name, start in opened.items())
    return texts


def _content(text: str) -> str:
    cdata = _CDATA.match(text)
    return (cdata.group(1) if cdata else text).strip()
