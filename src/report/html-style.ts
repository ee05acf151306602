// The style of reports for a browser: light and dark, on paper and on a phone. Actions have a word and a sign; colour
// only repeats them. Items of long lists are not `list-item`, because browsers renumber those one by one for each
// hidden item: ten seconds for thousands.

export const pageStyle = `
:root { color-scheme: light dark; --ground: #fbfbf9; --raised: #fff; --ink: #1d2126; --muted: #565e68; --line: #dcdfe3; --focus: #1756a9;
  --create: #0f6236; --create-ground: #e4f4ea; --update: #744600; --update-ground: #fcf0d6; --delete: #a01319; --delete-ground: #fde8e7;
  --adopt: #15529c; --adopt-ground: #e6f0fb; --forget: #653b8c; --forget-ground: #f2ebf9; }
@media screen and (prefers-color-scheme: dark) { :root { --ground: #14171a; --raised: #1b1f23; --ink: #e5e8eb; --muted: #a0a9b3; --line: #30363d; --focus: #8cbcf8;
  --create: #84d9a7; --create-ground: #15301f; --update: #efc474; --update-ground: #33280f; --delete: #ffa5a3; --delete-ground: #3b1919;
  --adopt: #93c0f7; --adopt-ground: #16283e; --forget: #cfacf0; --forget-ground: #2c2039; } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 68rem; padding: 2.5rem 1.25rem 4rem; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; overflow-wrap: break-word; }
h1 { margin: .15rem 0 1rem; font-size: clamp(1.35rem, 1rem + 1.8vw, 2rem); line-height: 1.25; font-weight: 650; letter-spacing: -.012em; text-wrap: balance; }
h2 { margin: 3rem 0 .75rem; font-size: 1.25rem; font-weight: 650; }
h3 { margin: 1.5rem 0 .5rem; font-size: 1rem; font-weight: 600; color: var(--muted); }
p { margin: .35rem 0; }
code, pre, kbd { font: .875em/1.5 ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, monospace; }
code, td, dd, .text { unicode-bidi: isolate; }
code, dd, .text, .scroll th, .scroll td { overflow-wrap: anywhere; }
pre { margin: .35rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
a { color: var(--focus); text-underline-offset: .2em; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
summary:focus-visible { outline-offset: -3px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; padding: .35rem .75rem; background: var(--raised); }
.muted, caption, th, dt, .kicker { color: var(--muted); }
.kicker { margin: 0; font-size: .8rem; font-weight: 600; letter-spacing: .08em; text-transform: uppercase; }
.about { font-size: .9rem; }
ul.counts, nav ul, ol.plain { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none; }
ol.plain, ol.plain li { display: block; }
.counts li { min-width: 6.5rem; padding: .6rem .9rem; border: 1px solid var(--line); border-radius: 10px; background: var(--raised); font-size: .9rem; }
.counts b { display: block; font-size: 1.6rem; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums; }
nav ul { gap: .25rem 1.25rem; font-size: .9rem; }
.number { color: var(--muted); font-weight: 400; font-variant-numeric: tabular-nums; }
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: .75rem 0; }
label { display: grid; gap: .2rem; font-size: .8rem; color: var(--muted); }
label.wide { flex: 1 1 14rem; }
input, select, button { min-height: 2.5rem; padding: .35rem .7rem; border: 1px solid #7d8690; border-radius: 7px; background: var(--raised); color: var(--ink); font: inherit; font-size: .95rem; }
button { cursor: pointer; }
.item, .note { margin: .4rem 0; border: 1px solid var(--line); border-left: 4px solid var(--tone, var(--line)); border-radius: 8px; background: var(--raised); }
.item { content-visibility: auto; contain-intrinsic-size: auto 3.1rem; }
.note { padding: .6rem .9rem; }
summary { display: flex; flex-wrap: wrap; gap: .15rem .75rem; align-items: baseline; position: relative; padding: .6rem 2.25rem .6rem .9rem; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::after { content: "+"; position: absolute; top: .6rem; right: .9rem; color: var(--muted); }
[open] > summary::after { content: "\\2212"; }
summary .muted { font-size: .9rem; }
.body { padding: 0 .9rem .8rem; }
.address { font-weight: 600; }
.badge { padding: .05rem .5rem; border-radius: 5px; color: var(--tone, var(--muted)); background: var(--tint, transparent); font-size: .8rem; font-weight: 650; white-space: nowrap; }
.create { --tone: var(--create); --tint: var(--create-ground); }
.update { --tone: var(--update); --tint: var(--update-ground); }
.delete { --tone: var(--delete); --tint: var(--delete-ground); }
.adopt { --tone: var(--adopt); --tint: var(--adopt-ground); }
.forget { --tone: var(--forget); --tint: var(--forget-ground); }
.counts [class] b { color: var(--tone); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .25rem 0 .75rem; font-size: .9rem; }
dd { margin: 0; }
table + table { margin-top: 1rem; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
.list, .fields { table-layout: fixed; }
.list th:first-child, .fields th:first-child { width: 32%; }
caption { padding: .2rem 0; text-align: left; font-size: .8rem; font-weight: 600; }
th, td { padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { border-top: 0; font-size: .8rem; font-weight: 600; }
tbody th { font-weight: 400; color: var(--ink); }
del, ins { text-decoration: none; }
del { color: var(--delete); }
ins { color: var(--create); }
pre del, pre ins { display: block; margin: 0 -.25rem; padding: 0 .25rem; }
pre del { background: var(--delete-ground); }
pre ins { background: var(--create-ground); }
.scroll { overflow-x: auto; }
.scroll table { width: auto; min-width: 100%; }
.scroll th, .scroll td { min-width: 9rem; max-width: 18rem; }
.heat td, .heat th { min-width: 0; max-width: 26rem; }
.heat td { padding-left: .5rem; }
.heat td[class]:not(.text, .muted) { color: var(--tone); background: var(--tint); font-weight: 600; }
.differs { color: var(--update); font-weight: 600; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .85rem; color: var(--muted); }
@media (max-width: 34rem) { body { padding-top: 1.5rem; } .counts li { flex: 1 1 7.5rem; } }
@media print { :root { color-scheme: light; } body { max-width: none; padding: 0; font-size: 9.5pt; } nav, form, .skip, summary::after { display: none !important; }
  .item { content-visibility: visible; break-inside: avoid-page; } details::details-content { content-visibility: visible; display: block; height: auto; } .scroll { overflow: visible; } }
`;
