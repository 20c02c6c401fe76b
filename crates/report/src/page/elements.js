// Elements of the page. Text from results is always inserted as text, never as HTML.

/** Makes an element with attributes and children. An attribute whose name begins with `on` is an event listener. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function button(text, press, attributes = {}) {
  return make("button", { type: "button", class: "control", onclick: press, ...attributes }, text);
}

/** A labelled select element. Each of `groups` is a pair: a name (or ""), and rows of value and text. */
function choice(label, groups, chosen, change) {
  const options = (rows) => rows.map(([value, text]) => make("option", { value, selected: String(value) === String(chosen) }, text));
  const parts = groups.map(([name, rows]) => (name ? make("optgroup", { label: name }, ...options(rows)) : options(rows)));
  const select = make("select", { onchange: () => change(select.value) }, ...parts);
  return make("label", {}, label, select);
}

function tick(label, checked, change) {
  const box = make("input", { type: "checkbox", checked, onchange: () => change(box.checked) });
  return make("label", {}, box, label);
}

function section(title, id) {
  return make("section", { id }, make("h2", {}, title));
}

/** Escapes `text` for use within HTML, such as the HTML of a tooltip. */
function escaped(text) {
  return String(text).replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
}

/** The distinct values, in the order in which they first occur. */
const different = (values) => [...new Set(values)];
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
