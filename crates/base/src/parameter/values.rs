//! Checked values by name, for results and documentation. Code reads them as a struct.

use alloc::collections::BTreeMap;

use super::{Parameter, Value};

/// Checked values by name: every parameter of some list has exactly one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    map: BTreeMap<&'static str, Value>,
    defaults: BTreeMap<&'static str, Value>,
}

impl Values {
    /// The defaults of `parameters`.
    ///
    /// # Panics
    /// If a default does not fit its own row, which is a bug in the row.
    #[must_use]
    pub fn defaults<'a>(parameters: impl IntoIterator<Item = &'a Parameter>) -> Self {
        let defaults: BTreeMap<_, _> = parameters
            .into_iter()
            .map(|row| match row.read(row.default) {
                Ok(value) => (row.name, value),
                Err(expected) => panic!("default of {}: expected {expected}", row.name),
            })
            .collect();
        Self {
            map: defaults.clone(),
            defaults,
        }
    }

    /// Replaces the value of `name`.
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.map.insert(name, value);
    }

    /// All values, by name in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.map.iter().map(|(name, value)| (*name, value))
    }

    /// Those that are not at their default, by name in ascending order.
    pub fn chosen(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let at_default = |name| self.defaults.get(name);
        self.iter()
            .filter(move |(name, value)| at_default(*name) != Some(*value))
    }

    /// The value of `name`, if the list had such a parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }
}
