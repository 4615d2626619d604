"""The style of the pages."""

from __future__ import annotations

__all__ = ("STYLE",)

#: Light and dark, wide and narrow, screen and paper. Nothing is loaded: the fonts are those that are there.
STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1d1c1a; --quiet: #5f5b55; --line: #dedad3; --soft: #f6f4f0;
  --red: #a3191b; --green: #1c6638; --amber: #7a4f00; --blue: #1d4f91;
  --mark: #ffe9a3; --mark-line: #9a6200; --mark-ink: #1d1c1a;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #161513; --ink: #e9e6e0; --quiet: #aaa59c; --line: #393630; --soft: #201e1b;
    --red: #ff9c93; --green: #8ed4a3; --amber: #e9c06a; --blue: #9cc3f7;
    --mark: #4d3c08; --mark-line: #e9c06a; --mark-ink: #fff4d0;
  }
}
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); font: 16px/1.55 var(--sans); -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 58rem; padding: 2.5rem 1.5rem 4rem; overflow-wrap: anywhere; }
h1, h2, h3, h4, p, ol, ul, dl, dd { margin: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -0.01em; font-weight: 650; }
h2 { font-size: 1.15rem; margin: 2.75rem 0 0.9rem; padding-bottom: 0.35rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.15rem; line-height: 1.35; }
h4 { font-size: 1rem; }
a { color: var(--blue); text-underline-offset: 0.15em; }
:focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; }
code, .words.value, .expression { font-family: var(--mono); font-size: 0.875em; }
.words { white-space: pre-wrap; }
.quiet, footer { color: var(--quiet); }
.name { color: var(--quiet); margin-bottom: 0.4rem; }
.lead { font-size: 1.1rem; margin-top: 0.6rem; }
.facts { color: var(--quiet); margin-top: 0.4rem; }
.failed, .scored, .broke, .error, .worse { color: var(--red); }
.passed, .mended, .better { color: var(--green); }
.undecided, .no_evidence { color: var(--amber); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.925rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 0.5rem 0.9rem 0.5rem 0; border-bottom: 1px solid var(--line); }
td { overflow-wrap: break-word; }
th { font-weight: 600; }
thead th { color: var(--quiet); font-weight: 500; font-size: 0.85rem; white-space: nowrap; }
tbody th { min-width: 11rem; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.wide { min-width: 14rem; }
td.must { min-width: 9rem; }
.said { white-space: nowrap; }
.failure { padding: 0 0 0.5rem 1.1rem; border-left: 3px solid var(--red); margin: 0 0 2.25rem; }
.failure.no_evidence { border-color: var(--amber); color: inherit; }
.failure.watched { border-color: var(--line); }
.failure .expression { color: var(--quiet); margin-top: 0.25rem; }
.failure .reason { margin-top: 0.6rem; }
.case { margin-top: 1.1rem; }
.before { margin-bottom: 1.25rem; }
.findings { margin-top: 0.6rem; }
.findings li { margin-top: 0.3rem; }
.change { margin-top: 0.4rem; }
.tag { font-size: 0.85rem; color: var(--quiet); font-weight: 400; }
dl.pairs { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.15rem 1rem; margin: 0.35rem 0 0.5rem; }
dl.pairs dt { color: var(--quiet); }
details { margin-top: 0.5rem; }
summary { cursor: pointer; color: var(--blue); width: fit-content; max-width: 100%; }
summary .words { display: inline; }
ul.plain, ol.plain { list-style: none; padding: 0; }
ul.ids { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.2rem 1.25rem; margin-top: 0.4rem; }
ul.notes { padding-left: 1.2rem; }
ol.run { list-style: none; padding: 0.2rem 1rem; margin: 0.5rem 0 0; background: var(--soft); border-radius: 6px; }
ol.run > li { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); gap: 0 1rem; padding: 0.6rem 0; }
ol.run > li + li { border-top: 1px solid var(--line); }
ol.run > li.wide { display: block; }
.who { color: var(--quiet); font-size: 0.85rem; padding-top: 0.1rem; }
.assistant > .who { color: var(--ink); font-weight: 600; }
.what > * + * { margin-top: 0.5rem; }
.call { border: 1px solid var(--line); border-radius: 5px; background: var(--paper); padding: 0.45rem 0.7rem; }
.call.marked { border-color: var(--mark-line); border-width: 2px; }
.call .outcome { display: flex; gap: 0 0.6rem; margin-top: 0.3rem; flex-wrap: wrap; align-items: baseline; }
.call .outcome > .words { min-width: 0; flex: 1 1 10rem; }
.call .label, .number-of { color: var(--quiet); font-size: 0.85rem; }
.call .label.error { color: var(--red); }
.arguments { margin-top: 0.3rem; }
.nested { margin-top: 0.5rem; padding-left: 0.8rem; border-left: 2px solid var(--line); }
.nested > ol.run { padding: 0; }
mark { background: var(--mark); color: var(--mark-ink); text-decoration: underline 2px var(--mark-line);
  text-underline-offset: 0.2em; padding: 0.05em 0.1em; border-radius: 2px; }
sup { font-size: 0.72em; line-height: 0; font-family: var(--sans); font-weight: 600; }
.left-out { color: var(--quiet); font-style: italic; font-family: var(--sans); font-size: 0.9rem; }
.ending { color: var(--quiet); font-size: 0.9rem; margin-top: 0.5rem; }
footer { margin-top: 3.5rem; padding-top: 0.8rem; border-top: 1px solid var(--line); font-size: 0.875rem; }
@media (max-width: 36rem) {
  body { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.55rem; }
  .failure { padding-left: 0.8rem; }
  thead { display: none; }
  table, tbody, tr, tbody th, td { display: block; }
  tbody tr { padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
  tbody th, td, td.wide, td.must { min-width: 0; border: 0; padding: 0.1rem 0; }
  td, td.number, td.wide, td.must { position: relative; padding-left: 8rem; text-align: left;
    white-space: normal; min-height: 1.6rem; }
  td::before { content: attr(data-column); position: absolute; left: 0; color: var(--quiet); font-size: 0.85rem; }
  td:empty { display: none; }
  ol.run { padding: 0.1rem 0.75rem; }
  ol.run > li { display: block; }
  .who { padding-bottom: 0.15rem; }
  dl.pairs { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dl.pairs dd { margin-bottom: 0.35rem; }
}
@media print {
  :root { --paper: #ffffff; --ink: #000000; --quiet: #444444; --line: #bbbbbb; --soft: #ffffff; --mark: #eeeeee;
    --mark-line: #000000; --mark-ink: #000000; --red: #8a0000; --green: #004d1f; --amber: #5c3b00; --blue: #000000; }
  html { font-size: 10.5pt; }
  body { max-width: none; padding: 0; }
  ol.run { border: 1px solid var(--line); }
  ol.run > li, .call, tr, h2, h3 { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
}
"""
