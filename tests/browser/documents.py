"""What the browser is shown beside the examples: documents that mean well, and documents that do not."""

from __future__ import annotations

# Says otherwise what a vessel is, and refers to the pump manual: a conflict, and a way into another document. The ships
# are characters that JavaScript counts as two.
NOTES = """# Harbour notes

## Terms

In these notes, "vessel" means a boat with a mast.

## Moorings

\U0001f6a2\U0001f6a2 The moorings are looked over every spring. See [the pump manual](pump-manual.md) for the pumps beside them.
"""

# Every way that we know for a text to become a program, or to reach another machine. Each would set `__hacked`.
HOSTILE = """---
title: "Quarantine <img src=x onerror=window.__hacked='title'>"
---

# Quarantine <script>window.__hacked = "heading"</script>

The quarantine anchorage lies west of the zebra buoy.

<script>window.__hacked = "script"</script>
<script src="https://evil.example/x.js"></script>
<img src="x" onerror="window.__hacked = 'onerror'">
<svg onload="window.__hacked = 'svg'"><animate onbegin="window.__hacked = 'animate'" attributeName="x"/></svg>
<iframe srcdoc="<script>parent.__hacked = 'frame'</script>"></iframe>
<object data="https://evil.example/o"></object>
<form action="https://evil.example/f"><button formaction="javascript:window.__hacked='form'">Send</button></form>
<base href="https://evil.example/">
<meta http-equiv="refresh" content="0; url=https://evil.example/">
<link rel="stylesheet" href="https://evil.example/x.css">

## Styles

<style>* { display: none !important } @import url(https://evil.example/i.css);</style>
<p style="position: fixed; inset: 0; background: url(https://evil.example/b.png)">The quarantine flag is yellow.</p>
<!-- a comment --><!-- <script>window.__hacked = "comment"</script> --!><script>window.__hacked = "after"</script>

## Links

[quarantine one](javascript:window.__hacked='link') and [two](JaVaScRiPt:window.__hacked='case')
and [three](data:text/html,<script>window.__hacked='data'</script>) and [four](https://evil.example/four)
and <javascript:window.__hacked='auto'> and [five][ref] and ![quarantine](https://evil.example/p.png)
and ![six](x" onerror="window.__hacked='alt') and [[javascript:window.__hacked='wiki'|seven]]
and <a href="javascript:window.__hacked='a'" id="raw">eight</a>

[ref]: javascript:window.__hacked='reference' "x"

## Words

"quarantine<img src=x onerror=window.__hacked='term'>" means the keeping apart of a ship.

| quarantine | <img src=x onerror=window.__hacked='cell'> |
| --- | --- |
| `</code><script>window.__hacked='code'</script>` | <b onclick="window.__hacked='b'">bold</b> |

```html"><script>window.__hacked='fence'</script>
</code></pre><script>window.__hacked='pre'</script>
```

The quarantine ends\u202egnp.exe when the master says so. See section 404 of the Quarantine Act.
"""

HOSTILE_PAGE = """<!doctype html><html><head><title>Inspection &lt;img src=x onerror=window.__hacked=1&gt;</title>
<script>window.__hacked = "page"</script><style>body { display: none }</style></head>
<body onload="window.__hacked='body'"><h1>Inspection &lt;script&gt;window.__hacked='escaped'&lt;/script&gt;</h1>
<p>The inspection of the giraffe crates takes place at noon.
<a href="javascript:window.__hacked='href'">more</a> <img src="https://evil.example/i.png" onerror="window.__hacked='img'"></p>
<p>&lt;img src=x onerror="window.__hacked='entity'"&gt; &amp;lt;script&amp;gt;</p></body></html>
"""

# Also names of files are not to be believed.
HOSTILE_NAME = "okapi <img src=x onerror=window.__hacked=1>.txt"
HOSTILE_TEXT = "The okapi stable is <b onmouseover=window.__hacked='text'>closed</b> <script>window.__hacked='txt'</script> on Mondays.\n"
