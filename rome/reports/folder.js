
"use strict";
(() => {
  const PAGE = 50;
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  /* The value that a cell is sorted by: its exact number, or its text. Missing numbers give NaN. */
  const value = (cell, numeric) => {
    if (!numeric) return cell.textContent;
    return cell.classList.contains("m") ? NaN : Number(cell.dataset.v ?? cell.textContent);
  };

  const compare = (a, b, numeric, sign) => {
    if (!numeric) return sign * order.compare(a, b);
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return sign * (a < b ? -1 : a > b ? 1 : 0);
  };

  for (const table of document.querySelectorAll("table.data")) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const texts = new Map(original.map((row) => [row, row.textContent.toLowerCase()]));
    const headers = [...table.tHead.rows[0].cells];
    const tools = document.getElementById(table.id + "-tools");
    const box = tools?.querySelector("input");
    const more = tools?.querySelector("button");
    const count = tools?.querySelector("output");
    let rows = original;
    let whole = !tools;

    const show = () => {
      const terms = (box?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
      const matching = rows.filter((row) => terms.every((term) => texts.get(row).includes(term)));
      const kept = new Set(matching);
      for (const row of rows) row.classList.toggle("unmatched", !kept.has(row));
      matching.forEach((row, place) => row.classList.toggle("later", !whole && place >= PAGE));
      if (!tools) return;
      const seen = whole ? matching.length : Math.min(PAGE, matching.length);
      const found = terms.length ? `${matching.length} of ${original.length} rows match` : `${original.length} rows`;
      count.textContent = seen < matching.length ? `${found}, the first ${seen} shown` : found;
      more.hidden = matching.length <= PAGE;
      more.textContent = whole ? `Show the first ${PAGE}` : `Show all ${matching.length}`;
    };

    headers.forEach((header, place) => {
      const numeric = header.classList.contains("n");
      const first = numeric ? "descending" : "ascending";
      const second = numeric ? "ascending" : "descending";
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      header.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = { none: first, [first]: second, [second]: "none" }[header.getAttribute("aria-sort")];
        for (const other of headers) other.setAttribute("aria-sort", other === header ? next : "none");
        rows = original;
        if (next !== "none") {
          const sign = next === "ascending" ? 1 : -1;
          const keyed = original.map((row) => [value(row.cells[place], numeric), row]);
          rows = keyed.sort((a, b) => compare(a[0], b[0], numeric, sign)).map((pair) => pair[1]);
        }
        body.append(...rows);
        show();
      });
    });

    box?.addEventListener("input", show);
    more?.addEventListener("click", () => { whole = !whole; show(); });
    if (tools) tools.hidden = false;
    show();
  }
})();
