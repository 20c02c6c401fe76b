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
  const entry = ({ name, words, meaning }) => make("p", {}, make("span", { class: `verdict ${name}` }, words), ` ${meaning}`);
  const limit = ({ name, is, about }) => make("p", {}, `${name} = ${is}: ${about}`);
  part.append(make("details", { open: true }, make("summary", {}, "What the verdicts say"), ...used.map(entry)));
  part.append(make("details", {}, make("summary", {}, "What counts as what, declared for all papers"), ...thresholds.map(limit)));
}

/** The figures of an experiment that a place in the paper names: `4.2.2, Fig. 7` is also Fig. 7a. */
function figuresOf({ paper, experiment, place }, figures) {
  const named = place.match(/(Fig\.|Table) [\dIVX]+/g) || [];
  const of = figures[`${paper}/${experiment}`] || [];
  return of.filter((each) => named.some((name) => each.place.startsWith(name) && !/^\d/.test(each.place.slice(name.length))));
}

/** Links to the experiment of a claim and to its figures; to its paper if it needs no runs. */
function links(claim, figures) {
  const { paper, experiment } = claim;
  const link = (to, text, title) => make("a", { href: `#${to}`, title }, text);
  if (!experiment) return link(`paper-${paper}`, paper, "It needs no runs");
  const anchor = `${paper}-${experiment}`;
  const shows = figuresOf(claim, figures).map(({ id, place, title }) => link(`${anchor}-${id}`, place, title));
  return make("span", {}, link(anchor, `${paper}/${experiment}`, "The runs, with all figures"), " ", make("code", {}, `destage reproduce ${paper}/${experiment}`), ...shows.flatMap((each) => [" ", each]));
}

function verdicts(part, claims, known, figures) {
  const said = verdictWords(known);
  const columns = [{ name: "claim" }, { name: "statement", wide: true }, { name: "verdict" }, { name: "published" }, { name: "measured" }, { name: "of it", about: "Measured over published" }, { name: "on" }, { name: "experiment", about: "Where its runs and figures stand below; destage reproduce takes this name" }, { name: "check" }, { name: "because", wide: true }];
  const value = (each) => (each === null ? null : shown(each));
  const rows = claims.map((claim) => {
    const row = [claim.place ? `${claim.id} (${claim.place})` : claim.id, claim.statement, said(claim.verdict).words, value(claim.published), value(claim.measured), value(claim.ratio), claim.on || null, claim.experiment ? `${claim.paper}/${claim.experiment}` : claim.paper, claim.check, claim.because];
    return Object.assign(row, { claim });
  });
  const cell = (value, { name }, { claim }) => {
    if (name === "claim") return make("span", { id: `${claim.paper}-${claim.id}` }, value);
    if (name === "verdict") return badge(claim.verdict, claim.share, said);
    return name === "experiment" ? links(claim, figures) : null;
  };
  part.append(make("h3", { id: "claims" }, "Every claim"));
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
  const table = new Table(part, { name: "claims", columns, rows, cell, cards: true });
}

/** Every combination of what a paper leaves open. */
function openRules(part, { open }, readings) {
  if (!open.length || !readings) return;
  part.append(make("h3", {}, "Rules that the paper leaves open"));
  for (const { name, about } of open) part.append(make("p", {}, `${name}: ${about}`));
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
      own.append(...experiment.gaps.map((gap) => make("p", { class: "note" }, gap)));
      const charts = make("div", { class: "charts" });
      own.append(charts);
      for (const each of figures[`${paper.name}/${experiment.name}`] || []) figure(charts, { ...each, anchor: `${paper.name}-${experiment.name}-${each.id}` });
    }
  }
}
