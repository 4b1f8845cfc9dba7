// Opens pages of builds in Chromium and prints what is wrong with them, and what they answer, as JSON:
//     node pages.mjs PACKAGES {"pages": [{"file": FILE, "keys": BOOL}], "shots": FOLDER}
// A page with keys is also worked by keys alone.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [packages, asked] = process.argv.slice(2);
const { pages, shots } = JSON.parse(asked);
const { chromium } = createRequire(packages + "/x.js")("playwright-core");
const axe = readFileSync(packages + "/node_modules/axe-core/axe.min.js", "utf8");

// The views of every page. Keys are worked in the last one.
const views = [
  { name: "400-light", width: 400, scheme: "light" }, { name: "800-dark", width: 800, scheme: "dark" },
  { name: "print", width: 800, scheme: "light", media: "print" }, { name: "1400-dark", width: 1400, scheme: "dark" },
  { name: "plain", width: 1400, scheme: "light", plain: true }, { name: "1400-light", width: 1400, scheme: "light" },
];
const controls = "a[href], button, select, input, summary, [tabindex='0']";

// keys works a page by Tab, Enter and Space, and returns what the page answers.
async function keys(page, fault) {
  const wanted = await page.evaluate(selector => {
    const list = [...document.querySelectorAll(selector)].filter(e => !e.disabled && e.getClientRects().length > 0);
    list.forEach((e, i) => { e.dataset.control = i; });
    document.activeElement.blur();
    window.scrollTo(0, 0);
    return list.length;
  }, controls);
  const reached = new Set();
  for (let i = 0; i < wanted + 5; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => document.activeElement.dataset.control);
    if (at !== undefined) reached.add(at);
  }
  if (reached.size !== wanted) {
    const left = await page.evaluate(there => [...document.querySelectorAll("[data-control]")]
      .filter(e => !there.includes(e.dataset.control)).slice(0, 5).map(e => e.outerHTML.slice(0, 120)), [...reached]);
    fault(`Tab reaches ${reached.size} of ${wanted} controls, not ${left.join(", ")}`);
  }
  // press focuses a control, presses a key and returns what a function of the page gives then.
  const press = async (selector, key, gives, argument) => {
    await page.focus(selector);
    await page.keyboard.press(key);
    return page.evaluate(gives, argument);
  };
  const want = (what, ok) => { if (!ok) fault(what + " does not work by keys"); };
  want("the theme", await press("header .tools button", "Enter", () => document.documentElement.dataset.theme) === "dark");
  want("the theme, again", await press("header .tools button", "Space", () => document.documentElement.dataset.theme) === "light");
  const shown = () => !document.querySelector("#panel").hidden && document.querySelector("#panel h3").textContent;
  want("a layer of the picture", await press(".node[tabindex]", "Enter", shown));
  want("closing a layer", !await press("#panel .head button", "Enter", shown));
  want("a layer of the table", await press("#layers tbody tr:not([hidden]) th button", "Space", shown));
  want("a heading", await press("#fifos thead th.n button", "Enter",
    () => document.querySelector("#fifos thead th.n").getAttribute("aria-sort")) === "descending");
  await page.focus("#network input[type=search]");
  await page.keyboard.type("mvau");
  want("search", await page.evaluate(() => document.querySelectorAll(".node.hit").length) > 0);
  await page.focus("#layers input[type=search]");
  await page.keyboard.type("mvau");
  want("the filter", await page.evaluate(() => document.querySelectorAll("#layers tbody tr[hidden]").length) > 0);
  // every button does no harm
  const buttons = await page.evaluate(() => {
    const list = [...document.querySelectorAll(".bar button:not(#download), #what-if button:not(#download)")]
      .filter(e => e.getClientRects().length > 0).slice(0, 60);
    list.forEach((e, i) => { e.dataset.press = i; });
    return list.length;
  });
  for (let i = 0; i < buttons; i++) {
    const selector = `[data-press="${i}"]`;
    if (await page.isEnabled(selector)) await press(selector, i % 2 ? "Enter" : "Space", () => 0);
  }
  // What if: other folds in all layers, by keys, and the folding file of them
  const selects = await page.evaluate(() => {
    const list = [...document.querySelectorAll("#what-if select")];
    list.forEach((e, i) => { e.dataset.pick = i; });
    return list.length;
  });
  for (let i = 0; i < selects; i += 2) await press(`[data-pick="${i}"]`, i % 4 ? "ArrowUp" : "ArrowDown", () => 0);
  const change = await page.evaluate(() => {
    const select = document.querySelector("#what-if select"), begin = performance.now();
    select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
    select.dispatchEvent(new Event("change"));
    document.body.getBoundingClientRect();
    return performance.now() - begin;
  });
  await page.focus("#download");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  const sums = await page.evaluate(() => [...document.querySelectorAll("#what-if tbody")[0].rows]
    .map(r => [...r.cells].map(c => c.textContent)));
  return { change, name: download.suggestedFilename(), folding: readFileSync(await download.path(), "utf8"), sums };
}

const browser = await chromium.launch({ executablePath: packages + "/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const answers = [];
for (const [number, { file, keys: worked }] of pages.entries()) {
  const faults = [], answer = { file, faults };
  for (const view of views) {
    const fault = what => { if (faults.length < 20) faults.push(`${view.name}: ${what}`); };
    const context = await browser.newContext({ viewport: { width: view.width, height: 900 }, colorScheme: view.scheme,
      javaScriptEnabled: !view.plain, reducedMotion: "reduce" });
    const page = await context.newPage();
    page.on("console", m => fault("console: " + m.text()));
    page.on("pageerror", e => fault("error: " + e.message));
    page.on("dialog", d => { fault("dialog: " + d.message()); d.dismiss(); });
    page.on("request", r => { if (r.url() !== "file://" + file && !r.url().startsWith("blob:")) fault("request: " + r.url()); });
    await page.emulateMedia({ media: view.media || "screen", colorScheme: view.scheme });
    await page.goto("file://" + file);
    if (shots) { // of 15,000 pixels at most, which Chromium can draw
      const fullPage = view.plain || await page.evaluate(() => document.documentElement.scrollHeight) < 15000;
      await page.screenshot({ path: `${shots}/${number}-${view.name}.png`, fullPage });
    }
    if (view.plain) { // without scripts
      const text = await page.textContent("main");
      answer.plain = text.length;
      await context.close();
      continue;
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > view.width && !view.media) fault(`it is ${wide} pixels wide`);
    if (await page.evaluate(() => document.querySelectorAll("img, iframe, object, embed, form, link").length)) {
      fault("there is an element that loads something");
    }
    await page.evaluate(axe);
    const found = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
    for (const v of found.violations) fault(`axe: ${v.id}: ${v.nodes.length} of ${v.nodes.map(n => n.html.slice(0, 130)).slice(0, 12).join(" ")}; ${(v.nodes[0].any[0] || {}).message || ""}`);
    if (view.name === "1400-light") {
      answer.paint = await page.evaluate(() => (performance.getEntriesByName("first-contentful-paint")[0] || {}).startTime);
      if (worked) Object.assign(answer, await keys(page, fault));
    }
    await context.close();
  }
  answers.push(answer);
}
await browser.close();
console.log(JSON.stringify(answers));
