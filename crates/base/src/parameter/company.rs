//! Conditions on the whole configuration: conditions that a parameter needs, and conditions that it excludes.
//!
//! A condition is text that people read and programs check: `flash.suspend != never`, `host.queues > 1 or
//! host.link_lanes = 4|8`, `clock and bytes`. A clause compares the value of a key with a word, a number, or several
//! of them separated by `|`. A clause of a single word names a fact, and [`Whole`] says whether the fact holds. `and`
//! has precedence over `or`.

use alloc::vec::Vec;

use super::Value;

/// A combination of settings that a parameter excludes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exclusion {
    /// The values of the parameter to which the exclusion applies, as the end of a clause, such as `= pool` or `> 1`.
    /// If the text is empty, the exclusion applies to all values except the default.
    pub value: &'static str,
    /// The condition that must not hold together with these values.
    pub with: &'static str,
    /// The reason, in one sentence without a full stop.
    pub because: &'static str,
}

/// A whole configuration, as far as conditions use it: values and facts.
pub trait Whole {
    /// The value of `key`, if the configuration has such a parameter.
    fn value(&self, key: &str) -> Option<Value>;

    /// Whether the fact called `name` holds; `None` if there is no such fact.
    fn fact(&self, name: &str) -> Option<bool>;
}

/// A condition that was read from text.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition<'t> {
    /// Lists of clauses. The condition holds if all clauses of at least one list hold.
    pub any: Vec<Vec<Clause<'t>>>,
}

/// A part of a condition that compares one value or names one fact.
#[derive(Clone, PartialEq, Debug)]
pub enum Clause<'t> {
    /// The value of a key is, or is not, one of several words or numbers.
    Is {
        /// The key.
        key: &'t str,
        /// True if the value must be one of `values` (`=`), false if it must be none of `values` (`!=`).
        wanted: bool,
        /// The words or numbers.
        values: Vec<&'t str>,
    },
    /// The value of a key is a number above `number`.
    Above {
        /// The key.
        key: &'t str,
        /// The number.
        number: f64,
    },
    /// A fact with this name holds.
    Fact(&'t str),
}

impl<'t> Condition<'t> {
    /// Reads a condition, or returns `None` if `text` is not one.
    #[must_use]
    pub fn read(text: &'t str) -> Option<Self> {
        let all = |part: &'t str| part.split(" and ").map(Clause::read).collect();
        let any: Option<Vec<Vec<Clause<'t>>>> = text.split(" or ").map(all).collect();
        Some(Self { any: any? })
    }

    /// Whether the condition holds for `whole`. A clause with a key that `whole` does not have is false.
    ///
    /// # Panics
    /// If the condition names a fact that `whole` does not know, which is a bug in the parameter's row.
    #[must_use]
    pub fn holds(&self, whole: &dyn Whole) -> bool {
        let all = |clauses: &Vec<Clause<'_>>| clauses.iter().all(|clause| clause.holds(whole));
        self.any.iter().any(all)
    }
}

impl<'t> Clause<'t> {
    fn read(text: &'t str) -> Option<Self> {
        let is_word = |word: &str| !word.is_empty() && !word.contains(char::is_whitespace);
        let text = text.trim();
        for (sign, wanted) in [(" != ", false), (" = ", true)] {
            if let Some((key, values)) = text.split_once(sign) {
                let values: Vec<&str> = values.split('|').collect();
                let is_sound = is_word(key) && values.iter().all(|value| is_word(value));
                return is_sound.then_some(Self::Is {
                    key,
                    wanted,
                    values,
                });
            }
        }
        if let Some((key, number)) = text.split_once(" > ") {
            let number = number.parse().ok().filter(|_| is_word(key))?;
            return Some(Self::Above { key, number });
        }
        is_word(text).then_some(Self::Fact(text))
    }

    /// Whether the clause holds for `whole`. A clause with a key that `whole` does not have is false.
    ///
    /// # Panics
    /// If the clause names a fact that `whole` does not know.
    #[must_use]
    pub fn holds(&self, whole: &dyn Whole) -> bool {
        match self {
            Self::Is {
                key,
                wanted,
                values,
            } => whole.value(key).is_some_and(|value| {
                let is_one = values.iter().any(|text| value.is(text));
                is_one == *wanted
            }),
            Self::Above { key, number } => match whole.value(key) {
                Some(Value::Integer(value)) => value as f64 > *number,
                Some(Value::Number(value)) => value > *number,
                _ => false,
            },
            Self::Fact(name) => whole
                .fact(name)
                .unwrap_or_else(|| panic!("there is no fact called {name}")),
        }
    }
}

impl Value {
    /// Whether `text` is a way to write this value.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        match self {
            Self::Flag(flag) => text == if *flag { "true" } else { "false" },
            Self::Integer(number) => text.parse() == Ok(*number),
            Self::Number(number) => text.parse() == Ok(*number),
            Self::Text(word) => word == text,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    struct Two;

    impl Whole for Two {
        fn value(&self, key: &str) -> Option<Value> {
            match key {
                "a.count" => Some(Value::Integer(3)),
                "a.word" => Some(Value::Text("last".to_string())),
                _ => None,
            }
        }

        fn fact(&self, name: &str) -> Option<bool> {
            ["clock", "bytes"]
                .contains(&name)
                .then_some(name == "clock")
        }
    }

    #[test]
    fn a_condition_says_what_has_to_hold() {
        for (text, expected) in [
            ("a.count = 3", true),
            ("a.count = 1|3", true),
            ("a.count != 3", false),
            ("a.count > 2", true),
            ("a.count > 3", false),
            ("a.word = first|last", true),
            ("a.word != first", true),
            ("b = 1", false),
            ("b != 1", false),
            ("clock", true),
            ("clock and bytes", false),
            ("clock and bytes or a.count > 1", true),
            ("a.count > 9 or clock and a.word = first", false),
        ] {
            let condition = Condition::read(text).expect(text);
            assert_eq!(condition.holds(&Two), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_not_read() {
        for text in [
            "",
            "a =",
            "a = ",
            "a > many",
            "two words",
            "a = 1 or ",
            "a = 1|",
        ] {
            assert_eq!(Condition::read(text), None, "{text}");
        }
    }
}
