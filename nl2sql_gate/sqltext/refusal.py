"""Replies in which a model declines, told apart from prose by what it says."""

from __future__ import annotations

import re

_LOOKED_AT = 600

_REFUSAL = re.compile(
    r"""
    \b(?:i\s*(?:am|'m)\s+(?:very\s+|so\s+|really\s+)?(?:sorry|afraid|unable|not\s+(?:able|allowed|permitted|comfortable)))
    | \bsorry\s*[,.!]
    | \b(?:i|we)\s+(?:can\s?not|can't|could\s?n[o']t|won't|will\s+not|must\s+decline|decline|am\s+not\s+going\s+to|refuse)\b
    | \b(?:as|being)\s+an?\s+(?:ai|artificial|large\s+language|language\s+model)\b
    | \b(?:can\s?not|can't|unable\s+to|not\s+possible\s+to|impossible\s+to)\s+(?:be\s+)?
      (?:answer|help|assist|generat|creat|writ|provid|produc|determin|compl|process|do\s+that)
    | \b(?:against|violat\w*)\s+(?:my|our|the)\s+(?:guidelines|polic|rules|terms)
    | \b(?:the\s+)?(?:schema|database|table|tables)\s+(?:do|does)(?:\s+not|n't)\s+(?:contain|have|include|hold|provide)
    | \bnot\s+(?:enough|sufficient)\s+information\b | \binsufficient\s+(?:information|context|data)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def is_refusal(reply: str) -> bool:
    """Whether a reply without SQL declines to answer; judged by its beginning, where refusals stand."""
    return _REFUSAL.search(reply[:_LOOKED_AT].replace("\u2019", "'")) is not None
