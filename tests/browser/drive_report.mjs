// Opens an HTML report in headless Chromium, uses every control, and prints what it saw as JSON.
// node drive_report.mjs <folder with node_modules> <chromium> <report.html> <folder for screenshots>
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , modules, executablePath, report, pictures] = process.argv;
const require = createRequire(`${modules}/`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf-8");
const address = pathToFileURL(report).href;

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const seen = { console: [], requests: [], dialogs: [], axe: {}, overflow: {} };

async function open(options, hash = "") {
  const context = await browser.newContext({ bypassCSP: false, ...options });
  const page = await context.newPage();
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) seen.console.push(message.text()); });
  page.on("pageerror", (error) => seen.console.push(String(error)));
  page.on("dialog", (dialog) => { seen.dialogs.push(dialog.message()); dialog.dismiss(); });
  page.on("request", (request) => { if (request.url().split("#")[0] !== address) seen.requests.push(request.url()); });
  const started = performance.now();
  await page.goto(address + hash);
  await page.locator("#found").filter({ hasText: "case" }).waitFor();
  return { context, page, took: performance.now() - started };
}

const found = (page) => page.locator("#found").textContent();
const ids = (page) => page.locator("#table tbody > tr[data-number] .open").allTextContents();
const expanded = (page) => page.locator("#table tr.detail").count();

async function timed(page, act) {
  // The time until the table is drawn again, measured in the page: what a reader waits for.
  return page.evaluate(async (code) => {
    const started = performance.now();
    new Function(code)();
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return performance.now() - started;
  }, act);
}

async function examine(page, name) {
  // axe-core is put in by the test, so the page's own policy has to be set aside for it: a second context does that.
  const violations = await page.evaluate(async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
    .map(({ id, impact, nodes }) => ({ id, impact, targets: nodes.slice(0, 3).map((node) => node.target.join(" ")) })));
  seen.axe[name] = violations;
}

// The page as a reader has it.
{
  const { context, page, took } = await open({ viewport: { width: 1280, height: 900 } });
  seen.load_ms = took;
  seen.title = await page.title();
  seen.first = await found(page);
  seen.cases_at = await page.evaluate(() => document.querySelector("#cases").getBoundingClientRect().top + scrollY);
  await page.screenshot({ path: `${pictures}/light.png` });
  await page.locator("#reset").click();
  seen.all = await found(page);
  seen.outcomes = await page.locator("#f-outcome option").allTextContents();
  for (const name of ["outcome", "change", "dialect", "tag"]) {
    const value = await page.locator(`#f-${name} option`).nth(1).getAttribute("value");
    if (value === null) continue;
    await page.selectOption(`#f-${name}`, value);
    seen[`filtered_${name}`] = [value, await found(page)];
    await page.selectOption(`#f-${name}`, "");
  }
  const choose_dialect = (place) => timed(page, `const s = document.getElementById("f-dialect"); s.selectedIndex = ${place}; s.dispatchEvent(new Event("change"));`);
  seen.filter_ms = [await choose_dialect(1), await choose_dialect(2), await choose_dialect(0), await choose_dialect(1)].sort((a, b) => a - b)[1];
  await page.locator("#reset").click();
  seen.search_ms = await timed(page, `const s = document.getElementById("search"); s.value = "orders"; s.dispatchEvent(new Event("input"));`);
  seen.second_search_ms = await timed(page, `const s = document.getElementById("search"); s.value = "orders-0001"; s.dispatchEvent(new Event("input"));`);
  seen.searched = await found(page);
  await page.locator("#reset").click();
  await page.fill("#search", "no such thing anywhere");
  seen.nothing = await found(page);
  await page.locator("#reset").click();
  seen.sorts = {};
  for (const head of await page.locator("#table th[data-by]").all()) {
    const by = await head.getAttribute("data-by");
    await head.locator("button").click();
    const up = [await head.getAttribute("aria-sort"), (await ids(page))[0]];
    await head.locator("button").click();
    seen.sorts[by] = [up, [await head.getAttribute("aria-sort"), (await ids(page))[0]]];
  }
  await page.locator('#table th[data-by="id"] button').click();
  await page.locator('#table th[data-by="id"] button').click();
  await page.locator('#table th[data-by="id"] button').click();
  if (await page.locator(".pages").isVisible()) {
    const before = await ids(page);
    await page.locator("#after").click();
    seen.pages = [await page.locator("#page").textContent(), before[0] !== (await ids(page))[0]];
    await page.locator("#before").click();
    seen.pages.push(await page.locator("#page").textContent());
  }
  // One wrong case, opened and closed from the keyboard.
  await page.selectOption("#f-outcome", "wrong").catch(() => {});
  const first = page.locator("#table .open").first();
  await first.focus();
  await page.keyboard.press("Enter");
  seen.expanded = [await first.getAttribute("aria-expanded"), await expanded(page)];
  seen.hash = new URL(page.url()).hash;
  seen.detail = await page.locator("#table tr.detail").innerText();
  seen.marked = await page.locator("#table tr.detail pre mark").allTextContents();
  seen.cells = await page.locator("#table tr.detail td.differs").allTextContents();
  seen.lost_rows = await page.locator("#table tr.detail tr.missing, #table tr.detail tr.extra").count();
  const choose = page.locator("#table tr.detail select");
  if (await choose.count()) {
    await choose.selectOption("1");
    seen.against_baseline = await page.locator("#table tr.detail .pair h3").first().textContent();
  }
  for (const summary of await page.locator("details summary").all()) await summary.click();
  const copy = page.locator("#table tr.detail .command button").first();
  if (await copy.count()) {
    await copy.click();
    await page.waitForFunction(() => document.querySelector("tr.detail .command button").textContent !== "Copy");
    seen.copied = await copy.textContent();
  }
  await page.locator("#table tr.detail").scrollIntoViewIfNeeded();
  await page.screenshot({ path: `${pictures}/detail.png`, fullPage: true });
  await page.getByRole("button", { name: "Close" }).first().click();
  seen.closed = [await expanded(page), await page.evaluate(() => document.activeElement.className)];
  await context.close();
}

// A link to a case, in the dark.
{
  const { context, page } = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "dark" }, seen.hash);
  seen.linked = [await expanded(page), await page.evaluate(() => document.activeElement.textContent)];
  await page.screenshot({ path: `${pictures}/dark.png`, fullPage: true });
  await context.close();
}

// A phone.
{
  const { context, page } = await open({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }, seen.hash);
  seen.overflow.phone = await page.evaluate(() => document.documentElement.scrollWidth - 390);
  // Rows of a result stay rows, although those of the list become cards.
  seen.phone_rows = await page.evaluate(() =>
    [...document.querySelectorAll("tr.detail table tr")].map((row) => new Set([...row.cells].map((cell) => Math.round(cell.getBoundingClientRect().top))).size));
  await page.screenshot({ path: `${pictures}/phone.png` });
  await page.locator("#cases").scrollIntoViewIfNeeded();
  await page.evaluate(() => document.querySelector("#filters").scrollIntoView());
  await page.screenshot({ path: `${pictures}/phone-cases.png` });
  await page.evaluate(() => document.querySelector("tr.detail").nextElementSibling.scrollIntoView());
  await page.screenshot({ path: `${pictures}/phone-list.png` });
  await context.close();
}

// Accessibility, light, dark and small, with a case opened.
for (const [name, options] of Object.entries({
  light: { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light" },
})) {
  const { context, page } = await open({ ...options, bypassCSP: true }, seen.hash);
  await page.evaluate(axe);
  await examine(page, name);
  await context.close();
}

await browser.close();
console.log(JSON.stringify(seen));
