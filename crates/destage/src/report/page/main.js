// The page, from its data.

/** Parameters and where all of it comes from. */
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

const SHOWN = { compare: showRuns, curve: showRuns, size: showRuns, study: showStudy, reproduce: showPapers, run: showRun, trace: showTrace };

const data = JSON.parse(document.getElementById("data").textContent);
data.title = document.title;
const content = document.getElementById("content");
document.getElementById("heading").textContent = data.heading || "";
beginTheme(redraw);
SHOWN[data.kind](content, data);
if (data.kind === "compare" && data.explained) showExplained(content, data);
showOrigin(content, data);
document.documentElement.dataset.ready = "true";
performance.mark("ready");
