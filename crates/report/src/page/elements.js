// Elements of the page. Text from results is always inserted as text, never as HTML.

/** An element of the template.
 * @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Makes an element with attributes and children. An attribute whose value is a function is an event listener, and its
 * name begins with `on`.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Page.Attributes} attributes
 * @param {...(Page.Child | Page.Child[])} children */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** @type {(text: string, press: (event: MouseEvent) => void, attributes?: Page.Attributes) => HTMLButtonElement} */
function button(text, press, attributes = {}) {
  return make("button", { type: "button", class: "control", onclick: press, ...attributes }, text);
}

/** A labelled select element.
 * @type {(label: string, groups: Page.Group[], chosen: string | number, change: (value: string) => void) => HTMLElement} */
function choice(label, groups, chosen, change) {
  const options = (/** @type {Page.Group[1]} */ rows) => rows.map(([value, text]) => make("option", { value, selected: String(value) === String(chosen) }, text));
  const parts = groups.map(([name, rows]) => (name ? make("optgroup", { label: name }, ...options(rows)) : options(rows)));
  const select = make("select", { onchange: () => change(select.value) }, ...parts);
  return make("label", {}, label, select);
}

/** @type {(label: string, checked: boolean, change: (checked: boolean) => void) => HTMLElement} */
function tick(label, checked, change) {
  const box = make("input", { type: "checkbox", checked, onchange: () => change(box.checked) });
  return make("label", {}, box, label);
}

/** @type {(title: string, id: string) => HTMLElement} */
function section(title, id) {
  return make("section", { id }, make("h2", {}, title));
}

/** Escapes `text` for use within HTML, such as the HTML of a tooltip.
 * @param {string} text */
function escaped(text) {
  return String(text).replace(/[&<>"]/g, (sign) => /** @type {{ [sign: string]: string }} */ ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
}

/** The distinct values, in the order in which they first occur.
 * @type {<T>(values: T[]) => T[]} */
const different = (values) => [...new Set(values)];
/** @type {(value: unknown) => value is number} */
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
/** Whether a place has a number.
 * @type {(pair: [number, unknown]) => pair is [number, number]} */
const isPair = (pair) => isNumber(pair[1]);
