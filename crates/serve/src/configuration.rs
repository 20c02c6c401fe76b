//! The configuration of a served device, made from settings. Some defaults differ from the defaults of a simulated
//! run.

use destage_sim::check::Purpose;
use destage_sim::error::SimError;
use destage_sim::parameters::Costing;
use destage_sim::settings::{Config, Origin, Settings};

/// The default size of a device, in bytes.
const CAPACITY: u64 = 1 << 30;

/// The default precondition. The device starts empty. So it needs no memory for contents, and starts at once.
const PRECONDITION: (&str, &str) = ("sim.precondition", "none");
/// The default number of response times that are stored individually. The number is limited, because a server runs
/// for a long time and operators request its statistics meanwhile.
const EXACT_RESPONSES: (&str, &str) = ("sim.exact_responses", "65536");

/// By default, a server allows a loss of power, because operators may cut the power and mount the device many times.
const POWER: (&str, &str) = ("device.power_may_fail", "true");

/// Makes the configuration from `settings`. Returns the configuration, and one sentence for each setting that a
/// server changes or ignores.
///
/// # Errors
/// An error in the settings, or the reason why such a device cannot hold bytes.
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
    if config.is_open() {
        let bytes = config.capacity_bytes.unwrap_or(CAPACITY);
        config = config.with_blocks(config.blocks_for_capacity(bytes)?);
    }
    config = config.used_for(Purpose::Live);
    config.check_live()?;
    let in_vain = config.without_effect.iter();
    notes
        .extend(in_vain.map(|(key, reason)| format!("{key} was set, but has no effect: {reason}")));
    Ok((config, notes))
}

#[cfg(test)]
mod tests {
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
    fn bytes_have_strict_order_and_exact_times_which_is_said() {
        let (config, notes) = of(&["sim.write_order=reference", "sim.clock=double_ms"]).unwrap();
        assert!(config.check_live().is_ok());
        assert_eq!(
            notes,
            [
                "sim.write_order was set, but has no effect: with bytes it is strict",
                "sim.clock was set, but has no effect: with bytes it is exact"
            ]
        );
    }

    /// Clients choose the addresses of a served device, so a setting that maps the addresses of a trace has no
    /// effect, and a note says so.
    #[test]
    fn how_a_trace_is_laid_on_the_device_decides_nothing_which_is_said() {
        let (_, notes) = of(&["trace.addr_map=modulo"]).unwrap();
        assert!(
            notes[0].starts_with("trace.addr_map was set, but has no effect"),
            "{notes:?}"
        );
    }

    #[test]
    fn what_would_lose_bytes_is_refused() {
        for (pair, expected) in [
            ("ftl.kind=none", "no flash that could hold bytes"),
            ("buffer.kind=belady", "has to know the coming writes"),
            ("trace.align=nearest", "other bytes"),
            ("trace.align_bytes=4096", "other bytes"),
        ] {
            let error = of(&[pair, "flash.blocks_per_plane=16"]).err().unwrap();
            assert!(error.contains(expected), "{pair}: {error}");
        }
    }
}
