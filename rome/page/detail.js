/* One segment, opened: its explanation is unpacked only now. */
class Detail {
  constructor(rows, { onMove, onClose, addressFor }) {
    Object.assign(this, { rows, onMove, onClose, addressFor, row: null });
    this.dialog = byId("detail");
    this.box = byId("explanation");
    byId("before").addEventListener("click", () => onMove(-1));
    byId("after").addEventListener("click", () => onMove(1));
    byId("close").addEventListener("click", () => onClose());
    this.dialog.addEventListener("cancel", (event) => { event.preventDefault(); onClose(); });
    this.dialog.addEventListener("click", (event) => { if (event.target === this.dialog) onClose(); });
    this.dialog.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest("[tabindex='0'],input,select")) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) { event.preventDefault(); this.onMove(step); }
  }

  async show(row, place, count) {
    const { rows } = this, fresh = this.row !== row;
    this.row = row;
    const title = [make("span", {}, "Segment ", make("bdi", { textContent: rows.name(row) }))];
    if (rows.width > 1) title.push(" ", make("bdi", { className: "whose", textContent: rows.systems[rows.system(row)] }));
    byId("detail-title").replaceChildren(...title);
    const number = rows.name(row) === String(rows.segment(row)) ? "" : `segment number ${rows.segment(row).toLocaleString("en")}, `;
    byId("detail-place").textContent = number + (place < 0 ? "not among the rows found" : `row ${(place + 1).toLocaleString("en")} of ${count.toLocaleString("en")}`);
    byId("before").disabled = place <= 0;
    byId("after").disabled = place < 0 || place >= count - 1;
    byId("link").href = this.addressFor(row);
    this.showOthers(row);
    if (!this.dialog.open) {
      this.dialog.showModal();
      byId("detail-title").focus();
    }
    if (!fresh) return;
    this.box.setAttribute("aria-busy", "true");
    let html;
    try {
      html = await fragments.of(row);
    } catch (error) {
      html = null;
    }
    if (this.row !== row) return;
    if (html === null) this.box.textContent = "This explanation is damaged: the file was cut or changed. Write the report again.";
    else this.box.innerHTML = html;
    this.box.removeAttribute("aria-busy");
    this.dialog.scrollTop = 0;
  }

  /* The same segment of every system, with its score. */
  showOthers(row) {
    const { rows } = this, start = row - rows.system(row), box = byId("others");
    box.hidden = rows.width < 2;
    if (box.hidden) return;
    const links = rows.systems.map((name, system) => {
      const link = make("a", { href: this.addressFor(start + system) }, make("bdi", { textContent: name }), ` ${shown(rows.value(start + system, "score"))}`);
      if (start + system === row) link.setAttribute("aria-current", "true");
      link.addEventListener("click", (event) => { event.preventDefault(); this.onMove(0, start + system); });
      return make("li", {}, link);
    });
    box.replaceChildren(make("h3", { textContent: "This segment of each system" }), make("ul", {}, ...links));
  }

  hide() {
    this.row = null;
    if (this.dialog.open) this.dialog.close();
    this.box.replaceChildren();
  }
}
