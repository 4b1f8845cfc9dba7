// Works every control of a build's page by keys alone, and checks that each does what it says.
import { readFileSync } from "node:fs";

const controls = "a[href], button, select, input, summary, [tabindex='0']";

// inPage are the functions that look at the page, which runs them.
const inPage = () => {
  const find = s => document.querySelector(s), all = (s, root = document) => [...root.querySelectorAll(s)];
  const data = JSON.parse(find("#data").textContent);
  const number = text => { const n = parseFloat(text.trim().replaceAll(",", "")); return Number.isNaN(n) ? text.trim() : n; };
  const view = () => { const v = find(".sheet svg").getAttribute("viewBox").split(" ").map(Number); return { x: v[0], y: v[1], width: v[2] }; };
  window.looks = {
    theme: () => document.documentElement.dataset.theme,
    view,
    whole: () => Math.abs(view().width - data.network.width) < 1e-6,
    fills: () => all(".sheet .node rect").map(r => r.style.fill).join(),
    hits: () => all(".node.hit").length,
    panel: () => find("#panel").hidden ? "" : find("#panel h3").firstChild.textContent,
    clocks: () => find("#timeline canvas").getAttribute("aria-label").match(/from clock ([\d,]+) to ([\d,]+)/).slice(1).map(number),
    last: () => data.timeline.clocks,
    legend: () => find("#timeline-bar .legend").textContent,
    rowsOfTimeline: () => +find("#timeline canvas").getAttribute("aria-label").match(/What (\d+) layers/)[1],
    rowsOfLayers: () => all("#layers tbody tr:not([hidden])").length,
    verdict: () => find("#what-if .verdict").textContent,
    changed: () => all("#what-if .new").length,
    // the name of the layer in the row of a control
    row: id => find(`[data-control="${id}"]`).closest("tr").querySelector("th").textContent,
    open: id => find(`[data-control="${id}"]`).parentElement.open,
    at: id => { const e = find(`[data-control="${id}"]`); return { value: e.value, checked: e.checked, left: e.scrollLeft, down: e.scrollTop,
      wide: e.scrollWidth - e.clientWidth, long: e.scrollHeight - e.clientHeight, off: e.disabled }; },
    // the cells of a heading's column, and how they are said to be sorted
    column: id => {
      const h = find(`[data-control="${id}"]`).closest("th"), t = h.closest("table");
      return { sorted: h.getAttribute("aria-sort"), cells: all("tbody tr", t).map(r => r.cells[h.cellIndex] ? number(r.cells[h.cellIndex].textContent) : "") };
    },
    target: id => {
      const hash = find(`[data-control="${id}"]`).getAttribute("href"), box = find(hash).getBoundingClientRect();
      return { hash, went: location.hash === hash, seen: box.top < innerHeight && box.bottom > 0 };
    },
    // the row of What if with a control: what it offers with its choices, and what it shows
    fold: id => {
      const tr = find(`[data-control="${id}"]`).closest("tr"), i = all("#what-if table.tight tbody tr").indexOf(tr), w = data.what_if;
      const kinds = w.device.map((n, k) => k).filter(k => w.device[k] > 0);
      const shown = all("td.n", tr).map(c => number(c.textContent));
      const heads = all("#what-if table.tight thead th").map(h => h.textContent), names = ["PE", "SIMD", "memory", "compute", "steps"];
      const lists = [null, null, w.ram_styles, w.res_types, w.steps];
      const right = w.layers[i].folds.some(f => [5, ...kinds.map(k => 6 + k)].every((p, n) => f[p] === shown[n]) &&
        names.every((name, p) => {
          const at = heads.indexOf(name);
          if (at < 0) return true;
          const select = tr.cells[at].querySelector("select");
          return select ? +select.value === f[p] : tr.cells[at].textContent === (lists[p] ? lists[p][f[p]] || "" : String(f[p]));
        }));
      return { right, clocks: shown[0] };
    },
  };
  // the regions that the summary of a control opens
  window.within = id => all("pre", find(`[data-control="${id}"]`).parentElement).map(e => ({ id: e.dataset.control, tag: "pre", html: e.outerHTML.slice(0, 120) }));
  // number all controls that are shown and not numbered yet
  window.numberControls = selector => all(selector).filter(e => e.getClientRects().length > 0 && e.dataset.control === undefined)
    .map(e => {
      e.dataset.control = window.controlCount = (window.controlCount || 0) + 1;
      const label = e.closest("label") ? e.closest("label").firstChild.textContent : "";
      const section = e.closest("section, nav, header"), box = e.closest("#panel");
      return { id: e.dataset.control, off: e.disabled, tag: e.localName, type: e.type || "", label, name: e.getAttribute("aria-label") || e.textContent,
        text: e.textContent, part: box ? "panel" : e.closest("#timeline-bar") ? "timeline" : section ? section.id || section.localName : "",
        head: Boolean(e.closest("thead")), first: Boolean(e.closest("tbody th")), node: e.classList.contains("node"), html: e.outerHTML.slice(0, 120) };
    });
};

const ordered = (a, b) => typeof a === typeof b ? a <= b : typeof a === "number";

// change makes a change in What if, and returns how many milliseconds it takes.
export const change = page => page.evaluate(() => {
  const select = document.querySelector("#what-if table.tight select"), begin = performance.now();
  select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
  select.dispatchEvent(new Event("change"));
  document.body.getBoundingClientRect();
  return performance.now() - begin;
});

// keys works a page by Tab, Enter, Space, arrows and text, and returns what the page answers.
export async function keys(page, fault) {
  await page.evaluate(inPage);
  const look = (name, argument) => page.evaluate(([n, a]) => window.looks[n](a), [name, argument]);
  const numbered = () => page.evaluate(s => window.numberControls(s), controls);
  const list = await numbered();
  await page.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
  const reached = new Set(), wanted = list.filter(c => !c.off);
  for (let i = 0; i < wanted.length + 5; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.dataset.control));
  }
  const missed = wanted.filter(c => !reached.has(c.id));
  if (missed.length) fault(`Tab does not reach ${missed.length} of ${wanted.length} controls: ${missed.slice(0, 5).map(c => c.html).join(", ")}`);
  const press = async (c, key) => { await page.focus(`[data-control="${c.id}"]`); await page.keyboard.press(key); };
  // goes presses a key, and wants that something looks right after it, and otherwise than before where asked.
  const goes = async (c, key, name, right, argument = c.id) => {
    const before = await look(name, argument);
    await press(c, key);
    const after = await look(name, argument);
    if (!right(before, after)) fault(`${key} on ${c.html} does not work: ${JSON.stringify(before)}, then ${JSON.stringify(after)}`.slice(0, 500));
  };
  const tick = async (c, name) => {
    await goes(c, "Space", name, (a, b) => a !== b);
    await goes(c, "Space", name, (a, b) => a !== b);
  };
  // layer looks at the page of a layer, which a key has opened, works it, and closes it.
  const layer = async (c, key, named) => {
    await press(c, key);
    const shown = await look("panel");
    if (!shown || !named(shown.trim())) fault(`${key} on ${c.html} shows ${shown}`);
    let close;
    for (const d of await numbered()) {
      if (d.part !== "panel" || d.tag === "pre") continue; // a file is shown by its summary
      if (d.text === "Close") close = d; else await work(d);
    }
    if (!close) return fault(`the page of ${shown} does not close`);
    await goes(close, key, "panel", (_, now) => now === "");
  };
  const narrower = (a, b) => b.width < a.width, wider = (a, b) => b.width > a.width, span = x => x[1] - x[0];
  const zoomed = { "Zoom in": ["view", narrower], "Zoom out": ["view", wider], "All of the network": ["whole", (_, b) => b],
    "Readable size of the network": ["view", (_, b) => b.width > 0 && b.y === 60],
    "Zoom into the timeline": ["clocks", (a, b) => span(b) < span(a)], "Zoom out of the timeline": ["clocks", (a, b) => span(b) > span(a)],
    "Earlier": ["clocks", (a, b) => b[0] < a[0]], "Later": ["clocks", (a, b) => b[0] > a[0]],
    "All of the timeline": ["clocks", (_, b) => b[0] === 0] };
  let quick = 0;
  // work works a control, and returns false if nothing is known of it.
  const work = async c => {
    const rule = zoomed[c.name];
    if (c.part === "nav") await goes(c, "Enter", "target", (_, b) => b.went && b.seen);
    else if (c.part === "top") await tick(c, "theme");
    else if (c.tag === "summary") {
      await goes(c, "Enter", "open", (a, b) => !a && b);
      for (const d of await page.evaluate(id => window.within(id), c.id)) await work(d);
      await goes(c, "Space", "open", (a, b) => a && !b);
    }
    else if (c.node) await layer(c, "Enter", shown => c.name.includes(shown));
    else if (c.tag === "button" && c.first) await layer(c, "Space", shown => shown.startsWith(c.text));
    else if (c.tag === "button" && c.head) {
      const right = x => x.cells.every((v, i) => !i || (x.sorted === "ascending" ? ordered(x.cells[i - 1], v) : ordered(v, x.cells[i - 1])));
      await goes(c, "Enter", "column", (_, b) => b.sorted && right(b));
      await goes(c, "Space", "column", (a, b) => b.sorted !== a.sorted && right(b));
    } else if (rule && c.name === "Earlier") {
      for (const name of ["Zoom into the timeline", "Later"]) await page.locator(`[aria-label="${name}"]`).press("Enter");
      await goes(c, "Enter", ...rule);
    } else if (rule) {
      if (c.name === "Later") await page.locator("[aria-label='Zoom into the timeline']").press("Space");
      if (c.name === "Zoom out") await page.locator("[aria-label='Readable size of the network']").press("Space"), await page.locator("[aria-label='Zoom in']").press("Space");
      await goes(c, "Enter", ...rule);
    } else if (c.part === "network" && c.tag === "select") await goes(c, "ArrowDown", "fills", (a, b) => a !== b);
    else if (c.part === "timeline" && c.tag === "select") await goes(c, "ArrowDown", "legend", (a, b) => a.startsWith("busy") && b.startsWith("frame 1"));
    else if (c.part === "timeline" && c.type === "checkbox") await tick(c, "rowsOfTimeline");
    else if (c.part === "layers" && c.type === "checkbox") await tick(c, "rowsOfLayers");
    else if (c.type === "search") {
      const name = c.part === "network" ? "hits" : "rowsOfLayers", before = await look(name);
      await page.focus(`[data-control="${c.id}"]`);
      await page.keyboard.type(await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).layers[0].name));
      if (await look(name) === before) fault(`the text in ${c.html} changes nothing`);
      if (c.part === "network") {
        await goes(c, "Enter", "panel", (_, b) => b !== "");
        await page.locator("#panel .head button").press("Enter");
      }
      await page.fill(`[data-control="${c.id}"]`, "");
      if (await look(name) !== before) fault(`an empty ${c.html} leaves something`);
    } else if (c.type === "number") {
      const before = await look("verdict");
      await page.focus(`[data-control="${c.id}"]`);
      await page.keyboard.press("Control+A");
      await page.keyboard.type("0");
      await page.evaluate(() => 0);
      const after = await look("verdict"), uses = await page.evaluate(kind => {
        const w = JSON.parse(document.getElementById("data").textContent).what_if, k = w.resources.indexOf(kind);
        return w.fifos[k] + w.host[k] + w.layers.reduce((n, l) => n + l.folds[l.chosen][6 + k], 0);
      }, c.label);
      if (uses > 0 && (after === before || !after.includes(c.label))) fault(`a budget of 0 in ${c.html} says ${after}`);
      await page.getByRole("button", { name: "As built" }).press("Enter");
      if (await look("verdict") !== before) fault(`As built leaves the budget of ${c.html}`);
    } else if (c.part === "what-if" && c.tag === "select") {
      await press(c, "End");
      await goes(c, "Home", "at", (a, b) => a.value !== b.value);
      const { right } = await look("fold", c.id);
      if (!right) fault(`${c.html} shows a fold that is not offered`);
    } else if (/^Make (faster|slower):/.test(c.name)) {
      if ((await look("at", c.id)).off) { // where it is at its end, the other one leads away
        await page.locator(`tr:has([data-control="${c.id}"]) button[aria-label^="Make"]:not(:disabled)`).press("Enter");
      }
      await goes(c, quick++ % 2 ? "Enter" : "Space", "fold", (a, b) => b.right && (c.name.startsWith("Make faster") ? b.clocks < a.clocks : b.clocks > a.clocks));
    } else if (c.text === "As built") await goes(c, "Space", "changed", (_, b) => b === 0);
    else if (c.tag === "div" || c.tag === "pre") { // a region that scrolls
      const at = await look("at", c.id);
      if (at.wide > 1 || at.long > 1) await page.focus(`[data-control="${c.id}"]`);
      for (const [room, key, way] of [[at.wide, "ArrowRight", "left"], [at.long, "ArrowDown", "down"]]) {
        if (room <= 1) continue;
        await page.keyboard.press(key);
        await page.waitForFunction(([id, w, was]) => window.looks.at(id)[w] > was, [c.id, way, at[way]], { timeout: 20000 })
          .catch(() => fault(`${key} does not scroll ${c.html}`));
      }
    } else return c.text === "Download folding.json" || fault(`no check knows ${c.html}`);
  };
  const folds = list.filter(c => c.part === "what-if" && (c.tag === "select" || /^Make/.test(c.name)));
  for (const c of list) if (!folds.includes(c)) await work(c);
  for (const c of folds) await work(c);
  // the folding file of all that were made
  await page.focus("#download");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  const sums = await page.evaluate(() => [...document.querySelectorAll("#what-if tbody")[0].rows]
    .map(r => [...r.cells].map(c => c.textContent)));
  return { name: download.suggestedFilename(), folding: readFileSync(await download.path(), "utf8"), sums };
}
