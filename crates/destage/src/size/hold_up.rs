//! The cost of saving the buffer when the power fails.

use destage_sim::settings::Config;
use serde_json::{Map, Value, json};

/// A capacitor is charged to this, in volts.
const FROM_V: f64 = 5.0;
/// The device runs down to this, in volts.
const TO_V: f64 = 3.0;
/// The energy of a program is that of flash with the same program time, in milliseconds, unless another energy is given.
const DEFAULT_PROGRAM_MS: f64 = 0.2;

/// Programming all pages of a full buffer. Garbage collection that is needed first comes on top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoldUp {
    /// How long it takes, in milliseconds, with the channels, planes and program units of the device.
    pub dump_ms: f64,
    /// Whether it may take longer: planes that program together are full only if the layer spreads pages evenly over them.
    pub is_least: bool,
    /// How long one program takes, in milliseconds.
    pub program_ms: f64,
    /// Its energy; `None` if the energy of a program is the default, which is that of flash with other times.
    pub energy: Option<DumpEnergy>,
}

/// The energy that a dump uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DumpEnergy {
    /// `flash.program_uj` for each program and `flash.transfer_uj_per_byte` for each byte, in joules.
    pub joules: f64,
    /// The capacitor that holds this energy between 5 V and 3 V, in farads.
    pub capacitance_f: f64,
}

impl HoldUp {
    /// For a buffer of `bytes` on the device of `config`; `None` without flash.
    pub(super) fn of(config: &Config, bytes: u64) -> Option<Self> {
        if !config.has_flash() {
            return None;
        }
        let flash = &config.typed.flash;
        let pages = bytes / flash.page_bytes;
        let programs = config.programs();
        let is_given = config.chosen().contains_key("flash.program_uj");
        let is_default_flash = (programs.program_ms - DEFAULT_PROGRAM_MS).abs() < 1e-6;
        let sector_bytes = 512 + u64::from(flash.spare_bytes_per_sector);
        let crossing = (pages * flash.page_bytes / 512 * sector_bytes) as f64;
        let programming = programs.count(pages) as f64 * flash.program_uj;
        let joules = (programming + crossing * flash.transfer_uj_per_byte) / 1e6;
        Some(Self {
            dump_ms: programs.time_ms(pages),
            is_least: programs.planes > 1,
            program_ms: programs.program_ms,
            energy: (is_given || is_default_flash).then(|| DumpEnergy {
                joules,
                capacitance_f: 2.0 * joules / (FROM_V * FROM_V - TO_V * TO_V),
            }),
        })
    }

    pub(super) fn to_json(self) -> Value {
        let mut map = Map::new();
        map.insert("dump_ms".to_owned(), json!(self.dump_ms));
        map.insert("dump_is_least".to_owned(), json!(self.is_least));
        if let Some(energy) = self.energy {
            map.insert("energy_j".to_owned(), json!(energy.joules));
            map.insert("capacitance_f".to_owned(), json!(energy.capacitance_f));
            map.insert("from_v".to_owned(), json!(FROM_V));
            map.insert("to_v".to_owned(), json!(TO_V));
        }
        Value::Object(map)
    }
}
