//! Reads numbers, sizes and lists in the notation of fio.

use destage_base::Random;
use destage_trace::request::SECTOR_BYTES;

/// A number of bytes, or a percentage of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Span {
    Bytes(u64),
    Percent(u64),
}

impl Span {
    pub fn read(text: &str) -> Option<Self> {
        match text.strip_suffix('%') {
            Some(percent) => {
                let percent = percent.parse().ok()?;
                (1..=100)
                    .contains(&percent)
                    .then_some(Self::Percent(percent))
            }
            None => bytes(text).map(Self::Bytes),
        }
    }
}

/// The expected form of a size, for error messages.
pub(super) const SIZE: &str = "bytes, such as 4096, 4k or 1g (powers of 1024)";

/// The end of an error message about `value`, which says why units such as KiB are refused; empty if `value` has no
/// such unit.
pub(super) fn of_units(value: Option<&str>) -> &'static str {
    match value.is_some_and(|value| value.to_ascii_lowercase().contains("ib")) {
        true => "; write 10k for 10 times 1024 bytes: fio takes 10KiB for 10 times 1000",
        false => "",
    }
}

/// Reads a size in bytes. `KiB` is refused, because it means 1000 bytes in fio, but 1024 bytes to most users.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (&*lower, 10),
    };
    let end = digits
        .find(|sign: char| !sign.is_digit(radix))
        // In base 16, `b` is a digit and not a unit.
        .unwrap_or(digits.len());
    let number = u64::from_str_radix(&digits[..end], radix).ok()?;
    let unit = &digits[end..];
    let unit = unit.strip_suffix('b').unwrap_or(unit);
    let power = match unit {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    number.checked_mul(1 << (10 * power))
}

/// Reads a list with commas that has entries for reads, writes and trims. An empty entry gives `None`, which means
/// the default. The last entry also applies to the kinds that have no entry. Returns `None` if the list has more than
/// three entries.
pub(super) fn by_kind(text: &str) -> Option<[Option<&str>; 3]> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let last = parts.last()?;
    let entry = |place: usize| *parts.get(place).unwrap_or(last);
    let of = |place: usize| Some(entry(place)).filter(|part| !part.is_empty());
    (parts.len() <= 3).then(|| [of(0), of(1), of(2)])
}

/// The lengths of the requests of one kind, in sectors.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Lengths {
    Fixed(u32),
    /// The multiples of the first length that are at most the second length. All are equally likely.
    Range(u32, u32),
    /// Each length with its cumulative share, which is the sum of its share and the shares before it, in percent.
    Split(Vec<(u32, f64)>),
}

/// Reads a length in bytes, and returns it in sectors.
fn sectors(text: &str) -> Option<u32> {
    let bytes = bytes(text)?;
    let sectors = u32::try_from(bytes / SECTOR_BYTES).ok()?;
    (sectors > 0 && bytes.is_multiple_of(SECTOR_BYTES)).then_some(sectors)
}

impl Lengths {
    pub const DEFAULT: Self = Self::Fixed(8);

    /// Reads the value of `bs`.
    pub fn fixed(text: &str) -> Option<Self> {
        sectors(text).map(Self::Fixed)
    }

    /// Reads the value of `bsrange`: LOW-HIGH.
    pub fn range(text: &str) -> Option<Self> {
        let (low, high) = text.split_once(['-', ':'])?;
        let (low, high) = (sectors(low)?, sectors(high)?);
        Some(Self::Range(low.min(high), low.max(high)))
    }

    /// Reads the value of `bssplit`: SIZE/PERCENT with colons in between. The entries without a percentage divide the
    /// rest of 100 % equally.
    pub fn split(text: &str) -> Option<Self> {
        let mut entries = Vec::new();
        for entry in text.split(':') {
            let (size, percent) = entry.split_once('/').unwrap_or((entry, ""));
            let percent = match percent {
                "" => None,
                percent => Some(f64::from(percent.parse::<u8>().ok()?)),
            };
            entries.push((sectors(size)?, percent));
        }
        let given: f64 = entries.iter().filter_map(|(_, percent)| *percent).sum();
        let open = entries
            .iter()
            .filter(|(_, percent)| percent.is_none())
            .count();
        let rest = (100.0 - given) / open.max(1) as f64;
        if given > 100.0 || (open == 0 && given < 100.0) {
            return None;
        }
        // A length with a share of 0 % is dropped, because it never occurs.
        entries.retain(|(_, percent)| *percent != Some(0.0));
        let mut sum = 0.0;
        let upto = entries.into_iter().map(|(size, percent)| {
            sum += percent.unwrap_or(rest);
            (size, sum)
        });
        Some(Self::Split(upto.collect()))
    }

    /// The length, if only one length can occur.
    pub fn only(&self) -> Option<u32> {
        match self {
            Self::Fixed(sectors) => Some(*sectors),
            Self::Range(low, high) => (low == high).then_some(*low),
            Self::Split(entries) => match &entries[..] {
                [(sectors, _)] => Some(*sectors),
                _ => None,
            },
        }
    }

    pub fn shortest(&self) -> u32 {
        match self {
            Self::Fixed(sectors) => *sectors,
            Self::Range(low, _) => *low,
            Self::Split(entries) => entries
                .iter()
                .map(|(sectors, _)| *sectors)
                .min()
                .unwrap_or(1),
        }
    }

    pub fn longest(&self) -> u32 {
        match self {
            Self::Fixed(sectors) => *sectors,
            Self::Range(_, high) => *high,
            Self::Split(entries) => entries
                .iter()
                .map(|(sectors, _)| *sectors)
                .max()
                .unwrap_or(1),
        }
    }

    /// Draws a length. If only one length can occur, no random number is used.
    pub fn draw(&self, random: &mut Random) -> u32 {
        match self {
            Self::Fixed(sectors) => *sectors,
            Self::Range(low, high) => {
                let multiples = u64::from(high / low);
                match multiples {
                    1 => *low,
                    // The product is at most `high`, so it fits in 32 bits.
                    multiples => low * (random.below(multiples) as u32 + 1),
                }
            }
            Self::Split(entries) => {
                let drawn = random.unit() * 100.0;
                let found = entries.iter().find(|(_, upto)| drawn < *upto);
                found.or(entries.last()).map_or(1, |(sectors, _)| *sectors)
            }
        }
    }
}
