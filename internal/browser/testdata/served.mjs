// Works the page that hlsgen report --serve shows, in Chromium, and prints what is wrong and what it shows, as JSON:
//     node served.mjs PACKAGES CHROMIUM ADDRESS
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [packages, executablePath, address] = process.argv.slice(2);
const { chromium } = createRequire(packages + "/x.js")("playwright-core");
const axe = readFileSync(packages + "/node_modules/axe-core/axe.min.js", "utf8");

const faults = [], shown = [];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await (await browser.newContext({ viewport: { width: 400, height: 900 } })).newPage();
page.on("console", m => faults.push("console: " + m.text()));
page.on("pageerror", e => faults.push("error: " + e.message));
page.on("request", r => { if (!r.url().startsWith(address)) faults.push("request: " + r.url()); });
await page.goto(address);

const state = async () => ({
  board: await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).board),
  clock: await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).clock_mhz),
  interval: await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).interval_clocks),
});
// built presses a button by key, waits for the page of the new design, and keeps what it shows.
const built = async text => {
  await page.locator("#again button", { hasText: text }).focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  shown.push({ text, ...await state() });
};
shown.push({ text: "", ...await state() });
await built("Fastest that fits");
await page.waitForSelector("#again a[href='compare']");
await page.selectOption("#what-if select >> nth=0", { index: 0 });
await built("The folding of What if");
await built("Least at this rate");
await page.fill("#again input[type=number]", "100");
await page.fill("#again input[size]", "zcu104");
await built("Build for these");
await page.fill("#again input[size]", "nothing");
await page.locator("#again button", { hasText: "Build for these" }).press("Enter");
await page.waitForFunction(() => document.querySelector("#again [role=status]").textContent.includes("nothing"));
await page.locator("#again button", { hasText: "Fastest that fits" }).press("Enter");
await page.locator("#again button", { hasText: "Stop" }).press("Enter");
await page.waitForFunction(() => document.querySelector("#again [role=status]").textContent.startsWith("Stopped"))
  .catch(() => faults.push("it does not stop"));
const wide = await page.evaluate(() => document.documentElement.scrollWidth);
if (wide > 400) faults.push(`it is ${wide} pixels wide`);
await page.evaluate(axe);
for (const v of (await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }))).violations) {
  faults.push(`axe: ${v.id}: ${v.nodes[0].html.slice(0, 160)}`);
}
await Promise.all([page.waitForEvent("load"), page.locator("#again button", { hasText: "folder's design" }).click()]);
shown.push({ text: "reset", ...await state() });
await browser.close();
console.log(JSON.stringify({ faults, shown }));
