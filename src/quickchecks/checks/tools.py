"""Checks of what the agent did.

**What a tool call is, for all of these checks.** Every call that the agent made counts, in the order made, whether it
succeeded, failed or never finished. Calls that the provider ran count. Calls of other agents that it started count,
in their place (`agent="root"` leaves them out, another name takes that agent's alone). A call that was only streamed in
part does not count, nor do the pseudo tools by which a framework returns its answer or hands over. Calls are never
merged because they look alike. A call told in prose is no call. When a call failed is said in one place:
`ToolCall.failure`.

**What the record cannot show.** A string has no calls to look at: that is `no_evidence`, not "no calls". The same holds
for a check that would pass because something is absent, where the absent thing could be in a part that is known to be
missing: calls of another agent that are not recorded, or a result whose call is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import ClassVar

from quickchecks import _render
from quickchecks._run import CallSite, Failure, Gap, GapKind, Run, ToolCall, ToolResult
from quickchecks._score import Abstention, CallRef, Explanation, Score, no_evidence, not_applicable
from quickchecks._scorer.from_item import FromItem, deferrable
from quickchecks._scorer.pipeline import Scorer
from quickchecks._text import composed
from quickchecks.checks import _arguments
from quickchecks.checks._build import Judgement, build
from quickchecks.checks._patterns import find, pattern_text
from quickchecks.errors import CheckArgumentError, CheckArgumentTypeError

__all__ = ("called_tool", "did_not_call", "max_tool_calls", "no_tool_errors", "tool_order", "used_no_tools")

#: How many calls a reason points at.
_MOST_PLACES = 20
#: How many names, and how long ones, are compared to find the near ones.
_MOST_NAMES = 1000
_LONGEST_NAME = 100


@deferrable
def called_tool(
    tool: str | FromItem, *, times: int | FromItem = 1, agent: str | None = None, name: str | None = None, why: str | None = None
) -> Scorer:
    """Passes when the agent called a tool, at least a number of times.

    Args:
        tool: The name of the tool.
        times: How many calls there must be at least.
        agent: Count only the calls of this agent; "root" is the agent itself without those it started.
        name: An identity of its own.
        why: Why you have this check, as one plain sentence; shown beside every failure.

    Returns:
        The check.

    Raises:
        CheckArgumentError: The name is empty or no text, or times is below 1.

    Example:
        >>> from quickchecks import checks, testing
        >>> run = testing.run(testing.call("get_weather", city="Oslo"), "It is cold.")
        >>> print(checks.called_tool("get_weather").score(run).reason)
        get_weather was called once, as call 1 of 1
    """
    judgement = _CalledTool(
        _arguments.agent("called_tool", agent),
        _arguments.tool_name("called_tool", tool),
        _arguments.natural("called_tool", "times", times, 1),
    )
    name, why = _arguments.check_name("called_tool", name, why)
    return build(called_tool, judgement, (tool,), name=name, why=why, times=times, agent=agent)


@deferrable
def did_not_call(tool: str | FromItem, *, agent: str | None = None, name: str | None = None, why: str | None = None) -> Scorer:
    """Passes when the agent never called a tool.

    Args:
        tool: The name of the tool.
        agent: Look only at the calls of this agent; "root" is the agent itself without those it started.
        name: An identity of its own.
        why: Why you have this check, as one plain sentence; shown beside every failure.

    Returns:
        The check.

    Raises:
        CheckArgumentError: The name is empty or no text.

    Example:
        >>> from quickchecks import checks, testing
        >>> run = testing.run(testing.call("refund", order="A-10"), "Done.")
        >>> print(checks.did_not_call("refund").score(run).reason)
        refund was called once, as call 1 of 1: refund(order="A-10")
    """
    judgement = _DidNotCall(_arguments.agent("did_not_call", agent), _arguments.tool_name("did_not_call", tool))
    name, why = _arguments.check_name("did_not_call", name, why)
    return build(did_not_call, judgement, (tool,), name=name, why=why, agent=agent)


@deferrable
def tool_order(
    names: Sequence[str] | FromItem, *, agent: str | None = None, name: str | None = None, why: str | None = None
) -> Scorer:
    """Passes when tools were called in this order; other calls may lie between.

    Args:
        names: The names of the tools; a name that stands twice must have been called twice.
        agent: Look only at the calls of this agent; "root" is the agent itself without those it started.
        name: An identity of its own.
        why: Why you have this check, as one plain sentence; shown beside every failure.

    Returns:
        The check.

    Raises:
        CheckArgumentError: The list is empty, or holds something that is no name.

    Example:
        >>> from quickchecks import checks, testing
        >>> run = testing.run(testing.call("search"), testing.call("answer"), "Done.")
        >>> print(checks.tool_order(["search", "answer"]).score(run).reason)
        called in this order: search (call 1) → answer (call 2)
    """
    tools = _arguments.tool_names("tool_order", names)
    judgement = _ToolOrder(_arguments.agent("tool_order", agent), tools)
    name, why = _arguments.check_name("tool_order", name, why)
    return build(tool_order, judgement, (list(tools),), name=name, why=why, agent=agent)


@deferrable
def max_tool_calls(n: int | FromItem, *, agent: str | None = None, name: str | None = None, why: str | None = None) -> Scorer:
    """Passes when the agent made at most a number of tool calls.

    Args:
        n: The largest number of calls that passes.
        agent: Count only the calls of this agent; "root" is the agent itself without those it started.
        name: An identity of its own.
        why: Why you have this check, as one plain sentence; shown beside every failure.

    Returns:
        The check.

    Raises:
        CheckArgumentError: The number is negative, or no whole number.

    Example:
        >>> from quickchecks import checks, testing
        >>> run = testing.run(testing.call("search"), testing.call("search"), "Done.")
        >>> print(checks.max_tool_calls(1).score(run).reason)
        2 calls, at most 1 allowed; call 2 is search(); calls: search → search
    """
    judgement = _MaxToolCalls(_arguments.agent("max_tool_calls", agent), _arguments.natural("max_tool_calls", "n", n, 0))
    name, why = _arguments.check_name("max_tool_calls", name, why)
    return build(max_tool_calls, judgement, (n,), name=name, why=why, agent=agent)


@deferrable
def used_no_tools(*, agent: str | None = None, name: str | None = None, why: str | None = None) -> Scorer:
    """Passes when the agent called no tool at all.

    Args:
        agent: Look only at the calls of this agent; "root" is the agent itself without those it started.
        name: An identity of its own.
        why: Why you have this check, as one plain sentence; shown beside every failure.

    Returns:
        The check.

    Example:
        >>> from quickchecks import checks, testing
        >>> print(checks.used_no_tools().score(testing.run("Hello.")).reason)
        no tool was called
    """
    judgement = _MaxToolCalls(_arguments.agent("used_no_tools", agent), 0)
    name, why = _arguments.check_name("used_no_tools", name, why)
    return build(used_no_tools, judgement, name=name, why=why, agent=agent)


@deferrable
def no_tool_errors(
    *,
    text_errors: bool | str | re.Pattern[str] = True,
    agent: str | None = None,
    name: str | None = None,
    why: str | None = None,
) -> Scorer:
    """Passes when no tool call failed and none is unfinished.

    A run without tool calls passes, and the reason says so; add `called_tool` where a call is needed. A call that waits
    for a person's approval is no failure: the check is then not applicable.

    Args:
        text_errors: Whether a result that carries no error flag and begins as errors do ("ValueError: …") counts as
            failed; a regular expression instead says which texts do.
        agent: Look only at the calls of this agent; "root" is the agent itself without those it started.
        name: An identity of its own.
        why: Why you have this check, as one plain sentence; shown beside every failure.

    Returns:
        The check.

    Raises:
        CheckArgumentError: text_errors is no valid pattern, or the empty one.

    Example:
        >>> from quickchecks import checks, testing
        >>> run = testing.run(testing.call("lookup", order="A-10", error="order not found"), "Sorry.")
        >>> print(checks.no_tool_errors().score(run).reason)
        call 1 of 1, lookup(order="A-10"), failed: "order not found"
    """
    if not isinstance(text_errors, bool):
        if not isinstance(text_errors, (str, re.Pattern)):
            raise CheckArgumentTypeError(
                f"no_tool_errors() takes text_errors as True, False or a regular expression, not {_render.value(text_errors)}"
            )
        text_errors = pattern_text("no_tool_errors", text_errors)
        if not text_errors:
            raise CheckArgumentError("no_tool_errors(text_errors='') takes every text for an error and could never pass")
    judgement = _NoToolErrors(_arguments.agent("no_tool_errors", agent), text_errors)
    name, why = _arguments.check_name("no_tool_errors", name, why)
    return build(no_tool_errors, judgement, name=name, why=why, text_errors=text_errors, agent=agent)


#: How the full names of tools begin that a server offers (MCP): "mcp__server__tool", of which the call's name is the last part.
_SERVERS = "mcp__"


def _known_as(call: ToolCall, wanted: Sequence[str]) -> str:
    """The name of a call: the full one of a server's tool where that is asked for."""
    whole = (call.metadata or {}).get("qualified")
    return whole if isinstance(whole, str) and whole in wanted else call.name


class _CallJudgement(Judgement, frozen=True):
    """What the checks of tool calls have in common."""

    agent: str | None

    def names(self, run: Run, *wanted: str) -> tuple[str, ...]:
        """The names of the calls that this check looks at; those of tools of a server as they are asked for."""
        for tool in wanted:
            if tool.startswith(_SERVERS):
                return tuple([_known_as(site.call, wanted) for site in self.sites(run)])
        return run.tool_names if self.agent is None else tuple([site.call.name for site in self.sites(run)])

    def sites(self, run: Run) -> tuple[CallSite, ...]:
        """The calls that this check looks at, each with its number and place."""
        if self.agent is None:
            return run.call_sites
        if self.agent == "root":
            return tuple(site for site in run.call_sites if not site.run)
        return tuple(site for site in run.call_sites if site.agent == self.agent)

    def gaps(self, run: Run, *kinds: GapKind) -> Sequence[Gap]:
        """The gaps of these kinds that matter here: the calls of the root agent hide in no nested run."""
        if self.agent != "root":
            return run.gaps_of(*kinds)
        return [gap for gap in run.gaps if gap.kind in kinds and gap.kind not in ("nested", "nested_possible")]

    def orphans(self, run: Run) -> Sequence[ToolResult]:
        """The results whose call is not recorded."""
        return _orphans(run, nested=self.agent != "root")

    def unseen(self, run: Run) -> Abstention | None:
        """Why calls that nobody sees cannot be ruled out, when they cannot."""
        gaps = self.gaps(run, "calls") or self.gaps(run, "nested")
        return no_evidence(gaps[0].note) if gaps else None

    def unseen_call(self, run: Run, tools: Sequence[str]) -> Abstention | None:
        """Why a call of one of these tools, which is not recorded, cannot be ruled out, when it cannot."""
        orphans = [orphan for orphan in self.orphans(run) if orphan.name is None or orphan.name in tools]
        if orphans:
            return no_evidence(_orphan_reason(orphans, f"{_render.name(orphans[0].name or tools[0])} may have been called"))
        return self.unseen(run)

    def nobody(self, run: Run) -> Abstention | None:
        """That the agent whose calls are judged did not run, so that nothing can be said of it.

        A check that would pass because something is absent would pass on every misspelt name.
        """
        if self.agent in (None, "root") or self.sites(run) or self.agent in _agents(run):
            return None
        return not_applicable(self._no_such_agent(run))

    def _no_such_agent(self, run: Run) -> str:
        agents = sorted(_agents(run))
        here = f"; there {'is' if len(agents) == 1 else 'are'} {_render.listed(agents)}" if agents else ""
        return f"no agent here is called {self.agent!r}{here}"

    def gap_note(self, run: Run) -> str:
        """What a reason adds when inner calls might exist that the source would not show, or the agent is unknown."""
        notes = [gap.note for gap in self.gaps(run, "nested_possible")[:1]]
        if self.nobody(run) is not None:
            notes.append(self._no_such_agent(run))
        return f" ({'; '.join(notes)})" if notes else ""

    def whose(self) -> str:
        """The words that say whose calls were counted."""
        return "" if self.agent is None else f" by {'the root agent' if self.agent == 'root' else _render.name(self.agent)}"


class _CalledTool(_CallJudgement, frozen=True):
    tool: str
    times: int

    def __call__(self, run: Run) -> object:
        if self.names(run, self.tool).count(self.tool) >= self.times:
            return True
        return (self.unseen_call(run, (self.tool,)) or False) if run.gap_kinds else False

    def explain(self, run: Run, score: Score) -> Explanation:
        sites = self.sites(run)
        found = [site for site in sites if _known_as(site.call, (self.tool,)) == self.tool]
        if score.passed:
            return Explanation(f"{_counted(self.tool, found, run)}{self.whose()}", _refs(found))
        wanted = "" if self.times == 1 else f", at least {self.times} calls are wanted"
        happened = _counted(self.tool, found, run) if found else f"{_render.name(self.tool)} was not called"
        head = f"{happened}{self.whose()}{wanted}"
        near = _near(self.tool, [site.call.name for site in sites]) if not found else ""
        made = f"calls: {_chain(sites)}" if sites else "no tool was called"
        reason = f"{head}; {made}{near}{self.gap_note(run)}"
        return Explanation(reason, _refs(found), ("called too seldom" if found else "not called", _render.name(self.tool)))


class _DidNotCall(_CallJudgement, frozen=True):
    tool: str

    def __call__(self, run: Run) -> object:
        if self.tool in self.names(run, self.tool):
            return False
        unseen = self.unseen_call(run, (self.tool,)) if run.gap_kinds else None
        return unseen or (self.nobody(run) if self.agent else None) or True

    def explain(self, run: Run, score: Score) -> Explanation:
        sites = self.sites(run)
        found = [site for site in sites if _known_as(site.call, (self.tool,)) == self.tool]
        if score.failed:
            first = found[0]
            after = _after_words(run, first)
            reason = f"{_counted(self.tool, found, run)}{self.whose()}: {_render.call(first.call)}{after}"
            return Explanation(reason, _refs(found), ("called", _render.name(self.tool)))
        made = f"calls: {_chain(sites)}" if sites else "no tool was called"
        return Explanation(f"{_render.name(self.tool)} was not called{self.whose()}; {made}{self.gap_note(run)}")


class _ToolOrder(_CallJudgement, frozen=True):
    tools: tuple[str, ...]

    def __call__(self, run: Run) -> object:
        names = iter(self.names(run, *self.tools))
        for tool in self.tools:
            if tool not in names:  # takes the calls up to the first of that name
                return (self.unseen_call(run, self.tools) or False) if run.gap_kinds else False
        return True

    def explain(self, run: Run, score: Score) -> Explanation:
        sites = self.sites(run)
        met: list[CallSite] = []
        for site in sites:
            if len(met) < len(self.tools) and _known_as(site.call, self.tools) == self.tools[len(met)]:
                met.append(site)
        if score.passed:
            steps = [f"{_render.name(site.call.name, 40)} (call {site.number})" for site in met]
            return Explanation(f"called in this order: {_render.listed(steps, joint=' → ')}", _refs(met))
        wanted = self.tools[len(met)]
        calls = f"calls: {_chain(sites)}" if sites else "no tool was called"
        if not met:
            others = [site for site in sites if _known_as(site.call, self.tools) in self.tools]
            seen = f" (of the others, {_render.name(others[0].call.name)} was, as call {others[0].number})" if others else ""
            first = f", the first of {len(self.tools)}," if len(self.tools) > 1 else ""
            reason = f"{wanted!r}{first} was never called{seen}"
        else:
            last = met[-1]
            used = {site.number for site in met}
            unused = [site for site in sites if site.number < last.number and site.number not in used]
            before = [site for site in unused if _known_as(site.call, (wanted,)) == wanted]
            earlier = f"; it was called before that, as call {before[-1].number}" if before else ""
            reason = (
                f"got as far as {last.call.name!r} (call {last.number}), {len(met)} of {len(self.tools)}; "
                f"{wanted!r} never came after it{earlier}"
            )
        came = [_known_as(site.call, (wanted,)) for site in sites]
        near = "" if wanted in came else _near(wanted, came)
        return Explanation(f"{reason}; {calls}{near}{self.gap_note(run)}", _refs(met), ("order broken", _render.name(wanted)))


class _MaxToolCalls(_CallJudgement, frozen=True):
    n: int

    def __call__(self, run: Run) -> object:
        count = len(self.names(run))
        if count > self.n:
            return False
        unseen = None
        if run.gap_kinds:
            orphans = self.orphans(run)
            if orphans and count + len(orphans) > self.n:
                return no_evidence(_orphan_reason(orphans, f"there may be more than {_render.many(count, 'call')}"))
            unseen = self.unseen(run)
        return unseen or (self.nobody(run) if self.agent else None) or True

    def explain(self, run: Run, score: Score) -> Explanation:
        sites = self.sites(run)
        count = _render.many(len(sites), "call")
        calls = f"; calls: {_chain(sites)}" if sites else ""
        if score.passed and not sites:
            return Explanation(f"no tool was called{self.whose()}{self.gap_note(run)}")
        if score.passed:
            return Explanation(f"{count}{self.whose()}, at most {self.n} allowed{calls}{self.gap_note(run)}", _refs(sites))
        extra = sites[self.n :]
        allowed = f"at most {self.n} allowed" if self.n else "none allowed"
        first = f"call {extra[0].number} is {_render.call(extra[0].call)}"
        return Explanation(f"{count}{self.whose()}, {allowed}; {first}{calls}", _refs(extra), ("too many calls",))


class _NoToolErrors(_CallJudgement, frozen=True):
    text_errors: bool | str
    revision: ClassVar[int] = 1

    def failures(self, run: Run) -> list[tuple[CallSite, Failure]]:
        """The calls that failed, as far as the source shows it."""
        rule = self.rule
        blind = bool(self.gaps(run, "results"))
        failed = ((site, site.call.failure(rule)) for site in self.sites(run))
        return [(site, f) for site, f in failed if f is not None and not (blind and f.source == "unanswered")]

    @property
    def rule(self) -> bool | Callable[[str], bool]:
        """How a text without a flag is judged."""
        return self.text_errors if isinstance(self.text_errors, bool) else self._reads_like_an_error

    def _reads_like_an_error(self, text: str) -> bool:
        assert isinstance(self.text_errors, str)
        return find(self.text_errors, composed(text), exact=False) is not None

    def __call__(self, run: Run) -> object:
        calls = run.tool_calls if self.agent is None else [site.call for site in self.sites(run)]
        if not run.gap_kinds:
            rule = self.rule
            for call in calls:
                if call.failure(rule) is not None:
                    return False
        elif self.failures(run):
            return False
        waiting = [call for call in calls if call.state == "awaiting"]
        if waiting:
            return not_applicable(f"{_render.name(waiting[0].name)} waits for a person's approval")
        unseen = self._unseen_failure(run, calls) if run.gap_kinds else None
        return unseen or (self.nobody(run) if self.agent else None) or True

    def _unseen_failure(self, run: Run, calls: Sequence[ToolCall]) -> Abstention | None:
        """Why a failure that nobody sees cannot be ruled out, when it cannot."""
        results = self.gaps(run, "results")
        if results and any(call.state == "requested" for call in calls):
            return no_evidence(results[0].note)
        failed = [orphan for orphan in self.orphans(run) if orphan.as_call().failure(self.rule) is not None]
        if failed:
            return no_evidence(_orphan_reason(failed, "a call that is not recorded failed"))
        return self.unseen(run)

    def explain(self, run: Run, score: Score) -> Explanation:
        sites = self.sites(run)
        if score.passed:
            if not sites:
                return Explanation(f"no tool was called{self.whose()}, so none failed{self.gap_note(run)}")
            return Explanation(
                f"none of {_render.many(len(sites), 'call')} failed: {_chain(sites)}{self.gap_note(run)}", _refs(sites)
            )
        failures = self.failures(run)
        share = max(80, 420 // max(len(failures), 1))
        told = [_render.capped(_failed(site, failure, len(run.call_sites)), share) for site, failure in failures[:6]]
        more = f"; and {len(failures) - 6} more" if len(failures) > 6 else ""
        head = f"{len(failures)} calls failed: " if len(failures) > 1 else ""
        site, failure = failures[0]
        kind = "no result" if failure.source == "unanswered" else "failed"
        return Explanation(
            head + "; ".join(told) + more,
            _refs([site for site, _ in failures]),
            (kind, _render.name(site.call.name), *([failure.type] if failure.type else [])),
        )


def _failed(site: CallSite, failure: Failure, count: int) -> str:
    who = f"call {site.number} of {count}, {_render.call(site.call)}"
    whose = f" by {_render.name(site.agent)}" if site.run and site.agent else ""
    if failure.source == "unanswered":
        return f"{who}{whose}, has no result"
    note = " (judged by its text)" if failure.source == "text" else ""
    said = f": {_render.quoted(failure.message, 160)}" if failure.message.strip() else " without a message"
    return f"{who}{whose}, failed{said}{note}"


def _counted(tool: str, found: Sequence[CallSite], run: Run) -> str:
    times = {1: "once", 2: "twice"}.get(len(found), f"{len(found)} times")
    numbers = _render.listed([str(site.number) for site in found])
    calls = "call" if len(found) == 1 else "calls"
    return f"{_render.name(tool)} was called {times}, as {calls} {numbers} of {len(run.call_sites)}"


def _chain(sites: Sequence[CallSite]) -> str:
    return _render.listed([site.call.name for site in sites], limit=12, joint=" → ")


def _refs(sites: Sequence[CallSite]) -> tuple[CallRef, ...]:
    return tuple(CallRef.to(site) for site in sites[:_MOST_PLACES])


def _near(tool: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    # Made in a hurry for whoever reads it: a run of a thousand tools, or names of a page each, are not looked through.
    called = [name for name in dict.fromkeys(names) if len(name) <= _LONGEST_NAME][:_MOST_NAMES]
    near = get_close_matches(tool, called, n=2, cutoff=0.6) if len(tool) <= _LONGEST_NAME else []
    return f"; near: {' and '.join(map(repr, near))}" if near else ""


def _after_words(run: Run, site: CallSite) -> str:
    """What the user had said last when a call was made."""
    if site.run:
        return ""
    for message in reversed(run.messages[: site.message]):
        if message.role == "user" and message.text.strip():
            return f", after the user wrote {_render.quoted(message.text, 60)}"
    return ""


def _orphans(run: Run, *, nested: bool) -> Sequence[ToolResult]:
    """The results whose call is not recorded, of this run and, if asked, of those below it."""
    if "orphan_result" not in run.gap_kinds:
        return ()
    messages = run.messages[run.history_length :]
    own = [part for message in messages for part in message.parts if type(part) is ToolResult]
    inner = [orphan for below in run.nested_runs for orphan in _orphans(below, nested=True)] if nested else []
    return own + inner


def _orphan_reason(orphans: Sequence[ToolResult], what: str) -> str:
    first = orphans[0]
    of = f" of {_render.name(first.name)}" if first.name else ""
    return f"{what}: the record holds a result{of} {_render.value(first.result)} whose call is not recorded"


def _agents(run: Run) -> set[str]:
    """The agents that a run names."""
    named = {run.agent, *(message.agent for message in run.messages), *(site.agent for site in run.call_sites)}
    for below in run.nested_runs:
        named |= _agents(below)
    return {agent for agent in named if agent}
