// The drawing of the buffer, and of the pages that leave the buffer. Each page is a square.

/** @type {<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, className?: string, text?: string) => HTMLElementTagNameMap[Tag]} */
function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

// The width of a square divided by the font size of the page number in it. On a narrow screen both become smaller.
const LETTERS = 2.6;
const ruler = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
ruler.font = `10px ${getComputedStyle(document.body).fontFamily}`;

// The number of a page if it fits into a square, otherwise an empty text. The number is not cut off, because fewer
// digits would be the number of another page.
/** @param {number} page */
const numbered = (page) => (ruler.measureText(`${page}`).width <= 10 * LETTERS ? `${page}` : "");

// The squares by page. The square of a page is made once and then reused.
/** @type {Map<number, HTMLElement>} */
const squares = new Map();

/** @type {(page: number, held: Data.Held, mark: string) => HTMLElement} */
function square(page, held, mark) {
  let element = squares.get(page);
  if (!element) {
    element = make("i", "", numbered(page));
    element.dataset.page = String(page);
    squares.set(page, element);
  }
  const className = `page ${held}`;
  if (element.className !== className) element.className = className;
  if (mark) element.dataset.mark = mark;
  else delete element.dataset.mark;
  const words = { dirty: "dirty", clean: "clean", leaving: "being written back" }[held];
  element.title = `page ${page}, ${words}${mark ? `, ${mark}` : ""}`;
  return element;
}

// If the lists have more places than this, empty places of blocks are not drawn. Instead, each block shows its number
// of pages.
const MOST_PLACES = 5000;

/** @type {(group: Page.Group, drawsHoles: boolean) => HTMLElement} */
function drawGroup(group, drawsHoles) {
  const box = make("div", "group");
  const drawn = group.pages.map(({ page, held, mark }) => square(page, held, mark));
  const cells = make("div", "cells");
  if (group.block !== undefined) {
    const number = Math.floor(group.block / group.places);
    const fill = drawsHoles ? "" : ` (${group.pages.length} of ${group.places})`;
    box.append(make("b", "", `block ${number}${fill}`));
    if (drawsHoles) {
      const at = new Map(group.pages.map((held, place) => [held.page - group.block, drawn[place]]));
      for (let place = 0; place < group.places; place += 1) cells.append(at.get(place) ?? make("i", "hole"));
      cells.style.setProperty("--columns", String(Math.min(group.places, group.places > 32 ? 16 : 8)));
    } else {
      cells.append(...drawn);
    }
    box.classList.add("block");
  } else {
    cells.append(...drawn);
    for (let place = group.pages.length; place < (group.places ?? 0); place += 1) cells.append(make("i", "hole"));
    if (group.places !== undefined) box.classList.add("set");
  }
  if (group.label) box.append(make("em", "", group.label));
  box.append(cells);
  return box;
}

/** @type {(list: Page.List, drawsHoles: boolean) => HTMLElement} */
function drawList(list, drawsHoles) {
  const section = make("section", "list");
  const count = list.groups.reduce((sum, group) => sum + group.pages.length, 0);
  const head = make("h3", "", list.name);
  head.append(make("small", "", ` ${several(count, "page")}${list.note ? `; ${list.note}` : ""}`));
  section.append(head);
  const body = make("div", "groups");
  if (list.groups.every((group) => group.block === undefined && group.places === undefined && !group.label)) body.classList.add("rows");
  body.append(...list.groups.map((group) => drawGroup(group, drawsHoles)));
  if (count === 0 && list.groups.every((group) => !group.places)) body.append(make("span", "nothing", "empty"));
  const ends = make("p", "ends");
  ends.append(make("span", "", list.first && `\u2190 ${list.first}`), make("span", "", list.last && `${list.last} \u2192`));
  section.append(body, ends);
  return section;
}

// The progress of each page of a record at `time`.
/** @type {(record: Page.Destaged, time: number) => Map<number, Page.Progress>} */
function progressOf(record, time) {
  /** @type {Map<number, Page.Progress>} */
  const progress = new Map();
  for (const step of stepsOf.get(record.index) ?? []) {
    const verb = step.work === "padding read" ? "reads" : "programs";
    for (const page of step.pages) {
      if (step.begin > time) continue;
      const is = step.end > time ? verb : verb === "programs" ? "done" : "read";
      progress.set(page, { is, die: step.die });
    }
  }
  return progress;
}

/** @type {(record: Page.Destaged, time: number) => HTMLElement} */
function drawRecord(record, time) {
  const { cause, grouping, stays, pages, pads } = record.of;
  const box = make("div", "record");
  const progress = progressOf(record, time);
  const members = [...pages.map(/** @returns {[page: number, content: string]} */ (page) => [page, "leaving"]), ...pads];
  if (grouping === "cluster") members.sort(([one], [other]) => one - other);
  const dies = [...new Set([...progress.values()].map(({ die }) => die))].sort((one, other) => one - other);
  const to = dies.length ? ` \u2192 die ${dies.join(", ")}` : ", waiting";
  box.append(make("b", "", `${cause}${grouping === "pages" ? "" : `, ${grouping}`}${stays ? ", stays" : ""}${to}`));
  if (members.some(([page]) => !numbered(page))) box.append(make("em", "", pageRuns(members.map(([page]) => page))));
  const cells = make("div", "cells");
  for (const [page, content] of members) {
    const is = progress.get(page)?.is ?? "waits";
    const kind = content === "leaving" ? "leaving" : content === "filler" ? "pad filler" : "pad";
    const element = make("i", `out ${kind} ${is}`, numbered(page));
    element.dataset.out = String(page);
    element.title = `page ${page}, ${content === "leaving" ? (stays ? "written back" : "left the buffer") : `padding, ${content}`}, ${{ waits: "waits", reads: "is read", read: "was read", programs: "is programmed", done: "programmed" }[is]}`;
    cells.append(element);
  }
  box.append(cells);
  return box;
}

// If more records than this are on their way to flash, only the number of the older ones is shown.
const MOST_RECORDS = 60;

/** @param {number} index */
function drawLists(index) {
  const lists = listsAt(index);
  const groups = lists.flatMap((list) => list.groups);
  const places = groups.reduce((sum, group) => sum + (group.places ?? group.pages.length), 0);
  const drawsHoles = places <= MOST_PLACES;
  const size = places > 1500 ? "tiny" : places > 500 ? "small" : "";
  byId("lists").className = `${size} ${lists.length > 3 ? "many" : ""}`;
  byId("lists").replaceChildren(...lists.map((list) => drawList(list, drawsHoles)));
}

// The index of the event whose buffer is drawn now; null at first.
/** @type {number | null} */
let drawn = null;

/** @param {number} index */
function drawBuffer(index) {
  const event = events[index];
  const isSame = drawn === index - 1 && event.changes.length === 0;
  if (!isSame) drawLists(index);
  drawn = index;

  const capacity = Math.floor(recording.parameters["buffer.capacity_bytes"] / recording.parameters["flash.page_bytes"]);
  const leaving = event.occupied - event.resident;
  byId("fill").textContent = `${event.resident} of ${several(capacity, "page")}` + (leaving ? `, and ${several(leaving, "page")} leaving that keep their slots until they are in flash` : "") + (event.occupied > capacity ? `; ${several(event.occupied - capacity, "page")} more than there are slots: requests wait` : "");
  const whole = Math.max(capacity, event.occupied, 1);
  for (const [name, pages] of Object.entries({ resident: event.resident, leaving })) {
    /** @type {HTMLElement} */ (byId("room").querySelector(`.${name}`)).style.width = `${(100 * pages) / whole}%`;
  }

  const out = records.filter((record) => record.index <= index && record.endedAt > index);
  byId("underway").textContent = out.length ? several(out.length, "record") : "nothing";
  byId("records").replaceChildren(...out.slice(-MOST_RECORDS).reverse().map((record) => {
    const box = drawRecord(record, event.time);
    if (record.index === index) box.classList.add("new");
    return box;
  }));
  if (out.length > MOST_RECORDS) byId("records").append(make("span", "nothing", `and ${out.length - MOST_RECORDS} older`));
}

// The pages that an event concerns. These pages are marked, and move from their previous positions.
/** @param {Page.Event} event */
function involved(event) {
  switch (event.kind) {
    case "write": case "read": return [event.of[0]];
    case "bypass": case "trim": return [event.of];
    case "destage": return event.of.pages;
    case "ended": return recordAt(event.of).of.stays ? recordAt(event.of).of.pages : [];
    default: return [];
  }
}

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @type {(index: number, moves: boolean) => void} */
function drawBufferMoving(index, moves) {
  const event = events[index];
  const pages = involved(event).slice(0, 256);
  /** @type {Map<number, DOMRect>} */
  const places = new Map();
  if (moves) {
    for (const page of pages) {
      const element = squares.get(page);
      if (element?.isConnected) places.set(page, element.getBoundingClientRect());
    }
  }
  drawBuffer(index);
  for (const element of document.querySelectorAll(".page.about")) element.classList.remove("about");
  for (const page of pages) {
    const stays = squares.get(page);
    const element = stays?.isConnected ? stays : document.querySelector(`.record.new [data-out="${page}"]`);
    if (!element) continue;
    if (element === stays) element.classList.add("about");
    if (!moves || still.matches) continue;
    const to = element.getBoundingClientRect();
    const from = places.get(page);
    const frames = from
      ? [{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)`, zIndex: 2 }, { transform: "none", zIndex: 2 }]
      : [{ transform: "scale(2)", opacity: 0 }, { transform: "none", opacity: 1 }];
    element.animate(frames, { duration: 350, easing: "ease-out" });
  }
}
