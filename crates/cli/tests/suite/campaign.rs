//! Tests of servers of random devices under random requests. In each round the power fails, or the server is killed
//! or stopped. No promised data may be lost, and no data may appear that no client wrote. Contents that clients read
//! after a mount must not change later. The server must not report a correct device as wrong.
//!
//! `DESTAGE_CAMPAIGN` is the number of rounds (default 45; `make campaign` uses 20000), and `DESTAGE_SEED` is the
//! seed (default 1).
#![cfg(unix)]
#![allow(
    clippy::print_stdout,
    reason = "how much was tried is said to who asks for it"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use destage_base::Random;
use destage_buffer::registry::SCHEMES;
use destage_ftl::FTLS;
use destage_serve::address::{Address, Place};
use destage_serve::client::Client;
use destage_serve::control::Operator;
use destage_serve::protocol::wire;
use serde_json::{Map, Value, json};

use crate::kills::book::{Book, SECTOR};
use crate::kills::host::{Host, Plant, Traffic, until_answered};

const BYTES: usize = 1 << 20;
/// The server writes its standard error to this file in the folder of the device.
const SAID: &str = "said";

fn number(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name);
    text.map_or(otherwise, |text| text.parse().expect("a number"))
}

/// The place where the server stores the bytes of the device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Medium {
    Ram,
    Image,
    Backing,
}

/// The end of a round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum End {
    /// The power fails and is restored.
    Cut,
    /// The power fails, and then the server is killed.
    CutAndKill,
    /// The power fails and is restored, and then the server is killed before any other request.
    RestoreAndKill,
    Kill,
    Stop,
}

/// A device, and the requests to it.
struct Plan {
    medium: Medium,
    scheme: &'static str,
    layer: &'static str,
    options: Vec<String>,
    traffic: Traffic,
    /// Whether the device has a capacitor that saves all answered writes.
    saves_all: bool,
    /// Whether the device is a bad drive, which may lose promised data. The server reports the lost sectors.
    is_bad_drive: bool,
}

impl Plan {
    fn new(random: &mut Random, plant: Plant) -> Self {
        let medium = match random.below(7) {
            0..3 => Medium::Ram,
            3..6 => Medium::Image,
            _ => Medium::Backing,
        };
        let schemes: Vec<_> = SCHEMES.iter().filter(|row| !row.needs_future()).collect();
        let layers: Vec<_> = FTLS.iter().filter(|row| row.has_flash).collect();
        let layer = layers[random.below(layers.len() as u64) as usize].name;
        let size = ["32KiB", "128KiB", "128KiB", "512KiB"][random.below(4) as usize];
        let mut options = Vec::new();
        let mut maybe = |percent: u64, option: &str| {
            let is_set = random.below(100) < percent;
            if is_set {
                options.push("--set".to_owned());
                options.push(option.to_owned());
            }
            is_set
        };
        let write_through = maybe(15, "device.vwc=off");
        let strict_trim = maybe(30, "device.trim=strict");
        maybe(20, "buffer.release=issue");
        maybe(20, "buffer.cluster_pages=8");
        maybe(15, "buffer.bypass_pages=3");
        maybe(20, "buffer.bg_destage=true");
        maybe(30, "trace.align=rmw");
        maybe(20, "flash.planes_per_die=2");
        // With these options a die begins and ends its commands one by one.
        maybe(20, "flash.channels=1");
        maybe(15, "flash.program_times_us=100/400");
        let is_queued = layer != "pslc" && maybe(15, "flash.scheduling=commands_reads_first");
        if is_queued {
            maybe(50, "flash.cache_program=true");
        } else if maybe(20, "flash.scheduling=reads_first") {
            maybe(50, "flash.suspend=moves_end");
        }
        let merges = ["bast", "fast", "superblock"].contains(&layer);
        let fills_units = merges || ["page", "hat", "dftl", "pslc"].contains(&layer);
        let fills_units = fills_units && size != "32KiB";
        let has_units = fills_units && !is_queued && maybe(25, "flash.program_unit=2");
        if !has_units || !merges {
            maybe(20, "flash.summary_page=true");
        }
        let is_flash = medium != Medium::Backing;
        let torn = is_flash && maybe(12, "device.torn=sectors");
        let paired = is_flash && maybe(12, "device.paired_loss=0.5");
        if paired {
            maybe(100, "flash.bits_per_cell=3");
        }
        let saves_all = is_flash && maybe(20, "device.plp=1000");
        if is_flash && !saves_all && !maybe(12, "device.plp=0.0003") {
            maybe(10, "device.plp=failed");
        }
        let pace = ["none", "none", "model"][random.below(3) as usize];
        options.extend(["--pace", pace, "--size", size].map(str::to_owned));
        Self {
            scheme: schemes[random.below(schemes.len() as u64) as usize].name,
            layer,
            options,
            traffic: Traffic {
                sectors: BYTES / SECTOR,
                page: 8,
                connections: 1 + random.below(4) as usize,
                depth: 1 + random.below(16) as usize,
                write_through,
                // With a backing file, a trim makes a hole in the file at once.
                strict_trim: strict_trim || medium == Medium::Backing,
                plant,
            },
            saves_all,
            is_bad_drive: torn || paired,
            medium,
        }
    }

    /// A random end for a round.
    fn end(&self, random: &mut Random) -> End {
        let ends: &[End] = match self.medium {
            Medium::Ram => &[End::Cut],
            Medium::Backing => &[End::Kill, End::Kill, End::Stop],
            // A bad drive needs the server process that restores the power. Only this process knows which data the
            // drive has lost.
            Medium::Image if self.is_bad_drive => &[End::Cut, End::RestoreAndKill, End::Kill],
            Medium::Image => &[
                End::Cut,
                End::CutAndKill,
                End::RestoreAndKill,
                End::Kill,
                End::Kill,
                End::Stop,
            ],
        };
        ends[random.below(ends.len() as u64) as usize]
    }

    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_destage"));
        command
            .args(["serve", "--quiet", "--unix", "socket", "--capacity", "1MiB"])
            .args(["--set", "flash.dies=2", "--set", "flash.pages_per_block=8"])
            .args(["--buffer", self.scheme, "--ftl", self.layer])
            .args(&self.options)
            .args(match self.medium {
                Medium::Ram => &["--control", "control"][..],
                Medium::Image => &["--control", "control", "--image", "flash"],
                Medium::Backing => &["--backing", "disk"],
            })
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.join(SAID)).expect("a file"));
        if !self
            .options
            .iter()
            .any(|option| option.starts_with("flash.planes"))
        {
            command.args(["--set", "flash.planes_per_die=1"]);
        }
        command
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let options = self.options.join(" ");
        let Traffic {
            connections, depth, ..
        } = self.traffic;
        write!(
            out,
            "{:?}, --buffer {} --ftl {} {options}, {connections} connections of depth {depth}",
            self.medium, self.scheme, self.layer
        )
    }
}

/// A process that is killed when this value is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The counts of a campaign.
#[derive(Default)]
struct Tally {
    rounds: u64,
    refused: u64,
    ends: BTreeMap<(Medium, End), u64>,
    seen: BTreeSet<&'static str>,
    answered: [u64; 3],
    lost: BTreeMap<String, u64>,
}

/// One device, from its first to its last round.
struct Session<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    address: Address,
    book: Mutex<Book>,
    process: Option<Process>,
}

impl<'a> Session<'a> {
    fn new(plan: &'a Plan, folder: &'a Path) -> Self {
        Self {
            plan,
            folder,
            address: Address {
                place: Place::Unix(folder.join("socket")),
                export: String::new(),
            },
            book: Mutex::new(Book::new(BYTES / SECTOR)),
            process: None,
        }
    }

    /// Starts the server. If the server refuses to start, the error is its standard error.
    fn start(&mut self) -> Result<(), String> {
        let child = self.plan.command(self.folder).spawn();
        let mut process = Process(child.expect("the program starts"));
        let mut line = String::new();
        let output = process.0.stdout.as_mut().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        if !line.starts_with("ready") {
            process.0.wait().expect("an end");
            return Err(self.said());
        }
        self.process = Some(process);
        Ok(())
    }

    /// Everything that the server has written to standard error.
    fn said(&self) -> String {
        std::fs::read_to_string(self.folder.join(SAID)).expect("a text")
    }

    fn order(&self, order: &Value) -> Result<Map<String, Value>, String> {
        let operator = Operator::connect(&self.folder.join("control"));
        let mut operator = operator.map_err(|error| error.to_string())?;
        operator.order(order).map_err(|error| error.to_string())
    }

    fn book(&mut self) -> &mut Book {
        self.book.get_mut().expect("no thread has panicked")
    }

    /// Compares the contents of the server with the book.
    fn check(&mut self, lost: u64) -> Result<(), String> {
        let failed = |error: destage_serve::client::ClientError| error.to_string();
        let mut client = Client::connect(&self.address, true).map_err(failed)?;
        let answer = client.ask((wire::CMD_READ, 0), (0, BYTES as u32), &[]);
        let answer = answer.map_err(failed)?;
        if answer.error != 0 {
            return Err(format!("a read with error {}", answer.error));
        }
        let book = self.book();
        if let Some(wrong) = book.wrong.take() {
            return Err(wrong);
        }
        book.check(&answer.data, lost)
    }

    /// Cuts the power, now or after a random event.
    fn cut(&self, later: bool, random: &mut Random) -> Result<(), String> {
        let seed = random.below(1 << 40);
        let order = match random.below(5) {
            _ if !later => json!({"do": "cut", "seed": seed}),
            0 => json!({"do": "cut", "at_write": 1 + random.below(250), "seed": seed}),
            1 => json!({"do": "cut", "at_flush": 1 + random.below(10), "seed": seed}),
            2 | 3 => json!({"do": "cut", "at_program": 1 + random.below(400), "seed": seed}),
            _ => json!({"do": "cut", "at_ms": random.below(400) as f64 / 10.0, "seed": seed}),
        };
        self.order(&order).map(|_| ())
    }

    /// Restores the power. Returns the number of sectors that a bad drive has lost.
    fn restore(&mut self, tally: &mut Tally) -> Result<u64, String> {
        let restored = self.order(&json!({"do": "restore"}))?;
        if restored["bad_sectors"] != 0 {
            return Err(format!("restored with {restored:?}"));
        }
        let mut lost = 0;
        for (name, count) in restored["lost"].as_object().into_iter().flatten() {
            let count = count.as_u64().unwrap_or(0);
            *tally.lost.entry(name.clone()).or_default() += count;
            if ["torn", "paired"].contains(&&**name) {
                lost += count;
            }
        }
        Ok(lost)
    }

    /// Sends requests until the round ends, and then checks the contents.
    fn round(&mut self, end: End, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
        let mut process = self.process.take();
        let (address, traffic) = (&self.address, self.plan.traffic);
        let is_cut = matches!(end, End::Cut | End::CutAndKill | End::RestoreAndKill);
        let mut outcome = Ok(());
        std::thread::scope(|scope| {
            let run = |number| {
                let host = Host::new(&self.book, traffic, number, random.next_u64());
                scope.spawn(move || host.run(address))
            };
            let hosts: Vec<_> = (0..traffic.connections).map(run).collect();
            let is_cut_later = is_cut && random.below(6) > 0;
            if !is_cut_later {
                until_answered(&self.book, random.below(200), &hosts);
            }
            if is_cut {
                outcome = self.cut(is_cut_later, random);
            }
            if end == End::Kill || outcome.is_err() {
                process = None;
            }
            if end == End::Stop {
                let child = process.as_ref().expect("it runs");
                outcome = ask_to_stop(&child.0);
                if let Some(mut child) = process.take() {
                    let status = child.0.wait().expect("an end");
                    if !status.success() && outcome.is_ok() {
                        outcome = Err(format!("stopped with {status}"));
                    }
                }
            }
        });
        outcome?;
        if end == End::Stop || (is_cut && self.plan.saves_all) {
            self.book().promise_answered();
        }
        let mut lost = 0;
        if matches!(end, End::Cut | End::RestoreAndKill) {
            lost = self.restore(tally)?;
        }
        if end == End::RestoreAndKill {
            // Contents that this check reads after the mount must still be there after the kill of the server.
            self.check(lost)?;
            lost = 0;
        }
        if end == End::Cut {
            self.process = process;
        } else {
            drop(process);
            self.start()?;
        }
        self.check(lost)?;
        if self.plan.medium != Medium::Backing {
            let checked = self.order(&json!({"do": "check"}))?;
            if checked["bad_sectors"] != 0 {
                return Err(format!("{checked:?}"));
            }
        }
        *tally.ends.entry((self.plan.medium, end)).or_default() += 1;
        Ok(())
    }
}

/// Sends the server a signal to stop.
fn ask_to_stop(child: &Child) -> Result<(), String> {
    let status = Command::new("kill").arg(child.id().to_string()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("kill: {other:?}")),
    }
}

/// Runs at least `rounds` rounds on random devices, with several rounds for each device. The error is the first
/// violation of a promise.
fn campaign(rounds: u64, seed: u64, plant: Plant) -> Result<Tally, String> {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    while tally.rounds < rounds {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = Plan::new(&mut random, plant);
        let mut session = Session::new(&plan, folder.path());
        if let Err(text) = session.start() {
            // Some random options cannot be combined. The server must refuse them with a single line.
            if text.lines().count() != 1 || !text.starts_with("destage: error: ") {
                return Err(format!("{plan}: {text}"));
            }
            tally.refused += 1;
            continue;
        }
        for round in 0..2 + random.below(7) {
            let end = plan.end(&mut random);
            let done = session.round(end, &mut random, &mut tally);
            let number = tally.rounds;
            tally.rounds += 1;
            done.map_err(|what| {
                format!(
                    "seed {seed}, round {number}, {round} of this device, {end:?}: {plan}: {what}\n{}",
                    session.said()
                )
            })?;
        }
        let book = session.book();
        let answered = [book.changes, book.flushes, book.reads];
        for (all, more) in tally.answered.iter_mut().zip(answered) {
            *all += more;
        }
        tally.seen.extend([plan.scheme, plan.layer]);
    }
    Ok(tally)
}

#[test]
fn devices_keep_what_they_promise() {
    let (rounds, seed) = (number("DESTAGE_CAMPAIGN", 45), number("DESTAGE_SEED", 1));
    let tally = match campaign(rounds, seed, Plant::Nothing) {
        Ok(tally) => tally,
        Err(what) => panic!("{what}"),
    };
    let [changes, flushes, reads] = tally.answered;
    println!(
        "{} rounds, {} schemes and layers, {} combinations refused; {changes} changes, {flushes} flushes and {reads} reads answered",
        tally.rounds,
        tally.seen.len(),
        tally.refused
    );
    println!("{:?}; reported as lost: {:?}", tally.ends, tally.lost);
    assert!(changes > 0 && flushes > 0 && reads > 0);
    assert!(tally.refused < tally.rounds);
}

/// Shows that a campaign can fail. It must fail if the clients treat more writes as promised than the device has
/// promised.
#[test]
fn what_a_campaign_has_to_find_is_found() {
    for plant in [Plant::EarlyFlush, Plant::EveryWrite] {
        assert!(campaign(100, 1, plant).is_err());
    }
}
