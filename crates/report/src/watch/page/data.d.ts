// The recording in the page of a device at work, as data.rs writes it. The type checker reads this file, and no page
// contains it (`make pages-types`).
//
// Times are in units of 0.1 ns since the first event.

declare namespace Data {
  type Request = [operation: "read" | "write" | "trim" | "flush", first: number, pages: number, arrival: number, response: number | null, forced: boolean];

  type Destage = {
    cause: "evict" | "flush" | "drain" | "idle" | "fua" | "eager";
    grouping: "pages" | "cluster" | "batch";
    /** Whether the pages stay in the buffer and become clean. */
    stays: boolean;
    pages: number[];
    pads: [page: number, content: "read" | "at hand" | "filler"][];
  };

  /** The details of an event, by its kind. */
  type Details = {
    arrival: null;
    write: [page: number, isHit: boolean];
    read: [page: number, isHit: boolean];
    /** A page. */
    bypass: number;
    trim: number;
    destage: Destage;
    /** The index of the event that emitted the record. */
    ended: number;
    cleaned: null;
    answer: null;
  };
  type Kind = keyof Details;
  /** The index of the request of an event; null if no request caused it. */
  type Cause<Of extends Kind> = Of extends "arrival" | "answer" ? number : number | null;
  type Event = {
    [Of in Kind]: [time: number, kind: Of, of: Details[Of], request: Cause<Of>, resident: number, occupied: number, changes: Change[]];
  }[Kind];

  /** A change of the tokens as they are after the change before it. */
  type Change = [at: number, removed: number, inserted: Token[]];
  type Held = "dirty" | "leaving" | "clean";
  type Token =
    | { list: string; first: string; last: string; note: string }
    | ({ group: string } & Frame)
    // A page. If it is dirty and has no mark, only its number is written.
    | number
    | [page: number, held: Held, mark: string];
  /** The places of a group: those of a block, which begins with the page `block`, or some number of places, or none. */
  type Frame = { block: number; places: number } | { block?: undefined; places?: number };

  /** A step of a die. */
  type Interval = [
    die: number, begin: number, time: number,
    /** The index of the event with which the step began. */
    event: number,
    work: string,
    pages: number[],
    /** The index of the event that emitted the record of the step. */
    record: number | null,
    request: number | null,
    parts: [kind: "read" | "program" | "erase", cause: "host" | "pad" | "copy" | "map" | "wear" | "mount", count: number, time: number][],
    merges: [kind: "switch" | "partial" | "full", block: number, copies: number, erases: number][],
  ];

  type Recording = {
    trace: string;
    buffer: string;
    ftl: string;
    scheme: { name: string; about: string; source: string };
    /** All parameters of the run. The page uses two of them. */
    parameters: { "buffer.capacity_bytes": number; "flash.page_bytes": number };
    dies: number;
    /** Why the recording ends before the run. */
    stop: string | null;
    requests: Request[];
    events: Event[];
    intervals: Interval[];
  };
}
