// The flow of the page: who rates, one item after the other, every change sent at once.

import { call, takeToken } from "./api.js";
import { Drafts } from "./drafts.js";
import { Marks } from "./marks.js";
import { Ratings, element } from "./ratings.js";

const byId = (id) => document.getElementById(id);
const later = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
const say = (text) => { byId("said").textContent = text; };
const complain = (text) => { byId("message").textContent = text; };
const STATES = {
  saved: () => "✓ Saved",
  saving: () => "… Saving",
  waiting: (count, message) => `! Not saved yet (${count}): ${message}. It is kept in this browser; trying again.`,
  refused: (count, message) => `! Not saved (${count}): ${message}. It is kept in this browser.`,
};

let about, drafts, ratings, marks;
let keys = [], done = [], position = 0, ticket = 0;
let item = null; // {key, references, hypothesis, state: as last saved}

async function open() {
  takeToken();
  for (;;) {
    try {
      about = await call("/api/about");
      break;
    } catch (error) {
      const away = error.status === 0;
      complain(away ? "The server does not answer; trying again." : "Open the address that `rome annotate` printed: it has this run's token.");
      if (!away && error.status !== 403) return complain(error.message);
      await later(2);
    }
  }
  complain("");
  ratings = new Ratings(byId("ratings"), about, rated);
  marks = new Marks(about, marked);
  byId("welcome").textContent = `${about.count} ${about.count === 1 ? "item" : "items"} to rate: ${about.dimensions.join(", ")}.`;
  byId("annotators").replaceChildren(...about.annotators.map((name) => element("option", { value: name })));
  byId("rate-keys").replaceChildren(...keysOfScale());
  byId("rate-meaning").textContent = ratings.short ? "rate, and go on to the next dimension" : "type the number in its field";
  const name = sessionStorage.getItem("annotator");
  if (name) begin(name);
  else askName();
}

function keysOfScale() {
  const { low, high } = about.scale;
  if (!ratings.short) return [element("kbd", { textContent: "0" }), " to ", element("kbd", { textContent: "9" })];
  return Array.from({ length: high - low + 1 }, (_, n) => element("kbd", { textContent: low + n }));
}

function askName() {
  sessionStorage.removeItem("annotator");
  sessionStorage.removeItem("key");
  [byId("task").hidden, byId("who").hidden, byId("progress").hidden, byId("start").hidden] = [true, true, true, false];
  item = null;
  byId("annotator").focus();
}

async function begin(name) {
  let started;
  try {
    started = await call("/api/start", { annotator: name });
  } catch (error) {
    complain(error.message);
    askName();
    return;
  }
  complain("");
  sessionStorage.setItem("annotator", started.annotator);
  ({ keys, done } = started);
  drafts = new Drafts(started.annotator, keys, { saved, merged, state: showState });
  byId("name").textContent = started.annotator;
  [byId("start").hidden, byId("who").hidden, byId("progress").hidden] = [true, false, false];
  await drafts.flush();
  const before = keys.indexOf(sessionStorage.getItem("key"));
  const open = done.indexOf(false);
  show(before >= 0 ? before : Math.max(open, 0));
}

async function show(wanted) {
  if (wanted < 0 || wanted >= keys.length) return say(wanted < 0 ? "This is the first item." : "This is the last item.");
  const mine = ++ticket;
  let got;
  while (!got) {
    try {
      got = await fetchItem(keys[wanted]);
    } catch (error) {
      if (mine !== ticket) return;
      complain(`Item ${wanted + 1} cannot be shown: ${error.message}.`);
      if (error.status !== 0 && error.status !== 403) return;
      await later(2);
    }
    if (mine !== ticket) return;
  }
  complain("");
  position = wanted;
  item = got;
  sessionStorage.setItem("key", item.key);
  byId("task").hidden = false;
  byId("heading").textContent = `Item ${position + 1} of ${keys.length}`;
  document.title = `Item ${position + 1} of ${keys.length} – RoMe annotate`;
  Object.assign(byId("jump"), { value: position + 1, max: keys.length });
  [byId("previous").disabled, byId("next").disabled] = [position === 0, position === keys.length - 1];
  byId("reference-label").textContent = item.references.length > 1 ? "References" : "Reference";
  byId("references").replaceChildren(...item.references.map((text) => element("p", { className: "text", dir: "auto", textContent: text })));
  paint(drafts.of(item.key) ?? item.state);
  count();
  byId("heading").focus();
  scrollTo(0, 0);
}

const fetchItem = (key) => call(`/api/item?${new URLSearchParams({ annotator: drafts.annotator, key })}`);

function paint({ ratings: values, errors }) {
  ratings.show(values);
  marks.show(item.hypothesis, errors);
}

function count() {
  const rated = done.filter(Boolean).length;
  Object.assign(byId("bar"), { max: keys.length, value: rated });
  byId("counted").textContent = `${rated} of ${keys.length} rated`;
  byId("unrated").disabled = rated === keys.length;
}

function changed() {
  drafts.put(item.key, { ratings: ratings.values, errors: marks.marks }, drafts.of(item.key)?.base ?? item.state);
}

function rated(name, value) {
  changed();
  say(value === undefined ? `${name}: not rated` : `${name}: ${value}`);
}

function marked(all, said) {
  if (all) changed();
  else complain(said);
  if (all) complain("");
  say(said);
}

function saved(key, state, complete) {
  if (item?.key === key) item.state = state;
  done[keys.indexOf(key)] = complete;
  count();
}

// Another tab saved this item meanwhile: show both tabs' work.
function merged(key, local, state) {
  if (item?.key !== key) return;
  item.state = state;
  paint(local);
  say("Another tab changed this item; both changes are kept.");
}

function showState(kind, number, message) {
  byId("saving").dataset.state = kind;
  byId("saving").textContent = STATES[kind](number, message);
}

function next() {
  const open = ratings.unrated();
  if (open !== undefined) {
    ratings.focus(open);
    say(`${open} is not rated yet.`);
  } else if (position + 1 < keys.length) {
    show(position + 1);
  } else {
    const left = done.filter((one) => !one).length;
    say(left ? `This is the last item; ${left} are not rated yet.` : "All items are rated. Thank you!");
    complain(byId("said").textContent);
  }
}

function pressed(event) {
  if (!item || byId("task").hidden || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const { target } = event;
  const writes = target.matches("input:not([type=radio]), select");
  const inRating = target.closest?.("#ratings");
  if (/^[0-9]$/.test(event.key) && ratings.short && !writes) {
    digit(Number(event.key));
    event.preventDefault();
  } else if (event.key === "Enter" && (inRating || target.matches("body, h2"))) {
    event.preventDefault();
    const open = inRating && !ratings.short ? ratings.unrated(ratings.focused()) : undefined;
    if (open !== undefined) ratings.focus(open);
    else next();
  } else if (event.key.startsWith("Arrow") && target.matches("body, h2, button")) {
    if (event.key === "ArrowRight") show(position + 1);
    else if (event.key === "ArrowLeft") show(position - 1);
  }
}

function digit(value) {
  const { low, high } = about.scale;
  if (value < low || value > high) return say(`The scale goes from ${low} to ${high}.`);
  const name = ratings.focused() ?? ratings.unrated() ?? about.dimensions[0];
  ratings.rate(name, value);
  const open = ratings.unrated(name);
  if (open !== undefined) ratings.focus(open);
  else if (byId("next").disabled) ratings.focus(name);
  else byId("next").focus();
}

// When the tab is looked at again, another one may have saved this item.
async function refresh() {
  drafts?.flush();
  if (!item || document.hidden || drafts.of(item.key)) return;
  const { key } = item;
  const got = await fetchItem(key).catch(() => null);
  if (got && item?.key === key && got.state.revision !== item.state.revision && !drafts.of(key)) {
    item = got;
    paint(item.state);
  }
}

byId("start").addEventListener("submit", (event) => {
  event.preventDefault();
  begin(byId("annotator").value);
});
byId("change").addEventListener("click", askName);
byId("next").addEventListener("click", () => show(position + 1));
byId("previous").addEventListener("click", () => show(position - 1));
byId("unrated").addEventListener("click", () => {
  const open = done.indexOf(false, position + 1);
  show(open >= 0 ? open : done.indexOf(false));
});
byId("jump").addEventListener("change", () => show(Number(byId("jump").value) - 1));
document.addEventListener("keydown", pressed);
document.addEventListener("visibilitychange", refresh);
addEventListener("focus", refresh);
addEventListener("online", () => drafts?.flush());
addEventListener("hashchange", () => { if (takeToken()) drafts?.flush(); });
addEventListener("beforeunload", (event) => { if (drafts?.names().length) event.preventDefault(); });
open();
