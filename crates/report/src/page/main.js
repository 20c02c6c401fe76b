// Builds the page from the data in it.

/** Shows the parameters and the provenance of the results.
 * @type {(content: HTMLElement, data: { manifest: Data.Manifest, table?: Data.Table }) => void} */
function showOrigin(content, { manifest, table }) {
  const same = Object.entries((table && table.same) || {});
  if (table && same.length) {
    const part = section(table.rows.length > 1 ? "Parameters of all runs" : "Parameters", "parameters");
    const columns = [{ name: "parameter" }, { name: "value" }];
    const holder = make("details", {}, make("summary", {}, `${same.length} parameters`));
    part.append(holder);
    new Table(holder, { name: "parameters", columns, rows: same });
    content.append(part);
  }
  const part = section("Provenance", "provenance");
  const { traces, host, command, ...plain } = manifest;
  /** @type {[name: string, value: Data.Value | undefined][]} */
  const rows = Object.entries(plain);
  if (command) rows.push(["command", command]);
  if (host) rows.push(["host", `${host.name}, ${host.os} ${host.arch} with ${host.cores} cores`]);
  for (const input of traces || []) rows.push(...Object.entries(input));
  const cell = (/** @type {[string, Data.Value | undefined]} */ [name, value]) => make("tr", {}, make("td", { class: "text" }, name), make("td", { class: "sentence" }, typeof value === "number" ? String(value) : shown(value)));
  part.append(make("div", { class: "wide" }, make("table", { "aria-label": "provenance" }, make("tbody", {}, rows.map(cell)))));
  content.append(part);
}

/** The most important metrics of a single run, in this order. */
const FIRST = ["response.mean_ms", "response.p99_ms", "buffer.write_hits_percent", "waf.host", "buffer.destaged_pages"];

/** Shows three numbers of a single run in large type.
 * @type {(parent: HTMLElement, data: Page.Of<keyof Data.Kinds>) => void} */
function showFigures(parent, data) {
  if (data.kind !== "run") return;
  const { table } = data;
  const found = FIRST.map((name) => table.columns.findIndex((column) => column.name === name)).filter((index) => index >= 0 && isNumber(table.rows[0][index]));
  const figure = (/** @type {number} */ index) => {
    const { name, unit } = table.columns[index];
    return make("div", {}, make("dd", {}, withUnit(table.rows[0][index], unit)), make("dt", {}, name));
  };
  parent.prepend(make("dl", { class: "figures" }, found.slice(0, 3).map(figure)));
}

/** @type {{ [Kind in keyof Data.Kinds]: (content: HTMLElement, data: Page.Of<Kind>) => void }} */
const SHOWN = { compare: showRuns, curve: showRuns, size: showRuns, study: showStudy, reproduce: showPapers, run: showRun, trace: showTrace };

/** @type {Page.Of<keyof Data.Kinds>} */
const data = JSON.parse(byId("data").textContent);
data.title = document.querySelector("h1")?.textContent ?? "";
const content = byId("content");
byId("heading").textContent = data.heading || "";
beginTheme(redraw);
showFigures(byId("words"), data);
/** @type {(content: HTMLElement, data: Page.Of<keyof Data.Kinds>) => void} */ (SHOWN[data.kind])(content, data);
if (data.kind === "compare" && data.explained) showExplained(content, data.explained, data.table);
showOrigin(content, data);
document.documentElement.dataset.ready = "true";
performance.mark("ready");
drawTheRest();
