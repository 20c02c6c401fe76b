//! A profile as TOML: read, checked, written.
//!
//! Counts stand as `value:count`, or the value alone if the count is 1. A segment of a map stands as nine numbers with
//! dots between, the first counted from the end of the segment before it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

use toml::{Table, Value};

use super::history::{BLOCK_SECTORS, ITEM_LABELS, LABELS};
use super::profile::{
    CONTEXTS, FORMS, GAP_CLASSES, KINDS, Kind, PICKS, Phase, Profile, REGIONS, SLICES, Segment,
    Tally, WRITES, bin_range,
};

/// What a profile's text says its form is.
const FORM: i64 = 1;
/// Bins of counts and depths end here: more of anything cannot be.
const MOST_BIN: u32 = 120;
/// Entries of a list, and cards of a tally, at most: memory stays bounded whatever a text says.
const MOST: u64 = 1 << 24;

/// Sizes, at most: their cards stay far below 32 bits.
const MOST_SIZES: usize = 4096;
/// Sizes of segments, twice the logarithm to base 2 of 32 bits of sectors, end here.
const MOST_CLASS: u32 = 64;

/// A profile's text is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {text:?}: expected {expected}")]
pub struct ProfileError {
    /// The key; `line` where the text is no TOML.
    pub key: String,
    /// What stands there.
    pub text: String,
    /// What would have been right.
    pub expected: String,
}

fn wrong(key: impl Into<String>, text: impl ToString, expected: impl Into<String>) -> ProfileError {
    let mut text = text.to_string();
    if text.len() > 60 {
        text = text.chars().take(57).collect::<String>() + "...";
    }
    ProfileError {
        key: key.into(),
        text,
        expected: expected.into(),
    }
}

/// A table, and what it is called in errors.
struct Part<'a> {
    name: String,
    table: &'a Table,
}

impl<'a> Part<'a> {
    fn value(&self, key: &str) -> Result<&'a Value, ProfileError> {
        let value = self.table.get(key);
        value.ok_or_else(|| wrong(self.key(key), "", "a value; there is none"))
    }

    fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.name)
    }

    fn number(&self, key: &str, most: u64) -> Result<u64, ProfileError> {
        let value = self.value(key)?;
        let number = value.as_integer().and_then(|n| u64::try_from(n).ok());
        number
            .filter(|n| (1..=most).contains(n))
            .ok_or_else(|| wrong(self.key(key), value, format!("a whole number, 1 to {most}")))
    }

    fn words(&self, key: &str) -> Result<impl Iterator<Item = &'a str> + use<'a>, ProfileError> {
        let value = self.value(key)?;
        let text = value.as_str();
        let text = text.ok_or_else(|| wrong(self.key(key), value, "text with numbers"))?;
        Ok(text.split_ascii_whitespace())
    }

    fn list<T>(&self, key: &str, least: T, most: T) -> Result<Vec<T>, ProfileError>
    where
        T: FromStr + PartialOrd + std::fmt::Display,
    {
        self.words(key)?
            .map(|word| {
                let number = word.parse().ok().filter(|n| *n >= least && *n <= most);
                number.ok_or_else(|| {
                    wrong(
                        self.key(key),
                        word,
                        format!("a whole number, {least} to {most}"),
                    )
                })
            })
            .collect()
    }

    /// Counts of values below `end`; none if there is no such key.
    fn tally(&self, key: &str, end: u32) -> Result<Tally, ProfileError> {
        let (mut tally, mut sum) = (Tally::new(), 0);
        if !self.table.contains_key(key) {
            return Ok(tally);
        }
        for word in self.words(key)? {
            let (value, count) = word.split_once(':').unwrap_or((word, "1"));
            let pair = value.parse().ok().zip(count.parse::<u32>().ok());
            let pair = pair.filter(|(value, count)| *value < end && *count > 0);
            let (value, count): (u32, u32) = pair.ok_or_else(|| {
                wrong(
                    self.key(key),
                    word,
                    format!("VALUE:COUNT, the value below {end}"),
                )
            })?;
            sum += u64::from(count);
            if sum > MOST || tally.insert(value, count).is_some() {
                let expected = format!("each value once, and at most {MOST} in all");
                return Err(wrong(self.key(key), word, expected));
            }
        }
        Ok(tally)
    }
}

/// Counts by name, for each of `names`.
fn tallies<const N: usize>(
    part: &Part<'_>,
    prefix: &str,
    end: impl Fn(usize) -> u32,
) -> Result<[Tally; N], ProfileError> {
    let mut out = std::array::from_fn(|_| Tally::new());
    for (index, tally) in out.iter_mut().enumerate() {
        *tally = part.tally(&format!("{prefix}{index}"), end(index))?;
    }
    Ok(out)
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text
                .get(..at)
                .map_or(1, |before| before.matches('\n').count() + 1);
            let found = text.lines().nth(line - 1).unwrap_or_default();
            wrong(
                format!("line {line}"),
                found,
                format!("TOML: {}", error.message()),
            )
        })?;
        let part = |key: &str| {
            let found = table.get(key).and_then(Value::as_table);
            let found = found.ok_or_else(|| wrong(key, "", "a table of that name"))?;
            Ok(Part {
                name: key.to_owned(),
                table: found,
            })
        };
        let whole = part("standin")?;
        let form = whole.value("form")?;
        if form.as_integer() != Some(FORM) {
            let expected = format!("{FORM}, which `destage trace fit` of this version writes");
            return Err(wrong("standin.form", form, expected));
        }
        let requests = whole.number("requests", 1 << 40)?;
        let footprint_sectors = whole.number("footprint_sectors", 1 << 50)?;
        let sizes = whole.list("sizes", 1, u32::MAX)?;
        if sizes.len() > MOST_SIZES {
            let expected = format!("at most {MOST_SIZES} sizes");
            return Err(wrong("standin.sizes", sizes.len(), expected));
        }
        let largest = sizes.iter().copied().max().unwrap_or(0);
        if largest == 0 || u64::from(largest) > footprint_sectors {
            let expected =
                format!("at least one size, none above the footprint, {footprint_sectors}");
            return Err(wrong("standin.sizes", largest, expected));
        }
        let mut gaps: [Vec<u64>; GAP_CLASSES] = std::array::from_fn(|_| Vec::new());
        for (class, gaps) in gaps.iter_mut().enumerate().skip(1) {
            *gaps = whole.list(&format!("gaps{class}"), 1, 1 << 50)?;
        }
        let layout: Vec<u32> = layout(&whole)?;
        let mut profile = Self {
            requests,
            footprint_sectors,
            phase_requests: whole.number("phase_requests", MOST)?,
            sizes,
            gaps,
            pace_requests: whole.number("pace_requests", MOST)?,
            pace: whole.list("pace", 0, 1 << 55)?,
            phases: Vec::new(),
            layout,
            places: whole.tally("places", BLOCK_SECTORS as u32)?,
            first_places: whole.tally("first_places", REGIONS as u32)?,
        };
        let phases = table.get("phase").and_then(Value::as_array);
        let phases = phases.ok_or_else(|| wrong("phase", "", "tables [[phase]]"))?;
        for (index, phase) in phases.iter().enumerate() {
            let name = format!("phase {}", index + 1);
            let found = phase.as_table();
            let table = found.ok_or_else(|| wrong(name.as_str(), phase, "a table"))?;
            let phase = read_phase(&profile, &Part { name, table })?;
            profile.phases.push(phase);
        }
        check(&profile)?;
        Ok(profile)
    }
}

/// How many of each there have to be.
fn check(profile: &Profile) -> Result<(), ProfileError> {
    let count = |key: &str, has: usize, of: u64| {
        let expected = profile.requests.div_ceil(of);
        if has as u64 == expected {
            return Ok(());
        }
        Err(wrong(
            key,
            has,
            format!("{expected}, for {} requests", profile.requests),
        ))
    };
    count("phase", profile.phases.len(), profile.phase_requests)?;
    count("standin.pace", profile.pace.len(), profile.pace_requests)?;
    for (index, phase) in profile.phases.iter().enumerate() {
        let sum = |tally: &Tally| tally.values().map(|count| u64::from(*count)).sum::<u64>();
        let begun = index as u64 * profile.phase_requests;
        let of = profile.phase_requests.min(profile.requests - begun);
        let steps: u64 = phase.steps.iter().map(sum).sum();
        if steps != of {
            let expected = format!("{of} in all, the requests of the phase");
            return Err(wrong(format!("phase {}.next", index + 1), steps, expected));
        }
        let others = [&phase.regions, &phase.agains, &phase.olds];
        let others = phase.depths.iter().chain(&phase.forms).chain(others);
        if let Some(more) = others.map(sum).find(|sum| *sum > of) {
            let expected = format!("counts of at most {of} in all, the requests of the phase");
            return Err(wrong(format!("phase {}", index + 1), more, expected));
        }
        let writes: u64 = phase
            .map
            .iter()
            .map(|segment| u64::from(segment.writes))
            .sum();
        let steps = phase.steps.iter();
        let asked: u64 = steps
            .map(|tally| {
                tally
                    .range(..(WRITES * GAP_CLASSES) as u32)
                    .map(|(_, n)| u64::from(*n))
                    .sum::<u64>()
            })
            .sum();
        if writes != asked || writes != sum(&phase.sizes) {
            let expected = format!("{asked} writes in all, as many as sizes and steps have");
            return Err(wrong(format!("phase {}.map", index + 1), writes, expected));
        }
    }
    Ok(())
}

fn layout(part: &Part<'_>) -> Result<Vec<u32>, ProfileError> {
    let mut layout: Vec<u32> = Vec::new();
    for word in part.words("layout")? {
        let (value, count) = word.split_once(':').unwrap_or((word, "1"));
        let pair = value.parse::<u32>().ok().zip(count.parse::<u32>().ok());
        let fits = |(value, count): &(u32, u32)| {
            *value as usize <= layout.len() && layout.len() as u64 + u64::from(*count) <= MOST
        };
        let (value, count) = pair.filter(fits).ok_or_else(|| {
            let expected = format!(
                "BACK:COUNT, back to one of the {} blocks before",
                layout.len()
            );
            wrong(part.key("layout"), word, expected)
        })?;
        layout.extend(std::iter::repeat_n(value, count as usize));
    }
    Ok(layout)
}

/// Cards of each bin of depths.
fn labels(kind: usize) -> u32 {
    if Kind::ALL[kind].by_item() {
        ITEM_LABELS
    } else {
        LABELS * PICKS
    }
}

fn read_phase(profile: &Profile, part: &Part<'_>) -> Result<Phase, ProfileError> {
    let sizes = profile.sizes.len() as u32;
    let steps: [Tally; CONTEXTS] = tallies(part, "next", |_| (KINDS * GAP_CLASSES) as u32)?;
    Ok(Phase {
        steps: steps.into(),
        depths: tallies::<KINDS>(part, "where", |kind| MOST_BIN * labels(kind))?,
        forms: tallies::<KINDS>(part, "form", |_| sizes * FORMS)?,
        regions: part.tally("regions", REGIONS as u32)?,
        sizes: part.tally("sizes", sizes)?,
        agains: part.tally("agains", MOST_BIN)?,
        olds: part.tally("olds", MOST_BIN)?,
        map: read_map(profile, part)?,
    })
}

fn read_map(profile: &Profile, part: &Part<'_>) -> Result<Vec<Segment>, ProfileError> {
    let (mut map, mut before) = (Vec::new(), 0);
    for word in part.words("map")? {
        let expected = || {
            let blocks = profile.layout.len();
            wrong(
                part.key("map"),
                word,
                format!(
                    "nine numbers with dots between: SKIP.BLOCKS.NEW.WRITES.SIZE.ON.AGAIN.FROM.UNTIL, of {blocks} blocks, in {SLICES} slices; SIZE below {MOST_CLASS}, no more ON and AGAIN than WRITES"
                ),
            )
        };
        let numbers: Option<Vec<u32>> = word.split('.').map(|n| n.parse().ok()).collect();
        let numbers: [u32; 9] = numbers
            .and_then(|n| n.try_into().ok())
            .ok_or_else(expected)?;
        let [skip, blocks, new, writes, size, on, again, from, until] = numbers;
        let first = u64::from(skip) + before;
        before = first + u64::from(blocks);
        let fits = before <= profile.layout.len() as u64
            && blocks > 0
            && u64::from(writes) <= MOST
            && u64::from(new) <= MOST * 64
            && u64::from(on) + u64::from(again) <= u64::from(writes)
            && size < MOST_CLASS
            && from < until
            && until <= SLICES;
        if !fits {
            return Err(expected());
        }
        let block = first as u32;
        map.push(Segment {
            block,
            blocks,
            new,
            writes,
            size,
            on,
            again,
            from,
            until,
        });
    }
    Ok(map)
}

impl Profile {
    /// The profile as text, with `head` as comments before it. [`Profile::from_str`] reads it back.
    #[must_use]
    pub fn text(&self, head: &str) -> String {
        let mut text = String::new();
        for line in head.lines() {
            let _ = writeln!(text, "# {line}");
        }
        let mut line = |key: &str, value: String| {
            if !value.is_empty() {
                let _ = writeln!(text, "{key} = {value}");
            }
        };
        line("\n[standin]\nform", FORM.to_string());
        line("requests", self.requests.to_string());
        line("footprint_sectors", self.footprint_sectors.to_string());
        line("phase_requests", self.phase_requests.to_string());
        line("pace_requests", self.pace_requests.to_string());
        let list = |numbers: &mut dyn Iterator<Item = u64>| {
            let numbers: Vec<_> = numbers.map(|n| n.to_string()).collect();
            format!("\"{}\"", numbers.join(" "))
        };
        line("sizes", list(&mut self.sizes.iter().map(|n| u64::from(*n))));
        for (class, gaps) in self.gaps.iter().enumerate().skip(1) {
            line(&format!("gaps{class}"), list(&mut gaps.iter().copied()));
        }
        line("pace", list(&mut self.pace.iter().copied()));
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for back in &self.layout {
            match runs.last_mut() {
                // A run may only go as far back as there were blocks when it began.
                Some((value, count)) if value == back => *count += 1,
                _ => runs.push((*back, 1)),
            }
        }
        line("layout", format!("\"{}\"", joined(runs.into_iter())));
        line("places", counts(&self.places));
        line("first_places", counts(&self.first_places));
        for phase in &self.phases {
            text.push('\n');
            phase.write(&mut text);
        }
        text
    }
}

impl Phase {
    fn write(&self, text: &mut String) {
        let _ = writeln!(text, "[[phase]]");
        let mut line = |key: String, tally: &Tally| {
            if !tally.is_empty() {
                let _ = writeln!(text, "{key} = {}", counts(tally));
            }
        };
        for (index, tally) in self.steps.iter().enumerate() {
            line(format!("next{index}"), tally);
        }
        for kind in Kind::ALL {
            line(
                format!("where{}", kind as usize),
                &self.depths[kind as usize],
            );
            line(format!("form{}", kind as usize), &self.forms[kind as usize]);
        }
        line("regions".to_owned(), &self.regions);
        line("sizes".to_owned(), &self.sizes);
        line("agains".to_owned(), &self.agains);
        line("olds".to_owned(), &self.olds);
        let mut before = 0;
        let mut map = Vec::new();
        for s in &self.map {
            let (skip, end) = (s.block - before, s.block + s.blocks);
            map.push(format!(
                "{skip}.{}.{}.{}.{}.{}.{}.{}.{}",
                s.blocks, s.new, s.writes, s.size, s.on, s.again, s.from, s.until
            ));
            before = end;
        }
        let _ = writeln!(text, "map = \"{}\"", map.join(" "));
    }
}

fn counts(tally: &BTreeMap<u32, u32>) -> String {
    if tally.is_empty() {
        return String::new();
    }
    format!(
        "\"{}\"",
        joined(tally.iter().map(|(value, count)| (*value, *count)))
    )
}

fn joined(pairs: impl Iterator<Item = (u32, u32)>) -> String {
    let words: Vec<String> = pairs
        .map(|(value, count)| match count {
            1 => value.to_string(),
            _ => format!("{value}:{count}"),
        })
        .collect();
    words.join(" ")
}

const _: () = assert!(bin_range(MOST_BIN).0 > 1 << 28);
