"""The pages in a browser: nothing runs or is loaded, nothing is wider than a small screen, light and dark can both be read.

Where there is no Chromium these tests skip, and in CI they fail: `apt-get install chromium` brings it, and the variable
`QUICKCHECKS_BROWSER` says where another one is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Literal

import pytest
from browser import Browser, browser, found_browser

from quickchecks import checks, compare_results, run_evals_sync
from quickchecks._results.tally import Tally, entry_of
from quickchecks.errors import RecordingError
from quickchecks.reports import as_html
from quickchecks.reports._html_shared import shared_run
from quickchecks.testing import call, reasoning, run, system, user

#: What would give itself away when it ran: it changes the title, or asks for something.
SENTINELS = (
    "<script>document.title='owned'</script>",
    "</title><script>document.title='owned'</script>",
    "</style><style>@import 'http://127.0.0.1:9/a.css'</style><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<img src=http://127.0.0.1:9/image>",
    "<svg onload=\"document.title='owned'\"><image href=http://127.0.0.1:9/svg>",
    "<iframe srcdoc=\"<script>parent.document.title='owned'</script>\"></iframe>",
    "<iframe src=\"javascript:parent.document.title='owned'\"></iframe>",
    "<object data=http://127.0.0.1:9/object></object><embed src=http://127.0.0.1:9/embed>",
    "<link rel=stylesheet href=http://127.0.0.1:9/b.css><link rel=prefetch href=http://127.0.0.1:9/c>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/refresh'>",
    "<details open ontoggle=\"document.title='owned'\"><summary>x</summary></details>",
    "<input autofocus onfocus=\"document.title='owned'\">",
    "<style>body{display:none}</style><p style='position:fixed;inset:0;background:url(http://127.0.0.1:9/d)'>",
    "<video><source onerror=\"document.title='owned'\" src=http://127.0.0.1:9/video></video>",
    "\" onmouseover=\"document.title='owned'\" autofocus onfocus=\"document.title='owned'\" x=\"",
    "<a href=\"javascript:document.title='owned'\">click</a> [x](javascript:document.title='owned')",
)  # fmt: skip
WIDE = "x" * 3_000
ALL = " ".join(SENTINELS)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser; without one a test skips, but never in CI."""
    command = found_browser()
    if command is None:
        missing = "there is no Chromium: apt-get install chromium, or name one in QUICKCHECKS_BROWSER"
        if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
            pytest.fail(missing)
        pytest.skip(missing)
    with browser(command) as opened:
        yield opened


def pages(text: str) -> dict[str, bytes]:
    """A page of each kind, with a text wherever one may stand."""
    told = run(
        system(text),
        user(text),
        reasoning(text),
        call(text, {text: text, "wide": WIDE}, result={text: [text, WIDE]}),
        call("again", run=run(call(text, error=text), text, agent=text)),
        f"{text} {WIDE}",
        agent=text,
    )
    gates = [
        checks.excludes("title", name=f"a {text}", why=f"why {text}"),
        checks.no_tool_errors(name=text),
        checks.includes(text),
    ]
    data = [{"id": f"1 {text} {WIDE}", "input": f"{text} {WIDE}", "expected": {text: text}}, {"id": f"2 {text}", "input": text}]

    def broken(asked: str) -> object:
        if asked == text:
            raise ValueError(text)
        return told

    failed = run_evals_sync(data, broken, gates=gates, name=text)
    fine = run_evals_sync(data, lambda asked: run("fine"), gates=gates, name=text)
    item = failed.items[0]
    assert item.run is not None
    entries = [entry_of(one.scorer) for one in failed.plan]
    stream, tally = BytesIO(), Tally(entries)
    report = as_html.start(stream, entries)
    for read, error in ((told, None), (None, RecordingError(text, file=text, hint=text))):
        scores = [] if read is None else [entry.scorer.score(read) for entry in entries]
        tally.add(read, scores, error)
        report.add(read, scores, error)
    report.finish(tally.result())
    return {
        "runs": stream.getvalue(),
        "evaluation": as_html.evaluation(failed),
        "comparison": as_html.comparison(compare_results(fine, failed)),
        "share": shared_run(item.run, item.scores, name=text, item=item.item, error=failed.items[1].error),
    }


@pytest.mark.parametrize("kind", ["runs", "evaluation", "comparison", "share"])
def test_nothing_runs_and_nothing_is_asked_for(chromium: Browser, kind: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(pages(ALL)[kind])
    chromium.look()
    chromium.open(file)
    chromium.click_all("details:not([open]) > summary")
    chromium.click_all("a, h4, code, mark")
    assert "owned" not in str(chromium.ask("document.title")).partition("<")[0]
    assert chromium.ask("document.title.startsWith('Failed') || document.title.startsWith('Regressed')") is True
    for selector in (
        "script",
        "img",
        "iframe",
        "svg",
        "object",
        "embed",
        "link",
        "form",
        "input",
        "video",
        "[onload]",
        "[style]",
    ):
        assert chromium.ask(f"document.querySelectorAll('{selector}').length") == 0, selector
    assert chromium.ask("document.querySelectorAll('style').length") == 1
    assert [one for one in chromium.requests if "#" not in one] == [file.as_uri()]
    assert chromium.complaints == [], "the page offers the browser nothing that its policy refuses"
    assert "document.title='owned'" in str(chromium.ask("document.body.textContent")), "it can be read all the same"


def test_what_would_run_is_told_by_these_sentinels(chromium: Browser, tmp_path: Path) -> None:
    """That the test above can fail: the same texts in a page that does not escape them."""
    file = tmp_path / "page.html"
    file.write_text(f"<!doctype html><title>x</title>{SENTINELS[0]}{SENTINELS[4]}", encoding="utf-8")
    chromium.open(file)
    assert chromium.ask("document.title") == "owned"
    assert "http://127.0.0.1:9/image" in chromium.requests


def test_the_policy_stops_what_would_run(chromium: Browser, tmp_path: Path) -> None:
    """The second wall: the policy of a page, where the first, the escaping, had a hole."""
    page = pages("x")["share"].decode()
    file = tmp_path / "page.html"
    file.write_text(page.replace("<main>", f"<main>{SENTINELS[0]}{SENTINELS[3]}{SENTINELS[4]}"), encoding="utf-8")
    chromium.open(file)
    assert chromium.ask("document.title") != "owned"
    assert chromium.complaints


@pytest.mark.parametrize("kind", ["runs", "evaluation", "comparison", "share"])
@pytest.mark.parametrize("width", [390, 320])
def test_nothing_is_wider_than_a_small_screen(chromium: Browser, kind: str, width: int, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(pages(ALL)[kind])
    chromium.look(width=width, height=844)
    chromium.open(file)
    chromium.click_all("details:not([open]) > summary")
    assert chromium.ask("innerWidth") == width
    assert chromium.ask("document.documentElement.scrollWidth") == width
    whole = "[...document.querySelectorAll('.scroll')].every(table => table.scrollWidth <= table.clientWidth)"
    assert chromium.ask(whole) is True, "nothing of a table is out of sight"


#: The contrast of each text with what is behind it, of the worst: as WCAG reckons it.
CONTRAST = """(() => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = element => {
    for (let one = element; one; one = one.parentElement) {
      const found = numbers(getComputedStyle(one).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  let worst = 99;
  for (const element of document.querySelectorAll('body *')) {
    if (![...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue;
    const [one, other] = [light(numbers(getComputedStyle(element).color)), light(behind(element))];
    worst = Math.min(worst, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05));
  }
  return worst;
})()"""


@pytest.mark.parametrize("kind", ["runs", "evaluation", "comparison", "share"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read_light_and_dark(
    chromium: Browser, kind: str, scheme: Literal["light", "dark"], tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(pages("x title")[kind])
    chromium.look(scheme=scheme)
    chromium.open(file)
    chromium.click_all("details:not([open]) > summary")
    ground = chromium.ask("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 21, 19)"}[scheme]
    worst = chromium.ask(CONTRAST)
    assert isinstance(worst, (int, float))
    assert 4.5 <= worst < 99


def test_what_is_marked_is_not_told_by_colour_alone(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    told = run("sunny and rainy")
    file.write_bytes(shared_run(told, [checks.excludes("sunny").score(told), checks.excludes("rainy").score(told)], name="x"))
    chromium.look()
    chromium.open(file)
    line = chromium.ask("getComputedStyle(document.querySelector('mark')).textDecorationLine")
    assert line == "underline"
    assert chromium.ask("[...document.querySelectorAll('mark sup')].map(one => one.textContent).join()") == "1,2"


def test_a_printed_page_is_dark_on_white(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(pages("x title")["evaluation"])
    chromium.look(scheme="dark", media="print")
    chromium.open(file)
    assert chromium.ask("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert chromium.ask("getComputedStyle(document.documentElement).color") == "rgb(0, 0, 0)"
    chromium.look()
