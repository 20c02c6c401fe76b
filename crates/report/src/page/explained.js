// The explanation of a run: what its requests wait for, the distribution of response times, and charts over time.

/** @type {{ [part: string]: string | undefined }} */
const ABOUT_PARTS = {
  queue: "waits in the host or for the channel", bus: "moves over the host bus", slot: "waits for a buffer slot", slot_gc: "waits for a buffer slot, behind garbage collection",
  die: "waits for a die", die_gc: "the same, behind garbage collection", flash: "is read or programmed",
  die_read: "waits while its die reads", die_program: "waits while its die programs", die_erase: "waits while its die erases",
  channel: "waits for a channel", transfer: "is on a channel",
};
/** The percentiles at which bands of requests end. The last band ends at 100. */
const BANDS = [50, 90, 99, 99.9];

/** Converts columns to rows.
 * @type {<Row>(columns: { [Name in keyof Row]: Row[Name][] }) => Row[]} */
const rowsOf = (columns) => {
  /** @type {[name: string, values: any[]][]} */
  const all = Object.entries(columns);
  return all[0][1].map((_, index) => /** @type {any} */ (Object.fromEntries(all.map(([name, values]) => [name, values[index]]))));
};

/** For each band of percentiles, the mean of each part of the response time over the requests of this band.
 * @type {(of: Data.Response, parts: string[]) => { name: string, parts: number[] }[]} */
function bands({ requests, histogram }, parts) {
  const ends = [...BANDS, 100];
  const all = ends.map((end) => ({ name: `to ${end} %`, requests: 0, parts: parts.map(() => 0) }));
  let before = 0;
  for (const row of rowsOf(histogram)) {
    // The requests of a bucket all belong to the band that contains the middle of the bucket.
    const percent = (100 * (before + row.requests / 2)) / requests;
    const band = all[ends.findIndex((end) => percent <= end)] || all[all.length - 1];
    band.requests += row.requests;
    parts.forEach((part, index) => { band.parts[index] += row[`${part}_ms`] || 0; });
    before += row.requests;
  }
  return all.filter((band) => band.requests).map((band) => ({ ...band, parts: band.parts.map((sum) => sum / band.requests) }));
}

/** @type {(parent: HTMLElement, response: { [operation: string]: Data.Response }, parts: string[]) => void} */
function split(parent, response, parts) {
  for (const [operation, of] of Object.entries(response)) {
    /** @type {{ name: string, parts: number[] }[]} */
    const rows = [];
    if (of.histogram && of.histogram[`${parts[0]}_ms`]) rows.push(...bands(of, parts));
    rows.unshift({ name: "all", parts: parts.map((part) => of.split_ms[part]) });
    if (of.tail && rows.length === 1) rows.push({ name: `the ${spaced(of.tail.requests)} slowest`, parts: parts.map((part) => of.tail.split_ms[part]) });
    const used = parts.map(/** @returns {[string, number]} */ (part, index) => [part, index]).filter(([, index]) => rows.some((row) => row.parts[index] > 0));
    new Chart(parent, {
      title: `What a ${operation} waits for, by percentile`, small: true, stacked: true, keepLegend: true,
      about: used.map(([part]) => `${part}: ${ABOUT_PARTS[part] || part}`).join("; ") + ".",
      x: { title: "requests, the fastest first", names: rows.map((row) => row.name) }, y: { title: "mean response", unit: "ms" },
      series: used.map(([part, index]) => ({ name: part, look: index, kind: "bar", stack: "parts", values: rows.map((row, place) => [place, row.parts[index]]) })),
    });
  }
}

/** @type {(parent: HTMLElement, response: { [operation: string]: Data.Response }) => void} */
function spread(parent, response) {
  const of = Object.entries(response).filter(([, each]) => each.histogram);
  if (!of.length) return;
  /** @type {Page.Series[]} */
  const slower = of.map(([name, each], index) => {
    let left = each.requests;
    const values = rowsOf(each.histogram).flatMap((row) => {
      /** @type {Page.Pair} */
      const pair = [row.to_ms, (100 * left) / each.requests];
      left -= row.requests;
      return row.to_ms > 0 ? [pair] : [];
    });
    return { name, look: index, kind: "plain", step: true, values };
  });
  new Chart(parent, {
    title: "Share of requests that take at least this long", small: true, keepLegend: true, about: "Both axes are logarithmic, so that the slowest requests can be seen: 1 % is the 99th percentile.",
    x: { title: "response", unit: "ms", log: true }, y: { title: "share of requests", unit: "%", log: true }, series: slower,
  });
  /** @type {Page.Series[]} */
  const counts = of.map(([name, each], index) => ({ name, look: index, kind: "plain", step: true, values: rowsOf(each.histogram).filter((row) => row.to_ms > 0).map((row) => [row.to_ms, row.requests]) }));
  new Chart(parent, {
    title: "Requests by response", small: true, keepLegend: true, about: "Each bin is at most a thirty-second of its value wide.",
    x: { title: "response", unit: "ms", log: true }, y: { title: "requests" }, series: counts,
  });
}

/** The charts over time. A row is the title, the unit, the columns with their names in the legend, and the title of the
 * value axis if it needs one.
 * @type {[title: string, unit: string, parts: [name: string, said: string][], what?: string][]} */
const OVER_TIME = [
  ["Response of reads", "ms", [["read.mean_ms", "mean"], ["read.p99_ms", "99th percentile"], ["read.max_ms", "largest"]], "response"],
  ["Response of writes", "ms", [["write.mean_ms", "mean"], ["write.p99_ms", "99th percentile"], ["write.max_ms", "largest"]], "response"],
  ["Requests that arrive in an interval", "", [["requests", "requests"]]],
  ["Requests that have arrived and are not complete", "", [["queue.mean", "mean"], ["queue.max", "largest"]]],
  ["Pages in the buffer", "pages", [["buffer.pages", "all"], ["buffer.dirty_pages", "dirty, mean"], ["buffer.dirty_pages_max", "dirty, largest"]]],
  ["Longest time that a page has been dirty", "ms", [["buffer.oldest_dirty_ms", "oldest"]]],
  ["Pages that leave the buffer in an interval", "", [["destages", "destages"], ["destaged_pages", "pages"]]],
  ["Time in garbage collections and merges, over all dies", "ms", [["gc.time_ms", "time"]]],
  ["Flash operations in an interval", "", [["flash.reads", "reads"], ["flash.programs.host", "programs, host"], ["flash.programs.pad", "programs, padding"], ["flash.programs.copy", "programs, copied"], ["flash.programs.map", "programs, map"], ["flash.programs.wear", "programs, wear"], ["flash.erases", "erases"]]],
  ["Dies that are busy", "%", [["utilization.mean", "mean"], ["utilization.min", "idlest die"], ["utilization.max", "busiest die"]]],
];

/** @type {(parent: HTMLElement, series: Data.Series) => void} */
function overTime(parent, { interval_ms: interval, columns }) {
  const time = columns.time_ms;
  for (const [title, unit, parts, what] of OVER_TIME) {
    const factor = unit === "%" ? 100 : 1;
    const used = parts.filter(([name]) => columns[name] && columns[name].some((value) => value !== null && value !== 0));
    if (!used.length) continue;
    new Chart(parent, {
      title, small: true, group: "time", keepLegend: used.length > 1, about: `In intervals of ${withUnit(interval, "ms")}.`,
      x: { title: "time", unit: "ms" }, y: { title: what || "", unit },
      // The largest response is often the 99th percentile. Its thin line lies on top, so that both lines are seen.
      series: used.map(([name, said], index) => ({ name: said, look: index, kind: "plain", isThin: what === "response" && said === "largest", values: time.map((at, row) => [at, columns[name][row] === null ? null : columns[name][row] * factor]) })),
    });
  }
  const dies = Object.keys(columns).flatMap((name) => /^utilization\.(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  if (dies.length < 2) return;
  // More columns than this would be narrower than a few pixels.
  const step = Math.max(1, Math.ceil(time.length / 160));
  const across = Math.ceil(time.length / step);
  const cells = dies.flatMap((die, row) => Array.from({ length: across }, /** @returns {Page.Heat["cells"][0]} */ (_, column) => {
    const part = columns[`utilization.${die}`].slice(column * step, (column + 1) * step).filter(isNumber);
    return [column, row, part.length ? (100 * part.reduce((sum, each) => sum + each, 0)) / part.length : 0];
  }));
  const last = time[time.length - 1];
  const { factor } = scaleOf("ms", last);
  const xTicks = new Map(roundSteps(last / factor, 6).map((tick) => [Math.min(across - 1, Math.floor((tick * factor) / (interval * step) + 1e-9)), brief(tick)]));
  new Chart(parent, {
    title: "Share of time that each die is busy", small: true, about: "A stronger colour is busier.", height: Math.min(520, 120 + 18 * dies.length),
    x: { title: titled("time", scaleOf("ms", last).unit) }, y: { title: "die" },
    heat: { cells, columns: across, rows: dies.length, plain: true, most: 100, xTicks, xName: (column) => brief(Number((time[Math.min(column * step, time.length - 1)] / scaleOf("ms", last).factor).toPrecision(3))), yName: (row) => String(dies[row]), say: (share) => `${short(share)} % busy` },
  });
}

/** A chart of counts over whole numbers. It has bars if there are few different numbers.
 * @type {(parent: HTMLElement, title: string, about: string, x: string, y: string, pairs: Data.Cumulative) => void} */
function counted(parent, title, about, x, y, pairs) {
  if (!pairs.length) return;
  const isFew = pairs.length <= 40;
  new Chart(parent, {
    title, about, small: true, x: { title: x, names: isFew ? pairs.map(([value]) => String(value)) : undefined }, y: { title: y },
    series: [{ name: y, look: 0, kind: isFew ? "bar" : "plain", values: pairs.map(([value, count], place) => [isFew ? place : value, count]) }],
  });
}

/** A chart of the thresholds that a scheme has learned, one for the end of each of its periods.
 * @type {(parent: HTMLElement, name: string, values: Data.Value) => void} */
function learnt(parent, name, values) {
  if (!Array.isArray(values) || !values.some(isNumber)) return;
  new Chart(parent, { title: name, about: "Thresholds that the scheme learned, at the ends of its own periods.", small: true, x: { title: "period" }, y: { title: "" }, series: [{ name, look: 0, kind: "plain", values: values.map((value, index) => [index, isNumber(value) ? value : null]) }] });
}

/** @type {(parent: HTMLElement, of: Data.Explained) => void} */
function explain(parent, of) {
  const charts = make("div", { class: "charts" });
  parent.append(charts);
  if (of.response) {
    split(charts, of.response, of.parts);
    spread(charts, of.response);
  }
  if (of.series && of.series.columns) overTime(charts, of.series);
  if (of.destages) counted(charts, "Pages that leave together", "Number of records that leave the buffer, by the number of their dirty pages.", "pages of a destage", "destages", rowsOf(of.destages).map((row) => [row.pages, row.records]));
  for (const [name, values] of Object.entries(of.scheme || {})) learnt(charts, name, values);
  if (of.wear) counted(charts, "Erases of a block", "Number of blocks, by how often they were erased.", "erases", "blocks", rowsOf(of.wear).map((row) => [row.erases, row.blocks]));
  if (of.worst && of.worst.index && of.worst.index.length) {
    parent.append(make("h3", {}, "The slowest requests"));
    const names = Object.keys(of.worst);
    const columns = names.map((name) => ({ name: name.replace(/_ms$/, ""), unit: name.endsWith("_ms") ? "ms" : "" }));
    new Table(parent, { name: "slowest requests", columns, rows: rowsOf(of.worst).map((row) => names.map((name) => row[name])) });
  }
}

/** @type {(content: HTMLElement, explained: (Data.Explained | null)[], table: Data.Table) => void} */
function showExplained(content, explained, table) {
  const part = section("Where the time goes", "explained");
  const runs = new Runs(table);
  const said = runs.indices(({ kind, name }, index) => kind === "name" && (runs.varies(index) || name === "buffer"));
  const nameOf = (/** @type {Data.Value[]} */ row) => said.map((column) => shown(row[column], runs.columns[column].unit)).join(", ");
  const own = explained.flatMap((of, index) => (of ? [{ of, name: nameOf(table.rows[index]) }] : []));
  if (!own.length) return;
  const place = make("div");
  const show = (/** @type {number} */ index) => {
    const { of } = own[index];
    for (const chart of all.filter((each) => place.contains(each.element))) all.splice(all.indexOf(chart), 1);
    place.replaceChildren();
    if (explained.length > 1) place.append(...(of.words || []).map((text) => make("p", {}, text)));
    explain(place, of);
  };
  if (own.length > 1) part.append(make("div", { class: "controls" }, choice("Run", [["", own.map(({ name }, index) => [index, name])]], 0, (index) => show(Number(index)))));
  part.append(place);
  content.append(part);
  show(0);
}

/** Shows the content of one run.
 * @type {(content: HTMLElement, data: Page.Of<"run">) => void} */
function showRun(content, data) {
  const { columns, rows } = data.table;
  const points = [["p50", "50 %"], ["p95", "95 %"], ["p99", "99 %"], ["p999", "99.9 %"], ["max", "largest"]];
  const value = (/** @type {string} */ name) => rows[0][columns.findIndex((column) => column.name === name)];
  const kinds = [["reads", "response.read"], ["writes", "response.write"]].map(/** @returns {Page.Series} */ ([name, prefix], look) => ({
    name, look, kind: "bar", values: points.map(/** @returns {[number, Data.Value]} */ ([point], place) => [place, value(`${prefix}.${point}_ms`)]).filter(isPair),
  })).filter((series) => series.values.length);
  if (data.explained) showExplained(content, data.explained, data.table);
  if (kinds.length) {
    const part = section("Response", "response");
    content.append(part);
    new Chart(part, { title: "Response by percentile", small: true, keepLegend: true, x: { title: "percentile", names: points.map(([, name]) => name) }, y: { title: "response", unit: "ms", log: true }, series: kinds });
  }
  const part = section("Metrics", "metrics");
  content.append(part);
  const metrics = columns.flatMap(/** @returns {Data.Statistic[]} */ ({ name, kind, unit, about }, index) => (kind === "metric" && rows[0][index] !== null ? [[name, rows[0][index], unit, about]] : []));
  const own = [{ name: "metric" }, { name: "value" }, { name: "unit" }, { name: "meaning", wide: true }];
  /** @type {Page.Cell<Data.Statistic>} */
  const cell = (number, { name }, row) => (name === "value" ? shown(number, row[2]) : name === "unit" && !row[2] ? " " : null);
  new Table(part, { name: "metrics", columns: own, rows: metrics, cell });
}
