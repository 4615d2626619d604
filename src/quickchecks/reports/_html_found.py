"""What checks found, as parts of a page: a kind of failure under the sentence that says why it matters, with its runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from quickchecks import _render
from quickchecks._results.evaluation import ItemError
from quickchecks._results.flips import written
from quickchecks._results.result import many
from quickchecks._run import UNSET, Run
from quickchecks._score import Score, ScorerIdentity
from quickchecks._scorer.pipeline import Scorer
from quickchecks.reports._html import Element, Node, el, element_id, link, more
from quickchecks.reports._html_run import Place, transcript
from quickchecks.reports._html_texts import Room, text, value
from quickchecks.reports._run_words import frames

__all__ = (
    "MAX_PAGE", "MAX_RUNS", "RUNS_OF_A_KIND", "Case", "Cases", "asked", "broken", "expression_of", "failure", "findings",
    "listed", "notes", "pairs", "places", "section", "table", "title_of",
)  # fmt: skip

#: The most runs that a page shows, and of one kind of failure, and the most characters of all of them.
MAX_RUNS = 50
RUNS_OF_A_KIND = 5
MAX_PAGE = 4_000_000
#: So many runs are shown unfolded.
_MAX_OPEN = 3
#: The most names that are listed in a row, and the longest.
MAX_IDS = 1_000
_MAX_ID = 120


class Case(Struct, frozen=True):
    """A run that a page shows.

    Args:
        number: Its number in the page.
        title: What it is called.
        about: What else is to be said of it.
        found: What is wrong with it.
        happened: The transcript.
    """

    number: int
    title: tuple[Node, ...]
    about: tuple[Node, ...]
    found: tuple[Node, ...]
    happened: tuple[Node, ...]


class Cases:
    """Makes the runs that a page shows, as many as it has room for, and shows each once."""

    def __init__(self) -> None:
        self.made = 0
        self._room = Room(MAX_PAGE)
        self._shown: set[int] = set()

    @property
    def full(self) -> bool:
        """Whether no more runs can be shown."""
        return self.made >= MAX_RUNS or not self._room.left

    def make(self, run: Run | None, scores: Sequence[Score], title: Sequence[Node], about: Sequence[Node] = ()) -> Case:
        """Make one.

        Args:
            run: The run; None when it is not kept.
            scores: What is wrong with it.
            title: What it is called.
            about: What else is to be said of it.
        """
        self.made += 1
        found = findings(scores) if len(scores) > 1 else []
        happened: list[Node] = []
        if run is not None:
            happened += transcript(run, places(run, scores), self._room)
        elif scores:
            happened.append(el("p", "The run is not kept beside this result.", cls="quiet"))
        return Case(self.made, tuple(title), tuple(about), tuple(found), tuple(happened))

    def shown(self, case: Case, reason: str = "") -> Element:
        """Show one; where the page shows it already, lead there.

        Args:
            case: The run.
            reason: What is said of it here, where that is not said already.
        """
        name = element_id("run", case.number)
        why = (el("p", reason, cls="reason"),) if reason and not case.found else ()
        if case.number in self._shown:
            return el("div", el("h4", case.title, " ", el("span", link(name, "see this run above"), cls="tag")), why, cls="case")
        opened = len(self._shown) < _MAX_OPEN
        self._shown.add(case.number)
        happened = el("details", el("summary", "What happened"), case.happened, open=opened) if case.happened else None
        return el("div", el("h4", case.title, id=name), case.about, why, case.found, happened, cls="case")


def places(run: Run, scores: Sequence[Score]) -> list[Place]:
    """What the reasons of these scores point at in a run, numbered as `findings` numbers them.

    A score may be of less than the run, a turn of a conversation for one; then what its places lead to must be the same.
    """
    found: list[Place] = []
    for number, score in enumerate(scores, 1):
        label = str(number) if len(scores) > 1 else ""
        for at in score.evidence:
            if score.run is None or score.run is run or at.run:
                same = True
            else:
                theirs, ours = score.run.messages[at.message : at.message + 1], run.messages[at.message : at.message + 1]
                same = theirs == ours
            if same:
                found.append(Place(at, label))
    return found


def findings(scores: Sequence[Score]) -> list[Node]:
    """Several things that are wrong with one run, numbered."""
    shown = [
        el("li", el("sup", str(number)), " ", el("strong", title_of(score.scorer.why, score.scorer.identity)), ": ", score.reason)
        for number, score in enumerate(scores, 1)
    ]
    told = el("p", f"{many(len(scores), 'check')} speak of this run:", cls="quiet")
    return [el("div", told, el("ol", shown, cls="plain"), cls="findings")]


def title_of(why: str, identity: str) -> Node:
    """What a person who does not know the checks understands: why somebody has this one; else its name."""
    return _render.capped(why.strip(), 300) or (el("code", identity) if "(" in identity else identity)


def expression_of(scorer: ScorerIdentity) -> str:
    """How a check is written, where that is known, with the name that it has."""
    if not isinstance(scorer, Scorer):
        return scorer.identity
    expression = written(scorer)
    return expression if scorer.identity == expression else f"{scorer.identity}: {expression}"


def failure(
    title: Node | Iterable[Node],
    expression: str,
    note: str,
    reason: str,
    cases: Iterable[Element],
    others: str,
    names: Sequence[str],
    unnamed: int = 0,
    *,
    tone: str = "",
) -> Element:
    """Show a kind of failure.

    Args:
        title: Why it matters.
        expression: The check.
        note: What kind it is, and how often it occurs.
        reason: What is wrong, as a sentence.
        cases: The runs that are shown.
        others: What the runs are that are only named, in words.
        names: Their names.
        unnamed: How many more there are.
        tone: How it is coloured: empty, "no_evidence" or "watched".
    """
    return el(
        "article",
        el("h3", title),
        el("p", el("code", _render.capped(expression, 1_000)), cls="expression") if expression else None,
        el("p", note, cls="tag") if note else None,
        el("p", reason, cls="reason"),
        cases,
        listed(others, names) if names else None,
        el("p", more(unnamed, "run"), " of this kind", cls="left-out") if unnamed > 0 else None,
        cls=f"failure {tone}".strip(),
    )


def listed(told: str, names: Sequence[str]) -> Element:
    """Names, folded away when they are many."""
    shown = [el("li", el("code", _named(name))) for name in names[:MAX_IDS]]
    if len(names) > MAX_IDS:
        shown.append(el("li", more(len(names) - MAX_IDS, "name"), cls="left-out"))
    return el("details", el("summary", told), el("ul", shown, cls="ids"), open=len(names) <= 8)


def _named(name: str) -> str:
    return _render.capped(name, _MAX_ID) if name.strip() else f'"{name[:_MAX_ID]}"'


def asked(inputs: Sequence[object], expected: object) -> list[Node]:
    """What an item asks and expects."""
    room = Room(MAX_PAGE)
    rows: list[tuple[str, list[Node]]] = [("asked", list(value(one, room=room))) for one in inputs[:20]]
    if len(inputs) > 20:
        rows.append(("asked", [more(len(inputs) - 20, "turn")]))
    if expected is not None and expected is not UNSET:
        rows.append(("expected", list(value(expected, room=room))))
    return [pairs(rows)] if rows else []


def pairs(rows: Iterable[tuple[str, Iterable[Node]]]) -> Element:
    """What is said of something, a name and what it is on each line."""
    return el("dl", (part for name, shown in rows for part in (el("dt", name), el("dd", shown))), cls="pairs")


def broken(error: ItemError, *, unfolded: bool = False) -> list[Node]:
    """What broke before an item could be scored, with the traceback, which may be unfolded."""
    what = error.message if error.message.startswith(error.type) else f"{error.type}: {error.message}"
    at = "" if error.turn is None else f" in turn {error.turn}"
    shown: list[Node] = [el("p", el("strong", f"✗ broke ({error.kind}){at}: ", cls="error"), what)]
    if error.traceback:
        shown.append(
            el(
                "details",
                el("summary", "The traceback"),
                el("div", "\n".join(frames(error.traceback)), cls="words value"),
                open=unfolded,
            )
        )
    return shown


def section(name: str, title: str, *children: Node | Iterable[Node] | None) -> Element:
    """A part of a page with its heading.

    Args:
        name: A word for it.
        title: The heading.
        children: What is in it.
    """
    return el("section", el("h2", title, id=name), *children, label=name)


def table(label: str, titles: Sequence[tuple[str, str]], rows: Iterable[Sequence[Node | Sequence[Node]]]) -> Element:
    """A table that scrolls by itself where it is too wide, and whose rows are stacked on a phone.

    Args:
        label: The id of the heading that names it.
        titles: The title of each column, and its class.
        rows: The cells of each row; the first is its heading. A column without anything in it is left out.
    """
    every = list(rows)
    kept = [at for at in range(len(titles)) if not at or any(row[at] for row in every)]
    head = el("tr", (el("th", titles[at][0], scope="col", cls=titles[at][1]) for at in kept))
    body = [el("tr", (_cell(row[at], *titles[at], heads=not at) for at in kept)) for row in every]
    return el("div", el("table", el("thead", head), el("tbody", body)), cls="scroll", role="group", label=label, focusable=True)


def _cell(cell: Node | Sequence[Node], title: str, cls: str, *, heads: bool) -> Element:
    return el("th", cell, scope="row", cls=cls) if heads else el("td", cell, cls=cls, column=title)


def notes(warnings: Iterable[str], room: int = 200) -> Element | None:
    """Sentences that stand at the end of a page."""
    every = list(warnings)
    shown = [el("li", text(one, room=Room(MAX_PAGE))) for one in every[:room]]
    if len(every) > room:
        shown.append(el("li", more(len(every) - room, "note")))
    return el("ul", shown, cls="notes") if shown else None
