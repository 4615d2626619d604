"""Checks of what the agent said.

"The answer" in these checks is the output text of the run: what its assistant messages say, without reasoning, tool
arguments, tool results and what other agents said. `includes`, `excludes` and `similarity` read it with one space
between two segments; `equals` and `matches` read it closed up. `where="final"` looks at the final answer alone. Text
and expectation are compared in Unicode NFC, and case-folded when case is ignored. (SPEC of the reference: Mastra's
quick checks; the measure of `similarity` is that of the npm package string-similarity.)

To check that an agent did not *do* something, use `did_not_call`: an agent that refuses properly may well quote what it
refuses, and `excludes` then fails.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import ClassVar, Literal

from quickchecks import _render
from quickchecks._cached import cached
from quickchecks._run import OutputText, Run, TextSpan, Where
from quickchecks._score import Abstention, Explanation, Score, no_evidence
from quickchecks._scorer.from_item import FromItem, deferrable
from quickchecks._scorer.pipeline import Scorer
from quickchecks._text import code_point, composed, folded, original_span, without_white_space
from quickchecks.checks import _arguments
from quickchecks.checks._build import Judgement, build
from quickchecks.checks._patterns import find, pattern_text

__all__ = ("equals", "excludes", "includes", "matches", "similarity")

#: How many places a reason points at when a text is found often.
_MOST_PLACES = 5


@deferrable
def includes(
    expected: str | FromItem,
    *,
    ignore_case: bool = True,
    where: Where = "all",
    name: str | None = None,
    why: str | None = None,
) -> Scorer:
    """Passes when the answer contains a text.

    Args:
        expected: The text to find, taken literally.
        ignore_case: Whether upper and lower case are the same.
        where: "all" of the output text, or only the "final" answer.
        name: An identity of its own.
        why: Why you have this check, as one plain sentence; shown beside every failure.

    Returns:
        The check.

    Raises:
        CheckArgumentError: The text is empty, or not text.

    Example:
        >>> from quickchecks import checks
        >>> print(checks.includes("Brooklyn").score("It is sunny in Brookline today.").reason)
        "Brooklyn" is not in the answer; the nearest is "Brookline" (at 15, likeness 0.82)
    """
    expected = _arguments.text("includes", "expected", expected, "includes('Brooklyn')")
    judgement = _Includes(expected, _arguments.flag("includes", "ignore_case", ignore_case), _arguments.where("includes", where))
    name, why = _arguments.check_name("includes", name, why)
    return build(includes, judgement, (expected,), name=name, why=why, ignore_case=ignore_case, where=where)


@deferrable
def excludes(
    unwanted: str | FromItem,
    *,
    ignore_case: bool = True,
    where: Where = "all",
    name: str | None = None,
    why: str | None = None,
) -> Scorer:
    """Passes when the answer does not contain a text.

    Args:
        unwanted: The text that must not be there, taken literally.
        ignore_case: Whether upper and lower case are the same.
        where: "all" of the output text, or only the "final" answer.
        name: An identity of its own.
        why: Why you have this check, as one plain sentence; shown beside every failure.

    Returns:
        The check.

    Raises:
        CheckArgumentError: The text is empty, or not text.

    Example:
        >>> from quickchecks import checks
        >>> print(checks.excludes("sorry").score("I am sorry, I cannot.").reason)
        "sorry" is in the answer, at 5: "I am sorry, I cannot."
    """
    unwanted = _arguments.text("excludes", "unwanted", unwanted, "excludes('sorry')")
    judgement = _Excludes(unwanted, _arguments.flag("excludes", "ignore_case", ignore_case), _arguments.where("excludes", where))
    name, why = _arguments.check_name("excludes", name, why)
    return build(excludes, judgement, (unwanted,), name=name, why=why, ignore_case=ignore_case, where=where)


@deferrable
def equals(
    expected: str | FromItem,
    *,
    ignore_case: bool = True,
    where: Where = "all",
    name: str | None = None,
    why: str | None = None,
) -> Scorer:
    """Passes when the answer is exactly a text.

    Args:
        expected: The whole answer; the empty text says that the agent must say nothing.
        ignore_case: Whether upper and lower case are the same.
        where: "all" of the output text, or only the "final" answer.
        name: An identity of its own.
        why: Why you have this check, as one plain sentence; shown beside every failure.

    Returns:
        The check.

    Raises:
        CheckArgumentError: The text is not text.

    Example:
        >>> from quickchecks import checks
        >>> print(checks.equals("42").score("43").reason)
        the answer is "43", expected "42"; they differ from 1 on: "3", expected "2"
    """
    expected = _arguments.text("equals", "expected", expected, "equals('42')", may_be_empty=True)
    judgement = _Equals(expected, _arguments.flag("equals", "ignore_case", ignore_case), _arguments.where("equals", where))
    name, why = _arguments.check_name("equals", name, why)
    return build(equals, judgement, (expected,), name=name, why=why, ignore_case=ignore_case, where=where)


@deferrable
def matches(
    pattern: str | re.Pattern[str] | FromItem,
    *,
    exact: bool = False,
    where: Where = "all",
    name: str | None = None,
    why: str | None = None,
) -> Scorer:
    r"""Passes when a regular expression is found in the answer.

    The pattern is Python's: `re` decides whether it is valid, flags stand inline such as `(?i)` or on a compiled
    pattern. It may take one second; after that the score is an error, never a pass.

    Args:
        pattern: The regular expression, as text or from `re.compile`.
        exact: Whether the whole answer must match the whole pattern.
        where: "all" of the output text, or only the "final" answer.
        name: An identity of its own.
        why: Why you have this check, as one plain sentence; shown beside every failure.

    Returns:
        The check.

    Raises:
        CheckArgumentError: The pattern is not valid.

    Example:
        >>> from quickchecks import checks
        >>> print(checks.matches(r"order #\d+").score("Your order #482 is on its way.").reason)
        the pattern is found at 5: "order #482"
    """
    written = pattern_text("matches", pattern)
    judgement = _Matches(written, _arguments.flag("matches", "exact", exact), _arguments.where("matches", where))
    name, why = _arguments.check_name("matches", name, why)
    return build(matches, judgement, (written,), name=name, why=why, exact=exact, where=where)


@deferrable
def similarity(
    expected: str | FromItem,
    *,
    threshold: float | FromItem | None = None,
    ignore_case: bool = True,
    where: Where = "all",
    name: str | None = None,
    why: str | None = None,
) -> Scorer:
    """Grades how alike the answer and a text are, from 0 to 1; with a threshold, passes or fails.

    The measure is the Sørensen–Dice coefficient of the pairs of adjacent characters, white space left out.

    Args:
        expected: The text to compare with.
        threshold: The least value that passes; without one the value itself is the score.
        ignore_case: Whether upper and lower case are the same.
        where: "all" of the output text, or only the "final" answer.
        name: An identity of its own.
        why: Why you have this check, as one plain sentence; shown beside every failure.

    Returns:
        The check.

    Raises:
        CheckArgumentError: The text is blank, or the threshold is not in 0..1.

    Example:
        >>> from quickchecks import checks
        >>> print(round(checks.similarity("night").score("nacht").value, 2))
        0.25
    """
    expected = _arguments.text("similarity", "expected", expected, "similarity('It is sunny.')")
    if threshold is not None:
        threshold = _arguments.share("similarity", "threshold", threshold)
    judgement = _Similarity.of(
        expected,
        threshold,
        _arguments.flag("similarity", "ignore_case", ignore_case),
        _arguments.where("similarity", where),
    )
    name, why = _arguments.check_name("similarity", name, why)
    return build(
        similarity,
        judgement,
        (expected,),
        name=name,
        why=why,
        graded=threshold is None,
        threshold=threshold,
        ignore_case=ignore_case,
        where=where,
    )


def _said(run: Run, where: Where) -> OutputText:
    return run.spoken if where == "all" else run.spoken_last


def _said_closed_up(run: Run, where: Where) -> OutputText:
    return run.spoken_closed_up if where == "all" else run.spoken_last


def _unrecorded(run: Run) -> Abstention | None:
    """A run whose source does not record the answer cannot show what the answer says."""
    notes = [gap.note for gap in run.gaps if gap.kind == "text"]
    return no_evidence(f"the answer is not recorded: {notes[0]}") if notes else None


def _unheard(run: Run) -> Abstention | None:
    """Where the record holds no message of the agent, that something was not said is no more than a guess."""
    said = run.messages[run.history_length :]
    if run.children or (said and said[-1].role == "assistant") or any(message.role == "assistant" for message in said):
        return None
    return no_evidence("the record holds no message of the agent")


class _TextJudgement(Judgement, frozen=True, dict=True):
    """What the checks of a literal text have in common."""

    expected: str
    ignore_case: bool
    where: Where

    @cached
    def needle(self) -> str:
        """The expectation in the form in which it is compared."""
        return folded(self.expected) if self.ignore_case else composed(self.expected)

    def compared(self, said: OutputText) -> str:
        """The answer in the form in which it is compared."""
        return said.folded if self.ignore_case else said.composed

    def places(self, said: OutputText) -> list[tuple[int, int]]:
        """Where the expectation is found, as spans of the compared form."""
        text, needle = self.compared(said), self.needle
        found: list[tuple[int, int]] = []
        at = text.find(needle)
        while at >= 0 and len(found) < _MOST_PLACES:
            found.append((at, at + len(needle)))
            at = text.find(needle, at + len(needle))
        return found

    def lookalike(self, run: Run, said: OutputText) -> tuple[str, tuple[TextSpan, ...]] | None:
        """That something is there which differs only in the kind of its quotes, dashes or spaces."""
        from quickchecks.checks._nearest import lookalikes

        look = lookalikes(self.compared(said), self.needle)
        if look is None:
            return None
        start, end = said.original(*look[:2], fold=self.ignore_case)
        return look[2], said.places(run, start, end)

    def found_at(self, run: Run, said: OutputText) -> Explanation:
        """Say that the expectation is in the answer, and where."""
        places = self.places(said)
        start, end = said.original(*places[0], fold=self.ignore_case)
        count = self.compared(said).count(self.needle)
        times = "," if count == 1 else f" {count} times, first"
        reason = (
            f"{_render.quoted(self.expected)} is in the {_answer(self.where)}{times} "
            f"at {start}: {_render.excerpt(said.raw, start, end)}"
        )
        originals = [said.original(*place, fold=self.ignore_case) for place in places]
        evidence = tuple(span for original in originals for span in said.places(run, *original))
        return Explanation(reason, evidence, ("found",))


class _Includes(_TextJudgement, frozen=True, dict=True):
    def __call__(self, run: Run) -> object:
        if self.needle in self.compared(_said(run, self.where)):
            return True
        return (_unrecorded(run) or False) if run.gaps else False

    def explain(self, run: Run, score: Score) -> Explanation:
        said = _said(run, self.where)
        if score.passed:
            return self.found_at(run, said)
        wanted = _render.quoted(self.expected)
        missing = f"{wanted} is not in the {_answer(self.where)}"
        if not said.raw.strip():
            return Explanation(f"{missing}, which is {_emptiness(said)}", (), ("nothing said",))
        reason, evidence = self.nearest_miss(run, said)
        return Explanation(f"{missing}; {reason}", evidence, ("not found",))

    def nearest_miss(self, run: Run, said: OutputText) -> tuple[str, tuple[TextSpan, ...]]:
        """Why the text is not found: what differs, or what comes nearest."""
        from quickchecks.checks._nearest import nearest_passage, same_digits

        if not self.ignore_case and (at := said.folded.find(folded(self.expected))) >= 0:
            start, end = said.original(at, at + len(folded(self.expected)), fold=True)
            other = _render.passage(said.raw, start, end)
            return f"{other} at {start} differs in upper and lower case only", said.places(run, start, end)
        look = self.lookalike(run, said)
        if look is not None:
            return look
        number = same_digits(said.raw, self.expected)
        if number:
            at = said.raw.find(number)
            sentence = f"{_render.quoted(number)} at {at} has the same digits, but texts are compared literally"
            return sentence, said.places(run, at, at + len(number))
        nearest = nearest_passage(said.raw, self.expected)
        if nearest is None:
            return f"nothing like it is in {_render.quoted(said.raw, 120)}", ()
        start, end, likeness = nearest
        reason = f"the nearest is {_render.passage(said.raw, start, end)} (at {start}, likeness {likeness:.2f})"
        return reason + _odd_characters(said.raw[start:end], self.expected), said.places(run, start, end)


class _Excludes(_TextJudgement, frozen=True, dict=True):
    revision: ClassVar[int] = 2

    def __call__(self, run: Run) -> object:
        if self.needle in self.compared(_said(run, self.where)):
            return False
        return (_unrecorded(run) or _unheard(run) or True) if run.gaps else True

    def explain(self, run: Run, score: Score) -> Explanation:
        said = _said(run, self.where)
        if score.failed:
            return self.found_at(run, said)
        absent = f"{_render.quoted(self.expected)} is not in the {_answer(self.where)}"
        if not said.raw.strip():
            return Explanation(f"{absent}, which is {_emptiness(said)}")
        look = self.lookalike(run, said)
        note = f", but something that looks the same is: {look[0]}" if look else ""
        return Explanation(f"{absent} ({len(said.raw)} characters){note}", look[1] if look else ())


class _Equals(_TextJudgement, frozen=True, dict=True):
    def __call__(self, run: Run) -> object:
        if self.needle == self.compared(_said_closed_up(run, self.where)):
            return True
        return (_unrecorded(run) or False) if run.gaps else False

    def explain(self, run: Run, score: Score) -> Explanation:
        said = _said_closed_up(run, self.where)
        answer = _answer(self.where)
        if score.passed:
            return Explanation(f"the {answer} is exactly {_render.quoted(self.expected)}", said.places(run))
        expected = f"expected {_render.quoted(self.expected)}"
        if not said.raw.strip():
            return Explanation(f"the {answer} is {_emptiness(said)}, {expected}", (), ("nothing said",))
        seen = f"the {answer} is {_render.quoted(said.raw)}, {expected}"
        hint = self._hint(run, said)
        if hint:
            return Explanation(f"{seen}; {hint}", said.places(run), ("differs",))
        return self._difference(run, said, seen)

    def _hint(self, run: Run, said: OutputText) -> str:
        if self.compared(said).strip() == self.needle.strip():
            return "they differ only in white space at the ends"
        if not self.ignore_case and said.folded == folded(self.expected):
            return "they differ only in upper and lower case: ignore_case=True takes them as equal"
        if without_white_space(said.folded) == without_white_space(folded(self.expected)):
            return "they differ only in white space"
        look = self.lookalike(run, said)
        return look[0] if look else ""

    def _difference(self, run: Run, said: OutputText, seen: str) -> Explanation:
        """A small diff: from where on the two differ, and how both go on."""
        text, needle = self.compared(said), self.needle
        at = next((i for i, (a, b) in enumerate(zip(text, needle, strict=False)) if a != b), min(len(text), len(needle)))
        start, _ = said.original(at, len(text), fold=self.ignore_case)
        if at == len(needle):
            reason = f"{seen}; the answer goes on after it: {_render.passage(said.raw, start, len(said.raw), 40)}"
        elif at == len(text):
            reason = f"{seen}; the answer ends where {self._rest(at)} should follow"
        else:
            goes_on = _render.passage(said.raw, start, min(start + 40, len(said.raw)))
            reason = f"{seen}; they differ from {start} on: {goes_on}, expected {self._rest(at)}"
        return Explanation(reason, said.places(run, start, len(said.raw)), ("differs",))

    def _rest(self, at: int) -> str:
        """The expectation from a place in its compared form on, as the user wrote it."""
        start, _ = original_span(self.expected, at, len(self.needle), fold=self.ignore_case)
        return _render.passage(self.expected, start, min(start + 40, len(self.expected)))


class _Matches(Judgement, frozen=True):
    pattern: str
    exact: bool
    where: Where

    def __call__(self, run: Run) -> object:
        if find(self.pattern, _said_closed_up(run, self.where).composed, exact=self.exact) is not None:
            return True
        return (_unrecorded(run) or False) if run.gaps else False

    def explain(self, run: Run, score: Score) -> Explanation:
        said = _said_closed_up(run, self.where)
        answer = _answer(self.where)
        if score.passed:
            found = find(self.pattern, said.composed, exact=self.exact)
            assert found is not None
            place = (found.start(), found.end())
            start, end = said.original(*place, fold=False)
            where = f"the whole {answer} matches" if self.exact else f"the pattern is found at {start}"
            return Explanation(f"{where}: {_render.passage(said.raw, start, end)}", said.places(run, start, end))
        pattern = _render.quoted(self.pattern)
        if not said.raw.strip():
            return Explanation(f"{pattern} is not found: the {answer} is {_emptiness(said)}", (), ("nothing said",))
        how = f"does not match the whole {answer}" if self.exact else f"is not found in the {answer}"
        hint = self._hint(said.composed)
        tail = f"; {hint}" if hint else ""
        return Explanation(f"{pattern} {how} {_render.quoted(said.raw, 120)}{tail}", (), ("not found",))

    def _hint(self, text: str) -> str:
        """Whether a flag, or less exactness, would make the pattern match."""
        trials: list[tuple[str, bool, str]] = []
        if "\n" in text:
            ends = "^ and $ mean the ends of the whole text; with (?m) they mean those of a line, and it is found"
            dots = "a dot stops at a line break; with (?s) it does not, and it is found"
            trials += [("(?m)", self.exact, ends), ("(?s)", self.exact, dots), ("(?ms)", self.exact, "with (?ms) it is found")]
        trials.append(("(?i)", self.exact, "with (?i), which ignores case, it is found"))
        if self.exact:
            trials.append(("", False, "a part of the answer matches, but exact=True asks for all of it"))
        for flags, exact, hint in trials:
            try:
                if find(flags + self.pattern, text, exact=exact) is not None:
                    return hint
            except Exception:  # too slow, or no valid pattern with this flag: then there is no hint
                return ""
        return ""


class _Similarity(Judgement, frozen=True, dict=True):
    expected: str
    threshold: float | None
    ignore_case: bool
    where: Where
    flat: str

    @classmethod
    def of(cls, expected: str, threshold: float | None, ignore_case: bool, where: Where) -> _Similarity:
        flat = without_white_space(folded(expected) if ignore_case else composed(expected))
        if not flat:
            _arguments.text("similarity", "expected", "", "similarity('It is sunny.')")
        return cls(expected, threshold, ignore_case, where, flat)

    @cached
    def pairs(self) -> Mapping[int, int]:
        """How often each pair of the expectation occurs, in 16 bits a character."""
        return Counter(_pairs(self.flat, 2))

    @cached
    def wide_pairs(self) -> Mapping[int, int]:
        """The same in 32 bits a character."""
        return Counter(_pairs(self.flat, 4))

    def compared(self, run: Run) -> str:
        """The answer in the form in which it is compared."""
        said = _said(run, self.where)
        return without_white_space(said.folded if self.ignore_case else said.composed)

    def value(self, flat: str) -> float:
        """The Sørensen–Dice coefficient of the answer and the expectation."""
        if flat == self.flat:
            return 1.0
        if len(flat) < 2 or len(self.flat) < 2:
            return 0.0
        return 2.0 * self._common(flat) / (len(flat) + len(self.flat) - 2)

    def _common(self, flat: str) -> int:
        """The size of the intersection of the two multisets of pairs."""
        wide = _needs_32_bits(flat) or _needs_32_bits(self.flat)
        found = Counter(_pairs(flat, 4 if wide else 2))
        wanted = self.wide_pairs if wide else self.pairs
        shared = found.keys() & wanted.keys()
        return sum(map(min, map(found.__getitem__, shared), map(wanted.__getitem__, shared)))

    def __call__(self, run: Run) -> object:
        if run.gaps and (unrecorded := _unrecorded(run)) is not None:
            return unrecorded
        value = self.value(self.compared(run))
        return value if self.threshold is None else value >= self.threshold

    def explain(self, run: Run, score: Score) -> Explanation:
        said = _said(run, self.where)
        evidence = said.places(run)
        limit = "" if self.threshold is None else f", {'at least' if score.passed else 'below'} {self.threshold:g}"
        if not said.raw.strip():
            return Explanation(f"likeness 0{limit}: the {_answer(self.where)} is {_emptiness(said)}", (), ("nothing said",))
        value, flat = 0.0, self.compared(run)
        if flat == self.flat:
            value, sums = 1.0, "equal but for white space" + (" and case" if self.ignore_case else "")
        elif len(flat) < 2 or len(self.flat) < 2:
            sums = "a text of one character has no pairs to compare"
        else:
            common, total = self._common(flat), len(flat) + len(self.flat) - 2
            value, sums = 2.0 * common / total, f"2 × {common} common pairs / {total} pairs in both"
        texts = f"the {_answer(self.where)} {_render.quoted(said.raw, 80)} and {_render.quoted(self.expected, 80)}"
        return Explanation(f"likeness {_rounded(value, self.threshold)}{limit}: {sums}; {texts}", evidence, ("below threshold",))


def _rounded(value: float, threshold: float | None) -> str:
    """The value with enough digits to see on which side of the threshold it lies."""
    for digits in (2, 4, 8, 17):
        text = f"{value:.{digits}f}"
        if threshold is None or (float(text) >= threshold) == (value >= threshold):
            return text
    return repr(value)


def _needs_32_bits(flat: str) -> bool:
    """Whether some character needs more than 16 bits, as most emoji do."""
    return not flat.isascii() and len(flat.encode("utf-16-le", "surrogatepass")) > 2 * len(flat)


def _pairs(flat: str, width: Literal[2, 4]) -> list[int]:
    """The pairs of adjacent characters, each as one integer, with so many bytes for a character.

    Two views of the encoded text, the second shifted by one character, give the pairs at even and at odd places
    without a step of Python per pair. Only pairs of the same width can be compared.
    """
    data = flat.encode("utf-16-le" if width == 2 else "utf-32-le", "surrogatepass")
    unit: Literal["I", "Q"] = "I" if width == 2 else "Q"
    even = memoryview(data[: len(data) // (2 * width) * 2 * width]).cast(unit)
    rest = data[width:]
    odd = memoryview(rest[: len(rest) // (2 * width) * 2 * width]).cast(unit)
    return [*even, *odd]


def _answer(where: Literal["all", "final"]) -> str:
    return "answer" if where == "all" else "final answer"


def _emptiness(said: OutputText) -> str:
    return "blank" if said.raw else "empty"


def _odd_characters(passage: str, expected: str) -> str:
    """Name invisible characters that stand in the nearest passage and not in the expectation."""
    odd = [c for c in dict.fromkeys(passage) if not c.isascii() and not c.isprintable() and c not in expected]
    return f"; it holds {', '.join(map(code_point, odd[:3]))}" if odd else ""
