"""How a report looks, on screen and on paper."""

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 15px/1.5 "Source Sans 3", "Source Sans Pro", "Segoe UI", Roboto, Helvetica, Arial,
  sans-serif; color: #1f2937; background: #fff; max-width: 920px; margin: 0 auto;
  padding: 24px 20px 48px; overflow-wrap: break-word; }
svg { font-family: inherit; }
h1 { font-size: 1.7em; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 1.2em; margin: 2.2em 0 0.4em; padding-top: 0.6em;
  border-top: 1px solid #d1d5db; }
p { margin: 0.3em 0; }
header p, .practice, footer, small, figcaption { color: #4b5563; }
.practice, footer, small, figcaption { font-size: 0.82em; line-height: 1.4; }
small { display: block; font-weight: 400; } td small { white-space: pre; }
h3 { font-size: 1em; margin: 0.8em 0 0; }
dl { margin: 0.8em 0; } dl div { display: flex; gap: 12px; }
dt { flex: 0 0 90px; color: #4b5563; } dd { margin: 0; }
.best { font-weight: 700; } .second { text-decoration: underline; }
.large { font-size: 1.12em; font-weight: 600; }
.warnings { border-left: 3px solid #bd5107; padding-left: 10px; }
.told { margin: 0.6em 0; }
.side-by-side { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 16px;
  margin: 0.8em 0; }
figure { margin: 0; break-inside: avoid; } svg { display: block; width: 100%; height: auto; }
.wide { overflow-x: auto; margin: 0.8em 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 4px 8px; border-bottom: 1px solid #e5e7eb;
  vertical-align: top; }
thead th { font-size: 0.85em; color: #4b5563; vertical-align: bottom; }
tbody th { font-weight: 600; } th:first-child { text-align: left; padding-left: 0; }
.pairs td { text-align: left; overflow-wrap: anywhere; white-space: normal; }
.pairs th { width: 32%; }
footer { margin-top: 2.5em; overflow-wrap: anywhere; padding-top: 0.6em;
  border-top: 1px solid #d1d5db; }
.command { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 0.85em;
  overflow-wrap: anywhere; }
.brief h2, .brief .practice { display: none; }
@media (max-width: 640px) { .side-by-side { grid-template-columns: 1fr; } }
@page { margin: 14mm; } @page brief { margin: 9mm 14mm; }
@media print {
  body { font-size: 10pt; line-height: 1.35; max-width: none; padding: 0; }
  h2, .practice, .told:not(:last-child) { break-after: avoid; } tr { break-inside: avoid; }
  tbody tr:first-child, tbody tr:nth-last-child(2) { break-after: avoid; }
  footer { margin-top: 1em; break-before: avoid; }
  section:last-child > :last-child { break-after: avoid; }
  .practice + :is(.wide, .told) { break-before: avoid; }
  thead { display: table-header-group; } .wide { overflow: visible; }
  .side-by-side { grid-template-columns: repeat(2, minmax(0, 1fr)); break-inside: avoid; }
  .brief { page: brief; font-size: 8.5pt; line-height: 1.25; } .brief h1 { font-size: 13pt; }
  .brief .best { font-weight: 700; } .second { text-decoration: underline; }
.large { font-size: 1.05em; } .brief dl { margin: 4px 0 6px; }
  .brief th, .brief td { padding: 1px 6px; } .brief .told, .brief .wide { margin: 4px 0; }
  .brief td small { display: inline; margin-left: 6px; } .brief td { white-space: nowrap; }
  .brief .side-by-side { width: 72%; margin: 4px auto; }
  .dense .side-by-side { width: 48%; } .dense { font-size: 8pt; line-height: 1.2; }
  .brief footer { margin-top: 6px; }
}
"""
