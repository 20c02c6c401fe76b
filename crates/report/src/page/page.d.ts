// The objects that the scripts of a page of results give each other, and the part of the chart library that the
// scripts use. The type checker reads this file, and no page contains it (`make pages-types`).

declare namespace Page {
  /** The data of a page of this kind, with the title that the page shows. */
  type Of<Kind extends keyof Data.Kinds> = Data.Of<Kind> & { title: string };

  type Child = Node | string | null | undefined;
  /** Attributes of an element. Those whose values are functions are event listeners. */
  type Attributes = { [Name in keyof HTMLElementEventMap as `on${Name}`]?: (event: HTMLElementEventMap[Name]) => void } & {
    [name: string]: string | number | boolean | null | undefined | ((event: any) => void);
  };
  /** The options of a select element under a name, which can be empty: value and text of each. */
  type Group = [name: string, rows: [value: string | number, text: string][]];

  /** A unit, and its size in the unit of the results. */
  type Scale = { unit: string | undefined; factor: number };

  type Pair = [at: number, value: number | null];
  type Series = {
    name: string;
    look: number;
    kind: "line" | "level" | "plain" | "area" | "bar" | "points";
    values: Pair[];
    ranges?: [at: number, low: number, high: number][];
    stack?: string;
    /** A value is valid up to the next one. */
    step?: boolean;
    isThin?: boolean;
    isFaint?: boolean;
    /** Whether the name is written at the end of the line. */
    isNamed?: boolean;
  };

  type Goal = { text: string; limit: number };

  /** The axis of places. With names, a place is the index of a name, and every `every`th name is written; otherwise a
   * place is a number. */
  type Along = { title?: string; unit?: string; names?: string[]; every?: number; log?: boolean; ticks?: number[] };

  /** The axis of values. With `exact`, values are always shown in its unit. */
  type Upward = { title: string; unit?: string; exact?: boolean; log?: boolean; most?: number; least?: number; goal?: Goal };

  /** Counts over columns and rows. `xTicks` and `yTicks` are maps from the index of a column or row to the text of its
   * tick; without them, ticks have equal distances. */
  type Heat = {
    cells: [column: number, row: number, count: number][];
    columns: number;
    rows: number;
    /** Whether the colour depends on the count itself, which is at most `most`. */
    plain?: boolean;
    most?: number;
    xName: (column: number) => string;
    yName: (row: number) => string;
    xTicks?: Map<number, string>;
    yTicks?: Map<number, string>;
    /** The text of a count. */
    say?: (count: number) => string;
  };

  type Chart = {
    title: string;
    about?: string;
    small?: boolean;
    height?: number;
    /** Charts of a group are zoomed together. */
    group?: string;
    x: Along;
    y: Upward;
    look?: number;
    metric?: string;
    /** Whether bars are horizontal. */
    flat?: boolean;
    stacked?: boolean;
    /** Whether a tooltip describes one series only. */
    apart?: boolean;
    keepLegend?: boolean;
  } & ({ series: Series[]; heat?: undefined } | { heat: Heat; series?: undefined });
  type Lines = Extract<Chart, { series: Series[] }>;

  type Colours = { ink: string; quiet: string; line: string; paper: string };
  /** What all series of a drawing share. */
  type Drawing = { along: Scale; upward: Scale; colours: Colours; width: number; moved: Map<string, number> };
  /** The smallest and the largest drawn value. */
  type Ends = [least: number, most: number];

  /** Series in each of which every place has a value. */
  type Measured = Omit<Series, "values"> & { values: [at: number, value: number][] };
  /** A chart whose series are ranked by `metric`. */
  type Compared = Pick<Lines, "x" | "y"> & { series: Measured[]; metric: string };
  /** A series with its value at each place, its mean distance from the best value, and the shade of each place. */
  type Ranked = { name: string; look: number; at: Map<number, number>; isBound: boolean; behind: number; shades: Map<number, number> };

  /** The runs of a series: the numbers at each place, their range if it is known, and the number of a run that has no
   * place because it is valid at all of them. */
  type Gathered = { name: string; points: Map<Data.Value, number[]>; known: Map<Data.Value, [low: number, high: number]>; level: number | null };

  type Column = { name: string; unit?: string; about?: string; kind?: string; label?: string; wide?: boolean };

  /** A figure, with its anchor and links to the claims that it shows. */
  type Figure = Data.Figure & { anchor?: string; claims?: Child[] | null };

  type Cell<Row> = (value: Data.Value, column: Column, row: Row) => Node | string | null;
  type Table<Row> = {
    name: string;
    columns: Column[];
    rows: Row[];
    /** The columns that are shown, and those that are saved. */
    chosen?: number[];
    saved?: number[];
    /** The content of a cell, if it is not the text of the value. */
    cell?: Cell<Row>;
    /** Whether each row is shown as a card. */
    cards?: boolean;
    /** Whether the user can choose the columns. */
    choose?: boolean;
    /** The text in the filter, and the words for one row and for several. */
    words?: [filter: string, one: string, more: string];
  };
}

declare namespace Echarts {
  type Option = { [name: string]: unknown; grid?: object };

  type Label = { [name: string]: unknown; formatter?: (number: number) => string; customValues?: number[] };
  type Axis = {
    [name: string]: unknown;
    axisLabel: Label;
    axisTick?: { show: boolean; customValues?: number[] };
    max?: number | string | ((ends: { min: number; max: number }) => number);
  };

  type Drawing = {
    group: string;
    on(event: string, act: () => void): void;
    resize(size: { width: number | "auto"; height: number | "auto"; silent: boolean }): void;
    setOption(option: Option, how?: { notMerge: boolean }): void;
    getOption(): { dataZoom?: { start: number; end: number }[] };
    getWidth(): number;
    dispatchAction(action: { type: string; [name: string]: unknown }): void;
    renderToSVGString(): string;
    dispose(): void;
  };

  /** What a formatter of a tooltip is given. */
  type Told = { seriesName: string; data: number[]; marker: string; componentSubType: string };
  /** What draws an item of a custom series. */
  type Item = { value(dimension: number): number; coord(at: number[]): [number, number] };
}

declare const echarts: {
  init(element: HTMLElement | null, theme: null, how: { renderer: "svg"; ssr?: boolean; width?: number; height?: number }): Echarts.Drawing;
  connect(group: string): void;
  color: { modifyAlpha(colour: string, alpha: number): string; lerp(place: number, colours: string[]): string };
};
