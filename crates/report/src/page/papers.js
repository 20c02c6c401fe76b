// The pages for studies and for reproduced papers: figures, and claims with their verdicts.

/** Shows a figure as a chart, with a table of its values below.
 * @type {(parent: HTMLElement, each: Page.Figure) => void} */
function figure(parent, each) {
  const own = make("div", { class: each.kind === "table" ? "figure row" : "figure", id: each.anchor });
  parent.append(own);
  const title = each.place ? `${each.place}: ${each.title}` : each.title;
  const point = (/** @type {Data.Point | null} */ value) => (value && typeof value === "object" ? value.mean : value);
  const has = each.series.some((series) => series.points.some((value) => value !== null) || series.published.some(isNumber));
  const [logX, logY] = each.log || [false, false];
  const along = each.kind !== "bar" && each.along && each.along.length > 1 && new Set(each.along).size === each.along.length ? each.along : undefined;
  const isSize = along !== undefined && each.x.every((name) => /\d [KMGT]?i?B$/.test(name));
  const at = (/** @type {number} */ index) => (along ? along[index] : index);
  if (each.kind !== "table" && has) {
    const series = each.series.flatMap((of, index) => {
      const kind = each.kind === "bar" ? "bar" : "line";
      const values = of.points.map(/** @returns {[number, unknown]} */ (value, place) => [at(place), point(value)]).filter(isPair);
      const ranges = of.points.flatMap(/** @returns {[number, number, number][]} */ (value, place) => (value ? [[at(place), value.low, value.high]] : []));
      const published = of.published.map(/** @returns {[number, unknown]} */ (value, place) => [at(place), value]).filter(isPair);
      const name = of.name || titled(each.y_title);
      /** @type {Page.Series[]} */
      const rows = values.length ? [{ name, look: index, kind, values, ranges }] : [];
      if (published.length) rows.push({ name: `${name}, published`, look: index, kind: "points", values: published });
      return rows;
    });
    const isLog = logX && along !== undefined && along.every((value) => value > 0);
    new Chart(own, {
      title, small: true, keepLegend: series.length > 1,
      about: series.some((of) => of.kind === "points") ? "Marks without a line are the paper's published values." : "",
      x: { title: each.x_title, unit: isSize ? "bytes" : "", names: along ? undefined : each.x, log: isLog, ticks: each.x.length <= 12 ? along : undefined },
      y: { title: each.y_title, unit: "", log: logY },
      series,
    });
  } else {
    own.append(make("h4", {}, title));
  }
  const gaps = (each.gaps || []).map((gap) => make("p", { class: "note" }, `Not all is shown: ${gap}.`));
  if (gaps.length > 2) own.append(make("details", {}, make("summary", {}, `Not all is shown: ${gaps.length} values are missing`), gaps));
  else own.append(...gaps);
  if (each.claims) own.append(make("p", { class: "quiet" }, "Shows ", each.claims));
  if (!has && !(each.gaps || []).length) own.append(make("p", { class: "note" }, "No run has the metric of this figure."));
  if (!each.x.length) return;
  const columns = [{ name: each.x_title }];
  /** @type {Data.Value[][]} */
  const cells = each.x.map((name) => [name]);
  for (const of of each.series) {
    columns.push({ name: of.name || each.y_title });
    of.points.forEach((value, place) => cells[place].push(point(value)));
    if (of.points.some((value) => value && value.high > value.low)) {
      columns.push({ name: `${of.name}, range` });
      of.points.forEach((value, place) => cells[place].push(value && value.high > value.low ? `${digits(value.low)} to ${digits(value.high)}` : null));
      columns.push({ name: `${of.name}, first seed` });
      of.points.forEach((value, place) => cells[place].push(value && isNumber(value.first) ? value.first : null));
    }
    if (of.published.some(isNumber)) {
      columns.push({ name: `${of.name}, published` });
      of.published.forEach((value, place) => cells[place].push(value));
    }
  }
  const isDrawn = each.kind !== "table" && has;
  const holder = make("details", { open: !isDrawn }, make("summary", {}, "Values"));
  own.append(holder);
  new Table(holder, { name: title, columns, rows: cells });
}

/** @type {(content: HTMLElement, data: Page.Of<"study">) => void} */
function showStudy(content, data) {
  const part = section("Figures", "figures");
  const charts = make("div", { class: "charts" });
  part.append(charts);
  if (data.figures && data.figures.length) content.append(part);
  for (const each of data.figures || []) figure(charts, each);
  showRuns(content, data);
}

/** Returns a function that gives, for a verdict, its words and its meaning.
 * @type {(known: Data.Verdict[]) => (verdict: string) => { words: string, meaning: string }} */
function verdictWords(known) {
  const words = new Map(known.map(({ name, words, meaning }) => [name, { words, meaning }]));
  return (verdict) => words.get(verdict) || { words: verdict, meaning: "" };
}

/** @type {(verdict: string, counts: Pick<Data.Claim, "share" | "readings" | "base">, said: ReturnType<typeof verdictWords>) => HTMLElement} */
function badge(verdict, { share, readings, base }, said) {
  const counts = [share ? `${share.held}/${share.tried}` : "", readings ? `${readings.held} of ${readings.tried} readings` : ""].filter(Boolean);
  const of = base === null ? (counts.length ? ` ${counts.join(", ")}` : "") : `; ${base} in the base run`;
  const cases = share ? ` The claim holds in ${share.held} of ${share.tried} cases: the base run, the other seeds and the unpublished settings, except those that change nothing.` : "";
  return make("span", { class: `verdict ${verdict}`, title: said(verdict).meaning + cases }, said(verdict).words + of);
}

/** Shows a table with the number of claims by paper and verdict.
 * @type {(part: HTMLElement, claims: Data.Claim[], papers: Data.Paper[], known: Data.Verdict[], own: boolean) => void} */
function overview(part, claims, papers, known, own) {
  const said = verdictWords(known);
  const some = papers.filter((paper) => paper.own === own);
  const names = new Set(some.map(({ name }) => name));
  const used = known.map(({ name }) => name).filter((verdict) => claims.some((claim) => claim.verdict === verdict && names.has(claim.paper)));
  if (!some.length) return;
  part.append(make("h3", {}, own ? "Statements of the project, by verdict" : "Claims of the papers, by verdict"));
  const first = own ? "of the project's own" : "paper";
  const columns = [{ name: first }, { name: own ? "statements" : "claims" }, ...used.map((verdict) => ({ name: said(verdict).words, about: said(verdict).meaning }))];
  const rows = some.map(({ name }) => {
    const its = claims.filter((claim) => claim.paper === name);
    return [name, its.length, ...used.map((verdict) => its.filter((claim) => claim.verdict === verdict).length || null)];
  });
  /** @type {Page.Cell<Data.Value[]>} */
  const cell = (value, { name }) => (name === first ? make("a", { href: `#paper-${value}` }, String(value)) : value === null ? " " : null);
  new Table(part, { name: own ? "statements of the project" : "verdicts by paper", columns, rows, cell });
}

/** Explains the verdicts and their thresholds.
 * @type {(part: HTMLElement, data: Page.Of<"reproduce">) => void} */
function legend(part, { claims, verdicts: known, thresholds }) {
  const used = known.filter(({ name }) => claims.some((claim) => claim.verdict === name));
  const entry = (/** @type {Data.Verdict} */ { name, words, meaning }) => make("p", { id: `verdict-${name}` }, make("span", { class: `verdict ${name}` }, words), ` ${meaning}`);
  const limit = (/** @type {Data.Threshold} */ { name, is, about }) => make("p", {}, `${name} = ${is}: ${about}`);
  part.append(make("details", { open: true }, make("summary", {}, "What the verdicts say"), ...used.map(entry)));
  part.append(make("details", {}, make("summary", {}, "What counts as what: the thresholds, declared for all papers"), ...thresholds.map(limit)));
}

/** Explains the placeholders for the user's traces in commands: DIR for a folder, FILE for one file.
 * @param {Pick<Data.Claim, "commands" | "inputs">} claim */
function tracesOf({ commands, inputs }) {
  const typed = commands.map(({ command }) => command).join("\n");
  const read = different(inputs.filter(({ digest }) => digest).map(({ name }) => name));
  const told = [];
  if (/\bDIR\b/.test(typed)) {
    const own = read.map((name) => `--trace ${name}=FILE`).join(" ");
    told.push(`DIR is a folder in which ${read.join(" and ")} ${read.length > 1 ? "lie" : "lies"}, whatever the ${read.length > 1 ? "files are" : "file is"} called: a trace is found by the digest that stands under "measured on". In place of the folder, ${own} names the ${read.length > 1 ? "files" : "file"}.`);
  }
  if (/\bFILE\b/.test(typed)) told.push("FILE stands for the file with the trace.");
  return told.join(" ");
}

/** The runs of a claim, their scale, and the commands that repeat these runs.
 * @param {Data.Claim} claim */
function runsOf({ paper, experiment, runs, scale, commands, inputs, check, kind }) {
  if (check === "not") return "none: no run judges it";
  if (!experiment) return make("span", {}, "none: it follows from what ", make("a", { href: `#paper-${paper}` }, kind === "own" ? paper : "the paper"), " prints");
  const name = `${paper}/${experiment}`;
  const traces = tracesOf({ commands, inputs });
  const again = commands.map(({ command, does }) => make("p", {}, make("code", { class: "typed" }, command), ` ${does}.`));
  return make("div", {},
    make("p", {}, runs ? [...explained(runs), ". "] : null, "Settings, inputs and figures of the experiment: ", make("a", { href: `#${paper}-${experiment}` }, name), "."),
    again, scale ? make("p", {}, explained(scale)) : null, traces ? make("p", { class: "quiet" }, traces) : null);
}

/** All numbers in `value`.
 * @type {(value: Data.Told) => number[]} */
function numbersIn(value) {
  if (Array.isArray(value)) return value.flatMap(numbersIn);
  return isNumber(value) ? [value] : [];
}

/** Whether the figures show all measured numbers by which the claim is judged. These are the values with the first
 * seed.
 * @type {(figures: Data.Figure[], measured: Data.Told) => boolean} */
function haveAll(figures, measured) {
  const shown = figures.flatMap(({ series }) => series).flatMap(({ points }) => points.map((point) => point?.first));
  const isIn = (/** @type {number} */ number) => shown.some((each) => isNumber(each) && Math.abs(each - number) <= 1e-9 * Math.abs(number));
  return numbersIn(measured).every(isIn);
}

/** A link to a figure. The text of the link is the figure's place in the paper and its title; `more` is a further
 * note.
 * @type {(claim: Data.Claim, figure: Data.Figure, more: string | null) => HTMLElement} */
function figureLink({ paper, experiment }, { id, place, title, y_title: unit }, more) {
  const text = place ? `${place} of the paper: ${title}` : title;
  const what = [unit && !title.endsWith(unit) && `in ${unit}`, more].filter(Boolean).join("; ");
  return make("li", {}, make("a", { href: `#${paper}-${experiment}-${id}` }, text), what ? make("span", { class: "quiet" }, ` (${what})`) : null);
}

/** The anchor of the table with the judged values of a claim.
 * @param {Data.Claim} claim */
function judgedId({ paper, id }) {
  return `judged-of-${paper}-${id}`;
}

/** The cases in which a claim was judged, counted by kind.
 * @param {Data.Try[]} tries */
function casesOf(tries) {
  const kinds = { seed: 0, setting: 0, "choice of readings": 0 };
  for (const { name } of tries) if (name !== "base run") kinds[/^seed \d/.test(name) ? "seed" : / = /.test(name) ? "choice of readings" : "setting"] += 1;
  const plural = (/** @type {string} */ kind) => (kind.startsWith("choice") ? "choices of readings" : `${kind}s`);
  const counted = Object.entries(kinds).filter(([, count]) => count).map(([kind, count]) => `${count} ${count > 1 ? plural(kind) : kind}`);
  return ["the base run", ...counted].join(", ");
}

/** Links to the table with the judged values of a claim, and to its figures. A note says if the figures do not show
 * the judged values.
 * @type {(claim: Data.Claim, figures: { [experiment: string]: Data.Figure[] }) => HTMLElement[]} */
function figuresOf(claim, figures) {
  const { paper, id, experiment, figures: ids, tries, measured } = claim;
  const all = figures[`${paper}/${experiment}`] || [];
  const shows = ids.flatMap((id) => all.find((each) => each.id === id) ?? []);
  const values = tries.length ? [make("li", {}, make("a", { href: `#${judgedId(claim)}` }, `The judged values of ${id}: ${casesOf(tries)}`))] : [];
  const more = haveAll(shows, measured) ? null : `other quantities of the same input; the judged values stand in the table that is linked first`;
  return [...values, ...shows.map((each) => figureLink(claim, each, more))];
}

/** The table of the judged values of a claim: in the base run, and in each further try (another seed, setting or
 * reading).
 * @param {Data.Claim} claim */
function judgedTable(claim) {
  const { id, measured, labels, unit, quantity, range, tries, paper } = claim;
  const say = (/** @type {Data.Told} */ value) => (range ? ranged(value) : spoken(value, unit));
  const partsIn = (/** @type {Data.Told} */ value) => new Map(partsOf(value, labels).map((part) => [part.path.join(", "), part.value]));
  const parts = [...partsIn(measured).keys()];
  /** @type {(each: Data.Try) => string} */
  const does = ({ holds, idle }) => (idle ? "changes nothing" : holds ? "holds" : "fails");
  const all = tries.map((each) => ({ name: each.name, values: partsIn(each.measured), does: does(each), seen: each.sized ? "yes" : "no" }));
  const isSized = tries.some(({ sized }) => sized !== null);
  /** @type {(each: { values: Map<string, Data.Told> }, part: string) => string} */
  const text = ({ values }, part) => (values.has(part) && values.get(part) !== null ? say(values.get(part) ?? null) : "not run");
  const isTurned = parts.length > Math.max(8, all.length);
  const names = parts.map((part) => part || "measured");
  /** @type {["does" | "seen", string][]} */
  const outcomes = isSized ? [["does", "the direction"], ["seen", "the size is seen"]] : [["does", "the claim"]];
  const head = isTurned ? ["", ...all.map(({ name }) => name)] : ["", ...names, ...outcomes.map(([, name]) => name)];
  /** @type {(name: string, cells: string[]) => HTMLElement} */
  const row = (name, cells) => make("tr", {}, make("th", { scope: "row" }, name), cells.map((text) => make("td", { class: /^[-\d]/.test(text) ? null : "text" }, text)));
  const rows = isTurned
    ? [...parts.map((part, index) => row(names[index], all.map((each) => text(each, part)))), ...outcomes.map(([key, name]) => row(name, all.map((each) => each[key])))]
    : all.map((each) => row(each.name, [...parts.map((part) => text(each, part)), ...outcomes.map(([key]) => each[key])]));
  const what = quantity ? `${quantity[0].toUpperCase()}${quantity.slice(1)}${unit ? `, in ${unit}` : ""}. ` : "";
  const table = make("table", { class: "values", "aria-label": `Judged values of ${id}` }, make("thead", {}, make("tr", {}, head.map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, rows));
  return make("details", { id: judgedId(claim) }, make("summary", {}, `${id}: ${claim.statement}`), make("p", {}, what, "The base run is with the first seed; the others are as it but for what is named. ", tries.some(({ idle }) => idle) ? "A case that changes nothing has every judged value of the base run, and is not counted. " : null, make("a", { href: `#${paper}-${id}` }, `Claim ${id}`), "."), make("div", { class: "wide" }, table));
}

/** Words that are linked to the glossary, each with its entry there.
 * @type {{ [words: string]: string }} */
const EXPLAINED = { "searched for": "searched for", "at most 20 in the device": "at most 20 in the device", "open loop": "open loop, closed loop", "costs from counts of operations": "costs from counts of operations", "stand-in": "stand-in", "other recording": "other recording", relative: "relative", "made up": "made up", "base run": "base run", "unpublished settings": "unpublished setting", "in proportion": "in proportion", "destaged requests": "response of destaged requests", "reduced scale": "reduced scale", "full scale": "full scale", mib: "MB, MiB", " mb": "MB, MiB", "rules that the paper leaves open": "rule left open", "young clusters": "cluster, young cluster, alpha", "best alpha": "cluster, young cluster, alpha", threshold: "PIRD, BIRD, threshold", "dirty at the end": "dirty at the end", " points": "points", " lines": "lines" };

/** The anchor of a word of the glossary.
 * @param {string} word */
function wordAnchor(word) {
  return `word-${word.split(",")[0].replaceAll(" ", "-")}`;
}

/** `text`, with the first occurrence of each of the words in `EXPLAINED` as a link to the glossary.
 * @type {(text: string) => (Node | string)[]} */
function explained(text) {
  /** @type {(Node | string)[]} */
  const parts = [text];
  for (const [words, entry] of Object.entries(EXPLAINED)) {
    const index = parts.findIndex((part) => typeof part === "string" && part.toLowerCase().includes(words));
    const part = parts[index];
    if (typeof part !== "string") continue;
    // Some of the words begin with a space, which is not part of the link.
    const end = part.toLowerCase().indexOf(words) + words.length;
    const at = end - words.trim().length;
    const link = make("a", { class: "word", href: `#${wordAnchor(entry)}` }, part.slice(at, end));
    parts.splice(index, 1, part.slice(0, at), link, part.slice(end));
  }
  return parts.filter((part) => part !== "").flatMap((part) => (typeof part === "string" ? crossed(part) : [part]));
}

/** The anchors of claims and experiments by their names, such as `P7.financial1` and `bpac/evictions`.
 * @type {Map<string, string>} */
const ANCHORS = new Map();

/** `text`, with the names of claims and experiments as links to them.
 * @type {(text: string) => (Node | string)[]} */
function crossed(text) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let done = 0;
  for (const { 0: name, index } of text.matchAll(/\b(?:[A-Z]\d+(?:\.[a-z][a-z0-9-]*)*|[a-z]+\/[a-z0-9-]+)(?![\w/])/g)) {
    const anchor = ANCHORS.get(name);
    if (!anchor) continue;
    parts.push(text.slice(done, index), make("a", { href: `#${anchor}` }, name));
    done = index + name.length;
  }
  return [...parts, text.slice(done)].filter((part) => part !== "");
}

/** Learns the anchors of all claims and experiments of a page. The number of a claim that has parts only, such as P7,
 * leads to the first part.
 * @type {(claims: Data.Claim[], papers: Data.Paper[]) => void} */
function learnAnchors(claims, papers) {
  for (const { paper, id } of claims) {
    const anchor = `${paper}-${id}`;
    ANCHORS.set(id, anchor);
    const row = id.split(".")[0];
    if (!ANCHORS.has(row)) ANCHORS.set(row, anchor);
  }
  for (const { name, experiments } of papers) for (const { name: own } of experiments) ANCHORS.set(`${name}/${own}`, `${name}-${own}`);
}

/** The parts of a nested list, each with the names of the lists and items that contain it.
 * @type {(value: Data.Told, labels: string[][], path?: string[]) => { path: string[], value: Data.Told }[]} */
function partsOf(value, labels, path = []) {
  const [given, ...deeper] = labels;
  // The items of a list of texts without given names, such as a list of destages, are numbered, unless the list is
  // itself one of several parts.
  const isTold = !path.length && Array.isArray(value) && value.length > 1 && value.every((item) => typeof item === "string");
  const names = given || (isTold ? value.map((_, index) => `${index + 1}.`) : undefined);
  if (!Array.isArray(value) || !names || names.length !== value.length) return [{ path, value }];
  return value.flatMap((item, index) => partsOf(item, deeper, [...path, names[index]]));
}

/** A published or measured value as text.
 * @type {(value: Data.Told, unit?: string) => string} */
function spoken(value, unit) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = Number.isInteger(value) || Math.abs(Number(value)) >= 1000 ? short(value) : digits(value);
  if (isNumber(value)) return unit ? `${text}\u00a0${unit}` : text;
  if (Array.isArray(value)) return value.map((item) => spoken(item, unit)).join(value.some(Array.isArray) ? "; " : ", ");
  return String(value);
}

/** A value as text. Two numbers are written as a range.
 * @type {(value: Data.Told) => string} */
function ranged(value) {
  if (!Array.isArray(value) || value.length !== 2) return spoken(value, "");
  const [low, high] = value.map((item) => spoken(item, ""));
  return low === high ? low : `${low} to ${high}`;
}

/** The published and the measured values side by side, with a row for each part. If many parts have no published
 * numbers, the last level of names gives the columns.
 * @param {Data.Claim} claim */
function valuesOf({ published, measured, effect, quantity, unit, labels, each, range, check, kind }) {
  const own = labels.slice(each);
  const isBetween = check.startsWith("between") && Array.isArray(published);
  const isTold = Array.isArray(published) && Array.isArray(measured) && published.length === measured.length && [...published, ...measured].every((item) => typeof item === "string");
  const isListed = Array.isArray(published) && !isBetween && (own.length > 0 || isTold);
  const follows = check.startsWith("arithmetic");
  const parts = partsOf(measured === null ? published : measured, measured === null ? (isListed ? own : []) : labels);
  const at = (/** @type {Data.Told} */ value, /** @type {string[][]} */ labelsOf) => new Map(partsOf(value, labelsOf).map((part) => [part.path.join(), part.value]));
  const publishedAt = isListed ? at(published, own) : null;
  // A formula judges a property, and not the ratio of the two numbers.
  const ratio = check.startsWith("property") ? null : effect;
  const ratioAt = ratio === null ? null : at(ratio, Array.isArray(ratio) && each && !own.length ? labels.slice(0, 1) : measured === null ? [] : labels);
  // A published value that applies to several measured numbers is shown once, above the table.
  const isWords = typeof published === "string" && Array.isArray(measured) && labels.length > 0;
  const isOnce = published !== null && !isListed;
  const isAbove = isWords || (isOnce && measured !== null && parts.length > 1);
  const said = isBetween ? `${spoken(published[0])} to ${spoken(published[1], unit)}` : spoken(published, unit);
  const cellOf = (/** @type {string} */ text) => make("td", { class: /^[-\d]/.test(text) ? null : "text" }, text);
  const saidOf = (/** @type {Data.Told} */ value) => (range ? ranged(value) : spoken(value, unit));
  const body = [];
  const columns = [];
  if ((published === null || isWords) && parts.length > 4 && parts.every(({ path }) => path.length > 1 && path.length === parts[0].path.length)) {
    const rows = different(parts.map(({ path }) => path.slice(0, -1).join(", ")));
    columns.push("", ...different(parts.map(({ path }) => path[path.length - 1])));
    for (const row of rows) {
      const some = parts.filter(({ path }) => path.slice(0, -1).join(", ") === row);
      body.push(make("tr", {}, make("th", { scope: "row" }, row), some.map(({ value }) => cellOf(saidOf(value)))));
    }
  } else {
    const isNamed = parts.some(({ path }) => path.length);
    if (isNamed) columns.push("");
    const hasPublished = published !== null && !isAbove;
    if (hasPublished) columns.push("published");
    if (measured !== null) columns.push(follows ? "computed from the paper" : "measured");
    if (ratioAt) columns.push(follows ? "computed over published" : "measured over published");
    for (const { path, value } of parts) {
      const cells = isNamed ? [make("th", { scope: "row" }, path.join(", "))] : [];
      if (hasPublished) cells.push(cellOf(isOnce ? said : spoken(publishedAt?.get(path.slice(measured === null ? 0 : each).join()) ?? "-", unit)));
      if (measured !== null) cells.push(cellOf(saidOf(value)));
      if (ratioAt) cells.push(cellOf(spoken(ratioAt.get(path.join()) ?? "-", "")));
      body.push(make("tr", {}, cells));
    }
  }
  if (published === null && measured === null) return "nothing";
  const head = make("thead", {}, make("tr", {}, columns.map((name) => make("th", { scope: "col" }, name))));
  const isPlain = !columns.includes("measured") && measured !== null && !follows;
  const what = quantity ? quantity[0].toUpperCase() + quantity.slice(1) : isPlain ? "Measured values" : "Values";
  const isSaid = !unit || what.endsWith(unit) || (unit === "%" && /per cent/.test(what));
  const isUnprinted = published === null && !follows && kind !== "own";
  const table = make("table", { class: "values", "aria-label": what }, head, make("tbody", {}, body));
  return make("div", {}, make("p", {}, explained(`${what}${isSaid ? "" : `, in ${unit}`}.`), isUnprinted ? " No published number is compared." : ""), isAbove && published !== true ? make("p", {}, `Published: ${said}.`) : null, make("div", { class: "wide" }, table));
}

/** The inputs on which a claim was measured, with the digests of the traces.
 * @param {Data.Claim} claim */
function inputsOf({ on, inputs }) {
  const whole = inputs.filter(({ name, digest }) => digest || name.includes(":"));
  const called = (/** @type {Data.Claim["inputs"][0]} */ { name, label }) => (label && label !== name ? `${label} is ${name}` : name);
  const listed = whole.map((input) => make("p", {}, called(input), input.digest ? ": " : null, input.digest ? make("code", {}, input.digest) : null));
  const differing = inputs.filter(({ differs }) => differs).map(({ name, differs }) => make("p", {}, crossed(`${name}: ${differs}`)));
  return make("div", {}, make("p", {}, explained(on || "nothing")), differing, whole.length ? make("details", {}, make("summary", {}, "parameters and digests"), listed) : null);
}

/** The source of a claim: the paper, and the place in the paper.
 * @type {(claim: Data.Claim, papers: Data.Paper[]) => Node | string} */
function sourceOf({ paper, place, kind }, papers) {
  const { source } = papers.find(({ name }) => name === paper) || { source: paper };
  if (kind === "own") return place && place !== "-" ? `a statement of this project, about ${place === "all" ? "all schemes" : place}` : "a statement of this project";
  // A place such as a figure is followed by its subject, because the number of a figure alone says little.
  const [where, ...about] = place.split(": ");
  return make("span", {}, make("strong", {}, where), about.length ? `, ${about.join(": ")};` : null, " of ", make("a", { href: `#paper-${paper}` }, source));
}

/** A sentence that a list or further sentences follow. A long text is folded behind its first sentence.
 * @param {string} text */
function foldedList(text) {
  const at = text.search(/[:.] /);
  if (text.length <= 300 || at < 0) return make("p", {}, explained(text));
  const rest = text.slice(at + 2);
  return make("details", {}, make("summary", {}, `${text.slice(0, at)}.`), make("p", {}, explained(`${rest[0].toUpperCase()}${rest.slice(1)}`)));
}

/** The reasons for a verdict. The reasons that decide it are shown, and the other reasons are folded.
 * @param {Data.Claim} claim */
function whyOf({ because, folded }) {
  const told = because.map((each, index) => make("p", { class: index ? null : "reason" }, index ? explained(each) : crossed(each)));
  if (!folded.length) return make("div", {}, told);
  return make("div", {}, told, make("details", {}, make("summary", {}, "more on this verdict"), folded.map((each) => make("p", {}, crossed(each)))));
}

/** The changes of settings, inputs and rules that turn the outcome of a claim, with links to the meaning of each
 * setting and rule.
 * @type {(claim: Data.Claim, papers: Data.Paper[]) => Node | string} */
function turnedOf({ paper, experiment, turned, verdict, kind }, papers) {
  const { open = [], experiments = [] } = papers.find(({ name }) => name === paper) || {};
  if (!experiment || (["not_checkable", "trace_missing"].includes(verdict) && !turned.length)) return "nothing was varied";
  const told = turned.map(foldedList);
  if (!open.length && kind !== "own") told.push(make("p", {}, "No rule of this paper is varied. Where its algorithm cannot work as printed, this project corrects it; ", make("a", { href: `#paper-${paper}` }, `the section ${paper} of this report`), " lists the corrections."));
  const settings = experiments.some(({ name, unpublished }) => name === experiment && unpublished.length) ? make("a", { href: `#${foldedId("settings", paper, experiment)}` }, "what each setting is") : null;
  const rules = open.length ? make("a", { href: `#paper-${paper}-rules` }, "what each rule is") : null;
  const links = [settings, rules].filter(Boolean);
  return make("div", {}, told.length ? told : make("p", {}, "Nothing was varied beside the ", explained("base run"), ": neither the seed nor a setting."), links.length ? make("p", { class: "quiet" }, links.flatMap((link, index) => (index ? [", ", link] : [link]))) : null);
}

/** @type {(part: HTMLElement, claims: Data.Claim[], data: Page.Of<"reproduce">) => void} */
function verdicts(part, claims, { verdicts: known, figures, papers }) {
  const said = verdictWords(known);
  const columns = [{ name: "claim" }, { name: "why" }, { name: "values" }, { name: "asked" }, { name: "turned by" }, { name: "where" }, { name: "measured on" }, { name: "run" }, { name: "figure" }, { name: "formula" }, { name: "verdict" }, { name: "published" }, { name: "measured" }];
  const value = (/** @type {Data.Told} */ each) => (each === null ? null : spoken(each, ""));
  const rows = claims.map((claim) => {
    const row = [`${claim.paper} ${claim.id}: ${claim.statement}`, [...claim.because, ...claim.folded].join(" "), claim.quantity, claim.asked || null, claim.turned.join(" ") || null, claim.place, claim.on || null, claim.commands.map(({ command }) => command).join("; ") || null, claim.figures.join(", ") || null, claim.check, said(claim.verdict).words, value(claim.published), value(claim.measured)];
    return Object.assign(row, { claim });
  });
  /** @type {Page.Cell<typeof rows[0]>} */
  const cell = (value, { name }, { claim }) => {
    switch (name) {
      case "claim": {
        const anchor = `${claim.paper}-${claim.id}`;
        const link = make("a", { href: `#${anchor}` }, `${claim.paper} ${claim.id}`);
        return make("h4", { id: anchor }, link, " ", make("a", { href: `#verdict-${claim.verdict}` }, badge(claim.verdict, claim, said)), make("span", { class: "statement" }, claim.statement), claim.inputs.length ? make("span", { class: "quiet" }, ` On ${claim.on}.`) : null);
      }
      case "where": return sourceOf(claim, papers);
      case "why": return whyOf(claim);
      case "values": return valuesOf(claim);
      case "turned by": return turnedOf(claim, papers);
      case "measured on": return inputsOf(claim);
      case "run": return runsOf(claim);
      case "figure": {
        const links = figuresOf(claim, figures);
        return links.length ? make("ul", {}, links) : make("span", { class: "quiet" }, claim.check === "not" ? "none: nothing is judged" : "none: there are no other values");
      }
      case "formula": return claim.check === "not" ? make("span", { class: "quiet" }, "no check") : make("details", {}, make("summary", {}, "as the program checks it"), make("code", {}, String(value)));
      default: return null;
    }
  };
  part.append(make("h3", { id: "claims" }, "Every claim"));
  part.append(make("p", {}, "Each claim has its verdict with the reason; the published and the measured values; the condition that was checked; the settings that change its outcome from that of the base run; its place in the paper; and the runs, as a command, with their figures. A measured value is that of the base run with the first seed. The table of the judged values, which is the first link of each claim behind \"figure\", has the values with each other seed and setting, and with the smallest choices of readings that change the outcome; the paper's own figures show the mean over seeds, and their values have the range and the first seed beside it. Words are explained in ", make("a", { href: "#glossary" }, "the glossary"), "; each verdict links to what it says. The box finds claims by any words in them: a name (A13), a trace (cello-d8), a scheme."));
  /** @type {Set<string>} */
  const hidden = new Set();
  const used = known.map(({ name }) => name).filter((verdict) => claims.some((claim) => claim.verdict === verdict));
  const chips = used.map((verdict) => {
    const count = claims.filter((claim) => claim.verdict === verdict).length;
    const chip = button(`${said(verdict).words} ${count}`, () => {
      if (!hidden.delete(verdict)) hidden.add(verdict);
      chip.setAttribute("aria-pressed", String(!hidden.has(verdict)));
      table.keep(({ claim }) => !hidden.has(claim.verdict));
    }, { "aria-pressed": "true", "data-verdict": verdict });
    return chip;
  });
  part.append(make("div", { class: "controls", role: "group", "aria-label": "Verdicts that are shown" }, chips));
  const table = new Table(part, { name: "claims", columns, rows, cell, cards: true, words: ["find claims", "claim", "claims"], chosen: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], saved: columns.map((_, index) => index) });
}

/** The anchor of a folded list of an experiment. It differs from the anchors of all figures, whatever their names.
 * @type {(what: string, paper: string, experiment: string) => string} */
function foldedId(what, paper, experiment) {
  return `${what}-of-${paper}-${experiment}`;
}

/** The inputs of an experiment, and its settings that are varied because the paper does not publish them.
 * @type {(paper: string, experiment: Data.Experiment) => HTMLElement[]} */
function inputsAndSettings(paper, { name: experiment, inputs, unpublished }) {
  /** @type {(id: string, title: string, items: Node[]) => HTMLElement[]} */
  const folded = (id, title, items) => (items.length ? [make("details", { id: foldedId(id, paper, experiment) }, make("summary", {}, title), make("ul", {}, items))] : []);
  const input = (/** @type {Data.Input} */ { name, role, differs, digest }) => make("li", {}, `${name}, ${role.replace("_", "-")}${differs ? `. ${differs}` : ""}`, digest ? make("span", {}, "; digest ", make("code", {}, digest)) : null);
  const setting = (/** @type {Data.Named} */ { name, about }) => make("li", {}, make("code", {}, name), about ? `: ${about}` : "");
  return [...folded("inputs", `${inputs.length} inputs`, inputs.map(input)), ...folded("settings", `${unpublished.length} unpublished settings that are tried`, unpublished.map(setting))];
}

/** Shows the glossary of the page, folded.
 * @type {(part: HTMLElement, glossary: Data.Entry[]) => void} */
function words(part, glossary) {
  const entry = (/** @type {Data.Entry} */ { word, meaning }) => [make("dt", { id: wordAnchor(word) }, word), make("dd", {}, meaning)];
  part.append(make("details", { id: "glossary" }, make("summary", {}, "Glossary: the words of this report"), make("dl", { class: "glossary" }, glossary.flatMap(entry))));
}

/** Opens all folded sections that contain the target of a link within the page. */
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let each = target; each; each = each.parentElement) if (each instanceof HTMLDetailsElement) each.open = true;
  if (target) target.scrollIntoView();
}

/** Shows the results for every combination of the rules that a paper leaves open.
 * @type {(part: HTMLElement, paper: Data.Paper, readings: Data.Reading[] | undefined) => void} */
function openRules(part, { name, open }, readings) {
  if (!open.length || !readings) return;
  part.append(make("h3", { id: `paper-${name}-rules` }, "Rules that the paper leaves open"));
  for (const rule of open) part.append(make("p", {}, make("code", {}, rule.name), `: ${rule.about} `, Object.entries(rule.says).flatMap(([value, says], index) => [index ? "; " : "", make("code", {}, value), `: ${says}`]), Object.keys(rule.says).length ? "." : null));
  const claims = different(readings.flatMap((each) => Object.keys(each.claims)));
  const decided = claims.filter((id) => new Set(readings.map((each) => each.claims[id]).filter((holds) => holds !== undefined)).size > 1);
  const partly = claims.filter((id) => readings.some((each) => each.claims[id] === undefined));
  const columns = [...open.map(({ name }) => ({ name })), { name: "claims that hold" }, ...decided.map((name) => ({ name }))];
  const held = (/** @type {Data.Reading} */ each) => `${each.held} of ${Object.keys(each.claims).length}`;
  const mark = (/** @type {boolean | undefined} */ holds) => (holds === undefined ? null : holds ? "holds" : "no");
  const rows = readings.map((each, index) => [...open.map(({ name }) => each.readings[name]), held(each) + (index ? "" : " (default)"), ...decided.map((id) => mark(each.claims[id]))]);
  new Table(part, { name: "combinations of open rules", columns, rows });
  if (partly.length) part.append(make("p", {}, crossed(`${partly.join(", ")}: not counted in every row, because the formula fixes the reading of a rule, or a run gave no result.`)));
  if (!decided.length) part.append(make("p", {}, "No claim depends on them."));
}

/** Links to the claims that a figure shows; `null` if it shows none.
 * @type {(claims: Data.Claim[], paper: string, experiment: string, id: string) => Page.Child[] | null} */
function claimsOf(claims, paper, experiment, id) {
  const shown = claims.filter((claim) => claim.paper === paper && claim.experiment === experiment && claim.figures.includes(id));
  const links = shown.map((claim) => make("a", { href: `#${paper}-${claim.id}` }, claim.id));
  return links.length ? links.flatMap((link, index) => (index ? [", ", link] : [link])) : null;
}

/** @type {(content: HTMLElement, data: Page.Of<"reproduce">) => void} */
function showPapers(content, data) {
  const { claims, papers, readings, figures, manifest, verdicts: known } = data;
  learnAnchors(claims, papers);
  const part = section("Verdicts", "verdicts");
  content.append(part);
  const { host } = manifest;
  part.append(make("p", { class: "quiet" }, `destage ${manifest.version} (${manifest.commit === "unknown" ? "built outside a git repository, so its commit is not known" : `commit ${manifest.commit}`}), ${data.date}, ${host.os} ${host.arch} with ${host.cores} cores. This took ${shown(manifest.wall_time_s)} s; results that were stored before were used again. The runs are those of the `, make("a", { class: "word", href: `#${wordAnchor(`${data.scale} scale`)}` }, `${data.scale} scale`), "."));
  if (claims.length) part.append(make("p", {}, make("a", { href: "#claims" }, "Every claim with its verdict, the published value and the measured value")));
  legend(part, data);
  words(part, data.glossary);
  if (papers.length > 1) for (const own of [false, true]) overview(part, claims, papers, known, own);
  if (claims.length) verdicts(part, claims, data);
  for (const paper of papers) {
    const own = section(paper.name, `paper-${paper.name}`);
    content.append(own);
    own.append(...[paper.source, paper.about].filter(Boolean).map((text, index) => make("p", { class: index ? null : "quiet" }, text)));
    openRules(own, paper, (readings || {})[paper.name]);
    for (const experiment of paper.experiments) {
      own.append(make("h3", { id: `${paper.name}-${experiment.name}` }, `${experiment.name}: ${experiment.title}`));
      own.append(make("p", {}, crossed(experiment.about)), make("p", { class: "quiet" }, `${experiment.runs} runs`));
      own.append(...inputsAndSettings(paper.name, experiment));
      own.append(...experiment.gaps.map((gap) => make("p", { class: "note" }, gap)));
      const charts = make("div", { class: "charts" });
      own.append(charts);
      const judged = claims.filter((claim) => claim.paper === paper.name && claim.experiment === experiment.name && claim.tries.length);
      if (judged.length) own.append(make("h4", {}, "What claims are judged by, in the base run, with each other seed and setting, and with the smallest choices of readings that turn them"), ...judged.map(judgedTable));
      for (const each of figures[`${paper.name}/${experiment.name}`] || []) figure(charts, { ...each, anchor: `${paper.name}-${experiment.name}-${each.id}`, claims: claimsOf(claims, paper.name, experiment.name, each.id) });
    }
  }
  addEventListener("hashchange", unfold);
  unfold();
}
