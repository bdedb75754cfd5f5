/* Packed texts: base64 of deflated UTF-8, as blocks.py writes them. */
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

/* One explanation of a folded block (see folding.py): pieces of markup, each followed by the next entry of its column. */
const unfold = (text, wanted) => {
  const CODE = 0x28, NUMBER = 35, END = 33;
  const [markup, order, ...columns] = text.split("\x1e"), pieces = markup.split("\x1f");
  const kinds = Uint8Array.from(pieces, (piece) => piece.charCodeAt(piece.length - 1));
  const next = new Uint32Array(pieces.length), last = new Int32Array(pieces.length);
  const entries = columns.map((column, place) => (kinds[place] === NUMBER ? column : null));
  let number = 0, html = "";
  for (let at = 0; at < order.length && number <= wanted; at += 1) {
    const place = order.charCodeAt(at) - CODE, kind = kinds[place];
    if (number < wanted) {
      if (kind === END) number += 1;
      else next[place] += 1;
      continue;
    }
    html += pieces[place].slice(0, -1);
    if (kind === END) return html;
    if (kind === NUMBER) {
      const code = entries[place].charCodeAt(next[place]) - CODE;
      last[place] += code % 2 ? -(code + 1) / 2 : code / 2;
      html += last[place] / 100;
    } else {
      entries[place] ??= columns[place].split("\x1f");
      html += entries[place][next[place]];
    }
    next[place] += 1;
  }
  throw new Error("the block is too short");
};

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
  return { of: async (row) => unfold(await block(Math.floor(row / BLOCK)), row % BLOCK) };
})();
