// Builds the page from the data in it.

/** Shows the parameters and the provenance of the results. */
function showOrigin(content, { manifest, table }) {
  const same = Object.entries((table && table.same) || {});
  if (same.length) {
    const part = section(table.rows.length > 1 ? "Parameters of all runs" : "Parameters", "parameters");
    const columns = [{ name: "parameter" }, { name: "value" }];
    const holder = make("details", {}, make("summary", {}, `${same.length} parameters`));
    part.append(holder);
    new Table(holder, { name: "parameters", columns, rows: same });
    content.append(part);
  }
  const part = section("Provenance", "provenance");
  const { traces, host, command, ...plain } = manifest;
  const rows = Object.entries(plain);
  if (command) rows.push(["command", command]);
  if (host) rows.push(["host", `${host.name}, ${host.os} ${host.arch} with ${host.cores} cores`]);
  for (const input of traces || []) rows.push(...Object.entries(input).map(([name, value]) => [name, value]));
  const cell = ([name, value]) => make("tr", {}, make("td", { class: "text" }, name), make("td", { class: "sentence" }, typeof value === "number" ? String(value) : shown(value)));
  part.append(make("div", { class: "wide" }, make("table", { "aria-label": "provenance" }, make("tbody", {}, rows.map(cell)))));
  content.append(part);
}

/** The most important metrics of a single run, in this order. */
const FIRST = ["response.mean_ms", "response.p99_ms", "buffer.write_hits_percent", "waf.host", "buffer.destaged_pages"];

/** Shows three numbers of a single run in large type. */
function showFigures(parent, { kind, table }) {
  if (kind !== "run") return;
  const found = FIRST.map((name) => table.columns.findIndex((column) => column.name === name)).filter((index) => index >= 0 && isNumber(table.rows[0][index]));
  const figure = (index) => {
    const { name, unit } = table.columns[index];
    return make("div", {}, make("dd", {}, withUnit(table.rows[0][index], unit)), make("dt", {}, name));
  };
  parent.prepend(make("dl", { class: "figures" }, found.slice(0, 3).map(figure)));
}

const SHOWN = { compare: showRuns, curve: showRuns, size: showRuns, study: showStudy, reproduce: showPapers, run: showRun, trace: showTrace };

const data = JSON.parse(document.getElementById("data").textContent);
data.title = document.querySelector("h1").textContent;
const content = document.getElementById("content");
document.getElementById("heading").textContent = data.heading || "";
beginTheme(redraw);
showFigures(document.getElementById("words"), data);
SHOWN[data.kind](content, data);
if (data.kind === "compare" && data.explained) showExplained(content, data);
showOrigin(content, data);
document.documentElement.dataset.ready = "true";
performance.mark("ready");
drawTheRest();
