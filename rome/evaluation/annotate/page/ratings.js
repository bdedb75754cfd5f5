// The rating of each dimension: buttons on a short scale, a number with a slider on a long one.

const QUESTIONS = {
  fluency: "Does it read as natural, fluent text?",
  semantic: "Does it say what the reference says?",
  grammar: "Is it grammatically correct?",
};
const WORDS = { 2: ["no", "yes"], 3: ["poor", "fair", "good"] };

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made && !key.includes("-")) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export class Ratings {
  // change(dimension, value or undefined): called when somebody rates.
  constructor(form, { dimensions, scale }, change) {
    Object.assign(this, { form, dimensions, scale, change, values: {} });
    this.short = scale.high - scale.low <= 9 && scale.high <= 9;
    form.replaceChildren(...dimensions.map((name, n) => this.group(name, n)));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  show(values) {
    this.values = { ...values };
    for (const group of this.form.children) this.paint(group, true);
  }

  // The first dimension without a rating, beginning after the given one; undefined when all are rated.
  unrated(after) {
    const start = this.dimensions.indexOf(after) + 1;
    return [...this.dimensions.slice(start), ...this.dimensions.slice(0, start)].find((name) => this.values[name] === undefined);
  }

  // The dimension in which the focus is.
  focused() {
    return document.activeElement?.closest("#ratings fieldset")?.dataset.name;
  }

  focus(name) {
    const group = [...this.form.children].find((one) => one.dataset.name === name);
    (group.querySelector("input:checked") || group.querySelector("input")).focus();
  }

  rate(name, value) {
    if (value === undefined) delete this.values[name];
    else this.values[name] = value;
    this.paint([...this.form.children].find((one) => one.dataset.name === name));
    this.change(name, value);
  }

  group(name, n) {
    const group = element("fieldset", { className: "rating" }, element("legend", { textContent: name }));
    group.dataset.name = name;
    const ends = this.short ? "" : `${this.scale.low} worst, ${this.scale.high} best.`;
    const question = [QUESTIONS[name], ends].filter(Boolean).join(" ");
    if (question) {
      group.append(element("p", { className: "hint", id: `question-${n}`, textContent: question }));
      group.setAttribute("aria-describedby", `question-${n}`);
    }
    group.append(this.short ? this.buttons(name, n) : this.number(name, n));
    return group;
  }

  buttons(name, n) {
    const row = element("div", { className: "scale" });
    const words = WORDS[this.scale.high - this.scale.low + 1] || [];
    for (let value = this.scale.low; value <= this.scale.high; value += 1) {
      const ends = { [this.scale.low]: "worst", [this.scale.high]: "best" };
      const word = words[value - this.scale.low] || ends[value] || "";
      const input = element("input", { type: "radio", name: `rating-${n}`, value: String(value) });
      input.addEventListener("change", () => this.rate(name, value));
      row.append(element("label", {}, input, element("b", { textContent: value }), element("span", { textContent: ` ${word}` })));
    }
    return row;
  }

  number(name, n) {
    const { low, high } = this.scale;
    const bounds = { min: String(low), max: String(high), step: "1" };
    const number = element("input", { type: "number", ...bounds, "aria-label": `${name}, ${low} worst to ${high} best` });
    const slider = element("input", { type: "range", ...bounds, "aria-label": `${name}, slider` });
    const wrong = element("p", { className: "wrong", id: `wrong-${n}`, role: "alert" });
    number.setAttribute("aria-describedby", wrong.id);
    number.addEventListener("input", () => {
      const value = number.value === "" ? undefined : Number(number.value);
      const right = !number.validity.badInput && (value === undefined || (Number.isInteger(value) && low <= value && value <= high));
      this.rate(name, right ? value : undefined);
      number.setAttribute("aria-invalid", String(!right));
      wrong.textContent = right ? "" : `Give a whole number from ${low} to ${high}.`;
    });
    slider.addEventListener("input", () => { number.value = slider.value; slider.classList.remove("unset"); });
    slider.addEventListener("change", () => this.rate(name, Number(slider.value)));
    return element("div", { className: "scale wide" }, number, slider, wrong);
  }

  // anew: also over a number that is being typed.
  paint(group, anew = false) {
    const value = this.values[group.dataset.name];
    group.classList.toggle("rated", value !== undefined);
    if (this.short) {
      for (const input of group.querySelectorAll("input")) input.checked = Number(input.value) === value;
      return;
    }
    const [number, slider] = group.querySelectorAll("input");
    if (anew || number !== document.activeElement) number.value = value ?? "";
    number.removeAttribute("aria-invalid");
    group.querySelector(".wrong").textContent = "";
    slider.classList.toggle("unset", value === undefined);
    slider.value = value ?? Math.round((this.scale.low + this.scale.high) / 2);
  }
}
