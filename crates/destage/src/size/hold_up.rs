//! The energy and the time that a device needs to save its buffer after a power loss.

use destage_sim::settings::Config;
use serde_json::{Map, Value, json};

/// The voltage to which the capacitor is charged.
const FROM_V: f64 = 5.0;
/// The lowest voltage at which the device works.
const TO_V: f64 = 3.0;
/// The default of `flash.program_uj` is the energy of flash with this program time, in milliseconds.
const DEFAULT_PROGRAM_MS: f64 = 0.2;

/// The cost of programming all pages of a full buffer. The cost of garbage collection that is needed first is not
/// included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoldUp {
    /// The duration in milliseconds, with the channels, planes and program units of the device.
    pub dump_ms: f64,
    /// Whether the duration is only a lower bound. This is the case with several planes, which program at the full
    /// rate only if the layer spreads pages evenly over the planes.
    pub is_least: bool,
    /// The duration of one program in milliseconds.
    pub program_ms: f64,
    /// The energy for these programs. The default of `flash.program_uj` is valid only for a program time of 0.2 ms.
    /// `None` if `flash.program_uj` is not set and the program time is another.
    pub energy: Option<DumpEnergy>,
}

/// The energy of saving the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DumpEnergy {
    /// The energy in joules: `flash.program_uj` for each program, and `flash.transfer_uj_per_byte` for each byte.
    pub joules: f64,
    /// The capacitance, in farads, that delivers this energy while it discharges from 5 V to 3 V.
    pub capacitance_f: f64,
}

impl HoldUp {
    /// The cost for a buffer of `bytes` on the device of `config`; `None` without flash.
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
