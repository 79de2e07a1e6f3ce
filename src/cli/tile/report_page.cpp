// SPDX-License-Identifier: Apache-2.0
#include "tile/report_page.hpp"

#include <string_view>

#include "console/output.hpp"

namespace penstock::cli {

namespace {

constexpr std::string_view before_report = R"html(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tiles of slides</title>
<style>
:root { color-scheme: light dark; --line: #8884; --bad: #b3261e; --some: #9a6700; --good: #1a7f37; --soft: #8882; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 1200px; padding: 1.2rem; }
h1 { font-size: 1.35rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
p { margin: .3rem 0; }
.numbers { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; padding: 0; list-style: none; }
.numbers li { background: var(--soft); border-radius: .5rem; padding: .5rem .9rem; min-width: 7rem; flex: 1; }
.numbers b { display: block; font-size: 1.3rem; }
.controls { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; }
.controls input, .controls select { font: inherit; padding: .35rem .6rem; border: 1px solid var(--line); border-radius: .4rem; min-width: 0; }
.controls input { flex: 1 1 12rem; }
.slide { display: grid; grid-template-columns: 12rem 1fr auto; gap: .2rem 1rem; padding: .8rem 0; border-top: 1px solid var(--line); }
.slide > a { grid-row: span 2; }
.slide img { display: block; width: 12rem; max-height: 12rem; object-fit: contain; object-position: left top; }
.slide .none { width: 12rem; height: 5rem; background: var(--soft); border-radius: .4rem; grid-row: span 2; display: grid; place-items: center; font-size: .85rem; opacity: .7; }
.slide h2 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
.slide .file { font-size: .85rem; opacity: .75; overflow-wrap: anywhere; }
.count { text-align: right; white-space: nowrap; }
.tag { display: inline-block; border-radius: 1rem; padding: 0 .6rem; font-size: .85rem; color: #fff; }
.failed .tag { background: var(--bad); } .some .tag, .not .tag { background: var(--some); } .done .tag { background: var(--good); }
.cause { color: var(--bad); overflow-wrap: anywhere; }
details { margin: .2rem 0; } summary { cursor: pointer; }
details li, table td { font-size: .9rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; } td { padding: .1rem 1rem .1rem 0; vertical-align: top; }
@media (max-width: 640px) {
  body { padding: .8rem; }
  .slide { grid-template-columns: 6rem 1fr; gap: .2rem .7rem; }
  .slide img, .slide .none { width: 6rem; }
  .slide > a, .slide .none { grid-row: span 3; }
  .count { text-align: left; }
}
</style>
<h1 id="store"></h1>
<p id="state"></p>
<ul class="numbers" id="numbers"></ul>
<details><summary>Settings</summary><table id="settings"></table></details>
<div id="notes"></div>
<div class="controls">
<input id="words" type="search" placeholder="Name, file or cause" aria-label="Show slides with these words">
<select id="wanted" aria-label="Show slides of this state">
<option value="">all slides</option><option>failed</option><option>some left out</option><option>not finished</option><option>done</option>
</select>
</div>
<div id="slides"></div>
<p><button id="more" hidden>Show more</button></p>
<noscript>This page needs JavaScript; slides.csv beside it says the same.</noscript>
<script type="application/json" id="data">)html";

constexpr std::string_view after_report = R"html(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const number = n => n.toLocaleString("en");
const counted = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
const bytes = n => { let i = 0; while (n >= 1024 && i < 4) { n /= 1024; ++i; } return `${i ? n.toFixed(1) : n} ${["B", "KiB", "MiB", "GiB", "TiB"][i]}`; };
// Some characters in names of files would reverse the text after them.
const plain = (text) => String(text).replace(/[\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
const make = (tag, name, text) => { const e = document.createElement(tag); if (name) e.className = name; if (text !== undefined) e.textContent = plain(text); return e; };
const at = id => document.getElementById(id);
const url = path => path.split("/").map(encodeURIComponent).join("/");
const rank = { "failed": 0, "some left out": 1, "not finished": 2, "done": 3 };
const slides = data.slides.map((s, i) => ({ ...s, i })).sort((a, b) => rank[a.state] - rank[b.state] || b.leftOut - a.leftOut || a.i - b.i);
const r = data.result;

document.title = r.store;
at("store").textContent = plain(r.store);
at("state").textContent = r.finished ? "Finished." : "Not finished: run the same command again to go on.";
const failed = slides.filter(s => s.state === "failed").length;
const badTiles = slides.reduce((n, s) => n + (s.state === "failed" ? 0 : s.leftOut), 0);
for (const [value, name] of [[number(slides.length), "slides"], [number(failed), "slides that can't be read"], [number(r.tiles), "tiles in the store"],
    [number(badTiles), "tiles left out"], [bytes(r.bytes), `written by the last run, in ${r.seconds.toFixed(1)} s`]]) {
  const item = make("li"); item.append(make("b", "", value), name); at("numbers").append(item);
}
for (const [name, value] of Object.entries(data.settings)) {
  if (value === "" || value === false) continue;
  const row = make("tr"); row.append(make("td", "", name), make("td", "", Array.isArray(value) ? value.join(", ") : String(value))); at("settings").append(row);
}
for (const note of r.notes) at("notes").append(make("p", "", note));

function shown(s) {
  const row = make("section", `slide ${s.state.split(" ")[0]}`);
  if (s.picture) {
    const link = make("a"), image = make("img"); link.href = image.src = url(s.picture);
    image.loading = "lazy"; image.alt = `${s.name} and its tiles`; link.append(image); row.append(link);
  } else row.append(make("div", "none", "no picture"));
  const what = make("div"), name = make("h2"), details = make("a", "", s.name);
  details.href = url(s.details); name.append(details);
  what.append(name, make("div", "file", s.file));
  if (s.what) what.append(make("div", "file", s.what));
  const count = make("div", "count");
  count.append(make("span", "tag", s.state), make("div", "", counted(s.tiles, "tile")));
  if (s.places !== s.tiles && s.places) count.append(make("div", "file", `of ${counted(s.places, "place")}`));
  const more = make("div");
  if (s.cause) more.append(make("p", "cause", s.cause));
  if (s.bad) {
    const list = make("details"), ul = make("ul");
    list.append(make("summary", "cause", `${counted(s.leftOut, "tile")} left out`), ul);
    for (const line of s.bad) ul.append(make("li", "", line));
    if (s.leftOut > s.bad.length) ul.append(make("li", "", `and ${number(s.leftOut - s.bad.length)} more, in ${s.details}`));
    more.append(list);
  }
  row.append(what, count, more);
  return row;
}

let found = [], until = 0;
function add() {
  for (const s of found.slice(until, until + 100)) at("slides").append(shown(s));
  until += 100;
  at("more").hidden = until >= found.length;
}
function show() {
  const words = at("words").value.toLowerCase().split(/\s+/).filter(w => w), wanted = at("wanted").value;
  found = slides.filter(s => (!wanted || s.state === wanted) && words.every(w => `${s.name} ${s.file} ${s.cause || ""}`.toLowerCase().includes(w)));
  at("slides").replaceChildren(); until = 0;
  if (!found.length) at("slides").append(make("p", "", "No slide is like that."));
  add();
}
at("words").oninput = show; at("wanted").onchange = show; at("more").onclick = add;
show();
</script>
</html>
)html";

}  // namespace

std::string report_page(const std::string& data) { return page_with_data(before_report, data, after_report); }

}  // namespace penstock::cli
