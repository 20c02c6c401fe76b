//! Checked values by name, for results and documentation. Other code reads the values from the fields of a struct.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use super::{Parameter, Value};

/// Checked values by name. Every parameter of a list has exactly one value.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The values that were set explicitly.
    set: BTreeMap<&'static str, Value>,
    /// The defaults of all parameters of the list. All clones share them.
    defaults: Arc<BTreeMap<&'static str, Value>>,
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Values {
    /// The default values of `parameters`.
    ///
    /// # Panics
    /// If a default does not fit its row, which is a bug in the row.
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

    /// Sets the value of `name`. A name that is not in the list can be found with [`get`](Self::get) and
    /// [`chosen`](Self::chosen), but not with [`iter`](Self::iter).
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.set.insert(name, value);
    }

    /// The values of all parameters of the list, in ascending order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let defaults = self.defaults.iter();
        defaults.map(|(name, default)| (*name, self.set.get(name).unwrap_or(default)))
    }

    /// The values that were set and differ from the default, in ascending order of their names.
    pub fn chosen(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let set = self.set.iter().map(|(name, value)| (*name, value));
        set.filter(|(name, value)| self.defaults.get(name) != Some(*value))
    }

    /// The value of `name`: the one that was set, or else the default. `None` if the list has no such parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.set.get(name).or_else(|| self.defaults.get(name))
    }
}
