// The objects that the scripts of the page of a device at work give each other, and the elements of its template. The
// type checker reads this file, and no page contains it (`make pages-types`).

declare namespace Page {
  type Request = {
    index: number;
    operation: Data.Request[0];
    first: number;
    pages: number;
    arrival: number;
    response: number | null;
    forced: boolean;
  };

  type Event = {
    [Of in Data.Kind]: {
      index: number;
      time: number;
      kind: Of;
      of: Data.Details[Of];
      request: Data.Cause<Of>;
      resident: number;
      occupied: number;
      changes: Data.Change[];
      /** The pages that left the buffer. */
      left: number[];
    };
  }[Data.Kind];
  /** A destage record: its event, with the index of the event at which its last program ended. */
  type Destaged = Extract<Event, { kind: "destage" }> & { endedAt: number };

  type Part = { kind: Data.Interval[8][0][0]; cause: Data.Interval[8][0][1]; count: number; time: number };
  type Merge = { kind: Data.Interval[9][0][0]; block: number; copies: number; erases: number };
  type Step = {
    die: number;
    begin: number;
    end: number;
    event: number;
    work: string;
    pages: number[];
    record: number | null;
    request: number | null;
    parts: Part[];
    merges: Merge[];
  };

  /** What happens to a page of a record, and at which die. */
  type Progress = { is: "reads" | "read" | "programs" | "done"; die: number };

  type Held = { page: number; held: Data.Held; mark: string };
  type Group = { label: string; pages: Held[] } & Data.Frame;
  type List = { name: string; first: string; last: string; note: string; groups: Group[] };

  /** A step as it is drawn. */
  type Bar = { step: Step; left: number; right: number; top: number; bottom: number };

  type Elements = { [Id in "recording" | "scheme" | "stop" | "story" | "request" | "counts" | "fill" | "room" | "lists" | "window" | "tip" | "underway" | "records" | "legend" | "position" | "timeline"]: HTMLElement } & {
    [Id in Action]: HTMLButtonElement;
  } & { dies: HTMLCanvasElement; slider: HTMLInputElement; speed: HTMLSelectElement };
  type Action = "play" | "event-on" | "event-back" | "request-on" | "request-back" | "worst" | "eviction" | "idle" | "merge" | "collection" | "zoom-in" | "zoom-out";
}
