"""The body of the gate's comment: a marker by which it is found, a section for each leg of a matrix, what they said before."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from nl2sql_gate.github.limits import COMMENT_BYTES, size
from nl2sql_gate.github.untrusted import prose

_STATE = re.compile(
    r"<!-- nl2sql-gate:leg=(?P<leg>\S*) run=(?P<run>\d+)\.(?P<attempt>\d+) said=(?P<said>\S*)(?: missed=(?P<missed>\S*))? -->\n"
    r"(?P<text>.*?)\n<!-- /nl2sql-gate -->",
    re.DOTALL,
)
_FORGED = re.compile(r"<!--(?=\s*/?nl2sql-gate)")
_REMEMBERED = 8
FORGOTTEN_AFTER = 3
"""A leg that has not reported for this many newer commits is gone from the matrix, and so is its section."""
_COMMIT = re.compile(r"[0-9a-f]{1,40}")
_SAID = re.compile(r"(pass|fail|undecided|no_verdict)@([0-9a-f]{0,40})")


@dataclass(frozen=True, slots=True)
class Section:
    """What one leg says. `run` is the workflow run and its attempt; `said` its statuses with their commits, the newest first.

    `missed` are newer commits for which other legs have reported and this one has not.
    """

    leg: str
    run: tuple[int, int]
    said: tuple[tuple[str, str], ...]
    text: str = ""
    missed: tuple[str, ...] = ()


def marker(gate: str) -> str:
    """The hidden first line of the comment of `gate`."""
    return f"<!-- nl2sql-gate:v1 gate={quote(gate, safe='-_.', errors='replace').replace('--', '-%2D')} -->"


def is_own(body: str, gate: str) -> bool:
    """Whether a comment's text begins with the gate's marker."""
    return body.lstrip("\ufeff").startswith(marker(gate))


def sections(body: str) -> dict[str, Section]:
    """The sections in a comment's text, by leg."""
    found = {}
    for match in _STATE.finditer(body.replace("\r\n", "\n")):
        said = tuple((status, commit) for status, commit in _SAID.findall(match["said"]))
        missed = tuple(_COMMIT.findall(match["missed"] or ""))
        found[match["leg"]] = Section(match["leg"], (int(match["run"]), int(match["attempt"])), said, match["text"], missed)
    return found


def merged(old: dict[str, Section], new: Section) -> dict[str, Section]:
    """The sections with `new` in the place of its leg's, and with what that leg said before."""
    before = old.get(new.leg)
    earlier = () if before is None else tuple(each for each in before.said if each[1] != new.said[0][1])
    return {**old, new.leg: replace(new, said=(*new.said[:1], *earlier)[:_REMEMBERED])}


def without_the_gone(old: dict[str, Section], new: Section, gate: str) -> dict[str, Section]:
    """The sections beside `new`: what they said of an earlier commit no longer stands as if it were said of this one.

    A leg of an earlier run may still be at work, or was taken out of the workflow: nobody can tell from here. So it keeps one
    line that says so, and its section goes when it has missed `FORGOTTEN_AFTER` commits.
    """
    commit = new.said[0][1]
    kept = {}
    for leg, section in old.items():
        is_current = not section.said or section.said[0][1] == commit or section.run[0] >= new.run[0]
        if leg == new.leg or not commit or is_current:
            kept[leg] = section
            continue
        missed = tuple(dict.fromkeys((*section.missed, commit)))
        if len(missed) < FORGOTTEN_AFTER:
            kept[leg] = behind(section, commit, gate)
    return kept


def later_commit(old: dict[str, Section], new: Section) -> str:
    """The commit of which a later run has spoken for other legs; empty where `new` is of the newest."""
    later = [
        each for each in old.values() if each.run[0] > new.run[0] and each.said and each.said[0][1] not in {"", new.said[0][1]}
    ]
    return max(later, key=lambda each: each.run).said[0][1] if later else ""


def behind(section: Section, commit: str, gate: str) -> Section:
    """The section without its report, saying that it has none for `commit`, and what it said last."""
    status, earlier = section.said[0]
    name = f"{gate} ({unquote(section.leg)})" if section.leg else gate
    text = (
        f"### ⚪ NL2SQL gate {prose(name, width=160)} · no report for this commit\n\n"
        f"> [!NOTE]\n> It has not reported for `{commit[:8]}`. It said **{status.replace('_', ' ')}** at `{earlier[:8]}`."
    )
    return replace(section, missed=tuple(dict.fromkeys((*section.missed, commit))), text=text)


def clean(text: str) -> str:
    """A section's text in which nothing reads like a marker: SQL in a code block may hold any line."""
    return _FORGED.sub("<!- -", text.replace("\r\n", "\n")).strip()


def is_stale(old: dict[str, Section], new: Section) -> bool:
    """Whether a later run has already spoken for this leg."""
    return new.leg in old and old[new.leg].run > new.run


def body(gate: str, parts: dict[str, Section]) -> str:
    """The whole text. Sections that do not fit beside each other shrink to their first paragraphs, the longest first."""
    ordered = [parts[leg] for leg in sorted(parts)]
    while size(text := _joined(gate, ordered)) > COMMENT_BYTES:
        longest = max(range(len(ordered)), key=lambda place: size(ordered[place].text))
        short = _shrunk(ordered[longest].text)
        if size(short) >= size(ordered[longest].text):
            ordered.pop(longest)
            if not ordered:
                return marker(gate)
            continue
        ordered[longest] = replace(ordered[longest], text=short)
    return text


def room(old: dict[str, Section], leg: str) -> int:
    """Bytes for one leg's section, if all legs known so far take as much."""
    return COMMENT_BYTES // len({*old, leg}) - 500


def leg_name(name: str) -> str:
    """A leg's name as it stands in the marker."""
    return quote(name, safe="-_.", errors="replace").replace("--", "-%2D")


def _joined(gate: str, ordered: list[Section]) -> str:
    parts = [marker(gate)]
    for section in ordered:
        said = ",".join(f"{status}@{commit}" for status, commit in section.said)
        run = ".".join(map(str, section.run))
        missed = f" missed={','.join(section.missed)}" if section.missed else ""
        parts.append(
            f"<!-- nl2sql-gate:leg={section.leg} run={run} said={said}{missed} -->\n{section.text}\n<!-- /nl2sql-gate -->"
        )
    return "\n".join(parts)


def _shrunk(text: str) -> str:
    """Heading and alert: what stands before the first table, picture or fold, and a word about the rest."""
    kept: list[str] = []
    for paragraph in text.split("\n\n"):
        if paragraph.startswith(("|", "<details", "```", "**", "_Truncated")):
            break
        kept.append(paragraph)
    return "\n\n".join([*kept[:3], "_Truncated: the full report is in the run's summary._"])
