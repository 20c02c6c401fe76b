// A chart with its legend, zoom and files to save. This file decides what a chart shows and how, and the library
// draws the chart. // `Page.Chart` in page.d.ts describes a chart.

const PRINT_WIDTH = 680;
/** @type {Chart[]} */
const all = [];
/** If a chart has more series than this, a tooltip describes only one series. */
const TOLD_TOGETHER = 12;

class Chart {
  /** @param {HTMLElement} parent
   * @param {Page.Chart} spec */
  constructor(parent, spec) {
    this.spec = spec;
    /** The names of the hidden series.
     * @type {Set<string>} */
    this.hidden = new Set();
    this.plot = make("div", { class: "plot", role: "img", tabindex: "0" });
    this.keys = make("ul", { class: "legend" });
    this.back = button("Reset zoom", () => this.draw(), { hidden: true });
    /** @type {[name: string, press: () => void][]} */
    const files = [["PNG", () => this.picture(true)], ["SVG", () => this.picture(false)], ["CSV", () => save(fileName(this.spec.title, "csv"), this.csv(), "text/csv")]];
    const controls = files.map(([name, press]) => button(name, press, { "aria-label": `Save ${spec.title} as ${name}` }));
    this.caption = make("figcaption");
    this.about = make("p", { class: "about" });
    this.bar = make("div", { class: "controls" }, this.back, make("span", { class: "end" }), ...controls);
    this.element = make("figure", { class: spec.small ? "chart small" : "chart" }, this.caption, this.about, this.keys, this.plot, this.bar);
    parent.append(this.element);
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.plot.addEventListener("dblclick", () => this.draw());
    this.words();
    all.push(this);
    watcher.observe(this.plot);
  }

  /** Replaces this chart by the chart of `spec`. A hidden series remains hidden if the new chart has a series with
   * the same name.
   * @param {Page.Chart} spec */
  update(spec) {
    this.spec = spec;
    const names = new Set((spec.series || []).map((each) => each.name));
    this.hidden = new Set([...this.hidden].filter((name) => names.has(name)));
    this.words();
    if (this.drawing) this.draw();
  }

  words() {
    const { title, about, series, height } = this.spec;
    this.caption.textContent = title;
    this.about.textContent = about || "";
    this.about.hidden = !about;
    this.plot.style.height = height ? `${height}px` : "";
    this.plot.setAttribute("aria-label", `${title}: chart of ${series ? series.map((each) => each.name).slice(0, 40).join(", ") : "counts"}. Plus and minus zoom, arrows move, 0 shows all.`);
    const keys = (series || []).map((each) => {
      const { name } = each;
      const key = make("button", {
        type: "button", class: "key", "aria-pressed": String(!this.hidden.has(name)), title: "Shows or hides this line; with Shift, shows this line alone", "data-series": name,
        onclick: (event) => this.toggle(name, event.shiftKey),
        onmouseenter: () => this.point(name), onmouseleave: () => this.point(null),
        onfocus: () => this.point(name), onblur: () => this.point(null),
      }, swatch(each), name);
      return make("li", {}, key);
    });
    const faint = keys.filter((_, index) => series?.[index].isFaint);
    if (faint.length) {
      const rest = make("details", {}, make("summary", {}, `${faint.length} more`), make("ul", { class: "legend" }, ...faint));
      keys.splice(0, keys.length, ...keys.filter((key) => !faint.includes(key)), make("li", { class: "more" }, rest));
    }
    if (keys.length > 8) {
      keys.push(make("li", {}, button("all", () => this.only(() => true))), make("li", {}, button("none", () => this.only(() => false))));
    }
    this.keys.replaceChildren(...keys);
    this.keys.hidden = keys.length < 2 && !this.spec.keepLegend;
  }

  /** @type {(name: string, alone: boolean) => void} */
  toggle(name, alone) {
    if (alone) return this.only((other) => other === name);
    if (!this.hidden.delete(name)) this.hidden.add(name);
    this.words();
    if (this.drawing) this.draw();
    /** @type {HTMLElement | null} */ (this.keys.querySelector(`[data-series="${CSS.escape(name)}"]`))?.focus();
  }

  /** @param {(name: string) => boolean} isShown */
  only(isShown) {
    this.hidden = new Set((this.spec.series || []).map((each) => each.name).filter((name) => !isShown(name)));
    this.words();
    if (this.drawing) this.draw();
  }

  /** Dims all series except the series `name`. If `name` is null, no series is dimmed.
   * @param {string | null} name */
  point(name) {
    if (!this.drawing) return;
    this.drawing.dispatchAction({ type: "downplay" });
    if (name !== null && !this.hidden.has(name)) this.drawing.dispatchAction({ type: "highlight", seriesName: name });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const zoom = this.drawing && this.drawing.getOption().dataZoom?.[0];
    if (!this.drawing || !zoom) return;
    let { start, end } = zoom;
    const length = end - start;
    if (event.key === "+" || event.key === "=") [start, end] = [start + length / 4, end - length / 4];
    else if (event.key === "-") [start, end] = [start - length / 2, end + length / 2];
    else if (event.key === "ArrowLeft") [start, end] = [start - length / 4, end - length / 4];
    else if (event.key === "ArrowRight") [start, end] = [start + length / 4, end + length / 4];
    else if (event.key === "0") return this.draw();
    else return;
    event.preventDefault();
    this.drawing.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start: Math.max(0, start), end: Math.min(100, end) });
  }

  /** Draws or redraws the chart without zoom. */
  draw() {
    if (!this.drawing) {
      this.drawing = echarts.init(this.plot, null, { renderer: "svg" });
      this.drawing.on("datazoom", () => { this.back.hidden = false; });
      if (this.spec.group) {
        this.drawing.group = this.spec.group;
        echarts.connect(this.spec.group);
      }
    }
    this.back.hidden = true;
    this.drawing.resize({ width: isPrinting ? PRINT_WIDTH : "auto", height: "auto", silent: true });
    this.drawing.setOption(options(this.spec, this.hidden, this.drawing.getWidth()), { notMerge: true });
    const canDrag = matchMedia("(pointer: fine)").matches && !this.spec.heat;
    if (canDrag) this.drawing.dispatchAction({ type: "takeGlobalCursor", key: "dataZoomSelect", dataZoomSelectActive: true });
  }

  /** @param {boolean} asPng */
  picture(asPng) {
    const [width, height] = [1000, Math.max(this.spec.height || 0, this.spec.small ? 460 : 600)];
    const drawing = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
    drawing.setOption(withLegend(options(this.spec, this.hidden, width), this.spec, this.hidden, width));
    const svg = drawing.renderToSVGString();
    drawing.dispose();
    if (asPng) savePng(fileName(this.spec.title, "png"), svg, width, height);
    else save(fileName(this.spec.title, "svg"), svg, "image/svg+xml");
  }

  csv() {
    const { x, y, series, heat } = this.spec;
    if (heat) return csv([["column", "row", "count"], ...heat.cells]);
    const places = different(series.flatMap((each) => each.values.map((pair) => pair[0])));
    if (!x.names) places.sort((a, b) => a - b);
    const columns = series.map((each) => new Map(each.values));
    const head = [titled(x.title || "x", x.unit), ...series.map((each) => (series.length === 1 ? titled(y.title, y.unit) : each.name))];
    return csv([head, ...places.map((place) => [x.names ? x.names[place] : place, ...columns.map((column) => column.get(place))])]);
  }
}

/** Draws the remaining charts while the browser is idle, so that a picture of the whole page shows all charts. */
function drawTheRest() {
  const later = self.requestIdleCallback || ((act) => setTimeout(act, 60));
  const next = all.find((chart) => !chart.drawing && chart.plot.isConnected && chart.plot.offsetWidth > 0);
  if (!next) return;
  later(() => {
    watcher.unobserve(next.plot);
    if (!next.drawing) next.draw();
    drawTheRest();
  });
}

/** Charts are drawn when they become visible, so that a page with many charts opens as fast as a page with one chart.
 * */
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const chart = isIntersecting && all.find((each) => each.plot === target);
    if (!chart) continue;
    watcher.unobserve(target);
    chart.draw();
  }
}, { rootMargin: "300px" });

function redraw() {
  for (const chart of all) {
    if (!chart.plot.isConnected) continue;
    chart.words();
    if (chart.drawing || isPrinting) chart.draw();
  }
}

/** The folded sections that are open only while the page is printed.
 * @type {HTMLDetailsElement[]} */
let opened = [];

/** @param {boolean} isBegun */
function print(isBegun) {
  if (isPrinting === isBegun) return;
  isPrinting = isBegun;
  // Colours are read before the print styles apply.
  document.documentElement.classList.toggle("dark", !isBegun && theme === "dark");
  if (isBegun) opened = [.../** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details:not([open]):not(.chooser)"))];
  opened.forEach((details) => { details.open = isBegun; });
  redraw();
}

let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => !isPrinting && all.forEach((chart) => chart.drawing && chart.plot.isConnected && chart.draw()), 120);
});
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
matchMedia("print").addEventListener("change", (event) => print(event.matches));

/** The options of the chart, in the form that the library needs.
 * @type {(spec: Page.Chart, hidden: Set<string>, width: number) => Echarts.Option} */
function options(spec, hidden, width) {
  const colours = { ink: ink("ink"), quiet: ink("quiet"), line: ink("line"), paper: ink("paper") };
  const common = {
    animation: false,
    backgroundColor: colours.paper,
    textStyle: { color: colours.ink, fontFamily: "system-ui, -apple-system, 'Segoe UI', sans-serif" },
    tooltip: { confine: true, backgroundColor: colours.paper, borderColor: colours.line, textStyle: { color: colours.ink, fontSize: 13 }, className: "tip" },
  };
  if (spec.heat) return { ...common, ...heat(spec, colours) };
  const series = spec.series.filter((each) => !hidden.has(each.name));
  const numbers = (/** @type {(each: Page.Series) => (number | null)[]} */ of) => series.flatMap(of).filter(isNumber);
  const heights = [...numbers((each) => each.values.map((pair) => pair[1])), ...numbers((each) => (each.ranges || []).map((range) => range[2]))].filter((height) => height > 0);
  const [least, most] = heights.reduce(([low, high], height) => [Math.min(low, height), Math.max(high, height)], [Infinity, 0]);
  // On a logarithmic axis, the unit is chosen for the middle of the range of values.
  const upward = spec.y.exact ? { unit: spec.y.unit, factor: 1 } : scaleOf(spec.y.unit, spec.y.log && most > 0 ? Math.sqrt(least * most) : most);
  const places = spec.x.names ? [] : [...numbers((each) => each.values.map((pair) => pair[0])), ...(spec.x.ticks || [])];
  const far = places.reduce((end, each) => Math.max(end, each), 0);
  const along = spec.x.names || spec.x.log ? { unit: spec.x.unit, factor: 1 } : scaleOf(spec.x.unit, far);
  const moved = movedNames(series, spec, [least, most]);
  const axes = [place(spec, along, colours, width), value(spec, upward, colours, [least, most])];
  if (spec.flat) axes.reverse();
  return {
    ...common,
    grid: { left: 8, right: spec.flat ? 56 : roomForNames(series, width), top: 34, bottom: spec.flat ? 26 : 30, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: axes[0],
    yAxis: axes[1],
    dataZoom: [{ type: "inside", [spec.flat ? "yAxisIndex" : "xAxisIndex"]: 0, filterMode: "none", zoomOnMouseWheel: matchMedia("(pointer: fine)").matches ? "ctrl" : true, moveOnMouseMove: false, moveOnMouseWheel: false, preventDefaultMouseMove: false }],
    // The tool with which the user zooms by dragging a rectangle. The buttons of the tool are hidden.
    toolbox: { itemSize: 0, itemGap: 0, left: -50, feature: { dataZoom: { xAxisIndex: 0, yAxisIndex: 0, filterMode: "none", iconStyle: { opacity: 0 }, brushStyle: { color: "rgba(90, 140, 200, 0.2)" } } } },
    tooltip: tip(spec, series, common.tooltip, along, upward),
    series: [...series.flatMap((each) => drawn(each, spec, series.length, { along, upward, colours, width, moved })), ...goalLine(spec, upward, colours)],
  };
}

/** The axis of places, with names or numbers. It is horizontal; with `flat`, vertical.
 * @type {(spec: Page.Lines, along: Page.Scale, colours: Page.Colours, width: number) => Echarts.Axis} */
function place(spec, { unit, factor }, colours, width) {
  const { x, flat } = spec;
  const isLong = x.names && !x.every && x.names.join("").length * 7 > width * 0.8;
  /** @type {Echarts.Axis} */
  const axis = {
    name: titled(x.title || "", x.names || x.log ? "" : unit),
    nameLocation: flat ? "end" : "middle", nameGap: flat ? 8 : 26, nameTextStyle: { color: colours.quiet },
    axisLine: { lineStyle: { color: colours.quiet } }, axisTick: { show: !x.names }, splitLine: { show: false },
    axisLabel: { color: colours.ink, hideOverlap: true, fontSize: 12, margin: 10 },
  };
  if (x.names) {
    const label = { ...axis.axisLabel, ...(flat ? { interval: 0, width: Math.min(220, width * 0.4), overflow: "truncate" } : { rotate: isLong ? 35 : 0, interval: x.every ? x.every - 1 : x.names.length > 40 ? "auto" : 0, width: 150, overflow: "truncate", hideOverlap: x.names.length > 40 }) };
    return { ...axis, name: isLong || flat ? "" : axis.name, type: "category", data: x.names, inverse: flat, axisLabel: label };
  }
  // The ends of the axis have no labels, because they may not be round numbers.
  const fromZero = (/** @type {{ min: number, max: number }} */ { min, max }) => (min >= 0 && min < max / 20 ? 0 : min);
  const scaled = { ...axis, type: x.log ? "log" : "value", logBase: x.unit === "bytes" ? 2 : 10, min: x.log || x.ticks ? "dataMin" : fromZero, max: "dataMax" };
  if (!x.ticks) Object.assign(scaled.axisLabel, { showMinLabel: x.log ? false : null, showMaxLabel: false });
  scaled.axisLabel.formatter = (number) => (x.log ? withUnit(number, SCALES[x.unit ?? ""] ? x.unit : "") : brief(number));
  if (x.log && SCALES[x.unit ?? ""] && x.unit !== "bytes") scaled.axisLabel.formatter = (number) => { const { unit: name, factor: size } = scaleOf(x.unit, number * 1.0001); return `${brief(number / size)} ${name}`; };
  if (x.ticks) {
    const ticks = x.ticks.map((tick) => tick / factor);
    scaled.axisTick = { show: true, customValues: ticks };
    // On a narrow screen, only every second or third tick of a logarithmic axis has a label.
    const every = x.log ? Math.ceil((56 * ticks.length) / width) : 1;
    scaled.axisLabel.customValues = ticks.filter((_, index) => index % every === 0);
  }
  return scaled;
}

/** The ends and ticks of the value axis, for cases in which the library's default would leave the axis half empty.
 * The axis includes the goal. A logarithmic axis over less than three powers of ten ends near the smallest and the
 * largest drawn value.
 * @type {(y: Page.Upward, least: number, most: number) => Partial<Echarts.Axis>} */
function fitted({ log, most: cut, goal, least: floor }, least, most) {
  if (!(most > 0) || floor !== undefined) return {};
  if (goal) [least, most] = [goal.limit > 0 ? Math.min(least, goal.limit) : least, Math.max(most, goal.limit)];
  if (cut !== undefined) most = Math.min(most, cut);
  const label = { color: ink("ink"), formatter: brief, hideOverlap: true, fontSize: 12 };
  // Above the goal there is room for its name. The end of the axis has no label, because it is not a round number.
  if (!log) return goal && goal.limit >= 0 ? { max: (ends) => Math.max(ends.max, goal.limit * 1.1), axisLabel: { ...label, showMaxLabel: false } } : {};
  if (most / least >= 1000) return cut === undefined ? {} : { max: most };
  const [low, high] = [least / 1.08, most * 1.08];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const digit of most / least > 100 ? [1, 3] : [1, 2, 5]) {
      const tick = Number((digit * 10 ** power).toPrecision(3));
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return { min: low, max: high, axisTick: { show: false, customValues: ticks }, axisLabel: { ...label, customValues: ticks } };
}

/** The axis of values.
 * @type {(spec: Page.Lines, upward: Page.Scale, colours: Page.Colours, ends: Page.Ends) => Echarts.Axis} */
function value(spec, { unit, factor }, colours, [least, most]) {
  const { y, flat } = spec;
  least /= factor;
  most /= factor;
  return {
    name: titled(y.title, unit) + (y.log ? ", logarithmic" : ""),
    nameLocation: flat ? "middle" : "end", nameGap: flat ? 24 : 12, nameTextStyle: { color: colours.quiet, align: flat ? "center" : "left" },
    type: y.log ? "log" : "value", scale: false, min: y.least, max: y.most,
    axisLabel: { color: colours.ink, formatter: brief, hideOverlap: true, fontSize: 12 },
    axisLine: { show: false }, splitLine: { lineStyle: { color: colours.line } }, minorSplitLine: { show: false },
    ...fitted(y, least, most),
  };
}

/** Whether names fit at the ends of lines. On a narrow screen, only the legend has names.
 * @param {number} width */
const hasRoomForNames = (width) => width >= 560;
/** @type {(series: Page.Series[], width: number) => number} */
function roomForNames(series, width) {
  const longest = Math.max(0, ...series.filter((each) => each.isNamed).map((each) => each.name.length));
  return longest && hasRoomForNames(width) ? Math.min(180, 24 + 7.2 * longest) : 22;
}

/** By series, the number of pixels by which the name at the end of its line is moved, so that names do not overlap.
 * @type {(series: Page.Series[], spec: Page.Lines, ends: Page.Ends) => Map<string, number>} */
function movedNames(series, { y, height }, [least, most]) {
  const [LINE, AROUND] = [13, 84];
  const room = (height || 420) - AROUND;
  // A logarithmic axis over three powers of ten ends at powers of ten.
  /** @type {(value: number, round: (power: number) => number) => number} */
  const end = (value, round) => (most / least < 1000 ? Math.log(value) : round(Math.log10(value)) * Math.LN10);
  const [low, high] = y.log ? [end(least, Math.floor), y.most ? Math.log(Math.min(most, y.most)) : end(most, Math.ceil)] : [0, most];
  const place = (/** @type {number} */ value) => room * (1 - ((y.log ? Math.log(value) : value) - low) / (high - low || 1));
  const named = series.filter((each) => each.isNamed && each.values.length);
  const wanted = named.map((each) => ({ each, at: place(Number(each.values[each.values.length - 1][1])) })).filter(({ at }) => Number.isFinite(at)).sort((a, b) => a.at - b.at);
  /** @type {Map<string, number>} */
  const moved = new Map();
  // Names are placed from the lowest to the highest, so that no name is below the axis, and their order is preserved.
  let free = room + LINE / 2;
  const tops = wanted.map(() => 0);
  for (let index = wanted.length - 1; index >= 0; index -= 1) {
    tops[index] = Math.min(wanted[index].at, free);
    free = tops[index] - LINE;
  }
  wanted.forEach(({ each, at }, index) => moved.set(each.name, tops[index] - at));
  return moved;
}

/** The goal, as a line across the chart.
 * @type {(spec: Page.Lines, upward: Page.Scale, colours: Page.Colours) => object[]} */
function goalLine({ y, flat }, upward, colours) {
  if (!y.goal) return [];
  const at = y.goal.limit / upward.factor;
  const label = { formatter: y.goal.text, color: colours.ink, position: flat ? "start" : "insideStartTop", fontSize: 12 };
  return [{
    type: "line", name: "", data: [], silent: true, tooltip: { show: false },
    markLine: { silent: true, symbol: "none", lineStyle: { color: colours.ink, type: [6, 4], width: 1.5 }, label, data: [flat ? { xAxis: at } : { yAxis: at }] },
  }];
}

/** One series and its ranges, in the form that the library needs.
 * @type {(each: Page.Series, spec: Page.Lines, count: number, drawing: Page.Drawing) => object[]} */
function drawn(each, spec, count, { along, upward, colours, width, moved }) {
  const { dash, mark } = look(each.look);
  const colour = each.isFaint ? echarts.color.modifyAlpha(colours.quiet, 0.4) : look(each.look).colour;
  const number = (/** @type {number | null} */ value) => (!isNumber(value) || (spec.y.log && value <= 0) ? null : value / upward.factor);
  const at = (/** @type {number} */ value) => (spec.x.names ? value : value / along.factor);
  const pair = (/** @type {Page.Pair} */ [x, y]) => (spec.flat ? [number(y), x] : [at(x), number(y)]);
  const fits = (/** @type {Page.Pair} */ [x]) => spec.x.names || !spec.x.log || x > 0;
  const line = { color: colour, width: each.isFaint || each.isThin ? 1 : each.kind === "level" ? 1.5 : 2, type: each.isFaint ? "solid" : dash };
  const common = { name: each.name, data: each.values.filter(fits).map(pair), itemStyle: { color: colour }, z: each.isFaint ? 2 : each.isThin ? 13 : 3 + Math.max(0, 9 - each.look), emphasis: { focus: count > 1 ? "series" : "none" }, blur: { itemStyle: { opacity: 0.15 }, lineStyle: { opacity: 0.12 }, areaStyle: { opacity: 0.08 } } };
  if (each.kind === "bar") {
    const label = { show: Boolean(spec.flat) && count === 1, position: "right", color: colours.ink, formatter: (/** @type {{ value: number[] }} */ { value: shown }) => (isNumber(shown[0]) ? brief(Number(shown[0].toPrecision(4))) : "") };
    return [{ ...common, type: "bar", stack: each.stack, label, barMaxWidth: 28, large: false }, ...ranges(each, spec, at, number, colours)];
  }
  if (each.kind === "points") return [{ ...common, type: "scatter", symbol: mark, symbolSize: 10 }];
  const symbol = each.isFaint || ["plain", "level", "area"].includes(each.kind) ? "none" : mark;
  const many = each.values.length > 60;
  return [{
    ...common, type: "line", lineStyle: line, symbol, showSymbol: symbol !== "none" && !many, symbolSize: 8, connectNulls: false, triggerLineEvent: true,
    endLabel: { show: Boolean(each.isNamed) && hasRoomForNames(width), formatter: () => each.name, color: each.isFaint ? colours.ink : echarts.color.lerp(0.3, [colour, colours.ink]), distance: 8, offset: [0, moved.get(each.name) || 0] },
    stack: each.stack, areaStyle: each.kind === "area" ? { opacity: 0.7 } : undefined, step: each.step ? "end" : undefined, sampling: many && !each.stack ? "minmax" : undefined,
  }, ...ranges(each, spec, at, number, colours)];
}

/** The ranges of a series: from the smallest to the largest value at each place with several values.
 * @type {(each: Page.Series, spec: Page.Lines, at: (x: number) => number, number: (y: number) => number | null, colours: Page.Colours) => object[]} */
function ranges(each, spec, at, number, colours) {
  // Bars of several series share a place on the axis, so ranges would overlap. The table of values has the ranges.
  const isBeside = each.kind === "bar" && spec.series.length > 1;
  const spread = isBeside ? [] : (each.ranges || []).filter(([, low, high]) => high > low);
  if (!spread.length) return [];
  const renderItem = (/** @type {unknown} */ _, /** @type {Echarts.Item} */ api) => {
    const [top, bottom] = [1, 2].map((index) => api.coord([api.value(0), api.value(index)]));
    const style = { stroke: colours.ink, lineWidth: 1.2, fill: "none" };
    /** @type {(x1: number, y1: number, x2: number, y2: number) => object} */
    const path = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
    return { type: "group", children: [path(top[0], top[1], bottom[0], bottom[1]), path(top[0] - 4, top[1], top[0] + 4, top[1]), path(bottom[0] - 4, bottom[1], bottom[0] + 4, bottom[1])] };
  };
  return [{ type: "custom", name: each.name, silent: true, z: 4, tooltip: { show: false }, renderItem, data: spread.map(([x, low, high]) => [at(x), number(low), number(high)]), encode: { x: 0, y: [1, 2] } }];
}

/** The options of the tooltip under the pointer.
 * @type {(spec: Page.Lines, series: Page.Series[], common: object, along: Page.Scale, upward: Page.Scale) => object} */
function tip(spec, series, common, along, upward) {
  const together = series.length <= TOLD_TOGETHER && !spec.flat && !spec.apart;
  const xOf = (/** @type {number[]} */ data) => (spec.flat ? data[1] : data[0]);
  const yOf = (/** @type {number[]} */ data) => (spec.flat ? data[0] : data[1]);
  const placeName = (/** @type {number} */ x) => (spec.x.names ? spec.x.names[x] : withUnit(x * along.factor, spec.x.unit));
  const row = (/** @type {Echarts.Told} */ { seriesName, data, marker }) => {
    const of = series.find((each) => each.name === seriesName);
    const range = of && (of.ranges || []).find(([x, low, high]) => x / along.factor === xOf(data) && high > low);
    const spread = range ? ` (${short(range[1])} to ${short(range[2])})` : "";
    return `<tr><td>${marker}${escaped(seriesName)}</td><td><b>${escaped(withUnit(yOf(data) === null ? null : yOf(data) * upward.factor, spec.y.unit))}</b>${escaped(spread)}</td></tr>`;
  };
  const formatter = (/** @type {Echarts.Told | Echarts.Told[]} */ given) => {
    const rows = (Array.isArray(given) ? given : [given]).filter(({ data, componentSubType }) => data && componentSubType !== "custom" && yOf(data) !== null);
    if (!rows.length) return "";
    if (!spec.stacked) rows.sort((a, b) => yOf(b.data) - yOf(a.data));
    const title = spec.x.title ? `${spec.x.title}: ` : "";
    return `${escaped(title + placeName(xOf(rows[0].data)))}<table>${rows.map(row).join("")}</table>`;
  };
  return { ...common, trigger: together ? "axis" : "item", axisPointer: { type: "line" }, formatter };
}

/** A heat map of counts over two axes. Larger counts have a stronger colour. It depends on the logarithm of the count, so
 * that small counts are visible.
 * @type {(spec: Page.Chart & { heat: Page.Heat }, colours: Page.Colours) => object} */
function heat(spec, colours) {
  const { cells, columns, rows, xName, yName, xTicks, yTicks, say } = spec.heat;
  const most = Math.max(1, ...cells.map((cell) => cell[2]));
  const exact = spec.heat.plain;
  /** @type {(ticks: Map<number, string>) => { interval: (index: number) => boolean, formatter: (text: string, index: number) => string | undefined }} */
  const ticked = (ticks) => ({ interval: (index) => ticks.has(index), formatter: (_, index) => ticks.get(index) });
  /** @type {(title: string | undefined, count: number, name: (index: number) => string, ticks?: Map<number, string>) => object} */
  const axis = (title, count, name, ticks) => ({
    type: "category", name: title, nameTextStyle: { color: colours.quiet }, data: Array.from({ length: count }, (_, index) => name(index)), axisTick: { show: false },
    axisLabel: { color: colours.ink, fontSize: 12, ...(ticks ? ticked(ticks) : { interval: Math.max(0, Math.ceil(count / 6) - 1) }) }, axisLine: { lineStyle: { color: colours.quiet } }, splitArea: { show: false },
  });
  const base = look(spec.look || 0).colour;
  return {
    grid: { left: 8, right: 22, top: 34, bottom: 30, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: { ...axis(spec.x.title, columns, xName, xTicks), nameLocation: "middle", nameGap: 26 },
    yAxis: { ...axis(spec.y.title, rows, yName, yTicks), nameTextStyle: { color: colours.quiet, align: "left" } },
    visualMap: { show: false, min: 0, max: exact ? spec.heat.most || most : Math.log2(most + 1), inRange: { color: [echarts.color.modifyAlpha(base, exact ? 0.02 : 0.16), base] } },
    tooltip: { confine: true, backgroundColor: colours.paper, borderColor: colours.line, textStyle: { color: colours.ink, fontSize: 13 }, formatter: (/** @type {Echarts.Told} */ { data }) => escaped(`${xName(data[0])}, ${yName(data[1])}: ${say ? say(data[3]) : short(data[3])}`) },
    series: [{ type: "heatmap", data: cells.map(([x, y, count]) => [x, y, exact ? count : Math.log2(count + 1), count]), progressive: 0, itemStyle: { borderWidth: 0 }, emphasis: { itemStyle: { borderColor: colours.ink, borderWidth: 1 } } }],
  };
}

/** Adds the title and the legend to `option`, for a picture that is saved without the page.
 * @type {(option: Echarts.Option, spec: Page.Chart, hidden: Set<string>, width: number) => Echarts.Option} */
function withLegend(option, spec, hidden, width) {
  option.title = { text: spec.title, left: 10, top: 8, textStyle: { color: ink("ink"), fontSize: 15, width: width - 30, overflow: "break" } };
  const names = (spec.series || []).map((each) => each.name).filter((name) => !hidden.has(name));
  let lines = 0;
  if (names.length > 1) {
    let used = width;
    for (const name of names) {
      const room = 48 + 7.2 * name.length;
      if (used + room > width - 20) { lines += 1; used = 0; }
      used += room;
    }
    option.legend = { show: true, data: names, left: 10, top: 36, width: width - 20, textStyle: { color: ink("ink") } };
  }
  delete option.toolbox;
  delete option.dataZoom;
  option.grid = { ...option.grid, top: 64 + 25 * lines };
  return option;
}
