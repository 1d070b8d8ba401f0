"""A look at a job as one HTML file that needs nothing else: for tickets, and for CI to keep."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from html import escape

from ladder_backends.model.rank_verdict import RankVerdict
from ladder_backends.model.ranks import Evidence
from ladder_backends.ranks.rank_list import fold
from ladder_backends.ranks.report_json import look_json, tree_of
from ladder_backends.ranks.report_text import found_words, pause_words
from ladder_backends.ranks.stacks.tree_json import tree_lines
from ladder_backends.ranks.verdict import verdict_lines

_STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
pre, code { font: 13px/1.4 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid #8886; border-radius: 4px; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #8883; vertical-align: top; }
.verdict { border-left: 4px solid #888; padding-left: 1rem; white-space: pre-wrap; }
.wrong { border-color: #c33; }
"""


def look_html(samples: Sequence[Evidence], verdicts: Sequence[RankVerdict]) -> str:
    """The last of several looks, and the verdict on all; the JSON form is inside, for machines."""
    now = samples[-1]
    job = now.job
    tree = tree_of(now)
    wrong = bool(verdicts) and verdicts[0].diverges
    told = "\n".join(verdict_lines(verdicts[0], verdicts[1:])) if verdicts else "no verdict"
    document = json.dumps(look_json(samples, verdicts, tree), allow_nan=False)
    when = time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(now.at))
    parts = [
        f"<h1>{escape(job.title or job.key)}</h1>",
        f"<p>{escape(job.key)} · {escape(found_words(job))} · {escape(when)}</p>",
        f'<pre class="verdict{" wrong" if wrong else ""}">{escape(told)}</pre>',
        "<h2>Stacks</h2>",
        f"<pre>{escape(chr(10).join(tree_lines(tree, 160)))}</pre>",
        "<h2>Who was asked</h2>",
        _table(
            ("source", "answered", "took", "pause", "silent", "note"),
            [
                (
                    str(reading.source),
                    fold(reading.answered),
                    f"{reading.took:.2f} s",
                    pause_words(reading),
                    "; ".join(f"{each.rank}: {each.reason}" for each in reading.silent[:64]),
                    reading.note,
                )
                for reading in now.readings
            ],
        ),
        "<h2>Ranks</h2>",
        _table(
            ("rank", "host", "process", "state", "waits in", "command"),
            [
                (str(rank.rank), rank.host, str(rank.pid), rank.state, rank.wchan, " ".join(rank.command)[:200])
                for rank in job.ranks
            ],
        ),
    ]
    # Inside a script no text of the program may end it, or begin a comment.
    data = document.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(job.key)}</title><style>{_STYLE}</style></head>\n<body>\n{body}\n"
        f'<script type="application/json" id="look">{data}</script>\n</body></html>\n'
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{lines}</table>"
