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
