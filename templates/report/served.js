// The script of a page that hlsgen report --serve shows. It has the server build the design again with other options,
// and then shows the new page. A request is a line of JSON and the bytes of a folding, as docs/requests.md describes.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const part = (tag, text, attributes = {}) => {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(text);
  return e;
};

// rebuild sends a request, calls told with the phases of the work, and returns the answer.
async function rebuild(options, folding, told, signal) {
  const request = { id: 1, call: "build", progress: true, options };
  const behind = new TextEncoder().encode(folding || "");
  if (folding) request.parts = [{ option: "folding", bytes: behind.length }];
  const got = await fetch("rebuild", { method: "POST", body: new Blob([JSON.stringify(request) + "\n", behind]), signal });
  if (!got.ok) {
    const refused = await got.json();
    return { exit: 2, error: refused.error, hint: refused.hint };
  }
  const reader = got.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", answer = { exit: 1, error: "the server ended" };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return answer;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const x = JSON.parse(line);
      if (x.phase !== undefined) told(x.phase, x.share);
      else if (x.exit !== undefined) answer = x;
    }
  }
}

// why returns what an answer says against a design.
function why(answer) {
  const result = answer.result || {};
  const said = (result.diagnostics || []).filter(d => d.severity === "error").map(d => d.hint ? `${d.message}; ${d.hint}` : d.message);
  if (result.error) said.push(result.error);
  if (answer.error) said.push(answer.hint ? `${answer.error}; ${answer.hint}` : answer.error);
  return said.join(" ") || "There is no design.";
}

const section = part("section", "", { id: "again" });
const status = part("p", "", { class: "note", role: "status" });
const buttons = [];
let work = null;

// button adds a button that builds the design which order describes: its options, and the text of a folding or nothing.
function button(bar, text, order) {
  const b = part("button", text, { type: "button" });
  b.addEventListener("click", async () => {
    const [options, folding] = order();
    work = new AbortController();
    for (const x of buttons) x.disabled = true;
    stop.hidden = false;
    try {
      status.textContent = "The design is built.";
      const answer = await rebuild(options, folding, (phase, share) => {
        status.textContent = share === undefined ? `${phase} …` : `${phase} … ${Math.round(100 * share)} %`;
      }, work.signal);
      if (answer.exit === 0) {
        location.reload();
        return;
      }
      status.textContent = why(answer);
    } catch (e) {
      status.textContent = work.signal.aborted ? "Stopped: the page shows the design as before." : `The server does not answer: ${e.message}`;
    }
    for (const x of buttons) x.disabled = false;
    stop.hidden = true;
  });
  buttons.push(b);
  bar.append(b);
}

const stop = part("button", "Stop", { type: "button", hidden: "" });
stop.addEventListener("click", () => work.abort());
const bar = part("div", "", { class: "bar" });
const whatIf = document.getElementById("what-if");
// at returns options with the clock that is asked for, if one is.
const clock = part("input", "", { type: "number", min: 1, step: "any", placeholder: "as built", "aria-label": "Clock in MHz" });
const at = options => clock.value === "" ? options : { ...options, clock: +clock.value };
// The rate stays as built, so that a slower clock leaves fewer clocks for a frame.
const clocksAtThisRate = () =>
  Math.max(1, clock.value === "" ? data.interval_clocks : Math.floor(data.interval_clocks * clock.value / data.clock_mhz));
if (whatIf.folding) button(bar, "The folding of What if", () => [at({}), whatIf.folding()]);
button(bar, "Fastest that fits", () => [at({ fps: null })]);
if (data.interval_clocks > 0) button(bar, "Least at this rate", () => [at({ interval: clocksAtThisRate() })]);
const field = (name, control) => {
  const label = part("label", name + " ");
  label.append(control);
  return label;
};
const board = part("input", "", { value: data.board, size: 14, "aria-label": "Board", spellcheck: "false" });
const backEnd = part("select", "", { "aria-label": "Back end" });
for (const name of ["as built", "hls", "rtl", "both"]) backEnd.append(part("option", name, { value: name }));
const other = part("div", "", { class: "bar" });
other.append(field("board", board), field("back end", backEnd), field("MHz", clock));
button(other, "Build for these", () => {
  const options = board.value === data.board ? {} : { board: board.value };
  if (backEnd.selectedIndex > 0) options.backend = backEnd.value;
  return [at(options)];
});
const back = part("button", "Show the folder's design", { type: "button" });
back.addEventListener("click", async () => {
  await fetch("reset", { method: "POST" });
  location.reload();
});
const beside = part("a", "Compare with the folder's design", { href: "compare" });
const shown = part("div", "", { class: "bar" });
shown.append(beside, back);
shown.hidden = true;
section.append(part("h2", "Build again"), part("p", "This machine builds the design anew, and the page then shows it, exact " +
  "to the clock. The folder stays as it is.", { class: "note" }), bar, other, stop, status, shown);
whatIf.before(section);
const nav = document.querySelector("nav a[href='#what-if']");
if (nav) nav.before(part("a", "Build again", { href: "#again" }));
fetch("state.json").then(got => got.json()).then(state => { shown.hidden = !state.rebuilt; });
})();
