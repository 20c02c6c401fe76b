//! Random requests and losses of power on devices of a few dozen blocks, where free blocks are scarce. Garbage
//! collection and mounts must end. After each loss of power, the device must have all data that it promised to save.
//!
//! The tests do not wait for model time to pass, so thousands of losses of power need only seconds. `DESTAGE_DEVICES`
//! is the number of devices (default 60), and `DESTAGE_SEED` is the seed (default 1). `DESTAGE_FROM` is the number of
//! the first device (default 0), with which a single failing device can be run again.

#![allow(clippy::print_stdout, reason = "a long test says what it did")]

use destage_base::Random;
use destage_buffer::SCHEMES;
use destage_device::RequestKind;
use destage_ftl::FTLS;
use destage_sample::sampled;
use destage_sim::check::Purpose;
use destage_sim::observer::Silent;
use destage_sim::run::live::{Ask, Live};
use destage_sim::settings::{Config, Settings};

/// The number of bytes that the device offers to the host.
const CAPACITY: u64 = 1 << 20;
/// The number of sectors of the longest request.
const LONGEST: u64 = 64;

fn number(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name);
    text.map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Random settings of a device.
fn drawn(random: &mut Random) -> Vec<String> {
    let schemes: Vec<_> = SCHEMES.iter().filter(|row| !row.needs_future()).collect();
    let layers: Vec<_> = FTLS.iter().filter(|row| row.has_flash).collect();
    let mut pick = |count: usize| random.below(count as u64) as usize;
    let scheme = schemes[pick(schemes.len())].name;
    let layer = layers[pick(layers.len())].name;
    let capacity = ["32KiB", "128KiB", "512KiB"][pick(3)];
    let mut pairs = vec![
        format!("buffer.kind={scheme}"),
        format!("ftl.kind={layer}"),
        format!("buffer.capacity_bytes={capacity}"),
        "flash.dies=2".to_owned(),
        "flash.pages_per_block=8".to_owned(),
        "device.power_may_fail=true".to_owned(),
        "sim.precondition=none".to_owned(),
    ];
    let options = [
        (30, "device.trim=strict"),
        (15, "device.vwc=off"),
        (15, "buffer.bypass_pages=3"),
        (15, "buffer.cluster_pages=8"),
        (15, "buffer.release=issue"),
        (20, "flash.channels=1"),
        (30, "flash.program_unit=2"),
        (15, "flash.program_times_us=100/400"),
        (20, "flash.scheduling=commands_reads_first"),
        (20, "buffer.bg_destage=true"),
        (20, "trace.align=rmw"),
        (15, "ftl.gc_step_pages=1"),
        (15, "ftl.separate_gc_block=true"),
        (15, "flash.summary_page=true"),
    ];
    for (percent, option) in options {
        if pick(100) < percent {
            pairs.push(option.to_owned());
        }
    }
    pairs.push(format!("flash.planes_per_die={}", 1 + pick(2)));
    match pick(4) {
        0 => pairs.push("device.plp=1000".to_owned()),
        1 => pairs.push("device.plp=0.0003".to_owned()),
        _ => {}
    }
    pairs
}

/// The configuration of the smallest device that has the settings `pairs` and offers [`CAPACITY`], or the reason why
/// no such device can be built.
fn configured(pairs: &[String]) -> Result<Config, String> {
    let mut settings = Settings::new();
    for pair in pairs {
        settings.set_pair(pair).map_err(|why| why.to_string())?;
    }
    let config = settings.read().map_err(|why| why.to_string())?;
    let blocks = config.blocks_for_capacity(CAPACITY);
    let config = config.with_blocks(blocks.map_err(|why| why.to_string())?);
    config.check(Purpose::Live).map_err(|why| why.to_string())?;
    Ok(config.used_for(Purpose::Live))
}

/// Runs a device with `cuts` losses of power and an orderly stop. Returns whether a device with the settings `pairs`
/// can be built. An error says what the device did wrong.
fn held(pairs: &[String], random: &mut Random, cuts: u64) -> Result<bool, String> {
    let Ok(config) = configured(pairs) else {
        return Ok(false);
    };
    let mut live = match Live::new(&config, Box::new(Silent)) {
        Ok(live) => live,
        Err(_) => return Ok(false),
    };
    live.keep_ledger();
    let saves_all = pairs.iter().any(|pair| pair == "device.plp=1000");
    for cut in 0..cuts {
        let broken = |why: &dyn std::fmt::Display| format!("before cut {cut}: {why}");
        written(&mut live, random).map_err(|why| broken(&why))?;
        let now = live.now();
        let (off, failed) = live.fail(now + random.below(1000), Some(random.next_u64()));
        failed.map_err(|why| broken(&why))?;
        let left = off.cut().dump.as_ref().map_or(0, |dump| dump.left);
        if saves_all && left > 0 {
            return Err(broken(&format!("{left} pages were not saved")));
        }
        live = match off.restore(now + 1_000_000) {
            Ok((live, _)) => live,
            Err((_, why)) => return Err(broken(&why)),
        };
        let bad = live.bad_sectors().map_err(|why| broken(&why))?;
        if !bad.is_empty() {
            return Err(broken(&format!(
                "sectors {bad:?} do not hold what they must"
            )));
        }
    }
    stopped(&mut live, random).map_err(|why| format!("after cut {cuts}: {why}"))?;
    Ok(true)
}

/// Submits requests of all kinds, with up to 32 outstanding.
fn written(live: &mut Live<'_>, random: &mut Random) -> Result<(), String> {
    let mut under_way = 0;
    for tag in 0..100 + random.below(200) {
        submitted(live, random, live.now(), tag)?;
        under_way += 1;
        let most = random.below(32);
        answered(live, &mut under_way, most)?;
    }
    Ok(())
}

/// Submits requests with pauses between them, and then a flush. The device must answer all of them although no
/// further request arrives.
fn stopped(live: &mut Live<'_>, random: &mut Random) -> Result<(), String> {
    let mut under_way = 0;
    for tag in 0..random.below(100) {
        let pause = [0, 0, random.below(3_000_000)][random.below(3) as usize];
        let now = live.now() + pause;
        live.advance(now).map_err(|why| why.to_string())?;
        submitted(live, random, now, tag)?;
        under_way += 1;
        let most = random.below(32);
        answered(live, &mut under_way, most)?;
    }
    let flush = Ask {
        kind: RequestKind::Flush,
        sector: 0,
        sectors: 0,
        fua: false,
        data: &[],
        tag: 100,
    };
    let now = live.now();
    live.submit(now, &flush).map_err(|why| why.to_string())?;
    answered(live, &mut (under_way + 1), 0)
}

/// Submits a random request that arrives at `now`.
fn submitted(live: &mut Live<'_>, random: &mut Random, now: u64, tag: u64) -> Result<(), String> {
    let kind = match random.below(12) {
        0 | 1 => RequestKind::Trim,
        2 => RequestKind::WriteZeroes,
        3 => RequestKind::Flush,
        4 | 5 => RequestKind::Read,
        _ => RequestKind::Write,
    };
    let sectors = 1 + random.below(LONGEST);
    let sector = random.below(live.sectors() - sectors);
    let (sector, sectors) = match kind {
        RequestKind::Flush => (0, 0),
        _ => (sector, sectors),
    };
    let bytes = [random.below(256) as u8; (LONGEST * 512) as usize];
    let data = match kind {
        RequestKind::Write => &bytes[..(sectors * 512) as usize],
        _ => &[],
    };
    let ask = Ask {
        kind,
        sector,
        sectors: sectors as u32,
        fua: kind == RequestKind::Write && random.below(8) == 0,
        data,
        tag,
    };
    live.submit(now, &ask).map_err(|why| why.to_string())
}

/// Advances time until at most `most` of the `under_way` requests are unanswered.
fn answered(live: &mut Live<'_>, under_way: &mut u64, most: u64) -> Result<(), String> {
    while *under_way > most {
        let done = live.advance_to_completion();
        done.map_err(|why| why.to_string())?;
        while live.completed().is_some() {
            *under_way -= 1;
        }
    }
    Ok(())
}

#[test]
fn small_devices_find_room_and_keep_what_they_promise() {
    let (devices, seed) = (number("DESTAGE_DEVICES", 60), number("DESTAGE_SEED", 1));
    let first = number("DESTAGE_FROM", 0);
    let mut made = 0;
    for device in first..first + devices {
        let mut random = Random::new(seed.wrapping_mul(1 << 32).wrapping_add(device));
        let pairs = drawn(&mut random);
        match held(&pairs, &mut random, 6) {
            Ok(is_made) => made += u64::from(is_made),
            Err(why) => panic!("seed {seed}, device {device}, {}: {why}", pairs.join(" ")),
        }
    }
    println!("{made} of {devices} devices could be made, and lost their power 6 times each");
    assert!(made * 3 > devices);
}

/// Each of these devices is a test case for one defect, which the comment above the device describes. The device must
/// run without errors on fifteen streams of random requests, or on sixty with `make whole`. The number is the seed of
/// the first stream.
#[test]
fn what_was_found_on_small_devices_stays_mended() {
    let found = [
        // The device completes program units with fillers. Because of the fillers, a plane receives more pages than
        // garbage collection can make room for, and the mount never ends.
        (
            0,
            "ftl.kind=page buffer.kind=griffin buffer.capacity_bytes=512KiB flash.planes_per_die=2 flash.program_unit=2 device.plp=1000",
        ),
        // Because of the same fillers, garbage collection finds no room while the device is in service.
        (
            0,
            "ftl.kind=dftl buffer.kind=griffin buffer.capacity_bytes=512KiB flash.planes_per_die=2 flash.program_unit=2 device.plp=1000 device.trim=strict",
        ),
        // A trim still waits for commands, but is already in the mapping table when garbage collection runs on the
        // capacitor.
        (
            0,
            "ftl.kind=dftl buffer.kind=epo buffer.capacity_bytes=128KiB flash.planes_per_die=1 flash.scheduling=commands_reads_first device.plp=1000",
        ),
        // Erases wait for a program unit on another die, and no request causes this unit to be completed.
        (
            0,
            "ftl.kind=zns buffer.kind=req-block buffer.capacity_bytes=128KiB flash.planes_per_die=1 flash.program_unit=2",
        ),
        // An erase on each of two dies waits for a program unit on the other die.
        (
            0,
            "ftl.kind=striped buffer.kind=req-block buffer.capacity_bytes=512KiB flash.planes_per_die=2 flash.program_unit=2 buffer.bg_destage=true device.trim=strict",
        ),
        // A request waits for a slot. The page in the slot belongs to a program unit that no request causes to be
        // completed.
        (
            0,
            "ftl.kind=dftl buffer.kind=apu-lfu-d buffer.capacity_bytes=512KiB flash.planes_per_die=1 flash.program_unit=2 buffer.bg_destage=true trace.align=rmw",
        ),
        (
            0,
            "ftl.kind=hat buffer.kind=apu-lru buffer.capacity_bytes=32KiB flash.planes_per_die=1 flash.program_unit=2 trace.align=rmw ftl.gc_step_pages=1",
        ),
        // A die has filled both superblocks for host writes. It needs a collection on another die, but the layer
        // requests this collection only on the first die.
        (
            0,
            "ftl.kind=striped buffer.kind=dulo buffer.capacity_bytes=128KiB flash.planes_per_die=1 device.plp=1000",
        ),
        (
            0,
            "ftl.kind=striped buffer.kind=pud-lru buffer.capacity_bytes=512KiB flash.planes_per_die=1 flash.program_unit=2 device.trim=strict device.plp=1000",
        ),
        // Writes had invalidated all pages of some superblocks. The writes are lost with the power, so after the
        // mount no superblock is free.
        (
            120,
            "ftl.kind=striped buffer.kind=infinite buffer.capacity_bytes=128KiB flash.planes_per_die=1 flash.program_unit=2 device.plp=0.0003",
        ),
        (
            300,
            "ftl.kind=striped buffer.kind=fifo buffer.capacity_bytes=32KiB flash.planes_per_die=1 flash.program_unit=2",
        ),
        // A mount accepts a copy of a page as the current copy, although the part of the superblock that contains it
        // is erased before the part is full.
        (
            0,
            "ftl.kind=striped buffer.kind=bp-ref buffer.capacity_bytes=128KiB flash.planes_per_die=2 device.plp=0.0003",
        ),
        // A collection step moves pages to one die, but their old copies are on another die. The other die erases the
        // old copies before the step ends.
        (
            60,
            "ftl.kind=striped buffer.kind=femu buffer.capacity_bytes=32KiB flash.planes_per_die=1 flash.program_unit=2 flash.program_times_us=100/400",
        ),
        // Trims had emptied all free superblocks. The trims are lost with the power, so garbage collection finds no
        // free superblock.
        (
            700,
            "ftl.kind=striped buffer.kind=dulo buffer.capacity_bytes=128KiB flash.planes_per_die=2 flash.program_unit=2 flash.scheduling=commands_reads_first device.plp=1000",
        ),
        // A flush waits for programs in the queue of a die, and requests that their program unit is completed. An
        // earlier long write that bypasses the buffer cancels this request.
        (
            0,
            "ftl.kind=superblock buffer.kind=co-active buffer.capacity_bytes=128KiB buffer.bypass_pages=3 flash.planes_per_die=2 flash.program_unit=2 device.plp=0.0003",
        ),
    ];
    let mut wrong = Vec::new();
    for (first, text) in found {
        let all =
            "flash.dies=2 flash.pages_per_block=8 device.power_may_fail=true sim.precondition=none";
        let pairs = all.split(' ').chain(text.split(' '));
        let pairs: Vec<_> = pairs.map(str::to_owned).collect();
        let held_by = |seed| held(&pairs, &mut Random::new(seed), 8);
        let mut streams = first..first + sampled(15, 60);
        let first_wrong = streams.find_map(|seed| match held_by(seed) {
            Ok(is_made) => {
                assert!(is_made, "{text}");
                None
            }
            Err(why) => Some(format!("{text}, seed {seed}: {why}")),
        });
        wrong.extend(first_wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
