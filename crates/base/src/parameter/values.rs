//! Checked values by name, for results and documentation. Code reads them as a struct.

use alloc::collections::BTreeMap;

use super::{Parameter, Value};

/// Checked values by name: every parameter of some list has exactly one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    map: BTreeMap<&'static str, Value>,
}

impl Values {
    /// The defaults of `parameters`.
    ///
    /// # Panics
    /// If a default does not fit its own row, which is a bug in the row.
    #[must_use]
    pub fn defaults<'a>(parameters: impl IntoIterator<Item = &'a Parameter>) -> Self {
        let map = parameters
            .into_iter()
            .map(|row| match row.read(row.default) {
                Ok(value) => (row.name, value),
                Err(expected) => panic!("default of {}: expected {expected}", row.name),
            })
            .collect();
        Self { map }
    }

    /// Replaces the value of `name`.
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.map.insert(name, value);
    }

    /// All values, by name in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.map.iter().map(|(name, value)| (*name, value))
    }

    /// The value of `name`, if the list had such a parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    /// A [`Kind::Flag`].
    ///
    /// # Panics
    /// If the list this was made from has no such flag, which is a bug in the caller.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        match self.map.get(name) {
            Some(Value::Flag(flag)) => *flag,
            other => panic!("no flag {name}: {other:?}"),
        }
    }

    /// A [`Kind::Integer`] or [`Kind::Bytes`].
    ///
    /// # Panics
    /// If the list this was made from has no such number, which is a bug in the caller.
    #[must_use]
    pub fn integer(&self, name: &str) -> u64 {
        match self.map.get(name) {
            Some(Value::Integer(number)) => *number,
            other => panic!("no whole number {name}: {other:?}"),
        }
    }

    /// A [`Kind::Number`].
    ///
    /// # Panics
    /// If the list this was made from has no such number, which is a bug in the caller.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        match self.map.get(name) {
            Some(Value::Number(number)) => *number,
            other => panic!("no number {name}: {other:?}"),
        }
    }

    /// A [`Kind::Choice`] or [`Kind::Text`].
    ///
    /// # Panics
    /// If the list this was made from has no such text, which is a bug in the caller.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.map.get(name) {
            Some(Value::Text(text)) => text,
            other => panic!("no text {name}: {other:?}"),
        }
    }
}
