//! Compares models of shared channels, to the nanosecond, with FEMU's published examples and random streams and
//! with runs of MQSim.

mod femu;
mod form;
mod mqsim;
mod runs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::direct::DirectConfig;
use destage_base::Ticks;
use destage_base::time::TICKS_PER_NS;
use destage_nand::Kind;
use destage_nand::media::dispatch::{Order, Together};
use destage_nand::media::{self as own, BusTimes, PlaneGaps};
use destage_sim::wire::Wire;
#[cfg(test)]
use destage_tests::outside;

use self::femu::{Cells, Command, Copyback, Gate, Media, MediaConfig, Target, Tiers};

/// Keys and values of a stream, or columns and fields of a line.
type Named<'a> = BTreeMap<&'a str, &'a str>;

fn number(named: &Named<'_>, key: &str) -> u64 {
    let text = named.get(key).copied().unwrap_or("0");
    text.parse()
        .unwrap_or_else(|_| panic!("{key}={text} is no whole number"))
}

fn ticks(named: &Named<'_>, key: &str) -> Ticks {
    number(named, key) * TICKS_PER_NS
}

/// Whole numbers separated by `/`.
fn numbers(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.split('/').map(move |part| {
        part.parse()
            .unwrap_or_else(|_| panic!("{text} is not made of whole numbers"))
    })
}

/// The media that the header of a stream describes.
fn media(keys: &Named<'_>) -> MediaConfig {
    let times = |key| -> Vec<Ticks> { numbers(keys[key]).map(|ns| ns * TICKS_PER_NS).collect() };
    let mut program = times("program_ns");
    if let Some(factors) = keys.get("program_permille") {
        let single = number(keys, "program_ns");
        program = numbers(factors)
            .map(|factor| single * factor / 1000 * TICKS_PER_NS)
            .collect();
    }
    let is_on = |key| number(keys, key) == 1;
    MediaConfig {
        channels: number(keys, "channels") as u32,
        dies_per_channel: number(keys, "luns") as u32,
        planes: number(keys, "planes") as u32,
        gate: match keys["gate"] {
            "lun" => Gate::Die,
            "plane" => Gate::Plane,
            _ => Gate::Both,
        },
        cells: Cells {
            read: times("read_ns"),
            program,
            erase: ticks(keys, "erase_ns"),
            tiers: Tiers {
                step: ticks(keys, "ecc_step_ns"),
                erases: number(keys, "ecc_pe_per_tier") as u32,
                age_s: number(keys, "ecc_age_per_tier_s"),
                most: number(keys, "ecc_max_tiers"),
            },
        },
        bus: is_on("bus").then(|| BusTimes {
            command: ticks(keys, "cmd_ns"),
            status: ticks(keys, "status_ns"),
        }),
        suspend: is_on("suspend").then(|| ticks(keys, "tsusp_ns")),
        gaps: PlaneGaps {
            read: ticks(keys, "plane_gap_read_ns"),
            program: ticks(keys, "plane_gap_program_ns"),
            erase: ticks(keys, "plane_gap_erase_ns"),
        },
        cache_read: is_on("cache_read").then(|| ticks(keys, "trcbsy_ns")),
    }
}

/// The simulator's own media, if they can do what `femu` does: each die has one operation at a time, and cells do not
/// age.
fn own_media(femu: &MediaConfig) -> Option<own::Media> {
    let is_plain =
        femu.gate == Gate::Die && femu.cells.tiers == Tiers::default() && femu.cache_read.is_none();
    let config = || own::MediaConfig {
        channels: femu.channels,
        dies_per_channel: femu.dies_per_channel,
        planes: femu.planes,
        cells: own::Cells {
            read: femu.cells.read.clone(),
            program: femu.cells.program.clone(),
            erase: femu.cells.erase,
        },
        bus: femu.bus,
        suspend: femu.suspend.map(|cost| own::Suspend {
            cost,
            limit: u32::MAX,
            pulse: 0,
            tail: 0,
            moves_end: false,
        }),
        registers: None,
    };
    is_plain.then(|| own::Media::new(config()))
}

/// The media on which a stream of operations runs: those of FEMU, and also the simulator's own media as long as
/// these support the operations of the stream.
struct Stream {
    femu: Media,
    own: Option<own::Media>,
}

impl Stream {
    fn new(config: MediaConfig) -> Self {
        Self {
            own: own_media(&config),
            femu: Media::new(config),
        }
    }

    /// Carries out `command`, issued at `now`, on both media. The end times of both must be equal.
    fn operate(&mut self, now: Ticks, command: &Command<'_>) -> femu::Answer {
        let answer = self.femu.operate(now, command);
        let own = self.own.take().filter(|_| command.targets.len() == 1);
        self.own = own.map(|mut own| {
            let command = own::Command {
                kind: command.kind,
                die: command.die,
                plane: command.targets[0].plane,
                page_type: command.page_type,
                data: Some(command.data),
            };
            let done = own.operate(now, &command);
            let ours = (done, own.free_from(command.die));
            assert_eq!(
                ours,
                (answer.done, answer.array_free),
                "{command:?} at {now}"
            );
            own
        });
        answer
    }
}

/// The three answers to the operation of a line, in nanoseconds: completion, array free, channel free.
fn answer(stream: &mut Stream, keys: &Named<'_>, line: &Named<'_>) -> [u64; 3] {
    let luns = number(keys, "luns");
    let die = |lun| (number(line, "ch") * luns + number(line, lun)) as u32;
    let wear: Vec<u64> = numbers(line["pe_cycles"]).collect();
    let planes = numbers(line["planes"]).enumerate();
    let targets: Vec<Target> = planes
        .map(|(index, plane)| Target {
            plane: plane as u32,
            erases: wear[index.min(wear.len() - 1)] as u32,
        })
        .collect();
    let page_type = match line["op"].ends_with('E') {
        true => 0,
        false => number(line, "page_type") as u32,
    };
    let age_s = number(line, "age_s");
    let now = ticks(line, "t_ns");
    let answer = if line["op"] == "C" {
        let to = Target {
            plane: number(line, "dst_plane") as u32,
            erases: 0,
        };
        stream.own = None;
        stream.femu.copy_back(
            now,
            &Copyback {
                from: (die("lun"), targets[0]),
                to: (die("dst_lun"), to),
                page_type,
                age_s,
            },
        )
    } else {
        let kind = match line["op"].trim_start_matches('M') {
            "R" => Kind::Read,
            "P" => Kind::Program,
            _ => Kind::Erase,
        };
        stream.operate(
            now,
            &Command {
                kind,
                die: die("lun"),
                targets: &targets,
                page_type,
                age_s,
                data: ticks(keys, "data_ns"),
            },
        )
    };
    let channel = stream.femu.channel_held_until(die("lun"));
    [answer.done, answer.array_free, channel].map(|ticks| ticks / TICKS_PER_NS)
}

/// The columns of `text`, and its other lines that are not empty, with their numbers.
fn lines(text: &str) -> (Vec<&str>, impl Iterator<Item = (usize, &str)>) {
    let numbered = (1..).zip(text.lines());
    let mut lines = numbered.filter(|(_, line)| !line.trim().is_empty());
    let (_, columns) = lines.next().expect("a line that names the columns");
    (columns.split(',').collect(), lines)
}

/// The number of rows, the number of equal rows, and texts on some rows that differ. An error says what is wrong
/// with a line.
type Compared = Result<(usize, usize, Vec<String>), String>;

/// Compares the operations of `text` by their three answers.
fn compare(text: &str) -> Compared {
    let (columns, lines) = lines(text);
    let (mut all, mut equal, mut wrong) = (0, 0, Vec::new());
    let mut keys = Named::new();
    let (mut stream, mut last) = (None, 0);
    for (number, line) in lines {
        if line.starts_with('#') {
            let head = form::keys(line).and_then(|keys| form::stream(&keys).map(|()| keys));
            keys = form::told(number, line, head)?;
            stream = Some(Stream::new(media(&keys)));
            last = 0;
            continue;
        }
        let stream = stream.as_mut().ok_or("no stream before it".to_owned());
        let stream = form::told(number, line, stream)?;
        let named = form::fields(&columns, line);
        let timed = named.and_then(|named| Ok((form::operation(&keys, &named, last)?, named)));
        let (time, named) = form::told(number, line, timed)?;
        last = time;
        let expected =
            ["done_ns", "array_free_ns", "bus_free_ns"].map(|key| self::number(&named, key));
        let ours = answer(stream, &keys, &named);
        all += 1;
        if ours == expected {
            equal += 1;
        } else if wrong.len() < 5 {
            wrong.push(format!(
                "line {number}, {}: {line}: {ours:?}",
                keys["stream"]
            ));
        }
    }
    Ok((all, equal, wrong))
}

#[test]
fn wrong_lines_are_told() {
    let columns = "t_ns,op,ch,lun,planes,page_type,pe_cycles,age_s,dst_lun,dst_plane,done_ns,array_free_ns,bus_free_ns";
    let head =
        "# stream=s channels=1 luns=2 planes=2 gate=lun read_ns=4/5 program_ns=20 erase_ns=30";
    for (text, told) in [
        (
            format!("{columns}\n\n0,R,0,0,0,0,0,0,,,1,1,0\n"),
            "line 3: 0,R,0,0,0,0,0,0,,,1,1,0: no stream",
        ),
        (
            format!("{columns}\n# stream=s luns=1 gate=lun"),
            "no channels",
        ),
        (
            format!("{columns}\n{head} suspends=1"),
            "unknown key \"suspends\"",
        ),
        (
            format!("{columns}\n{}", head.replace("lun ", "die ")),
            "gate \"die\"; expected one of lun, plane, both",
        ),
        (
            format!("{columns}\n{head}\n0,R,0,0,0,0,0,0,1,1,0"),
            "11 fields; expected 13",
        ),
        (
            format!("{columns}\n{head}\n0,Q,0,0,0,0,0,0,,,1,1,0"),
            "op \"Q\"",
        ),
        (
            format!("{columns}\n{head}\n0,R,0,2,0,0,0,0,,,1,1,0"),
            "lun \"2\"; expected a whole number from 0 to 1",
        ),
        (
            format!("{columns}\n{head}\n0,R,0,0,0,2,0,0,,,1,1,0"),
            "page_type \"2\"",
        ),
        (
            format!("{columns}\n{head}\n0,R,0,0,0/1,0,0/0,0,,,1,1,0"),
            "planes \"0/1\"",
        ),
        (
            format!("{columns}\n{head}\n0,MR,0,0,0/1,0,0,0,,,1,1,0"),
            "pe_cycles \"0\"; expected one for each plane",
        ),
        (
            format!("{columns}\n{head}\nx,R,0,0,0,0,0,0,,,1,1,0"),
            "t_ns \"x\"",
        ),
        (
            format!("{columns}\n{head}\n0,C,0,0,0,0,0,0,,,1,1,0"),
            "dst_lun \"\"",
        ),
        (
            format!("{columns}\n{head}\n5,E,0,0,0,,0,0,,,35,35,0\n4,E,0,0,0,,0,0,,,65,65,0"),
            "line 4: 4,E",
        ),
    ] {
        let error = compare(&text).expect_err(&text);
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn published_examples() {
    let bus = "# stream=example channels=2 luns=2 planes=1 gate=lun read_ns=40000 program_ns=200000 erase_ns=2000000 bus=1 cmd_ns=1000 data_ns=10000";
    let columns =
        "i,t_ns,op,ch,lun,planes,page_type,pe_cycles,age_s,done_ns,array_free_ns,bus_free_ns";
    let without = "0,0,P,0,0,0,0,0,0,211000,211000,11000\n\
        1,0,R,0,1,0,0,0,0,62000,52000,12000\n\
        2,0,R,0,0,0,0,0,0,261000,251000,13000\n\
        3,0,R,1,0,0,0,0,0,51000,41000,1000";
    let with = without.replace("261000,251000", "72000,256000");
    let one = "# stream=one channels=1 luns=1 planes=1 gate=lun read_ns=40000 program_ns=200000 erase_ns=2000000 suspend=1 tsusp_ns=5000\n\
        0,0,P,0,0,0,0,0,0,200000,200000,0\n\
        1,50000,R,0,0,0,0,0,0,95000,245000,0\n\
        2,60000,R,0,0,0,0,0,0,135000,285000,0\n\
        3,150000,R,0,0,0,0,0,0,195000,330000,0\n\
        4,160000,P,0,0,0,0,0,0,530000,530000,0";
    let text = format!("{columns}\n{bus}\n{without}\n{bus} suspend=1 tsusp_ns=5000\n{with}\n{one}");
    let (all, equal, wrong) = compare(&text).expect("right lines");
    assert_eq!((all, equal), (13, 13), "{}", wrong.join("\n"));
}

/// The text of a table; a `.zst` file is decompressed.
fn table(path: &Path) -> String {
    let mut bytes =
        std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.extension().is_some_and(|extension| extension == "zst") {
        let unpacked = zstd::decode_all(&bytes[..]);
        bytes = unpacked.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let text = String::from_utf8(bytes);
    text.unwrap_or_else(|error| panic!("{}: is no text: {error}", path.display()))
}

/// `DESTAGE_ROWS` names another file with the columns of one of these tables.
#[test]
#[ignore = "needs reference results"]
fn every_row_of_the_tables() {
    let files: Vec<PathBuf> = match std::env::var_os("DESTAGE_ROWS") {
        Some(file) => vec![file.into()],
        None => vec![
            outside("oracle/femu-media.csv.zst"),
            outside("oracle/mqsim-flash.csv"),
        ],
    };
    for path in files {
        let text = table(&path);
        let columns = text.lines().next().unwrap_or_default();
        let has = |name| columns.split(',').any(|column| column == name);
        let (name, compared) = if has("responses_sha256") {
            let rows = "rows of MQSim are equal in every column";
            (rows, mqsim::compare(&text, |_| {}))
        } else if has("bus_free_ns") {
            let rows = "operations of FEMU are equal in all three answers";
            (rows, compare(&text))
        } else {
            panic!(
                "{}: columns {columns}; expected those of femu-media or of mqsim-flash",
                path.display()
            );
        };
        let (all, equal, mut wrong) =
            compared.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        println!("{}: {equal} of {all} {name}", path.display());
        wrong.truncate(10);
        assert!(all > 0, "{}: no row; expected some", path.display());
        assert_eq!(equal, all, "{}", wrong.join("\n"));
    }
}

#[test]
#[ignore = "needs reference results"]
fn whole_runs_are_equal_where_only_dies_and_channels_count() {
    let text = table(&outside("oracle/mqsim-flash.csv"));
    let (all, equal, wrong) = runs::compare(&text);
    println!("{equal} of {all} rows of MQSim are equal as whole runs");
    assert!(all > 20 && equal == all, "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs reference results"]
fn a_link_that_takes_no_time_changes_nothing() {
    let text = table(&outside("oracle/mqsim-flash.csv"));
    let (all, equal, wrong) = mqsim::compare(&text, |device| {
        device.link.get_or_insert(Wire::mqsim(f64::INFINITY));
    })
    .expect("right lines");
    assert_eq!(equal, all, "{}", wrong.join("\n"));
}

/// A change to a device that breaks one rule.
type Change = fn(&mut DirectConfig);

#[test]
#[ignore = "needs reference results"]
fn rows_see_each_rule() {
    let text = table(&outside("oracle/mqsim-flash.csv"));
    let changes: [(&str, Change); 6] = [
        ("no command on several planes", |device| {
            device.flash.rules.together = Together::Never;
        }),
        ("programs of a block in order", |device| {
            device.flash.rules.together = Together::InOrder;
        }),
        ("what came first goes first", |device| {
            device.flash.rules.order = Order::Arrival;
        }),
        ("the same command for any number of planes", |device| {
            device.flash.gaps = PlaneGaps::default();
        }),
        ("data at once after the cells", |device| {
            device.flash.ready = 0;
        }),
        ("types of page that take turns", |device| {
            device.page_types = 1;
        }),
    ];
    let counts = changes.map(|(name, change)| {
        let (all, equal, _) = mqsim::compare(&text, change).expect("right lines");
        (name, all - equal)
    });
    println!("rows that differ: {counts:?}");
    assert!(counts.iter().all(|(_, rows)| *rows >= 3), "{counts:?}");
}
