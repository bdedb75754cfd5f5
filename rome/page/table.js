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
      ...rows.measures.map((name) => number(name)),
      ...(rows.width > 1 ? [number("difference")] : []),
      { name: "", title: "output and reference" },
      { name: "errors found", title: "flags and errors", countable: true },
    ];
    this.heads = this.columns.map((column) => this.head(column));
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
