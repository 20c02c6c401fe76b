//! What it takes to save the buffer when the power fails.

use destage_sim::settings::Config;
use serde_json::{Value, json};

/// A capacitor is charged to this, in volts.
const FROM_V: f64 = 5.0;
/// The device runs down to this, in volts.
const TO_V: f64 = 3.0;

/// Programming all pages of a full buffer, on all dies side by side. What the layer has to clean before comes on top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoldUp {
    /// How long it takes, in milliseconds.
    pub dump_ms: f64,
    /// What it uses, in joules: `flash.program_uj` and `flash.transfer_uj_per_byte` for each page.
    pub energy_j: f64,
    /// A capacitor that holds so much between 5 V and 3 V, in farads.
    pub capacitance_f: f64,
}

impl HoldUp {
    /// Of a buffer of `bytes` on the device of `config`; none without flash.
    pub(super) fn of(config: &Config, bytes: u64) -> Option<Self> {
        if !config.has_flash() {
            return None;
        }
        let flash = &config.typed.flash;
        let pages = bytes / flash.page_bytes;
        let page_us = flash.program_us + flash.page_bytes as f64 * flash.transfer_ns_per_byte / 1e3;
        let on_a_die = pages.div_ceil(u64::from(flash.dies));
        let page_uj = flash.program_uj + flash.page_bytes as f64 * flash.transfer_uj_per_byte;
        let energy_j = pages as f64 * page_uj / 1e6;
        Some(Self {
            dump_ms: on_a_die as f64 * page_us / 1e3,
            energy_j,
            capacitance_f: 2.0 * energy_j / (FROM_V * FROM_V - TO_V * TO_V),
        })
    }

    pub(super) fn to_json(self) -> Value {
        json!({
            "dump_ms": self.dump_ms,
            "energy_j": self.energy_j,
            "capacitance_f": self.capacitance_f,
            "from_v": FROM_V,
            "to_v": TO_V,
        })
    }
}
