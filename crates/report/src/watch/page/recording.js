"use strict";
// The recording, and the state of the buffer after any event.
//
// requests   [operation, first page, pages, arrival, response or null, forced]
// events     [time, kind, details of the kind, request, resident pages, slots in use, changes]
// changes    [at, removed, inserted tokens]: each change applies to the tokens after the change before it
// tokens     {list, first, last, note}, {group, block, places}, and pages: a number if dirty, else [page, held, mark]
// intervals  [die, begin, time, event, work, pages, record, request, parts, merges]
// Times are in units of 0.1 ns since the first event.

const recording = JSON.parse(document.getElementById("recording").textContent);
const TICKS_PER_MS = 1e7;

const requests = recording.requests.map(([operation, first, pages, arrival, response, forced], index) => ({
  index, operation, first, pages, arrival, response, forced,
}));

const events = recording.events.map(([time, kind, of, request, resident, occupied, changes], index) => ({
  index, time, kind, of, request, resident, occupied, changes,
}));

const intervals = recording.intervals.map(([die, begin, time, event, work, pages, record, request, parts, merges]) => ({
  die, begin, end: begin + time, event, work, pages, record, request,
  parts: parts.map(([kind, cause, count, time]) => ({ kind, cause, count, time })),
  merges: merges.map(([kind, block, copies, erases]) => ({ kind, block, copies, erases })),
}));

// The steps of dies that began with an event, by event, and the steps that belong to a destage record, by its event.
const begunWith = events.map(() => []);
const stepsOf = new Map();
for (const step of intervals) {
  begunWith[step.event]?.push(step);
  if (step.record !== null) {
    if (!stepsOf.has(step.record)) stepsOf.set(step.record, []);
    stepsOf.get(step.record).push(step);
  }
}

// The destage records in the order of their events, each with the index of the event at which its last program ended.
const records = events.filter((event) => event.kind === "destage");
for (const record of records) record.endedAt = Infinity;
for (const event of events) if (event.kind === "ended") events[event.of].endedAt = event.index;

const pageOf = (token) => (typeof token === "number" ? token : Array.isArray(token) ? token[0] : null);

function apply(tokens, event) {
  const removed = [];
  for (const [at, count, inserted] of event.changes) removed.push(...tokens.splice(at, count, ...inserted));
  return removed;
}

// The tokens after every KEY_EVERY-th event. With them, a step back need not replay the recording from its beginning.
const KEY_EVERY = 64;
const keys = [];
{
  const tokens = [];
  for (const event of events) {
    const removed = apply(tokens, event);
    // The pages that left the buffer with this event: their tokens were removed, and not inserted at another
    // position.
    const back = new Set(event.changes.flatMap(([, , inserted]) => inserted.map(pageOf)));
    event.left = removed.map(pageOf).filter((page) => page !== null && !back.has(page));
    if (event.index % KEY_EVERY === 0) keys.push(tokens.slice());
  }
}

const replayed = { index: -1, tokens: [] };

// The tokens after event `index`. The caller must not change them.
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
function listsAt(index) {
  const lists = [];
  for (const token of tokensAt(index)) {
    if (token.list !== undefined) {
      lists.push({ name: token.list, first: token.first, last: token.last, note: token.note, groups: [] });
    } else if (token.group !== undefined) {
      lists.at(-1).groups.push({ label: token.group, block: token.block, places: token.places, pages: [] });
    } else {
      const [page, held, mark] = Array.isArray(token) ? token : [token, "dirty", ""];
      lists.at(-1).groups.at(-1).pages.push({ page, held, mark });
    }
  }
  return lists;
}

// By event, the counts up to and including this event.
const COUNTS = ["writes", "writeHits", "bypassed", "reads", "readHits", "records", "pages", "padReads", "padFills", "erases", "switch", "partial", "full", "collections"];
const counts = [];
{
  const sums = Object.fromEntries(COUNTS.map((name) => [name, 0]));
  for (const event of events) {
    if (event.kind === "write") { sums.writes += 1; sums.writeHits += event.of[1]; }
    if (event.kind === "bypass") { sums.writes += 1; sums.bypassed += 1; }
    if (event.kind === "read") { sums.reads += 1; sums.readHits += event.of[1]; }
    if (event.kind === "destage") {
      sums.records += 1;
      sums.pages += event.of.pages.length;
      for (const [, content] of event.of.pads) sums[content === "filler" ? "padFills" : "padReads"] += content !== "at hand";
    }
    for (const step of begunWith[event.index]) {
      for (const part of step.parts) if (part.kind === "erase") sums.erases += part.count;
      for (const merge of step.merges) sums[merge.kind] += 1;
      sums.collections += step.work === "garbage collection";
    }
    counts.push({ ...sums });
  }
}

// The request with the longest response time. If several requests have this time, the first of these requests.
const worst = requests.reduce((worst, next) => (next.response !== null && (!worst || next.response > worst.response) ? next : worst), null);
const arrivals = events.filter((event) => event.kind === "arrival").map((event) => event.index);
