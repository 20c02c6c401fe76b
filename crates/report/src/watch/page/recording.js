"use strict";
// The recording, and the state of the buffer after any event. data.d.ts describes the recording.

// The element of the template with this id.
/** @type {<Id extends keyof Page.Elements>(id: Id) => Page.Elements[Id]} */
const byId = (id) => /** @type {any} */ (document.getElementById(id));

/** @type {Data.Recording} */
const recording = JSON.parse(byId("recording").textContent);
const TICKS_PER_MS = 1e7;

/** @type {Page.Request[]} */
const requests = recording.requests.map(([operation, first, pages, arrival, response, forced], index) => ({
  index, operation, first, pages, arrival, response, forced,
}));

const events = recording.events.map(([time, kind, of, request, resident, occupied, changes], index) => /** @type {Page.Event} */ ({
  index, time, kind, of, request, resident, occupied, changes,
}));

/** @type {Page.Step[]} */
const intervals = recording.intervals.map(([die, begin, time, event, work, pages, record, request, parts, merges]) => ({
  die, begin, end: begin + time, event, work, pages, record, request,
  parts: parts.map(([kind, cause, count, time]) => ({ kind, cause, count, time })),
  merges: merges.map(([kind, block, copies, erases]) => ({ kind, block, copies, erases })),
}));

// The steps of dies that began with an event, by event, and the steps that belong to a destage record, by its event.
/** @type {Page.Step[][]} */
const begunWith = events.map(() => []);
/** @type {Map<number, Page.Step[]>} */
const stepsOf = new Map();
for (const step of intervals) {
  begunWith[step.event]?.push(step);
  if (step.record !== null) {
    if (!stepsOf.has(step.record)) stepsOf.set(step.record, []);
    stepsOf.get(step.record)?.push(step);
  }
}

// The destage records in the order of their events, each with the index of the event at which its last program ended.
const recordAt = (/** @type {number} */ index) => /** @type {Page.Destaged} */ (events[index]);
const records = events.filter((event) => event.kind === "destage").map(({ index }) => recordAt(index));
for (const record of records) record.endedAt = Infinity;
for (const event of events) if (event.kind === "ended") recordAt(event.of).endedAt = event.index;

const pageOf = (/** @type {Data.Token} */ token) => (typeof token === "number" ? token : Array.isArray(token) ? token[0] : null);

/** @type {(tokens: Data.Token[], event: Page.Event) => Data.Token[]} */
function apply(tokens, event) {
  const removed = [];
  for (const [at, count, inserted] of event.changes) removed.push(...tokens.splice(at, count, ...inserted));
  return removed;
}

// The tokens after every KEY_EVERY-th event. With them, a step back need not replay the recording from its beginning.
const KEY_EVERY = 64;
/** @type {Data.Token[][]} */
const keys = [];
{
  /** @type {Data.Token[]} */
  const tokens = [];
  for (const event of events) {
    const removed = apply(tokens, event);
    // The pages that left the buffer with this event: their tokens were removed, and not inserted at another
    // position.
    const back = new Set(event.changes.flatMap(([, , inserted]) => inserted.map(pageOf)));
    event.left = removed.map(pageOf).filter((page) => page !== null).filter((page) => !back.has(page));
    if (event.index % KEY_EVERY === 0) keys.push(tokens.slice());
  }
}

const replayed = { index: -1, tokens: /** @type {Data.Token[]} */ ([]) };

// The tokens after event `index`. The caller must not change them.
/** @param {number} index */
function tokensAt(index) {
  if (index < replayed.index || index >= replayed.index + KEY_EVERY) {
    const key = Math.floor(index / KEY_EVERY);
    replayed.tokens = keys[key].slice();
    replayed.index = key * KEY_EVERY;
  }
  while (replayed.index < index) {
    replayed.index += 1;
    apply(replayed.tokens, events[replayed.index]);
  }
  return replayed.tokens;
}

// The lists of the buffer after event `index`, with the groups of each list and the pages of each group.
/** @param {number} index */
function listsAt(index) {
  /** @type {Page.List[]} */
  const lists = [];
  for (const token of tokensAt(index)) {
    if (typeof token === "number") {
      lists.at(-1)?.groups.at(-1)?.pages.push({ page: token, held: "dirty", mark: "" });
    } else if (Array.isArray(token)) {
      const [page, held, mark] = token;
      lists.at(-1)?.groups.at(-1)?.pages.push({ page, held, mark });
    } else if ("list" in token) {
      lists.push({ name: token.list, first: token.first, last: token.last, note: token.note, groups: [] });
    } else {
      const { group: label, ...frame } = token;
      lists.at(-1)?.groups.push({ label, pages: [], ...frame });
    }
  }
  return lists;
}

// By event, the counts up to and including this event.
const sums = { writes: 0, writeHits: 0, bypassed: 0, reads: 0, readHits: 0, records: 0, pages: 0, padReads: 0, padFills: 0, erases: 0, switch: 0, partial: 0, full: 0, collections: 0 };
const counts = events.map((event) => {
  if (event.kind === "write") { sums.writes += 1; sums.writeHits += Number(event.of[1]); }
  if (event.kind === "bypass") { sums.writes += 1; sums.bypassed += 1; }
  if (event.kind === "read") { sums.reads += 1; sums.readHits += Number(event.of[1]); }
  if (event.kind === "destage") {
    sums.records += 1;
    sums.pages += event.of.pages.length;
    for (const [, content] of event.of.pads) sums[content === "filler" ? "padFills" : "padReads"] += Number(content !== "at hand");
  }
  for (const step of begunWith[event.index]) {
    for (const part of step.parts) if (part.kind === "erase") sums.erases += part.count;
    for (const merge of step.merges) sums[merge.kind] += 1;
    sums.collections += Number(step.work === "garbage collection");
  }
  return { ...sums };
});

// The request with the longest response time. If several requests have this time, the first of these requests.
const worst = requests.reduce((worst, next) => (next.response !== null && next.response > (worst?.response ?? -1) ? next : worst), /** @type {Page.Request | null} */ (null));
const arrivals = events.filter((event) => event.kind === "arrival").map((event) => event.index);
