// The script of a build's page. It reads the data of the page, and makes its picture, tables and timeline answer.
// It changes no figure of the build: What if adds figures of other folds, which the build has computed.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const find = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const whole = n => Math.round(n).toLocaleString("en-US");
const clocks = n => `${whole(n)} clock${n === 1 ? "" : "s"}`;
const decimals = (n, digits) => n.toLocaleString("en-US", { maximumFractionDigits: digits });

// make returns an element with attributes and children. Texts stay texts.
function make(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value === true) e.setAttribute(name, "");
    else if (value !== false && value != null) e.setAttribute(name, value);
  }
  e.append(...children.flat().filter(c => c != null));
  return e;
}
const labelled = (text, control) => make("label", {}, text, control);
const options = (list, chosen) => list.map(([value, text]) => make("option", { value, selected: value === chosen }, text));

// A theme is the system's until its button is used.
function theme() {
  const dark = () => (document.documentElement.dataset.theme ||
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = make("button", { type: "button", onclick: () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    name();
    dispatchEvent(new Event("theme"));
  } });
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  name();
  find("header .tools").append(button);
}

// heat returns the colour of a share from 0 to 1.
const heat = share => `color-mix(in srgb, var(--hot) ${Math.round(8 + 62 * share)}%, var(--card))`;
const converter = layer => layer.kind === "StreamingDataWidthConverter";

// The colours of layers: a name, and the amount of a layer, which is null where it has none.
const colours = [
  ["slack", "slack: clocks per frame", l => l.clocks],
  ["busy", "stalls: clocks without work", l => 100 - l.busy],
  ["blocked", "stalls: blocked", l => l.blocked],
  ["lut", "LUT", l => l.lut], ["ff", "FF", l => l.ff], ["bram", data.block_ram, l => l.bram],
  ["uram", "URAM", l => l.uram], ["dsp", "DSP", l => l.dsp],
  ["acc", "accumulator bits", l => l.accumulator ? l.accumulator.used_bits : null],
  ["none", "no colours", () => null],
].filter(([key, , of]) => key === "none" || data.layers.some(l => of(l) > 0));

// network makes the picture of the network answer: colours, search, zoom, and a page for each layer.
function network() {
  const sheet = find(".sheet"), picture = sheet && find("svg", sheet);
  if (!picture) return { show: () => {} };
  const net = data.network, nodes = all(".node", picture), head = 60;
  const whole_ = { x: 0, y: head, w: net.width, h: net.height - head };
  let view = { ...whole_ };
  sheet.classList.add("live");
  sheet.removeAttribute("tabindex");
  picture.removeAttribute("width");
  picture.removeAttribute("height");
  const apply = () => picture.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  const zoom = (factor, cx = view.x + view.w / 2, cy = view.y + view.h / 2) => {
    const limit = Math.max(whole_.w, whole_.h) * 1.5;
    if (view.w * factor > limit || view.h * factor > limit || view.w * factor < 40) return;
    view = { x: cx - (cx - view.x) * factor, y: cy - (cy - view.y) * factor, w: view.w * factor, h: view.h * factor };
    apply();
  };
  // begin shows the upper end of a long network so large that its text can be read.
  const begin = () => {
    const box = sheet.getBoundingClientRect(), ratio = box.height / Math.max(1, box.width);
    const w = Math.min(whole_.w + 20, Math.max(box.width / 1.15, 200));
    view = { w: Math.max(w, 200), h: 0, x: 0, y: head };
    view.h = view.w * ratio;
    const first = net.nodes.filter(n => n.y < head + view.h);
    const left = Math.min(...first.map(n => n.x)), right = Math.max(...first.map(n => n.x + n.width));
    view.x = (left + right) / 2 - view.w / 2;
    apply();
  };
  const fit = () => { view = { ...whole_ }; apply(); };
  const centre = i => {
    const n = net.nodes[i];
    view = { ...view, x: n.x + n.width / 2 - view.w / 2, y: n.y + n.height / 2 - view.h / 2 };
    apply();
  };
  const place = e => {
    const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(picture.getScreenCTM().inverse());
    return [p.x, p.y];
  };
  sheet.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.metaKey && !e.shiftKey) { // plain wheels scroll the page
      return;
    }
    e.preventDefault();
    zoom(e.deltaY + e.deltaX > 0 ? 1.15 : 1 / 1.15, ...place(e));
  }, { passive: false });
  let held = null, moved = false;
  sheet.addEventListener("pointerdown", e => { held = place(e); moved = false; });
  sheet.addEventListener("pointermove", e => {
    if (!held || !(e.buttons & 1)) return;
    const [x, y] = place(e);
    if (Math.hypot(x - held[0], y - held[1]) > 3) { moved = true; sheet.classList.add("drag"); }
    view = { ...view, x: view.x + held[0] - x, y: view.y + held[1] - y };
    apply();
  });
  addEventListener("pointerup", () => { held = null; sheet.classList.remove("drag"); });

  const legend = make("span", { class: "legend" });
  const paint = key => {
    const [, , of] = colours.find(c => c[0] === key);
    const amounts = data.layers.map(of), most = Math.max(...amounts.map(a => a || 0));
    data.layers.forEach((l, i) => {
      const share = amounts[i] == null || most === 0 ? null : amounts[i] / most;
      find("rect", nodes[i]).style.fill = share == null ? "" : heat(share);
    });
    const band = make("i");
    band.style.background = `linear-gradient(90deg, ${heat(0)}, ${heat(1)})`;
    legend.replaceChildren(...(most > 0 ? ["0", band, decimals(most, 1)] : []));
  };
  const colour = make("select", { onchange: e => paint(e.target.value) },
    options(colours.map(c => [c[0], c[1]]), "slack"));
  const search = make("input", { type: "search", placeholder: "layer, ONNX node or tensor" });
  const found = make("span", { class: "legend", role: "status" });
  let hits = [], at = 0;
  const look = () => {
    const text = search.value.trim().toLowerCase();
    hits = !text ? [] : net.nodes.flatMap((n, i) => {
      const l = data.layers[i];
      const words = l && !n.port ? [l.name, l.kind, ...(l.nodes || []), ...(l.modules || [])] : [n.name, ...n.lines];
      return words.some(w => w.toLowerCase().includes(text)) ? [i] : [];
    });
    nodes.forEach((n, i) => {
      n.classList.toggle("hit", hits.includes(i));
      n.classList.toggle("dim", text !== "" && !hits.includes(i));
    });
    at = 0;
    found.textContent = text ? `${hits.length} found` : "";
    if (hits.length) centre(hits[0]);
  };
  search.addEventListener("input", look);
  search.addEventListener("keydown", e => {
    if (e.key !== "Enter" || !hits.length) return;
    show(hits[at % hits.length], false);
    centre(hits[at++ % hits.length]);
  });
  const button = (text, label, onclick) => make("button", { type: "button", "aria-label": label, onclick }, text);
  find("#network .bar").append(labelled("colour", colour), legend, labelled("search", search), found,
    button("+", "Zoom in", () => zoom(1 / 1.3)), button("−", "Zoom out", () => zoom(1.3)),
    button("Readable", "Readable size of the network", begin), button("All", "All of the network", fit),
    make("small", {}, "drag to move, Ctrl and wheel to zoom"));

  const panel = find("#panel");
  // show shows the page of a layer beside the network.
  const show = (i, scroll = true) => {
    if (i >= data.layers.length) return;
    nodes.forEach((n, k) => n.classList.toggle("on", k === i));
    panel.replaceChildren(...layerPage(i, () => {
      panel.hidden = true;
      find(".map").classList.remove("split");
      nodes[i].classList.remove("on");
      nodes[i].focus();
    }, show));
    panel.hidden = false;
    find(".map").classList.add("split");
    panel.scrollTop = 0;
    if (scroll) {
      centre(i);
      find("#network").scrollIntoView();
    }
  };
  nodes.forEach((n, i) => {
    if (i >= data.layers.length) return;
    n.setAttribute("tabindex", "0");
    n.setAttribute("role", "button");
    n.addEventListener("click", () => { if (!moved) show(i, false); });
    n.addEventListener("focus", () => {
      const b = net.nodes[i];
      if (b.x < view.x || b.y < view.y || b.x + b.width > view.x + view.w || b.y + b.height > view.y + view.h) centre(i);
    });
    n.addEventListener("keydown", e => {
      if (e.key === "Enter" || e.key === " ") { e.preventDefault(); show(i, false); find("button", panel).focus(); }
    });
  });
  all(".stream", picture).forEach(s => {
    const f = data.fifos[+s.dataset.fifo], line = find("path", s), full = f.depth ? f.most_words / f.depth : 0;
    line.style.strokeWidth = String(1 + Math.min(3, Math.log2(1 + f.word_bits) / 3));
    line.style.stroke = `color-mix(in srgb, var(--hot) ${Math.round(100 * Math.min(1, full))}%, var(--starved))`;
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = `${f.stream} to ${f.to}: ${f.word_bits} bits, ${f.depth} words deep in ${f.memory}, at most ` +
      `${f.most_words} held; the reader waited ${whole(f.reader_waited)} clocks, the writer ${whole(f.writer_waited)}`;
    s.append(title);
  });
  all(".node", picture).forEach((n, i) => all("text", n).forEach(t => { // of a font wider than the one that was measured
    const room = net.nodes[i].width - 12;
    if (t.getComputedTextLength() > room) {
      t.setAttribute("textLength", room);
      t.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  }));
  paint("slack");
  begin();
  return { show };
}

// rows returns a table of rows whose first cells are headings. Cells that are numbers stand at the right.
function table(headings, rows, caption) {
  const cell = (v, first) => make(first ? "th" : "td", first ? { scope: "row" } : { class: typeof v === "number" && "n" },
    typeof v === "number" ? whole(v) : v);
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, make("table", {},
    make("thead", {}, make("tr", {}, headings.map((h, i) => make("th", { class: i > 0 && typeof (rows[0] || [])[i] === "number" && "n" }, h)))),
    make("tbody", {}, rows.map(r => make("tr", {}, r.map((v, i) => cell(v, i === 0)))))));
}

// layerPage returns what is known of a layer.
function layerPage(i, close, show) {
  const l = data.layers[i], facts = make("dl");
  const fact = (name, ...value) => facts.append(make("dt", {}, name), make("dd", {}, ...value));
  const interval = data.what_if ? data.what_if.interval : 0;
  if (l.nodes) fact("ONNX nodes", l.nodes.flatMap(n => [n, make("br")]));
  if (l.modules) fact("modules", l.modules.flatMap(n => [n, make("br")]));
  fact("fold", `PE ${l.pe}, SIMD ${l.simd}` + [l.ram_style, l.memory, l.compute, l.steps && l.steps + " steps"]
    .filter(Boolean).map(t => ", " + t).join(""));
  fact("loop", `${clocks(l.clocks)} a frame` + (interval > l.clocks ?
    `, ${decimals(100 * (1 - l.clocks / interval), 1)} % slack in ${decimals(interval, 3)}` : "") +
    `; results ${clocks(l.pipeline_latency)} after their words`);
  if (l.path_ns) fact("carried path", `${l.path_ns} ns`);
  fact("in", l.in.flatMap(t => [t, make("br")]));
  fact("out", l.out.flatMap(t => [t, make("br")]));
  fact("clocks", `busy ${decimals(l.busy, 1)} %, starved ${decimals(l.starved, 1)} %, blocked ${decimals(l.blocked, 1)} %`);
  const a = l.accumulator;
  if (a) fact("accumulator", `${a.type}: ${a.exact_bits} bits exactly, ${a.l1_bound_bits} by L1 norm, ` +
    `${a.data_type_bound_bits} by data type`);
  const streams = [...l.fifos_in.map(f => ["in", f]), ...l.fifos_out.map(f => ["out", f])].map(([way, f]) => {
    const r = data.fifos[f];
    return [`${way}: ${way === "in" ? r.from : r.to}`, r.word_bits, r.depth, r.most_words, r.memory,
      way === "in" ? r.reader_waited : r.writer_waited];
  });
  return [make("div", { class: "head" }, make("h3", {}, l.name, " ", make("small", {}, l.kind)),
    make("button", { type: "button", onclick: close }, "Close")), facts,
    make("h3", {}, "FIFOs"), table(["end", "bits", "depth", "most", "memory", "waited"], streams, "FIFOs of " + l.name),
    make("h3", {}, "Cost by part"), table(["part", "LUT", "FF", data.block_ram, "URAM", "DSP"],
      (l.costs || []).map(c => [c.name, c.lut, c.ff, c.bram, c.uram, c.dsp]), "Cost of " + l.name),
    ...(l.memories ? [make("h3", {}, "Tables and arrays"), table(["name", "rows", "bits", "banks", "in"],
      l.memories.map(m => [m.name, m.rows, m.bits, m.banks, m.in || "as synthesis chooses"]), "Tables of " + l.name)] : []),
    ...(l.sources || []).map(s => make("details", {}, make("summary", {}, s.file),
      make("pre", { tabindex: "0" }, s.text + (s.more ? `\n… and ${whole(s.more)} bytes more` : ""))))];
}

// sortable makes the headings of a table sort its rows.
function sortable(t) {
  const body = find("tbody", t), rows = all("tr", body);
  const key = (row, i) => {
    const text = row.cells[i] ? row.cells[i].textContent.trim() : "", n = parseFloat(text.replaceAll(",", ""));
    return Number.isNaN(n) ? text : n;
  };
  all("thead th", t).forEach((h, i) => {
    const button = make("button", { type: "button", class: "plain", onclick: () => {
      const down = h.getAttribute("aria-sort") === "descending" || !h.hasAttribute("aria-sort") && !h.classList.contains("n");
      all("thead th", t).forEach(o => o.removeAttribute("aria-sort"));
      h.setAttribute("aria-sort", down ? "ascending" : "descending");
      rows.sort((a, b) => {
        const x = key(a, i), y = key(b, i);
        const order = typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === "number" ? -1 : 1;
        return down ? order : -order;
      });
      body.append(...rows);
    } }, h.textContent);
    h.replaceChildren(button);
  });
}

// layers makes the tables of layers answer: filter, width converters folded in, and names that show a layer.
function layers(net) {
  const rows = all("#layers tbody tr"), states = all("#clocks tr[data-layer]");
  const folded = data.layers.filter(converter);
  const filter = make("input", { type: "search", placeholder: "name, node or type" });
  const shown = make("span", { class: "legend", role: "status" });
  const box = make("input", { type: "checkbox" });
  const cost = folded.reduce((n, l) => n + l.lut, 0);
  const apply = () => {
    const text = filter.value.trim().toLowerCase();
    let n = 0;
    rows.forEach(r => {
      r.hidden = converter(data.layers[+r.dataset.layer]) && !box.checked || !r.textContent.toLowerCase().includes(text);
      n += r.hidden ? 0 : 1;
    });
    states.forEach(r => { r.hidden = converter(data.layers[+r.dataset.layer]) && !box.checked; });
    shown.textContent = `${n} of ${rows.length} shown`;
  };
  filter.addEventListener("input", apply);
  box.addEventListener("change", apply);
  find("#layers .bar").append(labelled("filter", filter),
    ...(folded.length ? [labelled(`width converters (${folded.length}, ${whole(cost)} LUT in all)`, box)] : []), shown);
  rows.forEach(r => {
    const h = find("th", r);
    h.replaceChildren(make("button", { type: "button", class: "plain", onclick: () => {
      net.show(+r.dataset.layer);
      const panel = find("#panel button");
      if (panel) panel.focus({ preventScroll: true });
    } }, h.textContent));
  });
  apply();
}

// timeline draws what layers did over time, with zoom, on a canvas.
function timeline() {
  const t = data.timeline, box = find("#timeline");
  if (!t || !box) return;
  find(".static").hidden = true;
  box.hidden = false;
  const names = 210, row = 18, top = 8, foot = 44;
  const kept = () => t.rows.filter((r, i) => byFrame !== null && (converters.checked || !converter(data.layers[i])));
  let from = 0, to = t.clocks, byFrame = false;
  const converters = make("input", { type: "checkbox" });
  const canvas = make("canvas", { role: "img" });
  const hues = [210, 30, 150, 330, 270, 90, 190, 50];
  const draw = () => {
    const list = kept(), width = Math.max(320, box.clientWidth), height = top + list.length * row + foot;
    const scale = devicePixelRatio || 1, style = getComputedStyle(document.documentElement);
    const colour = name => style.getPropertyValue("--" + name).trim();
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.height = height + "px";
    const c = canvas.getContext("2d"), left = Math.min(names, width * 0.3), wide = width - left - 16;
    c.scale(scale, scale);
    c.font = '12px "Liberation Sans", Arimo, Arial, sans-serif';
    c.textBaseline = "middle";
    const at = clock => left + wide * (clock - from) / (to - from);
    list.forEach((r, i) => {
      const y = top + i * row;
      c.fillStyle = colour("ink");
      c.textAlign = "right";
      let name = r.name;
      while (c.measureText(name).width > left - 12 && name.length > 2) name = name.slice(0, -2) + "…";
      c.fillText(name, left - 8, y + 8);
      let clock = 0;
      for (const [columns, busy, starved, blocked, frame] of r.runs) {
        const next = clock + columns * t.clocks_in_a_column;
        if (next > from && clock < to) {
          const x = Math.max(left, at(clock)), w = Math.min(left + wide, at(next)) - x;
          let bottom = y + 15;
          [[busy, "busy"], [starved, "starved"], [blocked, "blocked"]].forEach(([n, state]) => {
            const h = 14 * n / t.clocks_in_a_column;
            c.fillStyle = state === "busy" && byFrame ? `hsl(${hues[frame % hues.length]} 60% 50%)` : colour(state);
            if (!(byFrame && state !== "busy")) c.fillRect(x, bottom - h, w + 0.5, h);
            bottom -= h;
          });
        }
        clock = next;
      }
    });
    const step = niceStep((to - from) / Math.max(2, wide / 110)), y = top + list.length * row;
    c.strokeStyle = colour("line");
    c.fillStyle = colour("soft");
    c.textAlign = "center";
    for (let k = Math.ceil(from / step) * step; k <= to; k += step) {
      c.beginPath();
      c.moveTo(at(k), top);
      c.lineTo(at(k), y + 4);
      c.stroke();
      c.fillText(whole(k), at(k), y + 13);
    }
    c.fillText(`clocks from the first word on; ${decimals(step / data.clock_mhz, 3)} µs from line to line`, left + wide / 2, y + 32);
    canvas.setAttribute("aria-label", `What ${list.length} layers did from clock ${whole(from)} to ${whole(to)}. ` +
      "The table above has the shares of the steady state.");
    key.replaceChildren(...(byFrame ? [...Array(Math.min(t.frames, hues.length)).keys()].flatMap(f =>
      [dot(`hsl(${hues[f]} 60% 50%)`), `frame ${f + 1}`]) : ["busy", "starved", "blocked"].flatMap(s => [dot(`var(--${s})`), s])));
  };
  const dot = colour => { const i = make("i", { class: "dot" }); i.style.background = colour; return i; };
  const niceStep = n => {
    const power = 10 ** Math.floor(Math.log10(Math.max(1, n)));
    return [1, 2, 5, 10].map(f => f * power).find(s => s >= n) || 10 * power;
  };
  const zoom = (factor, around = (from + to) / 2) => {
    const wide = Math.min(t.clocks, Math.max(4 * t.clocks_in_a_column, (to - from) * factor));
    from = Math.max(0, Math.min(t.clocks - wide, around - (around - from) * wide / (to - from)));
    to = from + wide;
    draw();
  };
  const move = share => {
    const by = Math.max(-from, Math.min(t.clocks - to, share * (to - from)));
    from += by;
    to += by;
    draw();
  };
  const key = make("span", { class: "legend" });
  const button = (text, label, onclick) => make("button", { type: "button", "aria-label": label, onclick }, text);
  find("#timeline-bar").append(
    labelled("colour", make("select", { onchange: e => { byFrame = e.target.value === "frame"; draw(); } },
      options([["state", "what a layer does"], ["frame", "the frame it works on"]], "state"))), key,
    button("+", "Zoom into the timeline", () => zoom(0.5)), button("−", "Zoom out of the timeline", () => zoom(2)),
    button("←", "Earlier", () => move(-0.5)), button("→", "Later", () => move(0.5)),
    button("All", "All of the timeline", () => zoom(Infinity)),
    ...(data.layers.some(converter) ? [labelled("width converters", converters)] : []));
  converters.addEventListener("change", draw);
  canvas.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.metaKey && !e.shiftKey) return;
    e.preventDefault();
    const share = (e.offsetX - Math.min(names, box.clientWidth * 0.3)) / Math.max(1, box.clientWidth - names);
    zoom(e.deltaY + e.deltaX > 0 ? 1.25 : 0.8, from + Math.max(0, Math.min(1, share)) * (to - from));
  }, { passive: false });
  let held = null;
  canvas.addEventListener("pointerdown", e => { held = e.clientX; });
  canvas.addEventListener("pointermove", e => {
    if (held === null || !(e.buttons & 1)) return;
    move((held - e.clientX) / Math.max(1, box.clientWidth - names));
    held = e.clientX;
  });
  addEventListener("pointerup", () => { held = null; });
  box.append(canvas);
  addEventListener("resize", draw);
  addEventListener("theme", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}

// The places of figures in a fold of what_if.
const PE = 0, SIMD = 1, MEMORY = 2, COMPUTE = 3, STEPS = 4, CLOCKS = 5, COST = 6, FORMS = 12;

// A Choice is one fold per layer of what_if, with its sums. The figures are those of the build's own functions.
class Choice {
  constructor(w) {
    this.w = w;
    this.picks = w.layers.map(l => l.chosen);
    this.budget = [...w.budget];
    this.converters = new Map(w.converters.map(c => [c.slice(0, 3).join(), c]));
  }
  fold(i) { return this.w.layers[i].folds[this.picks[i]]; }
  // joints returns what stands on the streams: width converters, or null where none joins two layers.
  joints() {
    const w = this.w, list = [];
    const form = (layer, stream, writes) => {
      const l = w.layers[layer], at = (writes ? l.out : l.in).indexOf(stream);
      return this.fold(layer)[FORMS + (writes ? l.in.length + at : at)];
    };
    w.streams.forEach((s, id) => {
      let a = s.from < 0 ? null : form(s.from, id, true), b = s.to < 0 ? null : form(s.to, id, false);
      const host = f => ((s.host || []).find(h => h[0] === f) || [f, f])[1];
      if (a === null) a = host(b);
      if (b === null) b = host(a);
      if (a !== b) list.push({ stream: id, at: this.converters.get([s.class, a, b].join()) || null });
    });
    return list;
  }
  // sums returns the amounts of layers and of converters, the slowest layers, and what is over the budget.
  sums() {
    const w = this.w, layers = Array(6).fill(0), converters = Array(6).fill(0), joints = this.joints();
    let slowest = 0;
    w.layers.forEach((_, i) => {
      const f = this.fold(i);
      slowest = Math.max(slowest, f[CLOCKS]);
      for (let k = 0; k < 6; k++) layers[k] += f[COST + k];
    });
    joints.forEach(j => { if (j.at) for (let k = 0; k < 6; k++) converters[k] += j.at[4 + k]; });
    const sure = layers.map((n, k) => n + converters[k] + w.host[k]), total = sure.map((n, k) => n + w.fifos[k]);
    const over = amounts => w.resources.filter((_, k) => amounts[k] > this.budget[k]);
    const mean = amounts => {
      const kinds = [3, 4, 5].filter(k => w.device[k] > 0);
      return kinds.reduce((n, k) => n + Math.floor(amounts[k] * 1e7 / (kinds.length * w.device[k])), 0) / 10;
    };
    const list = amounts => [...over(amounts), ...(mean(amounts) > w.mean_budget ? ["the mean of hard blocks"] : [])];
    return { layers, converters, joints, sure, total, slowest, over: list(sure), maybe: list(total),
      apart: joints.filter(j => !j.at) };
  }
  // file returns the text of a folding file that a build takes.
  file() {
    const w = this.w, layers = { Defaults: {} };
    w.layers.forEach((l, i) => {
      const f = this.fold(i), entry = {};
      if (f[PE] > 0) entry.PE = f[PE];
      if (f[SIMD] > 0) entry.SIMD = f[SIMD];
      if (w.ram_styles[f[MEMORY]]) entry.ram_style = w.ram_styles[f[MEMORY]];
      if (w.res_types[f[COMPUTE]]) entry.resType = w.res_types[f[COMPUTE]];
      if (w.steps[f[STEPS]]) entry.steps = w.steps[f[STEPS]];
      layers[l.name] = entry;
    });
    return JSON.stringify(layers, null, 2) + "\n";
  }
  // nearest returns the fold of a layer with a value at a place that is most like the present one.
  nearest(i, place, value) {
    const now = this.fold(i);
    let best = this.picks[i], least = Infinity;
    this.w.layers[i].folds.forEach((f, k) => {
      if (f[place] !== value) return;
      const off = 1000 * [MEMORY, COMPUTE, STEPS].filter(p => p !== place && f[p] !== now[p]).length +
        [PE, SIMD].filter(p => p !== place).reduce((n, p) => n + 10 * Math.abs(Math.log2(Math.max(1, f[p]) / Math.max(1, now[p]))), 0);
      if (off < least) { least = off; best = k; }
    });
    return best;
  }
  // step returns the fold of a layer that is next in speed and costs least, by its share of the device.
  step(i, faster) {
    const now = this.fold(i), load = f => Math.max(...this.w.device.map((n, k) => n ? f[COST + k] / n : f[COST + k] ? Infinity : 0));
    let best = -1;
    this.w.layers[i].folds.forEach((f, k) => {
      if (faster ? f[CLOCKS] >= now[CLOCKS] : f[CLOCKS] <= now[CLOCKS]) return;
      const b = best < 0 ? null : this.w.layers[i].folds[best];
      if (!b || (faster ? f[CLOCKS] > b[CLOCKS] : f[CLOCKS] < b[CLOCKS]) || f[CLOCKS] === b[CLOCKS] && load(f) < load(b)) best = k;
    });
    return best;
  }
}

// whatIf lets the reader choose other folds, and says what that changes.
function whatIf(net) {
  const w = data.what_if, section = find("#what-if");
  if (!w || !w.layers.some(l => l.folds.length > 1)) return;
  section.hidden = false;
  find('nav [href="#what-if"]').hidden = false;
  const built = new Choice(w), now = new Choice(w), before = built.sums();
  const kinds = w.resources.map((name, k) => k).filter(k => w.device[k] > 0);
  const verdict = make("p", { class: "verdict", role: "status" });
  const sums = make("tbody"), body = make("tbody");
  const limits = kinds.map(k => labelled(w.resources[k], make("input", { type: "number", min: 0, max: w.device[k],
    value: w.budget[k], "aria-label": "Budget of " + w.resources[k], oninput: e => {
      now.budget[k] = Math.max(0, Math.floor(+e.target.value || 0));
      refresh();
    } })));
  const places = [[PE, "PE"], [SIMD, "SIMD"], [MEMORY, "memory"], [COMPUTE, "compute"], [STEPS, "steps"]];
  const text = (place, v) => place === MEMORY ? w.ram_styles[v] : place === COMPUTE ? w.res_types[v] : place === STEPS ? w.steps[v] : String(v);
  const used = places.filter(([place]) => w.layers.some(l => l.folds.some(f => f[place] !== 0)));
  const rows = w.layers.map((l, i) => {
    const selects = used.map(([place, name]) => {
      const values = [...new Set(l.folds.map(f => f[place]))].sort((a, b) => a - b);
      if (values.length < 2) return null;
      return [place, make("select", { "aria-label": `${name} of ${l.name}`, onchange: e => {
        now.picks[i] = now.nearest(i, place, +e.target.value);
        refresh();
      } }, values.map(v => make("option", { value: v }, text(place, v) || "none")))];
    });
    const step = (faster, label) => make("button", { type: "button", "aria-label": `${label} ${l.name}`, onclick: () => {
      now.picks[i] = now.step(i, faster);
      refresh();
    } }, faster ? "faster" : "slower");
    const quick = l.folds.length > 1 ? [step(true, "Make faster:"), step(false, "Make slower:")] : [];
    const figures = [CLOCKS, ...kinds.map(k => COST + k)].map(p => [p, make("td", { class: "n" })]);
    const first = data.layers.findIndex(d => d.name === l.name || d.name.startsWith(l.name + "_"));
    const tr = make("tr", {}, make("th", { scope: "row" }, first < 0 ? l.name : make("button", { type: "button", class: "plain",
      onclick: () => net.show(first) }, l.name)),
      used.map(([place], n) => make("td", {}, selects[n] ? selects[n][1] : text(place, now.fold(i)[place]) || "")),
      make("td", {}, quick), figures.map(f => f[1]));
    body.append(tr);
    return { tr, selects: selects.filter(Boolean), quick, figures };
  });
  const shown = w.layers.map(() => -1); // the picks that the rows show
  const refresh = () => {
    const s = now.sums();
    rows.forEach((r, i) => {
      const f = now.fold(i), old = built.fold(i);
      r.tr.classList.toggle("slow", f[CLOCKS] === s.slowest);
      if (shown[i] === now.picks[i]) return;
      shown[i] = now.picks[i];
      r.selects.forEach(([place, select]) => { select.value = String(f[place]); });
      r.quick.forEach((b, k) => { b.disabled = now.step(i, k === 0) < 0; });
      r.figures.forEach(([p, td]) => {
        td.textContent = whole(f[p]);
        td.classList.toggle("new", f[p] !== old[p]);
        td.title = f[p] === old[p] ? "" : `as built ${whole(old[p])}`;
      });
    });
    const line = (name, amounts, old) => make("tr", {}, make("th", { scope: "row" }, name), kinds.map(k =>
      make("td", { class: "n" + (amounts[k] !== old[k] ? " new" : "") }, whole(amounts[k]))));
    const count = s.joints.length - s.apart.length;
    const sum = line("in all", s.total, before.total);
    sum.className = "sum";
    const limit = make("tr", {}, make("th", { scope: "row" }, "budget"), kinds.map(k => make("td", { class: "n" +
      (s.total[k] > now.budget[k] ? " over-text" : "") }, whole(now.budget[k]))));
    sums.replaceChildren(line("layers", s.layers, before.layers),
      line(`${count} width converter${count === 1 ? "" : "s"}`, s.converters, before.converters),
      line("host's port", w.host, w.host), line("FIFOs, as built", w.fifos, w.fifos), sum, limit);
    const slow = w.layers.filter((_, i) => now.fold(i)[CLOCKS] === s.slowest).map(l => l.name);
    const same = now.picks.every((p, i) => p === built.picks[i]);
    const port = w.host_clocks > s.slowest ? ` The host's port takes ${whole(w.host_clocks)}, as built.` : "";
    const names = slow.length > 3 ? `${slow.slice(0, 2).join(", ")} and ${slow.length - 2} more` : slow.join(" and ");
    let fits = "Within the budget, with the FIFOs as built.";
    if (s.apart.length) fits = `No width converter joins ${s.apart.map(j => ends(j.stream)).join("; ")}: a build refuses that.`;
    else if (s.over.length) fits = `Too large: layers and converters alone take more ${s.over.join(", ")} than the budget. A build refuses that.`;
    else if (s.maybe.length) fits = `Over the budget in ${s.maybe.join(", ")} with the FIFOs as built; a build sizes them again.`;
    verdict.replaceChildren(make("b", { class: s.over.length || s.apart.length ? "over-text" : "" }, fits), " ",
      `${names} ${slow.length > 1 ? "are" : "is"} slowest: ${clocks(s.slowest)} a frame, at most ` +
      `${decimals(data.clock_mhz * 1e6 / Math.max(1, s.slowest, w.host_clocks), 1)} frames/s at ${decimals(data.clock_mhz, 3)} MHz.${port}`,
      same ? "" : ` As built: ${clocks(before.slowest)}.`);
  };
  const ends = id => {
    const s = w.streams[id], name = i => i < 0 ? "the host" : w.layers[i].name;
    return `${name(s.from)} and ${name(s.to)}`;
  };
  const scroll = (label, ...children) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
  section.append(
    make("p", { class: "note" }, "Choose other folds: clocks and cost of layers and width converters are those that a build computes. ",
      "FIFOs, the interval and the latency stay as built, until hlsgen build --folding makes the design of the file. ",
      w.partial ? "The table has the folds that the search has priced; there are more, which cost more time than a page." : "",
      " Another clock, board or back end needs a build of its own, for which hlsgen report --serve has buttons."),
    verdict,
    make("div", { class: "bar" }, make("button", { type: "button", class: "main", id: "download", onclick: () => {
      const url = URL.createObjectURL(new Blob([now.file()], { type: "application/json" }));
      make("a", { href: url, download: "folding.json" }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    } }, "Download folding.json"), make("button", { type: "button", onclick: () => {
      now.picks = [...built.picks];
      now.budget = [...w.budget];
      limits.forEach((l, n) => { find("input", l).value = w.budget[kinds[n]]; });
      refresh();
    } }, "As built"), make("span", { class: "legend" }, "budget"), limits),
    scroll("Sums of what if", make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "where it goes"),
      kinds.map(k => make("th", { class: "n" }, w.resources[k])))), sums)),
    make("h3", {}, "Folds"),
    scroll("Folds of what if", make("table", { class: "tight" }, make("thead", {}, make("tr", {}, make("th", {}, "layer"),
      used.map(u => make("th", {}, u[1])), make("th", {}, "next"), make("th", { class: "n" }, "clocks"),
      kinds.map(k => make("th", { class: "n" }, w.resources[k])))), body)));
  refresh();
  section.folding = () => now.file(); // for the script of a served page
}

all("[data-script]").filter(e => e.id !== "what-if" && e.id !== "panel" && !e.matches('nav a')).forEach(e => { e.hidden = false; });
theme();
const net = network();
layers(net);
all("table.sortable").forEach(sortable);
timeline();
whatIf(net);
})();
