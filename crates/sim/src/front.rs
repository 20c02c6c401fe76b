//! The configuration of the path between host and buffer, except the host bus.

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_NS, TICKS_PER_US, from_units};

use crate::config::Config;
use crate::engine::{Dram, Firmware, FrontConfig, Load};
use crate::metrics::FrontScope;
use crate::parameters::Trim;
use crate::wire::Wire;

/// The largest weight of a queue, as in NVMe.
pub(crate) const WEIGHT_MAX: u32 = 256;

/// The weights of `queues` queues. `text` has one number for all queues, or one number for each with `/` between
/// them. `None` if `text` has another form.
pub(crate) fn weights(text: &str, queues: u32) -> Option<Vec<u32>> {
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

/// Converts nanoseconds to ticks.
fn phase(nanoseconds: f64) -> Ticks {
    from_units(nanoseconds, TICKS_PER_NS)
}

impl Config {
    /// The link; `None` if messages take no time.
    fn link(&self) -> Option<Wire> {
        let host = &self.typed.host;
        (host.link_lane_gb_per_s > 0.0).then(|| Wire {
            lanes: host.link_lanes.into(),
            lane_gb_per_s: host.link_lane_gb_per_s,
            payload: host.link_payload_bytes.into(),
            overhead: host.link_overhead_bytes.into(),
        })
    }

    /// The firmware cores; `None` if requests take no time on them.
    fn firmware(&self) -> Option<Firmware> {
        let device = &self.typed.device;
        let command = phase(device.firmware_ns);
        let firmware = Firmware {
            cores: device.firmware_cores,
            command,
            read: match device.firmware_read_ns {
                0.0 => command,
                nanoseconds => phase(nanoseconds),
            },
            page: phase(device.firmware_page_ns),
            program: phase(device.firmware_program_ns),
            unit_pages: self.typed.flash.program_unit.into(),
        };
        let of_command = firmware.command.max(firmware.read);
        let takes = of_command.max(firmware.page).max(firmware.program);
        (takes > 0).then_some(firmware)
    }

    /// The times of the DRAM; `None` if it needs no time.
    fn dram(&self) -> Option<Dram> {
        let (device, bytes) = (&self.typed.device, self.typed.flash.page_bytes as f64);
        let dram = Dram {
            page: phase(device.dram_access_ns + bytes * device.dram_ns_per_byte),
            program: phase(device.dram_program_ns),
        };
        (dram.page > 0 || dram.program > 0).then_some(dram)
    }

    /// The rule for when the drive is loaded; `None` if nothing depends on the load.
    fn load(&self) -> Option<Load> {
        let device = &self.typed.device;
        let window = from_units(device.load_window_us, TICKS_PER_US);
        self.slows_reads()
            .then(|| Load::new(window, device.loaded_pages))
    }

    /// The configuration of the front end; `None` if all of its stages are off.
    pub(crate) fn front(&self) -> Option<FrontConfig> {
        let (host, device) = (&self.typed.host, &self.typed.device);
        let front = FrontConfig {
            weights: weights(&host.queue_weights, host.queues).unwrap_or_default(),
            burst: host.queue_burst,
            by: host.queue_by,
            requests_of_queue: match host.queue_requests {
                0 => host.queue_depth,
                requests => requests,
            },
            command_slots: match device.command_slots {
                0 => u32::MAX,
                slots => slots,
            },
            link: self.link(),
            firmware: self.firmware(),
            dram: self.dram(),
            load: self.load(),
        };
        let is_on = host.queues > 1
            || device.command_slots > 0
            || front.link.is_some()
            || front.firmware.is_some()
            || front.dram.is_some()
            || front.load.is_some();
        is_on.then_some(front)
    }

    /// The values that metrics of the front end need.
    pub(crate) fn front_scope(&self) -> FrontScope {
        let (host, device) = (&self.typed.host, &self.typed.device);
        // A stage that is off consumes no energy.
        let taken = |is_on: bool, energy: f64| if is_on { energy } else { 0.0 };
        let page_bytes = self.typed.flash.page_bytes as f64;
        FrontScope {
            link_byte: taken(self.link().is_some(), host.link_uj_per_byte),
            request: taken(self.firmware().is_some(), device.firmware_uj),
            dram_page: taken(self.dram().is_some(), device.dram_uj_per_byte * page_bytes),
            cores: device.firmware_cores,
        }
    }

    /// Whether the front end can change the order of requests even if the scheduler keeps this order.
    pub(crate) fn front_reorders(&self) -> bool {
        let (host, device) = (&self.typed.host, &self.typed.device);
        let is_alike = |firmware: Firmware| {
            firmware.page == 0 && firmware.program == 0 && firmware.read == firmware.command
        };
        // A trim has no data. A trim that writes zeros reaches the buffer before an earlier write whose data still move.
        let moves_data = self.link().is_some() || self.dram().is_some();
        host.queues > 1
            || (device.firmware_cores > 1 && !self.firmware().is_none_or(is_alike))
            || (device.trim == Trim::Strict && moves_data)
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
    fn cores_reorder_requests_if_their_times_differ() {
        let one = ["device.firmware_ns=1000"];
        let two = ["device.firmware_ns=1000", "device.firmware_cores=2"];
        for time in [
            "device.firmware_read_ns=900",
            "device.firmware_page_ns=100",
            "device.firmware_program_ns=100",
        ] {
            let reorders = |pairs: &[&str]| {
                let mut settings = Settings::new();
                for pair in pairs {
                    settings.set_pair(pair).unwrap();
                }
                settings.resolve().unwrap().front_reorders()
            };
            assert!(!reorders(&two));
            assert!(!reorders(&[&one[..], &[time]].concat()), "{time}");
            assert!(reorders(&[&two[..], &[time]].concat()), "{time}");
        }
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
