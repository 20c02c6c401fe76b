// Descriptions of events in words.

/** @param {number} ticks */
const milliseconds = (ticks) => {
  const ms = ticks / TICKS_PER_MS;
  return `${ms.toFixed(ms < 10 ? 3 : ms < 1000 ? 2 : 1)} ms`;
};

/** @type {(count: number, thing: string) => string} */
const several = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

// Page numbers as text. Consecutive numbers are written as a range.
/** @param {number[]} pages */
function pageRuns(pages) {
  /** @type {[first: number, last: number][]} */
  const runs = [];
  for (const page of pages) {
    const run = runs.at(-1);
    if (run && run[1] + 1 === page) run[1] = page;
    else runs.push([page, page]);
  }
  const texts = runs.slice(0, 6).map(([first, last]) => (first === last ? `${first}` : `${first}\u2013${last}`));
  return texts.join(", ") + (runs.length > 6 ? " \u2026" : "");
}

/** @param {Page.Request} request */
const span = (request) =>
  request.operation === "flush" ? "everything" : pageRuns(Array.from({ length: Math.min(request.pages, 4096) }, (_, place) => request.first + place));

const CAUSES = {
  evict: "Room is needed",
  flush: "The host asks for a flush",
  drain: "The run ends",
  idle: "The device is idle",
  fua: "The host forces this write",
  eager: "The scheme writes this without delay",
};

/** @param {Data.Destage} record */
function destageWords({ cause, stays, pages, pads, grouping }) {
  const what = `${pages.length === 1 ? "page" : "pages"} ${pageRuns(pages)}`;
  const verb = stays ? `${what} ${pages.length === 1 ? "is" : "are"} written back and stay${pages.length === 1 ? "s" : ""}` : `${what} leave${pages.length === 1 ? "s" : ""}`;
  const batch = grouping === "batch" && pages.length > 1 ? ", one for each die" : "";
  const of = (/** @type {string} */ content) => pads.filter(([, is]) => is === content).length;
  const padding = [{ count: of("read"), how: "read from flash" }, { count: of("filler"), how: "filled" }, { count: of("at hand"), how: "without a read" }].filter(({ count }) => count > 0);
  const pad = padding.length ? ` The cluster is completed with ${several(pads.length, "page")}: ${padding.map(({ count, how }) => `${count} ${how}`).join(", ")}.` : "";
  return `${CAUSES[cause]}: ${verb}${batch}.${pad}`;
}

/** @param {Page.Event} event */
function eventWords(event) {
  // Clean pages leave the buffer without a record.
  const dropped = event.kind !== "destage" && event.left.length ? ` ${event.left.length === 1 ? "Page" : "Pages"} ${pageRuns(event.left)} left without a program.` : "";
  switch (event.kind) {
    case "arrival": {
      const request = requests[event.request];
      return `Request ${request.index} arrives: ${request.operation} ${span(request)}${request.forced ? ", forced" : ""}.`;
    }
    case "write": return `Page ${event.of[0]} is written: ${event.of[1] ? "a hit, it is overwritten in the buffer" : "a miss, it enters the buffer"}.${dropped}`;
    case "read": return `Page ${event.of[0]} is read: ${event.of[1] ? "a hit, served from RAM" : "a miss, read from flash"}.${dropped}`;
    case "bypass": return `Page ${event.of} is written, and bypasses the buffer.${dropped}`;
    case "trim": return `Page ${event.of} is trimmed.${event.left.length ? " It leaves the buffer." : ""}`;
    case "destage": return destageWords(event.of);
    case "ended": return `${event.changes.length ? "Written back" : "In flash"}: ${pageRuns(recordAt(event.of).of.pages)}.`;
    case "cleaned": return "The pages written back are clean now.";
    default: return `Request ${event.request} is answered after ${milliseconds(Number(requests[event.request].response))}.`;
  }
}

// A sentence about the work that a die begins. It is empty for work other than merges and garbage collection.
/** @param {Page.Step} step */
function stepWords(step) {
  const merges = step.merges.map((merge) => `${merge.kind} merge of block ${merge.block}, ${several(merge.copies, "page")} copied, ${several(merge.erases, "block")} erased`);
  if (merges.length) return `Die ${step.die}: ${merges.join("; ")}.`;
  if (step.work === "garbage collection") return `Die ${step.die} collects garbage: ${partWords(step)}.`;
  return "";
}

// The flash operations of a step in words: numbers of pages read, programmed and copied, and of blocks erased.
/** @param {Page.Step} step */
function partWords(step) {
  const words = { host: "page", pad: "padding page", copy: "page", map: "page of the map", wear: "page", mount: "page" };
  return step.parts.map(({ kind, cause, count }) => {
    const moves = cause === "copy" || cause === "wear";
    if (kind === "erase") return `${several(count, "block")} erased`;
    // A copy is a read and a program. It is counted once, with its program.
    if (moves && kind === "read") return "";
    const pages = words[cause].replace("page", count === 1 ? "page" : "pages");
    return `${count} ${pages} ${kind === "read" ? "read" : moves ? "copied" : "programmed"}`;
  }).filter(Boolean).join(", ");
}
