// The page for several runs: a chart whose axes the user chooses, and a table.

/** The metrics that best show the differences between buffers, the most important first. */
const TELLING = ["response.mean_ms", "response.p99_ms", "buffer.write_hits_percent", "buffer.evictions", "buffer.destaged_pages", "buffer.mean_destage_pages", "flash.erases", "waf.host"];
/** If the chart would have more series than this, it shows only one of the traces or layers at first. */
const SERIES_AT_FIRST = 40;
/** If the largest value is more than this many times the smallest value, the axis is logarithmic. */
const FAR_APART = 40;
/** The columns with seeds. Runs that differ only in these columns are averaged. */
const SEEDS = new Set(["seed", "sim.seed"]);
/** Parameters whose values are already part of a name of the run. */
const SAID = new Set(["buffer.kind", "buffer.capacity_bytes", "ftl.kind"]);
/** In a chart of many series, values above this many times the largest value of the best series are cut off. */
const CUT_OFF = 10;
/** @type {{ [name: string]: string | undefined }} */
const NICE = { "buffer.write_hits_percent": "write hits" };

/** The runs of a page, and the properties of their columns. */
class Runs {
  /** @param {Data.Table} table
   * @param {string[] | null} [goals] */
  constructor({ columns, rows, ranges }, goals) {
    this.columns = columns;
    this.rows = rows;
    /** The goals of the search for a size, as text. */
    this.wanted = goals || [];
    this.goals = different((goals || []).map((goal) => this.find(String(goal).split(/[<>]/)[0])).filter((index) => index >= 0));
    /** By row, the low and the high end of the range of each metric that has a range. */
    this.ranges = new Map(rows.map((row, index) => [row, ranges?.[index]]));
    this.values = columns.map((_, index) => different(rows.map((row) => row[index])));
    this.axes = this.indices(({ kind, name }, index) => this.varies(index) && (kind === "name" || (kind === "parameter" && !SAID.has(name) && !this.isOfScheme(name))));
    this.metrics = this.indices(({ kind }, index) => kind === "metric" && this.values[index].some(isNumber));
  }

  /** @param {(column: Data.Column, index: number) => boolean} test */
  indices(test) {
    return this.columns.map((_, index) => index).filter((index) => test(this.columns[index], index));
  }

  /** Whether a parameter has only one value for each input and each variant, so that they determine its value.
   * @param {number} index */
  followsFromNames(index) {
    const names = ["input", "trace", "variant"].map((name) => this.find(name)).filter((place) => place >= 0);
    if (!names.length || this.columns[index].kind !== "parameter") return false;
    /** @type {Map<string, Data.Value>} */
    const known = new Map();
    return this.rows.every((row) => {
      const key = JSON.stringify(names.map((place) => row[place]));
      if (!known.has(key)) known.set(key, row[index]);
      return known.get(key) === row[index];
    });
  }

  /** @param {number} index */
  varies(index) {
    return this.values[index].filter((value) => value !== null).length > 1;
  }

  /** Whether a parameter belongs to a scheme or a layer. The name of the buffer or the FTL in the results
   * already contains such a parameter.
   * @param {string} name */
  isOfScheme(name) {
    return this.find(name) >= 0 && /^(parameter\.)?(buffer|ftl)\./.test(name) && this.find("buffer") >= 0;
  }

  /** The goal for the metric `name`: the text of the goal, and the number in it.
   * @param {string} name */
  goal(name) {
    const text = this.wanted.map(String).find((goal) => goal.split(/[<>]/)[0].trim() === name);
    if (text === undefined) return undefined;
    const limit = Number(text.split(/[<>]/)[1]);
    return Number.isFinite(limit) ? { text: `goal: ${text.slice(name.length)}`, limit } : undefined;
  }

  /** @param {string} name */
  find(name) {
    return this.columns.findIndex((column) => column.name === name);
  }

  /** The columns that the table shows at first. */
  chosen() {
    const more = new Set(TELLING.map((name) => this.find(name)));
    // The sizes of a search are results, even if they are equal.
    const isShown = (/** @type {string} */ name) => name === "buffer" || (name === "size" && this.wanted.length > 0);
    const names = this.indices(({ kind, name }, index) => kind === "error" || (kind === "name" && (this.varies(index) || isShown(name))));
    const metrics = different([...this.goals, ...this.metrics.filter((index) => more.has(index))]);
    return [...names.filter((index) => this.columns[index].kind === "name"), ...(metrics.length ? metrics : this.metrics.slice(0, 8)), ...names.filter((index) => this.columns[index].kind === "error")];
  }

  metric() {
    const usable = (/** @type {number} */ index) => this.metrics.includes(index) && this.varies(index);
    const first = TELLING.map((name) => this.find(name)).find(usable);
    return first ?? this.metrics.find(usable) ?? this.metrics[0];
  }

  axis() {
    const size = this.find("size");
    if (this.axes.includes(size)) return size;
    const buffer = this.find("buffer");
    return this.axes.includes(buffer) || !this.axes.length ? Math.max(buffer, 0) : this.axes[0];
  }

  /** @param {number} index */
  label(index) {
    const { name } = this.columns[index];
    return NICE[name] || name;
  }
}

/** Groups columns by the first word of their names.
 * @type {(runs: Runs, indices: number[]) => Page.Group[]} */
function grouped(runs, indices) {
  /** @type {Map<string, Page.Group[1]>} */
  const groups = new Map();
  for (const index of indices) {
    const { name, unit } = runs.columns[index];
    const group = name.split(/[._]/)[0];
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group)?.push([index, titled(runs.label(index), unit)]);
  }
  return [...groups];
}

class Explorer {
  /** @param {HTMLElement} parent
   * @param {Runs} runs
   * @param {number | undefined} preferred */
  constructor(parent, runs, preferred) {
    this.runs = runs;
    this.y = preferred !== undefined && runs.metrics.includes(preferred) ? preferred : runs.metric();
    this.x = runs.axis();
    this.logX = true;
    /** Whether, in a chart of many series, only the best series are drawn in colour. */
    this.onlyBest = true;
    /** Whether the user chose a logarithmic axis. Null if the user has not chosen; then `isLog` decides by the
     * values.
     * @type {boolean | null} */
    this.logY = null;
    /** The values that rows must have, by column.
     * @type {Map<number, Data.Value>} */
    this.kept = new Map();
    // If all inputs and layers together would give too many series, only one of them is shown at first.
    const wide = () => this.apart().reduce((product, index) => product * (this.kept.has(index) ? 1 : runs.values[index].length), 1);
    for (const name of ["trace", "input", "ftl"]) {
      const index = runs.find(name);
      if (wide() > SERIES_AT_FIRST && this.apart().includes(index)) this.kept.set(index, runs.values[index][0]);
    }
    this.controls = make("div", { class: "controls" });
    parent.append(this.controls);
    const spec = this.spec();
    this.chart = new Chart(parent, spec);
    this.ranking = new Ranking(parent);
    this.fill();
    this.ranking.update(spec);
  }

  /** The columns that distinguish series: they vary, are not on the x axis, and do not follow from the input and the
   * variant. Runs with different seeds are averaged, so columns with seeds are left out. */
  apart() {
    const { runs } = this;
    return runs.axes.filter((index) => index !== this.x && !SEEDS.has(runs.columns[index].name) && !runs.followsFromNames(index));
  }

  /** @param {Partial<Pick<Explorer, "x" | "y" | "logX" | "logY" | "onlyBest">>} settings */
  change(settings) {
    Object.assign(this, settings);
    this.fill();
    const spec = this.spec();
    this.chart.update(spec);
    this.ranking.update(spec);
  }

  fill() {
    const { runs } = this;
    const axes = runs.axes.length ? runs.axes : [this.x];
    /** @type {Page.Group[]} */
    const along = [["", axes.map((index) => [index, runs.label(index)])], ...grouped(runs, runs.metrics).map(/** @returns {Page.Group} */ ([name, rows]) => [`metric ${name}`, rows])];
    const filters = this.apart().filter((index) => runs.columns[index].name !== "buffer" && runs.values[index].length <= 200).map((index) => {
      /** @type {Page.Group[1]} */
      const values = runs.values[index].map((value, place) => [place, shown(value, runs.columns[index].unit)]);
      const now = this.kept.has(index) ? runs.values[index].indexOf(this.kept.get(index) ?? null) : "all";
      return choice(runs.label(index), [["", [["all", "all"], ...values]]], now, (chosen) => {
        if (chosen === "all") this.kept.delete(index);
        else this.kept.set(index, runs.values[index][Number(chosen)]);
        this.change({});
      });
    });
    this.controls.replaceChildren(
      choice("Show", grouped(runs, runs.metrics), this.y, (index) => this.change({ y: Number(index) })),
      choice("over", along, this.x, (index) => { this.kept.delete(Number(index)); this.change({ x: Number(index) }); }),
      ...filters,
      ...(this.isNumeric() ? [tick("log x", this.logX, (logX) => this.change({ logX }))] : []),
      tick("log y", this.isLog(), (logY) => this.change({ logY })),
      ...(this.isCrowd ? [tick(`best ${BEST} in colour`, this.onlyBest, (onlyBest) => this.change({ onlyBest }))] : []),
    );
  }

  /** Whether the value axis is logarithmic: by the user's choice, or because the values differ widely. */
  isLog() {
    if (this.logY !== null) return this.logY;
    // Shares in percent are between 0 and 100, so their axis is linear.
    if (this.runs.columns[this.y].unit === "%") return false;
    const numbers = this.runs.values[this.y].filter(isNumber);
    return numbers.length > 1 && Math.min(...numbers) > 0 && Math.max(...numbers) > FAR_APART * Math.min(...numbers);
  }

  isNumeric() {
    const values = this.runs.values[this.x].filter((value) => value !== null);
    return values.length > 1 && values.every(isNumber);
  }

  /** @returns {Page.Chart & Page.Compared} */
  spec() {
    const { runs, x, y } = this;
    const [along, up] = [runs.columns[x], runs.columns[y]];
    const isNumeric = this.isNumeric();
    const rows = runs.rows.filter((row) => [...this.kept].every(([index, value]) => index === x || row[index] === value));
    const apart = this.apart().filter((index) => !this.kept.has(index));
    // The name of a series determines its look, so that a series keeps its look when other series are hidden. The
    // value of a parameter is given with the parameter's name. It is written without thousands separators, because
    // commas separate the parts of a series' name.
    const said = (/** @type {Data.Value} */ value, /** @type {Data.Column} */ { name, unit }) => (name.includes(".") && !SAID.has(name) ? `${name}=${value}` : shown(value, unit));
    const nameOf = (/** @type {Data.Value[]} */ row) => apart.map((index) => said(row[index], runs.columns[index])).join(", ") || runs.label(y);
    const names = different(runs.rows.map(nameOf));
    const size = runs.find("size");
    /** @type {Map<string, Page.Gathered>} */
    const bySeries = new Map();
    for (const row of rows) {
      const name = nameOf(row);
      /** @type {Page.Gathered} */
      const series = bySeries.get(name) || { name, points: new Map(), known: new Map(), level: null };
      bySeries.set(name, series);
      const number = row[y];
      if (!isNumber(number)) continue;
      if (x === size && isNumeric && row[x] === null) { series.level = number; continue; }
      if (row[x] === null || row[x] === undefined) continue;
      if (!series.points.has(row[x])) series.points.set(row[x], []);
      series.points.get(row[x])?.push(number);
      const known = runs.ranges.get(row)?.[up.name];
      if (known) series.known.set(row[x], known);
    }
    const places = isNumeric ? [] : different(rows.map((row) => row[x]));
    const isMetric = along.kind === "metric";
    const logX = isNumeric && this.logX && runs.values[x].filter(isNumber).every((value) => value > 0);
    const all = [...bySeries.values()].filter((series) => series.points.size || series.level !== null);
    const isFlat = !isNumeric && all.length <= 1;
    const isBar = !isNumeric && all.length * places.length <= 60;
    const used = rows.map((row) => row[x]).filter(isNumber).sort((a, b) => a - b);
    const ends = [used[0], used[used.length - 1]];
    let repeats = 1;
    /** @type {Page.Measured[]} */
    const series = all.map((each) => {
      const at = (/** @type {Data.Value} */ place) => (isNumeric ? Number(place) : places.indexOf(place));
      /** @type {(point: [Data.Value, number[]]) => [number, number]} */
      const mean = ([place, numbers]) => {
        repeats = Math.max(repeats, numbers.length);
        return [at(place), numbers.reduce((sum, number) => sum + number, 0) / numbers.length];
      };
      /** @type {(point: [Data.Value, number[]]) => [number, number, number]} */
      const spread = ([place, numbers]) => [at(place), ...(each.known.get(place) || [Math.min(...numbers), Math.max(...numbers)])];
      const values = [...each.points].map(mean).sort((a, b) => a[0] - b[0]);
      const level = values.length ? null : each.level;
      return {
        name: each.name, look: names.indexOf(each.name),
        kind: level !== null ? "level" : isNumeric ? (isMetric ? "points" : "line") : isBar ? "bar" : "points",
        values: level !== null ? ends.map((end) => [end, level]) : values,
        ranges: isFlat ? [] : [...each.points].map(spread),
      };
    });
    const bars = isFlat ? series.map((each) => ({ ...each, values: each.values.sort((a, b) => a[0] - b[0]) })) : series;
    const lacking = rows.filter((row) => !isNumber(row[y])).length;
    const zeros = this.isLog() ? rows.filter((row) => isNumber(row[y]) && row[y] <= 0).length : 0;
    const notes = [up.about, repeats > 1 ? `Means of ${repeats} runs.` : "", lacking ? `${lacking} of ${rows.length} runs have no such value.` : "", zeros ? `${zeros} values that are 0 have no place on a logarithmic axis.` : ""];
    if (series.some((each) => each.kind === "level")) notes.push("A line without marks is a run without a buffer.");
    const isLines = series.some((each) => each.kind === "line");
    const goal = runs.goal(up.name);
    this.isCrowd = isLines && series.length > CROWD;
    const told = { series, metric: up.name, x: { title: runs.label(x), unit: along.unit }, y: { title: runs.label(y), unit: up.unit } };
    /** @type {Set<string>} */
    const best = isLines ? bestFew(ranked(told)) : new Set();
    if (this.isCrowd && this.onlyBest) {
      for (const each of series) each.isFaint = !best.has(each.name);
      recoloured(series.filter((each) => best.has(each.name)));
      const bounds = series.some((each) => BOUNDS.test(each.name)) ? " The grey lines with names are bounds." : "";
      notes.push(`The ${BEST} that come nearest to the best one at each ${runs.label(x)} are in colour, the others grey; the ranking below has all.${bounds}`);
    }
    for (const each of series) each.isNamed = isLines && each.kind === "line" && (this.isCrowd ? best.has(each.name) || BOUNDS.test(each.name) : series.length <= 8);
    // Values far above those of the best series would leave little room for the best series, so they are cut off.
    const high = (/** @type {boolean} */ isBest) => Math.max(...series.filter((each) => best.has(each.name) === isBest).flatMap((each) => each.values.map(([, value]) => value)));
    const cut = this.isCrowd && this.onlyBest && this.isLog() && best.size && high(false) > CUT_OFF * high(true) ? CUT_OFF * high(true) : undefined;
    if (cut) notes.push(`Values above ${withUnit(cut, up.unit)} are cut off.`);
    const few = different(used).length <= 12 ? different(used) : undefined;
    const ticks = !isNumeric || isMetric ? undefined : few || (logX && along.unit === "bytes" ? powers(ends[0], ends[1]) : undefined);
    return {
      title: `${titled(runs.label(y), up.unit === "bytes" ? "" : up.unit)} over ${runs.label(x)}`,
      about: notes.filter(Boolean).join(" "),
      x: { title: runs.label(x), unit: along.unit, names: isNumeric ? undefined : places.map((place) => shown(place, along.unit)), log: logX, ticks },
      y: { title: runs.label(y), unit: up.unit, exact: up.unit !== "bytes", log: this.isLog(), most: cut, goal },
      metric: up.name,
      flat: isFlat, series: bars, apart: isMetric, keepLegend: !isFlat,
      height: isFlat ? Math.max(200, 70 + 24 * places.length) : undefined,
    };
  }
}

/** Shows the content of a comparison.
 * @type {(content: HTMLElement, data: { title: string, table: Data.Table, goals?: string[] | null }) => void} */
function showRuns(content, data) {
  const runs = new Runs(data.table, data.goals);
  if (runs.rows.length > 1 && runs.metrics.length) {
    const part = section("Explore", "explore");
    content.append(part);
    new Explorer(part, runs, runs.goals[0]);
  }
  const part = section("All runs", "runs");
  content.append(part);
  new Table(part, { name: `${data.title} runs`, columns: runs.columns, rows: runs.rows, chosen: runs.chosen(), choose: true });
}
