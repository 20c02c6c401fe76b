//! What lies between host and buffer besides the bus: what a configuration says of it.

use destage_base::time::{TICKS_PER_NS, from_units};

use crate::config::Config;
use crate::engine::{Firmware, FrontConfig};
use crate::error::SimError;
use crate::metrics::FrontScope;
use crate::wire::Wire;

/// The largest weight of a queue; NVMe has 256.
const WEIGHT_MAX: u32 = 256;

/// Weights of `queues` queues, one number for all or one for each with `/` between them.
fn weights(text: &str, queues: u32) -> Option<Vec<u32>> {
    let numbers: Option<Vec<u32>> = text.split('/').map(|part| part.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| {
        let mut numbers = numbers.iter();
        numbers.all(|number| (1..=WEIGHT_MAX).contains(number))
    })?;
    match numbers.len() {
        1 => Some(vec![numbers[0]; queues as usize]),
        count if count == queues as usize => Some(numbers),
        _ => None,
    }
}

impl Config {
    /// The front end, if any of it is on.
    pub(crate) fn front(&self) -> Option<FrontConfig> {
        let (host, device) = (&self.typed.host, &self.typed.device);
        let phase = |nanoseconds| from_units(nanoseconds, TICKS_PER_NS);
        let link = (host.link_lane_gb_per_s > 0.0).then(|| Wire {
            lanes: host.link_lanes.into(),
            lane_gb_per_s: host.link_lane_gb_per_s,
            payload: host.link_payload_bytes.into(),
            overhead: host.link_overhead_bytes.into(),
        });
        let firmware = Firmware {
            cores: device.firmware_cores,
            command: phase(device.firmware_ns),
            page: phase(device.firmware_page_ns),
        };
        let firmware = (firmware.command > 0 || firmware.page > 0).then_some(firmware);
        let bytes = self.typed.flash.page_bytes as f64;
        let dram_page = phase(device.dram_access_ns + bytes * device.dram_ns_per_byte);
        let front = FrontConfig {
            weights: weights(&host.queue_weights, host.queues).unwrap_or_default(),
            burst: host.queue_burst,
            by: host.queue_by,
            requests_of_queue: match host.queue_requests {
                0 => host.queue_depth,
                requests => requests,
            },
            link,
            firmware,
            dram_page: (dram_page > 0).then_some(dram_page),
        };
        let is_on = host.queues > 1
            || front.link.is_some()
            || front.firmware.is_some()
            || front.dram_page.is_some();
        is_on.then_some(front)
    }

    /// What metrics need to know of it.
    pub(crate) fn front_scope(&self) -> FrontScope {
        let (host, device) = (&self.typed.host, &self.typed.device);
        FrontScope {
            link_byte: host.link_uj_per_byte,
            request: device.firmware_uj,
            dram_page: device.dram_uj_per_byte * self.typed.flash.page_bytes as f64,
            cores: device.firmware_cores,
        }
    }

    /// What does not fit together.
    pub(crate) fn check_front(&self) -> Result<(), SimError> {
        let (host, device) = (&self.typed.host, &self.typed.device);
        let refuse = |text: String| Err(SimError::Config(text));
        if weights(&host.queue_weights, host.queues).is_none() {
            return refuse(format!(
                "host.queue_weights = {:?}: expected a number from 1 to {WEIGHT_MAX} for all queues, or one for each of host.queues = {} with / between them",
                host.queue_weights, host.queues
            ));
        }
        let has_firmware = device.firmware_ns > 0.0 || device.firmware_page_ns > 0.0;
        if device.firmware_cores > 1 && !has_firmware {
            return refuse(format!(
                "device.firmware_cores = {}: no request takes time on a core; expected 1, or device.firmware_ns or device.firmware_page_ns above 0",
                device.firmware_cores
            ));
        }
        for (key, energy, is_on, of) in [
            (
                "host.link_uj_per_byte",
                host.link_uj_per_byte,
                host.link_lane_gb_per_s > 0.0,
                "host.link_lane_gb_per_s",
            ),
            (
                "device.firmware_uj",
                device.firmware_uj,
                has_firmware,
                "device.firmware_ns or device.firmware_page_ns",
            ),
            (
                "device.dram_uj_per_byte",
                device.dram_uj_per_byte,
                device.dram_access_ns > 0.0 || device.dram_ns_per_byte > 0.0,
                "device.dram_access_ns or device.dram_ns_per_byte",
            ),
        ] {
            if energy > 0.0 && !is_on {
                return refuse(format!(
                    "{key} = {energy}: that is off, and takes no energy; expected 0, or {of} above 0"
                ));
            }
        }
        Ok(())
    }

    /// Whether requests are taken in in another order than they are sent, though the scheduler keeps it.
    pub(crate) fn front_reorders(&self) -> bool {
        let (host, device) = (&self.typed.host, &self.typed.device);
        host.queues > 1 || (device.firmware_cores > 1 && device.firmware_page_ns > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    #[test]
    fn nothing_of_it_is_on_by_default() {
        assert!(Settings::new().resolve().unwrap().front().is_none());
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (pairs, says) in [
            (&["host.queue_weights=0"][..], "from 1 to 256"),
            (
                &["host.queues=3", "host.queue_weights=1/2"],
                "one for each of host.queues = 3",
            ),
            (
                &["host.queue_weights=1/2"],
                "one for each of host.queues = 1",
            ),
            (
                &["device.firmware_cores=2"],
                "device.firmware_ns or device.firmware_page_ns above 0",
            ),
            (
                &["host.link_uj_per_byte=1"],
                "host.link_lane_gb_per_s above 0",
            ),
            (&["device.dram_uj_per_byte=1"], "device.dram_access_ns"),
            (&["device.firmware_uj=1"], "device.firmware_ns"),
            (&["host.link_lane_gb_per_s=-1"], "expected a number from 0"),
        ] {
            let mut settings = Settings::new();
            for pair in pairs {
                settings.set_pair(pair).unwrap();
            }
            let error = settings.resolve().err().expect(says).to_string();
            assert!(error.contains(says), "{pairs:?}: {error}");
        }
    }
}
