//! Checked values by name, for results and documentation. Code reads them as a struct.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use super::{Parameter, Value};

/// Checked values by name: every parameter of some list has exactly one.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The values that were set.
    set: BTreeMap<&'static str, Value>,
    /// All of the list. Every clone has the same.
    defaults: Arc<BTreeMap<&'static str, Value>>,
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Values {
    /// The defaults of `parameters`.
    ///
    /// # Panics
    /// If a default does not fit its own row, which is a bug in the row.
    #[must_use]
    pub fn defaults<'a>(parameters: impl IntoIterator<Item = &'a Parameter>) -> Self {
        let defaults = parameters
            .into_iter()
            .map(|row| match row.read(row.default) {
                Ok(value) => (row.name, value),
                Err(expected) => panic!("default of {}: expected {expected}", row.name),
            })
            .collect();
        Self {
            set: BTreeMap::new(),
            defaults: Arc::new(defaults),
        }
    }

    /// Replaces the value of `name`. One that the list does not have is found by [`get`](Self::get), and no parameter.
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.set.insert(name, value);
    }

    /// All values, by name in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let defaults = self.defaults.iter();
        defaults.map(|(name, default)| (*name, self.set.get(name).unwrap_or(default)))
    }

    /// The values that are not at their default, by name in ascending order.
    pub fn chosen(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let set = self.set.iter().map(|(name, value)| (*name, value));
        set.filter(|(name, value)| self.defaults.get(name) != Some(*value))
    }

    /// The value of `name`, if the list had such a parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.set.get(name).or_else(|| self.defaults.get(name))
    }
}
