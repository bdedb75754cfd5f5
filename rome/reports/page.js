"use strict";
/* Packed texts: base64 of deflated UTF-8, as page.py writes them. */
const byId = (name) => document.getElementById(name);

const canUnpack = typeof DecompressionStream === "function";

const unpack = (element) => {
  const letters = atob(element.textContent);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) bytes[place] = letters.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
};

/* The explanations stand at the end of the file: whoever opens one before the file is read waits for it. */
const wholePage = new Promise((done) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => done());
  else done();
});

const fragments = (() => {
  const BLOCK = 64, KEPT = 8, kept = new Map();
  const block = (number) => {
    if (!kept.has(number)) {
      const ready = byId(`block-${number}`)?.nextSibling ? Promise.resolve() : wholePage;
      kept.set(number, ready.then(() => unpack(byId(`block-${number}`))));
      if (kept.size > KEPT) kept.delete(kept.keys().next().value);
    }
    return kept.get(number);
  };
  return { of: async (row) => {
    const found = (await block(Math.floor(row / BLOCK))).split("\x1e")[row % BLOCK];
    if (found === undefined) throw new Error("the block is too short");
    return found;
  } };
})();
/* The rows: row = segment * systems + system. Nothing here touches the page. */
class Rows {
  constructor(columns) {
    Object.assign(this, columns);
    this.width = this.systems.length;
    this.count = this.references.length;
    this.columns = new Map();
    this.measures.forEach((name, place) => {
      this.columns.set(name, Float64Array.from(this.numbers[place], (value) => (value === null ? NaN : value / this.scale)));
    });
    if (this.width > 1) this.columns.set("difference", this.differences());
    this.columns.set("errors found", Float64Array.from(this.errors, (found) => found.length));
    this.numbers = null;
  }

  /* Each row's score minus the mean score of the other systems on the same segment. */
  differences() {
    const score = this.columns.get("score"), found = new Float64Array(this.count);
    for (let start = 0; start < this.count; start += this.width) {
      let sum = 0;
      for (let system = 0; system < this.width; system += 1) sum += score[start + system];
      for (let row = start; row < start + this.width; row += 1) found[row] = score[row] - (sum - score[row]) / (this.width - 1);
    }
    return found;
  }

  system(row) { return row % this.width; }
  segment(row) { return Math.floor(row / this.width); }
  name(row) { return this.segments[this.segment(row)]; }
  value(row, measure) { return this.columns.get(measure)[row]; }
  hypothesis(row) { return this.texts[this.hypotheses[row]]; }
  reference(row) { return this.texts[this.references[row]]; }
  severity(row) { return this.errors[row].map((kind) => this.kinds[kind][0]); }

  /* As texts are compared: whatever case and width a letter has ("STRASSE" is "straße"). */
  static folded(text) { return text.normalize("NFKC").toUpperCase().toLowerCase(); }

  /* Words as they are searched, each distinct text folded once. */
  haystack(row) {
    this.foldedTexts ??= this.texts.map(Rows.folded);
    this.foldedNames ??= this.segments.map(Rows.folded);
    return [this.foldedTexts[this.hypotheses[row]], this.foldedTexts[this.references[row]], this.foldedNames[this.segment(row)]];
  }

  terms(query) { return Rows.folded(query).split(/\s+/).filter(Boolean); }

  /* The rows that fit a state, in its order. */
  find(state) {
    const terms = this.terms(state.q), system = this.systems.indexOf(state.system), flag = this.flagNames.indexOf(state.flag);
    const limit = state.below === "" ? null : Number(state.below), limited = this.columns.get(state.measure);
    const kinds = new Set([...this.kinds.keys()].filter((kind) => this.fits(kind, state)));
    const any = !state.type && !state.severity, found = [];
    for (let row = 0; row < this.count; row += 1) {
      if (state.system && row % this.width !== system) continue;
      if (limit !== null && !(limited[row] < limit)) continue;
      if (state.flag === "none" ? this.flags[row].length : state.flag && !this.flags[row].includes(flag)) continue;
      if (state.severity === "none" ? this.errors[row].length : !any && !this.errors[row].some((kind) => kinds.has(kind))) continue;
      if (terms.length) {
        const texts = this.haystack(row);
        if (!terms.every((term) => texts.some((text) => text.includes(term)))) continue;
      }
      found.push(row);
    }
    return this.sorted(found, state.sort);
  }

  fits(kind, state) {
    const [severity, type] = this.kinds[kind];
    return (!state.severity || severity === state.severity) && (!state.type || type === state.type);
  }

  /* "segment", or a column with "-" before it for the highest first; missing numbers last, equal ones in the order of the file. */
  sorted(rows, order) {
    const down = order.startsWith("-"), name = down ? order.slice(1) : order, sign = down ? -1 : 1;
    if (name === "segment") return down ? rows.sort((a, b) => this.segment(b) - this.segment(a) || a - b) : rows;
    if (name === "system") return rows.sort((a, b) => sign * (this.system(a) - this.system(b)) || a - b);
    const column = this.columns.get(name);
    return rows.sort((a, b) => {
      const [x, y] = [column[a], column[b]];
      if (x !== x || y !== y) return (x !== x) - (y !== y) || a - b;
      return sign * (x - y) || a - b;
    });
  }
}
/* What is looked at, kept in the address after "#", so that it can be linked and the browser's Back leads out of a segment. */
const DEFAULTS = Object.freeze({
  q: "", system: "", measure: "score", below: "", flag: "", type: "", severity: "", sort: "segment", page: "1", size: "50", open: "",
});

/* The state of an address; whatever does not fit these rows is as if it were not there. */
const readState = (rows) => {
  const given = new URLSearchParams(location.hash.slice(1)), state = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS)) if (given.has(name)) state[name] = given.get(name);
  const known = {
    system: rows.systems,
    measure: rows.measures,
    flag: ["none", ...rows.flagNames],
    type: rows.kinds.map((kind) => kind[1]),
    severity: ["none", "minor", "major", "critical"],
    sort: ["segment", "system", ...rows.columns.keys()].flatMap((name) => [name, `-${name}`]),
    size: ["25", "50", "100", "200"],
  };
  for (const [name, values] of Object.entries(known)) if (!values.includes(state[name])) state[name] = DEFAULTS[name];
  if (state.below !== "" && !Number.isFinite(Number(state.below))) state.below = "";
  if (!(Number(state.page) >= 1)) state.page = "1";
  if (openRow(rows, state) === null) state.open = "";
  return state;
};

/* The open segment is named by its place among the segments and its system: "17:baseline". */
const openRow = (rows, state) => {
  const [, segment, name] = /^(\d+):(.*)$/s.exec(state.open) ?? [];
  const system = rows.systems.indexOf(name), place = Number(segment);
  return system >= 0 && place < rows.segments.length ? place * rows.width + system : null;
};

const openName = (rows, row) => `${rows.segment(row)}:${rows.systems[rows.system(row)]}`;

const addressOf = (state) => {
  const kept = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name] && !(name === "measure" && state.below === ""));
  return `#${new URLSearchParams(kept)}`;
};

const isState = () => location.hash === "" || location.hash === "#" || location.hash.includes("=");

const isFiltered = (state) => ["q", "system", "below", "flag", "type", "severity"].some((name) => state[name] !== "");
/* The table: one page of rows at a time, one stop for Tab, arrows between rows. */
const make = (tag, properties = {}, ...children) => {
  const { role, ...others } = properties, element = Object.assign(document.createElement(tag), others);
  if (role) element.setAttribute("role", role);
  element.append(...children);
  return element;
};

const shown = (value, signed = false) => {
  if (Number.isNaN(value)) return "–";
  const text = Math.abs(value).toFixed(3), zero = Number(text) === 0;
  return (value < 0 && !zero ? "−" : signed && !zero ? "+" : "") + text;
};

const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

/* The text with what was searched marked. It is folded letter by letter, because folding changes lengths ("ß" is "ss"). */
const marked = (text, terms) => {
  if (!terms.length) return [text];
  const places = [], parts = [];
  let folded = "", length = 0, done = 0, from = 0;
  for (const letter of text) {
    folded += Rows.folded(letter);
    while (places.length < folded.length) places.push(length);
    length += letter.length;
  }
  places.push(length);
  for (;;) {
    const hits = terms.map((term) => [folded.indexOf(term, from), term.length]).filter(([at]) => at >= 0);
    if (!hits.length) return [...parts, text.slice(done)];
    const [at, size] = hits.sort((a, b) => a[0] - b[0] || b[1] - a[1])[0];
    from = at + size;
    while (from < folded.length && places[from] === places[from - 1]) from += 1;
    parts.push(text.slice(done, places[at]), make("mark", { textContent: text.slice(places[at], places[from]) }));
    done = places[from];
  }
};

class Table {
  constructor(rows, { onSort, onOpen, onTurn }) {
    Object.assign(this, { rows, onSort, onOpen, onTurn });
    this.table = byId("rows");
    this.body = this.table.tBodies[0];
    const number = (name, title) => ({ name, title: title ?? name, numeric: true });
    this.columns = [
      { name: "segment", title: "segment" },
      ...(rows.width > 1 ? [{ name: "system", title: "system" }] : []),
      ...rows.measures.map((name) => number(name, { completeness: "complete", faithfulness: "faithful" }[name])),
      ...(rows.width > 1 ? [number("difference")] : []),
      { name: "", title: "output and reference" },
      { name: "errors found", title: "flags and errors", countable: true },
    ];
    this.heads = this.columns.map((column) => this.head(column));
    this.table.style.setProperty("--longest", `${Math.min(20, Math.max(...rows.systems.map((name) => name.length)))}ch`);
    this.table.tHead.rows[0].append(...this.heads);
    this.table.setAttribute("aria-colcount", this.columns.length);
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("keydown", (event) => this.key(event));
  }

  head({ name, title, numeric, countable }) {
    const cell = make("th", { scope: "col", role: "columnheader", className: numeric ? "n" : "" });
    if (!name) return cell.append(title), cell;
    const button = make("button", { type: "button" }, title);
    const first = countable ? `-${name}` : name, second = countable ? name : `-${name}`;
    button.addEventListener("click", () => this.onSort((now) => (now === first ? second : first)));
    if (name === "difference") button.title = "Score minus the mean score of the other systems on the same segment";
    cell.append(button);
    return cell;
  }

  show(found, first, last, state) {
    this.state = state;
    this.terms = this.rows.terms(state.q);
    const order = state.sort.replace(/^-/, "");
    this.columns.forEach(({ name }, place) => {
      const sorted = name && name === order ? (state.sort.startsWith("-") ? "descending" : "ascending") : "none";
      if (name) this.heads[place].setAttribute("aria-sort", sorted);
    });
    this.table.setAttribute("aria-rowcount", found.length + 1);
    this.body.replaceChildren(...found.slice(first, last).map((row, place) => this.row(row, first + place)));
    this.stop(this.body.querySelector("button"));
  }

  row(row, place) {
    const { rows } = this, system = rows.systems[rows.system(row)];
    const open = make("button", { type: "button", className: "open", tabIndex: -1 }, make("bdi", { textContent: rows.name(row) }));
    open.setAttribute("aria-haspopup", "dialog");
    open.setAttribute("aria-label", `Open segment ${rows.name(row)}${rows.width > 1 ? ` of ${system}` : ""}`);
    const line = make("tr", { role: "row" }, make("th", { scope: "row", role: "rowheader", className: "segment" }, open));
    line.dataset.row = row;
    line.setAttribute("aria-rowindex", place + 2);
    if (rows.width > 1) line.append(make("td", { role: "cell", className: "system" }, make("bdi", { textContent: system })));
    for (const name of rows.measures) line.append(this.number(name, rows.value(row, name)));
    if (rows.width > 1) line.append(this.number("difference", rows.value(row, "difference")));
    line.append(this.texts(row), this.findings(row));
    return line;
  }

  number(name, value) {
    const cell = make("td", { role: "cell", className: `n ${name}` }, make("span", { textContent: shown(value, name === "difference") }));
    cell.dataset.label = name;
    if (name !== "difference" && value === value) cell.style.setProperty("--part", `${100 * Math.min(1, Math.max(0, value))}%`);
    return cell;
  }

  texts(row) {
    const text = this.rows.hypothesis(row), cell = make("td", { role: "cell", className: "texts" });
    const output = make("p", { className: "output", dir: "auto" }, ...marked(text, this.terms));
    if (!text.trim()) output.replaceChildren(make("em", { textContent: "empty" }));
    const reference = make("p", { className: "reference", dir: "auto" }, ...marked(this.rows.reference(row), this.terms));
    cell.append(output, make("span", { className: "unseen", textContent: " reference: " }), reference);
    return cell;
  }

  findings(row) {
    const { rows } = this, cell = make("td", { role: "cell", className: "findings" });
    for (const flag of rows.flags[row]) {
      cell.append(make("span", { className: "flag", textContent: rows.flagNames[flag].replaceAll("_", " ") }), " ");
    }
    for (const severity of ["critical", "major", "minor"]) {
      const types = rows.errors[row].map((kind) => rows.kinds[kind]).filter((kind) => kind[0] === severity).map((kind) => kind[1]);
      if (!types.length) continue;
      const counts = Object.entries(types.reduce((sum, type) => ({ ...sum, [type]: (sum[type] ?? 0) + 1 }), Object.create(null)));
      const words = counts.sort((a, b) => b[1] - a[1]).map(([type, count]) => (count > 1 ? `${type} ×${count}` : type)).join(", ");
      cell.append(make("p", {}, make("span", { className: `error ${severity}`, textContent: `${types.length} ${severity}` }), ` ${words}`));
    }
    return cell;
  }

  stop(button) {
    for (const other of this.body.querySelectorAll("button[tabindex='0']")) other.tabIndex = -1;
    if (button) button.tabIndex = 0;
  }

  focus(button) {
    this.stop(button);
    button?.focus();
    button?.closest("tr").scrollIntoView({ block: "nearest" });
  }

  focusRow(row) { this.focus(this.body.querySelector(`tr[data-row="${row}"] button`) ?? this.body.querySelector("button")); }
  focusEnd(last) { const all = this.body.querySelectorAll("button.open"); this.focus(all[last ? all.length - 1 : 0]); }

  click(event) {
    const line = event.target.closest("tr");
    if (!line || (!event.target.closest("button") && String(getSelection()))) return;
    this.onOpen(Number(line.dataset.row));
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const all = [...this.body.querySelectorAll("button.open")], at = all.indexOf(document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "PageDown" || event.key === "PageUp") this.onTurn(event.key === "PageDown" ? 1 : -1, false);
    else if (next === undefined) return;
    else if (next >= 0 && next < all.length) this.focus(all[next]);
    else this.onTurn(next < 0 ? -1 : 1, next < 0);
    event.preventDefault();
  }
}
/* One segment, opened: its explanation is unpacked only now. */
class Detail {
  constructor(rows, { onMove, onClose, addressFor }) {
    Object.assign(this, { rows, onMove, onClose, addressFor, row: null });
    this.dialog = byId("detail");
    this.box = byId("explanation");
    byId("before").addEventListener("click", () => onMove(-1));
    byId("after").addEventListener("click", () => onMove(1));
    byId("close").addEventListener("click", () => onClose());
    this.dialog.addEventListener("cancel", (event) => { event.preventDefault(); onClose(); });
    this.dialog.addEventListener("click", (event) => { if (event.target === this.dialog) onClose(); });
    this.dialog.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest("[tabindex='0'],input,select")) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) { event.preventDefault(); this.onMove(step); }
  }

  async show(row, place, count) {
    const { rows } = this, fresh = this.row !== row;
    this.row = row;
    const title = [make("span", {}, "Segment ", make("bdi", { textContent: rows.name(row) }))];
    if (rows.width > 1) title.push(" ", make("bdi", { className: "whose", textContent: rows.systems[rows.system(row)] }));
    byId("detail-title").replaceChildren(...title);
    const number = rows.name(row) === String(rows.segment(row)) ? "" : `segment number ${rows.segment(row).toLocaleString("en")}, `;
    byId("detail-place").textContent = number + (place < 0 ? "not among the rows found" : `row ${(place + 1).toLocaleString("en")} of ${count.toLocaleString("en")}`);
    byId("before").disabled = place <= 0;
    byId("after").disabled = place < 0 || place >= count - 1;
    byId("link").href = this.addressFor(row);
    this.showOthers(row);
    if (!this.dialog.open) {
      this.dialog.showModal();
      byId("detail-title").focus();
    }
    if (!fresh) return;
    this.box.setAttribute("aria-busy", "true");
    let html;
    try {
      html = await fragments.of(row);
    } catch (error) {
      html = null;
    }
    if (this.row !== row) return;
    if (html === null) this.box.textContent = "This explanation is damaged: the file was cut or changed. Write the report again.";
    else this.box.innerHTML = html;
    this.box.removeAttribute("aria-busy");
    this.dialog.scrollTop = 0;
  }

  /* The same segment of every system, with its score. */
  showOthers(row) {
    const { rows } = this, start = row - rows.system(row), box = byId("others");
    box.hidden = rows.width < 2;
    if (box.hidden) return;
    const links = rows.systems.map((name, system) => {
      const link = make("a", { href: this.addressFor(start + system) }, make("bdi", { textContent: name }), ` ${shown(rows.value(start + system, "score"))}`);
      if (start + system === row) link.setAttribute("aria-current", "true");
      link.addEventListener("click", (event) => { event.preventDefault(); this.onMove(0, start + system); });
      return make("li", {}, link);
    });
    box.replaceChildren(make("h3", { textContent: "This segment of each system" }), make("ul", {}, ...links));
  }

  hide() {
    this.row = null;
    if (this.dialog.open) this.dialog.close();
    this.box.replaceChildren();
  }
}
/* Puts rows, state, table and detail together. */
const exported = (rows, found) => {
  /* A spreadsheet takes a text that starts like this for a formula or a quotation. */
  const safe = (text) => text.replace(/[\t\r\n\v\f\u0085\u2028\u2029]+/g, " ").replace(/^(?=\s*[=+\-@"'＝＋－＠])/, "'");
  const digits = Math.round(Math.log10(rows.scale));
  const number = (value) => (Number.isNaN(value) ? "" : value.toFixed(digits));
  const compared = rows.width > 1 ? ["difference"] : [];
  const head = ["segment", "system", ...rows.measures, ...compared, "flags", "errors", "reference", "hypothesis"];
  const lines = found.map((row) => [
    safe(rows.name(row)),
    safe(rows.systems[rows.system(row)]),
    ...[...rows.measures, ...compared].map((name) => number(rows.value(row, name))),
    safe(rows.flags[row].map((flag) => rows.flagNames[flag]).join(",")),
    safe(rows.errors[row].map((kind) => rows.kinds[kind].join(" ")).join(", ")),
    safe(rows.reference(row)),
    safe(rows.hypothesis(row)),
  ]);
  return [head, ...lines].map((cells) => cells.join("\t") + "\n").join("");
};

const start = (rows) => {
  let state = readState(rows), found = [], timer = 0;
  const controls = ["q", "system", "measure", "below", "flag", "type", "severity", "sort", "size"];

  const choices = (name, values) => byId(name).replaceChildren(...values.map(([value, text]) => make("option", { value, textContent: text })));
  const tally = (lists, names) => {
    const counts = names.map(() => 0);
    for (const list of lists) for (const place of new Set(list)) counts[place] += 1;
    return counts;
  };
  const types = [...new Set(rows.kinds.map((kind) => kind[1]))].sort();
  const kindsOf = (fits) => rows.errors.reduce((sum, list) => sum + list.some((kind) => fits(rows.kinds[kind])), 0);
  const flagCounts = tally(rows.flags, rows.flagNames);
  choices("system", [["", "all"], ...rows.systems.map((name) => [name, name])]);
  choices("measure", rows.measures.map((name) => [name, name]));
  choices("flag", [["", "any or none"], ["none", "no flag"], ...rows.flagNames.map((name, n) => [name, `${name.replaceAll("_", " ")} (${flagCounts[n].toLocaleString("en")})`])]);
  choices("type", [["", "any or none"], ...types.map((type) => [type, `${type} (${kindsOf((kind) => kind[1] === type).toLocaleString("en")})`])]);
  choices("severity", [["", "any or none"], ["critical", "critical"], ["major", "major"], ["minor", "minor"], ["none", "no error"]]);
  choices("sort", ["segment", ...(rows.width > 1 ? ["system"] : []), ...rows.columns.keys()].flatMap((name) => {
    const words = { segment: ["from the first", "from the last"], system: ["from the first", "from the last"], "errors found": ["fewest first", "most first"] }[name];
    return (words ?? ["lowest first", "highest first"]).map((order, down) => [down ? `-${name}` : name, `${name}, ${order}`]);
  }));
  byId("system").closest(".field").hidden = rows.width < 2;

  const pages = () => Math.max(1, Math.ceil(found.length / Number(state.size)));
  const pageOf = (place) => String(Math.floor(place / Number(state.size)) + 1);

  /* Show the state; keep says how it enters the browser's history. */
  const render = (keep = "replace", search = true) => {
    if (search) found = rows.find(state);
    state.page = String(Math.min(pages(), Math.max(1, Math.floor(Number(state.page)))));
    const first = (Number(state.page) - 1) * Number(state.size);
    for (const name of controls) if (byId(name).value !== state[name] && document.activeElement !== byId(name)) byId(name).value = state[name];
    table.show(found, first, first + Number(state.size), state);
    const all = `${counted(rows.count, "row")} in all`;
    const to = Math.min(found.length, first + Number(state.size)).toLocaleString("en");
    const seen = found.length ? `, ${(first + 1).toLocaleString("en")} to ${to} shown` : "";
    byId("found").textContent = (isFiltered(state) ? `${counted(found.length, "row")} found of ${rows.count.toLocaleString("en")}` : all) + seen;
    byId("none").hidden = found.length > 0;
    byId("reset").disabled = !isFiltered(state);
    byId("export").disabled = !found.length;
    Object.assign(byId("page"), { value: state.page, max: pages() });
    byId("of").textContent = `of ${pages().toLocaleString("en")}`;
    byId("previous").disabled = Number(state.page) <= 1;
    byId("next").disabled = Number(state.page) >= pages();
    byId("pages").hidden = found.length <= 25;
    const row = openRow(rows, state);
    if (row === null) detail.hide();
    else detail.show(row, found.indexOf(row), found.length);
    if (!keep || addressOf(state) === (location.hash || "#")) return;
    try {
      history[`${keep}State`](null, "", addressOf(state));
    } catch (error) {
      /* A browser refuses too many changes at a time, such as from a key held down; the next one is kept. */
    }
  };

  const change = (changes, keep = "replace") => {
    const filters = Object.keys(changes).some((name) => controls.includes(name));
    state = { ...state, ...(filters ? { page: "1" } : {}), ...changes };
    render(keep, filters);
  };

  const turn = (step, last = false) => {
    const page = Number(state.page) + step;
    if (page < 1 || page > pages()) return;
    change({ page: String(page) });
    table.focusEnd(last);
  };

  const open = (row) => change({ open: openName(rows, row) }, state.open ? "replace" : "push");

  const move = (step, row = found[found.indexOf(openRow(rows, state)) + step]) => {
    const place = found.indexOf(row);
    if (row !== undefined) change({ open: openName(rows, row), ...(place < 0 ? {} : { page: pageOf(place) }) });
  };

  const close = () => {
    const row = openRow(rows, state);
    change({ open: "" });
    table.focusRow(row);
  };

  const table = new Table(rows, { onSort: (next) => change({ sort: next(state.sort) }), onOpen: open, onTurn: turn });
  const detail = new Detail(rows, { onMove: move, onClose: close, addressFor: (row) => addressOf({ ...DEFAULTS, open: openName(rows, row) }) });

  const clear = () => { change({ q: "", system: "", below: "", flag: "", type: "", severity: "" }); for (const name of controls) byId(name).value = state[name]; byId("q").focus(); };
  for (const name of controls.filter((name) => name !== "q")) byId(name).addEventListener("input", () => change({ [name]: byId(name).value }));
  byId("q").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => change({ q: byId("q").value }), 120); });
  byId("q").addEventListener("keydown", (event) => { if (event.key === "ArrowDown" || event.key === "Enter") { event.preventDefault(); clearTimeout(timer); change({ q: byId("q").value }); if (event.key === "ArrowDown") table.focusEnd(false); } });
  byId("reset").addEventListener("click", clear);
  byId("again").addEventListener("click", clear);
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  byId("page").addEventListener("change", () => change({ page: String(Number(byId("page").value) || 1) }));
  byId("export").addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([exported(rows, found)], { type: "text/tab-separated-values" }));
    make("a", { href: address, download: "segments.tsv" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input,select,textarea,dialog");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); byId("q").focus(); byId("q").select(); }
  });
  addEventListener("popstate", () => { if (isState()) { state = readState(rows); render(""); } });

  byId("wait").hidden = true;
  byId("browse").hidden = false;
  render(isState() ? "replace" : "");
};

/* The links to the parts of the page leave the address to the state. */
for (const link of document.querySelectorAll("nav a, a.skip")) {
  link.addEventListener("click", (event) => {
    const part = byId(link.hash.slice(1));
    event.preventDefault();
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
    part.scrollIntoView();
  });
}

if (canUnpack) {
  unpack(byId("table")).then((text) => {
    byId("table").textContent = "";
    start(new Rows(JSON.parse(text)));
  }, () => { byId("wait").textContent = "The segments are damaged: the file was cut or changed. Write the report again."; });
} else {
  byId("wait").textContent = "This browser cannot unpack the segments (it has no DecompressionStream): open the file in one from 2023 or later.";
}
