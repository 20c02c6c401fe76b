//! Reads, checks and writes a profile as TOML.
//!
//! The functions [`classes`], [`places`] and [`sweeps`] define how gaps, blocks and sweeps are written.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

use toml::{Table, Value};

use super::blocks::{BLOCK_SECTORS, Extent, Place, blocks_of};
use super::profile::{GAP_CLASSES, Profile, REGIONS};
use super::sweep::Sweep;

/// The version of the text format.
const FORM: i64 = 2;
/// The largest number of entries in a list, and the largest number of blocks. The limit bounds the memory that any
/// text can occupy.
const MOST: u64 = 1 << 24;

/// The error of a text that is not a valid profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {text:?}: expected {expected}")]
pub struct ProfileError {
    /// The key of the invalid value. If the text is not TOML, it is `line` and the number of the line.
    pub key: String,
    /// The invalid text.
    pub text: String,
    /// A description of valid text.
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

/// A table of the TOML text, with the name that error messages use for it.
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
        let mut gaps: [Vec<u64>; GAP_CLASSES] = std::array::from_fn(|_| Vec::new());
        for (class, gaps) in gaps.iter_mut().enumerate().skip(1) {
            *gaps = whole.list(&format!("gaps{class}"), 1, 1 << 50)?;
        }
        let (extents, blocks) = places(&whole, blocks_of(footprint_sectors))?;
        let profile = Self {
            requests,
            footprint_sectors,
            gaps,
            pace_requests: whole.number("pace_requests", MOST)?,
            pace: whole.list("pace", 0, 1 << 55)?,
            classes: classes(&whole)?,
            sweeps: sweeps(&whole, requests, blocks.len(), footprint_sectors)?,
            extents,
            blocks,
        };
        check(&profile)?;
        Ok(profile)
    }
}

/// Checks that the numbers of classes, of stretches and of requests in sweeps agree with the number of requests.
fn check(profile: &Profile) -> Result<(), ProfileError> {
    let count = |key: &str, has: u64, expected: u64| {
        if has == expected {
            return Ok(());
        }
        let expected = format!("{expected}, for {} requests", profile.requests);
        Err(wrong(key, has, expected))
    };
    let parts = |of: u64| profile.requests.div_ceil(of);
    let classes = profile.classes.len() as u64;
    count("standin.classes", classes, profile.requests)?;
    let stretches = profile.pace.len() as u64;
    count("standin.pace", stretches, parts(profile.pace_requests))?;
    let swept = profile.sweeps.iter().map(Sweep::requests).sum();
    count("standin.sweeps", swept, profile.requests)?;
    Ok(())
}

/// Reads the classes of gaps. Each request has one digit.
fn classes(part: &Part<'_>) -> Result<Vec<u8>, ProfileError> {
    let mut classes = Vec::new();
    for word in part.words("classes")? {
        let digits = word
            .bytes()
            .map(|byte| byte.is_ascii_digit().then(|| byte - b'0'));
        let digits: Option<Vec<u8>> = digits.collect();
        let expected = || wrong(part.key("classes"), word, "digits, one a request");
        classes.extend(digits.ok_or_else(expected)?);
    }
    Ok(classes)
}

/// Reads the blocks, in the order in which they are first touched.
///
/// The first block of a new extent is written as `LENGTH.OFFSET.REGION`. These are the number of blocks in the
/// extent, the number of blocks of the extent before this block, and the region in which the extent begins. Any other
/// block is written as `BACK.DISTANCE`, relative to a reference block of the same extent. `BACK` says how many
/// entries earlier the reference block is in this list. `DISTANCE` is the address of this block minus the address of
/// the reference block. If the distance is 1, it is omitted. `:COUNT` after `BACK` repeats the entry for several
/// consecutive blocks.
fn places(part: &Part<'_>, all: u64) -> Result<(Vec<Extent>, Vec<Place>), ProfileError> {
    let (mut extents, mut places): (Vec<Extent>, Vec<Place>) = (Vec::new(), Vec::new());
    let mut sum = 0;
    for word in part.words("blocks")? {
        let numbers = |word: &str| -> Option<Vec<i64>> {
            word.split('.').map(|number| number.parse().ok()).collect()
        };
        let (value, count) = word.split_once(':').unwrap_or((word, "1"));
        let count = count
            .parse()
            .ok()
            .filter(|count| (1..=MOST).contains(count));
        let added =
            numbers(value)
                .zip(count)
                .and_then(|(numbers, count): (_, u64)| match numbers[..] {
                    [length, offset, region] => {
                        let extent = Extent {
                            blocks: u32::try_from(length).ok()?,
                            region: u32::try_from(region).ok()?,
                        };
                        let place = Place {
                            extent: extents.len() as u32,
                            offset: u32::try_from(offset).ok()?,
                        };
                        sum += u64::from(extent.blocks);
                        extents.push(extent);
                        places.push(place);
                        let fits = place.offset < extent.blocks
                            && extent.region <= REGIONS as u32
                            && count == 1;
                        (fits && sum <= all).then_some(())
                    }
                    [back, ref distance @ ..] if distance.len() < 2 => {
                        let distance = distance.first().copied().unwrap_or(1);
                        for _ in 0..count {
                            let at = (places.len() as u64)
                                .checked_sub(u64::try_from(back).ok().filter(|back| *back > 0)?)?;
                            let from = places[usize::try_from(at).ok()?];
                            let offset =
                                u32::try_from(i64::from(from.offset).checked_add(distance)?)
                                    .ok()?;
                            if offset >= extents[from.extent as usize].blocks
                                || places.len() as u64 >= all.min(MOST)
                            {
                                return None;
                            }
                            places.push(Place { offset, ..from });
                        }
                        Some(())
                    }
                    _ => None,
                });
        added.ok_or_else(|| {
            let expected = format!("LENGTH.OFFSET.REGION, BACK.DISTANCE, or BACK:COUNT, in extents of {all} blocks in all");
            wrong(part.key("blocks"), word, expected)
        })?;
    }
    Ok((extents, places))
}

/// Reads the sweeps, in the order of their first requests.
///
/// A sweep is written as `rLATER.SPAN.BLOCK.SECTOR.SIZES`, with `w` in place of `r` for writes. The fields are:
///
/// - `LATER`: the number of requests from the first request of the previous sweep to the first request of this
///   sweep;
/// - `SPAN`: the number of requests from the first to the last request of this sweep;
/// - `BLOCK`: the number of the block in which the sweep begins, minus that number of the previous sweep;
/// - `SECTOR`: the sector in that block;
/// - `SIZES`: the sizes in sectors, as `size:count` with `+` between them.
fn sweeps(
    part: &Part<'_>,
    requests: u64,
    blocks: usize,
    footprint: u64,
) -> Result<Vec<Sweep>, ProfileError> {
    let mut sweeps = Vec::new();
    let (mut first, mut block) = (0u64, 0i64);
    for word in part.words("sweeps")? {
        let read = || {
            let writes = match word.get(..1)? {
                "w" => true,
                "r" => false,
                _ => return None,
            };
            let mut fields = word[1..].split('.');
            let later: u64 = fields.next()?.parse().ok()?;
            let span: u64 = fields.next()?.parse().ok()?;
            let behind: i64 = fields.next()?.parse().ok()?;
            let sector: u32 = fields.next()?.parse().ok()?;
            let sizes = fields.next()?.split('+').map(|run| {
                let (size, count) = run.split_once(':').unwrap_or((run, "1"));
                let pair = size.parse().ok().zip(count.parse().ok());
                pair.filter(|(size, count): &(u32, u32)| {
                    *size > 0 && u64::from(*size) <= footprint && *count > 0
                })
            });
            let sweep = Sweep {
                writes,
                first: first.checked_add(later)?,
                last: first.checked_add(later)?.checked_add(span)?,
                block: u32::try_from(block.checked_add(behind)?).ok()?,
                sector,
                sizes: sizes.collect::<Option<_>>()?,
            };
            let fits = fields.next().is_none()
                && (sweep.block as usize) < blocks
                && u64::from(sector) < BLOCK_SECTORS;
            (fits && sweep.last < requests && sweep.requests() <= requests).then_some(sweep)
        };
        let sweep = read().ok_or_else(|| {
            let expected = format!(
                "rLATER.SPAN.BLOCK.SECTOR.SIZES, or w, of {requests} requests and {blocks} blocks"
            );
            wrong(part.key("sweeps"), word, expected)
        })?;
        (first, block) = (sweep.first, i64::from(sweep.block));
        sweeps.push(sweep);
    }
    Ok(sweeps)
}

impl Profile {
    /// The profile as text, which begins with `head` as comments. [`Profile::from_str`] reads this text.
    #[must_use]
    pub fn text(&self, head: &str) -> String {
        let mut text = String::new();
        for line in head.lines() {
            let _ = writeln!(text, "# {line}");
        }
        let mut line = |key: &str, value: String| {
            let _ = writeln!(text, "{key} = {value}");
        };
        line("\n[standin]\nform", FORM.to_string());
        line("requests", self.requests.to_string());
        line("footprint_sectors", self.footprint_sectors.to_string());
        line("pace_requests", self.pace_requests.to_string());
        let list = |numbers: &mut dyn Iterator<Item = u64>| {
            let numbers: Vec<_> = numbers.map(|n| n.to_string()).collect();
            format!("\"{}\"", numbers.join(" "))
        };
        for (class, gaps) in self.gaps.iter().enumerate().skip(1) {
            line(&format!("gaps{class}"), list(&mut gaps.iter().copied()));
        }
        line("pace", list(&mut self.pace.iter().copied()));
        let digits: Vec<u8> = self.classes.iter().map(|class| b'0' + class).collect();
        let digits = digits.chunks(LINE).map(String::from_utf8_lossy);
        line("classes", lines(digits.map(Into::into).collect()));
        line("blocks", lines(self.places()));
        line("sweeps", lines(self.sweeps()));
        text
    }

    /// The blocks in the notation that [`places`] reads.
    fn places(&self) -> Vec<String> {
        // For each position, the block that was numbered last. For each extent, its first block in the list.
        let mut at: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let mut first: BTreeMap<u32, usize> = BTreeMap::new();
        let mut words: Vec<(String, u32)> = Vec::new();
        for (index, place) in self.blocks.iter().enumerate() {
            let Place { extent, offset } = *place;
            let near = |other: Option<u32>| other.and_then(|offset| at.get(&(extent, offset)));
            let from = near(offset.checked_sub(1)).or_else(|| near(offset.checked_add(1)));
            let word = match from.or_else(|| first.get(&extent)) {
                Some(from) => {
                    let distance = i64::from(offset) - i64::from(self.blocks[*from].offset);
                    match distance {
                        1 => (index - from).to_string(),
                        _ => format!("{}.{distance}", index - from),
                    }
                }
                None => {
                    let of = self.extents[extent as usize];
                    format!("{}.{offset}.{}", of.blocks, of.region)
                }
            };
            at.insert((extent, offset), index);
            first.entry(extent).or_insert(index);
            match words.last_mut() {
                Some((last, count)) if *last == word && !word.contains('.') => *count += 1,
                _ => words.push((word, 1)),
            }
        }
        let counted = |(word, count): (String, u32)| match count {
            1 => word,
            _ => format!("{word}:{count}"),
        };
        words.into_iter().map(counted).collect()
    }

    /// The sweeps in the notation that [`sweeps`] reads.
    fn sweeps(&self) -> Vec<String> {
        let (mut first, mut block) = (0, 0);
        let word = |sweep: &Sweep| {
            let later = sweep.first - std::mem::replace(&mut first, sweep.first);
            let behind =
                i64::from(sweep.block) - std::mem::replace(&mut block, i64::from(sweep.block));
            let kind = if sweep.writes { 'w' } else { 'r' };
            let sizes: Vec<String> = sweep.sizes.iter().map(counted).collect();
            let (span, sector) = (sweep.last - sweep.first, sweep.sector);
            format!("{kind}{later}.{span}.{behind}.{sector}.{}", sizes.join("+"))
        };
        self.sweeps.iter().map(word).collect()
    }
}

/// A value and its count, as `value:count`. A count of 1 is omitted.
fn counted((value, count): &(u32, u32)) -> String {
    match count {
        1 => value.to_string(),
        _ => format!("{value}:{count}"),
    }
}

/// The approximate length of a line, in characters.
const LINE: usize = 110;

/// Joins words into a text of several lines.
fn lines(words: Vec<String>) -> String {
    let mut text = "\"\"\"\n".to_owned();
    let mut length = 0;
    for word in words {
        length += word.len() + 1;
        text.push_str(&word);
        text.push(if length > LINE { '\n' } else { ' ' });
        length = if length > LINE { 0 } else { length };
    }
    text + "\"\"\""
}
