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
