// What is not saved yet: kept in this browser, sent until the server says that it is on its disk, merged with other tabs' saves.

import { call } from "./api.js";

const PREFIX = "rome-annotate/draft/";
const LOAD = Math.random().toString(36).slice(2); // two tabs never write to the same place
const LONGEST_WAIT = 15000;

const memory = new Map(); // where the browser lets nothing be stored
const store = {
  read: (name) => {
    try { return localStorage.getItem(name) ?? memory.get(name) ?? null; } catch { return memory.get(name) ?? null; }
  },
  write: (name, text) => {
    try { localStorage.setItem(name, text); memory.delete(name); } catch { memory.set(name, text); }
  },
  remove: (name) => {
    memory.delete(name);
    try { localStorage.removeItem(name); } catch { /* nothing was stored */ }
  },
  names: () => {
    try { return [...new Set([...Object.keys(localStorage), ...memory.keys()])]; } catch { return [...memory.keys()]; }
  },
};

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const sameName = (one, other) => one.toLowerCase() === other.toLowerCase(); // as the server has it
const id = (mark) => JSON.stringify([mark.start, mark.end, mark.severity, mark.category]);

// What was changed here since `base`, put on top of what another tab saved meanwhile.
export function merge(base, local, saved) {
  const ratings = { ...saved.ratings };
  for (const name of new Set([...Object.keys(base.ratings), ...Object.keys(local.ratings)])) {
    if (local.ratings[name] === base.ratings[name]) continue;
    if (local.ratings[name] === undefined) delete ratings[name];
    else ratings[name] = local.ratings[name];
  }
  const [before, here, there] = [base, local, saved].map((state) => new Set(state.errors.map(id)));
  const kept = saved.errors.filter((mark) => here.has(id(mark)) || !before.has(id(mark)));
  const added = local.errors.filter((mark) => !before.has(id(mark)) && !there.has(id(mark)));
  return { ratings, errors: [...kept, ...added] };
}

export class Drafts {
  // keys: the items of this study; drafts of others, from the same address, wait for theirs.
  // on.saved(key, state, done), on.merged(key, local, saved), on.state(kind, count, message): what the page shows.
  constructor(annotator, keys, on) {
    Object.assign(this, { annotator, keys: new Set(keys), on, running: null, again: false, timer: 0, wait: 1000, refused: new Map() });
  }

  put(key, { ratings, errors }, base) {
    const name = PREFIX + JSON.stringify([this.annotator, key, LOAD]);
    store.write(name, JSON.stringify({ ratings, errors, base }));
    this.refused.delete(name);
    return this.flush();
  }

  // The draft of an item, or null.
  of(key) {
    const name = this.names().find((one) => this.keyOf(one) === key);
    return name ? JSON.parse(store.read(name)) : null;
  }

  names() {
    return store.names().filter((name) => {
      if (!name.startsWith(PREFIX)) return false;
      const [annotator, key] = JSON.parse(name.slice(PREFIX.length));
      return sameName(annotator, this.annotator) && this.keys.has(key);
    });
  }

  keyOf(name) {
    return JSON.parse(name.slice(PREFIX.length))[1];
  }

  // Send everything; comes back when all is saved or the server is away.
  flush() {
    this.again = true;
    this.running ??= this.run().finally(() => { this.running = null; });
    return this.running;
  }

  async run() {
    clearTimeout(this.timer);
    try {
      while (this.again) {
        this.again = false;
        const names = this.names().filter((name) => !this.refused.has(name));
        if (names.length) this.on.state("saving", names.length, "");
        for (const name of names) await this.send(name);
      }
      this.wait = 1000;
      const [reason] = this.refused.values();
      this.on.state(reason ? "refused" : "saved", this.refused.size, reason || "");
    } catch (error) {
      this.on.state("waiting", this.names().length, error.message);
      this.timer = setTimeout(() => this.flush(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    }
  }

  async send(name) {
    const [text, key] = [store.read(name), this.keyOf(name)];
    if (text === null) return; // another tab has sent it
    const { ratings, errors, base } = JSON.parse(text);
    let answer;
    try {
      answer = await call("/api/save", { annotator: this.annotator, key, ratings, errors, revision: base.revision });
    } catch (error) {
      if (error.status === 409) return this.meet(name, key, base, error.body.state);
      if (![400, 404, 413, 422].includes(error.status)) throw error;
      this.refused.set(name, error.message);
      return;
    }
    const saved = { ratings, errors, revision: answer.revision };
    const now = store.read(name);
    if (now === text) store.remove(name);
    else if (now !== null) store.write(name, JSON.stringify({ ...JSON.parse(now), base: saved }));
    this.on.saved(key, saved, answer.done);
  }

  // Another tab saved this item meanwhile.
  meet(name, key, base, saved) {
    const merged = merge(base, JSON.parse(store.read(name)), saved);
    if (same(merged, { ratings: saved.ratings, errors: saved.errors })) store.remove(name);
    else store.write(name, JSON.stringify({ ...merged, base: saved }));
    this.on.merged(key, merged, saved);
    this.again = true;
  }
}
