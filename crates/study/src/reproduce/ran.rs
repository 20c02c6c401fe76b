//! Describes the runs that a claim uses, and the commands that repeat these runs.

use std::collections::{BTreeMap, BTreeSet};

use super::values::times_as_large;
use crate::formula::Context;
use crate::rows::{Row, Rows, spoken};
use crate::shown::short;
use crate::{BASE, InputFacts, Scale, Study};
use destage_base::parameter::read_bytes;
use destage_sim::settings::kind_of;

/// The description of the runs that a claim uses with the settings of the paper and the first seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ran {
    /// The name of the experiment that contains the runs; `None` if the claim uses no runs.
    pub experiment: Option<String>,
    /// The inputs of the runs and their relations to the paper, in words.
    pub on: String,
    /// The inputs of the runs, each with its name in the study file.
    pub inputs: BTreeMap<InputFacts, String>,
    /// The number of runs, and their values on each axis: `2 runs: input uniform; buffer lru, fab; seed 1`. Empty
    /// if the claim uses no runs.
    pub runs: String,
    /// The scale of the runs, and how to execute them at the other scale, in sentences. Empty if the claim uses
    /// no runs.
    pub scale: String,
    /// The commands that repeat the runs. In a command, DIR stands for the path of a folder of traces, and FILE
    /// for the path of a trace.
    pub commands: Vec<Command>,
}

/// A command with its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The command as users type it.
    pub command: String,
    /// The effect of the command, as a clause without its subject: `reads the trace, ...`.
    pub does: String,
}

/// The order of the axes in a description of runs: first these axes, then parameters that a grid varies, and last
/// the seed.
const FIRST: [&str; 5] = ["input", "variant", "buffer", "size", "ftl"];
const LAST: &str = "seed";

/// The axes that have no effect on statistics of a trace.
const UNUSED: [&str; 3] = ["buffer", "size", "ftl"];

/// The labels of compared values that follow from the others or say nothing about the experiment.
const OF_LOAD: [&str; 4] = ["load", "stalls", "started", "seed"];

/// Parameters whose values are shown behind the name of a scheme or layer. Each entry has the axis, the
/// parameter, and the texts before and after the value.
const TOLD: [(&str, &str, [&str; 2]); 11] = [
    ("buffer", "buffer.alpha", ["alpha ", ""]),
    ("buffer", "buffer.lru_unit", ["evicts by ", ""]),
    (
        "buffer",
        "buffer.bpac_period",
        ["a period is ", " page writes"],
    ),
    (
        "buffer",
        "buffer.cflru_window",
        ["its window is ", " of the buffer"],
    ),
    (
        "buffer",
        "buffer.mqsim_filter_us",
        [
            "writes a page straight to flash if it was not written in the last ",
            " us",
        ],
    ),
    ("buffer", "buffer.ways", ["ways ", ""]),
    ("buffer", "buffer.idle_us", ["idle work after ", " us"]),
    (
        "buffer",
        "buffer.femu_watermark_percent",
        ["evicts from ", " % full"],
    ),
    ("ftl", "ftl.log_blocks", ["", " log blocks"]),
    ("ftl", "ftl.cmt_entries", ["", " map entries in RAM"]),
    (
        "ftl",
        "ftl.cache_percent",
        ["", " % of the blocks hold one bit in a cell"],
    ),
];

/// The columns of files of measurements, and the parameters, whose names need other words in a description: the name, and
/// the words.
const COLUMNS: [(&str, &str); 14] = [
    ("what", "quantity"),
    ("offered_writes_per_s", "writes offered a second"),
    ("used_gib", "space in use, in GiB:"),
    ("drive_writes", "data written, in capacities of the drive:"),
    ("run", "run of the measurement"),
    ("block_bytes", "request size"),
    ("iodepth", "queue depth"),
    ("flash.dies", "dies"),
    ("flash.page_bytes", "pages of"),
    ("flash.pages_per_block", "pages in a block"),
    ("host.queue_depth", "requests in the device, at most"),
    ("host.time_scale", "times of arrival multiplied by"),
    ("trace.flush_every_writes", "writes between flushes"),
    ("trace.array_members", "drives in the array"),
];

/// The values in files of measurements that need other words: the column, the value, and the words.
const MEASURED: [(&str, &str, &str); 6] = [
    ("use", "judge", "rows that the fit did not use"),
    ("use", "fit", "rows that the fit used"),
    ("what", "waf", "write amplification"),
    ("what", "wrandiops", "IOPS of random writes"),
    (
        "what",
        "saturated writes_per_s",
        "saturated rate in writes a second",
    ),
    ("what", "host_mib_per_s", "rate of the host in MiB/s"),
];

/// What is said of the scale if both scales have the same runs.
const WHOLE: &str = "No input is cut: the runs are those of the full scale.";

/// An open rule of a paper: the kind of the scheme or layer, the dotted name of the parameter that selects the
/// interpretation, and what each of its values says, as a clause.
pub(super) type OpenRule = (String, String, BTreeMap<String, String>);

/// The name of the scheme without a buffer. A run with this scheme has no buffer size.
const NONE: &str = "nocache";

/// Describes `runs` of `study`: their number, and their values on each axis. The values are in the order in which
/// the study has them; only sizes are in ascending order. If the paper's buffers have other sizes, those follow.
/// Each scheme or layer is followed by the values that select the interpretations of its open `rules`. If the
/// runs are not the full cross product of their values, the runs are divided into groups that are full cross
/// products, and the differences between the groups are described.
pub(super) fn listed(
    study: &Study,
    rows: &Rows,
    rules: &[OpenRule],
    runs: &BTreeSet<Context>,
) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let place = |axis: &&String| {
        let place = FIRST.iter().position(|name| *name == axis.as_str());
        (*axis == LAST, place.unwrap_or(FIRST.len()))
    };
    // Runs can have different axes, because two grids of a study can vary different parameters.
    let axes: BTreeSet<_> = runs.iter().flat_map(BTreeMap::keys).collect();
    let mut axes: Vec<_> = axes.into_iter().collect();
    axes.sort_by_key(place);
    // If all runs have the variant `base`, the variant is not shown.
    let is_own = |run: &Context| run.get("variant").is_some_and(|name| name == BASE);
    if runs.iter().all(is_own) {
        axes.retain(|axis| *axis != "variant");
    }
    let of_trace = is_of_trace(rows, runs);
    axes.retain(|axis| !of_trace || !UNUSED.contains(&axis.as_str()));
    let of_drive = is_of_drive(rows, runs);
    axes.retain(|axis| !of_drive || !OF_LOAD.contains(&axis.as_str()));
    let is_seedless = is_seedless(rows, runs);
    axes.retain(|axis| !is_seedless || *axis != LAST);
    let groups: Vec<_> = groups(&axes, runs)
        .iter()
        .map(|group| axes_of(study, (rows, rules), &axes, group))
        .collect();
    let what = match of_drive {
        true => "measured value",
        false => "run",
    };
    let count = match runs.len() {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let load = match of_trace {
        true => {
            "; counted over the trace alone, so buffer, layer and times play no part".to_owned()
        }
        false => {
            let start = start(rows, rules, runs);
            let pages = pages(rows, rules, runs);
            let around = around(rows, rules, runs);
            format!("{}{start}{pages}{around}", load(rows, runs))
        }
    };
    let load = match study.conditions() {
        "" => load,
        conditions => format!("{load}; {conditions}"),
    };
    // Values that all groups have in common are shown only once.
    let is_common = |said: &&String| groups.iter().all(|group| group.contains(said));
    let (common, own): (Vec<_>, Vec<_>) = groups
        .first()
        .into_iter()
        .flatten()
        .partition(|said| is_common(said));
    let common = common.into_iter().map(String::as_str).collect::<Vec<_>>();
    if own.is_empty() {
        let said = format!("{}{load}", common.join("; "));
        return match said.trim_start_matches("; ") {
            "" => count,
            said => format!("{count}: {said}"),
        };
    }
    let alone = groups.iter().map(|group| {
        let mut own = group.iter().filter(|said| !is_common(said));
        let first = own.next().map_or("", String::as_str);
        let rest: Vec<_> = own.map(String::as_str).collect();
        match rest.is_empty() {
            true => first.to_owned(),
            false => format!("{first} with {}", rest.join(" and ")),
        }
    });
    let alone: Vec<_> = alone.collect();
    format!(
        "{count}: {}{load}; some runs have {}",
        common.join("; "),
        several(&alone)
    )
}

/// Joins the descriptions of groups of runs to a clause: `a, others b, and others c`.
fn several(groups: &[String]) -> String {
    match groups {
        [front @ .., last] if !front.is_empty() => {
            format!("{}, and others {last}", front.join(", others "))
        }
        all => all.concat(),
    }
}

/// Whether all of `runs` are values of a profile that was compared with measurements.
fn is_of_drive(rows: &Rows, runs: &BTreeSet<Context>) -> bool {
    let mut of_runs = rows.all.iter().filter(|row| runs.contains(&row.labels));
    of_runs.all(|row| row.value("drive.measured").is_some())
}

/// Whether nothing in `runs` is drawn at random: they run recordings, and no page is written at random before them.
fn is_seedless(rows: &Rows, runs: &BTreeSet<Context>) -> bool {
    let mut of_runs = rows.all.iter().filter(|row| runs.contains(&row.labels));
    of_runs.all(|row| {
        let start = row.value("sim.precondition");
        let is_random = start.is_some_and(|start| {
            start
                .as_str()
                .is_some_and(|start| start.starts_with("random"))
        });
        row.input.role.is_recorded() && !is_random
    })
}

/// Whether the results of `runs` are only statistics of a trace, without a simulation.
fn is_of_trace(rows: &Rows, runs: &BTreeSet<Context>) -> bool {
    let mut of_runs = rows.all.iter().filter(|row| runs.contains(&row.labels));
    of_runs.all(|row| {
        let metrics = row.result.get("metrics").and_then(|all| all.as_object());
        let is_count = |all: &serde_json::Map<_, _>| {
            !all.is_empty() && all.keys().all(|name| name.starts_with("trace."))
        };
        !row.has_parameters() && metrics.is_some_and(is_count)
    })
}

/// Describes the number of dies, the page size, and how requests arrive in `runs`. Each description follows a
/// semicolon, and is omitted if the results do not contain the parameters.
fn load(rows: &Rows, runs: &BTreeSet<Context>) -> String {
    let of_runs = rows.all.iter().filter(|row| runs.contains(&row.labels));
    let (without, with): (Vec<_>, Vec<_>) = of_runs.partition(|row| row.is("ftl", "none"));
    // Without flash, no request takes time, so how requests arrive is not described.
    if with.is_empty() && !without.is_empty() {
        let of_all = |parameter: &str| common_value(&without, parameter);
        let page =
            of_all("flash.page_bytes").map(|page| format!("pages of {}", spoken("size", &page)));
        let block = of_all("flash.pages_per_block").map(|pages| format!("blocks of {pages} pages"));
        let sizes: Vec<_> = page.into_iter().chain(block).collect();
        let sizes = match sizes.is_empty() {
            true => String::new(),
            false => format!(" ({})", sizes.join(", ")),
        };
        return format!("; no flash below the buffer{sizes}, so times play no part");
    }
    let of_all = |parameter: &str| common_value(&with, parameter);
    let flash = match (of_all("flash.dies"), of_all("flash.page_bytes")) {
        (Some(dies), Some(page)) => {
            let ending = if dies == "1" { "" } else { "s" };
            let channels = of_all("flash.channels").filter(|count| count != "auto");
            let channels = channels.map(|count| match count.as_str() {
                "1" => " on one channel".to_owned(),
                count => format!(" on {count} channels"),
            });
            format!(
                "; {dies} die{ending}{} with pages of {}",
                channels.unwrap_or_default(),
                spoken("size", &page)
            )
        }
        (None, Some(page)) => format!("; pages of {}", spoken("size", &page)),
        (Some(dies), None) => format!("; {dies} dies"),
        (None, None) => String::new(),
    };
    let flash = format!("{flash}{}", device(&with));
    let counts = |row: &&Row| {
        row.value("sim.costing")
            .is_some_and(|kind| kind == "op_count")
    };
    if !with.is_empty() && with.iter().all(counts) {
        return format!(
            "{flash}; costs from counts of operations, so that the times of arrival play no part"
        );
    }
    let depth = of_all("host.queue_depth");
    let [most, of] = match &depth {
        Some(depth) => [
            format!(", at most {depth} in the device"),
            format!(" of {depth}"),
        ],
        None => [String::new(), String::new()],
    };
    let open = format!("open loop (requests come at their own times{most})");
    let closed = format!(
        "closed loop{of} (a request comes when another has ended, whatever its time in the input)"
    );
    let kinds: BTreeSet<_> = with
        .iter()
        .map(|row| row.value("host.replay").and_then(|kind| kind.as_str()))
        .collect();
    match kinds.into_iter().collect::<Vec<_>>().as_slice() {
        [Some("trace")] => format!("{flash}; {open}"),
        [Some("closed")] => format!("{flash}; {closed}"),
        [Some("closed"), Some("trace")] => {
            let of = |kind: &str| {
                let own = with
                    .iter()
                    .filter(|row| row.value("host.replay").is_some_and(|own| own == kind));
                own.filter_map(|row| row.labels.get("input"))
                    .collect::<BTreeSet<_>>()
            };
            let (open_of, closed_of) = (of("trace"), of("closed"));
            let names = |inputs: BTreeSet<_>| {
                super::reason::listed(&inputs.into_iter().collect::<Vec<_>>())
            };
            match open_of.is_disjoint(&closed_of) && !open_of.is_empty() {
                true => format!(
                    "{flash}; input {}: {open}; input {}: {closed}",
                    names(open_of),
                    names(closed_of)
                ),
                false => format!("{flash}; {open} in some runs and {closed} in others"),
            }
        }
        _ => flash,
    }
}

/// What the flash holds before the first request of `runs`, after a semicolon. Empty if that is one of the open `rules`, or
/// not the same in all runs with flash.
fn start(rows: &Rows, rules: &[OpenRule], runs: &BTreeSet<Context>) -> String {
    const START: &str = "sim.precondition";
    let of_runs = rows.all.iter().filter(|row| runs.contains(&row.labels));
    let with: Vec<_> = of_runs.filter(|row| !row.is("ftl", "none")).collect();
    let is_open = rules.iter().any(|(_, parameter, _)| parameter == START);
    let value = common_value(&with, START).filter(|_| !is_open);
    let said = match value.as_deref() {
        None => return String::new(),
        Some("none") => "the flash is empty at the start".to_owned(),
        Some("sequential_fill") => "at the start every page was written once, in order".to_owned(),
        Some(fill) => {
            let Some(times) = fill.strip_prefix("random_fill:") else {
                return String::new();
            };
            let many = match times {
                "1" => "as many".to_owned(),
                times => format!("{times} times as many"),
            };
            format!("at the start every page was written once, in order, and then {many} at random")
        }
    };
    format!("; {said}")
}

/// What happens to a page that a request touches in part, for each value of `trace.align`.
const ALIGN: [(&str, &str); 3] = [
    (
        "cover",
        "a page that a request touches in part counts as a whole page",
    ),
    (
        "nearest",
        "a request begins at the page of its first byte, and its size is rounded to the nearest number of pages, at least one",
    ),
    (
        "rmw",
        "a page that a request writes in part is read first, and written as a whole",
    ),
];

/// What `runs` do with pages that a request touches in part, and what the buffer holds at the start and at the end. Each
/// follows a semicolon. It is left out if it is one of the open `rules`, or not the same in all runs with a buffer.
fn pages(rows: &Rows, rules: &[OpenRule], runs: &BTreeSet<Context>) -> String {
    let of_runs = rows.all.iter().filter(|row| runs.contains(&row.labels));
    let with: Vec<_> = of_runs.filter(|row| !is_none(&row.labels)).collect();
    let value = |parameter: &str| {
        let is_open = rules.iter().any(|(_, open, _)| open == parameter);
        common_value(&with, parameter).filter(|_| !is_open)
    };
    let align = value("trace.align").and_then(|value| aligned(&value));
    let start = value("sim.warmup_requests").filter(|before| before == "0");
    let start = start.map(|_| "the buffer is empty at the start".to_owned());
    let end = value("sim.drain").map(|drained| {
        let most = held(&with).map(|pages| format!(" (up to {pages} pages)"));
        let held = format!(
            "what the buffer holds at the end{}",
            most.unwrap_or_default()
        );
        match drained.as_str() {
            "true" => format!("{held} is written out"),
            _ => format!("{held} stays there"),
        }
    });
    let said = align.map(str::to_owned).into_iter().chain(start).chain(end);
    said.map(|clause| format!("; {clause}")).collect()
}

/// The clause of [`ALIGN`] for `value`.
fn aligned(value: &str) -> Option<&'static str> {
    let own = ALIGN.iter().find(|(name, _)| *name == value);
    own.map(|(_, clause)| *clause)
}

/// The number of pages that the buffer holds, if it is the same in all `rows`.
fn held(rows: &[&Row]) -> Option<String> {
    let sizes: BTreeSet<_> = rows.iter().map(|row| row.labels.get("size")).collect();
    let [Some(size)] = sizes.into_iter().collect::<Vec<_>>()[..] else {
        return None;
    };
    let page = mapped(rows).or_else(|| common_value(rows, "flash.page_bytes")?.parse().ok())?;
    Some(grouped(&(read_bytes(size)? / page).to_string()))
}

/// The bytes of a unit of the mapping, if a page of flash holds several of them.
fn mapped(rows: &[&Row]) -> Option<u64> {
    let unit: u64 = common_value(rows, "ftl.map_unit_bytes")?.parse().ok()?;
    (unit > 0).then_some(unit)
}

/// The readings of the open `rules` that are no parameters of a scheme or layer, such as what the flash holds at the
/// start, for `runs`. Each follows a semicolon. A rule is omitted if no scheme or layer of `runs` has it, or if it has
/// several values in `runs`.
fn around(rows: &Rows, rules: &[OpenRule], runs: &BTreeSet<Context>) -> String {
    let of_runs = || rows.all.iter().filter(|row| runs.contains(&row.labels));
    let has = |row: &&Row, kind: &str| row.kinds().any(|own| own == kind);
    let outside = rules.iter().filter(|(_, parameter, _)| {
        !parameter.starts_with("buffer.") && !parameter.starts_with("ftl.")
    });
    let said = outside.filter_map(|(kind, parameter, says)| {
        let own: Vec<_> = of_runs().filter(|row| has(row, kind)).collect();
        let value = common_value(&own, parameter)?;
        Some(match says.get(&value) {
            Some(clause) => format!("; {clause}"),
            None => format!("; {} {value}", without_section(parameter).replace('_', " ")),
        })
    });
    said.collect()
}

/// The size, the geometry and the times of the flash of `rows`, in brackets after a space. What is not the same in all
/// `rows`, or is varied by a grid, is left out.
fn device(rows: &[&Row]) -> String {
    let number = |parameter: &str| common_value(rows, parameter)?.parse::<f64>().ok();
    let time = |parameter: &str| Some(short(&number(parameter)?.into()));
    let (pages, page) = (number("flash.pages_per_block"), number("flash.page_bytes"));
    let whole = || {
        let counts = [
            "flash.dies",
            "flash.planes_per_die",
            "flash.blocks_per_plane",
        ]
        .map(number);
        let [planes, blocks] = [counts[1]?, counts[2]?];
        let of_die = planes * blocks * pages? * page?;
        let said = |bytes: f64| spoken("size", &format!("{}", bytes as u64));
        Some(match counts[0] {
            Some(dies) => said(dies * of_die),
            None => format!("{} a die", said(of_die)),
        })
    };
    let transfer = || {
        let of_byte = number("flash.transfer_ns_per_byte")?;
        Some(match page {
            _ if of_byte == 0.0 => String::new(),
            Some(page) => format!(
                " and {} us to transfer",
                short(&(of_byte * page / 1000.0).into())
            ),
            None => format!(" and {} ns a byte to transfer", short(&of_byte.into())),
        })
    };
    // The time of a read or program, or those of the types of page.
    let by_type = |one: &str, types: &str| {
        let types = common_value(rows, types).filter(|types| !types.is_empty());
        Some(match types {
            Some(types) => format!("{} us (by type of page)", types.replace('/', ", ")),
            None => format!("{} us", time(one)?),
        })
    };
    let times = || {
        let read = by_type("flash.read_us", "flash.read_times_us")?;
        let program = by_type("flash.program_us", "flash.program_times_us")?;
        let transfer = transfer()?;
        let (and, behind) = match transfer.is_empty() {
            true => (" and", ", transfer included"),
            false => (",", ""),
        };
        Some(format!(
            "a page takes {read} to read{and} {program} to program{transfer}{behind}, a block {} us to erase",
            time("flash.erase_us")?
        ))
    };
    let blocks = pages.map(|pages| format!("blocks of {pages} pages"));
    let unit = number("flash.program_unit").filter(|unit| *unit > 1.0);
    let unit = unit.map(|unit| format!("{unit} pages are programmed together, in the time of one"));
    let mapped = mapped(rows).zip(page);
    let mapped = mapped.map(|(unit, page)| {
        format!(
            "each page of flash holds {} pages of {}, in which requests, buffer, map and programs are counted",
            page as u64 / unit,
            spoken("size", &unit.to_string())
        )
    });
    let reserve = number("ftl.reserve_percent").filter(|percent| *percent > 0.0);
    let reserve = reserve.map(|percent| format!("{} % of it in reserve", short(&percent.into())));
    let parts: Vec<_> = [whole(), reserve, blocks, mapped, times(), unit]
        .into_iter()
        .flatten()
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(" ({})", parts.join("; ")),
    }
}

/// The value of `parameter` if it is the same in all `rows` and no grid varies the parameter; otherwise `None`.
fn common_value(rows: &[&Row], parameter: &str) -> Option<String> {
    if rows.iter().any(|row| row.labels.contains_key(parameter)) {
        return None;
    }
    let values: BTreeSet<_> = rows
        .iter()
        .map(|row| row.value(parameter).map(short))
        .collect();
    match values.into_iter().collect::<Vec<_>>().as_slice() {
        [only] => only.clone(),
        _ => None,
    }
}

/// The name of `parameter` without the section: `alpha` for `buffer.alpha`.
pub(super) fn without_section(parameter: &str) -> &str {
    parameter
        .rsplit_once('.')
        .map_or(parameter, |(_, name)| name)
}

/// `value`, which is a label of `axis`, followed by values of parameters in brackets. The parameters are those in
/// [`TOLD`] and those of the open `rules`. A parameter is omitted if `value` sets it, if a grid varies it, or if
/// it has different values in `runs`.
fn told(
    (study, rows, rules): (&Study, &Rows, &[OpenRule]),
    runs: &BTreeSet<Context>,
    axis: &str,
    value: &str,
) -> String {
    let of_axis = TOLD.into_iter().filter(|(of, _, _)| *of == axis);
    let declared = of_axis.map(|(_, parameter, around)| (parameter, around.map(str::to_owned)));
    let kind = kind_of(value);
    // A rule of the host or of the whole simulation is no parameter of the scheme or layer.
    let section = format!("{axis}.");
    let own = rules.iter().filter(|(of, _, _)| of == kind);
    let own = own.filter(|(_, parameter, _)| parameter.starts_with(&section));
    let own = own.map(|(_, parameter, _)| {
        let before = format!("{} ", without_section(parameter));
        (parameter.as_str(), [before, String::new()])
    });
    let has = |row: &&Row| {
        runs.contains(&row.labels) && row.labels.get(axis).is_some_and(|own| own == value)
    };
    let of_value: Vec<_> = rows.all.iter().filter(has).collect();
    let said = declared
        .chain(own)
        .filter(|(parameter, _)| !value.contains(&format!("{}=", without_section(parameter))))
        .filter_map(|(parameter, [before, behind])| {
            let only = common_value(&of_value, parameter)?;
            Some(format!("{before}{only}{behind}"))
        });
    let is_cut = axis == "input" && study.takes_writes_only(value);
    let length = (axis == "input")
        .then(|| length(&of_value, is_cut))
        .flatten();
    let reads = is_cut.then(|| "its reads are left out".to_owned());
    let said: Vec<_> = said.chain(length).chain(reads).collect();
    match said.is_empty() {
        true => value.to_owned(),
        false => format!("{value} ({})", said.join(", ")),
    }
}

/// How many requests the runs of `rows` have, and how many pages these requests write and read. A number that is not
/// the same in all `rows` is omitted; `None` if there is no number. `are_writes` says that the runs read only the writes of
/// their input.
fn length(rows: &[&Row], are_writes: bool) -> Option<String> {
    let of = |name: &str| Some(grouped(&common_value(rows, name)?));
    let before = of("sim.warmup_requests").filter(|before| before != "0");
    let counted = of("host.requests").or_else(|| of("trace.requests"));
    let what = if are_writes { "writes" } else { "requests" };
    let requests = counted.map(|requests| match &before {
        Some(before) => format!("{requests} {what}, after {before} that are not counted"),
        None => format!("{requests} {what}"),
    });
    let counts = [
        ("host.page_writes", "trace.written_pages"),
        ("host.page_reads", "trace.read_pages"),
    ];
    let [writes, reads] = counts.map(|(of_run, of_trace)| of(of_run).or_else(|| of(of_trace)));
    let pages = writes
        .zip(reads)
        .map(|(writes, reads)| match reads.as_str() {
            "0" => format!("{writes} pages written"),
            _ => format!("{writes} pages written and {reads} read"),
        });
    let said: Vec<_> = requests.into_iter().chain(pages).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// The digits of a whole number in groups of three, with spaces between them. Four digits are one group.
fn grouped(digits: &str) -> String {
    if digits.len() <= 4 {
        return digits.to_owned();
    }
    let first = (digits.len() - 1) % 3 + 1;
    let (front, rest) = digits.split_at(first);
    let rest = rest
        .as_bytes()
        .chunks(3)
        .map(|group| String::from_utf8_lossy(group));
    let rest: Vec<_> = rest.collect();
    format!("{front} {}", rest.join(" "))
}

/// Whether `run` has no buffer.
fn is_none(run: &Context) -> bool {
    run.get("buffer").is_some_and(|scheme| scheme == NONE)
}

/// Divides `runs` into groups that are full cross products of their values on `axes`. The runs are divided by
/// their values on a single axis. The function chooses the axis that gives the fewest groups. If no axis gives
/// such groups, all runs are one group.
fn groups(axes: &[&String], runs: &BTreeSet<Context>) -> Vec<BTreeSet<Context>> {
    let is_whole = |group: &BTreeSet<Context>| {
        // Runs without a buffer have no buffer size, so a cross product is tested separately for runs without and
        // with a buffer.
        let (none, some): (Vec<_>, Vec<_>) = group.iter().partition(|run| is_none(run));
        [none, some].iter().all(|part| {
            let counts = axes.iter().map(|axis| {
                let values: BTreeSet<_> = part.iter().map(|run| run.get(*axis)).collect();
                values.len()
            });
            counts.product::<usize>() == part.len() || part.is_empty()
        })
    };
    if is_whole(runs) {
        return vec![runs.clone()];
    }
    let by = |axis: &&String| {
        // Two values of `axis` are in one group if their runs have the same labels on all other axes.
        let mut rest: BTreeMap<BTreeSet<Context>, BTreeSet<Context>> = BTreeMap::new();
        let values: BTreeSet<_> = runs.iter().map(|run| run.get(*axis)).collect();
        for value in values {
            let has = runs.iter().filter(|run| run.get(*axis) == value);
            let without = has.clone().map(|run| {
                let mut others = run.clone();
                others.remove(*axis);
                others
            });
            rest.entry(without.collect())
                .or_default()
                .extend(has.cloned());
        }
        let groups: Vec<_> = rest.into_values().collect();
        groups.iter().all(is_whole).then_some(groups)
    };
    let all = axes.iter().filter_map(by);
    let fewest = all.min_by_key(Vec::len);
    fewest.unwrap_or_else(|| vec![runs.clone()])
}

/// A text for each of `axes` with the values that `runs` have on it.
fn axes_of(
    study: &Study,
    (rows, rules): (&Rows, &[OpenRule]),
    axes: &[&String],
    runs: &BTreeSet<Context>,
) -> Vec<String> {
    let values = |axis: &&String| {
        let axis = *axis;
        let has = |run: &Context, value: &String| run.get(axis) == Some(value);
        let all = rows.values_of(axis, &Context::new()).into_iter();
        match axis.as_str() {
            "size" => {
                let buffers = runs.iter().filter(|run| !is_none(run));
                let sizes: BTreeSet<u64> = buffers
                    .filter_map(|run| read_bytes(run.get(axis)?))
                    .collect();
                let said = |times: f64| {
                    let each = sizes.iter().map(|size| times_as_large(*size, times));
                    let all: Vec<_> = each.map(|size| spoken(axis, &size.to_string())).collect();
                    all.join(", ")
                };
                let times = shrunk(study, runs);
                let of_paper =
                    times.map(|times| format!(" for the paper's {}, in proportion", said(times)));
                (!sizes.is_empty())
                    .then(|| format!("size {}{}", said(1.0), of_paper.unwrap_or_default()))
            }
            "buffer" => {
                let some: Vec<_> = all
                    .filter(|value| value != NONE && runs.iter().any(|run| has(run, value)))
                    .map(|value| told((study, rows, rules), runs, axis, &value))
                    .collect();
                let none = runs.iter().any(is_none);
                match (some.is_empty(), none) {
                    (true, _) => none.then(|| "no buffer".to_owned()),
                    (false, true) => Some(format!("no buffer, or buffer {}", some.join(", "))),
                    (false, false) => Some(format!("buffer {}", some.join(", "))),
                }
            }
            _ => {
                let some: Vec<_> = all
                    .filter(|value| !value.is_empty() && runs.iter().any(|run| has(run, value)))
                    .map(|value| measured(axis, told((study, rows, rules), runs, axis, &value)))
                    .collect();
                let said = range(&some).unwrap_or_else(|| some.join(", "));
                (!some.is_empty()).then(|| format!("{}{said}", column(axis)))
            }
        }
    };
    axes.iter().filter_map(values).collect()
}

/// What precedes the values of `axis` in a description: its name, or the words of [`COLUMNS`], and a space. The values of
/// the column `use` are clauses that need no name.
fn column(axis: &str) -> String {
    let words = COLUMNS.into_iter().find(|(name, _)| *name == axis);
    match axis {
        "use" | "trace.align" => String::new(),
        _ => format!("{} ", words.map_or(axis, |(_, words)| words)),
    }
}

/// `value` of `axis`, or the words of [`MEASURED`] or [`ALIGN`] for it.
fn measured(axis: &str, value: String) -> String {
    match axis {
        "trace.align" => {
            if let Some(clause) = aligned(&value) {
                return format!("{clause} ({value})");
            }
        }
        "flash.page_bytes" => return spoken("size", &value),
        _ => {}
    }
    let is_it = |(of, own, _): &(&str, &str, &str)| *of == axis && *own == value;
    let words = MEASURED.into_iter().find(is_it);
    words.map_or(value, |(_, _, words)| words.to_owned())
}

/// The count and the range of `values`, if they are more numbers than a reader would read one by one.
fn range(values: &[String]) -> Option<String> {
    const MANY: usize = 12;
    let numbers: Vec<f64> = values
        .iter()
        .map_while(|value| value.parse().ok())
        .collect();
    if values.len() <= MANY || numbers.len() < values.len() {
        return None;
    }
    let [least, most] = [f64::min, f64::max].map(|of| numbers.iter().copied().reduce(of));
    let [least, most] = [least?, most?].map(|number| short(&number.into()));
    Some(format!("({} values from {least} to {most})", values.len()))
}

/// Describes the scale at which `runs` of `study` were executed, and how to execute them at the other scale. [`WHOLE`] if
/// both scales have the same runs.
pub(super) fn scaled(study: &Study, scale: Scale, runs: &BTreeSet<Context>) -> String {
    let inputs: BTreeSet<_> = runs.iter().filter_map(|run| run.get("input")).collect();
    let cut = inputs
        .into_iter()
        .filter_map(|input| Some((input, study.reduced(input)?)));
    let cut: Vec<_> = cut
        .map(|(input, requests)| match study.is_measured(input) {
            true => format!("{requests} requests for each load of {input}"),
            false => {
                let of = study.whole(input);
                let of = of.map_or(String::new(), |whole| {
                    format!(" (at the full scale at most {whole})")
                });
                format!("the first {requests} requests of {input}{of}")
            }
        })
        .collect();
    let made = format!("Made at the {} scale", scale.name());
    let other = scale.other().name();
    match (cut.is_empty(), scale) {
        (true, _) => WHOLE.to_owned(),
        (false, Scale::Reduced) => format!(
            "{made}: {}. With --scale {other} behind the command the input is run at its full scale.",
            cut.join(", ")
        ),
        (false, Scale::Full) => format!(
            "{made}. With --scale {other} only {} are run.",
            cut.join(", ")
        ),
    }
}

/// The paper's buffer size divided by the buffer size of `runs`. `None` if the study declares no such factor for
/// an input of `runs`, or different factors for two inputs.
pub(super) fn shrunk(study: &Study, runs: &BTreeSet<Context>) -> Option<f64> {
    let mut all = runs
        .iter()
        .map(|run| study.shrunk(run.get("input").map_or("", String::as_str)));
    let first = all.next()??;
    all.all(|times| times == Some(first)).then_some(first)
}

/// The commands that repeat the runs of `experiment` of `paper` at `scale`. The runs have the inputs `inputs`, or
/// cannot be executed because the trace `missing` was not found. If the paper has open rules (`has_rules`), a
/// second command judges all claims of the paper under every combination of their interpretations.
pub(super) fn commands(
    (paper, experiment): (&str, &str),
    inputs: &BTreeSet<InputFacts>,
    missing: Option<&str>,
    (scale, has_rules, counts_only): (Scale, bool, bool),
) -> Vec<Command> {
    let is_read = inputs.iter().any(|input| input.digest.is_some());
    let traces = match missing {
        Some(trace) => format!(" --trace {trace}=FILE"),
        None if is_read => " --traces DIR".to_owned(),
        None => String::new(),
    };
    let scale = match scale {
        Scale::Reduced => "",
        Scale::Full => " --scale full",
    };
    let with = |what: &str, does: &str| Command {
        command: format!("destage reproduce {what}{traces}{scale}"),
        does: does.to_owned(),
    };
    let mut all = vec![with(
        &format!("{paper}/{experiment}"),
        match missing {
            Some(_) if counts_only => {
                "reads the trace, counts its requests and pages, and judges the claim on them"
            }
            Some(_) => "reads the trace, simulates the runs, and judges the claim on them",
            None => "simulates these runs again, and judges the claim on them",
        },
    )];
    if has_rules {
        all.push(with(
            paper,
            "also tries every combination of the rules that the paper leaves open",
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::Role;

    fn labels(of: &[(&str, &str)]) -> Context {
        let owned = of
            .iter()
            .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()));
        owned.collect()
    }

    fn input(digest: Option<&str>) -> InputFacts {
        InputFacts {
            name: "made".to_owned(),
            digest: digest.map(str::to_owned),
            role: Role::Made,
            differs: String::new(),
        }
    }

    #[test]
    fn many_numbers_are_given_as_a_range() {
        let numbers = |count: u32| (0..count).map(|number| format!("{number}.5"));
        assert_eq!(range(&numbers(12).collect::<Vec<_>>()), None);
        let many: Vec<_> = numbers(13).collect();
        assert_eq!(range(&many).unwrap(), "(13 values from 0.5 to 12.5)");
        let named: Vec<_> = many.into_iter().chain(["none".to_owned()]).collect();
        assert_eq!(range(&named), None);
    }

    #[test]
    fn runs_are_listed_by_axis_in_the_order_of_the_study() {
        let run = |variant: &str, buffer: &str, size: &str| {
            labels(&[
                ("buffer", buffer),
                ("input", "made"),
                ("seed", "1"),
                ("size", size),
                ("variant", variant),
            ])
        };
        let all = [
            run(BASE, "lru", "134217728"),
            run(BASE, "lru", "8388608"),
            run("slow", "lru", "8388608"),
            run(BASE, "nocache", "4194304"),
        ];
        let rows = Rows {
            all: all
                .iter()
                .map(|labels| Row {
                    labels: labels.clone(),
                    input: input(None),
                    result: Arc::new(json!({ "parameters": { "host.replay": "trace" } })),
                })
                .collect(),
            ..Rows::default()
        };
        let study = |shrunk: &str| {
            let text = format!(
                "title = 't'\n[[input]]\nname = 'made'\ntrace = 'f'\nstands_for = 'g'\ndiffers = 'A part.'\n{shrunk}\n[[grid]]\n"
            );
            Study::parse("s", &text, "s.toml", "".into()).unwrap()
        };
        let listed = |of: &[usize], shrunk: &str| {
            let runs = of.iter().map(|index| all[*index].clone()).collect();
            listed(&study(shrunk), &rows, &[], &runs)
        };
        // Sizes are shown in ascending order, although the runs have another order. No size is shown for the
        // scheme without a buffer.
        for (of, said) in [
            (
                &[0, 1][..],
                "2 runs: input made; buffer lru; size 8 MiB, 128 MiB; seed 1; open loop (requests come at their own times)",
            ),
            (
                &[2],
                "1 run: input made; variant slow; buffer lru; size 8 MiB; seed 1; open loop (requests come at their own times)",
            ),
            (
                &[3],
                "1 run: input made; no buffer; seed 1; open loop (requests come at their own times)",
            ),
            (
                &[1, 3],
                "2 runs: input made; no buffer, or buffer lru; size 8 MiB; seed 1; open loop (requests come at their own times)",
            ),
            (&[], ""),
        ] {
            assert_eq!(listed(of, ""), said);
        }
        // These two runs are not a full cross product of their values, so the description has two groups.
        assert_eq!(
            listed(&[0, 2], ""),
            "2 runs: input made; buffer lru; seed 1; open loop (requests come at their own times); some runs have variant base with size 128 MiB, and others variant slow with size 8 MiB"
        );
        assert_eq!(
            listed(&[0, 1], "buffers_shrunk = 4"),
            "2 runs: input made; buffer lru; size 8 MiB, 128 MiB for the paper's 32 MiB, 512 MiB, in proportion; seed 1; open loop (requests come at their own times)"
        );
    }

    /// The description of runs contains the parameters of a scheme or layer in `TOLD` and in `rules`, and how
    /// requests arrive.
    #[test]
    fn settings_that_matter_stand_beside_a_scheme() {
        let study = Study::parse(
            "s",
            "title = 't'\n[[input]]\nname = 'made'\npages = '1'\n[[grid]]\n",
            "s.toml",
            "".into(),
        );
        let study = study.unwrap();
        let rules = [(
            "bpac".to_owned(),
            "buffer.cover".to_owned(),
            BTreeMap::new(),
        )];
        let said = |runs: &[(&str, &str, Value)]| {
            let row = |(buffer, ftl, result): &(&str, &str, Value)| Row {
                labels: labels(&[("buffer", buffer), ("ftl", ftl)]),
                input: input(None),
                result: Arc::new(result.clone()),
            };
            let rows = Rows {
                all: runs.iter().map(row).collect(),
                ..Rows::default()
            };
            let runs = rows.all.iter().map(|row| row.labels.clone()).collect();
            listed(&study, &rows, &rules, &runs)
        };
        let with = |parameters: Value| json!({ "parameters": parameters });
        let clc =
            with(json!({ "buffer.alpha": 0.1, "ftl.log_blocks": 50, "host.replay": "trace" }));
        let bpac =
            with(json!({ "buffer.cover": 0.9, "ftl.log_blocks": 50, "host.replay": "trace" }));
        assert_eq!(
            said(&[("clc", "bast", clc.clone()), ("bpac", "bast", bpac.clone())]),
            "2 runs: buffer clc (alpha 0.1), bpac (cover 0.9); ftl bast (50 log blocks); open loop (requests come at their own times)"
        );
        assert_eq!(
            said(&[("clc:alpha=0.1", "none", clc)]),
            "1 run: buffer clc:alpha=0.1; ftl none (50 log blocks); no flash below the buffer, so times play no part"
        );
        let device = with(
            json!({ "flash.dies": 48, "flash.page_bytes": 4096, "host.queue_depth": 20, "host.replay": "closed" }),
        );
        assert_eq!(
            said(&[("lru", "page", device)]),
            "1 run: buffer lru; ftl page; 48 dies with pages of 4 KiB; closed loop of 20 (a request comes when another has ended, whatever its time in the input)"
        );
        let counted = with(json!({ "host.replay": "trace", "sim.costing": "op_count" }));
        assert_eq!(
            said(&[("lru", "bast", counted)]),
            "1 run: buffer lru; ftl bast; costs from counts of operations, so that the times of arrival play no part"
        );
        let closed = with(json!({ "host.replay": "closed" }));
        assert_eq!(
            said(&[("lru", "bast", closed), ("bpac", "bast", bpac)]),
            "2 runs: buffer lru, bpac (cover 0.9); ftl bast; open loop (requests come at their own times) in some runs and closed loop (a request comes when another has ended, whatever its time in the input) in others"
        );
        assert_eq!(
            said(&[("lru", "bast", json!({ "metrics": { "trace.writes": 1 } }))]),
            "1 run: counted over the trace alone, so buffer, layer and times play no part"
        );
    }

    /// An input is followed by the numbers of its requests and pages, unless runs differ in them.
    #[test]
    fn an_input_is_shown_with_its_length() {
        let run = |buffer: &str, (requests, writes, reads): (u32, u32, u32)| {
            let counts = json!({ "host.requests": requests, "host.page_writes": writes, "host.page_reads": reads });
            Row {
                labels: labels(&[("input", "made"), ("buffer", buffer)]),
                input: input(None),
                result: Arc::new(json!({ "metrics": counts })),
            }
        };
        let said = |all: Vec<Row>| {
            let runs = all.iter().map(|row| row.labels.clone()).collect();
            let rows = Rows {
                all,
                ..Rows::default()
            };
            let study = "title = 't'\n[[input]]\nname = 'made'\npages = '1'\n[[grid]]\n";
            let study = Study::parse("s", study, "s.toml", "".into()).unwrap();
            listed(&study, &rows, &[], &runs)
        };
        assert_eq!(
            said(vec![run("lru", (3, 5, 0)), run("fab", (3, 5, 0))]),
            "2 runs: input made (3 requests, 5 pages written); buffer lru, fab"
        );
        assert_eq!(
            said(vec![run("lru", (3, 5, 2))]),
            "1 run: input made (3 requests, 5 pages written and 2 read); buffer lru"
        );
        assert_eq!(
            said(vec![run("lru", (3, 5, 0)), run("fab", (3, 6, 0))]),
            "2 runs: input made (3 requests); buffer lru, fab"
        );
        assert_eq!(
            said(vec![run("lru", (3, 5, 0)), run("fab", (4, 5, 0))]),
            "2 runs: input made (5 pages written); buffer lru, fab"
        );
        assert_eq!(
            ["7", "5923", "65536", "123456", "1000000"].map(grouped),
            ["7", "5923", "65 536", "123 456", "1 000 000"]
        );
    }

    /// A seed is shown only if something is drawn at random. What happens to pages is said.
    #[test]
    fn a_row_says_what_happens_to_pages_and_whether_the_seed_matters() {
        let said = |role, parameters: Value| {
            let row = Row {
                labels: labels(&[("input", "made"), ("buffer", "femu"), ("seed", "1")]),
                input: InputFacts {
                    role,
                    ..input(None)
                },
                result: Arc::new(
                    json!({ "parameters": parameters, "metrics": { "host.requests": 5 } }),
                ),
            };
            let runs = BTreeSet::from([row.labels.clone()]);
            let rows = Rows {
                all: vec![row],
                ..Rows::default()
            };
            let study = "title = 't'\n[[input]]\nname = 'made'\nwrites_only = true\npages = '1'\n[[grid]]\n";
            let study = Study::parse("s", study, "s.toml", "".into()).unwrap();
            listed(&study, &rows, &[], &runs)
        };
        assert_eq!(
            said(
                Role::Original,
                json!({ "sim.drain": false, "trace.align": "cover" })
            ),
            "1 run: input made (5 writes, its reads are left out); buffer femu; a page that a request touches in part counts as a whole page; what the buffer holds at the end stays there"
        );
        assert_eq!(
            said(
                Role::Original,
                json!({ "sim.precondition": "random_fill:1", "sim.drain": true, "sim.warmup_requests": 7, "buffer.femu_watermark_percent": 90 })
            ),
            "1 run: input made (5 writes, after 7 that are not counted, its reads are left out); buffer femu (evicts from 90 % full); seed 1; at the start every page was written once, in order, and then as many at random; what the buffer holds at the end is written out"
        );
        assert!(said(Role::StandIn, json!({})).ends_with("; seed 1"));
    }

    #[test]
    fn columns_of_measurements_have_words() {
        assert_eq!(column("use"), "");
        assert_eq!(column("iodepth"), "queue depth ");
        assert_eq!(column("pattern"), "pattern ");
        assert_eq!(measured("what", "waf".to_owned()), "write amplification");
        assert_eq!(measured("pattern", "waf".to_owned()), "waf");
        assert_eq!(
            measured("use", "judge".to_owned()),
            "rows that the fit did not use"
        );
    }

    #[test]
    fn groups_of_runs_are_told_apart() {
        let said = |groups: &[&str]| {
            let groups: Vec<_> = groups.iter().map(|group| (*group).to_owned()).collect();
            several(&groups)
        };
        assert_eq!(said(&["a"]), "a");
        assert_eq!(said(&["a", "b"]), "a, and others b");
        assert_eq!(said(&["a", "b", "c"]), "a, others b, and others c");
    }

    #[test]
    fn a_row_says_at_which_scale_its_runs_were_made() {
        let scaled = |limits: &str, scale| {
            let text =
                format!("title = 't'\n[[input]]\nname = 'made'\npages = '1'\n{limits}\n[[grid]]\n");
            let study = Study::parse("s", &text, "s.toml", "".into()).unwrap();
            scaled(
                &study,
                scale,
                &BTreeSet::from([labels(&[("input", "made")])]),
            )
        };
        for (limits, scale, said) in [
            ("", Scale::Reduced, WHOLE),
            ("limit = 5\nreduced_limit = 5", Scale::Full, WHOLE),
            (
                "limit = 50\nreduced_limit = 5",
                Scale::Reduced,
                "Made at the reduced scale: the first 5 requests of made (at the full scale at most 50 requests). With --scale full behind the command the input is run at its full scale.",
            ),
            (
                "reduced_limit = 5",
                Scale::Reduced,
                "Made at the reduced scale: the first 5 requests of made. With --scale full behind the command the input is run at its full scale.",
            ),
            (
                "reduced_limit = 5",
                Scale::Full,
                "Made at the full scale. With --scale reduced only the first 5 requests of made are run.",
            ),
        ] {
            assert_eq!(scaled(limits, scale), said);
        }
    }

    #[test]
    fn a_command_names_what_it_reads() {
        let typed = |inputs, missing, has_rules| {
            let inputs = BTreeSet::from([inputs]);
            let all = commands(
                ("p", "e"),
                &inputs,
                missing,
                (Scale::Reduced, has_rules, false),
            );
            all.into_iter().map(|each| each.command).collect::<Vec<_>>()
        };
        assert_eq!(typed(input(None), None, false), ["destage reproduce p/e"]);
        assert_eq!(
            typed(input(Some("sha256:0")), None, true),
            [
                "destage reproduce p/e --traces DIR",
                "destage reproduce p --traces DIR"
            ]
        );
        assert_eq!(
            typed(input(None), Some("real"), false),
            ["destage reproduce p/e --trace real=FILE"]
        );
        let inputs = BTreeSet::from([input(None)]);
        let full = commands(("p", "e"), &inputs, None, (Scale::Full, false, false));
        assert_eq!(full[0].command, "destage reproduce p/e --scale full");
    }
}
