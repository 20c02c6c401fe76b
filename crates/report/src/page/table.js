// A table that can be sorted and filtered, and whose columns can be chosen. `Page.Table` in page.d.ts describes a
// table.

/** Number of rows that are shown at first. */
const FIRST_ROWS = 400;
/** If a table has more columns than this, words in it may be broken when the page is printed. */
const FITS_ON_PAPER = 14;

/** @template {Data.Value[]} Row */
class Table {
  /** @param {HTMLElement} parent
   * @param {Page.Table<Row>} spec */
  constructor(parent, spec) {
    this.columns = spec.columns;
    this.rows = spec.rows;
    this.saved = spec.saved;
    this.cell = spec.cell;
    this.cards = spec.cards;
    this.chosen = spec.chosen || spec.columns.map((_, index) => index);
    /** @type {{ column: number, sign: number } | null} */
    this.sort = null;
    this.named = spec.words || ["filter rows", "row", "rows"];
    /** @type {string[]} */
    this.words = [];
    this.shownRows = FIRST_ROWS;
    this.count = make("span", { class: "quiet", role: "status" });
    const filter = make("input", { type: "search", placeholder: this.named[0], "aria-label": `Filter rows of ${spec.name}`, oninput: () => {
      this.words = [...filter.value.toLowerCase().matchAll(/"([^"]*)"?|\S+/g)].map(([all, quoted]) => quoted ?? all).filter(Boolean);
      this.fill();
    } });
    const controls = make("div", { class: "controls" }, filter, this.count, make("span", { class: "end" }),
      button("CSV", () => save(fileName(spec.name, "csv"), csv(this.data()), "text/csv"), { "aria-label": `Save ${spec.name} as CSV` }),
      button("JSON", () => save(fileName(spec.name, "json"), this.json(), "application/json"), { "aria-label": `Save ${spec.name} as JSON` }));
    this.head = make("thead");
    this.body = make("tbody");
    this.more = make("p", { class: "controls" });
    this.table = make("table", { class: spec.cards ? "cards claims" : "", "aria-label": spec.name }, this.head, this.body);
    this.element = make("div", { class: "table" }, controls, spec.choose ? this.chooser() : null, make("div", { class: "wide" }, this.table), this.more);
    parent.append(this.element);
    this.fill();
    // A table that is whole is not made again, because the folded parts in it have just been opened.
    addEventListener("beforeprint", () => this.rows.length > this.shownRows && this.fill(Infinity));
    addEventListener("afterprint", () => this.rows.length > this.shownRows && this.fill());
  }

  chooser() {
    const boxes = this.columns.map((column, index) => {
      const box = make("input", { type: "checkbox", checked: this.chosen.includes(index), onchange: () => {
        this.chosen = this.columns.map((_, each) => each).filter((each) => (each === index ? box.checked : this.chosen.includes(each)));
        this.fill();
      } });
      return make("label", { title: column.about }, box, column.name);
    });
    const filter = make("input", { type: "search", placeholder: "filter columns", "aria-label": "Filter columns", oninput: () => {
      boxes.forEach((label) => { label.hidden = !label.textContent.toLowerCase().includes(filter.value.toLowerCase()); });
    } });
    return make("details", { class: "chooser" }, make("summary", {}, `Columns (${this.columns.length})`), filter, make("div", { class: "columns" }, boxes));
  }

  /** Shows only the rows for which `isKept` is true, in addition to the filter.
   * @param {(row: Row) => boolean} isKept */
  keep(isKept) {
    this.isKept = isKept;
    this.fill();
  }

  /** The rows that are shown, in their order. */
  wanted() {
    const said = (/** @type {Row} */ row) => (this.saved || this.chosen).map((index) => `${shown(row[index], this.columns[index].unit)} ${row[index]}`).join(" ").toLowerCase();
    let rows = this.rows.filter((row) => !this.isKept || this.isKept(row));
    if (this.words.length) rows = rows.filter((row) => { const text = said(row); return this.words.every((word) => text.includes(word)); });
    if (this.sort) {
      const { column, sign } = this.sort;
      const isGap = (/** @type {Data.Value | undefined} */ value) => value === null || value === undefined;
      rows = [...rows].sort((a, b) => {
        const [one, other] = [a[column], b[column]];
        // Missing values are last in both directions of sorting.
        if (isGap(one) || isGap(other)) return Number(isGap(one)) - Number(isGap(other));
        if (isNumber(one) && isNumber(other)) return sign * (one - other);
        return sign * shown(one).localeCompare(shown(other), "en", { numeric: true });
      });
    }
    return rows;
  }

  /** @param {number} column */
  by(column) {
    this.sort = { column, sign: this.sort?.column === column ? -this.sort.sign : 1 };
    this.fill();
    /** @type {HTMLElement} */ (this.head.querySelector(`[data-column="${column}"]`)).focus();
  }

  fill(most = this.shownRows) {
    const rows = this.wanted();
    const isText = (/** @type {number} */ index) => this.rows.some((row) => typeof row[index] === "string");
    const head = this.chosen.map((index) => {
      const { name, unit, about, label } = this.columns[index];
      const order = this.sort?.column === index ? (this.sort.sign > 0 ? "ascending" : "descending") : "none";
      const press = make("button", { type: "button", title: about || null, "data-column": index, onclick: () => this.by(index) }, label || breakable(name));
      return make("th", { scope: "col", class: isText(index) ? "text" : null, "aria-sort": order }, press, make("span", { class: "paper" }, label || breakable(name)), unit && unit !== "bytes" ? make("span", { class: "unit" }, unit) : null);
    });
    this.head.replaceChildren(make("tr", {}, head));
    this.table.classList.toggle("many", this.chosen.length > FITS_ON_PAPER);
    // The largest number of decimals in each column, by which decimal points are aligned.
    const fraction = (/** @type {unknown} */ value) => (isNumber(value) ? /\.\d+$/.exec(short(value))?.[0].length ?? 0 : 0);
    const fractions = new Map(this.chosen.map((index) => [index, this.columns[index].unit === "bytes" ? 0 : Math.max(0, ...rows.slice(0, most).map((row) => fraction(row[index])))]));
    const cell = (/** @type {Row} */ row) => (/** @type {number} */ index) => {
      const column = this.columns[index];
      const content = this.cell && this.cell(row[index], column, row);
      const text = content || shown(row[index], column.unit);
      const empty = text === "-" ? "empty" : "";
      const kind = [column.wide || column.kind === "error" ? "sentence" : isText(index) ? "text" : "", empty].join(" ").trim();
      const room = isNumber(row[index]) ? ".0000000000".slice(0, fractions.get(index)).slice(fraction(row[index])) : "";
      return make("td", { class: kind || null, "data-room": room || null, "data-name": this.cards ? column.name : null }, this.cards && text === "-" ? "" : text);
    };
    this.body.replaceChildren(...rows.slice(0, most).map((row) => make("tr", {}, this.chosen.map(cell(row)))));
    const [, one, more] = this.named;
    this.count.textContent = rows.length === this.rows.length ? `${rows.length} ${rows.length === 1 ? one : more}` : `${rows.length} of ${this.rows.length} ${more}`;
    this.more.replaceChildren(...(rows.length > most ? [button(`Show all ${rows.length} rows`, () => { this.shownRows = Infinity; this.fill(); })] : []));
  }

  data() {
    const saved = this.saved || this.chosen;
    return [saved.map((index) => this.columns[index].name), ...this.wanted().map((row) => saved.map((index) => row[index]))];
  }

  json() {
    const [names, ...rows] = this.data();
    return JSON.stringify(rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]]))), null, 1) + "\n";
  }
}

/** The parts of a dotted name, with possible line breaks after dots and underscores.
 * @param {string} name */
function breakable(name) {
  return name.split(/(?<=[._])/).flatMap((part, index) => (index ? [make("wbr"), part] : [part]));
}
