// Offsets. The page counts UTF-16 units, the file counts code points; a mark never cuts what readers see as one character.

export const codePoints = (text) => [...text].length;

// The UTF-16 place of a code point.
export const unitOf = (text, point) => [...text].slice(0, point).join("").length;

// The code points of the UTF-16 span [start, end), without blanks around it unless there is nothing else, and widened to whole
// characters (an emoji, a letter with its accents).
export function pointSpan(text, start, end) {
  const inside = text.slice(start, end);
  if (inside.trim()) {
    start += inside.length - inside.trimStart().length;
    end -= inside.length - inside.trimEnd().length;
  }
  let [from, to] = [start, end];
  for (const [left, right] of characters(text)) {
    if (left < start && start < right) from = left;
    if (left < end && end < right) to = right;
  }
  return { start: codePoints(text.slice(0, from)), end: codePoints(text.slice(0, to)) };
}

function* characters(text) {
  if (globalThis.Intl?.Segmenter) {
    for (const { index, segment } of new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)) {
      yield [index, index + segment.length];
    }
    return;
  }
  let place = 0;
  for (const point of text) yield [place, (place += point.length)];
}

// The text cut wherever a mark begins or ends: [{text, marks: indices of the marks that cover it}].
export function pieces(text, marks) {
  const points = [...text];
  const placed = marks.map((mark, index) => ({ ...mark, index })).filter((mark) => mark.start !== null);
  const cuts = [...new Set([0, points.length, ...placed.flatMap((mark) => [mark.start, mark.end])])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((from, n) => ({
    text: points.slice(from, cuts[n + 1]).join(""),
    marks: placed.filter((mark) => mark.start <= from && cuts[n + 1] <= mark.end).map((mark) => mark.index),
    ends: placed.filter((mark) => mark.end === cuts[n + 1]).map((mark) => mark.index),
  }));
}
