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
