// The work of each die over time, in a window around the present moment.

// The kinds of work, each with its words in the legend. The style sheet has the colour of each kind.
const WORK = {
  program: "program",
  read: "read",
  pad: "padding (read or program)",
  copy: "copy: merge or garbage collection",
  erase: "erase",
  map: "map, summaries, wear levelling",
};

/** @type {(step: Page.Step, part: Page.Part) => keyof typeof WORK} */
function workOf(step, part) {
  if (part.kind === "erase") return "erase";
  if (step.work === "padding read" || part.cause === "pad") return "pad";
  if (part.cause === "copy") return "copy";
  if (part.cause !== "host") return "map";
  return part.kind === "read" ? "read" : "program";
}

const dies = {
  // The length of the window in ticks: 14 steps of median length, but at least 1e6 ticks.
  length: (() => {
    const times = intervals.map((step) => step.end - step.begin).sort((one, other) => one - other);
    return Math.max(14 * (times[times.length >> 1] ?? 0), 1e6);
  })(),
  bars: /** @type {Page.Bar[]} */ ([]),
};

const LABEL = 52;
const ROW = 26;
const AXIS = 20;

// The steps that overlap `from .. to`. Because no step lasts longer than `longest`, a binary search skips earlier
// steps.
const longest = intervals.reduce((longest, step) => Math.max(longest, step.end - step.begin), 0);
/** @type {(from: number, to: number) => Page.Step[]} */
function stepsWithin(from, to) {
  let low = 0;
  let high = intervals.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (intervals[middle].begin < from - longest) low = middle + 1;
    else high = middle;
  }
  const found = [];
  for (; low < intervals.length && intervals[low].begin < to; low += 1) if (intervals[low].end > from) found.push(intervals[low]);
  return found;
}

/** @param {number} index */
function drawDies(index) {
  if (index >= events.length) return;
  const now = events[index].time;
  const canvas = byId("dies");
  const style = getComputedStyle(canvas);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`);
  const width = byId("timeline").clientWidth;
  const row = recording.dies > 16 ? Math.max(10, Math.floor(420 / recording.dies)) : ROW;
  const height = row * recording.dies + AXIS;
  const scale = window.devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.scale(scale, scale);
  pen.font = `11px ${style.fontFamily}`;
  pen.textBaseline = "middle";

  const from = now - dies.length * 0.4;
  const to = from + dies.length;
  const x = (/** @type {number} */ time) => LABEL + ((time - from) / dies.length) * (width - LABEL);
  const receiving = new Set(begunWith[index].map((step) => step.die));
  for (let die = 0; die < recording.dies; die += 1) {
    pen.fillStyle = colour(die % 2 ? "stripe" : "panel");
    pen.fillRect(0, die * row, width, row);
    if (receiving.has(die)) {
      pen.fillStyle = colour("about");
      pen.fillRect(0, die * row + 2, LABEL - 6, row - 4);
    }
    pen.fillStyle = colour(receiving.has(die) ? "panel" : "text");
    if (row >= 12 || die % 4 === 0) pen.fillText(`die ${die}`, 6, die * row + row / 2);
  }

  dies.bars = [];
  pen.save();
  pen.beginPath();
  pen.rect(LABEL, 0, width - LABEL, height);
  pen.clip();
  // The request of the current event, from its arrival to its answer.
  const request = requestAt(index);
  if (request) {
    pen.fillStyle = colour("about");
    pen.globalAlpha = 0.12;
    const end = request.response === null ? to : request.arrival + request.response;
    pen.fillRect(x(request.arrival), 0, x(end) - x(request.arrival), height - AXIS);
    pen.globalAlpha = 1;
  }
  for (const step of stepsWithin(from, to)) {
    const top = step.die * row + 3;
    const left = x(step.begin);
    const right = Math.max(x(step.end), left + 1);
    // A step that has not begun yet is drawn pale, with dark text.
    const hasBegun = step.event <= index;
    pen.globalAlpha = hasBegun ? 1 : 0.3;
    const sum = step.parts.reduce((sum, part) => sum + part.time, 0) || 1;
    let at = left;
    for (const part of step.parts) {
      const wide = ((right - left) * part.time) / sum;
      pen.fillStyle = colour(workOf(step, part));
      pen.fillRect(at, top, wide, row - 6);
      at += wide;
    }
    pen.strokeStyle = colour("panel");
    pen.strokeRect(left, top, right - left, row - 6);
    pen.globalAlpha = 1;
    pen.fillStyle = colour(hasBegun ? "page-text" : "text");
    // Text has to fit into the visible part of the step.
    const begin = Math.max(left, LABEL);
    const room = Math.min(right, width) - begin;
    if (step.merges.length && room > 8) {
      pen.fillText(step.merges[0].kind[0].toUpperCase(), begin + 3, top + (row - 6) / 2);
    } else if (step.pages.length === 1 && room > 8 * `${step.pages[0]}`.length && row >= 18) {
      pen.fillText(`${step.pages[0]}`, begin + 4, top + (row - 6) / 2);
    }
    dies.bars.push({ step, left, right, top, bottom: top + row - 6 });
  }

  const ticks = [1, 2, 5].flatMap((digit) => [-3, -2, -1, 0, 1, 2, 3, 4, 5].map((power) => digit * 10 ** power)).sort((one, other) => one - other);
  const step = (ticks.find((tick) => (tick * TICKS_PER_MS) / dies.length > 0.14 * Math.min(1, 700 / width)) ?? 1e5) * TICKS_PER_MS;
  pen.fillStyle = pen.strokeStyle = colour("faint");
  for (let time = Math.ceil(Math.max(from, 0) / step) * step; time < to; time += step) {
    pen.beginPath();
    pen.moveTo(x(time), height - AXIS);
    pen.lineTo(x(time), height - AXIS + 4);
    pen.stroke();
    const text = `${+(time / TICKS_PER_MS).toFixed(3)} ms`;
    if (x(time) + pen.measureText(text).width < width - 4) pen.fillText(text, x(time) + 2, height - AXIS / 2 + 2);
  }
  pen.strokeStyle = colour("about");
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(x(now), 0);
  pen.lineTo(x(now), height - AXIS + 4);
  pen.stroke();
  pen.restore();
  byId("window").textContent = `${milliseconds(dies.length)} around now`;
}

/** @param {number} factor */
function zoom(factor) {
  const all = (events.at(-1)?.time ?? 0) + longest + 1e6;
  dies.length = Math.min(Math.max(dies.length * factor, 1e5), Math.max(all * 2, 1e6));
}

/** @param {PointerEvent} event */
function tipAt(event) {
  const canvas = byId("dies").getBoundingClientRect();
  const [across, down] = [event.clientX - canvas.x, event.clientY - canvas.y];
  const bar = dies.bars.find((bar) => across >= bar.left - 1 && across <= bar.right + 1 && down >= bar.top && down <= bar.bottom);
  const tip = byId("tip");
  tip.hidden = !bar;
  if (!bar) return;
  const { step } = bar;
  const pages = step.pages.length ? ` of ${step.pages.length === 1 ? "page" : "pages"} ${pageRuns(step.pages)}` : "";
  tip.textContent = `Die ${step.die}: ${step.work}${pages}, ${milliseconds(step.end - step.begin)} (${partWords(step)}). ${step.merges.length ? stepWords(step) : ""}`;
  tip.style.left = `${Math.max(0, Math.min(across, canvas.width - 240))}px`;
  tip.style.top = `${bar.bottom + 4}px`;
}

byId("dies").addEventListener("pointermove", tipAt);
byId("dies").addEventListener("pointerleave", () => { byId("tip").hidden = true; });
