//! Names of earlier versions, so that a refusal can give the name that is used now.
//!
//! An old name is never accepted: a program that reads results by it would find nothing there.

/// Parameters by their old and new dotted names.
pub const KEYS: &[(&str, &str)] = &[
    ("flash.elements", "flash.dies"),
    ("flash.planes_per_element", "flash.planes_per_die"),
    ("ftl.cleaning", "ftl.gc_policy"),
    ("ftl.background_cleaning", "ftl.background_gc"),
    ("trace.asu", "trace.volumes"),
    ("trace.asu_stride", "trace.volume_stride"),
];

/// Values of a parameter: its dotted name, the old word and the new one.
pub const VALUES: &[(&str, &str, &str)] = &[("ftl.allocation_pool", "element", "die")];

/// Metrics by their old and new dotted names.
pub const METRICS: &[(&str, &str)] = &[
    ("ftl.cleanings", "ftl.gc_runs"),
    ("ftl.clean_time_ms", "ftl.gc_time_ms"),
];

fn new_name(table: &[(&str, &'static str)], old: &str) -> Option<&'static str> {
    let row = table.iter().find(|(name, _)| *name == old);
    row.map(|(_, new)| *new)
}

/// What parameter `old` is called now, if it was renamed.
#[must_use]
pub fn key(old: &str) -> Option<&'static str> {
    new_name(KEYS, old)
}

/// What metric `old` is called now, if it was renamed.
#[must_use]
pub fn metric(old: &str) -> Option<&'static str> {
    new_name(METRICS, old)
}

/// What value `old` of parameter `key` is called now, if it was renamed.
#[must_use]
pub fn value(key: &str, old: &str) -> Option<&'static str> {
    let row = VALUES
        .iter()
        .find(|(name, word, _)| *name == key && *word == old);
    row.map(|(.., new)| *new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics;
    use crate::settings::Settings;

    fn refusal(pairs: &[(&str, &str)]) -> Option<String> {
        let mut settings = Settings::new();
        for (key, value) in pairs {
            settings.set_pair(&format!("{key}={value}")).unwrap();
        }
        settings.resolve().err().map(|error| error.to_string())
    }

    #[test]
    fn a_renamed_key_is_refused_with_its_new_name_which_is_accepted() {
        for (old, new) in KEYS {
            let text = refusal(&[(old, "1")]).unwrap();
            let expected = format!("{old:?} is now {new}");
            assert!(text.contains(&expected), "{text}");
            assert!(Settings::new().accepts(new), "{new}");
            assert!(!Settings::new().accepts(old), "{old}");
        }
    }

    #[test]
    fn a_renamed_value_is_refused_with_the_new_one_which_is_accepted() {
        for (key, old, new) in VALUES {
            let text = refusal(&[(key, old)]).unwrap();
            assert!(text.contains(&format!("{old:?} is now {new}")), "{text}");
            assert_eq!(refusal(&[(key, new)]), None);
        }
    }

    #[test]
    fn a_renamed_metric_is_refused_with_its_new_name_which_is_one() {
        for (old, new) in METRICS {
            let text = metrics::require(old).unwrap_err().to_string();
            assert!(text.contains(&format!("{old:?} is now {new}")), "{text}");
            assert!(metrics::require(new).is_ok(), "{new}");
        }
    }
}
