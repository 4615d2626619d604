"""HTML: one page that holds everything it needs, for a person who looks at the failures in a browser.

A page shows the verdict, the checks, and each kind of failure under the sentence that says why the check is there, with the
runs that failed: what was said and called in them, and in that the places that the reasons speak of. It runs, loads and
sends nothing: it has no script, and a content security policy that allows none. What stands in a recording can only be
text in it (`_html`).

So that a page stays one that a browser opens, it shows at most `MAX_RUNS` runs, `RUNS_OF_A_KIND` of a kind, and of them no
more than `MAX_PAGE` characters; of a text `MAX_TEXT`. What is left out is counted where it would stand.
"""

from __future__ import annotations

from quickchecks.reports._html_comparison import comparison
from quickchecks.reports._html_evaluation import evaluation
from quickchecks.reports._html_scored import start

__all__ = ("comparison", "evaluation", "start")
