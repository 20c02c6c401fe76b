//! The check of a whole configuration: the needs and exclusions in the rows of its parameters, and values that do
//! not fit each other.
//!
//! | finding | effect |
//! | --- | --- |
//! | a parameter was set, but a condition that it needs does not hold | it has no effect: [`Config::without_effect`] |
//! | a parameter excludes another one, and both have an effect | [`SimError::Excluded`], with the reason of the row |
//! | a value is impossible at this size, such as three channels for eight dies | [`SimError::Misfit`], from `FITS` |
//!
//! A parameter without effect excludes nothing. It is treated as if it had its default.

use destage_base::parameter::{Condition, CountOrAuto, Exclusion, Parameter, Value, Whole};
use destage_buffer::{SchemeConfig, Sees};

use crate::capacity::has_reserve;
use crate::config::Config;
use crate::error::{Refusal, SimError};
use crate::fits::FITS;
use crate::parameters::{EXACT_RESPONSES, PARAMETERS, VolatileCache};
use crate::source::Seen;

/// The purpose of a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Purpose {
    /// A run for its results.
    #[default]
    Run,
    /// A run whose beginning is recorded for display.
    Watch,
    /// A run with bytes and a loss of power.
    Cut,
    /// A device with bytes that serves clients.
    Live,
}

/// The purpose of a configuration, and the settings that were made for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub purpose: Purpose,
    /// The parameters that the user set. Parameters that a profile or an input sets are not included.
    pub given: Vec<String>,
    /// The over-provisioning in percent that the user set, if it has an effect.
    pub over_provisioning: Option<f64>,
}

/// Where the requests of an input come from. Some parameters of reading have an effect only on some of these kinds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum InputKind {
    /// A workload, or a function that generates requests.
    Generated,
    /// Requests that the caller passes in memory.
    Memory,
    /// A trace file, or standard input.
    File,
}

/// The facts about an input, as far as they are known. A fact that is not known is assumed to hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    pub input: Option<InputKind>,
    /// The kinds of requests in the input.
    pub seen: Option<Seen>,
}

/// A fact about a configuration and its purpose that conditions may name.
pub struct Fact {
    /// The name in conditions.
    pub name: &'static str,
    /// The fact in words that fit after "needs" or "without".
    pub words: &'static str,
    holds: fn(&Considered<'_>) -> bool,
}

/// All facts.
pub static FACTS: &[Fact] = &[
    Fact {
        name: "clock",
        words: "a clock (sim.costing = event, and a translation layer with flash)",
        holds: |of| of.config.is_timed(),
    },
    Fact {
        name: "flash",
        words: "a translation layer with flash (any but ftl.kind = none)",
        holds: |of| of.config.has_flash(),
    },
    Fact {
        name: "no-flash",
        words: "a translation layer without flash",
        holds: |of| !of.config.has_flash(),
    },
    Fact {
        name: "bytes",
        words: "contents of pages (a run whose power fails, or a served device)",
        holds: |of| matches!(of.purpose, Purpose::Cut | Purpose::Live),
    },
    Fact {
        name: "cut",
        words: "a run whose power fails",
        holds: |of| of.purpose == Purpose::Cut,
    },
    Fact {
        name: "live",
        words: "a served device",
        holds: |of| of.purpose == Purpose::Live,
    },
    Fact {
        name: "input",
        words: "an input whose addresses may lie beyond the device (a served device refuses such requests)",
        holds: |of| of.purpose != Purpose::Live,
    },
    Fact {
        name: "watch",
        words: "a run that is watched",
        holds: |of| of.purpose == Purpose::Watch,
    },
    Fact {
        name: "units",
        words: "pages that are programmed together (flash.program_unit, flash.program_passes, ftl.map_unit_bytes)",
        holds: |of| {
            let config = of.config;
            config.units_per_page > 1 || config.units_in_effect().is_some()
        },
    },
    Fact {
        name: "whole-units",
        words: "a layer that works in whole program units (ftl.kind = striped or zns)",
        holds: |of| of.config.ftl_row.works_in_units,
    },
    Fact {
        name: "fillers",
        words: "device.power_may_fail = true under a layer that does not merge blocks",
        holds: |of| of.config.has_fillers(),
    },
    Fact {
        name: "shared-pages",
        words: "units of the mapping that share a page of flash (ftl.map_unit_bytes)",
        holds: |of| of.config.units_per_page > 1,
    },
    Fact {
        name: "no-units",
        words: "a layer that does not fill the pages of a block in order",
        holds: |of| of.config.has_flash() && !of.config.ftl_row.fills_blocks_in_turn,
    },
    Fact {
        name: "plane-groups",
        words: "a layer whose planes work in parallel",
        holds: |of| of.config.ftl_row.groups_planes,
    },
    Fact {
        name: "batches",
        words: "groups of planes that work in parallel in batches (flash.parallel_units)",
        holds: |of| of.config.works_in_batches(),
    },
    Fact {
        name: "erase-dates",
        words: "garbage collection that knows when each block was erased (ftl.gc_policy = wear_aware, or ftl.wl_migrate = true)",
        holds: |of| {
            let config = of.config;
            config.holds("ftl.gc_policy = wear_aware or ftl.wl_migrate = true")
        },
    },
    Fact {
        name: "places-writes",
        words: "a layer that chooses the die of each write",
        holds: |of| of.config.ftl_row.places_writes,
    },
    Fact {
        name: "cell-modes",
        words: "a layer that has some blocks with one bit a cell",
        holds: |of| of.config.ftl_row.has_cell_modes,
    },
    Fact {
        name: "one-cell-mode",
        words: "flash whose blocks all have the same mode",
        holds: |of| of.config.has_flash() && !of.config.ftl_row.has_cell_modes,
    },
    Fact {
        name: "merges",
        words: "a layer that merges blocks",
        holds: |of| of.config.ftl_row.has_merges,
    },
    Fact {
        name: "handles",
        words: "ftl.handles above 1",
        holds: |of| of.config.handles() > 1,
    },
    Fact {
        name: "pages",
        words: "a scheme that keeps pages",
        holds: |of| of.config.keeps_pages(),
    },
    Fact {
        name: "reserve",
        words: "a layer with ftl.reserve_percent",
        holds: |of| has_reserve(of.config.ftl_row),
    },
    Fact {
        name: "shares",
        words: "a scheme with slots that can be divided",
        holds: |of| of.config.has_divisible_slots(),
    },
    Fact {
        name: "clusters",
        words: "a scheme that knows clusters",
        holds: |of| of.config.scheme.sees.contains(&Sees::Clusters),
    },
    Fact {
        name: "pads",
        words: "a scheme that pads (buffer.pad = true)",
        holds: |of| {
            let pad = of.config.buffer_parameter("pad");
            of.config.own_version.is_some() || pad == Some(&Value::Flag(true))
        },
    },
    Fact {
        name: "foreknown",
        words: "a scheme that knows the coming writes",
        holds: |of| of.config.scheme.needs_future(),
    },
    Fact {
        name: "trims",
        words: "an input with trims",
        holds: |of| of.known.seen.is_none_or(|seen| seen.trims),
    },
    Fact {
        name: "trace",
        words: "a trace, and not a workload",
        holds: |of| {
            let input = of.known.input;
            input.is_none_or(|input| input != InputKind::Generated)
        },
    },
    Fact {
        name: "trace-file",
        words: "a trace file",
        holds: |of| {
            let input = of.known.input;
            input.is_none_or(|input| input == InputKind::File)
        },
    },
    Fact {
        name: "durable-answers",
        words: "an input with flushes or force unit access, or device.vwc = off",
        holds: |of| {
            let is_off = of.config.typed.device.vwc == VolatileCache::Off;
            is_off || of.known.seen.is_none_or(|seen| seen.durable)
        },
    },
    Fact {
        name: "many-requests",
        words: "more requests than that",
        holds: |of| {
            let kept = of.config.typed.sim.exact_responses;
            let least = kept.min(EXACT_RESPONSES);
            let seen = of.known.seen;
            seen.is_none_or(|seen| seen.requests > u64::from(least))
        },
    },
    Fact {
        name: "front-end",
        words: "a stage of the front end (docs/SPEC.md, Front end)",
        holds: |of| of.config.front().is_some(),
    },
    Fact {
        name: "overtaking",
        words: "requests that may overtake others inside the device",
        holds: |of| of.config.front_reorders(),
    },
];

/// The text of `condition` for users, with the words of facts in place of their names.
#[must_use]
pub fn in_words(condition: &str) -> String {
    let of_clause = |clause: &str| {
        let fact = FACTS.iter().find(|fact| fact.name == clause);
        let plain = || clause.replace('|', " or ").replace(" != ", " other than ");
        fact.map_or_else(plain, |fact| fact.words.to_owned())
    };
    let of_part = |part: &str| {
        let clauses: Vec<String> = part.split(" and ").map(of_clause).collect();
        clauses.join(", and ")
    };
    let parts: Vec<String> = condition.split(" or ").map(of_part).collect();
    parts.join(", or ")
}

/// A configuration, and its purpose.
pub struct Considered<'c> {
    config: &'c Config,
    purpose: Purpose,
    known: Known,
}

impl Considered<'_> {
    /// The conditions of `row` that do not hold.
    fn lacks(&self, row: &Parameter) -> impl Iterator<Item = &'static str> {
        row.needs
            .iter()
            .copied()
            .filter(|text| !read(text).holds(self))
    }

    /// Whether `value` of `row` has an effect: it differs from the default, and all conditions hold.
    fn counts(&self, row: &Parameter, value: &Value) -> bool {
        row.read(row.default).as_ref() != Ok(value) && self.lacks(row).next().is_none()
    }

    /// The text for users of the alternatives of `condition` that hold; each names all that holds together.
    fn met_parts(&self, condition: &str) -> String {
        let met = condition
            .split(" or ")
            .filter(|part| read(part).holds(self));
        let in_words = |part: &str| {
            let clauses: Vec<String> = part.split(" and ").map(in_words).collect();
            clauses.join(" together with ")
        };
        met.map(in_words).collect::<Vec<_>>().join(", or ")
    }

    /// Whether `exclusion`, in the row of `key`, applies to the present value of `key`.
    fn applies(&self, key: &str, exclusion: &Exclusion) -> bool {
        let of_value = format!("{key} {}", exclusion.value);
        (exclusion.value.is_empty() || read(&of_value).holds(self))
            && read(exclusion.with).holds(self)
    }
}

impl Whole for Considered<'_> {
    fn value(&self, key: &str) -> Option<Value> {
        let (row, value) = self.config.row(key)?;
        match self.counts(row, value) {
            true => Some(value.clone()),
            false => row.read(row.default).ok(),
        }
    }

    fn fact(&self, name: &str) -> Option<bool> {
        let fact = FACTS.iter().find(|fact| fact.name == name)?;
        Some((fact.holds)(self))
    }
}

fn read(text: &str) -> Condition<'_> {
    Condition::read(text).unwrap_or_else(|| panic!("{text:?} is no condition"))
}

impl Config {
    /// The row and the value of `key`, if this configuration has such a parameter.
    pub(crate) fn row(&self, key: &str) -> Option<(&'static Parameter, &Value)> {
        let named =
            |rows: &'static [Parameter], name: &str| rows.iter().find(|row| row.name == name);
        if let Some(row) = named(PARAMETERS, key).or_else(|| named(destage_trace::PARAMETERS, key))
        {
            return Some((row, self.global_parameter(row.name)?));
        }
        let (section, name) = key.split_once('.')?;
        match section {
            "buffer" => {
                let row = named(destage_buffer::COMMON, name)
                    .or_else(|| named(self.scheme.parameters, name))?;
                Some((row, self.buffer_parameter(name)?))
            }
            "ftl" => {
                let row = named(self.ftl_row.parameters, name)?;
                Some((row, self.ftl_parameter(name)?))
            }
            _ => None,
        }
    }

    /// The value of `key` that has an effect: its default if the parameter is without effect. `None` if this
    /// configuration has no such parameter.
    pub(crate) fn value_in_effect(&self, key: &str) -> Option<Value> {
        Considered {
            config: self,
            purpose: self.asked.purpose,
            known: Known::default(),
        }
        .value(key)
    }

    /// Whether `condition` holds.
    pub(crate) fn holds(&self, condition: &str) -> bool {
        read(condition).holds(&Considered {
            config: self,
            purpose: self.asked.purpose,
            known: Known::default(),
        })
    }

    /// The first condition, in words, that `key` needs and that does not hold for an input of which the facts `known`
    /// are known. `None` if the parameter has an effect, or if it has its default.
    pub(crate) fn lacks(&self, key: &str, known: Known) -> Option<String> {
        let considered = Considered {
            config: self,
            purpose: self.asked.purpose,
            known,
        };
        let (row, value) = self.row(key)?;
        if row.read(row.default).as_ref() == Ok(value) {
            return None;
        }
        considered.lacks(row).next().map(in_words)
    }

    /// Parameters that the user set and that have no effect on an input of the kind `input`, each with the reason.
    /// `seen` has the facts about the requests of the input, if the requests are known.
    #[must_use]
    pub fn without_effect_on(&self, input: InputKind, seen: Option<Seen>) -> Vec<(String, String)> {
        let known = Known {
            input: Some(input),
            // A run with a loss of power does not read all of its input.
            seen: seen.filter(|_| self.asked.purpose == Purpose::Run),
        };
        let of_input = self.asked.given.iter().filter_map(|key| {
            let is_known = self.without_effect.iter().any(|(known, _)| known == key);
            let lacking = self.lacks(key, known).filter(|_| !is_known)?;
            Some((key.clone(), format!("it needs {lacking}")))
        });
        self.without_effect
            .iter()
            .cloned()
            .chain(of_input)
            .collect()
    }

    /// Checks the configuration as a whole.
    ///
    /// # Errors
    /// [`SimError::Excluded`] for the parameters that an exclusion refuses; otherwise the first error in values
    /// that do not fit.
    pub fn check(&self, purpose: Purpose) -> Result<(), SimError> {
        self.check_exclusions(purpose)?;
        FITS.iter()
            .try_for_each(|fits| fits(self).map_err(SimError::Misfit))
    }

    fn check_exclusions(&self, purpose: Purpose) -> Result<(), SimError> {
        let considered = Considered {
            config: self,
            purpose,
            known: Known::default(),
        };
        let mut found: Vec<(String, &'static Parameter, &Value, &Exclusion)> = Vec::new();
        for (key, row) in self.rows().filter(|(_, row)| !row.excludes.is_empty()) {
            let Some((_, value)) = self.row(&key) else {
                continue;
            };
            if !considered.counts(row, value) {
                continue;
            }
            let exclusions = row.excludes.iter();
            let mut applying = exclusions.filter(|exclusion| considered.applies(&key, exclusion));
            if let Some(exclusion) = applying.find(|exclusion| {
                let first = found.first().map(|first| first.3);
                first.is_none_or(|first| first.because == exclusion.because)
            }) {
                found.push((key, row, value, exclusion));
            }
        }
        let Some((.., exclusion)) = found.first() else {
            return Ok(());
        };
        let refused = found
            .iter()
            .map(|(key, row, value, _)| (key.clone(), value.to_string(), row.default));
        Err(SimError::Excluded(Refusal {
            refused: refused.collect(),
            with: considered.met_parts(exclusion.with),
            because: exclusion.because,
        }))
    }

    /// The row of every parameter of this configuration, with its full name.
    pub fn rows(&self) -> impl Iterator<Item = (String, &'static Parameter)> {
        let of = |section: &'static str, rows: &'static [Parameter]| {
            rows.iter()
                .map(move |row| (format!("{section}{}", row.name), row))
        };
        of("", PARAMETERS)
            .chain(of("", destage_trace::PARAMETERS))
            .chain(of("buffer.", destage_buffer::COMMON))
            .chain(of("buffer.", self.scheme.parameters))
            .chain(of("ftl.", self.ftl_row.parameters))
    }

    /// Whether placement handles can share the slots of the scheme.
    pub(crate) fn has_divisible_slots(&self) -> bool {
        if self.scheme.needs_future() {
            return true;
        }
        let smallest = SchemeConfig::new(1, 1, self.buffer_values());
        let properties = (self.scheme.build)(&smallest).properties();
        properties.keeps_pages && !properties.is_unbounded && !properties.waits_for_its_place
    }

    /// The number of channels of the device.
    pub(crate) fn channels(&self) -> u32 {
        match self.typed.flash.channels {
            CountOrAuto::Count(channels) => channels,
            CountOrAuto::Auto => self.typed.flash.dies,
        }
    }
}

#[cfg(test)]
mod tests {
    use destage_base::parameter::Clause;

    use super::*;
    use crate::capacity::STAND_INS;
    use crate::settings::Settings;

    /// Every row of every scheme and layer, with its full name, and the rows of settings that replace others.
    fn every_row() -> Vec<(String, &'static Parameter)> {
        let of = |section: &'static str, rows: &'static [Parameter]| {
            rows.iter()
                .map(move |row| (format!("{section}{}", row.name), row))
        };
        of("", PARAMETERS)
            .chain(of("", STAND_INS))
            .chain(of("", destage_trace::PARAMETERS))
            .chain(of("buffer.", destage_buffer::COMMON))
            .chain(
                destage_buffer::SCHEMES
                    .iter()
                    .flat_map(move |row| of("buffer.", row.parameters)),
            )
            .chain(
                destage_ftl::FTLS
                    .iter()
                    .flat_map(move |row| of("ftl.", row.parameters)),
            )
            .collect()
    }

    fn conditions(key: &str, row: &'static Parameter) -> Vec<String> {
        let needs = row.needs.iter().map(|text| (*text).to_owned());
        let excludes = row.excludes.iter().flat_map(|exclusion| {
            let of_value = format!("{key} {}", exclusion.value);
            let of_value = Some(of_value).filter(|_| !exclusion.value.is_empty());
            of_value.into_iter().chain([exclusion.with.to_owned()])
        });
        needs.chain(excludes).collect()
    }

    #[test]
    fn conditions_name_keys_with_values_that_these_take_and_facts_that_there_are() {
        let rows = every_row();
        let mut facts = Vec::new();
        let of_rows = rows.iter().flat_map(|(key, row)| conditions(key, row));
        let of_states = crate::state::DEPENDS.iter().flat_map(|(key, conditions)| {
            let is_known = rows.iter().any(|(name, _)| name == key);
            assert!(is_known, "no parameter is called {key}");
            conditions.iter().map(|text| (*text).to_owned())
        });
        for text in of_rows.chain(of_states) {
            let condition = Condition::read(&text).unwrap_or_else(|| panic!("{text:?}"));
            for clause in condition.any.iter().flatten() {
                let owners = |key: &str| {
                    let owners = rows.iter().filter(|(name, _)| *name == key);
                    let owners: Vec<_> = owners.map(|(_, row)| *row).collect();
                    assert!(!owners.is_empty(), "{text}: no parameter is called {key}");
                    owners
                };
                match clause {
                    Clause::Is { key, values, .. } => {
                        for (value, row) in values
                            .iter()
                            .flat_map(|value| owners(key).into_iter().map(move |row| (value, row)))
                        {
                            assert!(row.read(value).is_ok(), "{text}: {key} is never {value}");
                        }
                    }
                    Clause::Above { key, .. } => {
                        for row in owners(key) {
                            let default = row.read(row.default);
                            let is_number =
                                matches!(default, Ok(Value::Integer(_) | Value::Number(_)));
                            assert!(is_number, "{text}: {key} is no number");
                        }
                    }
                    Clause::Fact(name) => {
                        let fact = FACTS.iter().find(|fact| fact.name == *name);
                        facts.push(fact.unwrap_or_else(|| panic!("{text}: no fact")).name);
                    }
                }
            }
        }
        for fact in FACTS {
            assert!(facts.contains(&fact.name), "nothing names {}", fact.name);
        }
    }

    #[test]
    fn reasons_are_sentences_without_a_full_stop() {
        for (key, row) in every_row() {
            for exclusion in row.excludes {
                let because = exclusion.because;
                let is_sound = because.contains(' ') && !because.ends_with('.');
                assert!(is_sound, "{key}: {because}");
            }
        }
    }

    #[test]
    fn what_decides_nothing_is_named_and_excludes_nothing() {
        let resolved = |pairs: &[&str]| {
            let mut settings = Settings::new();
            pairs
                .iter()
                .for_each(|pair| settings.set_pair(pair).unwrap());
            settings.resolve()
        };
        let pairs = ["buffer.kind=belady", "host.queues=2"];
        let refusal = resolved(&pairs).err().unwrap();
        assert!(matches!(refusal, SimError::Excluded(_)), "{refusal}");
        let config = resolved(&[&pairs[..], &["sim.costing=op_count"]].concat()).unwrap();
        let named: Vec<&str> = config
            .without_effect
            .iter()
            .map(|(key, _)| &**key)
            .collect();
        assert_eq!(named, ["host.queues"]);
        // A parameter at its default is not named, even if its condition does not hold.
        let config = resolved(&["flash.ready_ns=0", "flash.suspend_us=7"]).unwrap();
        let said = &config.without_effect;
        let expected = (
            "flash.suspend_us",
            "it needs flash.suspend other than never",
        );
        assert_eq!(
            said,
            &[(expected.0.to_owned(), expected.1.to_owned())],
            "{said:?}"
        );
    }

    #[test]
    fn a_layer_has_groups_of_planes_only_where_these_have_an_effect() {
        for (pair, expected) in [
            ("sim.costing=event", 2),
            ("sim.costing=op_count", 1),
            ("ftl.placement=dynamic", 1),
            ("flash.scheduling=reads_first", 1),
        ] {
            let mut settings = Settings::new();
            for pair in ["flash.blocks_per_plane=40", "flash.parallel_units=2", pair] {
                settings.set_pair(pair).unwrap();
            }
            let layer = settings.resolve().unwrap().ftl().unwrap();
            assert_eq!(layer.properties().parallel_units, expected, "{pair}");
        }
    }

    #[test]
    fn units_are_checked_without_a_clock_where_they_have_an_effect() {
        let resolved = |pairs: &[&str]| {
            let mut settings = Settings::new();
            settings.set_pair("sim.costing=op_count").unwrap();
            pairs
                .iter()
                .for_each(|pair| settings.set_pair(pair).unwrap());
            settings.resolve()
        };
        let (unit, passes) = ("flash.program_unit", "flash.program_passes");
        let (may_fail, striped) = ("device.power_may_fail=true", "ftl.kind=striped");
        let undivided =
            "flash.program_unit = 10: expected a number that divides flash.pages_per_block = 64";
        for pairs in [
            [striped, "flash.program_unit=10"],
            ["ftl.kind=zns", "flash.program_unit=10"],
            [may_fail, "flash.program_unit=10"],
        ] {
            let text = resolved(&pairs).err().unwrap().to_string();
            assert_eq!(text, undivided, "{pairs:?}");
        }
        let shortened = [
            striped,
            "flash.program_unit=2",
            "flash.pages_per_block=14",
            "flash.cell_mode=pslc",
            "flash.bits_per_cell=2",
        ];
        let text = resolved(&shortened).err().unwrap().to_string();
        assert!(text.contains("divides the 7 pages of a block"), "{text}");
        let whole = [striped, "flash.program_unit=2", "flash.summary_page=true"];
        let text = resolved(&whole).err().unwrap().to_string();
        assert!(text.contains("the layer counts whole units"), "{text}");
        let isolated = "ftl.handle_isolation=persistent";
        for (pairs, expected) in [
            (&["flash.program_unit=10"][..], &[unit][..]),
            (&["flash.program_unit=4", may_fail], &[]),
            (&["flash.program_passes=2", may_fail], &[]),
            (&["flash.program_unit=4", striped], &[]),
            (&["flash.program_passes=2", striped], &[passes]),
            (
                &["flash.program_unit=4", "ftl.kind=bast", may_fail],
                &[unit],
            ),
            (&[isolated], &["ftl.handle_isolation"]),
            (&[isolated, "ftl.victim_ties=reference"], &[]),
            (&[isolated, "ftl.handles=2"], &[]),
        ] {
            let config = resolved(pairs).unwrap();
            let named = config.without_effect.iter().map(|(key, _)| &**key);
            let named: Vec<&str> = named.collect();
            assert_eq!(named, expected, "{pairs:?}");
        }
    }

    #[test]
    fn parameters_of_reading_decide_something_only_where_there_is_something_to_read() {
        let mut settings = Settings::new();
        for pair in [
            "trace.time_unit=us",
            "trace.lba_shift=63",
            "trace.flush_every_writes=9",
        ] {
            settings.set_pair(pair).unwrap();
        }
        let config = settings.resolve().unwrap();
        let named = |input| -> Vec<String> {
            let named = config.without_effect_on(input, None);
            named.into_iter().map(|(key, _)| key).collect()
        };
        assert!(config.without_effect.is_empty());
        assert!(named(InputKind::File).is_empty());
        assert_eq!(named(InputKind::Memory), ["trace.time_unit"]);
        assert_eq!(
            named(InputKind::Generated),
            ["trace.lba_shift", "trace.time_unit"]
        );
    }
}
