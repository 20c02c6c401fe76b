//! From settings to the configuration of a device that is used, where some defaults are others than those of a run.

use destage_sim::error::SimError;
use destage_sim::parameters::Costing;
use destage_sim::settings::{Config, Origin, Settings};

/// Bytes of a device whose size nobody names.
const CAPACITY: u64 = 1 << 30;

/// What a device begins with that nobody filled: nothing, so that it takes no memory and starts at once.
const PRECONDITION: (&str, &str) = ("sim.precondition", "none");
/// Response times kept one by one. A server runs for long, and its statistics are asked for while it does.
const EXACT_RESPONSES: (&str, &str) = ("sim.exact_responses", "65536");

/// Its power may fail, again and again, and it mounts each time.
const POWER: (&str, &str) = ("device.power_may_fail", "true");

/// The configuration of `settings`, and what is other there than a run would have it, a sentence each.
///
/// # Errors
/// What is wrong with the settings, or keeps such a device from having bytes.
pub fn configuration(settings: &Settings) -> Result<(Config, Vec<String>), SimError> {
    let mut settings = settings.clone();
    let mut notes = Vec::new();
    for (key, value) in [PRECONDITION, EXACT_RESPONSES, POWER] {
        if settings.text(key).is_none() {
            settings.set(key, value, Origin::Given("default of a server".to_owned()));
        }
    }
    let mut config = settings.resolve()?;
    if config.typed.sim.costing == Costing::OpCount {
        let origin = Origin::Given("a server has a clock".to_owned());
        settings.set("sim.costing", "event", origin);
        config = settings.resolve()?;
        notes.push("sim.costing = event: a server has a clock, and op_count has none".to_owned());
    }
    let (with_bytes, others) = config.with_bytes();
    config = with_bytes;
    notes.extend(others);
    if config.is_open() {
        let bytes = config.capacity_bytes.unwrap_or(CAPACITY);
        config = config.with_blocks(config.blocks_for_capacity(bytes)?);
    }
    config.check_live()?;
    Ok((config, notes))
}

#[cfg(test)]
mod tests {
    use destage_base::parameter::Value;

    use super::*;

    fn of(pairs: &[&str]) -> Result<(Config, Vec<String>), String> {
        let mut settings = Settings::new();
        for pair in pairs {
            settings.set_pair(pair).unwrap();
        }
        configuration(&settings).map_err(|error| error.to_string())
    }

    fn precondition(config: &Config) -> &str {
        &config.typed.sim.precondition
    }

    #[test]
    fn a_device_of_which_nothing_is_said_is_empty_and_of_a_gibibyte() {
        let (config, notes) = of(&[]).unwrap();
        assert_eq!(precondition(&config), "none");
        assert!((1 << 30..2 << 30).contains(&config.flash_bytes()));
        assert!(notes.is_empty());
        let (config, _) = of(&["sim.precondition=sequential_fill"]).unwrap();
        assert_eq!(precondition(&config), "sequential_fill");
    }

    #[test]
    fn what_has_no_clock_gets_one_and_says_so() {
        let (config, notes) = of(&["sim.costing=op_count"]).unwrap();
        assert!(config.is_timed());
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn what_only_reference_simulators_do_is_done_otherwise_and_says_so() {
        for pair in ["sim.write_order=reference", "sim.clock=double_ms"] {
            let (config, notes) = of(&[pair]).unwrap();
            let (key, value) = pair.split_once('=').unwrap();
            let is = Value::Text(value.to_owned());
            assert_ne!(config.parameters()[key], is);
            assert!(notes.len() == 1 && notes[0].starts_with(key), "{notes:?}");
        }
    }

    #[test]
    fn what_would_lose_bytes_is_refused() {
        for (pair, expected) in [
            ("ftl.kind=none", "no flash that could hold bytes"),
            ("buffer.kind=belady", "knows the writes to come"),
            ("trace.align=nearest", "other bytes"),
            ("trace.align_bytes=4096", "other bytes"),
            ("trace.addr_map=modulo", "two addresses would be one"),
        ] {
            let error = of(&[pair, "flash.blocks_per_plane=16"]).err().unwrap();
            assert!(error.contains(expected), "{pair}: {error}");
        }
    }
}
