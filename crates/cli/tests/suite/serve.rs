//! Tests of `destage serve` and of the other commands for live devices.
#![cfg(unix)]

use crate::common;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use common::{Place, TINY, ctrl_c, exists, json};

/// A running server.
pub struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    ready: String,
}

impl Server {
    pub fn start(place: &Place, options: &[&str]) -> Self {
        Self::of(begun(place.command(&[&["serve"], options].concat())))
    }

    /// The server in the process `child`, of which nothing was read yet. Waits until the server is ready or has ended.
    fn of(mut child: Child) -> Self {
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut ready = String::new();
        output.read_line(&mut ready).expect("a line");
        Self {
            child,
            output,
            ready,
        }
    }

    /// Waits for the end of the server. Returns the exit status, standard output after the first line, and standard
    /// error.
    pub fn wait(mut self) -> (i32, String, String) {
        let (mut output, mut errors) = (String::new(), String::new());
        self.output.read_to_string(&mut output).expect("text");
        let pipe = self.child.stderr.as_mut().expect("a pipe");
        pipe.read_to_string(&mut errors).expect("text");
        let status = self.child.wait().expect("an end");
        (status.code().unwrap_or(-1), output, errors)
    }

    /// The processor time that the server has used so far, in hundredths of a second; `None` if the system does not
    /// report this time.
    fn ticks(&self) -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        Some(fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?)
    }

    fn signal(&self, name: &str) {
        signal(&self.child, name);
    }
}

/// Starts `command`, whose output and errors are read later.
fn begun(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// Sends the signal `name`, such as `-TERM`, to `child`.
fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let status = Command::new("kill").args([name, &pid]).status();
    assert!(status.expect("kill").success());
}

impl Drop for Server {
    /// Kills the server, even if the test has failed.
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

pub const URI: &str = "nbd+unix:///?socket=s.sock";

/// A CSV trace with writes of one to three pages, reads, flushes, trims and writes with FUA.
pub fn mixed() -> String {
    let mut text = "time,volume,op,sector,sectors,fua,stream\n".to_owned();
    for step in 0..400u64 {
        let page = step * 7919 % 40;
        let pages = 1 + step % 3;
        let (op, fua) = match step % 11 {
            3 => ("read", 0),
            5 => ("flush", 0),
            7 => ("trim", 0),
            8 => ("write", 1),
            _ => ("write", 0),
        };
        let (sector, sectors) = if op == "flush" {
            (0, 0)
        } else {
            (page * 8, pages * 8)
        };
        text += &format!("{},0,{op},{sector},{sectors},{fua},0\n", step * 1000);
    }
    text
}

#[test]
fn a_live_device_does_what_a_run_of_the_same_requests_does() {
    let place = Place::new();
    place.write("t.csv", mixed());
    let shared = ["sim.precondition=none", "device.power_may_fail=true"];
    let shared = shared.map(|pair| ["--set", pair]).concat();
    let device = [&TINY[..], &shared].concat();
    for scheme in ["lru", "bplru", "fab", "nocache", "apu-lru"] {
        let buffer = [&device[..], &["--buffer", scheme]].concat();
        let run = [
            &["run", "t.csv"],
            &buffer[..],
            &["--set", "host.replay=closed", "--set", "host.queue_depth=1"],
            &["--destage-log", "run.csv", "--json"],
        ];
        let run = place.json(&run.concat());
        let live = ["--unix", "s.sock", "--control", "c.sock", "--json"];
        let live = [&buffer[..], &live, &["--destage-log", "live.csv"]].concat();
        let server = Server::start(&place, &live);
        let replay = place.json(&["replay", "t.csv", "--to", URI, "--closed", "--json"]);
        let stats = place.json(&["device", "c.sock", "stats", "--json"]);
        assert_eq!(stats["metrics"], run["metrics"], "{scheme}");
        // The times differ, but a request has as many bytes.
        let bytes_of_a_request = |result: &serde_json::Value| {
            let number = |name: &str| result["metrics"][name].as_f64().unwrap();
            number("throughput.mb_per_s") / number("throughput.iops")
        };
        let (live_bytes, run_bytes) = (bytes_of_a_request(&replay), bytes_of_a_request(&run));
        assert!(
            (live_bytes / run_bytes - 1.0).abs() < 1e-9,
            "{live_bytes}, {run_bytes}"
        );
        place.succeed(&["device", "c.sock", "stop"]);
        let (status, output, errors) = server.wait();
        assert_eq!((status, errors.as_str()), (0, ""), "{scheme}");
        assert_eq!(json(&output)["metrics"], run["metrics"], "{scheme}");
        // A server flushes at its end, and a run does not.
        let (run, live) = (place.read("run.csv"), place.read("live.csv"));
        assert!(live.starts_with(&run), "{scheme}");
        let rest = live[run.len()..].lines();
        assert!(
            rest.into_iter().all(|line| line.contains(",flush,")),
            "{scheme}"
        );
    }
}

#[test]
fn a_run_of_what_was_recorded_in_the_time_of_the_model_is_what_happened_there() {
    let place = Place::new();
    place.write("t.csv", mixed());
    // The last scheme, `apu-lru`, destages pages while the device is idle. A run ends with its last request, so the
    // run does not contain the destages after this request.
    let schemes = ["nocache", "lru", "fab", "bplru", "apu-lru"];
    for (scheme, ends_with_run) in schemes.map(|scheme| (scheme, scheme != "apu-lru")) {
        let device = [&TINY[..], &["--buffer", scheme, "--set"]].concat();
        let device = [&device[..], &["sim.precondition=sequential_fill"]].concat();
        let device = [&device[..], &["--set", "device.power_may_fail=true"]].concat();
        let live = ["--unix", "s.sock", "--pace", "model", "--json"];
        let logs = ["--record", "r.csv", "--destage-log", "live.csv"];
        let times = ["--response-log", "times.csv"];
        let server = Server::start(&place, &[&live[..], &logs, &times, &device].concat());
        let seen = ["--response-log", "seen.csv"];
        let replay = ["replay", "t.csv", "--to", URI, "--closed", "--depth", "8"];
        place.succeed(&[&replay[..], &seen].concat());
        server.signal("-TERM");
        let (status, output, errors) = server.wait();
        assert_eq!((status, errors.as_str()), (0, ""), "{scheme}");
        let run = ["run", "r.csv", "--json", "--destage-log", "run.csv"];
        let run_times = ["--response-log", "run-times.csv"];
        let run = place.json(&[&run[..], &run_times, &device].concat());
        if ends_with_run {
            assert_eq!(json(&output)["metrics"], run["metrics"], "{scheme}");
        }
        // A server flushes at its end, and a run does not. This flush is no request of a client.
        let (live, run) = (place.read("live.csv"), place.read("run.csv"));
        assert!(live.starts_with(&run), "{scheme}");
        let mut rest = live[run.len()..].lines();
        let is_late = |line: &str| line.contains(",flush") || line.contains(",idle,");
        assert!(rest.all(is_late), "{scheme}");
        let (live, run) = (place.read("times.csv"), place.read("run-times.csv"));
        assert_eq!(live, run, "{scheme}");
        // The client must not receive any answer earlier than the model computes.
        let column = |name: &str| -> Vec<f64> {
            let text = place.read(name);
            let times = text.lines().skip(1).map(|line| line.split(',').nth(2));
            times
                .map(|time| time.expect("a column").parse().expect("a time"))
                .collect()
        };
        let (seen, own) = (column("seen.csv"), column("run-times.csv"));
        assert_eq!(seen.len(), 400, "{scheme}");
        let early = seen.iter().zip(&own).filter(|(seen, own)| seen < own);
        assert_eq!(early.count(), 0, "{scheme}");
    }
}

#[test]
fn what_clients_do_is_recorded_as_a_trace() {
    let place = Place::new();
    place.write("t.csv", mixed());
    for (name, form) in [("r.csv", "csv"), ("r.compact.zst", "compact")] {
        let options = [&TINY[..], &["--unix", "s.sock", "--record", name]].concat();
        let server = Server::start(&place, &options);
        place.succeed(&["replay", "t.csv", "--to", URI, "--time-scale", "0"]);
        assert!(!exists(&place.path(name)), "it appears whole");
        server.signal("-TERM");
        assert_eq!(server.wait().0, 0);
        place.succeed(&["trace", "convert", name, "-o", "again.csv"]);
        let columns = |text: &str| -> Vec<String> {
            let lines = text.lines().skip(1);
            let times_off = lines.map(|line| line.split_once(',').expect("columns").1.to_owned());
            times_off.collect()
        };
        place.succeed(&["trace", "convert", "t.csv", "-o", "first.csv"]);
        let (again, first) = (place.read("again.csv"), place.read("first.csv"));
        assert_eq!(columns(&again), columns(&first), "{form}");
    }
}

#[test]
fn the_power_is_cut_and_restored_and_what_was_promised_is_there() {
    let place = Place::new();
    place.write("t.csv", mixed());
    let options = ["--unix", "s.sock", "--control", "c.sock", "--plp", "0.0001"];
    let server = Server::start(&place, &[&TINY[..], &options].concat());
    place.succeed(&["replay", "t.csv", "--to", URI, "--closed"]);
    let too_early = place.run(&["device", "c.sock", "restore"]);
    assert_eq!(too_early.status, 2);
    assert!(
        too_early.errors.contains("the power is on"),
        "{}",
        too_early.errors
    );
    let cut = place.json(&["device", "c.sock", "cut", "--seed", "7", "--json"]);
    assert!(cut["energy_j"].as_f64().is_some(), "{cut}");
    let gone = place.run(&["replay", "t.csv", "--to", URI, "--closed"]);
    assert_eq!(gone.status, 2, "{}", gone.errors);
    let known = place.json(&["device", "c.sock", "ledger", "--to", "l.csv", "--json"]);
    let lines = place.read("l.csv");
    assert_eq!(lines.lines().next(), Some("sector,must,may"));
    assert_eq!(known["sectors"], lines.lines().count() - 1);
    let restored = place.json(&["device", "c.sock", "restore", "--json"]);
    assert!(restored["mount_ms"].as_f64() > Some(0.0), "{restored}");
    let checked = place.json(&["device", "c.sock", "check", "--json"]);
    assert_eq!(
        checked,
        serde_json::json!({"ok": true, "bad": [], "bad_sectors": 0})
    );
    place.succeed(&["replay", "t.csv", "--to", URI, "--closed"]);
    place.succeed(&["device", "c.sock", "stop"]);
    assert_eq!(server.wait().0, 0);
}

/// A server that refuses all writes: no write counts as done, and the command says so by its status.
#[test]
fn refused_requests_are_not_completed() {
    let place = Place::new();
    let text = "time,volume,op,sector,sectors,fua,stream\n\
        0,0,write,8,16,0,0\n1,0,read,8,8,0,0\n2,0,write,16,8,0,0\n";
    place.write("t.csv", text);
    let options = ["--unix", "s.sock", "--control", "c.sock", "--read-only"];
    let server = Server::start(&place, &[&TINY[..], &options].concat());
    let replay = ["replay", "t.csv", "--to", URI, "--closed", "--json"];
    let outcome = place.run(&[&replay[..], &["--response-log", "r.csv"]].concat());
    assert_eq!(outcome.status, 2);
    assert_eq!(place.read("r.csv").lines().count(), 1 + 3);
    assert!(
        outcome
            .errors
            .contains("answered 2 requests with an error; the first was that of line 2"),
        "{}",
        outcome.errors
    );
    let document = json(&outcome.output);
    assert_eq!(document["failed"], 2);
    let metrics = &document["metrics"];
    assert_eq!(metrics["host.requests"], 3);
    assert_eq!(metrics["host.completed"], 1);
    assert_eq!(metrics["host.bytes_written"], 0);
    place.succeed(&["device", "c.sock", "stop"]);
    assert_eq!(server.wait().0, 0);
}

/// Clients may only read an image with `--read-only`, and a missing image is not made.
#[test]
fn an_image_can_be_served_for_reading_only() {
    let place = Place::new();
    let write = "time,volume,op,sector,sectors,fua,stream\n0,0,write,8,16,0,0\n";
    place.write("w.csv", write);
    place.write("r.csv", write.replace("write", "read"));
    let options = ["--unix", "s.sock", "--control", "c.sock", "--image", "i"];
    let serve = [&TINY[..], &options].concat();
    let reads = [&serve[..], &["--read-only"]].concat();
    let missing = place.run(&[&["serve"], &reads[..]].concat());
    assert_eq!(missing.status, 2, "{}", missing.errors);
    assert!(
        missing.errors.contains("i: is missing"),
        "{}",
        missing.errors
    );
    assert!(!place.path("i").exists());
    for (options, trace, status) in [
        (&serve, "w.csv", 0),
        (&reads, "w.csv", 2),
        (&reads, "r.csv", 0),
    ] {
        let server = Server::start(&place, options);
        let replay = place.run(&["replay", trace, "--to", URI, "--closed"]);
        assert_eq!(replay.status, status, "{trace}: {}", replay.errors);
        place.succeed(&["device", "c.sock", "stop"]);
        assert_eq!(server.wait().0, 0);
    }
}

/// A flush that an operator orders stands in the recording, so that a run of it destages the same pages.
#[test]
fn a_recording_has_the_flushes_of_an_operator() {
    let place = Place::new();
    let write = "time,volume,op,sector,sectors,fua,stream\n0,0,write,8,16,0,0\n";
    place.write("t.csv", write);
    let options = [
        "--unix",
        "s.sock",
        "--control",
        "c.sock",
        "--pace",
        "none",
        "--record",
        "r.csv",
    ];
    let server = Server::start(&place, &[&TINY[..], &options].concat());
    place.succeed(&["replay", "t.csv", "--to", URI, "--closed"]);
    place.succeed(&["device", "c.sock", "flush"]);
    let stats = place.succeed(&["device", "c.sock", "stats"]);
    assert!(
        stats.contains("power on\n") && stats.contains("armed false\n"),
        "{stats}"
    );
    place.succeed(&["device", "c.sock", "stop"]);
    assert_eq!(server.wait().0, 0);
    let kinds: Vec<String> = place
        .read("r.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(2).expect("an operation").to_owned())
        .collect();
    assert_eq!(kinds, ["write", "flush"]);
}

#[test]
fn without_a_volatile_cache_nothing_answered_is_lost() {
    let place = Place::new();
    place.write(
        "t.csv",
        "time,volume,op,sector,sectors,fua,stream\n0,0,write,8,16,0,0\n",
    );
    for (vwc, promised) in [("off", 16), ("on", 0)] {
        let options = ["--unix", "s.sock", "--control", "c.sock", "--vwc", vwc];
        let server = Server::start(&place, &[&TINY[..], &options].concat());
        place.succeed(&["replay", "t.csv", "--to", URI, "--closed"]);
        let known = place.json(&["device", "c.sock", "ledger", "--json"]);
        assert_eq!(known["must"], promised);
        place.succeed(&["device", "c.sock", "stop"]);
        assert_eq!(server.wait().0, 0);
    }
}

#[test]
fn what_clients_write_is_logged_as_dm_log_writes_does() {
    let place = Place::new();
    let text = "time,volume,op,sector,sectors,fua,stream\n\
        0,0,write,8,16,0,0\n1,0,read,8,8,0,0\n2,0,flush,0,0,0,0\n3,0,trim,8,8,0,0\n4,0,write,0,1,1,0\n";
    place.write("t.csv", text);
    let options = [&TINY[..], &["--unix", "s.sock", "--write-log", "w.log"]].concat();
    let server = Server::start(&place, &options);
    place.succeed(&["replay", "t.csv", "--to", URI, "--closed"]);
    assert!(!exists(&place.path("w.log")), "it appears whole");
    server.signal("-TERM");
    assert_eq!(server.wait().0, 0);
    let log = std::fs::read(place.path("w.log")).expect("the log");
    let mode = place.path("w.log").metadata().expect("the log").mode();
    assert_eq!(mode & 0o777, 0o600, "it has the bytes of the clients");
    let word = |at: usize| u64::from_le_bytes(log[at..at + 8].try_into().expect("8 bytes"));
    assert_eq!(
        [word(0), word(8), word(16), word(24)],
        [0x6a_7366_7773_6872, 1, 4, 512]
    );
    // Each entry has the first sector, the number of sectors and the flags. The data of a write follow the entry of
    // the write.
    let mut at = 512;
    for (entry, data) in [
        ([8, 16, 0], 16),
        ([0, 0, 1], 0),
        ([8, 8, 4], 0),
        ([0, 1, 2], 1),
    ] {
        assert_eq!([word(at), word(at + 8), word(at + 16)], entry);
        at += 512 + 512 * data;
    }
    assert_eq!(at, log.len());
}

#[test]
fn a_program_on_a_device_whose_power_fails() {
    let place = Place::new();
    place.write("t.csv", mixed());
    let program = env!("CARGO_BIN_EXE_destage");
    let replay =
        format!("{program} replay t.csv --closed --to $DESTAGE_URI && echo > $DESTAGE_NOTES/done");
    let crash = [&["crash", "--fs", "none", "--cuts", "4"][..], &TINY[..]].concat();
    let sound = [&crash[..], &["--", "sh", "-c", &replay]].concat();
    let sound = place.run(&sound);
    assert_eq!(sound.status, 0, "{}", sound.errors);
    assert!(
        sound.output.contains("cuts with something wrong       0"),
        "{}",
        sound.output
    );
    assert!(sound.errors.contains("cut 4 of 4"), "{}", sound.errors);
    // A check that fails even without a cut cannot show anything, so the program refuses this check.
    let useless = [
        &crash[..],
        &["--check", "exit 3", "--", "sh", "-c", &replay],
    ]
    .concat();
    let useless = place.run(&useless);
    assert_eq!(useless.status, 2, "{}", useless.errors);
    assert!(
        useless.errors.contains("though the power had not failed"),
        "{}",
        useless.errors
    );
    // If the moment of the cut is given, `destage crash` does not first run the program without a cut.
    let check = "test -e $DESTAGE_NOTES/done || { echo gone; false; }";
    let fails = [
        "--at-write",
        "5",
        "--check",
        check,
        "--",
        "sh",
        "-c",
        &replay,
    ];
    let fails = place.run(&[&crash[..], &fails].concat());
    assert_eq!(fails.status, 3, "{}", fails.errors);
    assert!(
        fails.output.contains("--check: exit status: 1: gone"),
        "{}",
        fails.output
    );
    let again = "--check 'test -e $DESTAGE_NOTES/done || { echo gone; false; }' --cuts 1 --seed 4 --at-write 5 -- sh -c";
    assert!(fails.output.contains(again), "{}", fails.output);
}

#[test]
fn a_check_that_cannot_be_run_is_no_finding() {
    let place = Place::new();
    let crash = ["crash", "--fs", "none", "--cuts", "1", "--at-write", "1"];
    for (check, status, said) in [
        (
            "exec /nowhere/at/all",
            2,
            "expected a command that can be run",
        ),
        ("kill -9 $$", 2, "expected a command that ends by itself"),
        // The program that is tested has no folder, and gets none that was meant for another program.
        ("test -z \"$DESTAGE_DIR\"", 0, ""),
    ] {
        let words = [&crash[..], &TINY, &["--check", check, "--", "true"]].concat();
        let mut command = place.command(&words);
        let output = command.env("DESTAGE_DIR", "outside").output();
        let output = output.expect("the program starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{check}: {errors}");
        assert!(errors.contains(said), "{check}: {errors}");
    }
    let small = ["--memory-limit", "32MiB", "--", "true"];
    let small = place.run(&[&crash[..], &small].concat());
    assert_eq!(small.status, 2);
    let expected =
        "--memory-limit: a memory limit of 33554432 bytes is too small for a crash test; expected";
    assert!(small.errors.contains(expected), "{}", small.errors);
}

/// A signal that arrives while the server starts ends the server in order if it becomes ready all the same.
#[test]
fn a_signal_during_the_start_loses_nothing() {
    use std::io::Write;
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.path("c.toml")).status();
    assert!(made.expect("mkfifo").success());
    let options = ["serve", "--config", "c.toml", "--unix", "s.sock"];
    let child = begun(place.command(&options));
    // The server reads its configuration from the pipe, so the pipe can be opened when the server has begun.
    let pipe = std::fs::File::options()
        .write(true)
        .open(place.path("c.toml"));
    signal(&child, "-TERM");
    let mut pipe = pipe.expect("a pipe");
    // On a busy machine the program may have ended before it was ready.
    let _ = pipe.write_all(b"[buffer]\nkind = \"lru\"\n");
    drop(pipe);
    let server = Server::of(child);
    let expected = match server.ready.is_empty() {
        true => 130,
        false => 0,
    };
    let (status, _, errors) = server.wait();
    assert_eq!(status, expected, "{errors}");
}

/// A program that was started by `nohup`, or in the background by a script, ignores what they ignore.
#[cfg(target_os = "linux")] // Other systems do not say which signals are ignored.
#[test]
fn signals_that_are_ignored_from_the_start_end_no_server() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_destage");
    let line = format!("trap '' HUP INT; exec {program} serve --unix s.sock --control c.sock");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(place.path(""));
    let server = Server::of(begun(command));
    server.signal("-HUP");
    server.signal("-INT");
    std::thread::sleep(Duration::from_millis(200));
    place.succeed(&["device", "c.sock", "stats"]);
    server.signal("-TERM");
    assert_eq!(server.wait().0, 0);
}

/// A limit of the size of files is an error, as a full disk is, and no signal ends the program.
#[test]
fn a_limit_of_the_size_of_files_is_an_error() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_destage");
    let serve = "serve --unix s.sock --image f.img --capacity 64MiB";
    let line = format!("ulimit -f 8; exec {program} {serve}");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(place.path(""));
    let output = command.output().expect("a shell");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("f.img: File too large"), "{errors}");
    assert_eq!(place.files(), [] as [&str; 0]);
}

#[test]
fn a_server_that_cannot_say_that_it_is_ready_ends_with_an_error() {
    let place = Place::new();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = place.command(&["serve", "--unix", "s.sock"]);
    let output = command.stdout(writer).output();
    let output = output.expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("before the line \"ready\""), "{errors}");
}

#[test]
fn signals_end_a_server_in_order() {
    for signal in ["-TERM", ctrl_c()] {
        let place = Place::new();
        let options = [&TINY[..], &["--unix", "s.sock", "--export", "a disk"]].concat();
        let server = Server::start(&place, &options);
        assert_eq!(server.ready, "ready nbd+unix:///a%20disk?socket=s.sock\n");
        server.signal(signal);
        let (status, output, errors) = server.wait();
        assert_eq!((status, errors.as_str()), (0, ""), "{signal}");
        assert!(output.contains("host.requests"), "{output}");
        assert_eq!(place.files(), [] as [&str; 0]);
    }
}

#[test]
fn an_idle_server_uses_no_time() {
    let place = Place::new();
    let options = ["--unix", "s.sock", "--control", "c.sock", "--pace", "model"];
    let server = Server::start(&place, &[&TINY[..], &options].concat());
    let connected = std::os::unix::net::UnixStream::connect(place.path("c.sock"));
    // On a busy machine the server may still be working at first, so the test measures several times.
    let is_idle = (0..10).any(|_| {
        let before = server.ticks();
        std::thread::sleep(Duration::from_secs(2));
        before == server.ticks()
    });
    assert!(is_idle);
    drop(connected);
    server.signal("-TERM");
    assert_eq!(server.wait().0, 0);
}

/// The server must not touch the memory of tables with an entry for each page or block before it uses the entries.
#[cfg(target_os = "linux")]
#[test]
fn a_large_device_without_contents_starts_at_once_and_takes_little_memory() {
    let layers = ["page", "bast", "fast", "superblock", "dftl"];
    let policies = [
        "cost_benefit",
        "d_choices",
        "fifo",
        "greedy_wear",
        "wear_aware",
    ];
    let policies = policies.map(|policy| format!("ftl.gc_policy={policy}"));
    let by_default = "sim.seed=42".to_owned();
    let of_layers = layers.iter().map(|layer| (*layer, &by_default));
    for (layer, setting) in of_layers.chain(policies.iter().map(|policy| ("page", policy))) {
        let place = Place::new();
        let options = ["--unix", "s.sock", "--capacity", "1TiB", "--ftl", layer];
        let options = [&options[..], &["--set", setting]].concat();
        let layer = format!("{layer} {setting}");
        let server = Server::start(&place, &options);
        assert!(server.ready.starts_with("ready"), "{layer}");
        let ticks = server.ticks().expect("it runs");
        assert!(ticks <= 10, "{layer}: {ticks} hundredths of a second");
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id()));
        let status = status.expect("it runs");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|text| text.trim().strip_suffix(" kB"));
        let peak: u64 = peak.expect("a peak").parse().expect("a number");
        assert!(peak < 40_000, "{layer}: {peak} KiB");
        server.signal("-TERM");
        assert_eq!(server.wait().0, 0, "{layer}");
    }
}

#[test]
fn a_server_with_a_limit_takes_the_discard_of_all_its_bytes() {
    let place = Place::new();
    let mut text = "time,volume,op,sector,sectors,fua,stream\n".to_owned();
    // The trace contains the trims of a `mkfs` twice, and a write after each trim.
    for step in 0..512u64 {
        let gibibyte = step % 256 * (1 << 21);
        text += &format!("{step},0,trim,{gibibyte},{},0,0\n", 1 << 21);
        text += &format!("{step},0,write,{},8,0,0\n", gibibyte + 800);
    }
    place.write("t.csv", text);
    for layer in ["page", "dftl", "fast", "bast"] {
        let device = ["--capacity", "256GiB", "--ftl", layer, "--size", "8MiB"];
        let limit = ["--unix", "s.sock", "--memory-limit", "192MiB"];
        let server = Server::start(&place, &[&device[..], &limit].concat());
        place.succeed(&["replay", "t.csv", "--to", URI, "--closed"]);
        server.signal("-TERM");
        let (status, _, errors) = server.wait();
        assert_eq!((status, errors.as_str()), (0, ""), "{layer}");
    }
}

#[test]
fn what_makes_no_server_is_refused() {
    let place = Place::new();
    place.write("file", "x");
    for (arguments, expected) in [
        (&["serve"][..], "--unix"),
        (&["serve", "--unix", "file"], "is not a socket"),
        (&["serve", "--unix", "no/folder"], "No such file"),
        (&["serve", "--tcp", "0.0.0.0:0"], "--listen-anywhere"),
        (
            &["serve", "--tcp", "127.0.0.1:port"],
            "--tcp 127.0.0.1:port",
        ),
        (
            &["serve", "--unix", "s", "--ftl", "none"],
            "no flash that could hold bytes",
        ),
        (
            &["serve", "--unix", "s", "--buffer", "belady"],
            "has to know the coming writes",
        ),
        (
            &["serve", "--unix", "s", "--record", "t.xyz"],
            "names no form",
        ),
        (
            &["serve", "--unix", "s", "--record", "t.csv.xz"],
            "can be read, but not written",
        ),
        (
            &["serve", "--unix", "s", "--record", "t.disksim"],
            "has no flushes",
        ),
        (
            &[
                "serve",
                "--unix",
                "s",
                "--backing",
                "file",
                "--write-log",
                "file",
            ],
            "--write-log file: is an input",
        ),
        (
            &[
                "serve",
                "--unix",
                "s",
                "--image",
                "file",
                "--response-log",
                "./file",
            ],
            "--response-log ./file: is an input",
        ),
        (
            &[
                "serve",
                "--unix",
                "s",
                "--backing",
                "file",
                "--capacity",
                "64MiB",
                "--buffer",
                "belady",
            ],
            "has to know the coming writes",
        ),
        (
            &[
                "serve",
                "--unix",
                "s",
                "--backing",
                "new",
                "--capacity",
                "511",
            ],
            "is smaller than a sector",
        ),
        (
            &["serve", "--image", "new.img", "--tcp", "0.0.0.0:0"],
            "--listen-anywhere",
        ),
        (
            &["serve", "--image", "new.img", "--unix", "no/folder"],
            "No such file",
        ),
        (&["serve", "--unix", "s", "--vwc", "maybe"], "device.vwc"),
        (&["serve", "--unix", "s", "--plp", "much"], "device.plp"),
        (
            &["serve", "--unix", "s", "--write-log", "no/folder"],
            "no/folder: cannot be written",
        ),
        (
            &["crash", "--fs", "none", "--", "no-such-program"],
            "no-such-program: No such file",
        ),
        (&["crash", "--fs", "none"], "CMD"),
        (&["device", "s", "cut", "--at-write", "0"], "--at-write"),
        (&["device", "s", "stats"], "control socket of a server"),
        (&["replay", "file", "--to", "s"], "expected nbd+unix"),
        (&["replay", "file", "--to", URI, "--depth", "2"], "--closed"),
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, 2, "{arguments:?}: {}", outcome.errors);
        assert!(outcome.errors.contains(expected), "{}", outcome.errors);
    }
    assert_eq!(place.files(), ["file"]);
    assert_eq!(place.read("file"), "x");
}

/// The ledger may not replace the image that is being served.
#[test]
fn a_file_that_the_server_uses_is_not_overwritten() {
    let place = Place::new();
    let options = [
        "--unix",
        "s.sock",
        "--control",
        "c.sock",
        "--image",
        "flash.img",
    ];
    let logs = ["--write-log", "writes.log"];
    let server = Server::start(&place, &[&TINY[..], &options, &logs].concat());
    for file in ["flash.img", "./flash.img", "writes.log"] {
        let outcome = place.run(&["device", "c.sock", "ledger", "--to", file]);
        assert_eq!(outcome.status, 2, "{}", outcome.errors);
        assert!(
            outcome.errors.contains("this server uses the file"),
            "{}",
            outcome.errors
        );
    }
    place.succeed(&["device", "c.sock", "ledger", "--to", "ledger.csv"]);
    server.signal("-TERM");
    assert_eq!(server.wait().0, 0);
    let again = Server::start(&place, &["--unix", "s.sock", "--image", "flash.img"]);
    assert!(again.ready.starts_with("ready"), "{}", again.ready);
}

/// An operator that sends orders and reads no answers keeps the server from nothing, and costs no time.
#[test]
fn answers_that_are_not_read_use_no_time() {
    use std::io::Write;
    let place = Place::new();
    let options = ["--unix", "s.sock", "--control", "c.sock"];
    let server = Server::start(&place, &[&TINY[..], &options].concat());
    let path = place.path("c.sock");
    let mut operator = std::os::unix::net::UnixStream::connect(path).expect("a connection");
    let orders = "{\"do\": \"stats\"}\n".repeat(2000);
    operator
        .set_write_timeout(Some(Duration::from_secs(1)))
        .expect("a timeout");
    // The server stops reading orders at some point.
    let _ = operator.write_all(orders.as_bytes());
    let Some(before) = server.ticks() else { return };
    std::thread::sleep(Duration::from_secs(1));
    let used = server.ticks().expect("a time") - before;
    assert!(used <= 5, "{used} hundredths of a second");
}

/// A program such as `nc -N` closes its sending side after its orders, and then reads the answers. Its last line need
/// not end with a newline.
#[test]
fn an_operator_that_sends_no_more_gets_its_answers() {
    use std::io::Write;
    let place = Place::new();
    let options = ["--unix", "s.sock", "--control", "c.sock", "--pace", "model"];
    let _server = Server::start(&place, &[&TINY[..], &options].concat());
    let path = place.path("c.sock");
    let mut operator = std::os::unix::net::UnixStream::connect(path).expect("a connection");
    let orders = "{\"do\": \"flush\"}\n{\"do\": \"cut\"}\n{\"do\": \"check\"}";
    operator.write_all(orders.as_bytes()).expect("room");
    operator
        .shutdown(std::net::Shutdown::Write)
        .expect("an open side");
    let mut answers = String::new();
    operator.read_to_string(&mut answers).expect("answers");
    assert_eq!(answers.lines().count(), 3, "{answers}");
}

#[test]
fn a_request_that_the_export_does_not_have_is_named() {
    let place = Place::new();
    place.write("t.disksim", "0 0 0 8 0\n1 0 99999999 8 0\n");
    let server = Server::start(&place, &[&TINY[..], &["--unix", "s.sock"]].concat());
    let outcome = place.run(&["replay", "t.disksim", "--to", URI]);
    assert_eq!(outcome.status, 2);
    let expected = "t.disksim: line 2: request of 8 sectors at 99999999 ends beyond the export";
    assert!(outcome.errors.contains(expected), "{}", outcome.errors);
    server.signal("-TERM");
    assert_eq!(server.wait().0, 0);
    let gone = place.run(&["replay", "t.disksim", "--to", URI]);
    assert!(
        gone.errors
            .contains("expected an NBD server at this address"),
        "{}",
        gone.errors
    );
}

#[test]
fn profiles_serve_with_the_clock_that_a_server_has() {
    let place = Place::new();
    let options = [
        "--profile",
        "bplru-mlc",
        "--unix",
        "s.sock",
        "--set",
        "sim.precondition=none",
    ];
    let server = Server::start(&place, &options);
    server.signal("-TERM");
    let (status, _, errors) = server.wait();
    assert_eq!(status, 0);
    assert!(errors.contains("note: sim.costing = event"), "{errors}");
}

/// Speaks NBD with one client at `listener`. Answers the first command with a cookie that the client has not sent, or
/// answers it twice.
fn wrong_answers(listener: &std::os::unix::net::UnixListener, twice: bool) -> std::io::Result<()> {
    use std::io::Write;
    const REPLY: u64 = 0x0003_e889_0455_65a9;
    let (mut stream, _) = listener.accept()?;
    stream.write_all(b"NBDMAGICIHAVEOPT\x00\x03")?;
    stream.read_exact(&mut [0; 4])?;
    loop {
        let mut head = [0; 16];
        stream.read_exact(&mut head)?;
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0_u32, |all, byte| all << 8 | u32::from(*byte))
        };
        let (option, length) = (number(&head[8..12]), number(&head[12..16]));
        stream.read_exact(&mut vec![0; length as usize])?;
        let mut answer = |kind: u32, data: &[u8]| {
            let mut bytes = REPLY.to_be_bytes().to_vec();
            for word in [option, kind, data.len() as u32] {
                bytes.extend(word.to_be_bytes());
            }
            bytes.extend(data);
            stream.write_all(&bytes)
        };
        if option != 7 {
            // The server knows no other options.
            answer(0x8000_0001, &[])?;
            continue;
        }
        let mut export = vec![0, 0];
        export.extend((1_u64 << 30).to_be_bytes());
        export.extend([0, 1]);
        answer(3, &export)?;
        answer(1, &[])?;
        break;
    }
    let mut request = [0; 28];
    stream.read_exact(&mut request)?;
    let mut data = vec![0; 4096];
    stream.read_exact(&mut data)?;
    let mut reply = vec![0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0];
    reply.extend(&request[8..16]);
    if twice {
        reply.extend_from_within(..);
    } else {
        reply[15] ^= 64;
    }
    stream.write_all(&reply)?;
    std::io::copy(&mut stream, &mut std::io::sink()).map(|_| ())
}

#[test]
fn a_server_that_answers_what_was_not_asked_is_named() {
    for twice in [false, true] {
        let place = Place::new();
        place.write("t.disksim", "0 0 0 8 0\n100000 0 8 8 0\n");
        let listener = std::os::unix::net::UnixListener::bind(place.path("s.sock"));
        let listener = listener.expect("a socket");
        let server = std::thread::spawn(move || wrong_answers(&listener, twice));
        let outcome = place.run(&["replay", "t.disksim", "--to", URI]);
        let _ = server.join().expect("no panic");
        assert_eq!(outcome.status, 2, "{}", outcome.errors);
        assert!(
            outcome.errors.contains("violates the protocol"),
            "{}",
            outcome.errors
        );
    }
}
