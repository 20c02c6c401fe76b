// Numbers as readable text, with units.

/** @type {[unit: string, size: number][]} */
const BINARY = [["B", 1], ["KiB", 2 ** 10], ["MiB", 2 ** 20], ["GiB", 2 ** 30], ["TiB", 2 ** 40], ["PiB", 2 ** 50], ["EiB", 2 ** 60]];
/** @type {[unit: string, size: number][]} */
const TIMES = [["us", 1e-3], ["ms", 1], ["s", 1e3], ["min", 6e4], ["h", 36e5], ["days", 864e5]];
/** By unit of the results: the units in which a value may be shown, from small to large, each with its size.
 * @type {{ [unit: string]: [unit: string, size: number][] | undefined }} */
const SCALES = { bytes: BINARY, ms: TIMES, us: TIMES.map(([name, size]) => [name, size * 1e3]) };

/** `number` with narrow spaces between groups of three digits. Four digits are one group.
 * @type {(number: number, options?: Intl.NumberFormatOptions) => string} */
function spaced(number, options) {
  return number.toLocaleString("en-US", options).replaceAll(",", Math.abs(number) < 10_000 ? "" : "\u202f");
}

/** `number` with four significant digits; from 1000 on without decimals; with an exponent if it is very small or very
 * large.
 * @param {unknown} number */
function short(number) {
  if (!isNumber(number)) return "-";
  if (Number.isInteger(number) && Math.abs(number) < 1e15) return spaced(number);
  const size = Math.abs(number);
  if (size >= 1e15 || size < 1e-3) return number.toExponential(2);
  if (size >= 1000) return spaced(Math.round(number));
  return number.toPrecision(4);
}

/** `number` as text for an axis, without trailing zeros.
 * @param {number} number */
function brief(number) {
  const size = Math.abs(number);
  if (size >= 1e6 || (size > 0 && size < 1e-4)) return Number(number.toPrecision(3)).toExponential().replace("e+", "e");
  return spaced(Number(number.toPrecision(6)), { maximumFractionDigits: 8 });
}

/** The largest unit that is not above `most`, so that values have few digits, and its size in the unit of the
 * results.
 * @type {(unit: string | undefined, most: number) => Page.Scale} */
function scaleOf(unit, most) {
  const scale = SCALES[unit ?? ""];
  if (!scale) return { unit, factor: 1 };
  const fits = scale.filter(([, size]) => size <= Math.abs(most));
  const [name, factor] = fits.length ? fits[fits.length - 1] : scale[0];
  return { unit: name, factor };
}

/** At most eight powers of two between two sizes, for an axis.
 * @type {(least: number, most: number) => number[]} */
function powers(least, most) {
  const [first, last] = [Math.ceil(Math.log2(least)), Math.floor(Math.log2(most))];
  const step = Math.max(1, Math.ceil((last - first + 1) / 8));
  return Array.from({ length: Math.max(0, Math.floor((last - first) / step) + 1) }, (_, index) => 2 ** (first + index * step));
}

/** A value with its unit.
 * @type {(value: unknown, unit?: string) => string} */
function withUnit(value, unit) {
  if (!isNumber(value)) return "-";
  if (unit === "bytes") {
    const { unit: name, factor } = scaleOf(unit, value);
    return `${Number((value / factor).toPrecision(4))} ${name}`;
  }
  return unit ? `${short(value)} ${unit}` : short(value);
}

/** The text of `value` in a table cell.
 * @type {(value: Data.Value | undefined, unit?: string) => string} */
function shown(value, unit) {
  if (value === null || value === undefined) return "-";
  if (typeof value === "number") return unit === "bytes" ? withUnit(value, unit) : short(value);
  if (Array.isArray(value)) {
    // If a list is long, or is a list of lists, only its first items are shown.
    const most = value.some(Array.isArray) ? 2 : 12;
    const items = value.slice(0, most).map((item) => (Array.isArray(item) ? `[${shown(item)}]` : digits(item)));
    return items.join(", ") + (value.length > most ? `, … (${value.length} in all)` : "");
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** `value` with four significant digits. A share near 1 has more digits, so that 0.99999 is not shown as 1.
 * @param {number} value */
function fourDigits(value) {
  const size = Math.abs(value);
  const nines = size < 1 ? -Math.ceil(Math.log10(1 - size)) : 0;
  return String(Number(value.toPrecision(Math.max(4, nines + 1))));
}

/** A published or measured value as text.
 * @type {(value: Data.Value) => string} */
const digits = (value) => (typeof value === "number" ? (Number.isInteger(value) ? String(value) : fourDigits(value)) : shown(value));
/** @type {(title: string, unit?: string) => string} */
const titled = (title, unit) => (unit && title ? `${title} (${unit})` : title || unit || "");

/** The round numbers from 0 to below `end`, about `count` of them.
 * @type {(end: number, count: number) => number[]} */
function roundSteps(end, count) {
  if (!(end > 0)) return [0];
  const power = 10 ** Math.floor(Math.log10(end / count));
  const step = [1, 2, 5].map((digit) => digit * power).find((each) => each >= end / count) ?? 10 * power;
  return Array.from({ length: Math.ceil(end / step) }, (_, index) => Number((index * step).toPrecision(6)));
}
