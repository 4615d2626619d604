"""The grammar of expressions: from text to a tree, and what is said where the text does not follow it.

    either  = both ("|" both)*
    both    = unary ("&" unary)*
    unary   = "~" unary | "-" number | primary
    primary = name | name "(" [argument ("," argument)* [","]] ")" | "(" either ")"
            | text+ | number | True | False | None | list | tuple | dict
    argument = [name "="] either

Every expression is Python, so that `repr(check)` can be pasted into either; most of Python is no expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from quickchecks import _render
from quickchecks._scorer.tokens import BadToken, Token, tokens
from quickchecks._scorer.tree import Call, Dict, Joined, List, Literal, Misread, Negated, Node, Word

__all__ = ("MAX_DEPTH", "quoted_call", "read")

#: Brackets, calls and `~` may be nested this deeply.
MAX_DEPTH = 50


_CONSTANTS: Mapping[str, bool | None] = {"True": True, "False": False, "None": None}

#: Other languages' signs: what to write here.
_INSTEAD = {
    "and": "write & instead",
    "or": "write | instead",
    "not": "write ~ before the check instead",
    "&&": "write & instead",
    "||": "write | instead",
    "!": "write ~ before the check instead",
    "*": "write the values one by one",
    "**": "write the options one by one, by name",
}

#: What evaluates something: what it is called, and what to write instead.
_NEVER_EVALUATED: Mapping[str, tuple[str, str]] = {
    "lambda": ("a lambda", ""),
    "if": ("a condition", "write when(condition, check)"),
    "else": ("a condition", "write when(condition, check)"),
    "for": ("a comprehension", "write the checks or values one by one"),
    "in": ("a comparison", ""),
    "is": ("a comparison", ""),
    "await": ("await", ""),
    "yield": ("yield", ""),
    "async": ("async", ""),
    ":=": ("an assignment", ""),
    "=": ("an assignment", "options stand inside the parentheses, as in called_tool('search', times=2)"),
    ".": ("attribute access", ""),
    "[": ("a subscript", ""),
    "(": ("a call of a value", ""),
    **dict.fromkeys(("==", "!=", "<", ">", "<=", ">="), ("a comparison", "")),
    **dict.fromkeys(("+", "-", "/", "//", "%", "@", "<<", ">>", "^"), ("arithmetic", "")),
}


def read(text: str) -> Node:
    """Read an expression.

    Args:
        text: The expression.

    Returns:
        The tree.

    Raises:
        Misread: The text does not follow the grammar.
    """
    return _Reader(text).whole()


def quoted_call(text: str, call_start: int, start: int) -> str:
    """Show a call up to an argument, with quotes around the argument: what the user meant by `includes(sunny weather)`.

    Args:
        text: The expression.
        call_start: Where the call begins.
        start: Where the argument begins.

    Returns:
        A hint, or nothing where quotes are no help.
    """
    end = min((place for place in (text.find(sign, start) for sign in ",)]\n") if place >= 0), default=len(text))
    meant = text[start:end].strip()
    if not meant or "'" in meant or '"' in meant:
        return ""
    before = text[call_start:start]
    inside_list = before.count("[") > before.count("]")
    shown = repr(meant) if inside_list or len(before) + len(meant) > 90 else f"{before}{meant!r})"
    return f"put quotes around the text: {shown}"


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.opened: list[Token] = []  # the brackets and `~` that are open, the innermost last
        self.calls: list[int] = []  # where the calls begin that are open, the innermost last
        self.starts: list[int] = []  # where the values begin that are open
        self.index = 0
        self.tokens: list[Token] = []
        self.bad: BadToken | None = None
        try:
            self.tokens.extend(tokens(text))
        except BadToken as bad:
            self.bad = bad

    @property
    def now(self) -> Token:
        """The next token; one that can stand nowhere is refused only when the reader comes to it."""
        if self.index < len(self.tokens):
            return self.tokens[self.index]
        assert self.bad is not None
        problem = "the text before this has ended" if self.inner_quote() else self.bad.problem
        raise Misread(self.bad.start, problem, self.quotes_hint() if self.inner_quote() else self.bad.hint or self.quotes_hint())

    @property
    def next_start(self) -> int:
        """Where the next token begins, even if it can stand nowhere."""
        if self.index < len(self.tokens):
            return self.tokens[self.index].start
        return self.bad.start if self.bad is not None else len(self.text)

    def take(self) -> Token:
        token = self.now
        self.index += 1
        return token

    def at(self, *signs: str) -> bool:
        return self.now.kind == "sign" and self.now.source in signs

    def open(self) -> Token:
        """Take what opens something nested."""
        if len(self.opened) >= MAX_DEPTH:
            raise Misread(self.now.start, f"an expression may be nested {MAX_DEPTH} deep, this one is nested more deeply")
        self.opened.append(self.now)
        return self.take()

    def close(self, closing: str, opened: Token) -> int:
        """Take what closes it, and say where that ends."""
        if self.now.kind == "end":
            raise Misread(opened.start, f"this {opened.source} is never closed", self.quotes_hint())
        if not self.at(closing):
            self.refuse(f", or {closing} was expected" if self.starts else f"{closing} was expected", self.quotes_hint())
        self.opened.pop()
        return self.take().end

    def whole(self) -> Node:
        if self.now.kind == "end":
            raise Misread(0, "a check was expected, such as includes('sunny'), but there is none")
        node = self.either()
        after = self.now
        if after.kind == "end":
            return node
        if after.source == ")":
            raise Misread(after.start, "this ) closes nothing")
        if after.source in (",", ";"):
            raise Misread(after.start, "one check was expected, but another one follows", "join them with & or |")
        if after.source == ":":
            example = "in an expression write includes('sunny')"
            raise Misread(after.start, "`includes: sunny` is the form of a checks file", example)
        if isinstance(node, Word) and after.kind in ("text", "number"):
            call = _render.capped(f"{node.name}({after.source})", 80)
            raise Misread(after.start, "the arguments of a check stand in parentheses", f"write {call}")
        self.refuse("& or | or the end was expected")

    def either(self) -> Node:
        return self.joined("|", self.both)

    def both(self) -> Node:
        return self.joined("&", self.unary)

    def joined(self, sign: str, operand: Callable[[], Node]) -> Node:
        operands = [operand()]
        while self.at(sign):
            self.take()
            operands.append(operand())
        first = operands[0]
        return first if len(operands) == 1 else Joined(first.start, operands[-1].end, sign, tuple(operands))

    def unary(self) -> Node:
        if self.at("~"):
            sign = self.open()
            operand = self.unary()
            self.opened.pop()
            return Negated(sign.start, operand.end, operand)
        if self.at("-", "+"):
            sign = self.take()
            if self.now.kind != "number":
                raise Misread(sign.start, f"a number was expected after {sign.source}, {_came(self.now)}")
            number = self.take()
            value = self.value_of(number)
            assert not isinstance(value, str)
            return Literal(sign.start, number.end, -value if sign.source == "-" else value)
        return self.primary()

    def primary(self) -> Node:
        token = self.now
        node: Node
        if token.kind == "text":
            node = self.texts()
        elif token.kind == "number":
            node = Literal(token.start, token.end, self.value_of(self.take()))
        elif token.source in _CONSTANTS:
            node = Literal(token.start, self.take().end, _CONSTANTS[token.source])
        elif token.kind == "name" and token.source not in _INSTEAD and token.source not in _NEVER_EVALUATED:
            self.take()
            node = self.call(token) if self.at("(") else Word(token.start, token.end, token.source)
        elif self.at("(", "["):
            node = self.sequence()
        elif self.at("{"):
            node = self.dict()
        else:
            self.refuse(f"a {'value' if self.calls else 'check'} was expected")
        if self.at(".", "[", "("):
            self.refuse_trailer(node)
        return node

    def texts(self) -> Literal:
        """Texts that stand side by side are one, as in Python; but in a list that is a comma forgotten."""
        start = self.now.start
        parts: list[str] = []
        while self.now.kind == "text":
            if parts and self.opened and self.opened[-1].source == "[":
                raise Misread(self.now.start, ", or ] was expected, got another text")
            parts.append(str(self.value_of(self.take())))
        return Literal(start, self.tokens[self.index - 1].end, "".join(parts))

    def call(self, name: Token) -> Call:
        opened = self.open()
        self.calls.append(name.start)
        positional: list[Node] = []
        named: dict[str, Node] = {}
        while not self.closes(")"):
            option = self.option()
            value = self.value()
            if option is None and named:
                raise Misread(value.start, "a value without a name stands after an option with one", "write it first")
            if option is None:
                positional.append(value)
            elif option.source in named:
                raise Misread(option.start, f"{name.source}() got {option.source} twice")
            else:
                named[option.source] = value
            if not self.comma(")", opened, value.start):
                break
        end = self.close(")", opened)
        self.calls.pop()
        return Call(name.start, end, name.source, tuple(positional), named)

    def option(self) -> Token | None:
        """The name of an option with its `=`."""
        following = self.tokens[self.index + 1] if self.index + 1 < len(self.tokens) else None
        if self.now.kind != "name" or following is None or following.kind != "sign" or following.source != "=":
            return None
        self.index += 2
        return self.tokens[self.index - 2]

    def value(self) -> Node:
        self.starts.append(self.next_start)
        node = self.either()
        self.starts.pop()
        return node

    def closes(self, closing: str) -> bool:
        """Whether the bracket closes here; what stands here instead begins a value."""
        self.starts.append(self.next_start)
        found = self.at(closing)
        self.starts.pop()
        return found

    def comma(self, closing: str, opened: Token, start: int) -> bool:
        """Take a comma; False when there is none because the bracket closes."""
        self.starts.append(start)  # what stands here instead may belong to a text without quotes
        found = self.at(",")
        if found:
            self.take()
        elif not self.at(closing):
            self.close(closing, opened)
        self.starts.pop()
        return found

    def sequence(self) -> Node:
        """A list, a tuple, or an expression in parentheses."""
        opened = self.open()
        closing = "]" if opened.source == "[" else ")"
        items: list[Node] = []
        comma = False
        while not self.closes(closing):
            items.append(self.value())
            comma = self.comma(closing, opened, items[-1].start)
            if not comma:
                break
        end = self.close(closing, opened)
        if closing == ")" and len(items) == 1 and not comma:
            return items[0]
        return List(opened.start, end, tuple(items), closing == ")")

    def dict(self) -> Dict:
        opened = self.open()
        items: dict[str | int | float | None, Node] = {}
        while not self.closes("}"):
            key = self.value()
            if not isinstance(key, Literal):
                raise Misread(key.start, "a text or a number was expected as a key")
            if not self.at(":"):
                self.refuse(": was expected after the key", "a set cannot stand here; write a list")
            if key.value in items:
                raise Misread(key.start, f"the key {_render.value(key.value)} stands here twice")
            self.take()
            items[key.value] = self.value()
            if not self.comma("}", opened, items[key.value].start):
                break
        return Dict(opened.start, self.close("}", opened), tuple(items.items()))

    def value_of(self, token: Token) -> str | int | float:
        try:
            return token.value()
        except BadToken as bad:
            raise Misread(bad.start, bad.problem, bad.hint) from None

    def inner_quote(self) -> bool:
        """Whether a word stands right behind a text, as in `'don't'`."""
        before = self.tokens[self.index - 1] if self.index else None
        is_sign = self.index < len(self.tokens) and self.now.kind in ("sign", "end")
        return before is not None and before.kind == "text" and before.end == self.next_start and not is_sign

    def quotes_hint(self) -> str:
        if self.inner_quote():
            return "a quote inside a text needs the other kind of quotes around the text, or a backslash before it"
        return quoted_call(self.text, self.calls[-1], self.starts[-1]) if self.calls and self.starts else ""

    def refuse(self, expected: str, hint: str = "") -> NoReturn:
        token = self.now
        if token.kind in ("name", "sign") and token.source in _INSTEAD:
            raise Misread(token.start, f"{expected}, got `{token.source}`", _INSTEAD[token.source])
        if token.kind in ("name", "sign") and token.source in _NEVER_EVALUATED and token.source not in "[(":
            what, instead = _NEVER_EVALUATED[token.source]
            raise Misread(token.start, _never_evaluated(what), instead or hint)
        raise Misread(token.start, f"{expected}, {_came(token)}", hint)

    def refuse_trailer(self, node: Node) -> NoReturn:
        token = self.now
        problem = _never_evaluated(_NEVER_EVALUATED[token.source][0])
        if isinstance(node, Word) and token.source == "." and node.name in ("checks", "quickchecks"):
            raise Misread(node.start, problem, f"leave out `{node.name}.`")
        raise Misread(token.start, problem, self.quotes_hint())


def _never_evaluated(what: str) -> str:
    return f"{what} cannot stand in an expression, which is read and never evaluated"


def _came(token: Token) -> str:
    return "but the text ends here" if token.kind == "end" else f"got {_render.capped(token.source, 40)}"
