// SPDX-License-Identifier: Apache-2.0
#include "bench/html_page.hpp"

#include <string_view>

#include "console/output.hpp"

namespace penstock::cli {

namespace {

constexpr std::string_view before_data = R"html(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What bounds a pipeline</title>
<style>
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --main: #2f6fd0; --wait: #d9822b; --core: #8e5bd0; --idle: #9aa4b2; --good: #1a7f37; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 1100px; padding: 1.2rem; }
h1 { font-size: 1.3rem; margin: 0 0 .4rem; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; }
p { margin: .3rem 0; overflow-wrap: anywhere; } code { overflow-wrap: anywhere; }
.small { font-size: .85rem; opacity: .75; }
.numbers { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; padding: 0; list-style: none; }
.numbers li { background: var(--soft); border-radius: .5rem; padding: .5rem .9rem; min-width: 8rem; flex: 1; }
.numbers b { display: block; font-size: 1.3rem; }
.stages { display: flex; flex-wrap: wrap; gap: .4rem 0; align-items: stretch; }
.stages .arrow { align-self: center; padding: 0 .5rem; opacity: .6; }
.stage { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .7rem 1.2rem; min-width: 8rem; max-width: 22rem; flex: 1 1 8rem; overflow-wrap: anywhere; position: relative; overflow: hidden; }
.stage i { position: absolute; left: 0; bottom: 0; height: .35rem; background: var(--main); }
.stage i.wait { background: var(--wait); bottom: .35rem; }
.stage.most { border-color: var(--main); border-width: 2px; }
.bar { display: flex; height: 1.6rem; border-radius: .4rem; overflow: hidden; background: var(--soft); }
.bar span { min-width: 1px; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: .4rem 0; padding: 0; list-style: none; font-size: .9rem; }
.legend s { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; margin-right: .35rem; vertical-align: -.05rem; }
svg { display: block; width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
.sweep .row { display: grid; grid-template: "name bar rate" / 12rem 1fr 6rem; gap: 0 .7rem; align-items: center; margin: .3rem 0; }
.sweep .row > :last-child { text-align: right; grid-area: rate; } .sweep .row > :first-child { grid-area: name; }
.sweep .b { grid-area: bar; background: var(--soft); border-radius: .3rem; height: 1.1rem; position: relative; }
.sweep .b i { position: absolute; inset: 0 auto 0 0; background: var(--main); border-radius: .3rem; }
.sweep .b u { position: absolute; top: -.15rem; bottom: -.15rem; width: 2px; background: currentColor; opacity: .6; }
.wide { overflow-x: auto; } table { border-collapse: collapse; } td, th { padding: .15rem 1rem .15rem 0; text-align: left; vertical-align: top; } td.n, th.n { text-align: right; white-space: nowrap; }
th { font-weight: 600; border-bottom: 1px solid var(--line); }
@media (max-width: 640px) { body { padding: .8rem; } .numbers li { min-width: 45%; } .stages { flex-direction: column; } .stage { max-width: none; flex: none; } .stages .arrow { transform: rotate(90deg); } .sweep .row { grid-template: "name rate" "bar bar" / 1fr max-content; } }
</style>
<h1 id="verdict"></h1>
<p id="besides"></p>
<p class="small" id="what"></p>
<ul class="numbers" id="numbers"></ul>
<h2>Stages</h2><div class="stages" id="stages"></div>
<ul class="legend"><li><s style="background:var(--main)"></s>computing</li><li><s style="background:var(--wait)"></s>waiting, both as shares of all stages' time</li></ul>
<h2>What the threads' time went to</h2><div class="bar" id="time"></div><ul class="legend" id="times"></ul>
<section id="over-time"><h2>Over time</h2><div id="chart"></div>
<ul class="legend"><li><s style="background:var(--main)"></s>samples a second</li><li><s style="background:var(--wait)"></s>share of the time in which the caller waited</li></ul></section>
<section id="settings"><h2>Settings</h2><div class="sweep" id="sweep"></div><p class="small">The line is what so many threads could do if they did nothing but the stages.</p></section>
<section id="tuning"><h2>Tuning</h2><p id="tuned"></p><div class="wide"><table id="trials"></table></div></section>
<section id="consumer"><h2>The consumer</h2><div class="bar" id="stall"></div><ul class="legend" id="stalls"></ul><p id="busy"></p></section>
<section id="reading"><h2>Reading, by file</h2><div class="wide"><table id="files"></table></div></section>
<section id="on-devices"><h2>On devices</h2><div class="wide"><table id="devices"></table></div><p class="small">For a batch, and as shares of the time. A stream that starves has nothing to do but to wait for the next batch.</p></section>
<h2>Memory</h2><div class="wide"><table id="memory"></table></div>
<section id="noted"><h2>Notes</h2><div id="notes"></div></section>
<noscript>This page needs JavaScript; <code>penstock report FILE.json</code> says the same.</noscript>
<script type="application/json" id="data">)html";

constexpr std::string_view after_data = R"html(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
// Some characters in names of files would reverse the text after them.
const plain = (text) => String(text).replace(/[\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
const make = (tag, name, text) => { const e = document.createElement(tag); if (name) e.className = name; if (text !== undefined) e.textContent = plain(text); return e; };
const number = n => Number.isInteger(n) || n >= 100 ? Math.round(n).toLocaleString("en") : n >= 1 ? n.toFixed(1) : n.toFixed(3);
const percent = x => `${(100 * x).toFixed(100 * x < 10 ? 1 : 0)} %`;
const bytes = n => { let i = 0; while (n >= 1024 && i < 4) { n /= 1024; ++i; } return `${i ? n.toFixed(1) : n} ${["B", "KiB", "MiB", "GiB", "TiB"][i]}`; };
const label = r => r.tune ? "tuned" : `${r.threads} thread${r.threads === 1 ? "" : "s"}${r.depth ? `, depth ${r.depth}` : ""}${r.block_bytes ? `, ${bytes(r.block_bytes)} for blocks` : ""}`;

// The median run represents its setting. The fastest of these runs represents the whole result.
const groups = new Map();
for (const run of data.runs) groups.set(label(run), [...(groups.get(label(run)) || []), run]);
const middles = [...groups.values()].map(g => g.sort((a, b) => a.samples_per_s - b.samples_per_s)[Math.floor(g.length / 2)]);
const best = middles.reduce((a, b) => b.samples_per_s > a.samples_per_s ? b : a);
const r = best.report;

document.title = r.verdict.split(":")[0];
at("verdict").textContent = plain(r.verdict);
at("besides").textContent = [r.besides, r.lately].filter(Boolean).join(" ");
at("what").append(make("code", "", data.stages), ` over ${data.store}, seed ${data.seed}, ${label(best)}`);
const tiles = [[number(best.samples_per_s), "samples/s"], [r.limit_samples_per_s > 0 ? percent(best.samples_per_s / r.limit_samples_per_s) : "?", `of what ${best.threads} thread${best.threads === 1 ? "" : "s"} can do`],
  [percent(r.consumer_wait_share), "of the time the caller waited"], [`${number(1e3 * r.next_p50_s)}, ${number(1e3 * r.next_p99_s)}`, "ms in next(): p50, p99"],
  [number(best.cpu_s_per_1000), "CPU seconds per 1,000 samples"], [bytes(best.peak_rss_bytes), "of memory at most"]];
if (best.consumer_busy > 0) tiles.push([percent(best.consumer_busy), "of the time the consumer was busy"]);
if (best.file_bytes > 0) tiles.push([bytes(best.disk_bytes), `read from the disk, of ${bytes(best.file_bytes)}`]);
for (const [value, name] of tiles) { const item = make("li"); item.append(make("b", "", value), name); at("numbers").append(item); }

const all = r.stages.reduce((s, x) => s + x.cpu_us_per_sample + x.wait_us_per_sample, 0) || 1, most = Math.max(...r.stages.map(s => s.share));
r.stages.forEach((s, i) => {
  if (i) at("stages").append(make("div", "arrow", "→"));
  const box = make("div", `stage${s.share === most ? " most" : ""}`);
  box.append(make("div", "", s.name), make("div", "small", `${number(s.cpu_us_per_sample)} µs CPU, ${number(s.wait_us_per_sample)} µs waiting, ${bytes(s.bytes)}`));
  const cpu = make("i"), wait = make("i", "wait");
  cpu.style.width = `${100 * s.cpu_us_per_sample / all}%`; wait.style.width = `${100 * s.wait_us_per_sample / all}%`;
  box.append(wait, cpu); at("stages").append(box);
});
at("stages").append(make("div", "arrow", "→"), make("div", "stage", `batch: ${r.batches} of them, ${bytes(r.bytes)}`));

function bar(id, legend, parts) {
  for (const [share, name, color] of parts) {
    if (share < 0.001) continue;
    const piece = make("span"); piece.style.width = `${100 * share}%`; piece.style.background = color; piece.title = `${name}: ${percent(share)}`;
    const item = make("li"), box = make("s"); box.style.background = color; item.append(box, `${name} ${percent(share)}`);
    at(id).append(piece); at(legend).append(item);
  }
}
const work = 1 - r.runner_idle_share, waiting = work * r.runner_wait_share, core = work * (r.runner_delay_share || 0);
const greys = ["#5b6472", "#7c8696", "#9aa4b2", "#b7c0cc", "#6f8f8a", "#8fae9f", "#a9a089", "#c3b9a3"];
const idle = Object.entries(r.idle), known = idle.reduce((s, [, share]) => s + share, 0);
bar("time", "times", [[Math.max(0, work - waiting - core), "computing", "var(--main)"], [waiting, "waiting in a stage, or for the source", "var(--wait)"], [core, "waiting for a core", "var(--core)"],
  ...idle.map(([reason, share], k) => [share * (known > r.runner_idle_share ? r.runner_idle_share / known : 1), `nothing to do: ${reason}`, greys[k % greys.length]]),
  [Math.max(0, r.runner_idle_share - known), "not at work yet, or not any more", "var(--soft)"]]);

function svg(tag, attributes, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = plain(text);
  return e;
}
const points = best.over_time || [];
if (points.length < 3) at("over-time").remove(); else {
  const W = innerWidth < 640 ? 400 : 720, H = 220, L = 58, R = 44, T = 10, B = 26, end = points[points.length - 1][0], top = 1.1 * Math.max(...points.map(p => p[1]));
  const x = t => L + (W - L - R) * t / end, y = v => H - B - (H - T - B) * v;
  const chart = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Samples a second and waiting over time" });
  for (let k = 0; k <= 4; ++k) {
    chart.append(svg("line", { x1: L, x2: W - R, y1: y(k / 4), y2: y(k / 4), stroke: "var(--line)" }), svg("text", { x: L - 6, y: y(k / 4) + 4, "text-anchor": "end" }, number(top * k / 4)),
      svg("text", { x: W - R + 6, y: y(k / 4) + 4 }, `${25 * k} %`), svg("text", { x: x(end * k / 4), y: H - 8, "text-anchor": k === 4 ? "end" : "middle" }, `${number(end * k / 4)} s`));
  }
  const steps = of => points.map((p, i) => `${i ? "L" : "M"}${x(i ? points[i - 1][0] : 0)},${y(of(p))}L${x(p[0])},${y(of(p))}`).join("");
  const rate = steps(p => p[1] / top);
  chart.append(svg("path", { d: `${rate}L${x(end)},${y(0)}L${x(0)},${y(0)}Z`, fill: "var(--main)", "fill-opacity": .18 }), svg("path", { d: rate, fill: "none", stroke: "var(--main)", "stroke-width": 2 }),
    svg("path", { d: steps(p => p[2]), fill: "none", stroke: "var(--wait)", "stroke-width": 2 }));
  at("chart").append(chart);
}

if (middles.length < 2) at("settings").remove(); else {
  const largest = Math.max(...middles.map(m => Math.max(m.samples_per_s, m.report.limit_samples_per_s)));
  for (const m of middles) {
    const back = make("div", "b"), fill = make("i"), limit = make("u");
    fill.style.width = `${100 * m.samples_per_s / largest}%`; limit.style.left = `calc(${100 * m.report.limit_samples_per_s / largest}% - 2px)`; back.append(fill, limit);
    const row = make("div", "row"); row.append(make("span", "", label(m)), back, make("span", "", `${number(m.samples_per_s)}/s`)); at("sweep").append(row);
  }
}

if (!data.stalls && !data.busy_rate) at("consumer").remove(); else {
  if (data.stalls) {
    const s = data.stalls, transfer = s.transfer_stall_s || 0, all = s.consumer_s + s.preparation_stall_s + s.fetch_stall_s + transfer;
    bar("stall", "stalls", [[s.consumer_s / all, "its own work", "var(--good)"], [s.preparation_stall_s / all, "waiting for preparation", "var(--main)"], [s.fetch_stall_s / all, "waiting for reading", "var(--wait)"], [transfer / all, "waiting for the way to the device", "var(--core)"]]);
  } else at("stall").remove();
  if (data.busy_rate) at("busy").textContent = data.busy_rate.busy >= 0.9 ? `A consumer of ${number(data.busy_rate.samples_per_s)} samples/s or less is busy ${percent(data.busy_rate.busy)} of the time.` : `No rate was found at which a consumer is busy 90 % of the time; one of ${number(data.busy_rate.samples_per_s)} samples/s is busy ${percent(data.busy_rate.busy)} of it.`;
}

// Aligns all columns as numbers, except the first column and those in `words`.
function table(id, head, rows, words = []) {
  const line = (cells, tag) => { const tr = make("tr"); cells.forEach((c, i) => tr.append(make(tag, i && !words.includes(i) ? "n" : "", c))); at(id).append(tr); };
  line(head, "th"); for (const row of rows) line(row, "td");
}
if (!r.files || !r.files.length) at("reading").remove(); else table("files", ["file", "share of reading", r.files[0].of_blocks ? "a block" : "a record"], r.files.map(f => [f.name, percent(f.share), `${number(f.read_us)} µs`]));
const tunings = data.runs.map(x => x.report.tuning).filter(Boolean), tuning = r.tuning || tunings[tunings.length - 1];
if (!tuning) at("tuning").remove(); else {
  const amount = (s, n) => /bytes/.test(s.setting) ? bytes(n) : number(n);
  at("tuned").textContent = `${tuning.done ? "Done after" : "Not done after"} ${tuning.batches} batches, ${number(tuning.seconds)} s: threads ${tuning.threads}, depth ${tuning.depth}${tuning.max_reorder_bytes ? `, ${bytes(tuning.max_reorder_bytes)} for samples that wait` : ""}${tuning.max_block_bytes ? `, ${bytes(tuning.max_block_bytes)} for blocks` : ""}${tuning.end ? `; ${tuning.end}` : ""}.`;
  if (!tuning.trials.length) at("trials").remove(); else table("trials", ["option", "samples/s", "result"], tuning.trials.map(s => [`${s.setting} ${amount(s, s.from)} → ${amount(s, s.to)}`, number(s.before_samples_per_s) + (s.after_samples_per_s ? ` → ${number(s.after_samples_per_s)}` : ""), `${s.kept ? "kept" : "not kept"}; tried because ${s.why}`]), [2]);
}
const onDevices = (r.devices || []).filter(d => d.copies.timed > 0);
if (!onDevices.length) at("on-devices").remove(); else {
  const time = t => t.timed > 0 ? `${number(t.us)} µs, ${percent(t.share)}` : "";
  table("devices", ["device", "copies", "at", "stages", "waiting for a buffer", "the caller's stream starved"], onDevices.map(d => [d.name, time(d.copies), `${bytes(d.copy_bytes_per_s)}/s`, time(d.stages), time(d.buffer), time(d.starved)]));
}
table("memory", ["what for", "count", "each", "together"], r.memory.map(m => [m.name, number(m.count), bytes(m.bytes_each), bytes(m.count * m.bytes_each)]));
if (!r.notes.length) at("noted").remove(); else for (const note of r.notes) at("notes").append(make("p", "", note));
</script>
</html>
)html";

}  // namespace

std::string bench_page(const std::string& data) { return page_with_data(before_data, data, after_data); }

}  // namespace penstock::cli
