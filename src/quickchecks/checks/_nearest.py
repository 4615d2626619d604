"""The passage of a text that comes nearest to what was wanted, and why an exact comparison missed it."""

from __future__ import annotations

from collections import Counter

from quickchecks._text import code_point, folded, plain

__all__ = ("lookalikes", "nearest_passage", "same_digits")

#: How much of a text is searched for the nearest passage. Reasons must stay quick on texts of any length.
SEARCHED = 50_000
#: Longer expectations are looked for by their beginning.
WANTED = 300
#: Below this likeness two passages have nothing to do with each other.
LEAST_LIKENESS = 0.5


def nearest_passage(text: str, wanted: str) -> tuple[int, int, float] | None:
    """Find the passage of a text that is most like another text.

    A window of the length of `wanted` slides over the text and counts the pairs of adjacent characters that both
    have; the best place is widened or narrowed to whole words and measured with difflib's ratio.

    Args:
        text: Where to look; only its first 50,000 characters are searched.
        wanted: What to look for.

    Returns:
        Start, end and likeness (0..1), or None when nothing is alike.

    Example:
        >>> nearest_passage("It is sunny in Brookline today.", "Brooklyn")[:2]
        (15, 24)
    """
    from difflib import SequenceMatcher

    text, wanted = text[:SEARCHED], wanted[:WANTED]
    best = _best_window(folded(text) if len(folded(text)) == len(text) else text, folded(wanted))
    if best is None:
        return None
    best_span: tuple[int, int] | None = None
    likeness = LEAST_LIKENESS
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(folded(wanted))
    for start, end in _whole_words(text, best, len(wanted)):
        matcher.set_seq1(folded(text[start:end]))
        ratio = matcher.ratio()
        if ratio > likeness:
            best_span, likeness = (start, end), ratio
    return None if best_span is None else (*best_span, likeness)


def _best_window(text: str, wanted: str) -> int | None:
    width = max(len(wanted) - 1, 1)
    wanted_pairs = Counter(wanted[i : i + 2] for i in range(width))
    pairs = [text[i : i + 2] for i in range(max(len(text) - 1, 1))]
    inside: Counter[str] = Counter()
    common = best = 0
    best_at: int | None = None
    for at, pair in enumerate(pairs):
        limit = wanted_pairs.get(pair, 0)
        if limit:
            inside[pair] += 1
            common += inside[pair] <= limit
        left = at - width
        if left >= 0 and (limit := wanted_pairs.get(pairs[left], 0)):
            common -= inside[pairs[left]] <= limit
            inside[pairs[left]] -= 1
        if common > best:
            best, best_at = common, max(left + 1, 0)
    return best_at


def _whole_words(text: str, start: int, length: int) -> list[tuple[int, int]]:
    """Spans of whole words around a window, from narrow to wide."""
    end = min(start + length + 1, len(text))
    outer_start, outer_end = start, end
    while outer_start > 0 and start - outer_start < 40 and not text[outer_start - 1].isspace():
        outer_start -= 1
    while outer_end < len(text) and outer_end - end < 40 and not text[outer_end].isspace():
        outer_end += 1
    starts = {outer_start, start, *(i + 1 for i in range(outer_start, end) if text[i].isspace())}
    ends = {outer_end, end, *(i for i in range(start + 1, outer_end) if text[i].isspace() or not text[i].isalnum())}
    spans = [(a, b) for a in starts for b in ends if a < b and abs(b - a - length) <= max(length // 2, 3)]
    return sorted(spans, key=lambda span: (abs(span[1] - span[0] - length), span))[:60]


def lookalikes(text: str, wanted: str) -> tuple[int, int, str] | None:
    """Find `wanted` in a text when only quotes, dashes or spaces of another kind differ.

    Args:
        text: Where to look, in the form in which it is compared.
        wanted: What to look for, in the same form.

    Returns:
        Start and end in the text, and the sentence that names the code points; None when that is not the case.

    Example:
        >>> lookalikes("I won\\u2019t", "won't")[2]
        'the answer has U+2019 RIGHT SINGLE QUOTATION MARK where U+0027 APOSTROPHE is wanted'
    """
    flat, flat_wanted = plain(text), plain(wanted)
    start = flat.find(flat_wanted)
    if start < 0:
        return None
    end = start + len(flat_wanted)
    pairs = [(a, b) for a, b in zip(text[start:end], wanted, strict=True) if a != b]
    if not pairs:
        return None
    named = dict.fromkeys(f"{code_point(a)} where {code_point(b)} is wanted" for a, b in pairs)
    return start, end, "the answer has " + ", ".join(list(named)[:3])


def same_digits(text: str, wanted: str) -> str:
    """The number in a text that has the digits wanted but separators between them; empty when there is none.

    Example:
        >>> same_digits("That makes 4,250 units.", "4250")
        '4,250'
    """
    import re

    if not wanted.isascii() or not wanted.isdigit() or len(wanted) < 4:
        return ""
    for found in re.finditer(r"\d{1,3}(?:[,.'\u2019\u00a0\u202f ]\d{3})+(?!\d)", text[:SEARCHED]):
        if "".join(c for c in found[0] if c.isdigit()) == wanted:
            return found[0]
    return ""
