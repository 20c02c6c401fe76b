// The data in a page of results, as content.rs and table.rs write them. The type checker reads this file, and no page
// contains it (`make pages-types`).

declare namespace Data {
  /** A value of a result. */
  type Value = null | boolean | number | string | Value[] | { [name: string]: Value };
  /** A value that a paper published, or that a run gave for a claim. */
  type Told = null | boolean | number | string | Told[];

  type Column = { name: string; kind: "name" | "parameter" | "metric" | "error"; unit: string; about: string };

  type Table = {
    columns: Column[];
    rows: Value[][];
    /** The parameters that are equal in all rows. */
    same: { [name: string]: Value };
    /** By row, the low and the high end of the range of each metric that has a range. */
    ranges?: { [metric: string]: [low: number, high: number] }[];
  };

  type Manifest = {
    version: string;
    commit: string;
    host: { name: string; os: string; arch: string; cores: number };
    wall_time_s: number;
    command?: string;
    /** The inputs, if there can be several. The facts about a single input are fields of the manifest itself. */
    traces?: { [name: string]: Value }[];
    [name: string]: Value | undefined;
  };

  /** Rows as columns of equal length. */
  type Columns = { [name: string]: Value[] };
  type Parts = { [part: string]: number };

  type Response = {
    requests: number;
    mean_ms: number;
    percentiles_ms: { [name: string]: number };
    split_ms: Parts;
    tail: { from_percentile: number; requests: number; mean_ms: number; split_ms: Parts };
    /** By bucket of response times: its ends, its number of requests, and the sum of each part as `PART_ms`. */
    histogram: { from_ms: number[]; to_ms: number[]; requests: number[]; [part: string]: number[] };
  };

  /** The load and the work of the device, by interval. */
  type Series = { start_ms: number; interval_ms: number; columns: { time_ms: number[]; [name: string]: (number | null)[] } };

  type Explained = {
    words: string[];
    series?: Series;
    destages?: { pages: number[]; records: number[]; pad_reads: number[]; pad_fills: number[] };
    wear?: { erases: number[]; blocks: number[] };
    /** The slowest requests. */
    worst?: Columns;
    /** What the scheme reports of itself. */
    scheme?: { [name: string]: Value };
  } & (
    | { parts: string[]; response: { [operation: string]: Response } }
    // A run without times has no responses.
    | { parts?: undefined; response?: undefined }
  );

  /** The mean over the seeds, their range, and the value with the first seed. */
  type Point = { mean: number; low: number; high: number; first: number | null };

  type Figure = {
    id: string;
    /** The number of the figure in the paper; empty if there is none. */
    place: string;
    title: string;
    kind: "line" | "bar" | "table" | "curve";
    /** Whether the x axis and the y axis are logarithmic. */
    log: [x: boolean, y: boolean];
    x_title: string;
    x: string[];
    /** The values in `x` as numbers; null if one of them is not a number. */
    along: number[] | null;
    y_title: string;
    series: { name: string; points: (Point | null)[]; published: (number | null)[] }[];
    gaps: string[];
  };

  type Input = { name: string; digest: string | null; role: string; differs: string };

  /** The base run of a claim, or a further try. `sized` is null unless the size of the effect is judged. */
  type Try = { name: string; measured: Told; holds: boolean; idle: boolean; sized: boolean | null };

  type Claim = {
    id: string;
    paper: string;
    place: string;
    statement: string;
    kind: "measured" | "example" | "general" | "consistency" | "own";
    /** The name of the experiment; null if no run judges the claim. */
    experiment: string | null;
    check: string;
    tolerance: string | null;
    asked: string;
    published: Told;
    measured: Told;
    /** Measured over published; null unless both are numbers, or lists of numbers. */
    effect: Told;
    quantity: string;
    unit: string;
    /** The names of the elements of `measured`, for each level of the nested lists. */
    labels: string[][];
    /** The number of levels of `measured` that `published` does not have. */
    each: number;
    verdict: string;
    share: { held: number; tried: number } | null;
    /** Under how many combinations of readings a reproduced claim holds, if not under all. */
    readings: { held: number; tried: number } | null;
    /** How an under-determined claim without either count comes out in the base run, such as `holds`. */
    base: string | null;
    on: string;
    inputs: { name: string; label: string; digest: string | null; stand_in: boolean; kind: "own" | "relative" | "stand_in" | "definition"; differs: string }[];
    runs: string;
    scale: string;
    commands: { command: string; does: string }[];
    /** The ids of figures of the experiment. */
    figures: string[];
    /** Whether a list of two measured numbers is a range. */
    range: boolean;
    tries: Try[];
    because: string[];
    folded: string[];
    turned: string[];
  };

  type Verdict = { name: string; words: string; meaning: string };
  type Threshold = { name: string; is: string; about: string };
  type Entry = { word: string; meaning: string };
  type Named = { name: string; about: string };

  type Experiment = { name: string; title: string; about: string; runs: number; unpublished: Named[]; inputs: Input[]; gaps: string[] };

  type Paper = {
    name: string;
    /** Whether the claims are statements of this project. */
    own: boolean;
    source: string;
    about: string;
    experiments: Experiment[];
    /** The rules that the paper leaves open. */
    open: (Named & { says: { [value: string]: string } })[];
  };

  /** The result of a combination of readings of the open rules. */
  type Reading = { readings: { [rule: string]: string }; held: number; claims: { [id: string]: boolean } };

  /** A cumulative histogram: the number of samples up to each value. */
  type Cumulative = [value: number, count: number][];
  /** The counts of accesses by time and address. */
  type Grid = { cell_us: number; cell_pages: number; cells: [time: number, address: number, count: number][] };
  type Load = { interval_us: number; reads: number[]; writes: number[]; bytes_read: number[]; bytes_written: number[] };

  type Shape = {
    page_bytes: number;
    block_pages: number;
    load: Load;
    read_sectors: Cumulative;
    write_sectors: Cumulative;
    /** The number of reads and writes by the sector at which they begin, within 16 KiB. */
    starts: number[];
    gaps_us: Cumulative;
    page_distances: Cumulative;
    block_distances: Cumulative;
    stack_distances: Cumulative;
    /** The number of different pages after a number of page writes. */
    footprint: [writes: number, pages: number][];
    hot_pages: [pages: number, blocks: number, writes: number, meanDistance: number | null][];
    reads_at: Grid;
    writes_at: Grid;
  };

  type Statistic = [name: string, value: Value, unit: string, about: string];
  type Volume = { volume: number; requests: number; bytes_read: number; bytes_written: number };

  /** What the page of each kind has, beside its kind and its manifest. */
  type Kinds = {
    run: { table: Table; explained?: (Explained | null)[] };
    compare: { table: Table; explained?: (Explained | null)[] };
    curve: { table: Table };
    size: { table: Table; goals: string[] | null };
    study: { table: Table; figures: Figure[] | null };
    reproduce: {
      date: string;
      scale: string;
      verdicts: Verdict[];
      thresholds: Threshold[];
      glossary: Entry[];
      claims: Claim[];
      papers: Paper[];
      readings: { [paper: string]: Reading[] };
      /** By `PAPER/EXPERIMENT`. */
      figures: { [experiment: string]: Figure[] };
    };
    trace: { volumes: Volume[]; shape: Shape; statistics: Statistic[] };
  };

  type Of<Kind extends keyof Kinds> = Kind extends unknown ? Kinds[Kind] & { kind: Kind; manifest: Manifest; heading?: string | null } : never;
}
