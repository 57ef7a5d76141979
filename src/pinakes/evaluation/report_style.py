"""How the report looks: one style sheet, light and dark."""

from __future__ import annotations

from pinakes.config.settings import MODES

# Told apart by people who do not see all colours, too: blue, orange, green, purple.
MODE_STYLES = dict(zip(MODES, ("mode-a", "mode-b", "mode-c", "mode-d"), strict=True))

STYLE = """
:root { color-scheme: light dark;
  --paper: #fdfdfc; --card: #ffffff; --ink: #1d232b; --soft: #5c6672; --rule: #e1e4e8; --grid: #e8ebee;
  --a: #0a6ab0; --b: #d98200; --c: #0b8f68; --d: #b25c94; --gain: #0a6ab0; --loss: #cc5a14; --unsure: #b8c0c9; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14171b; --card: #1b1f25; --ink: #e6e9ed; --soft: #98a2ae; --rule: #30363e; --grid: #2a3038;
  --a: #58a9e8; --b: #f0ac45; --c: #3fc59a; --d: #dc93c0; --gain: #58a9e8; --loss: #f08a4b; --unsure: #59626d; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 3rem 0 .2rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 2rem 0 .3rem; }
p { margin: .3rem 0 .8rem; max-width: 44rem; }
.soft, figcaption, .note { color: var(--soft); font-size: .9rem; }
figure { margin: .5rem 0 1rem; padding: 1rem; background: var(--card); border: 1px solid var(--rule);
  border-radius: 8px; }
figure svg { display: block; width: 100%; height: auto; }
.pair { display: grid; grid-template-columns: minmax(0, 22rem) minmax(0, 1fr); gap: 1.5rem; align-items: center; }
@media (max-width: 44rem) { .pair { grid-template-columns: 1fr; } }
.scroll { overflow-x: auto; margin-bottom: 1.2rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { text-align: right; padding: .35rem .7rem; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; font-size: .82rem; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td.best { font-weight: 700; }
td.up { color: var(--gain); font-weight: 600; } td.down { color: var(--loss); font-weight: 600; }
ul.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; margin: 0 0 .5rem; padding: 0;
  font-size: .9rem; color: var(--soft); }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .45em; }
ol.worst { padding-left: 1.3rem; } ol.worst > li { margin-bottom: 1.1rem; }
ol.worst .q { font-weight: 600; } ol.worst dl { margin: .2rem 0 0; font-size: .88rem; display: grid;
  grid-template-columns: 4.5rem minmax(0, 1fr); gap: .1rem .6rem; }
ol.worst dt { color: var(--soft); } ol.worst dd { margin: 0; overflow-wrap: anywhere; }
a { color: var(--a); }
code { font: .88em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
svg text { fill: var(--ink); font-size: 12px; font-family: inherit; }
svg .axis { fill: var(--soft); font-size: 11px; } svg .value { fill: var(--soft); font-size: 11px; }
svg .figures { font-variant-numeric: tabular-nums; white-space: pre; }
svg .middle { text-anchor: middle; } svg .end { text-anchor: end; }
svg .grid { stroke: var(--grid); } svg .zero { stroke: var(--soft); }
svg .whisker { stroke: var(--ink); stroke-width: 1.5; }
svg .diagonal { stroke: var(--soft); stroke-dasharray: 4 4; } svg .off { stroke: var(--a); opacity: .45; }
svg .dot { fill: var(--a); fill-opacity: .75; stroke: var(--card); }
svg .bar:hover, svg .dot:hover { opacity: .7; }
svg .curve { fill: none; stroke-width: 2; }
.mode-a { fill: var(--a); } .mode-b { fill: var(--b); }
.mode-c { fill: var(--c); } .mode-d { fill: var(--d); }
.key.mode-a { background: var(--a); } .key.mode-b { background: var(--b); }
.key.mode-c { background: var(--c); } .key.mode-d { background: var(--d); }
svg .curve.mode-a { stroke: var(--a); } svg .curve.mode-b { stroke: var(--b); }
svg .curve.mode-c { stroke: var(--c); } svg .curve.mode-d { stroke: var(--d); }
.gain { fill: var(--gain); } .loss { fill: var(--loss); } .unsure { fill: var(--unsure); }
@media print { body { background: #fff; } figure { break-inside: avoid; } }
"""
