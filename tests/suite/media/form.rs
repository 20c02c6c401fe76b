//! Checks the format of a table of reference results. The error for the first wrong line has the number and the
//! text of the line, and the expected contents.

use destage_base::time::TICKS_PER_NS;

use super::Named;

/// Keys that a stream must have.
const NEEDED: [&str; 7] = [
    "channels",
    "luns",
    "planes",
    "gate",
    "read_ns",
    "program_ns",
    "erase_ns",
];
/// Optional keys whose value is a whole number.
const NUMBERS: [&str; 11] = [
    "cmd_ns",
    "data_ns",
    "status_ns",
    "tsusp_ns",
    "plane_gap_read_ns",
    "plane_gap_program_ns",
    "plane_gap_erase_ns",
    "trcbsy_ns",
    "ecc_step_ns",
    "ecc_age_per_tier_s",
    "ecc_max_tiers",
];
const SWITCHES: [&str; 3] = ["bus", "suspend", "cache_read"];

/// The result of a check. The text of an error says what is wrong.
type Wrong = Result<(), String>;

/// Adds the number and the text of the wrong line to an error.
pub fn told<T>(number: usize, text: &str, outcome: Result<T, String>) -> Result<T, String> {
    outcome.map_err(|why| format!("line {number}: {text}: {why}"))
}

fn expected(key: &str, text: &str, what: &str) -> String {
    format!("{key} {text:?}; expected {what}")
}

fn field<'a>(named: &Named<'a>, key: &str) -> Result<&'a str, String> {
    let text = named.get(key).copied();
    text.ok_or_else(|| format!("no {key}; expected one"))
}

/// A whole number from `least` to `most` that is still a valid time after conversion to ticks.
fn within(key: &str, text: &str, [least, most]: [u64; 2]) -> Result<u64, String> {
    let most = most.min(u64::MAX / TICKS_PER_NS);
    let number = text
        .parse()
        .ok()
        .filter(|number| (least..=most).contains(number));
    let what = || format!("a whole number from {least} to {most}");
    number.ok_or_else(|| expected(key, text, &what()))
}

fn bounded(named: &Named<'_>, key: &str, bounds: [u64; 2]) -> Result<u64, String> {
    within(key, field(named, key)?, bounds)
}

fn below(named: &Named<'_>, key: &str, end: u64) -> Wrong {
    bounded(named, key, [0, end - 1]).map(drop)
}

const ANY: [u64; 2] = [0, u64::MAX];
const COUNT: [u64; 2] = [1, u32::MAX as u64];

/// Whole numbers separated by `/`.
fn list(named: &Named<'_>, key: &str) -> Result<Vec<u64>, String> {
    let parts = field(named, key)?.split('/');
    parts.map(|part| within(key, part, ANY)).collect()
}

fn one_of(named: &Named<'_>, key: &str, words: &[&str]) -> Wrong {
    let text = field(named, key)?;
    match words.contains(&text) {
        true => Ok(()),
        false => Err(expected(key, text, &format!("one of {}", words.join(", ")))),
    }
}

/// The fields of a line by column; an error if the numbers of fields and columns differ.
pub fn fields<'a>(columns: &[&'a str], line: &'a str) -> Result<Named<'a>, String> {
    let fields: Vec<&str> = line.split(',').collect();
    match fields.len() == columns.len() {
        true => Ok(columns.iter().copied().zip(fields).collect()),
        false => Err(format!(
            "{} fields; expected {}, one a column",
            fields.len(),
            columns.len()
        )),
    }
}

/// Keys and values of a stream's header line.
pub fn keys(head: &str) -> Result<Named<'_>, String> {
    let pairs = head.trim_start_matches('#').split_whitespace();
    let pair = |text| {
        let pair = str::split_once(text, '=');
        pair.ok_or_else(|| format!("{text:?}; expected KEY=VALUE"))
    };
    pairs.map(pair).collect()
}

/// Checks whether `keys` describe a stream.
pub fn stream(keys: &Named<'_>) -> Wrong {
    for key in keys.keys() {
        let is_known = NEEDED.contains(key)
            || NUMBERS.contains(key)
            || SWITCHES.contains(key)
            || ["stream", "program_permille", "ecc_pe_per_tier"].contains(key);
        if !is_known {
            return Err(format!("unknown key {key:?}"));
        }
    }
    field(keys, "stream")?;
    for key in ["channels", "luns", "planes"] {
        bounded(keys, key, COUNT)?;
    }
    one_of(keys, "gate", &["lun", "plane", "both"])?;
    for key in ["read_ns", "program_ns"] {
        list(keys, key)?;
    }
    bounded(keys, "erase_ns", ANY)?;
    if keys.contains_key("program_permille") {
        list(keys, "program_permille")?;
        bounded(keys, "program_ns", ANY)?;
    }
    let there = |key: &&&str| keys.contains_key(**key);
    for key in NUMBERS.iter().filter(there) {
        bounded(keys, key, ANY)?;
    }
    for key in SWITCHES.iter().filter(there) {
        bounded(keys, key, [0, 1])?;
    }
    if keys.contains_key("ecc_pe_per_tier") {
        bounded(keys, "ecc_pe_per_tier", [0, u32::MAX.into()])?;
    }
    Ok(())
}

/// Checks whether `line` is an operation of the stream that `keys` describe, and is not earlier than `last`;
/// returns the time of the operation.
pub fn operation(keys: &Named<'_>, line: &Named<'_>, last: u64) -> Result<u64, String> {
    let time = bounded(line, "t_ns", [last, u64::MAX])?;
    one_of(line, "op", &["R", "P", "E", "MR", "MP", "ME", "C"])?;
    let kind = line["op"];
    below(line, "ch", bounded(keys, "channels", COUNT)?)?;
    below(line, "lun", bounded(keys, "luns", COUNT)?)?;
    let all = bounded(keys, "planes", COUNT)?;
    let planes = list(line, "planes")?;
    let ascends = planes.windows(2).all(|pair| pair[0] < pair[1]);
    let is_single = planes.len() == 1 || kind.starts_with('M');
    if !ascends || !is_single || planes.last().is_some_and(|plane| *plane >= all) {
        let what = format!("planes below {all}, ascending, and several only of MR, MP and ME");
        return Err(expected("planes", line["planes"], &what));
    }
    let wear = list(line, "pe_cycles")?;
    if wear.len() != planes.len() || wear.iter().any(|cycles| *cycles > u32::MAX.into()) {
        return Err(expected(
            "pe_cycles",
            line["pe_cycles"],
            "one for each plane",
        ));
    }
    bounded(line, "age_s", ANY)?;
    let mut types = u64::from(u32::MAX);
    let mut limit = |key: &str| -> Wrong {
        let count = list(keys, key)?.len() as u64;
        if count > 1 {
            types = types.min(count);
        }
        Ok(())
    };
    if kind.ends_with(['R', 'C']) {
        limit("read_ns")?;
    }
    if kind.ends_with(['P', 'C']) {
        let factors = keys.contains_key("program_permille");
        limit(if factors {
            "program_permille"
        } else {
            "program_ns"
        })?;
    }
    if !kind.ends_with('E') {
        below(line, "page_type", types)?;
    }
    if kind == "C" {
        below(line, "dst_lun", bounded(keys, "luns", COUNT)?)?;
        below(line, "dst_plane", all)?;
    }
    for key in ["done_ns", "array_free_ns", "bus_free_ns"] {
        bounded(line, key, ANY)?;
    }
    Ok(time)
}

/// Checks whether `row` is a row of MQSim's table.
pub fn row(row: &Named<'_>) -> Wrong {
    field(row, "row")?;
    for key in [
        "channels",
        "chips",
        "planes",
        "pages_per_block",
        "mts",
        "width",
        "requests",
        "sectors",
    ] {
        bounded(row, key, COUNT)?;
    }
    let page = bounded(row, "page_bytes", COUNT)?;
    if page % 512 != 0 {
        return Err(expected(
            "page_bytes",
            row["page_bytes"],
            "whole sectors of 512",
        ));
    }
    one_of(row, "cell", &["SLC", "MLC", "TLC"])?;
    let types = match row["cell"] {
        "SLC" => 1,
        "MLC" => 2,
        _ => 3,
    };
    for key in ["read_ns", "program_ns"] {
        if list(row, key)?.len() != types {
            let what = format!("{types} of them, as {} has page types", row["cell"]);
            return Err(expected(key, row[key], &what));
        }
    }
    let speed = field(row, "pcie_gbps")?;
    let is_speed = |speed: f64| speed.is_finite() && speed > 0.0;
    if speed != "inf" && !speed.parse().is_ok_and(is_speed) {
        return Err(expected("pcie_gbps", speed, "a number above 0, or inf"));
    }
    let scheme = field(row, "scheme")?;
    if scheme.len() != 4 || "CWDP".chars().any(|letter| !scheme.contains(letter)) {
        return Err(expected("scheme", scheme, "C, W, D and P in some order"));
    }
    one_of(row, "replay", &["open", "closed"])?;
    match row["replay"] {
        "closed" => bounded(row, "queue_depth", COUNT)?,
        _ => bounded(row, "mean_gap_ns", [0, u64::MAX / TICKS_PER_NS / 4])?,
    };
    one_of(row, "pattern", &["random", "sequential"])?;
    bounded(row, "read_pct", [0, 100])?;
    let pages = (bounded(row, "sectors", COUNT)? / (page / 512)).max(1);
    bounded(row, "footprint_pages", [pages, u64::MAX / page / 4])?;
    let seed = field(row, "seed")?;
    if seed.parse::<u64>().is_err() {
        return Err(expected("seed", seed, "a whole number below 2^64"));
    }
    field(row, "ties").map(drop)
}
