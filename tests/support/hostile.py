"""Texts that try to drive what shows them. Each holds a marker, by which a test finds that it can still be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

__all__ = ("HOSTILE", "LONG", "Texts")

_MARKER = "{}"

#: Where the marker goes, `{}` stands. It stands near the beginning, because long texts are shortened.
HOSTILE: Mapping[str, str] = {
    "script": "<script>alert('{}')</script>",
    "script after the end of one": "</script>{}<script>alert(1)//",
    "end of a title and a style": "</style>{}</title><b>",
    "event handler": "<img alt={} src=x onerror=alert(1)>",
    "attribute that ends its own": '" onmouseover="{}" x="',
    "attribute in single quotes": "' onfocus='{}' autofocus x='",
    "svg": "<svg/onload={}>",
    "math and mutations": "<math><mi>{}<table><mglyph><style><img src=x onerror=alert(1)>",
    "frame": "<iframe id='{}' srcdoc='&lt;script&gt;alert(1)&lt;/script&gt;'>",
    "open comment": "<!-- {}",
    "base and refresh": "<base href=//{}.invalid/><meta http-equiv=refresh content='0;//x.invalid'>",
    "entity twice": "&amp;lt;{}&gt;&#60;i&#62;",
    "link of Markdown": "[{}](javascript:alert(1))",
    "image of Markdown": "![{}](https://x.invalid/p.png)",
    "bare link": "www.{}.invalid https://x.invalid a@x.invalid",
    "autolink": "<https://{}.invalid>",
    "mention and issue": "@everyone {} #1 GH-2 org/repo@abcdef0",
    "reference": "[{}]: https://x.invalid 'title'",
    "end of a span of code": "`` ` {} ``` <b>now</b> `",
    "fence and heading": "```\n# {}\n---\n> quoted\n| a | b |\n|---|---|",
    "cells of a table": "| {} || <b>x</b> \\| y \\\\| z |",
    "backslash at the end": "{} \\",
    "colours and cursor": "\x1b[31m{}\x1b[2J\x1b[1;1H\x1b[0m",
    "title and link of a terminal": "\x1b]0;{}\x07\x1b]8;;https://x.invalid\x1b\\link\x1b]8;;\x1b\\",
    "controls of eight bits": "\x9b31m{}\x9d0;title\x9c\x85next",
    "carriage return over the line": "ok {}\rfailed\b\b\b\x7f\x0c\x0b",
    "bidi override": "\u202e{}\u202c gnp.exe \u2066x\u2069 \u200f\u061c",
    "nothing to be seen": "\u200b\u2060{}\ufeff\u00ad\u180e\U000e0041\u3164",
    "line and paragraph separators": "\u2028{}\u2029\x1c\x1d\x1e",
    "NUL": "\x00{}\x00",
    "half a character": "ok \ud83d {} \udc00 end",
    "no characters of XML": "\ufffe{}\uffff\x01\x08 ]]> <![CDATA[ x ]]> <?x?> &nope;",
    "piled up marks": "{}" + "o\u0336\u0301\u0301\u0301" * 50,
    "formula": '=HYPERLINK("{}","http://x.invalid")',
    "formula after a space": " \t+{}|' /C x'!A0",
    "formula in wide letters": "＝1+1 {}",
    "cells and rows": '@SUM(A1) {}",=1+1\r\n=2+2;"',
    "template": "${{{{ {} }}}} {{{{7*7}}}} <%= 1 %> #{{x}} {{% x %}}",
    "workflow command": "::debug::{}\n::set-output name=x::1\n::error file=a.py,line=1::fake\n##[add-mask]x\n::stop-commands::t",
    "markup of rich": "[red]{}[/red] [link=https://x.invalid]x[/link] :boom: [/]",
    "a line that never ends": "{} " + "lorem<>&\"'|`" * 10_000,
}

LONG = "a line that never ends"


class Texts:
    """Makes a text for each field, and remembers which fields there are.

    Args:
        template: The text, with `{}` where the marker goes.
    """

    def __init__(self, template: str) -> None:
        self._template = template
        self.markers: dict[str, str] = {}

    def __getitem__(self, field: str) -> str:
        marker = self.markers.setdefault(field, f"Zq{len(self.markers):02}Z")
        return self._template.format(marker)

    def found_in(self, text: str) -> set[str]:
        """The fields whose text can be read in a report."""
        return {field for field, marker in self.markers.items() if marker in text}


Fill = Callable[[Texts], object]
