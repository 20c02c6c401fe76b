//! Tests of the state of a device, which is prepared once, saved in a file, and loaded by later runs.

use std::path::{Path, PathBuf};

use destage_base::Random;
use destage_base::archive::Archive;
use destage_base::parameter::Kind;
use destage_ftl::FTLS;
use destage_sim::observer::Silent;
use destage_sim::prepass::Prepass;
use destage_sim::run::{RunResult, run};
use destage_sim::settings::{Config, Settings};
use destage_sim::source::Source;
use destage_sim::state;
use destage_trace::{Operation, Request};

/// A file that is deleted at the end of its test.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir();
        Self(folder.join(format!("destage-state-{}-{name}", std::process::id())))
    }

    fn setting(&self) -> String {
        format!("sim.precondition=file:{}", self.0.display())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn config(pairs: &[&str]) -> Result<Config, String> {
    let mut settings = Settings::new();
    let device = [
        "flash.dies=2",
        "flash.planes_per_die=2",
        "flash.blocks_per_plane=40",
        "flash.pages_per_block=8",
        "buffer.capacity_bytes=64KiB",
        "trace.addr_map=modulo",
        "sim.precondition=random_fill:3",
    ];
    for pair in device.iter().chain(pairs) {
        settings.set_pair(pair).expect("a setting");
    }
    settings.resolve().map_err(|error| error.to_string())
}

fn save(config: &Config, path: &Path) -> Result<(), String> {
    let ftl = config.prepared_ftl(&mut Silent);
    let mut ftl = ftl.map_err(|error| error.to_string())?;
    let file = std::fs::File::create(path).expect("a file");
    state::save(config, &mut *ftl, file).map_err(|error| error.to_string())
}

fn requests() -> Vec<Request> {
    let mut random = Random::new(5);
    let one = |index: u32| Request {
        arrival: u64::from(index) * 3_000_000,
        sector: random.below(900) * 8,
        sectors: 8 * (1 + random.below(6) as u32),
        line: index + 1,
        operation: match random.below(20) {
            0 => Operation::Trim,
            1..6 => Operation::Read,
            _ => Operation::Write,
        },
        ..Request::BLANK
    };
    (0..1200).map(one).collect()
}

fn simulate(config: &Config) -> Result<RunResult, String> {
    let requests = requests();
    let source = Source::memory("test".to_owned(), &requests);
    let result = run(config, source, &Prepass::default(), &mut Silent);
    result
        .map(|(result, _)| result)
        .map_err(|error| error.to_string())
}

/// The settings of every layer: once with all defaults, and once for each word that a parameter of the layer can
/// choose.
fn layers() -> Vec<Vec<String>> {
    let mut layers = Vec::new();
    for row in FTLS.iter().filter(|row| row.has_flash) {
        let kind = format!("ftl.kind={}", row.name);
        let mut base = vec![kind];
        for (name, value) in [
            ("reserve_percent", "25"),
            ("log_blocks", "6"),
            ("wl_period", "50"),
            ("wl_gap", "2"),
        ] {
            if row.parameters.iter().any(|row| row.name == name) {
                base.push(format!("ftl.{name}={value}"));
            }
        }
        layers.push(base.clone());
        for parameter in row.parameters {
            let words: &[&str] = match parameter.kind {
                Kind::Choice(words) => words,
                Kind::Flag => &["true", "false"],
                _ => continue,
            };
            for word in words.iter().filter(|word| **word != parameter.default) {
                let mut layer = base.clone();
                layer.push(format!("ftl.{}={word}", parameter.name));
                layers.push(layer);
            }
        }
    }
    // A hot window, collection in steps and a journal add state to the layer. This additional state is empty before
    // the first request.
    for more in ["hot_window=40", "gc_step_pages=2", "journal_changes=5"] {
        let page = [
            "ftl.kind=page",
            "ftl.reserve_percent=25",
            &format!("ftl.{more}"),
        ];
        layers.push(page.map(str::to_owned).to_vec());
    }
    layers
}

#[test]
fn a_run_from_a_file_is_the_run_that_prepares_the_device_itself() {
    let file = File::new("equal");
    let (mut ran, mut with_erases) = (0, 0);
    for layer in layers() {
        for device in [
            &["sim.costing=event"][..],
            &[
                "sim.costing=op_count",
                "flash.copy_back=false",
                "flash.summary_page=true",
            ],
            &[
                "sim.costing=event",
                "flash.wearout=retire",
                "flash.endurance=60",
            ],
            &["sim.costing=event", "flash.parallel_units=2"],
        ] {
            let mut pairs: Vec<&str> = layer.iter().map(String::as_str).collect();
            pairs.extend(device);
            // A device that cannot be built, or that wears out before the first request, has no state.
            let Ok(direct) = config(&pairs) else {
                continue;
            };
            if save(&direct, &file.0).is_err() {
                continue;
            }
            let setting = file.setting();
            let kept = config(&[&pairs[..], &[&setting]].concat()).expect("a configuration");
            let (direct, from_file) = (simulate(&direct), simulate(&kept));
            assert_eq!(
                direct.as_ref().map(|result| &result.metrics),
                from_file.as_ref().map(|result| &result.metrics),
                "{pairs:?}"
            );
            let (Ok(direct), Ok(from_file)) = (direct, from_file) else {
                continue;
            };
            ran += 1;
            let erases = direct.metrics.get("flash.erases").expect("a count");
            with_erases += u32::from(erases.as_f64() > 20.0);
            let mut parameters = from_file.parameters;
            parameters.retain(|name, _| !name.starts_with("state."));
            let fill = direct.parameters["sim.precondition"].clone();
            parameters.insert("sim.precondition".to_owned(), fill);
            assert_eq!(parameters, direct.parameters);
        }
    }
    assert!(
        ran > 200 && with_erases * 4 > ran * 3,
        "{ran} {with_erases}"
    );
}

#[test]
fn a_device_filled_in_order_or_not_at_all_is_kept_as_well() {
    let file = File::new("others");
    for precondition in ["none", "sequential_fill"] {
        let precondition = format!("sim.precondition={precondition}");
        for layer in ["ftl.kind=page", "ftl.kind=fast"] {
            let direct = config(&[layer, &precondition]).expect("a configuration");
            save(&direct, &file.0).expect("a state");
            let kept = config(&[layer, &file.setting()]).expect("a configuration");
            let [direct, kept] = [direct, kept].map(|config| simulate(&config).expect("a run"));
            assert_eq!(direct.metrics, kept.metrics);
        }
    }
}

#[test]
fn results_say_what_filled_the_device_and_which_file_it_was() {
    let (file, copy) = (File::new("facts"), File::new("facts-copy"));
    let seeded = config(&["sim.seed=9"]).expect("a configuration");
    save(&seeded, &file.0).expect("a state");
    let kept = config(&[&file.setting()]).expect("a configuration");
    let parameters = simulate(&kept).expect("a run").parameters;
    let text = |name: &str| format!("{:?}", parameters[name]);
    assert_eq!(text("state.precondition"), "Text(\"random_fill:3\")");
    assert_eq!(
        (text("state.seed"), text("sim.seed")),
        ("Integer(9)".into(), "Integer(1)".into())
    );
    assert!(
        text("state.digest").contains("sha256:"),
        "{}",
        text("state.digest")
    );
    // If a run saves a state that it has loaded, the new file is identical to the loaded file.
    save(&kept, &copy.0).expect("a state");
    let [first, second] = [&file, &copy].map(|file| std::fs::read(&file.0).expect("bytes"));
    assert!(first == second);
}

#[test]
fn a_state_of_another_device_is_refused_with_both_values() {
    let file = File::new("other-device");
    save(&config(&[]).expect("a configuration"), &file.0).expect("a state");
    for (pair, difference) in [
        ("flash.dies=4", "flash.dies = 2, but here it is 4"),
        (
            "device.power_may_fail=true",
            "device.power_may_fail = false, but here it is true",
        ),
        ("ftl.kind=bast", "ftl.kind = page, but here it is bast"),
        (
            "ftl.reserve_percent=20",
            "ftl.reserve_percent = 15, but here it is 20",
        ),
    ] {
        let kept = config(&[pair, &file.setting()]).expect("a configuration");
        let error = simulate(&kept).expect_err("a refusal");
        assert!(
            error.contains(difference) && error.contains("sim.precondition = file:"),
            "{error}"
        );
    }
    // A run can load the state even if its buffer, host, `sim.costing`, seed and flash times differ from those of the
    // run that saved the state.
    let others = [
        "flash.read_us=30",
        "buffer.kind=fifo",
        "host.queue_depth=2",
        "sim.costing=op_count",
        "sim.seed=3",
    ];
    let setting = file.setting();
    let kept = config(&[&others[..], &[&setting]].concat()).expect("a configuration");
    simulate(&kept).expect("a run");
}

#[test]
fn times_and_queues_of_the_device_decide_nothing_that_it_holds() {
    let file = File::new("times");
    let mut ran = 0;
    for layer in [
        &["ftl.kind=page"][..],
        &["ftl.kind=page", "ftl.placement=dynamic"],
        &["ftl.kind=page", "ftl.gc_policy=cost_benefit"],
        &["ftl.kind=dftl"],
        &["ftl.kind=fast"],
    ] {
        save(&config(layer).expect("a configuration"), &file.0).expect("a state");
        for times in [
            &["flash.program_us=777"][..],
            &["flash.read_times_us=10/20/30", "flash.erase_us=9"],
            &[
                "flash.channels=1",
                "flash.command_ns=300",
                "flash.status_ns=100",
            ],
            &[
                "flash.scheduling=commands_arrival",
                "flash.multi_plane=in_order",
            ],
            &["flash.scheduling=garbage_last", "flash.suspend=keeps_end"],
            &["flash.cache_program=true", "flash.channels=2"],
            &["device.vwc=off", "device.firmware_ns=500"],
        ] {
            let pairs = [layer, times].concat();
            let setting = file.setting();
            // Some layers refuse some of these settings. The error must be the same with a state file and without a
            // state file.
            let [direct, kept] = [&[][..], &[&*setting]].map(|more| {
                let result = simulate(&config(&[&pairs[..], more].concat())?);
                result.map(|result| result.metrics)
            });
            ran += u32::from(direct.is_ok());
            assert_eq!(direct, kept, "{pairs:?}");
        }
    }
    assert!(ran > 25, "{ran}");
}

#[test]
fn a_damaged_file_is_refused_and_never_more() {
    let file = File::new("damaged");
    save(&config(&[]).expect("a configuration"), &file.0).expect("a state");
    let sound = std::fs::read(&file.0).expect("bytes");
    let refusal = |bytes: &[u8]| {
        std::fs::write(&file.0, bytes).expect("a file");
        let error = match config(&[&file.setting()]) {
            Ok(config) => simulate(&config).map(|_| ()).expect_err("a refusal"),
            Err(error) => error,
        };
        assert!(
            error.contains("sim.precondition") && error.contains("expected a file that"),
            "{error}"
        );
        error
    };
    for end in (0..sound.len()).step_by(1 + sound.len() / 60) {
        refusal(&sound[..end]);
    }
    for place in (0..sound.len()).step_by(1 + sound.len() / 150) {
        let mut bytes = sound.clone();
        bytes[place] ^= 0x11;
        refusal(&bytes);
    }
    assert!(refusal(&[&sound[..], b"more"].concat()).contains("is damaged"));
    assert!(refusal(b"").contains("is not the state of a device"));
    assert!(refusal(&[0xff; 100_000]).contains("is not the state of a device"));
    assert!(refusal(b"destage-state 99\n\n").contains("has format \"99\""));
    assert!(refusal(b"destage-state 4\nflash.dies = 2\n\n").contains("is damaged"));
    std::fs::remove_file(&file.0).expect("removed");
    let error = config(&[&file.setting()])
        .map(|_| ())
        .expect_err("a refusal");
    assert!(error.contains("sim.precondition = file:"), "{error}");
    let error = config(&["sim.precondition=file:"])
        .map(|_| ())
        .expect_err("a refusal");
    assert!(error.contains("or file:PATH"), "{error}");
}

#[test]
fn forged_bytes_take_no_more_memory_than_such_a_device() {
    use sha2::{Digest, Sha256};
    use std::io::Write;
    // The file is sound, except that its state is 1 GiB long.
    let file = File::new("forged");
    save(&config(&[]).expect("a configuration"), &file.0).expect("a state");
    let sound = std::fs::read(&file.0).expect("bytes");
    let header = sound
        .windows(2)
        .position(|two| two == b"\n\n")
        .expect("an empty line")
        + 2;
    let mut bytes = sound[..header].to_vec();
    let mut encoder = zstd::Encoder::new(&mut bytes, 1).expect("an encoder");
    for _ in 0..1 << 10 {
        encoder.write_all(&[1; 1 << 20]).expect("bytes");
    }
    encoder.finish().expect("bytes");
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&checksum);
    std::fs::write(&file.0, bytes).expect("a file");
    let kept = config(&[&file.setting()]).expect("a configuration");
    let error = simulate(&kept).expect_err("a refusal");
    assert!(error.contains("is damaged"), "{error}");
}

/// The digest of all bytes of the state (FNV-1a, 64 bits).
fn digest(config: &Config) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut write = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        true
    };
    let mut ftl = config.prepared_ftl(&mut Silent).expect("a device");
    ftl.archive(&mut Archive::Write(&mut write)).expect("bytes");
    hash
}

/// The states of all layers have the recorded digests. If a digest changes, the program must refuse the files of
/// earlier versions. To achieve this, raise `state::FORMAT` and record the new digests.
#[test]
fn a_state_that_changes_has_another_format() {
    let expected = (4, include_str!("state.digests"));
    let mut found = String::new();
    for row in FTLS.iter().filter(|row| row.has_flash) {
        let kind = format!("ftl.kind={}", row.name);
        let digest = digest(&config(&[&kind]).expect("a configuration"));
        found += &format!("{} {digest:016x}\n", row.name);
    }
    assert_eq!((state::FORMAT, found.as_str()), expected);
}
