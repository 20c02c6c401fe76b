//! The content of the page for each kind of results.

use destage_base::parameter::read_bytes;
use destage_trace::statistics::StatisticRow;
use serde_json::{Map, Value, json};

use super::table::{self, Row, SIZE};
use destage::Record;
use destage::numbers;
use destage::words;

/// The content of a page.
pub(super) struct Content {
    pub(super) title: String,
    /// The names of the inputs, for the title of the page in a browser; empty if `title` already contains these
    /// names.
    pub(super) inputs: String,
    /// One line that names the program and its inputs.
    pub(super) origin: String,
    /// Conclusions as sentences, the most important first.
    pub(super) conclusions: Vec<String>,
    /// Warnings about the numbers.
    pub(super) notes: Vec<String>,
    /// The data for the scripts: `kind`, `manifest`, and the data for this kind of page. `page/data.d.ts` describes
    /// them for the type checker.
    pub(super) data: Value,
}

/// If a comparison has at most this many explained runs, their explanations over time are shown. With more runs, only
/// the parts of their response times are shown.
const WHOLLY_EXPLAINED: usize = 4;
/// Number of significant digits of the numbers that explain a run. A chart cannot show more digits.
const DIGITS: i32 = 6;
/// The smallest ratio between the buffer sizes of two successive drawn points of a curve.
const GROWTH: f64 = 1.02;

impl Content {
    /// The content for `document`, whose data are moved into the content. `None` if the document has no results.
    pub(super) fn of(document: &mut Value) -> Option<Self> {
        let fields = document.as_object_mut()?;
        let mut manifest = fields.remove("manifest")?;
        let has = |name: &str| fields.contains_key(name);
        let mut content = match () {
            () if has("claims") => reproduction(fields),
            () if has("figures") => study(fields),
            () if has("answers") => answers(fields, &manifest),
            () if has("fleet") => fleet(fields, &manifest),
            () if has("curves") => curves(fields, &manifest),
            () if has("statistics") => trace(fields, &manifest),
            () if has("runs") => runs(fields),
            () if has("metrics") => run(fields, &manifest),
            () => return None,
        };
        content.origin = origin(&manifest);
        let inputs = inputs(&manifest);
        if content.title != inputs {
            content.inputs = inputs;
        }
        let of_inputs = manifest
            .as_object_mut()
            .and_then(|map| map.remove("warnings"));
        content.notes.extend(closed(of_inputs));
        if let Some(command) = manifest.get_mut("command") {
            let typed = sentences(Some(command.take()));
            let typed: Vec<String> = typed.iter().map(|word| words::for_shell(word)).collect();
            *command = json!(typed.join(" "));
        }
        content.data["manifest"] = manifest;
        Some(content)
    }

    fn new(kind: &str, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            inputs: String::new(),
            origin: String::new(),
            conclusions: Vec::new(),
            notes: Vec::new(),
            data: json!({ "kind": kind }),
        }
    }

    /// The title of the page in a browser.
    pub(super) fn tab(&self) -> String {
        match &*self.inputs {
            "" => self.title.clone(),
            inputs => format!("{inputs}: {}", self.title),
        }
    }

    /// Moves the conclusions, which are sentences, from `fields` to this content.
    fn concluded(mut self, fields: &mut Map<String, Value>) -> Self {
        self.conclusions = sentences(fields.remove("conclusions"));
        self
    }

    /// Moves the fields with these `names` from `fields` to the data for the scripts.
    fn with(mut self, fields: &mut Map<String, Value>, names: &[&str]) -> Self {
        for name in names {
            self.data[*name] = fields.remove(*name).unwrap_or(Value::Null);
        }
        self
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

fn object(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn sentences(value: Option<Value>) -> Vec<String> {
    list(value).iter().map(text).collect()
}

/// The texts of `value`, each with a full stop added.
fn closed(value: Option<Value>) -> Vec<String> {
    let all = sentences(value);
    all.iter().map(|text| format!("{text}.")).collect()
}

/// The names of the inputs, without their folders, separated by commas.
fn inputs(manifest: &Value) -> String {
    let name = |input: &Value| {
        let name = input["trace"].as_str()?;
        Some(name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned())
    };
    let names: Vec<String> = match manifest["traces"].as_array() {
        Some(all) => all.iter().filter_map(name).collect(),
        None => name(manifest).into_iter().collect(),
    };
    names.join(", ")
}

/// One line with the program and its inputs.
fn origin(manifest: &Value) -> String {
    let of_input = |input: &Value| {
        let digest = input["trace_digest"].as_str().unwrap_or_default();
        let digest = digest.strip_prefix("sha256:").and_then(|hex| hex.get(..12));
        let name = input["trace"].as_str().filter(|name| !name.is_empty())?;
        Some(match digest {
            Some(digest) => format!("{name} (sha256 {digest})"),
            None => name.to_owned(),
        })
    };
    let inputs: Vec<String> = match manifest["traces"].as_array() {
        Some(all) => all.iter().filter_map(of_input).collect(),
        None => of_input(manifest).into_iter().collect(),
    };
    let program = format!(
        "destage {} ({})",
        text(&manifest["version"]),
        text(&manifest["commit"])
    );
    match inputs.is_empty() {
        true => program,
        false => format!(
            "{}; {program}, seed {}",
            inputs.join(", "),
            manifest["seed"]
        ),
    }
}

/// The content for `destage compare`: a cross product of runs.
fn runs(fields: &mut Map<String, Value>) -> Content {
    let mut content = Content::new("compare", "Comparison of write buffers");
    let runs = list(fields.remove("runs"));
    let records: Vec<Record> = runs.iter().map(|run| Record::from_json(run, "")).collect();
    content.conclusions = words::conclusions(&records);
    content.notes = words::notes(&records);
    let explained: Vec<Value> = runs.iter().map(|run| run["explained"].clone()).collect();
    if explained.iter().any(|each| !each.is_null()) {
        let wholly = explained.len() <= WHOLLY_EXPLAINED;
        let brief = |mut each: Value| {
            if let (false, Some(fields)) = (wholly, each.as_object_mut()) {
                fields.retain(|name, _| ["words", "parts", "response"].contains(&name.as_str()));
            }
            shortened(each)
        };
        content.data["explained"] = explained.into_iter().map(brief).collect();
    }
    let rows = runs.into_iter().zip(&records);
    let rows: Vec<Row> = rows.map(|(run, record)| row(run, record)).collect();
    content.data["heading"] = json!(words::heading(&records));
    content.data["table"] = table::json(&rows);
    content
}

/// The content for `destage run`: one run.
fn run(fields: &mut Map<String, Value>, manifest: &Value) -> Content {
    let mut content = Content::new("run", "One run");
    let record = Record::from_json(&Value::Object(fields.clone()), &text(&manifest["trace"]));
    content.conclusions = sentences(fields.get("explained").map(|of| of["words"].clone()));
    content.notes = words::notes(std::slice::from_ref(&record));
    if let Some(explained) = fields.remove("explained") {
        content.data["explained"] = json!([shortened(explained)]);
    }
    content.data["heading"] = json!(words::describe(&record));
    let row = row(Value::Object(std::mem::take(fields)), &record);
    content.data["table"] = table::json(&[row]);
    content
}

/// The content for `destage curve`: metrics over the size of the buffer.
fn curves(fields: &mut Map<String, Value>, manifest: &Value) -> Content {
    let mut content = Content::new("curve", "Curves of write buffers").concluded(fields);
    let trace = &manifest["trace"];
    let (mut rows, mut thinned) = (Vec::new(), false);
    for mut curve in list(fields.remove("curves")) {
        let points = list(
            curve
                .as_object_mut()
                .and_then(|curve| curve.remove("points")),
        );
        let host = object(curve.as_object_mut().and_then(|curve| curve.remove("host")));
        let (mut drawn, last) = (0.0, points.len().saturating_sub(1));
        for (index, point) in points.into_iter().enumerate() {
            let mut metrics = object(Some(point));
            let bytes = metrics.remove("bytes").unwrap_or(Value::Null);
            let error = metrics.remove("error");
            metrics.remove("pages");
            let mut ranges = Map::new();
            for (name, value) in &mut metrics {
                if value.is_object() {
                    ranges.insert(name.clone(), json!([value["low"], value["high"]]));
                    *value = value["estimate"].take();
                }
            }
            let size = bytes.as_f64().unwrap_or(0.0);
            if size > 0.0 && size < drawn * GROWTH && index < last {
                thinned = true;
                continue;
            }
            drawn = size;
            if error.is_none() {
                metrics.extend(host.clone());
            }
            rows.push(Row {
                names: vec![
                    ("trace".to_owned(), trace.clone()),
                    ("buffer".to_owned(), curve["buffer"].clone()),
                    // Without a buffer the curve has only one point, which is valid for all sizes.
                    (
                        SIZE.to_owned(),
                        if size > 0.0 { bytes } else { Value::Null },
                    ),
                    ("ftl".to_owned(), curve["ftl"].clone()),
                ],
                metrics,
                ranges,
                error: error.as_ref().map(text),
                ..Row::default()
            });
        }
    }
    content.notes = closed(fields.remove("warnings"));
    if let Some(how) = fields.remove("sampled") {
        content.notes.push(format!(
            "Estimated from {} samples, each with {} % of the addresses; a whisker is the interval that contains the value with 95 % probability. Samples give no response times.",
            how["salts"],
            numbers::real(100.0 * how["rate"].as_f64().unwrap_or(0.0))
        ));
    }
    if thinned {
        content.notes.push("A curve with every size is thinned out here: each point has a buffer 2 % larger than the point before. The JSON of destage curve has all points.".to_owned());
    }
    content.data["table"] = table::json(&rows);
    content
}

/// The content for `destage fleet`: curves over the sum of the bytes of all buffers. There is one curve for each
/// scheme and each way to divide the bytes among the volumes.
fn fleet(fields: &mut Map<String, Value>, manifest: &Value) -> Content {
    let mut ways = Vec::new();
    for curve in list(fields.remove("fleet")) {
        for (way, words) in [
            ("own", "a buffer for each volume"),
            ("shared", "one for all"),
            ("split", "the best split"),
        ] {
            let point = |point: &Value| {
                let mut fields = object(Some(point[way].clone()));
                fields.insert("bytes".to_owned(), point["bytes"].clone());
                Value::Object(fields)
            };
            let points = curve["points"].as_array().into_iter().flatten();
            ways.push(json!({
                "buffer": format!("{}, {words}", text(&curve["buffer"])),
                "ftl": "none",
                "points": points.map(point).collect::<Vec<_>>(),
            }));
        }
    }
    let volumes = list(fields.remove("volumes")).len();
    fields.insert("curves".to_owned(), ways.into());
    let mut content = curves(fields, manifest);
    content.title = format!("Buffers of {volumes} volumes");
    content
        .notes
        .push("Sizes are the sums over all volumes.".to_owned());
    content
}

/// The content for `destage size`: the smallest buffers that reach goals.
fn answers(fields: &mut Map<String, Value>, manifest: &Value) -> Content {
    let mut content = Content::new("size", "The smallest buffer").concluded(fields);
    let reached = list(fields.remove("answers")).into_iter().map(|answer| {
        let reached = match answer["confirmed"].as_bool() {
            Some(true) => "yes",
            _ => "yes, without a clock",
        };
        (answer, reached.to_owned())
    });
    let missed = list(fields.remove("missed")).into_iter().map(|mut answer| {
        // A run that ended early did not fail: it was ended because it could not reach the goals.
        let ended = answer
            .as_object_mut()
            .and_then(|fields| fields.remove("error"));
        let ended = ended.as_ref().map(text).unwrap_or_default();
        let reached = match ended.split(',').next() {
            Some(early) if !early.is_empty() => format!("no, {early}"),
            _ if answer["stopped"].is_string() => "no, stopped early".to_owned(),
            _ => "no".to_owned(),
        };
        (answer, reached)
    });
    let row = |(answer, reached): (Value, String)| {
        let mut answer = object(Some(answer));
        let bytes = answer
            .remove("bytes")
            .filter(|bytes| bytes.as_u64() != Some(0));
        Row {
            names: vec![
                ("trace".to_owned(), manifest["trace"].clone()),
                (
                    "buffer".to_owned(),
                    answer.remove("buffer").unwrap_or_default(),
                ),
                (SIZE.to_owned(), bytes.unwrap_or_default()),
                ("reached".to_owned(), reached.into()),
            ],
            error: answer.get("error").map(text),
            metrics: object(answer.remove("metrics")),
            ..Row::default()
        }
    };
    let bounds = list(fields.remove("bounds")).into_iter();
    let bounds = bounds.map(|answer| (answer, "a bound".to_owned()));
    let failed = list(fields.remove("failed")).into_iter();
    let failed = failed.map(|answer| (answer, "failed".to_owned()));
    let all = reached.chain(bounds).chain(missed).chain(failed);
    let rows: Vec<Row> = all.map(row).collect();
    content.notes = closed(fields.remove("warnings"));
    content.data["table"] = table::json(&rows);
    content.with(fields, &["heading", "goals"])
}

/// The content for `destage study`: an experiment file of the user.
fn study(fields: &mut Map<String, Value>) -> Content {
    let title = fields.remove("title").unwrap_or_default();
    let mut content = Content::new("study", text(&title));
    let about = fields
        .remove("about")
        .as_ref()
        .map(text)
        .unwrap_or_default();
    content
        .conclusions
        .extend(Some(about).filter(|about| !about.is_empty()));
    let missing = object(fields.remove("missing")).into_iter();
    let missing =
        missing.map(|(input, trace)| format!("{input}: the trace {} was not found.", text(&trace)));
    content.notes.extend(missing);
    content.notes.extend(closed(fields.remove("warnings")));
    let runs = list(fields.remove("runs"));
    let failed = runs.iter().filter_map(|run| run["error"].as_str());
    let failed: Vec<String> = failed
        .map(|error| format!("A run failed: {error}."))
        .collect();
    content.notes.extend(failed);
    let record = |run: &Value| Record::from_json(run, &text(&run["input"]));
    let records: Vec<Record> = runs.iter().map(record).collect();
    content.notes.extend(words::remark(&records));
    content.conclusions.push(format!("{} runs.", runs.len()));
    let rows: Vec<Row> = runs.into_iter().map(labelled).collect();
    content.data["table"] = table::json(&rows);
    content.with(fields, &["figures"])
}

/// A run of a study as a row. The labels of the run are the names of the row.
fn labelled(run: Value) -> Row {
    let mut run = object(Some(run));
    let value = |(axis, label): (String, Value)| {
        let written = label.as_str().unwrap_or_default();
        let number = written.parse::<u64>().ok();
        let bytes = || read_bytes(written).filter(|_| axis == SIZE);
        let value = number
            .or_else(bytes)
            .map_or_else(|| label.clone(), Value::from);
        (axis, value)
    };
    let mut names: Vec<_> = object(run.remove("labels"))
        .into_iter()
        .map(value)
        .collect();
    // The names are in the same order as in other tables.
    let order = ["input", "buffer", SIZE, "ftl"];
    let place = |axis: &String| order.iter().position(|name| name == axis);
    names.sort_by_key(|(axis, _)| place(axis).unwrap_or(order.len()));
    // A varied parameter of a study is both a label and a parameter, so it is removed from the parameters. It then
    // has only one column.
    let mut parameters = object(run.remove("parameters"));
    parameters.retain(|name, _| names.iter().all(|(axis, _)| axis != name));
    Row {
        names,
        error: run.get("error").and_then(Value::as_str).map(str::to_owned),
        parameters,
        metrics: object(run.remove("metrics")),
        ..Row::default()
    }
}

/// The content for `destage reproduce`: the experiments of papers.
fn reproduction(fields: &mut Map<String, Value>) -> Content {
    let content = Content::new("reproduce", "The papers, reproduced").concluded(fields);
    content.with(
        fields,
        &[
            "date",
            "scale",
            "verdicts",
            "thresholds",
            "glossary",
            "claims",
            "papers",
            "readings",
            "figures",
        ],
    )
}

/// The content for `destage trace info`: the statistics of a trace.
fn trace(fields: &mut Map<String, Value>, manifest: &Value) -> Content {
    let name = text(&manifest["trace"]);
    let content = Content::new("trace", name).concluded(fields);
    let mut content = content.with(fields, &["volumes", "shape"]);
    let about = |name: &String| StatisticRow::all().find(|row| row.name == *name);
    let rows = object(fields.remove("statistics")).into_iter();
    let rows = rows.map(|(name, value)| {
        let (unit, about) = about(&name).map_or(("", ""), |row| (row.unit, row.about));
        json!([name, value, unit, about])
    });
    content.data["statistics"] = rows.collect();
    content
}

/// `run` as a row of a table. `record` is the same run in typed form.
fn row(run: Value, record: &Record) -> Row {
    let mut run = object(Some(run));
    Row {
        names: vec![
            ("trace".to_owned(), record.trace.as_str().into()),
            ("buffer".to_owned(), record.buffer.as_str().into()),
            (
                SIZE.to_owned(),
                record.capacity().map_or(Value::Null, Value::from),
            ),
            ("ftl".to_owned(), record.ftl.as_str().into()),
        ],
        parameters: object(run.remove("parameters")),
        metrics: object(run.remove("metrics")),
        error: run.get("error").and_then(Value::as_str).map(str::to_owned),
        ..Row::default()
    }
}

/// `explained` with rounded fractions, because a chart shows no more digits. The slowest requests are not rounded:
/// they are shown in a table, and their times of arrival need all digits.
fn shortened(mut explained: Value) -> Value {
    let fields = explained.as_object_mut();
    let worst = fields.and_then(|fields| fields.remove("worst"));
    let mut shorter = rounded(explained);
    if let Some(worst) = worst {
        shorter["worst"] = worst;
    }
    shorter
}

/// `value` with all fractions in it rounded to [`DIGITS`] significant digits.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap_or(0.0);
            if number == 0.0 || !number.is_finite() {
                return json!(0);
            }
            let digits = DIGITS - 1 - number.abs().log10().floor() as i32;
            let factor = 10_f64.powi(digits.clamp(-300, 300));
            let shorter = (number * factor).round() / factor;
            json!(if shorter.is_finite() { shorter } else { number })
        }
        Value::Array(items) => items.into_iter().map(rounded).collect(),
        Value::Object(fields) => {
            let fields = fields
                .into_iter()
                .map(|(name, value)| (name, rounded(value)));
            Value::Object(fields.collect())
        }
        other => other,
    }
}
