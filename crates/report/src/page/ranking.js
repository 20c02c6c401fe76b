// The ranking of series by the distance of their values from the best value, and a table of it. The farther the value
// of a cell is from the best value, the stronger its colour.

/** If a chart has more series than this, only the best `BEST` series have colours, and names at the ends of their
 * lines. */
const CROWD = 12;
const BEST = 5;
/** Tables with more rows or columns than this are not shown, because nobody would read them. */
const ROWS_AT_MOST = 200;
const COLUMNS_AT_MOST = 16;
/** A cell whose value is this many times worse than the best value has the full colour. */
const FULL_COLOUR = 10;
/** Schemes that know the future or have unlimited size. Other schemes are compared with these bounds, which have no
 * rank. */
const BOUNDS = /^(belady|infinite)\b/;
/** Metrics whose larger values are better. For all other metrics, smaller values are better. */
const MORE_IS_BETTER = /hits|^throughput\.|parallelism|mean_destage_pages|^flash\.utilization/;

/** Compares the series of a chart of lines over all places on the x axis. The best series is the first of the rows.
 * @param {Page.Compared} compared */
function ranked({ series, metric, x, y }) {
  const places = different(series.flatMap((each) => (each.kind === "level" ? [] : each.values.map(([place]) => place)))).sort((a, b) => a - b);
  const isMore = MORE_IS_BETTER.test(metric);
  /** @type {Page.Ranked[]} */
  const rows = series.map(({ name, look: index, kind, values }) => {
    // A series of kind `level` has no sizes. Its value is valid at each size.
    const at = new Map(kind === "level" ? places.map((place) => [place, values[0][1]]) : values);
    return { name, look: index, at, isBound: BOUNDS.test(name), behind: Infinity, shades: new Map() };
  });
  const best = new Map(places.map((place) => {
    const there = rows.filter((row) => !row.isBound).map((row) => row.at.get(place)).filter(isNumber);
    return [place, there.length ? (isMore ? Math.max(...there) : Math.min(...there)) : undefined];
  }));
  // Shares in percent are compared by their difference. Other values are compared by their ratio; if a value is not
  // positive, also by their difference.
  const isFactor = y.unit !== "%" && rows.every((row) => [...row.at.values()].every((value) => value > 0));
  const off = (/** @type {Page.Ranked} */ row, /** @type {number} */ place) => {
    const [value, least] = [row.at.get(place) ?? NaN, best.get(place) ?? NaN];
    if (!isFactor) return Math.abs(value - least);
    return isMore ? Math.log(least / value) : Math.log(value / least);
  };
  for (const row of rows) {
    const known = places.filter((place) => row.at.has(place) && best.get(place) !== undefined);
    const mean = known.reduce((sum, place) => sum + off(row, place), 0) / known.length;
    row.behind = known.length ? mean : Infinity;
    row.shades = new Map(known.map((place) => [place, Math.max(0, isFactor ? off(row, place) / Math.log(FULL_COLOUR) : 0)]));
  }
  rows.sort((a, b) => Number(a.isBound) - Number(b.isBound) || a.behind - b.behind);
  return { places, rows, best, isFactor, title: x.title, unit: x.unit };
}

/** The names of the best series.
 * @param {{ rows: Page.Ranked[] }} ranking */
const bestFew = ({ rows }) => new Set(rows.filter((row) => !row.isBound).slice(0, BEST).map((row) => row.name));

/** The table with the ranking of a chart: a row for each series, and a column for each place on the x axis. */
class Ranking {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.about = make("p", { class: "about quiet" });
    this.table = make("table", { class: "ranking", "aria-label": "ranking" });
    this.element = make("div", { class: "table", hidden: true }, make("h3", {}, "Ranking"), this.about, make("div", { class: "wide" }, this.table));
    parent.append(this.element);
  }

  /** @param {Page.Compared} spec */
  update(spec) {
    const isRanked = spec.series.some((each) => each.kind === "line");
    const { places, rows, best, isFactor, title, unit } = ranked(isRanked ? spec : { ...spec, series: [] });
    const fits = places.length > 1 && places.length <= COLUMNS_AT_MOST && rows.length > 2 && rows.length <= ROWS_AT_MOST;
    this.element.hidden = !fits;
    if (!fits) return;
    const per = isFactor ? "behind" : `behind (${spec.y.unit || "difference"})`;
    const bounds = different(rows.flatMap((row) => row.name.match(BOUNDS)?.[0] ?? [])).sort();
    const unranked = bounds.length ? ` ${bounds.join(" and ")} ${bounds.length > 1 ? "are bounds and have" : "is a bound and has"} no rank.` : "";
    this.about.textContent = `${spec.y.title}, at each ${title}. The scheme whose values are nearest to the best ones, on average, stands first: "behind" is the mean ${isFactor ? "factor" : "difference"} to the best. ` +
      "The stronger the colour of a cell, the farther its value is from the best; the best values are in bold." + unranked;
    const head = [make("th", { scope: "col" }, ""), make("th", { scope: "col", class: "text" }, "series"), make("th", { scope: "col" }, per), ...places.map((place) => make("th", { scope: "col" }, shown(place, unit)))];
    const row = (/** @type {Page.Ranked} */ { name, at, behind, isBound, shades }, /** @type {number} */ index) => make("tr", {},
      make("td", { class: "quiet" }, isBound ? "" : String(index + 1)), make("th", { scope: "row", class: "text" }, name),
      make("td", {}, isBound ? "bound" : !Number.isFinite(behind) ? "-" : isFactor ? `${Math.exp(behind).toPrecision(3)} x` : short(behind)),
      places.map((place) => make("td", {
        class: at.get(place) === best.get(place) && !isBound ? "best" : null,
        style: shades.get(place) ? `--behind: ${Math.round(100 * Math.min(1, shades.get(place) ?? 0))}%` : null,
      }, shown(at.get(place), spec.y.unit))));
    this.table.replaceChildren(make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows.map(row)));
  }
}
