//! Numbers in readable form. Machine-readable output does not use this module.

use destage_sim::metrics::Number;
use destage_trace::statistics::Number as Statistic;

/// `1234567` as `1,234,567`.
#[must_use]
pub fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `number` in short form, usually with four significant digits. Below 1e15, all digits before the decimal point are
/// shown.
#[must_use]
pub fn real(number: f64) -> String {
    let size = number.abs();
    match size {
        _ if size == 0.0 => "0".to_owned(),
        _ if size >= 1e15 => format!("{number:.3e}"),
        _ if size >= 1000.0 => {
            let sign = if number < 0.0 { "-" } else { "" };
            format!("{sign}{}", whole(size.round() as u64))
        }
        _ if size >= 100.0 => format!("{number:.1}"),
        _ if size >= 10.0 => format!("{number:.2}"),
        _ if size >= 1.0 => format!("{number:.3}"),
        _ if size >= 0.001 => format!("{number:.4}"),
        _ => format!("{number:.2e}"),
    }
}

/// The value of a metric.
#[must_use]
pub fn metric(number: Number) -> String {
    match number {
        Number::Integer(number) => whole(number),
        Number::Real(number) => real(number),
    }
}

/// The value of a statistic of a trace.
#[must_use]
pub fn statistic(number: Statistic) -> String {
    match number {
        Statistic::Whole(number) => whole(number),
        Statistic::Decimal(number) => real(number),
    }
}

/// `8388608` as `8 MiB`. The text is exact: the unit is the largest in which the number is a multiple of 0.5, or
/// bytes.
#[must_use]
pub fn bytes(number: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    for (name, shift) in UNITS {
        let unit = 1_u64 << shift;
        if number >= unit && number.is_multiple_of(unit >> 1) {
            let half = if number.is_multiple_of(unit) {
                ""
            } else {
                ".5"
            };
            return format!("{}{half} {name}", number / unit);
        }
    }
    format!("{} B", whole(number))
}

/// `8388608` as `8 MiB` and `9000000` as `8.583 MiB`. The unit is the largest that is not larger than the number. A
/// number that is not whole in this unit is rounded as by [`real`].
#[must_use]
pub fn size(number: u64) -> String {
    const NAMES: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    match number.checked_ilog2().unwrap_or(0) / 10 {
        0 => format!("{number} B"),
        power => {
            let unit = 1_u64 << (10 * power);
            let number = match number.is_multiple_of(unit) {
                true => whole(number / unit),
                false => real(number as f64 / unit as f64),
            };
            format!("{number} {}", NAMES[power as usize - 1])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stand_in_the_largest_unit_they_hold() {
        assert_eq!(
            [0, 1023, 1024, 1536, 9_000_000, 8 << 20, u64::MAX].map(size),
            [
                "0 B",
                "1023 B",
                "1 KiB",
                "1.500 KiB",
                "8.583 MiB",
                "8 MiB",
                "16.00 EiB"
            ]
        );
    }

    #[test]
    fn numbers_keep_what_matters() {
        assert_eq!(
            [0, 12, 1234, 1_234_567].map(whole),
            ["0", "12", "1,234", "1,234,567"]
        );
        let shown = [0.0, 0.000_012_34, 0.123_456, 1.5, 99.999, 123.456, -4321.6].map(real);
        assert_eq!(
            shown,
            [
                "0", "1.23e-5", "0.1235", "1.500", "100.00", "123.5", "-4,322"
            ]
        );
        assert_eq!(
            [512, 4096, 1536, 8 << 20, 5 << 29, 8_388_609].map(bytes),
            [
                "512 B",
                "4 KiB",
                "1.5 KiB",
                "8 MiB",
                "2.5 GiB",
                "8,388,609 B"
            ]
        );
    }
}
