// Figures of studies, and claims with their verdicts.

/** A figure as a chart, with its values as a table below. */
function figure(parent, each) {
  const own = make("div", { class: "figure", id: each.anchor });
  parent.append(own);
  const title = each.place ? `${each.place}: ${each.title}` : each.title;
  const point = (value) => (value && typeof value === "object" ? value.mean : value);
  const has = each.series.some((series) => series.points.some((value) => value !== null) || series.published.some(isNumber));
  const [logX, logY] = each.log || [false, false];
  const isNumeric = each.kind !== "bar" && each.along && each.along.length > 1 && new Set(each.along).size === each.along.length;
  const isSize = isNumeric && each.x.every((name) => /\d [KMGT]?i?B$/.test(name));
  const at = (index) => (isNumeric ? each.along[index] : index);
  if (each.kind !== "table" && has) {
    const series = each.series.flatMap((of, index) => {
      const kind = each.kind === "bar" ? "bar" : "line";
      const values = of.points.map((value, place) => [at(place), point(value)]).filter((pair) => isNumber(pair[1]));
      const ranges = of.points.map((value, place) => (value ? [at(place), value.low, value.high] : null)).filter(Boolean);
      const published = of.published.map((value, place) => [at(place), value]).filter((pair) => isNumber(pair[1]));
      const name = of.name || titled(each.y_title);
      const rows = values.length ? [{ name, look: index, kind, values, ranges }] : [];
      if (published.length) rows.push({ name: `${name}, published`, look: index, kind: "points", values: published });
      return rows;
    });
    const isLog = logX && isNumeric && each.along.every((value) => value > 0);
    new Chart(own, {
      title, small: true, keepLegend: series.length > 1,
      about: series.some((of) => of.kind === "points") ? "Marks without a line are what the paper published." : "",
      x: { title: each.x_title, unit: isSize ? "bytes" : "", names: isNumeric ? undefined : each.x, log: isLog, ticks: isNumeric && each.x.length <= 12 ? each.along : undefined },
      y: { title: each.y_title, unit: "", log: logY },
      series,
    });
  } else {
    own.append(make("h4", {}, title));
  }
  for (const gap of each.gaps || []) own.append(make("p", { class: "note" }, `Not all is shown: ${gap}.`));
  if (!has && !(each.gaps || []).length) own.append(make("p", { class: "note" }, "No run has what it shows."));
  if (!each.x.length) return;
  const columns = [{ name: each.x_title }];
  const cells = each.x.map((name) => [name]);
  for (const of of each.series) {
    columns.push({ name: of.name || each.y_title });
    of.points.forEach((value, place) => cells[place].push(point(value)));
    if (of.points.some((value) => value && value.high > value.low)) {
      columns.push({ name: `${of.name}, range` });
      of.points.forEach((value, place) => cells[place].push(value && value.high > value.low ? `${digits(value.low)} to ${digits(value.high)}` : null));
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

function showStudy(content, data) {
  const part = section("Figures", "figures");
  const charts = make("div", { class: "charts" });
  part.append(charts);
  if (data.figures && data.figures.length) content.append(part);
  for (const each of data.figures || []) figure(charts, each);
  showRuns(content, data);
}

/** The words for a verdict, and what it says of a claim. */
function verdictWords(known) {
  const words = new Map(known.map(({ name, words, meaning }) => [name, { words, meaning }]));
  return (verdict) => words.get(verdict) || { words: verdict, meaning: "" };
}

function badge(verdict, share, said) {
  const of = share ? ` ${share.held}/${share.tried}` : "";
  return make("span", { class: `verdict ${verdict}`, title: said(verdict).meaning }, said(verdict).words + of);
}

/** How many claims of each paper have which verdict. */
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
  const cell = (value, { name }) => (name === first ? make("a", { href: `#paper-${value}` }, value) : value === null ? " " : null);
  new Table(part, { name: own ? "statements of the project" : "verdicts by paper", columns, rows, cell });
}

/** What the verdicts say, and what counted as what. */
function legend(part, { claims, verdicts: known, thresholds }) {
  const used = known.filter(({ name }) => claims.some((claim) => claim.verdict === name));
  const entry = ({ name, words, meaning }) => make("p", { id: `verdict-${name}` }, make("span", { class: `verdict ${name}` }, words), ` ${meaning}`);
  const limit = ({ name, is, about }) => make("p", {}, `${name} = ${is}: ${about}`);
  part.append(make("details", { open: true }, make("summary", {}, "What the verdicts say"), ...used.map(entry)));
  part.append(make("details", {}, make("summary", {}, "What counts as what, declared for all papers"), ...thresholds.map(limit)));
}

/** The runs of a claim, and the command that does them again; its paper if it needs none. */
function runsOf({ paper, experiment, check }) {
  if (!experiment && check === "not") return "none";
  if (!experiment) return make("span", {}, "none: it follows from what ", make("a", { href: `#paper-${paper}` }, paper), " prints");
  const name = `${paper}/${experiment}`;
  return make("span", {}, make("a", { href: `#${paper}-${experiment}` }, name), ", again with ", make("code", {}, `destage reproduce ${name}`));
}

/** Links to the figures of a claim, by what they show. */
function figuresOf({ paper, experiment, figures: ids }, figures) {
  const all = figures[`${paper}/${experiment}`] || [];
  const shows = ids.map((id) => all.find((each) => each.id === id)).filter(Boolean);
  return shows.map(({ id, place, title }) => make("li", {}, make("a", { href: `#${paper}-${experiment}-${id}` }, title), place ? ` (${place})` : ""));
}

/** Each part of `value` with the names that lead to it. */
function partsOf(value, labels, path = []) {
  const [names, ...deeper] = labels;
  if (!Array.isArray(value) || !names || names.length !== value.length) return [{ path, value }];
  return value.flatMap((item, index) => partsOf(item, deeper, [...path, names[index]]));
}

/** A published or measured value in words. */
function spoken(value, unit) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = Number.isInteger(value) || Math.abs(value) >= 1000 ? short(value) : digits(value);
  if (isNumber(value)) return unit ? `${text}\u00a0${unit}` : text;
  if (Array.isArray(value)) return value.map((item) => spoken(item, unit)).join(value.some(Array.isArray) ? "; " : ", ");
  return String(value);
}

/** What was published and measured, side by side: a row for each part, or a table of the last two depths. */
function valuesOf({ published, measured, ratio, quantity, unit, labels, each, check }) {
  const own = labels.slice(each);
  const isBetween = check.startsWith("between") && Array.isArray(published);
  const isListed = Array.isArray(published) && !isBetween && own.length > 0;
  const parts = partsOf(measured === null ? published : measured, measured === null ? (isListed ? own : []) : labels);
  const at = (value, labelsOf) => new Map(partsOf(value, labelsOf).map((part) => [part.path.join(), part.value]));
  const publishedAt = isListed ? at(published, own) : null;
  const ratioAt = ratio === null ? null : at(ratio, Array.isArray(ratio) && each && !own.length ? labels.slice(0, 1) : measured === null ? [] : labels);
  // Words are said once, above the numbers.
  const isWords = typeof published === "string" && Array.isArray(measured) && labels.length > 0;
  const isOnce = published !== null && !isListed;
  const said = isBetween ? `${spoken(published[0])} to ${spoken(published[1], unit)}` : spoken(published, unit);
  const cellOf = (text) => make("td", { class: /^[-\d]/.test(text) ? null : "text" }, text);
  const body = [];
  const columns = [];
  if ((published === null || isWords) && parts.length > 4 && parts.every(({ path }) => path.length > 1 && path.length === parts[0].path.length)) {
    const rows = different(parts.map(({ path }) => path.slice(0, -1).join(", ")));
    columns.push("", ...different(parts.map(({ path }) => path[path.length - 1])));
    for (const row of rows) {
      const some = parts.filter(({ path }) => path.slice(0, -1).join(", ") === row);
      body.push(make("tr", {}, make("th", { scope: "row" }, row), some.map(({ value }) => cellOf(spoken(value, unit)))));
    }
  } else {
    const isNamed = parts.some(({ path }) => path.length);
    if (isNamed) columns.push("");
    const hasPublished = published !== null && !isWords;
    if (hasPublished) columns.push("published");
    if (measured !== null) columns.push("measured");
    if (ratioAt) columns.push("measured over published");
    for (const { path, value } of parts) {
      const cells = isNamed ? [make("th", { scope: "row" }, path.join(", "))] : [];
      if (hasPublished) cells.push(cellOf(isOnce ? said : spoken(publishedAt.get(path.slice(measured === null ? 0 : each).join()) ?? "-", unit)));
      if (measured !== null) cells.push(cellOf(spoken(value, unit)));
      if (ratioAt) cells.push(cellOf(spoken(ratioAt.get(path.join()) ?? "-", "")));
      body.push(make("tr", {}, cells));
    }
  }
  if (published === null && measured === null) return "nothing";
  const head = make("thead", {}, make("tr", {}, columns.map((name) => make("th", { scope: "col" }, name))));
  const isPlain = !columns.includes("measured") && measured !== null;
  const what = `${quantity || "Values"}${isPlain ? ", measured" : ""}`;
  const table = make("table", { class: "values", "aria-label": what }, head, make("tbody", {}, body));
  return make("div", {}, make("p", {}, what), isWords ? make("p", {}, `Published: ${published}.`) : null, make("div", { class: "wide" }, table));
}

/** What a claim was measured on, with the digests of traces behind it. */
function inputsOf({ on, inputs }) {
  const traces = inputs.filter(({ digest }) => digest);
  const digests = traces.map(({ name, digest }) => make("p", {}, `${name}: `, make("code", {}, digest)));
  return make("span", {}, on || "nothing", traces.length ? make("details", {}, make("summary", {}, "digests of what was read"), digests) : null);
}

function verdicts(part, claims, known, figures) {
  const said = verdictWords(known);
  const columns = [{ name: "claim" }, { name: "statement" }, { name: "why" }, { name: "values" }, { name: "measured on" }, { name: "runs" }, { name: "figures" }, { name: "formula" }, { name: "verdict" }, { name: "published" }, { name: "measured" }];
  const value = (each) => (each === null ? null : spoken(each, ""));
  const rows = claims.map((claim) => {
    const row = [`${claim.paper} ${claim.id}`, claim.statement, claim.because.join(" "), claim.quantity, claim.on || null, claim.experiment ? `${claim.paper}/${claim.experiment}` : claim.paper, claim.figures.join(", ") || null, claim.check, said(claim.verdict).words, value(claim.published), value(claim.measured)];
    return Object.assign(row, { claim });
  });
  const cell = (value, { name }, { claim }) => {
    switch (name) {
      case "claim": {
        const anchor = `${claim.paper}-${claim.id}`;
        return make("h4", { id: anchor }, make("a", { href: `#${anchor}` }, `${claim.paper} ${claim.id}`), " ", make("a", { href: `#verdict-${claim.verdict}` }, badge(claim.verdict, claim.share, said)));
      }
      case "statement": return make("span", {}, value, make("span", { class: "quiet" }, claim.place ? ` (${claim.place})` : ""));
      case "why": {
        const text = claim.because.map((each, index) => make("p", { class: index ? null : "reason" }, each));
        const isOpen = claim.because.some((each) => each.startsWith("Rules that the paper leaves open"));
        return make("div", {}, text, isOpen ? make("p", {}, make("a", { href: `#paper-${claim.paper}-rules` }, "What each of these rules means")) : null);
      }
      case "values": return valuesOf(claim);
      case "measured on": return inputsOf(claim);
      case "runs": return runsOf(claim);
      case "figures": {
        const links = figuresOf(claim, figures);
        return links.length ? make("ul", {}, links) : make("span", { class: "quiet" }, "none: the values are all there is");
      }
      case "formula": return make("code", {}, value);
      default: return null;
    }
  };
  part.append(make("h3", { id: "claims" }, "Every claim"));
  part.append(make("p", {}, "The words of the rows are explained in ", make("a", { href: "#glossary" }, "the glossary"), "; each verdict leads to what it says. Measured is what the base run gave, with the first seed; a figure shows the mean over seeds, and the range. The box finds claims by any words of theirs: a name (A13), a trace (cello-d8), a scheme."));
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
  const table = new Table(part, { name: "claims", columns, rows, cell, cards: true, words: ["find claims", "claim", "claims"], chosen: [0, 1, 2, 3, 4, 5, 6, 7], saved: columns.map((_, index) => index) });
}

/** What an experiment reads, and the settings that were not published and are tried. */
function inputsAndSettings({ inputs, unpublished }) {
  const folded = (title, items) => (items.length ? [make("details", {}, make("summary", {}, title), make("ul", {}, items))] : []);
  const input = ({ name, role, differs, digest }) => make("li", {}, `${name}, ${role.replace("_", "-")}${differs ? `. ${differs}` : ""}`, digest ? make("span", {}, "; digest ", make("code", {}, digest)) : null);
  const setting = ({ name, about }) => make("li", {}, make("code", {}, name), about ? `: ${about}` : "");
  return [...folded(`${inputs.length} inputs`, inputs.map(input)), ...folded(`${unpublished.length} unpublished settings that are tried`, unpublished.map(setting))];
}

/** The words of the page, folded. */
function words(part, glossary) {
  const entry = ({ word, meaning }) => [make("dt", {}, word), make("dd", {}, meaning)];
  part.append(make("details", { id: "glossary" }, make("summary", {}, "Glossary: the words of this report"), make("dl", { class: "glossary" }, glossary.flatMap(entry))));
}

/** Unfolds what a link within the page leads into. */
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
  if (target) target.scrollIntoView();
}

/** Every combination of what a paper leaves open. */
function openRules(part, { name, open }, readings) {
  if (!open.length || !readings) return;
  part.append(make("h3", { id: `paper-${name}-rules` }, "Rules that the paper leaves open"));
  for (const rule of open) part.append(make("p", {}, make("code", {}, rule.name), `: ${rule.about}`));
  const claims = different(readings.flatMap((each) => Object.keys(each.claims)));
  const decided = claims.filter((id) => new Set(readings.map((each) => each.claims[id])).size > 1);
  const columns = [...open.map(({ name }) => ({ name })), { name: "claims that hold" }, ...decided.map((name) => ({ name }))];
  const held = (each) => `${each.held} of ${Object.keys(each.claims).length}`;
  const mark = (holds) => (holds === undefined ? null : holds ? "holds" : "no");
  const rows = readings.map((each, index) => [...open.map(({ name }) => each.readings[name]), held(each) + (index ? "" : " (default)"), ...decided.map((id) => mark(each.claims[id]))]);
  new Table(part, { name: "combinations of open rules", columns, rows });
  if (!decided.length) part.append(make("p", {}, "No claim depends on them."));
}

function showPapers(content, data) {
  const { claims, papers, readings, figures, manifest, verdicts: known } = data;
  const part = section("Verdicts", "verdicts");
  content.append(part);
  const { host } = manifest;
  part.append(make("p", { class: "quiet" }, `destage ${manifest.version} (${manifest.commit}), ${data.date}, ${host.os} ${host.arch} with ${host.cores} cores, ${shown(manifest.wall_time_s)} s; the ${data.scale} scale.`));
  if (claims.length) part.append(make("p", {}, make("a", { href: "#claims" }, "Every claim with its verdict, what was published and what was measured")));
  legend(part, data);
  words(part, data.glossary);
  if (papers.length > 1) for (const own of [false, true]) overview(part, claims, papers, known, own);
  if (claims.length) verdicts(part, claims, known, figures);
  for (const paper of papers) {
    const own = section(paper.name, `paper-${paper.name}`);
    content.append(own);
    own.append(...[paper.source, paper.about].filter(Boolean).map((text, index) => make("p", { class: index ? null : "quiet" }, text)));
    openRules(own, paper, (readings || {})[paper.name]);
    for (const experiment of paper.experiments) {
      own.append(make("h3", { id: `${paper.name}-${experiment.name}` }, `${experiment.name}: ${experiment.title}`));
      own.append(make("p", {}, experiment.about), make("p", { class: "quiet" }, `${experiment.runs} runs`));
      own.append(...inputsAndSettings(experiment));
      own.append(...experiment.gaps.map((gap) => make("p", { class: "note" }, gap)));
      const charts = make("div", { class: "charts" });
      own.append(charts);
      for (const each of figures[`${paper.name}/${experiment.name}`] || []) figure(charts, { ...each, anchor: `${paper.name}-${experiment.name}-${each.id}` });
    }
  }
  addEventListener("hashchange", unfold);
  unfold();
}
