// Error marks: the hypothesis as read-only text with a caret, the selection, the marks in it and their list.

import { codePoints, pieces, pointSpan, unitOf } from "./texts.js";
import { element } from "./ratings.js";

const SHAPES = { minor: "○", major: "◆", critical: "✖" };
const KEYS = { m: "minor", j: "major", c: "critical" };
const HINT = "Select text in the hypothesis, then choose how bad it is.";
const NO_PLACE = { start: null, end: null };

const byId = (id) => document.getElementById(id);
const options = (names, chosen) => names.map((name) => element("option", { value: name, textContent: name, selected: name === chosen }));

export class Marks {
  // change(marks, what happened in words): called when somebody marks, changes or removes.
  constructor({ severities, categories }, change) {
    Object.assign(this, { severities, categories, change, text: "", marks: [], selected: null, box: byId("hypothesis") });
    byId("category").replaceChildren(...options(categories));
    byId("severities").replaceChildren(...severities.map((severity) => this.severityButton(severity)));
    byId("omission").addEventListener("click", () => this.select(NO_PLACE));
    document.addEventListener("selectionchange", () => this.follow());
    for (const kind of ["beforeinput", "paste", "cut", "drop", "dragstart"]) {
      this.box.addEventListener(kind, (event) => { if (kind !== "cut") event.preventDefault(); });
    }
    this.box.addEventListener("input", () => this.paint()); // what could not be prevented is undone
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  show(text, marks) {
    Object.assign(this, { text, marks: [...marks] });
    this.select(null);
    this.paint();
  }

  severityButton(severity) {
    const button = element("button", { type: "button", className: `severity ${severity}`, disabled: true });
    button.append(element("span", { "aria-hidden": "true", textContent: `${SHAPES[severity]} ` }), severity);
    button.addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
    button.addEventListener("click", () => this.mark(severity));
    return button;
  }

  // Remember what is selected in the hypothesis; leaving it for a button forgets nothing.
  follow() {
    const selection = document.getSelection();
    if (!selection.rangeCount || !this.box.contains(selection.anchorNode)) return;
    const range = selection.getRangeAt(0);
    const [start, end] = [this.unit(range.startContainer, range.startOffset), this.unit(range.endContainer, range.endOffset)];
    if (start < end) this.select(pointSpan(this.text, start, end));
    else if (document.activeElement === this.box) this.select(null);
  }

  unit(node, offset) {
    if (!this.box.contains(node)) return this.text.length;
    const range = document.createRange();
    range.setStart(this.box, 0);
    range.setEnd(node, offset);
    return range.toString().length;
  }

  quote({ start, end }) {
    return start === null ? "something missing" : `“${[...this.text].slice(start, end).join("")}”`;
  }

  select(span) {
    this.selected = span;
    const named = span && (span.start === null ? "something missing, or the whole text" : this.quote(span));
    byId("marking-hint").textContent = span ? `Mark ${named} as:` : HINT;
    for (const button of byId("severities").children) button.disabled = !span;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    this.follow(); // the browser may not have told of the last change of the selection yet
    const severity = KEYS[event.key.toLowerCase()];
    if (event.key === "Enter" || severity) event.preventDefault();
    if (event.key === "Enter") event.stopPropagation();
    if (event.key === "Enter" && this.selected) byId("category").focus();
    else if (severity && this.selected) this.mark(severity);
  }

  mark(severity) {
    if (!this.selected) return;
    const made = { ...this.selected, severity, category: byId("category").value };
    if (this.isThere(made)) {
      this.change(null, "This is marked already.");
      return;
    }
    this.set([...this.marks, made], `Marked ${this.quote(made)} as ${severity}.`);
    this.box.focus();
    if (made.end !== null) this.putCaret(made.end);
    this.select(null);
  }

  isThere(made, but = -1) {
    const id = (mark) => JSON.stringify([mark.start, mark.end, mark.severity, mark.category]);
    return this.marks.some((mark, index) => index !== but && id(mark) === id(made));
  }

  set(marks, said) {
    this.marks = marks;
    this.paint();
    this.change(marks, said);
  }

  putCaret(point) {
    let left = unitOf(this.text, point);
    const walker = document.createTreeWalker(this.box, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { length } = walker.currentNode.data;
      if (left <= length) return document.getSelection().collapse(walker.currentNode, left);
      left -= length;
    }
  }

  paint() {
    const worst = (numbers) => numbers.map((n) => this.severities.indexOf(this.marks[n].severity)).reduce((a, b) => Math.max(a, b));
    this.box.replaceChildren(...pieces(this.text, this.marks).map(({ text, marks, ends }) => {
      if (!marks.length) return document.createTextNode(text);
      const made = element("mark", { className: this.severities[worst(marks)] ?? "minor", textContent: text });
      made.dataset.marks = marks.join(" ");
      if (marks.length > 1) made.classList.add("several");
      if (ends.length) made.dataset.number = ends.map((n) => n + 1).join(",");
      return made;
    }));
    this.box.classList.toggle("empty", codePoints(this.text) === 0);
    byId("marks").replaceChildren(...this.marks.map((mark, index) => this.row(mark, index)));
  }

  row(mark, index) {
    const named = `error ${index + 1}, ${this.quote(mark)}`;
    const severity = element("select", { "aria-label": `Severity of ${named}` }, ...options(this.severities, mark.severity));
    const known = this.categories.includes(mark.category) ? this.categories : [...this.categories, mark.category];
    const category = element("select", { "aria-label": `Category of ${named}` }, ...options(known, mark.category));
    const remove = element("button", { type: "button", textContent: "Remove", "aria-label": `Remove ${named}` });
    severity.addEventListener("change", () => this.replace(index, { ...mark, severity: severity.value }));
    category.addEventListener("change", () => this.replace(index, { ...mark, category: category.value }));
    remove.addEventListener("click", () => this.remove(index));
    const shape = element("span", { className: `shape ${mark.severity}`, "aria-hidden": "true", textContent: SHAPES[mark.severity] ?? "○" });
    const quote = element("span", { className: "quote", dir: "auto", textContent: this.quote(mark) });
    const row = element("li", {}, shape, quote, severity, category, remove);
    for (const [kind, on] of [["mouseenter", true], ["focusin", true], ["mouseleave", false], ["focusout", false]]) {
      row.addEventListener(kind, () => this.point(index, on));
    }
    return row;
  }

  // Show where a listed error stands.
  point(index, on) {
    for (const made of this.box.querySelectorAll("mark")) {
      if (made.dataset.marks.split(" ").includes(String(index))) made.classList.toggle("pointed", on);
    }
  }

  replace(index, made) {
    if (this.isThere(made, index)) {
      this.paint();
      this.change(null, "This is marked already.");
    } else {
      this.set(this.marks.map((mark, n) => (n === index ? made : mark)), "Changed.");
    }
    byId("marks").children[index].querySelector("select").focus();
  }

  remove(index) {
    this.set(this.marks.filter((_, n) => n !== index), "Removed.");
    (byId("marks").children[Math.min(index, this.marks.length - 1)]?.querySelector("button") ?? this.box).focus();
  }
}
