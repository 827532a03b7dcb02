"use strict";
(() => {
  const PAGE = 50;
  const MOST_CELLS = 4e6;
  const WORDS = {
    answered: "answered", no_sql: "no SQL", sql_error: "SQL error", timeout: "timeout",
    golden_error: "golden error", unscored: "not measured", skipped: "skipped",
  };
  const at = (id) => document.getElementById(id);
  const data = JSON.parse(at("index").textContent);
  const column = Object.fromEntries(data.fields.map((name, place) => [name, place]));
  const rows = data.rows;
  const get = (number, name) => rows[number][column[name]];
  const chunks = new Map();
  const ranks = new Map();
  const opened = new Set();
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  let haystack = null;
  let order = rows.map((_, number) => number);
  let shown = order;
  let page = 0;
  let sorted = { by: "", down: false };

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key === "class") made.className = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  function details(number) {
    const chunk = Math.floor(number / data.chunk);
    if (!chunks.has(chunk)) {
      chunks.set(chunk, JSON.parse(document.querySelector(`script[data-chunk="${chunk}"]`).textContent));
    }
    return chunks.get(chunk)[number % data.chunk];
  }

  const states = rows.map((row) => {
    const outcome = row[column.outcome], value = row[column.value];
    if (outcome !== "answered") return outcome;
    return value === null ? "unscored" : value >= 1 ? "right" : "wrong";
  });
  const state = (number) => states[number];

  function stateWords(name) {
    return { right: "right", wrong: "wrong answer" }[name] || WORDS[name];
  }

  function tone(name) {
    if (name === "right") return "right";
    if (name === "unscored") return "unmeasured";
    return name === "golden_error" || name === "skipped" ? "out" : "wrong";
  }

  function address(number) {
    const parts = ["id", "dialect", "database", "trial"].map((name) => encodeURIComponent(get(number, name)));
    return `#case/${parts.join("/")}`;
  }

  /* ---- filters, order, pages ---- */

  function options(select, values, words) {
    select.append(element("option", { value: "" }, "all"));
    for (const value of values) select.append(element("option", { value }, words ? words(value) : value));
    if (values.length < 1) select.disabled = true;
  }

  function distinct(of) {
    const found = new Map();
    rows.forEach((_, number) => { for (const value of of(number)) if (value !== "") found.set(value, (found.get(value) || 0) + 1); });
    return [...found.keys()].sort(collator.compare);
  }

  function words() {
    if (haystack === null) {
      haystack = rows.map((row) => [row[column.id], row[column.question], row[column.sql], row[column.why]].join("\n").toLowerCase());
    }
    return haystack;
  }

  function filter() {
    const wanted = at("search").value.trim().toLowerCase();
    const outcome = at("f-outcome").value, change = at("f-change").value, dialect = at("f-dialect").value;
    const tag = at("f-tag").value === "" ? -1 : data.tags.indexOf(at("f-tag").value);
    const hay = wanted ? words() : null;
    const { change: changeAt, dialect: dialectAt, tags: tagsAt } = column;
    shown = order.filter((number) =>
      (!outcome || states[number] === outcome) &&
      (!change || rows[number][changeAt] === change) &&
      (!dialect || rows[number][dialectAt] === dialect) &&
      (tag < 0 || rows[number][tagsAt].includes(tag)) &&
      (!hay || hay[number].includes(wanted)));
    page = 0;
    draw();
  }

  function clear() {
    for (const id of ["search", "f-outcome", "f-change", "f-dialect", "f-tag"]) at(id).value = "";
    filter();
  }

  function rank(by) {
    if (ranks.has(by)) return ranks.get(by);
    const found = new Float64Array(rows.length);
    const values = rows.map((_, number) => (by === "outcome" ? state(number) : get(number, by)));
    if (by === "value" || by === "latency") {
      values.forEach((value, number) => { found[number] = value === null ? -1 : value; });
    } else {
      const places = new Map([...new Set(values)].sort(collator.compare).map((value, place) => [value, place]));
      values.forEach((value, number) => { found[number] = places.get(value); });
    }
    ranks.set(by, found);
    return found;
  }

  function sort(by) {
    sorted = { by, down: sorted.by === by && !sorted.down };
    const found = rank(by), sign = sorted.down ? -1 : 1;
    order = rows.map((_, number) => number).sort((a, b) => sign * (found[a] - found[b]) || a - b);
    for (const head of document.querySelectorAll("#table th[data-by]")) {
      if (head.dataset.by === by) head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    filter();
  }

  function draw() {
    const body = document.querySelector("#table tbody");
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    const made = document.createDocumentFragment();
    for (const number of shown.slice(page * PAGE, (page + 1) * PAGE)) {
      made.append(line(number));
      if (opened.has(number)) made.append(detail(number));
    }
    body.replaceChildren(made);
    const count = (n) => n.toLocaleString("en");
    at("found").textContent = shown.length === rows.length
      ? `${count(rows.length)} cases` : `${count(shown.length)} of ${count(rows.length)} cases`;
    at("page").textContent = `page ${page + 1} of ${pages}`;
    at("before").disabled = page === 0;
    at("after").disabled = page >= pages - 1;
    document.querySelector(".pages").hidden = pages === 1;
  }

  function turn(by) {
    page += by;
    draw();
    at("cases").focus();
    at("cases").scrollIntoView();
  }

  function line(number) {
    const trial = get(number, "trial"), name = state(number), change = get(number, "change"), value = get(number, "value");
    const latency = get(number, "latency");
    const button = element("button", { type: "button", class: "open", "aria-expanded": String(opened.has(number)) },
      get(number, "id") + (trial > 1 ? ` (trial ${trial})` : ""));
    if (opened.has(number)) button.setAttribute("aria-controls", `case-${number}`);
    button.addEventListener("click", () => toggle(number));
    const head = element("th", { scope: "row" }, button);
    if (get(number, "required")) head.append(" ", element("span", { class: "tag", title: "required item" }, "required"));
    const cell = (title, text, extra) => element("td", { "data-name": title, ...extra }, text);
    const blank = (extra) => element("td", extra);
    return element("tr", { "data-number": number },
      head, cell("dialect", get(number, "dialect")), cell("database", get(number, "database")),
      element("td", {}, element("span", { class: `tag ${tone(name)}` }, stateWords(name))),
      change ? element("td", {}, element("span", { class: `tag ${change}` }, change)) : blank({}),
      value === null ? blank({ class: "n" }) : cell("score", String(Math.round(value * 1000) / 1000), { class: "n" }),
      get(number, "why") ? cell("why", get(number, "why")) : blank({}),
      latency === null ? blank({ class: "n" }) : cell("latency", `${latency.toFixed(2)} s`, { class: "n" }));
  }

  function toggle(number) {
    const row = document.querySelector(`#table tr[data-number="${number}"]`);
    const button = row.querySelector(".open");
    if (opened.delete(number)) {
      row.nextElementSibling.remove();
      button.removeAttribute("aria-controls");
    } else {
      opened.add(number);
      row.after(detail(number));
      button.setAttribute("aria-controls", `case-${number}`);
      note(address(number));
    }
    button.setAttribute("aria-expanded", String(opened.has(number)));
  }

  function note(hash) {
    try { history.replaceState(null, "", hash); } catch { /* some viewers of files forbid it; the link is shown all the same */ }
  }

  /* ---- one case ---- */

  function section(title, ...children) {
    return element("div", {}, element("h3", {}, title), ...children);
  }

  function detail(number) {
    const found = details(number);
    const box = element("td", { colspan: 8 });
    if (get(number, "question")) box.append(section("Question", element("p", {}, get(number, "question"))));
    if (get(number, "why")) box.append(section("What is wrong", element("p", {}, get(number, "why"))));
    if (found.error) box.append(section("The database says", element("pre", { tabindex: 0 }, found.error)));
    box.append(...sqlTexts(found), ...results(found));
    if (found.reply) {
      box.append(element("details", {}, element("summary", {}, "The reply as it came"), element("pre", { tabindex: 0 }, found.reply)));
    }
    for (const warning of found.warnings || []) box.append(element("p", { class: "note" }, `Warning: ${warning}`));
    if (found.commands) box.append(section("Reproduce", ...found.commands.map(command)));
    box.append(element("ul", { class: "facts" }, ...(found.facts || []).map(([name, text]) => element("li", {}, `${name}: ${text}`))));
    const close = element("button", { type: "button" }, "Close");
    close.addEventListener("click", () => {
      toggle(number);
      document.querySelector(`#table tr[data-number="${number}"] .open`).focus();
    });
    box.append(element("p", { class: "tools" }, close, element("a", { href: address(number) }, "Link to this case")));
    return element("tr", { class: "detail", id: `case-${number}` }, box);
  }

  function command(text) {
    const pre = element("pre", { tabindex: 0 }, text);
    const button = element("button", { type: "button" }, "Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(pre);
        button.textContent = "Selected";
      }
    });
    return element("div", { class: "command" }, pre, button);
  }

  function sqlTexts(found) {
    const golden = (found.golden || []).join(";\n");
    const sides = [];
    if (golden) sides.push(["Golden SQL", golden]);
    if (found.old && found.old.sql) sides.push(["The baseline's SQL", found.old.sql]);
    if (!found.sql) return sides.map(([title, text]) => section(title, element("pre", { tabindex: 0 }, text)));
    if (sides.length === 0) return [section("Generated SQL", element("pre", { tabindex: 0 }, found.sql))];
    const pair = element("div", { class: "pair" });
    const put = (choice) => {
      const [title, text] = sides[choice];
      const [left, right] = difference(text, found.sql);
      pair.replaceChildren(
        section(title, element("pre", { tabindex: 0 }, ...left)), section("Generated SQL", element("pre", { tabindex: 0 }, ...right)));
    };
    put(0);
    if (sides.length === 1) return [pair];
    const select = element("select", {}, ...sides.map(([title], place) => element("option", { value: place }, title)));
    select.addEventListener("change", () => put(Number(select.value)));
    return [element("p", { class: "tools" }, element("label", {}, "Compare with ", select)), pair];
  }

  function difference(left, right) {
    const split = (text) => text.match(/\s+|\w+|[^\w\s]/gu) || [];
    const a = split(left), b = split(right);
    let start = 0, end = 0;
    while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
    while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
    const kept = common(a.slice(start, a.length - end), b.slice(start, b.length - end));
    return [painted(a, start, end, kept.a), painted(b, start, end, kept.b)];
  }

  function common(a, b) {
    const found = { a: new Set(), b: new Set() };
    if (a.length * b.length > MOST_CELLS) return found;
    const width = b.length + 1;
    const table = new Uint16Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        table[i * width + j] = a[i] === b[j]
          ? table[(i + 1) * width + j + 1] + 1 : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
      }
    }
    for (let i = 0, j = 0; i < a.length && j < b.length;) {
      if (a[i] === b[j]) { found.a.add(i); found.b.add(j); i += 1; j += 1; }
      else if (table[(i + 1) * width + j] >= table[i * width + j + 1]) i += 1;
      else j += 1;
    }
    return found;
  }

  function painted(tokens, start, end, kept) {
    const parts = [];
    tokens.forEach((token, place) => {
      const differs = place >= start && place < tokens.length - end && !kept.has(place - start) && token.trim() !== "";
      const last = parts[parts.length - 1];
      if (last && last.differs === differs) last.text += token;
      else parts.push({ differs, text: token });
    });
    return parts.map((part) => (part.differs ? element("mark", {}, part.text) : part.text));
  }

  function results(found) {
    const expected = found.expected, result = found.result;
    if (!expected && !result) {
      return data.rows_shown ? [] : [element("p", { class: "note" }, "Rows are not shown for this database.")];
    }
    const marks = expected && result ? compare(expected.rows, result.rows) : { left: new Map(), right: new Map() };
    return [element("div", { class: "pair" },
      ...(expected ? [section(titled("Golden result", expected), grid(expected, marks.left, "missing"))] : []),
      ...(result ? [section(titled("This result", result), grid(result, marks.right, "extra"))] : []))];
  }

  function titled(title, result) {
    const first = result.rows.length < result.total ? `, the first ${result.rows.length}` : "";
    return `${title} (${result.total.toLocaleString("en")} ${result.total === 1 ? "row" : "rows"}${first})`;
  }

  /* Rows that both sides have are unmarked. Of the others the likest are set beside each other, and only their cells that differ marked. */
  function compare(left, right) {
    const key = (row) => JSON.stringify(row);
    const there = new Map();
    right.forEach((row, place) => { there.set(key(row), [...(there.get(key(row)) || []), place]); });
    const alone = [], taken = new Set();
    left.forEach((row, place) => {
      const same = (there.get(key(row)) || []).find((other) => !taken.has(other));
      if (same === undefined) alone.push(place); else taken.add(same);
    });
    const marks = { left: new Map(), right: new Map() };
    const others = right.map((_, place) => place).filter((place) => !taken.has(place));
    for (const place of alone) {
      let best = -1, most = 0;
      others.forEach((other, index) => {
        const equal = left[place].length === right[other].length ? left[place].filter((cell, i) => cell === right[other][i]).length : 0;
        if (equal > most) { most = equal; best = index; }
      });
      if (best < 0) { marks.left.set(place, "all"); continue; }
      const [other] = others.splice(best, 1);
      const differs = new Set(left[place].map((_, i) => i).filter((i) => left[place][i] !== right[other][i]));
      marks.left.set(place, differs);
      marks.right.set(other, differs);
    }
    for (const other of others) marks.right.set(other, "all");
    return marks;
  }

  function grid(result, marks, word) {
    const wide = result.width > result.columns.length ? [`… ${result.width - result.columns.length} more`] : [];
    const head = element("tr", {}, ...[...result.columns, ...wide].map((name) => element("th", { scope: "col" }, name || "(no name)")));
    const body = result.rows.map((row, place) => {
      const mark = marks.get(place);
      return element("tr", mark === "all" ? { class: word } : {}, ...row.map((cell, i) =>
        element("td", mark instanceof Set && mark.has(i) ? { class: "differs" } : {},
          ...(mark === "all" && i === 0 ? [element("span", { class: "tag wrong" }, word), " "] : []),
          ...(mark instanceof Set && mark.has(i) ? [element("mark", {}, cell)] : [cell]))));
    });
    const none = result.rows.length ? [] : [element("tr", {}, element("td", { colspan: Math.max(1, result.columns.length) }, "no rows"))];
    const table = element("table", {}, ...(result.columns.length ? [element("thead", {}, head)] : []), element("tbody", {}, ...body, ...none));
    return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": word === "missing" ? "Golden result" : "This result" }, table);
  }

  /* ---- links to a case ---- */

  function follow() {
    const parts = location.hash.split("/");
    if (parts[0] !== "#case" || parts.length !== 5) return;
    let wanted;
    try { wanted = parts.slice(1).map(decodeURIComponent); } catch { return; }
    const number = rows.findIndex((row) => ["id", "dialect", "database", "trial"].every((name, i) => String(row[column[name]]) === wanted[i]));
    if (number < 0) { at("found").textContent = "The link names a case that this run does not have."; return; }
    if (!shown.includes(number)) clear();
    page = Math.floor(shown.indexOf(number) / PAGE);
    opened.add(number);
    draw();
    const row = document.querySelector(`#table tr[data-number="${number}"]`);
    row.scrollIntoView();
    row.querySelector(".open").focus({ preventScroll: true });
  }

  options(at("f-outcome"), distinct((number) => [state(number)]), stateWords);
  options(at("f-change"), distinct((number) => [get(number, "change")]));
  options(at("f-dialect"), distinct((number) => [get(number, "dialect")]));
  options(at("f-tag"), [...data.tags].sort(collator.compare));
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("filters").addEventListener("reset", (event) => { event.preventDefault(); clear(); });
  at("search").addEventListener("input", filter);
  for (const id of ["f-outcome", "f-change", "f-dialect", "f-tag"]) at(id).addEventListener("change", filter);
  for (const head of document.querySelectorAll("#table th[data-by]")) {
    head.querySelector("button").addEventListener("click", () => sort(head.dataset.by));
  }
  at("before").addEventListener("click", () => turn(-1));
  at("after").addEventListener("click", () => turn(1));
  addEventListener("hashchange", follow);
  at("table").hidden = false;
  if (rows.some((row) => row[column.change] === "broke")) at("f-change").value = "broke";
  filter();
  follow();
})();
