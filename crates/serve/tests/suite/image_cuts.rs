//! Tests of images after a crash. If the process is killed after any write to the file, the reopened device has the
//! contents that a loss of power at that moment leaves. If the machine crashes, any writes after the last sync may be
//! missing. The reopened device must nevertheless have all promised data.

#![allow(clippy::unwrap_used, reason = "a test says where it failed")]

use crate::tape;

use std::sync::Arc;

use destage::ftl::FTLS;
use destage_base::Random;
use destage_device::RequestKind;
use destage_serve::configuration;
use destage_sim::settings::Config;

use tape::{Tape, ask, blank, live, opened, put, sectors, settings};

/// A value that a sector received from a request.
#[derive(Clone, Copy)]
struct Accepted {
    value: u64,
    /// The number of writes before the request was accepted.
    before: usize,
    /// Whether the request was a trim. After a loss of power, the sector may then hold any value that it ever had.
    is_trim: bool,
}

/// The accepted and promised values. A moment is given as the number of writes that the tape had received by then.
#[derive(Default)]
struct Promises {
    /// For each sector, its accepted values in order.
    accepted: Vec<Vec<Accepted>>,
    /// For each answer that is a promise, the number of writes before this answer. For each sector, the number of
    /// accepted values that are older than the promised value.
    promised: Vec<(usize, Vec<usize>)>,
}

impl Promises {
    /// Checks that the values `found` are allowed when only the first `writes` writes were carried out.
    fn check(&self, found: &[u64], writes: usize) -> Result<(), String> {
        let promised = self
            .promised
            .iter()
            .rev()
            .find(|(after, _)| *after <= writes);
        for (sector, value) in found.iter().enumerate() {
            let least = promised.map_or(0, |(_, least)| least[sector]);
            let accepted = self.accepted[sector].iter();
            let accepted = accepted.take_while(|accepted| accepted.before <= writes);
            let is_trimmed = accepted
                .clone()
                .skip(least)
                .any(|accepted| accepted.is_trim);
            let mut allowed = accepted.skip(if is_trimmed { 0 } else { least });
            if !allowed.any(|accepted| accepted.value == *value) {
                return Err(format!(
                    "sector {sector} holds {value} after {writes} writes"
                ));
            }
        }
        Ok(())
    }
}

const AT_FIRST: Accepted = Accepted {
    value: 0,
    before: 0,
    is_trim: false,
};

/// A device that was used, with all writes to its file.
struct Used {
    config: Config,
    tape: Arc<Tape>,
    promises: Promises,
    sectors: u64,
}

impl Used {
    /// The bytes of the file before the device was used.
    fn blank(&self) -> Vec<u8> {
        blank(&self.config)
    }

    /// Uses a device for `count` requests. With `plant`, each flush is recorded as if it had been answered before its
    /// writes, and the checks must find this error. With `lies`, the syncs that the device itself requests do
    /// nothing.
    fn new(pairs: &[&str], count: u64, plant: bool, lies: bool) -> Result<Self, String> {
        let mut all = vec![
            "device.capacity_bytes=256KiB",
            "flash.page_bytes=1024",
            "flash.dies=2",
            "flash.planes_per_die=1",
            "flash.pages_per_block=4",
            "flash.spare_bytes_per_sector=16",
            "buffer.capacity_bytes=8KiB",
        ];
        all.extend(pairs);
        let (config, _) = configuration(&settings(&all)).unwrap();
        let tape = Arc::new(Tape {
            lies,
            ..Tape::of(&config, blank(&config))
        });
        let mut device = live(&config, &tape);
        let sectors_of = device.sectors();
        let mut promises = Promises {
            accepted: vec![vec![AT_FIRST]; sectors_of as usize],
            promised: Vec::new(),
        };
        let lasts = || {
            tape.make_last();
            tape.writes()
        };
        let mut random = Random::new(7);
        for value in 1..=count {
            let length = 1 + random.below(6);
            let first = random.below(sectors_of - length);
            let range = first..first + length;
            if random.below(6) == 0 {
                let newest = promises.accepted.iter().map(|all| all.len() - 1);
                let least: Vec<usize> = newest.collect();
                let before = tape.writes();
                ask(&mut device, RequestKind::Flush, 0..0, false, 0)?;
                let after = lasts();
                let promised = if plant { before } else { after };
                promises.promised.push((promised, least));
                continue;
            }
            let kind = match random.below(5) {
                0 => RequestKind::WriteZeroes,
                1 => RequestKind::Trim,
                _ => RequestKind::Write,
            };
            // A trim has an effect on whole pages only.
            let range = match kind {
                RequestKind::Trim => first / 2 * 2..(first + length).next_multiple_of(2),
                _ => range,
            };
            let fua = random.below(10) == 0 && kind != RequestKind::Trim;
            let now = tape.writes();
            for sector in range.clone() {
                let value = if kind == RequestKind::Write { value } else { 0 };
                promises.accepted[sector as usize].push(Accepted {
                    value,
                    before: now,
                    is_trim: kind == RequestKind::Trim,
                });
            }
            ask(&mut device, kind, range.clone(), fua, value)?;
            if fua {
                let last = promises.promised.last();
                let mut least =
                    last.map_or(vec![0; sectors_of as usize], |(_, least)| least.clone());
                for sector in range {
                    least[sector as usize] = promises.accepted[sector as usize].len() - 1;
                }
                promises.promised.push((lasts(), least));
            }
        }
        // While the device runs, it must return the newest value of each sector.
        let newest = promises.accepted.iter().map(|all| all[all.len() - 1].value);
        assert!(
            sectors(&device)? == newest.collect::<Vec<u64>>(),
            "{pairs:?}"
        );
        drop(device);
        Ok(Self {
            config,
            tape,
            promises,
            sectors: sectors_of,
        })
    }

    /// Opens `bytes`, which is the file after its first `writes` writes, and compares the contents with the promises.
    /// With `lives`, the device then continues with more requests, and is opened once more.
    fn open(
        &self,
        bytes: Vec<u8>,
        writes: usize,
        lives: bool,
        random: &mut Random,
    ) -> Result<(), String> {
        let tape = Arc::new(Tape::of(&self.config, bytes));
        let mut device = opened(&self.config, &tape)?;
        let mut found = sectors(&device)?;
        self.promises.check(&found, writes)?;
        if !lives {
            return Ok(());
        }
        for round in 0..40 {
            let (at, value) = (random.below(self.sectors - 4), 1_000_000 + round);
            ask(&mut device, RequestKind::Write, at..at + 4, false, value)
                .map_err(|why| format!("{why} after {writes} writes"))?;
            found[at as usize..at as usize + 4].fill(value);
        }
        ask(&mut device, RequestKind::Flush, 0..0, false, 0)?;
        drop(device);
        match sectors(&live(&self.config, &tape))? == found {
            true => Ok(()),
            false => Err(format!("it is another after {writes} writes")),
        }
    }
}

const SCHEMES: [&str; 2] = ["buffer.kind=lru", "buffer.kind=bplru"];

/// The shapes of the dies of the devices.
const SHAPES: [&[&str]; 2] = [&[], &["flash.planes_per_die=2", "flash.pages_per_block=8"]];

/// The settings of each device: its layer, its scheme and its shape.
fn devices() -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for row in FTLS.iter().filter(|row| row.has_flash) {
        for scheme in SCHEMES {
            for shape in SHAPES {
                let layer = format!("ftl.kind={}", row.name);
                let shape = shape.iter().map(|pair| (*pair).to_owned());
                all.push(
                    [layer, scheme.to_owned()]
                        .into_iter()
                        .chain(shape)
                        .collect(),
                );
            }
        }
    }
    all
}

/// The tests end the writes to an image at moments that are this many writes apart. `make whole` (`DESTAGE_WHOLE=1`)
/// tries every write.
fn stride() -> usize {
    destage_sample::sampled(20, 1)
}

/// Opens the image as it is before every [`stride`]th write to its file, and some images whose last write is
/// incomplete.
fn cut_off_anywhere(pairs: &[&str], plant: bool) -> Result<(), String> {
    let used = Used::new(pairs, 250, plant, false)?;
    let written = used.tape.written.lock().unwrap().clone();
    let mut bytes = used.blank();
    let mut random = Random::new(8);
    for (number, (offset, part)) in written.iter().enumerate() {
        if number % stride() == 0 {
            used.open(bytes.clone(), number, number % 16 == 0, &mut random)?;
        }
        if number % (3 * stride()) == 1 {
            let mut bytes = bytes.clone();
            let length = random.below(part.len() as u64) as usize;
            put(&mut bytes, *offset, &part[..length]);
            used.open(bytes, number, false, &mut random)?;
        }
        put(&mut bytes, *offset, part);
    }
    Ok(())
}

/// Simulates crashes of the machine at random moments. After a crash, each write since the last sync may be missing
/// or incomplete.
fn crash_anywhere(pairs: &[&str], crashes: u64, lies: bool) -> Result<(), String> {
    let used = Used::new(pairs, 600, false, lies)?;
    let written = used.tape.written.lock().unwrap().clone();
    let syncs = used.tape.syncs.lock().unwrap().clone();
    let mut random = Random::new(9);
    let mut moments: Vec<usize> = (0..crashes)
        .map(|_| random.below(written.len() as u64 + 1) as usize)
        .collect();
    moments.sort_unstable();
    let (mut lasting, mut bytes) = (0, used.blank());
    for (number, moment) in moments.into_iter().enumerate() {
        let last = syncs.iter().copied().filter(|sync| *sync <= moment);
        for (offset, part) in &written[lasting..last.clone().max().unwrap_or(0).max(lasting)] {
            put(&mut bytes, *offset, part);
        }
        lasting = last.max().unwrap_or(0).max(lasting);
        let mut bytes = bytes.clone();
        let percent = [10, 50, 90][random.below(3) as usize];
        for (offset, part) in &written[lasting..moment] {
            if random.below(100) < percent {
                let in_part = random.below(10) == 0;
                let most = part.len() as u64 + 1;
                let length = if in_part {
                    random.below(most)
                } else {
                    most - 1
                };
                put(&mut bytes, *offset, &part[..length as usize]);
            }
        }
        used.open(bytes, moment, number % 8 == 0, &mut random)?;
    }
    Ok(())
}

#[test]
fn a_crash_of_the_machine_keeps_what_was_promised() {
    for pairs in devices() {
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        if let Err(why) = crash_anywhere(&pairs, 300, false) {
            panic!("{pairs:?}: {why}");
        }
    }
}

#[test]
fn erases_that_nothing_lasts_before_are_found() {
    let layers = ["page", "fast"].map(|layer| format!("ftl.kind={layer}"));
    for layer in layers {
        let found = crash_anywhere(&[&layer, "buffer.kind=lru"], 1_000, true);
        assert!(found.is_err(), "{layer}");
    }
}

#[test]
fn cut_off_after_any_write_it_is_what_a_loss_of_power_leaves() {
    for pairs in devices() {
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        if let Err(why) = cut_off_anywhere(&pairs, false) {
            panic!("{pairs:?}: {why}");
        }
    }
}

#[test]
fn a_flush_that_is_answered_before_it_is_written_is_found() {
    assert!(cut_off_anywhere(&["buffer.kind=lru"], true).is_err());
}
