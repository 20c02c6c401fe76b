//! Names of earlier versions. The error for an old name gives the new name.
//!
//! An old name is never accepted, because a program that looks for the old name in results would find nothing.

/// The old and new dotted names of parameters.
pub const KEYS: &[(&str, &str)] = &[
    ("flash.elements", "flash.dies"),
    ("flash.planes_per_element", "flash.planes_per_die"),
    ("ftl.cleaning", "ftl.gc_policy"),
    ("ftl.background_cleaning", "ftl.background_gc"),
    ("trace.asu", "trace.volumes"),
    ("trace.asu_stride", "trace.volume_stride"),
    ("flash.order", "flash.scheduling"),
    ("flash.dispatch", "flash.scheduling"),
    ("flash.reads_ahead", "flash.read_starvation_limit"),
    ("flash.read_factors", "flash.read_times_us"),
    ("flash.program_factors", "flash.program_times_us"),
    ("ftl.d", "ftl.gc_choices"),
    ("ftl.gc_floor", "ftl.gc_hard_threshold"),
    ("buffer.key", "buffer.epo_key"),
    ("buffer.pool", "buffer.epo_pool"),
    ("buffer.pird_thd", "buffer.bpac_pird_thd"),
    ("buffer.bird_thd", "buffer.bpac_bird_thd"),
];

/// Values of a renamed parameter that changed their names as well: the old name of the parameter, the old word
/// and the new word.
const WORDS: &[(&str, &str, &str)] = &[
    ("flash.dispatch", "off", "arrival"),
    ("flash.dispatch", "arrival", "commands_arrival"),
    ("flash.dispatch", "reads_first", "commands_reads_first"),
];

/// Renamed values of parameters that kept their names: the dotted name, the old word and the new word.
pub const VALUES: &[(&str, &str, &str)] = &[("ftl.allocation_pool", "element", "die")];

/// The old and new dotted names of metrics.
pub const METRICS: &[(&str, &str)] = &[
    ("ftl.cleanings", "ftl.gc_runs"),
    ("ftl.clean_time_ms", "ftl.gc_time_ms"),
];

fn new_name(table: &[(&str, &'static str)], old: &str) -> Option<&'static str> {
    let row = table.iter().find(|(name, _)| *name == old);
    row.map(|(_, new)| *new)
}

/// The new name of parameter `old`; `None` if it was not renamed.
#[must_use]
pub fn key(old: &str) -> Option<&'static str> {
    new_name(KEYS, old)
}

/// The new name and value of parameter `old` with the value `word`; `None` if the parameter was not renamed.
#[must_use]
pub fn pair(old: &str, word: &str) -> Option<String> {
    let new = key(old)?;
    // The old parameters were factors; the new ones are times.
    if old.ends_with("_factors") {
        return Some(format!("{new} with the times themselves"));
    }
    let mut words = WORDS.iter();
    let row = words.find(|(name, known, _)| *name == old && *known == word);
    let word = row.map_or(word, |(.., new)| new);
    Some(format!("{new}={word}"))
}

/// The new name of metric `old`; `None` if it was not renamed.
#[must_use]
pub fn metric(old: &str) -> Option<&'static str> {
    new_name(METRICS, old)
}

/// The new word for the value `old` of parameter `key`; `None` if it was not renamed.
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
            // The new name is accepted even if its scheme or layer is not chosen.
            let text = refusal(&[(new, "?")]).unwrap();
            assert!(!text.contains("unknown parameter"), "{text}");
            assert!(!Settings::new().accepts(old), "{old}");
        }
    }

    #[test]
    fn a_value_of_a_renamed_key_is_said_with_the_new_one() {
        for (old, word, expected) in [
            (
                "flash.order",
                "garbage_last",
                "flash.scheduling=garbage_last",
            ),
            (
                "flash.dispatch",
                "reads_first",
                "flash.scheduling=commands_reads_first",
            ),
            (
                "flash.read_factors",
                "1/2",
                "flash.read_times_us with the times",
            ),
            ("ftl.d", "4", "ftl.gc_choices=4"),
        ] {
            let text = refusal(&[(old, word)]).unwrap();
            assert!(text.contains(&format!("expected {expected}")), "{text}");
        }
    }

    #[test]
    fn the_glossary_has_every_renamed_key() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/GLOSSARY.md");
        let text = std::fs::read_to_string(path).unwrap();
        for (old, new) in KEYS {
            let row = format!("| `{old}` | `{new}` |");
            assert!(text.contains(&row), "{row}");
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
