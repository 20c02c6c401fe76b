//! Reads fields of a table in forms that this project does not write: in quotes, with an exponent, as a date.
//!
//! This code is called only after the fast decoder has refused a field. So it does not slow down the reading of
//! tables that this project writes.

use crate::digits::POWERS_OF_TEN;
use crate::request::Operation;
use destage_base::time::TICKS_PER_SECOND;
use std::borrow::Cow;

/// A number with more significant digits than this is refused.
const DIGITS_MAX: usize = 30;

/// The field that begins at `at`, without its quotes and the blanks around it, and the position of its end.
/// `None` if a quote is not closed.
pub(super) fn field(bytes: &[u8], at: usize, separator: u8) -> Option<(Cow<'_, [u8]>, usize)> {
    let line_end = memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |end| at + end);
    let line = &bytes[at..line_end];
    let ends_plain = |byte: &u8| *byte == separator || separator == b' ' && *byte == b'\t';
    if line.first() != Some(&b'"') {
        let end = line.iter().position(ends_plain).unwrap_or(line.len());
        return Some((Cow::Borrowed(line[..end].trim_ascii()), at + end));
    }
    let mut text = Vec::new();
    let mut from = 1;
    loop {
        let quote = from + memchr::memchr(b'"', &line[from..])?;
        text.extend_from_slice(&line[from..quote]);
        if line.get(quote + 1) != Some(&b'"') {
            return Some((Cow::Owned(text.trim_ascii().to_vec()), at + quote + 1));
        }
        // Two quotes within a quoted field mean one quote.
        text.push(b'"');
        from = quote + 2;
    }
}

/// Parses a number exactly, in hexadecimal if it begins with 0x. Returns its digits as a whole number, and the
/// power of ten by which this whole number must be multiplied.
fn decimal(text: &str) -> Option<(u128, i32)> {
    if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = u128::from_str_radix(digits, 16).ok();
        return number.filter(|_| is_number).map(|number| (number, 0));
    }
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i16>().ok()?),
        None => (text, 0),
    };
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let all = [whole, fraction].concat();
    let is_number = !(whole.is_empty() && !digits.starts_with('.') || digits == ".")
        && all.bytes().all(|byte| byte.is_ascii_digit());
    let significant = all.trim_start_matches('0');
    if !is_number || significant.len() > DIGITS_MAX {
        return None;
    }
    let number = if significant.is_empty() {
        0
    } else {
        significant.parse().ok()?
    };
    Some((number, i32::from(exponent) - fraction.len() as i32))
}

/// `number` times ten to the power `power`, rounded half up to a whole number, and whether it was rounded.
fn scaled(number: u128, power: i32) -> Option<(u128, bool)> {
    let factor = |power: u32| 10u128.checked_pow(power);
    if power >= 0 {
        return Some((
            if number == 0 {
                0
            } else {
                number.checked_mul(factor(power.unsigned_abs())?)?
            },
            false,
        ));
    }
    let Some(unit) = factor(power.unsigned_abs()) else {
        return Some((0, number > 0));
    };
    let rest = number % unit;
    Some((
        number / unit + u128::from(rest >= unit - rest && rest > 0),
        rest > 0,
    ))
}

/// Parses a time in units of ten to the power `exponent` ticks, or a date. Returns whole units, the rest in
/// ticks, and whether it is a date.
pub(super) fn time(text: &str, exponent: u32) -> Option<(u64, u64, bool)> {
    let ticks_per_unit = u128::from(POWERS_OF_TEN[exponent as usize]);
    let (ticks, is_date) = match decimal(text) {
        Some((number, power)) => {
            let (ticks, _) = scaled(number, power.checked_add(exponent as i32)?)?;
            (ticks, false)
        }
        None => (date(text)?, true),
    };
    let whole = u64::try_from(ticks / ticks_per_unit).ok()?;
    Some((whole, (ticks % ticks_per_unit) as u64, is_date))
}

/// Parses a whole number in any form, such as `1e3` or `4096.0`.
pub(super) fn whole(text: &str) -> Option<u64> {
    let (number, power) = decimal(text)?;
    match scaled(number, power)? {
        (number, false) => u64::try_from(number).ok(),
        _ => None,
    }
}

/// Parses a number of bytes, in units of `unit` bytes unless the text contains a unit: `4KiB`, `512B`, `1.5M`.
pub(super) fn bytes(text: &str, unit: u64) -> Option<u64> {
    let Some((number, power)) = decimal(text) else {
        let has_unit = text.ends_with(|last: char| last.is_ascii_alphabetic());
        return has_unit
            .then(|| destage_base::parameter::read_bytes(text))
            .flatten();
    };
    match scaled(number.checked_mul(u128::from(unit))?, power)? {
        (bytes, false) => u64::try_from(bytes).ok(),
        _ => None,
    }
}

/// Parses a flag: 0, 1, `false` or `true`.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "0" | "false" => Some(false),
        "1" | "true" => Some(true),
        _ => None,
    }
}

/// Parses an operation in the forms that several tools write.
pub(super) fn operation(text: &str) -> Option<Operation> {
    match text.to_ascii_lowercase().as_str() {
        "write" | "w" | "wr" => Some(Operation::Write),
        "read" | "r" | "rd" => Some(Operation::Read),
        "flush" | "f" | "sync" | "fsync" | "fdatasync" => Some(Operation::Flush),
        "trim" | "t" | "discard" | "d" | "unmap" | "u" | "deallocate" => Some(Operation::Trim),
        _ => None,
    }
}

/// Parses a date of RFC 3339 such as `2024-02-29T12:00:00.5+01:00`. Returns ticks since 1970. A date without a
/// time zone is in UTC.
fn date(text: &str) -> Option<u128> {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        if plain {
            digits.parse::<i64>().ok()
        } else {
            None
        }
    };
    let separators = [(4, "-"), (7, "-"), (13, ":"), (16, ":")];
    let is_date = separators
        .iter()
        .all(|(at, mark)| text.get(*at..at + 1) == Some(mark))
        && matches!(text.get(10..11), Some("T" | "t" | " "));
    if !is_date {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_in_month = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    // A leap second counts as the first second of the next minute.
    if !(1..=days_in_month).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = text.get(19..)?;
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (fraction, zone) = rest.split_at(zone_at);
    let fraction = match fraction.strip_prefix('.').or(fraction.strip_prefix(',')) {
        Some(digits) if !digits.is_empty() => {
            let (number, power) = decimal(&format!(".{digits}"))?;
            scaled(number.checked_mul(u128::from(TICKS_PER_SECOND))?, power)?.0
        }
        Some(_) => return None,
        None if fraction.is_empty() => 0,
        None => return None,
    };
    let offset_minutes = match zone {
        "" | "Z" | "z" => 0,
        _ => {
            let digits = zone.get(1..)?.replace(':', "");
            let plain = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
            let minutes = |part: &str| part.parse::<i64>().ok();
            let (hours, minutes) = (minutes(digits.get(..2)?)?, minutes(digits.get(2..)?)?);
            if !plain || hours > 23 || minutes > 59 {
                return None;
            }
            let east = hours * 60 + minutes;
            if zone.starts_with('-') { -east } else { east }
        }
    };
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        - offset_minutes * 60;
    let seconds = u128::try_from(seconds).ok()?;
    Some(seconds * u128::from(TICKS_PER_SECOND) + fraction)
}

/// Days from 1 January 1970 to a date of the Gregorian calendar. Years begin in March here, so that a leap day
/// is the last day of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_separators_and_quotes() {
        let of = |line: &str, separator| {
            field(line.as_bytes(), 0, separator)
                .map(|(text, end)| (String::from_utf8(text.into_owned()).unwrap(), end))
        };
        assert_eq!(of("\"a,b\",c\n", b','), Some(("a,b".into(), 5)));
        assert_eq!(of("\"a\"\"b\"\n", b','), Some(("a\"b".into(), 6)));
        assert_eq!(of(" 7 ,c\n", b','), Some(("7".into(), 3)));
        assert_eq!(of("a\tc\n", b' '), Some(("a".into(), 1)));
        assert_eq!(of("\"\"\r\n", b','), Some((String::new(), 2)));
        assert_eq!(of("\"a,b\n\"", b','), None);
    }

    #[test]
    fn numbers_are_exact_in_every_form() {
        for (text, value) in [
            ("1e3", Some(1000)),
            ("1.5E3", Some(1500)),
            ("+7", Some(7)),
            ("4096.0", Some(4096)),
            ("120e-1", Some(12)),
            ("18446744073709551615.000", Some(u64::MAX)),
            ("1844674407370955161.5e1", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("0e9999", Some(0)),
            ("0x1E", Some(30)),
            ("0X1000", Some(4096)),
            ("0x", None),
            ("0x+1", None),
            ("0x1.5", None),
            ("1e9999", None),
            ("1e99999", None),
            ("1.5", None),
            ("1e-1", None),
            (".", None),
            ("", None),
            ("e5", None),
            ("-1", None),
            ("1,5", None),
        ] {
            assert_eq!(whole(text), value, "{text}");
        }
        for (text, unit, value) in [
            ("4", 1024, Some(4096)),
            ("0.5", 1024, Some(512)),
            ("4KiB", 1, Some(4096)),
            ("4K", 1024, Some(4096)),
            ("4KB", 1, Some(4000)),
            ("512B", 1024, Some(512)),
            ("0x1b", 1024, Some(27_648)),
            ("0.3", 1024, None),
            ("4 potatoes", 1, None),
        ] {
            assert_eq!(bytes(text, unit), value, "{text}");
        }
    }

    #[test]
    fn times_are_rounded_half_up_at_the_tick() {
        for (text, exponent, ticks) in [
            (".5", 10, Some(5_000_000_000)),
            ("1e3", 1, Some(10_000)),
            ("5.", 1, Some(50)),
            ("1e-11", 10, Some(0)),
            ("5e-11", 10, Some(1)),
            ("4.9e-11", 10, Some(0)),
            ("2.5e-1", 1, Some(3)),
            ("nan", 1, None),
        ] {
            let found = time(text, exponent)
                .map(|(whole, rest, _)| whole * POWERS_OF_TEN[exponent as usize] + rest);
            assert_eq!(found, ticks, "{text}");
        }
    }

    #[test]
    fn dates_count_from_1970() {
        let seconds = |text: &str| time(text, 10).map(|(whole, rest, _)| (whole, rest));
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some((0, 0))),
            ("2000-02-29T00:00:01Z", Some((951_782_401, 0))),
            (
                "2024-02-29T12:34:56.789Z",
                Some((1_709_210_096, 7_890_000_000)),
            ),
            ("2024-02-29 13:34:56+01:00", Some((1_709_210_096, 0))),
            ("2024-02-29t07:04:56-0530", Some((1_709_210_096, 0))),
            (
                "2200-12-31T23:59:59.9999999999",
                Some((7_289_654_399, 9_999_999_999)),
            ),
            ("2023-02-29T00:00:00Z", None),
            ("2024-13-01T00:00:00Z", None),
            ("2024-01-01T24:00:00Z", None),
            ("2024-01-01T00:00:00.Z", None),
            ("2024-01-01T00:00:00+1", None),
            ("1969-12-31T23:59:59Z", None),
            ("2024-01-01", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }
}
