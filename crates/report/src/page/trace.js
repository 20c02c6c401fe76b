// The page for the statistics of a trace.

const SECTOR = 512;
const OPERATIONS = ["reads", "writes"];

/** For each value, the share of all values up to this one, in percent, from pairs of value and cumulative count.
 * @type {(pairs: Data.Cumulative) => [value: number, share: number][]} */
function shares(pairs) {
  const total = pairs.length ? pairs[pairs.length - 1][1] : 0;
  return pairs.map(([value, count]) => [value, (100 * count) / total]);
}

/** @type {(parent: HTMLElement, title: string, why: string) => void} */
function lacking(parent, title, why) {
  parent.append(make("figure", { class: "chart small" }, make("figcaption", {}, title), make("p", { class: "quiet" }, why)));
}

/** @type {(parent: HTMLElement, title: string, about: string, x: string, unit: string, series: [name: string, look: number, pairs: Data.Cumulative][], why: string) => void} */
function distribution(parent, title, about, x, unit, series, why) {
  const used = series.filter(([, , pairs]) => pairs.length);
  if (!used.length) return lacking(parent, title, why);
  // A logarithmic axis has no 0, so the share of values up to n is drawn at n + 1. The first point is the share of 0.
  /** @type {(pairs: Data.Cumulative) => Page.Pair[]} */
  const above = (pairs) => shares(pairs).map(([value, share]) => [value + 1, share]);
  new Chart(parent, {
    title, about, small: true, keepLegend: used.length > 1, x: { title: x, unit, log: true, ticks: unit === "bytes" ? different(used.flatMap(([, , pairs]) => pairs.map(([value]) => value + 1))) : undefined }, y: { title: "share", unit: "%", least: 0, most: 100 },
    series: used.map(([name, index, pairs]) => ({ name, look: index, kind: "line", values: above(pairs) })),
  });
}

/** @type {(parent: HTMLElement, load: Data.Load) => void} */
function loadOverTime(parent, { interval_us: interval, ...load }) {
  const seconds = interval / 1e6;
  const length = scaleOf("us", interval);
  /** @type {(title: string, y: string, columns: [name: string, values: number[]][], factor: number) => void} */
  const over = (title, y, columns, factor) => {
    const used = columns.filter(([, values]) => values.some((value) => value > 0));
    if (!used.length) return lacking(parent, title, "no reads or writes");
    new Chart(parent, {
      title, small: true, group: "load", keepLegend: true, about: `In intervals of ${short(interval / length.factor)} ${length.unit}.`, x: { title: "time from the first request", unit: "us" }, y: { title: y },
      series: used.map(([name, values]) => ({ name, look: OPERATIONS.indexOf(name), kind: "plain", step: true, values: values.map((value, index) => [index * interval, (value * factor) / seconds]) })),
    });
  };
  over("Requests over time", "requests a second", [["reads", load.reads], ["writes", load.writes]], 1);
  over("Bytes over time", "MB/s", [["reads", load.bytes_read], ["writes", load.bytes_written]], 1e-6);
}

/** @type {(parent: HTMLElement, starts: number[]) => void} */
function alignment(parent, starts) {
  const title = "Where reads and writes begin";
  const total = starts.reduce((sum, count) => sum + count, 0);
  if (!total) return lacking(parent, title, "no reads or writes");
  const names = starts.map((_, sector) => `${brief((sector * SECTOR) / 1024)}`);
  new Chart(parent, {
    title, small: true, about: "Distance of the beginning of a request from the multiple of 16 KiB below it; at 0, 4, 8 and 12 KiB a request is aligned to pages of 4 KiB.", x: { title: "KiB past a multiple of 16 KiB", names, every: 8 }, y: { title: "share", unit: "%" },
    series: [{ name: "reads and writes", look: 2, kind: "bar", values: starts.map((count, sector) => [sector, (100 * count) / total]) }],
  });
}

/** @type {(parent: HTMLElement, kind: string, index: number, grid: Data.Grid, extent: [time: number, address: number], page: number) => void} */
function places(parent, kind, index, grid, extent, page) {
  const title = `Where and when ${kind} go`;
  if (!grid.cells.length) return lacking(parent, title, `no ${kind}`);
  const [time, address] = [scaleOf("us", extent[0]), scaleOf("bytes", extent[1])];
  // The sizes of cells are powers of two, and may differ between the two charts. Each chart uses the cells of its own
  // data, and the axes of both charts have the same end.
  const [across, up] = [Math.ceil(extent[0] / grid.cell_us), Math.ceil(extent[1] / (grid.cell_pages * page))];
  const most = Math.max(...grid.cells.map((cell) => cell[2]));
  const number = (/** @type {number} */ value) => brief(Number(value.toPrecision(3)));
  // The ticks of both charts are the same numbers, each at the cell that holds it.
  const ticks = (/** @type {number} */ end, /** @type {number} */ size) => new Map(roundSteps(end, 6).map((tick) => [Math.floor(tick / size + 1e-9), brief(tick)]));
  new Chart(parent, {
    title, small: true, look: index, about: `A stronger colour is more, up to ${spaced(most)} in a cell.`, x: { title: `time from the first request (${time.unit})` }, y: { title: `address (${address.unit})` },
    heat: { cells: grid.cells, columns: across, rows: up, xTicks: ticks(extent[0] / time.factor, grid.cell_us / time.factor), yTicks: ticks(extent[1] / address.factor, (grid.cell_pages * page) / address.factor), xName: (column) => number((column * grid.cell_us) / time.factor), yName: (row) => number((row * grid.cell_pages * page) / address.factor) },
  });
}

/** @type {(parent: HTMLElement, rows: Data.Shape["hot_pages"]) => void} */
function hotPages(parent, rows) {
  if (!rows.length) return lacking(parent, "Hot pages", "no writes");
  const all = rows[rows.length - 1][2];
  /** @type {(title: string, about: string, y: string, values: Page.Pair[], more?: Partial<Page.Upward>) => Chart} */
  const line = (title, about, y, values, more = {}) => new Chart(parent, {
    title, about, small: true, x: { title: "pages written most often", log: true }, y: { title: y, ...more }, series: [{ name: y, look: 1, kind: "line", values }],
  });
  line("Share of page writes that the hottest pages get", "", "share", rows.map((row) => [row[0], (100 * row[2]) / all]), { unit: "%", least: 0, most: 100 });
  line("Number of blocks that hold the hottest pages", "", "blocks", rows.map((row) => [row[0], row[1]]), { log: true });
  const distances = rows.filter((row) => isNumber(row[3]));
  if (distances.length) line("Mean distance of a page's rewrites", "The pages are ranked, the hottest first; distances are page writes in between (PIRD).", "page writes between", distances.map((row) => [row[0], row[3]]));
}

/** @type {(content: HTMLElement, data: Page.Of<"trace">) => void} */
function showTrace(content, { shape, statistics, volumes }) {
  const part = section("Charts", "charts");
  const charts = make("div", { class: "charts" });
  content.append(part);
  part.append(make("p", { class: "quiet" }, `Pages of ${withUnit(shape.page_bytes, "bytes")}, blocks of ${shape.block_pages} pages.`), charts);
  loadOverTime(charts, shape.load);
  /** @type {(pairs: Data.Cumulative) => Data.Cumulative} */
  const bytes = (pairs) => pairs.map(([sectors, count]) => [sectors * SECTOR - 1, count]);
  distribution(charts, "Requests of at most this size", "", "size", "bytes", [["reads", 0, bytes(shape.read_sectors)], ["writes", 1, bytes(shape.write_sectors)]], "no reads or writes");
  alignment(charts, shape.starts);
  distribution(charts, "Gaps between arrivals below this length", "", "gap", "us", [["all requests", 2, shape.gaps_us]], "fewer than two requests");
  distribution(charts, "Rewrites of a page within this distance", "PIRD: page writes between two writes of the same page.", "page writes between", "", [["writes", 1, shape.page_distances]], "no page is written twice");
  distribution(charts, "Rewrites that an LRU buffer of this size absorbs", "Stack distance: the number of different pages written between two writes of the same page, plus one.", "buffer", "bytes", [["writes", 1, shape.stack_distances.map(([pages, count]) => [(pages + 1) * shape.page_bytes - 1, count])]], "no page is written twice");
  distribution(charts, "Page writes to a block within this distance", "BIRD: page writes between two page writes in the same block.", "page writes between", "", [["writes", 1, shape.block_distances]], "no block is written twice");
  if (shape.footprint.length) new Chart(charts, { title: "Different pages written", small: true, x: { title: "page writes so far", log: true }, y: { title: "pages", log: true }, series: [{ name: "pages", look: 1, kind: "line", values: shape.footprint }] });
  hotPages(charts, shape.hot_pages);
  const grids = [shape.reads_at, shape.writes_at];
  /** @type {(axis: 0 | 1, size: (grid: Data.Grid) => number) => number} */
  const reach = (axis, size) => Math.max(0, ...grids.flatMap((grid) => grid.cells.map((cell) => (cell[axis] + 1) * size(grid))));
  /** @type {[time: number, address: number]} */
  const extent = [reach(0, (grid) => grid.cell_us), reach(1, (grid) => grid.cell_pages * shape.page_bytes)];
  grids.forEach((grid, index) => places(charts, OPERATIONS[index], index, grid, extent, shape.page_bytes));
  const table = section("Statistics", "statistics");
  content.append(table);
  const columns = [{ name: "name" }, { name: "value" }, { name: "unit" }, { name: "meaning", wide: true }];
  /** @type {Page.Cell<Data.Statistic>} */
  const cell = (value, { name }, row) => (name === "value" ? shown(value, row[2] === "bytes" ? "bytes" : "") : name === "unit" && !row[2] ? " " : null);
  new Table(table, { name: "statistics", columns, rows: statistics, cell });
  if (volumes.length > 1) {
    const own = section("Volumes", "volumes");
    content.append(own);
    /** @type {(keyof Data.Volume)[]} */
    const names = ["volume", "requests", "bytes_read", "bytes_written"];
    new Table(own, { name: "volumes", columns: names.map((name) => ({ name, unit: name.startsWith("bytes") ? "bytes" : "" })), rows: volumes.map((volume) => names.map((name) => volume[name])) });
  }
}
