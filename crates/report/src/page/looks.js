// The look of series, in a light and a dark theme. Series have distinguishable colours. When colours repeat, series
// have other dashes and marks.

const COLOURS = {
  light: ["#0072b2", "#d55e00", "#008a66", "#b8488f", "#6b46a3", "#8c6d1f", "#3a9bd9", "#c22f4e", "#5b6770", "#5a8f00"],
  dark: ["#4aa8e0", "#ff8a3d", "#2fc79a", "#ea86c4", "#b294ea", "#d9b44a", "#8fd0ff", "#ff7a94", "#b0b9c2", "#a5d63f"],
};
const DASHES = ["solid", [7, 4], [2, 3], [10, 3, 2, 3]];
const MARKS = ["circle", "rect", "triangle", "diamond", "emptyCircle", "emptyRect", "emptyTriangle"];

/** @type {"light" | "dark"} */
let theme = "light";
/** Whether the page is being printed. A printed page has the light theme. */
let isPrinting = false;
const themeNow = () => (isPrinting ? "light" : theme);

/** The look of the series at `index`.
 * @param {number} index */
function look(index) {
  const colours = COLOURS[themeNow()];
  const round = Math.floor(index / colours.length);
  return { colour: colours[index % colours.length], dash: DASHES[round % DASHES.length], mark: MARKS[(index + round) % MARKS.length] };
}

/** Gives `series` other looks where two of them would have one colour.
 * @param {Page.Series[]} series */
function recoloured(series) {
  const count = COLOURS.light.length;
  /** @type {Set<number>} */
  const taken = new Set();
  for (const each of series) {
    while (taken.has(each.look % count)) each.look += 1;
    taken.add(each.look % count);
  }
}

/** The colour of the page in the CSS variable with this name.
 * @param {string} name */
function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The sample of a series for a legend, 30 by 12 pixels.
 * @param {Page.Series} series */
function swatch({ look: index, kind }) {
  const { colour, dash, mark } = look(index);
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 30 12");
  svg.setAttribute("aria-hidden", "true");
  const add = (/** @type {string} */ tag, /** @type {{ [name: string]: string | number }} */ attributes) => {
    const part = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, String(value));
    svg.append(part);
  };
  if (kind === "bar" || kind === "area") {
    add("rect", { x: 8, y: 1, width: 14, height: 10, fill: colour });
    return svg;
  }
  if (kind !== "points") add("line", { x1: 0, x2: 30, y1: 6, y2: 6, stroke: colour, "stroke-width": 2, "stroke-dasharray": Array.isArray(dash) ? dash.join(" ") : "none" });
  if (kind === "level" || kind === "plain") return svg;
  const isEmpty = mark.startsWith("empty");
  const paint = { fill: isEmpty ? "#ffffff" : colour, stroke: colour, "stroke-width": 1.5 };
  const shape = mark.replace("empty", "").toLowerCase();
  if (shape === "circle") add("circle", { cx: 15, cy: 6, r: 3.6, ...paint });
  if (shape === "rect") add("rect", { x: 11.6, y: 2.6, width: 6.8, height: 6.8, ...paint });
  if (shape === "triangle") add("path", { d: "M15 1.6 L19 9.6 L11 9.6 Z", ...paint });
  if (shape === "diamond") add("path", { d: "M15 1 L19.6 6 L15 11 L10.4 6 Z", ...paint });
  return svg;
}

/** @param {"light" | "dark"} name */
function setTheme(name) {
  theme = name;
  document.documentElement.classList.toggle("dark", name === "dark");
  const control = byId("theme");
  control.textContent = name === "dark" ? "Light" : "Dark";
  control.setAttribute("aria-label", name === "dark" ? "Show the page light" : "Show the page dark");
}

/** Uses the theme of the system until the user presses the button. `changed` redraws the charts.
 * @param {() => void} changed */
function beginTheme(changed) {
  const wanted = matchMedia("(prefers-color-scheme: dark)");
  let isChosen = false;
  const follow = () => {
    if (isChosen) return;
    setTheme(wanted.matches ? "dark" : "light");
    changed();
  };
  wanted.addEventListener("change", follow);
  const control = byId("theme");
  control.hidden = false;
  control.addEventListener("click", () => {
    isChosen = true;
    setTheme(theme === "dark" ? "light" : "dark");
    changed();
  });
  follow();
}
