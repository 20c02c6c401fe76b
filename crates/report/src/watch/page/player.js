// The position in the recording, and how the user changes it: by playing, stepping and jumping.

const player = { index: 0, timer: /** @type {number | undefined} */ (undefined) };
const last = events.length - 1;

// The request of an event. For an event without a request, the request of the latest earlier event that has one.
/** @param {number} index */
function requestAt(index) {
  for (let at = index; at >= 0; at -= 1) {
    const { request } = events[at];
    if (request !== null) return requests[request];
  }
  return null;
}

/** @type {(id: "request" | "counts", pairs: [term: string, value: string, className?: string][]) => void} */
function terms(id, pairs) {
  byId(id).replaceChildren(...pairs.map(([term, value, className]) => {
    const box = make("div", className);
    box.append(make("dt", "", term), make("dd", "", value));
    return box;
  }));
}

/** @type {(part: number, whole: number) => string} */
const share = (part, whole) => (whole ? `${part} of ${whole} (${Math.round((100 * part) / whole)} %)` : "none");

/** @param {number} index */
function drawWords(index) {
  const event = events[index];
  const steps = begunWith[index].map(stepWords).filter(Boolean);
  byId("story").textContent = [eventWords(event), ...steps].join(" ");
  byId("story").className = event.kind;

  const request = requestAt(index);
  if (request) {
    const end = request.response === null ? Infinity : request.arrival + request.response;
    const isDone = event.time > end || (event.time === end && event.kind === "answer");
    const answer = request.response === null ? "after the recording" : milliseconds(request.response);
    terms("request", [
      ["request", `${request.index}`],
      ["asks", `${request.operation} ${span(request)}${request.forced ? " (forced)" : ""}`],
      ["arrived at", milliseconds(request.arrival)],
      ["response", isDone ? answer : `${milliseconds(event.time - request.arrival)} so far; in the end ${answer}`, request === worst ? "worst" : ""],
    ]);
  }
  const sum = counts[index];
  const merges = sum.switch + sum.partial + sum.full;
  terms("counts", [
    ["write hits", share(sum.writeHits, sum.writes)],
    ["read hits", share(sum.readHits, sum.reads)],
    .../** @type {[string, string][]} */ (sum.bypassed ? [["past the buffer", several(sum.bypassed, "page")]] : []),
    ["destages", `${sum.records} (${several(sum.pages, "page")})`],
    ["padding", sum.padReads + sum.padFills ? `${sum.padReads} read, ${sum.padFills} filled` : "none"],
    ["erases", `${sum.erases}`],
    ["merges", merges ? `${sum.switch} switch, ${sum.partial} partial, ${sum.full} full` : "none"],
    ["garbage collections", `${sum.collections}`],
  ]);
  byId("position").textContent = `event ${index} of ${last}, ${milliseconds(event.time)}`;
}

// Shows the device after event `index`. `moves` says whether the pages of the event visibly move to their new
// positions.
/** @type {(index: number, moves?: boolean) => void} */
function show(index, moves = false) {
  // An empty recording has nothing to show, whatever button is pressed.
  if (last < 0) return;
  player.index = Math.min(Math.max(index, 0), last);
  byId("slider").value = String(player.index);
  drawWords(player.index);
  drawBufferMoving(player.index, moves);
  drawDies(player.index);
}

function pause() {
  clearTimeout(player.timer);
  player.timer = undefined;
  byId("play").textContent = "Play";
}

function play() {
  const speed = Number(byId("speed").value);
  byId("play").textContent = "Pause";
  player.timer = setTimeout(() => {
    if (player.index >= last) return pause();
    show(player.index + 1, speed <= 5);
    play();
  }, 1000 / speed);
}

const toggle = () => (player.timer === undefined ? play() : pause());

/** @type {(index: number, moves?: boolean) => void} */
function go(index, moves = false) {
  pause();
  show(index, moves);
}

// Jumps to the next event for which `is` returns true. If there is no such event, a message says so, and the position
// does not change.
/** @type {(is: (event: Page.Event) => boolean, thing: string) => void} */
function jump(is, thing) {
  pause();
  const found = events.find((event) => event.index > player.index && is(event));
  if (found) show(found.index, true);
  else byId("story").textContent = `There is no ${thing} after this event in the recording.`;
}

/** @type {{ [Id in Page.Action]: () => void }} */
const actions = {
  play: toggle,
  "event-on": () => go(player.index + 1, true),
  "event-back": () => go(player.index - 1),
  "request-on": () => go(arrivals.find((index) => index > player.index) ?? last),
  "request-back": () => go(arrivals.filter((index) => index < player.index).at(-1) ?? 0),
  worst: () => worst && go(arrivals[worst.index]),
  eviction: () => jump((event) => event.kind === "destage" && event.of.cause === "evict", "eviction"),
  idle: () => jump((event) => event.kind === "destage" && event.of.cause === "idle", "write-back in idle time"),
  merge: () => jump((event) => begunWith[event.index].some((step) => step.merges.length), "merge"),
  collection: () => jump((event) => begunWith[event.index].some((step) => step.work === "garbage collection"), "garbage collection"),
  "zoom-in": () => { zoom(0.5); drawDies(player.index); },
  "zoom-out": () => { zoom(2); drawDies(player.index); },
};
for (const [id, action] of Object.entries(actions)) byId(/** @type {Page.Action} */ (id)).addEventListener("click", action);
byId("slider").max = String(last);
byId("slider").addEventListener("input", () => go(Number(byId("slider").value)));

/** @type {{ [key: string]: Page.Action | undefined }} */
const KEYS = {
  " ": "play", ArrowRight: "event-on", ArrowLeft: "event-back", "Shift+ArrowRight": "request-on", "Shift+ArrowLeft": "request-back",
  w: "worst", e: "eviction", i: "idle", m: "merge", g: "collection", "+": "zoom-in", "=": "zoom-in", "-": "zoom-out",
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target instanceof HTMLSelectElement) return;
  if (event.key === "Home" || event.key === "End") go(event.key === "Home" ? 0 : last);
  else {
    const isArrow = event.key.startsWith("Arrow");
    const action = KEYS[event.shiftKey && isArrow ? `Shift+${event.key}` : isArrow ? event.key : event.key.toLowerCase()];
    if (!action) return;
    actions[action]();
  }
  event.preventDefault();
});

for (const speed of [0.5, 1, 2, 5, 10, 30, 60]) {
  const option = make("option", "", `${speed} events/s`);
  option.value = String(speed);
  option.selected = speed === 2;
  byId("speed").append(option);
}

function begin() {
  const { scheme, buffer, ftl, trace, stop } = recording;
  byId("scheme").textContent = `${scheme.about} Source: ${scheme.source} Here: ${buffer} over ${ftl}, ${several(recording.dies, "die")}, ${trace}.`;
  byId("stop").hidden = !stop;
  byId("stop").textContent = stop ?? "";
  const states = [["page dirty", "dirty"], ["page clean", "clean"], ["page leaving", "written back, stays"], ["out leaving", "being programmed, not in flash yet"], ["out pad", "padding"], ["hole", "not buffered"]];
  byId("legend").append(...states.map(([className, words]) => entry(className, "", words)), ...Object.entries(WORK).map(([name, words]) => entry("bar", `var(--${name})`, words)), make("li", "", "S, P, F: switch, partial, full merge"));
  if (last < 0) {
    byId("story").textContent = "Nothing happened.";
    return;
  }
  const asked = Number(location.hash.slice(1));
  if (location.hash) return show(Number.isInteger(asked) ? asked : 0);
  // The page begins at the first destage, because little happens in the drawing before it.
  const first = events.findIndex((event) => event.kind === "destage");
  show(Math.max(0, first));
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) play();
}

/** @type {(className: string, background: string, words: string) => HTMLElement} */
function entry(className, background, words) {
  const item = make("li");
  const sample = make("i", className);
  if (background) sample.style.background = background;
  item.append(sample, make("span", "", words));
  return item;
}

addEventListener("resize", () => last >= 0 && drawDies(player.index));
addEventListener("hashchange", () => go(Number(location.hash.slice(1)) || 0));
matchMedia("screen and (prefers-color-scheme: dark)").addEventListener("change", () => last >= 0 && drawDies(player.index));
begin();
