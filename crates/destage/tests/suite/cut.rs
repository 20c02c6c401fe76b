//! Tests of power losses in runs. After the mount, every sector holds data that the answers before the power loss
//! allow. Equal cuts give equal results.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{mixture, settings};
use destage::base::Random;
use destage::base::time::TICKS_PER_MS;
use destage::buffer::SCHEMES;
use destage::ftl::FTLS;
use destage::trace::{Operation, Request};
use destage::{Combination, CutAt, CutOutcome, CutPlan, Error, Input, Silent, cut};

/// Reads and writes, mixed with flushes, trims, FUA writes and unaligned requests.
fn requests(seed: u64, count: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let mut requests = mixture(seed, count);
    for request in &mut requests {
        match random.below(30) {
            0 => {
                request.operation = Operation::Flush;
                (request.sector, request.sectors) = (0, 0);
            }
            1 => request.operation = Operation::Trim,
            2 => request.fua = request.operation == Operation::Write,
            3..8 => request.sector += random.below(8),
            _ => {}
        }
    }
    requests
}

/// Runs the requests on a small device with the settings `pairs` until the power fails at `at`.
fn fail(pairs: &[&str], at: CutAt, seed: u64) -> Result<CutOutcome, Error> {
    let mut all = vec!["trace.addr_map=modulo", "trace.align=rmw"];
    all.extend(pairs);
    let combination = Combination::new(&settings(&all))?;
    let input = Input::requests("requests", requests(5, 3_000));
    let plan = CutPlan { at, seed };
    let mut observer = destage::sim::observer::Silent;
    cut(&input, &combination, &plan, None, &Silent, &mut observer)
}

#[test]
fn every_layer_holds_what_was_promised_and_a_cut_is_repeated_exactly() {
    let (mut random, mut promised) = (Random::new(1), 0);
    for layer in FTLS.iter().filter(|row| row.has_flash) {
        let kind = format!("ftl.kind={}", layer.name);
        for seed in 0..4 {
            let at = CutAt::Program(1 + random.below(3_000));
            let one = fail(&[&kind], at, seed).unwrap();
            assert_eq!(one.result.bad, [0; 0], "{} at {at}", layer.name);
            assert!(one.result.mount.time > 0);
            promised += one.result.counts.must;
            let other = fail(&[&kind], at, seed).unwrap();
            assert_eq!(one.result, other.result, "{} at {at}", layer.name);
        }
    }
    assert!(promised > 10_000, "{promised} sectors were promised");
}

/// The number of runs to cut: a twentieth of `DESTAGE_CUTS`, or 75 by default. A cut of a whole run needs much more
/// time than a cut in the other tests that use the variable.
fn runs_asked() -> u64 {
    let asked = std::env::var("DESTAGE_CUTS").ok();
    asked.map_or(75, |text| text.parse::<u64>().expect("a number") / 20)
}

#[test]
fn runs_of_all_kinds_hold_what_was_promised_wherever_they_are_cut() {
    let layers = FTLS.iter().filter(|row| row.has_flash);
    let layers: Vec<&str> = layers.map(|row| row.name).collect();
    let schemes: Vec<&str> = SCHEMES.iter().map(|row| row.name).collect();
    let mut random = Random::new(9);
    let (mut cuts, mut cut_off) = (0, 0);
    for number in 0..runs_asked() {
        let mut draw = |words: &[&str]| words[random.below(words.len() as u64) as usize].to_owned();
        let pairs = [
            format!("ftl.kind={}", draw(&layers)),
            format!("buffer.kind={}", draw(&schemes)),
            format!("device.vwc={}", draw(&["on", "on", "on", "off"])),
            format!("device.trim={}", draw(&["default", "strict"])),
            format!("device.plp={}", draw(&["none", "none", "0.0003", "1"])),
            format!(
                "buffer.capacity_bytes={}",
                draw(&["16KiB", "64KiB", "512KiB"])
            ),
            format!("host.queue_depth={}", draw(&["1", "4", "32"])),
            format!("host.time_scale={}", draw(&["0.01", "1"])),
            format!(
                "sim.precondition={}",
                draw(&["none", "sequential_fill", "random_fill:1"])
            ),
            format!("flash.parallel_units={}", draw(&["1", "2"])),
        ];
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        let at = match random.below(4) {
            0 => CutAt::Write(1 + random.below(1_500)),
            1 => CutAt::Flush(1 + random.below(60)),
            _ => CutAt::Program(1 + random.below(1_200)),
        };
        match fail(&pairs, at, number) {
            Ok(outcome) => {
                assert_eq!(outcome.result.bad, [0; 0], "{pairs:?} at {at}, {number}");
                cuts += 1;
                cut_off += u64::from(outcome.result.cut.programs + outcome.result.cut.erases);
            }
            // Two errors are allowed: some runs end before the cut, and some settings need a device of another
            // geometry.
            Err(error) => assert!(!matches!(error, Error::Internal(_)), "{pairs:?}: {error}"),
        }
    }
    assert!(
        cuts > runs_asked() / 2 && cut_off > cuts / 4,
        "{cuts} cuts, {cut_off} operations"
    );
}

#[test]
fn a_cut_can_come_at_a_write_a_flush_or_a_time() {
    for (at, units) in [
        (CutAt::Write(700), ""),
        (CutAt::Flush(20), "flash.parallel_units=2"),
        (CutAt::Time(900 * TICKS_PER_MS), "ftl.placement=dynamic"),
        (CutAt::Time(50 * TICKS_PER_MS), "device.vwc=off"),
        (CutAt::Write(900), "device.trim=strict"),
        (CutAt::Write(1_000), "host.replay=closed"),
        (CutAt::Program(1), "sim.precondition=none"),
    ] {
        let pairs: Vec<&str> = [units]
            .into_iter()
            .filter(|pair| !pair.is_empty())
            .collect();
        let outcome = fail(&pairs, at, 1).unwrap();
        assert_eq!(outcome.result.bad, [0; 0], "{at} {units}");
        if let CutAt::Time(time) = at {
            assert_eq!(outcome.result.time, time);
        }
    }
}

#[test]
fn a_program_that_the_cut_is_about_is_in_service() {
    let mut cut_off = 0;
    for seed in 0..20 {
        let outcome = fail(&[], CutAt::Program(500 + seed), seed).unwrap();
        cut_off += outcome.result.cut.programs;
    }
    assert!(cut_off >= 15, "{cut_off} programs cut off in 20 cuts");
}

#[test]
fn a_capacitor_saves_all_of_ram_or_what_it_pays_for() {
    let at = CutAt::Write(1_500);
    let all = fail(&["device.plp=10"], at, 1).unwrap().result;
    let dump = all.dump.unwrap();
    assert!(dump.pages > 0 && dump.left == 0 && dump.time > 0 && dump.energy > 0);
    let few = fail(&["device.plp=0.0005"], at, 1).unwrap().result;
    let dump = few.dump.unwrap();
    assert!(
        dump.pages > 0 && dump.left > 0 && dump.energy <= 500_000_000,
        "{dump:?}"
    );
    for plp in ["device.plp=none", "device.plp=failed"] {
        assert_eq!(fail(&[plp], at, 1).unwrap().result.dump, None);
    }
}

#[test]
fn what_a_drive_without_enough_energy_loses_goes_by_its_name() {
    let at = CutAt::Write(1_500);
    let lost = |plp: &str| {
        let large = "buffer.capacity_bytes=1MiB";
        let result = fail(&["buffer.flush_mode=ignore", large, plp], at, 1);
        let result = result.unwrap().result;
        assert_eq!(result.bad, [0; 0], "{plp}");
        result.lost
    };
    assert!(lost("device.plp=failed")["energy"] > 0);
    assert!(lost("device.plp=0.0001")["energy"] > 0);
    assert!(!lost("device.plp=10").contains_key("energy"));
}

#[test]
fn what_bad_drives_lose_goes_by_its_name() {
    let mut names = std::collections::BTreeMap::<&str, u64>::new();
    for seed in 0..30 {
        for bad in [
            &["device.torn=sectors"][..],
            &["device.paired_loss=1", "flash.bits_per_cell=3"],
        ] {
            let result = fail(bad, CutAt::Program(400 + 7 * seed), seed)
                .unwrap()
                .result;
            assert_eq!(result.bad, [0; 0], "{bad:?} {seed}");
            for (name, count) in result.lost {
                *names.entry(name).or_default() += count;
            }
        }
    }
    assert!(names["torn"] > 0 && names["paired"] > 0, "{names:?}");
}

#[test]
fn with_bytes_order_is_strict_and_times_are_exact_which_is_said() {
    let of = |pairs: &[&str]| fail(pairs, CutAt::Write(20), 1).unwrap();
    let (reference, plain) = (
        of(&["sim.write_order=reference", "sim.clock=double_ms"]),
        of(&[]),
    );
    assert_eq!(reference.result, plain.result);
    assert!(plain.manifest.unused.is_empty());
    assert_eq!(
        reference.manifest.unused,
        [
            "sim.clock was set, but has no effect: with bytes it is exact",
            "sim.write_order was set, but has no effect: with bytes it is strict"
        ]
    );
}

#[test]
fn what_only_a_profile_sets_is_replaced_without_a_word() {
    let mut base = settings(&["trace.addr_map=modulo", "trace.align=rmw"]);
    let profile = destage::sim::settings::Origin::Profile("mine".to_owned());
    base.set("sim.costing", "op_count", profile);
    let combination = Combination::new(&base).unwrap();
    let input = Input::requests("requests", requests(5, 3_000));
    let (at, seed) = (CutAt::Write(20), 1);
    let plan = CutPlan { at, seed };
    let mut observer = destage::sim::observer::Silent;
    let outcome = cut(&input, &combination, &plan, None, &Silent, &mut observer).unwrap();
    assert_eq!(outcome.manifest.unused, [""; 0]);
}

#[test]
fn what_cannot_have_bytes_says_so() {
    for (pair, named) in [
        ("ftl.kind=none", "ftl.kind = none"),
        ("device.plp=lots", "device.plp = \"lots\""),
    ] {
        let error = fail(&[pair], CutAt::Write(1), 1).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    let error = fail(&[], CutAt::Flush(1_000_000), 1).unwrap_err();
    assert!(error.to_string().contains("the run ended after"), "{error}");
}

#[test]
fn what_reference_simulators_do_in_their_own_way_is_done_otherwise_and_says_so() {
    let queued = "flash.scheduling=commands_arrival";
    for (pairs, key, is) in [
        (&["sim.costing=op_count"][..], "sim.costing", "event"),
        (&["sim.write_order=reference"], "sim.write_order", "strict"),
        (&["sim.clock=double_ms"], "sim.clock", "exact"),
        (
            &[queued, "flash.multi_plane=any_order"],
            "flash.multi_plane",
            "in_order",
        ),
    ] {
        let outcome = fail(pairs, CutAt::Program(700), 1).unwrap();
        assert_eq!(outcome.result.bad, [0; 0], "{pairs:?}");
        let said = format!("{key} was set, but has no effect: with bytes it is {is}");
        assert_eq!(outcome.manifest.unused, [said]);
    }
}

/// Random settings of devices in which each command has its own time.
fn timed_by_commands(random: &mut Random) -> Vec<String> {
    let mut draw = |words: &[&str]| words[random.below(words.len() as u64) as usize].to_owned();
    let layers = [
        "page",
        "page",
        "hat",
        "dftl",
        "pslc",
        "zns",
        "striped",
        "fast",
        "bast",
        "superblock",
    ];
    let layer = draw(&layers);
    let chooses_dies = ["zns", "striped"].contains(&layer.as_str());
    let merges = ["fast", "bast", "superblock"].contains(&layer.as_str());
    let is_queued = draw(&["yes", "no", "no"]) == "yes" && layer != "pslc";
    let mut pairs = vec![
        format!("ftl.kind={layer}"),
        "flash.dies=4".to_owned(),
        format!("flash.channels={}", draw(&["1", "2", "4"])),
        format!("flash.command_ns={}", draw(&["0", "300"])),
        format!("flash.read_times_us={}", draw(&["25", "17.5/32.5"])),
        format!("flash.program_times_us={}", draw(&["200", "100/400"])),
        format!("host.queue_depth={}", draw(&["1", "4", "32"])),
        format!("host.time_scale={}", draw(&["0.01", "1"])),
        format!("device.plp={}", draw(&["none", "none", "0.0003", "1"])),
        format!("device.vwc={}", draw(&["on", "on", "off"])),
        format!("buffer.capacity_bytes={}", draw(&["256KiB", "1MiB"])),
        format!("buffer.kind={}", draw(&["lru", "bplru", "fifo", "nocache"])),
    ];
    if layer != "zns" && layer != "dftl" {
        let filled = draw(&["none", "sequential_fill", "random_fill:1"]);
        pairs.push(format!("sim.precondition={filled}"));
    }
    if is_queued {
        let order = draw(&["arrival", "reads_first"]);
        pairs.push(format!("flash.scheduling=commands_{order}"));
        pairs.push(format!("flash.multi_plane={}", draw(&["off", "in_order"])));
    } else {
        pairs.push(format!("flash.status_ns={}", draw(&["0", "200"])));
        let order = draw(&["arrival", "reads_first", "garbage_last"]);
        if order != "arrival" {
            let suspend = draw(&["never", "moves_end", "keeps_end"]);
            pairs.push(format!("flash.suspend={suspend}"));
        }
        pairs.push(format!("flash.scheduling={order}"));
        // A block has to hold several program units.
        pairs.push("flash.pages_per_block=32".to_owned());
        pairs.push("flash.blocks_per_plane=32".to_owned());
        if !chooses_dies && !merges {
            pairs.push("ftl.min_free_percent=1".to_owned());
            pairs.push(format!("flash.summary_page={}", draw(&["false", "true"])));
        }
        pairs.push(format!("flash.program_unit={}", draw(&["1", "2", "4"])));
        pairs.push(format!("flash.program_passes={}", draw(&["1", "1", "2"])));
        if merges || ["page", "striped"].contains(&layer.as_str()) {
            pairs.push(format!("ftl.map_unit_bytes={}", draw(&["0", "2048"])));
        }
    }
    if layer == "page" {
        pairs.push(format!("ftl.handles={}", draw(&["1", "3"])));
        pairs.push(format!("ftl.hot_window={}", draw(&["0", "40"])));
        pairs.push(format!("ftl.journal_changes={}", draw(&["0", "20"])));
        pairs.push(format!("ftl.gc_step_pages={}", draw(&["0", "5"])));
        pairs.push(format!("ftl.placement={}", draw(&["stripe", "dynamic"])));
        pairs.push(format!(
            "ftl.victim_ties={}",
            draw(&["oldest", "reference"])
        ));
        let policies = ["greedy", "wear_aware", "greedy_wear"];
        pairs.push(format!("ftl.gc_policy={}", draw(&policies)));
        pairs.push(format!("ftl.wl_migrate={}", draw(&["false", "true"])));
        pairs.push(format!("flash.copy_back={}", draw(&["true", "false"])));
    }
    pairs.push(format!("flash.cache_read={}", draw(&["false", "true"])));
    pairs.push(format!("flash.cache_program={}", draw(&["false", "true"])));
    pairs
}

#[test]
fn what_is_timed_by_commands_holds_what_was_promised_wherever_it_is_cut() {
    let mut random = Random::new(21);
    let (mut cuts, mut cut_off) = (0, 0);
    for number in 0..runs_asked() {
        let pairs = timed_by_commands(&mut random);
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        let at = match random.below(4) {
            0 => CutAt::Write(1 + random.below(1_500)),
            1 => CutAt::Flush(1 + random.below(60)),
            _ => CutAt::Program(1 + random.below(1_200)),
        };
        if std::env::var("SHOW").is_ok() {
            eprintln!("{pairs:?} at {at}, {number}");
        }
        match fail(&pairs, at, number) {
            Ok(outcome) => {
                assert_eq!(outcome.result.bad, [0; 0], "{pairs:?} at {at}, {number}");
                cuts += 1;
                cut_off += u64::from(outcome.result.cut.programs + outcome.result.cut.erases);
            }
            // Two errors are allowed: some runs end before the cut, and some settings need a device of another
            // geometry.
            Err(error) => {
                if std::env::var("SHOW").is_ok() {
                    eprintln!("{error}");
                }
                assert!(!matches!(error, Error::Internal(_)), "{pairs:?}: {error}");
            }
        }
    }
    assert!(
        cuts > runs_asked() / 2 && cut_off > cuts / 4,
        "{cuts} cuts, {cut_off} operations"
    );
}

/// Devices on which the layer might use the flash wrongly, so that the flash refuses an operation, or keeps data that
/// should be erased.
#[test]
fn devices_that_were_found_wrong_hold_what_was_promised() {
    let shared = [
        "flash.dies=4",
        "flash.channels=2",
        "flash.pages_per_block=32",
        "flash.blocks_per_plane=32",
        "flash.program_times_us=200",
        "buffer.capacity_bytes=1MiB",
    ];
    for (number, at, own) in [
        // The journal must not be programmed in a block whose erase has not begun.
        (
            421,
            CutAt::Program(987),
            &[
                "ftl.kind=page",
                "ftl.placement=dynamic",
                "ftl.gc_policy=greedy_wear",
                "ftl.victim_ties=oldest",
                "ftl.min_free_percent=1",
                "ftl.hot_window=40",
                "ftl.journal_changes=20",
                "ftl.map_unit_bytes=2048",
                "flash.cache_read=true",
                "flash.read_times_us=25",
                "flash.command_ns=0",
                "flash.scheduling=arrival",
                "sim.precondition=random_fill:1",
                "host.queue_depth=1",
                "host.time_scale=0.01",
                "buffer.kind=bplru",
                "device.plp=none",
                "device.vwc=on",
            ][..],
        ),
        // The power fails during the erase of a block in which fillers still wait for their second program pass. The
        // capacitor has the energy for this pass.
        (
            1828,
            CutAt::Program(1125),
            &[
                "ftl.kind=fast",
                "flash.program_unit=2",
                "flash.program_passes=2",
                "flash.cache_read=true",
                "flash.read_times_us=17.5/32.5",
                "flash.command_ns=300",
                "flash.scheduling=garbage_last",
                "flash.suspend=moves_end",
                "host.queue_depth=32",
                "buffer.kind=lru",
                "device.plp=1",
                "device.vwc=on",
            ],
        ),
    ] {
        let pairs: Vec<&str> = shared.iter().chain(own).copied().collect();
        let outcome = fail(&pairs, at, number).unwrap();
        assert_eq!(outcome.result.bad, [0; 0], "{pairs:?} at {at}, {number}");
    }
}

/// The settings of profile `name` with a small device, and then `pairs`.
fn of_profile(name: &str, pairs: &[&str]) -> destage::Settings {
    let mut settings = destage::Settings::new();
    settings.load_profile(name).unwrap();
    let profile = destage::sim::profiles::find(name).unwrap();
    let shares_channels = profile.text.contains("\nchannels = ");
    let mut all = vec![
        "flash.dies=4",
        "sim.precondition=sequential_fill",
        "buffer.capacity_bytes=1MiB",
        "host.time_scale=0.1",
        "trace.addr_map=modulo",
        "trace.align=rmw",
    ];
    if shares_channels {
        all.push("flash.channels=2");
    }
    // A block has to hold several program units.
    all.extend(match profile.text.contains("\nprogram_unit = ") {
        true => ["flash.blocks_per_plane=64", "flash.pages_per_block=192"],
        false => ["flash.blocks_per_plane=256", "flash.pages_per_block=48"],
    });
    for pair in all.iter().chain(pairs) {
        settings.set_pair(pair).unwrap();
    }
    settings
}

/// Cuts the power in `cuts` runs on profile `name`, each at a random moment, and checks that every sector holds
/// allowed data. Returns the number of operations that were cut off, and the number of promised sectors.
fn cut_profile(name: &str, cuts: u64) -> (u64, u64) {
    let mut random = Random::new(3);
    let (mut cut_off, mut promised) = (0, 0);
    for number in 0..cuts.max(2) {
        // Every second run has a capacitor with enough energy for all data; the other runs have no capacitor.
        let plp = ["device.plp=100", "device.plp=none"][(number % 2) as usize];
        let combination = Combination::new(&of_profile(name, &[plp])).unwrap();
        let input = Input::requests("requests", requests(number, 3_000));
        let at = match random.below(4) {
            0 => CutAt::Write(1 + random.below(1_500)),
            1 => CutAt::Flush(1 + random.below(60)),
            _ => CutAt::Program(1 + random.below(1_500)),
        };
        let plan = CutPlan { at, seed: number };
        let mut observer = destage::sim::observer::Silent;
        let outcome = cut(&input, &combination, &plan, None, &Silent, &mut observer);
        let outcome = outcome.unwrap_or_else(|error| panic!("{name} {at}: {error}"));
        assert_eq!(outcome.result.bad, [0; 0], "{name} at {at}, {number}");
        if number % 2 == 0 {
            assert_eq!(outcome.result.lost.get("energy"), None, "{name} at {at}");
        }
        cut_off += u64::from(outcome.result.cut.programs + outcome.result.cut.erases);
        promised += outcome.result.counts.must;
    }
    (cut_off, promised)
}

#[test]
fn every_profile_holds_what_was_promised() {
    for profile in destage::sim::profiles::PROFILES {
        let (cut_off, promised) = cut_profile(profile.name, runs_asked() / 15);
        let name = profile.name;
        assert!(promised > 0 && cut_off > 0, "{name}: {cut_off}, {promised}");
    }
}
