//! One named parameter: its meaning, its possible values, its default, and the source of the default.
//!
//! A scheme, an FTL or a workload declares its parameters with [`parameters!`](crate::parameters). The
//! declaration gives the documentation (`destage show`), the check of the user's input, and the struct that the
//! constructor gets, so these three always agree.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};

mod company;
mod declare;
mod values;

pub use company::{Clause, Condition, Exclusion, Whole};
pub use declare::{CountOrAuto, Field, called, count, field, joined, narrowed, prose};
pub use values::Values;

/// The possible values of a parameter. Bounds are inclusive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Integer {
        /// Smallest legal value.
        min: u64,
        /// Largest legal value.
        max: u64,
    },
    /// A decimal number.
    Number {
        /// Smallest legal value.
        min: f64,
        /// Largest legal value.
        max: f64,
    },
    /// A size in bytes; `KiB`, `MiB`, `GiB`, `TiB` are powers of 1024, `kB`, `MB`, `GB`, `TB` of 1000.
    Bytes {
        /// Smallest legal value.
        min: u64,
        /// Largest legal value.
        max: u64,
    },
    /// A whole number, or the word `auto`, which means that the number is derived from the input.
    CountOrAuto {
        /// Smallest legal number.
        min: u32,
        /// Largest legal number.
        max: u32,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text. The code that uses the value checks it.
    Text,
}

/// The declaration of a parameter, called its row. No other code states the parameter's name, default, unit, meaning
/// or source.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name: dotted (`flash.dies`), or only its last part (`pad`) in the parameter list of a scheme or FTL.
    pub name: &'static str,
    /// The possible values.
    pub kind: Kind,
    /// The default, as a user would write it.
    pub default: &'static str,
    /// The unit (`us`, `pages`, `%`); empty for pure numbers and words.
    pub unit: &'static str,
    /// One sentence on the effect of the parameter.
    pub about: &'static str,
    /// The source of the rule or of the default.
    pub source: &'static str,
    /// [Conditions](Condition) on the configuration. Unless all conditions hold, a value other than the default has
    /// no effect.
    pub needs: &'static [&'static str],
    /// The settings that cannot be combined with this parameter.
    pub excludes: &'static [Exclusion],
}

/// A value that was checked against the row of its parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A value of [`Kind::Flag`].
    Flag(bool),
    /// A value of [`Kind::Integer`] or [`Kind::Bytes`], or a number of [`Kind::CountOrAuto`].
    Integer(u64),
    /// A value of [`Kind::Number`].
    Number(f64),
    /// A value of [`Kind::Choice`] or [`Kind::Text`], or the word [`AUTO`].
    Text(String),
}

impl core::fmt::Display for Value {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(formatter),
            Self::Integer(number) => number.fmt(formatter),
            Self::Number(number) => number.fmt(formatter),
            Self::Text(text) => text.fmt(formatter),
        }
    }
}

/// The word that a [`Kind::CountOrAuto`] accepts in place of a number.
pub const AUTO: &str = "auto";

impl Parameter {
    /// An empty row from which other rows are built. It has no conditions and no exclusions.
    pub const BLANK: Self = Self {
        name: "",
        kind: Kind::Text,
        default: "",
        unit: "",
        about: "",
        source: "",
        needs: &[],
        excludes: &[],
    };

    /// This row with `needs` as its conditions.
    #[must_use]
    pub const fn needing(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }

    /// This row with `excludes` as its exclusions.
    #[must_use]
    pub const fn excluding(self, excludes: &'static [Exclusion]) -> Self {
        Self { excludes, ..self }
    }

    /// Reads `text` as a value of this parameter.
    ///
    /// # Errors
    /// A phrase that names the expected values, such as `a whole number from 1 to 64`. Messages put it after the word
    /// "expected".
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let value = match self.kind {
            Kind::Flag => match text {
                "true" | "on" | "yes" | "1" => Some(Value::Flag(true)),
                "false" | "off" | "no" | "0" => Some(Value::Flag(false)),
                _ => None,
            },
            Kind::Integer { min, max } => read_whole(text, min, max),
            Kind::CountOrAuto { .. } if text == AUTO => Some(Value::Text(AUTO.to_owned())),
            Kind::CountOrAuto { min, max } => read_whole(text, min.into(), max.into()),
            Kind::Number { min, max } => text
                .parse::<f64>()
                .ok()
                .filter(|number| (min..=max).contains(number))
                .map(Value::Number),
            Kind::Bytes { min, max } => read_bytes(text)
                .filter(|number| (min..=max).contains(number))
                .map(Value::Integer),
            Kind::Choice(words) => words
                .iter()
                .find(|word| **word == text)
                .map(|word| Value::Text((*word).to_owned())),
            Kind::Text => Some(Value::Text(text.to_owned())),
        };
        value.ok_or_else(|| self.expected())
    }

    /// A phrase that names the possible values of this parameter, such as `true or false`.
    #[must_use]
    pub fn expected(&self) -> String {
        match self.kind {
            Kind::Flag => "true or false".to_string(),
            Kind::Integer { min, max: u64::MAX } => format!("a whole number of at least {min}"),
            Kind::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Number {
                min,
                max: f64::INFINITY,
            } => format!("a number of at least {min}"),
            Kind::Number { min, max } => format!("a number from {min} to {max}"),
            Kind::Bytes { min, max: u64::MAX } => {
                format!("a size in bytes of at least {min}, such as 8MiB, 512KiB or 8388608")
            }
            Kind::Bytes { min, max } => {
                format!("a size in bytes from {min} to {max}, such as 8MiB, 512KiB or 8388608")
            }
            Kind::CountOrAuto { min, max } => {
                format!("a whole number from {min} to {max}, or {AUTO}")
            }
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Text => "text".to_string(),
        }
    }
}

fn read_whole(text: &str, min: u64, max: u64) -> Option<Value> {
    let number = text.replace('_', "").parse().ok()?;
    (min..=max)
        .contains(&number)
        .then_some(Value::Integer(number))
}

/// Reads a size in bytes, such as `8388608`, `8MiB`, `0.5 GiB` or `10MB`. Returns `None` for any other text, for
/// a fraction of a byte, and for a size that exceeds 64 bits.
///
/// ```
/// use destage_base::parameter::read_bytes;
/// assert_eq!(read_bytes("8MiB"), Some(8 << 20));
/// assert_eq!(read_bytes("1.5kB"), Some(1500));
/// assert_eq!(read_bytes("many"), None);
/// ```
#[must_use]
pub fn read_bytes(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 14] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("K", 1 << 10),
        ("M", 1 << 20),
        ("G", 1 << 30),
        ("T", 1 << 40),
        ("B", 1),
    ];
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(suffix, unit)| {
            text.strip_suffix(suffix)
                .map(|digits| (digits.trim(), *unit))
        })
        .unwrap_or((text, 1));
    if let Ok(whole) = digits.replace('_', "").parse::<u64>() {
        return whole.checked_mul(unit);
    }
    let bytes = digits.parse::<f64>().ok()? * unit as f64;
    // A size with a fraction of a byte is a typing error.
    (bytes >= 0.0 && bytes < u64::MAX as f64 && bytes == (bytes as u64) as f64)
        .then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEPTH: Parameter = Parameter {
        name: "depth",
        kind: Kind::Integer { min: 1, max: 64 },
        default: "20",
        unit: "requests",
        about: "Requests kept outstanding.",
        source: "",
        ..Parameter::BLANK
    };

    #[test]
    fn a_value_outside_its_range_says_what_was_expected() {
        assert_eq!(DEPTH.read("7"), Ok(Value::Integer(7)));
        for wrong in ["0", "65", "-1", "many", "", "1.5"] {
            assert_eq!(
                DEPTH.read(wrong),
                Err("a whole number from 1 to 64".to_string()),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_count_may_be_left_to_be_found() {
        let row = Parameter {
            kind: Kind::CountOrAuto { min: 1, max: 9 },
            default: AUTO,
            ..DEPTH
        };
        assert_eq!(row.read("auto"), Ok(Value::Text("auto".to_string())));
        assert_eq!(row.read("9"), Ok(Value::Integer(9)));
        for wrong in ["0", "10", "Auto", ""] {
            let expected = "a whole number from 1 to 9, or auto".to_string();
            assert_eq!(row.read(wrong), Err(expected), "{wrong}");
        }
    }

    #[test]
    fn sizes_refuse_fractions_of_a_byte_and_overflow() {
        for wrong in [
            "0.5",
            "1.0001KiB",
            "99999999999TiB",
            "8 Mib",
            "-4KiB",
            "NaN",
            "infMiB",
            "",
        ] {
            assert_eq!(read_bytes(wrong), None, "{wrong}");
        }
        assert_eq!(read_bytes("0.5KiB"), Some(512));
    }
}
