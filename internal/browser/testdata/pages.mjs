// Opens pages of builds in Chromium and prints what is wrong with them, and what they answer, as JSON:
//     node pages.mjs PACKAGES {"pages": [{"file": FILE, "keys": BOOL, "timed": BOOL}], "shots": FOLDER}
// A page with keys is also worked by keys alone. Of a timed one only the times are taken.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { change, keys } from "./keys.mjs";

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
// paint returns when a page was painted first, in milliseconds from its start.
const paint = page => page.evaluate(() => (performance.getEntriesByName("first-contentful-paint")[0] || {}).startTime);

const browser = await chromium.launch({ executablePath: packages + "/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const answers = [];
for (const [number, { file, keys: worked, timed }] of pages.entries()) {
  const faults = [], answer = { file, faults };
  for (const view of timed ? views.slice(-1) : views) {
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
    if (timed) {
      answer.paint = await paint(page);
      answer.change = await change(page);
      await context.close();
      continue;
    }
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
      answer.paint = await paint(page);
      if (worked) Object.assign(answer, await keys(page, fault), { change: await change(page) });
    }
    await context.close();
  }
  answers.push(answer);
}
await browser.close();
console.log(JSON.stringify(answers));
