//! Clients that abort, never end, never listen, or ask for more than there is: a server keeps its descriptors and its memory, serves
//! the others, and its operator.
//!
//! `DESTAGE_HOSTILE` is how many clients abort (300), of which a tenth as many, at least 40, are hostile at once. `make hostile` has 10,000
//! and 1,000, and holds the memory of the server to 512 MiB.
#![cfg(target_os = "linux")] // Descriptors and peaks of a process are read from /proc.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "how much was tried is said to who asks for it; in a test, a panic is the report"
)]

use crate::common;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::Place;
use destage_serve::address::{Address, Place as Server};
use destage_serve::client::{Answer, Client};
use destage_serve::control::Operator;
use destage_serve::protocol::wire;

const MIB: u64 = 1 << 20;
const PAGE: u32 = 4096;
/// What the device offers.
const CAPACITY: u64 = 64 * MIB;
/// The longest request, as the protocol has it.
const LONGEST: u32 = 32 << 20;
/// The protocol's word for no memory.
const NO_MEMORY: u32 = 12;
/// A busy machine is slow; nothing that goes right waits for this.
const PATIENCE: Duration = Duration::from_secs(60);

fn hostile() -> usize {
    let text = std::env::var("DESTAGE_HOSTILE");
    text.map_or(300, |text| {
        text.parse().expect("DESTAGE_HOSTILE is a number")
    })
}

/// A server, and its end.
struct Serving {
    child: Child,
    place: Place,
}

impl Serving {
    fn start(options: &[&str]) -> Self {
        let place = Place::new();
        let words = ["serve", "--quiet", "--unix", "s", "--control", "c"];
        let command = place.command(&[&words, options].concat());
        Self::spawn(place, command)
    }

    fn spawn(place: Place, mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut ready).unwrap();
        assert!(ready.starts_with("ready "), "{ready}");
        // What it says at its end has a reader.
        std::thread::spawn(move || output.read_to_string(&mut String::new()));
        Self { child, place }
    }

    fn socket(&self) -> std::path::PathBuf {
        self.place.path("s")
    }

    fn client(&self) -> Client {
        let address = Address {
            place: Server::Unix(self.socket()),
            export: String::new(),
        };
        let client = Client::connect(&address, true).unwrap();
        client.set_timeout(Some(PATIENCE)).unwrap();
        client
    }

    fn operator(&self) -> Operator {
        Operator::connect(&self.place.path("c")).unwrap()
    }

    fn clients(&self) -> u64 {
        let stats = self.operator().ask("stats").unwrap();
        stats["clients"].as_u64().unwrap()
    }

    fn descriptors(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.child.id());
        std::fs::read_dir(folder).unwrap().count()
    }

    /// The most memory that it ever had, in MiB.
    fn peak_mib(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1));
        kib.unwrap().parse::<u64>().unwrap() / 1024
    }

    /// It ends as it should.
    fn stop(mut self) {
        self.operator().ask("stop").unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(client: &mut Client, command: u16, offset: u64, data: &[u8]) -> Answer {
    client
        .ask((command, 0), (offset, data.len() as u32), data)
        .unwrap()
}

fn write(client: &mut Client, offset: u64, data: &[u8]) -> u32 {
    ask(client, wire::CMD_WRITE, offset, data).error
}

fn read(client: &mut Client, offset: u64, length: u32) -> Answer {
    client
        .ask((wire::CMD_READ, 0), (offset, length), &[])
        .unwrap()
}

/// A connection past its handshake, that says what nobody checks.
fn negotiated(socket: &Path) -> UnixStream {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    let export_name = [&b"\0\0\0\x03IHAVEOPT\0\0\0\x01"[..], &[0; 4]].concat();
    stream.write_all(&export_name).unwrap();
    stream.read_exact(&mut [0; 10]).unwrap();
    stream
}

/// The header of a command.
fn header(command: u16, offset: u64, length: u32) -> Vec<u8> {
    let mut bytes = wire::REQUEST.to_be_bytes().to_vec();
    bytes.extend(0u16.to_be_bytes());
    bytes.extend(command.to_be_bytes());
    bytes.extend(7u64.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}

/// Sends as much as is taken at once; whether the connection is still there.
fn pour(stream: &mut UnixStream, bytes: &[u8]) -> bool {
    stream.set_nonblocking(true).unwrap();
    for piece in bytes.chunks(1 << 16) {
        match stream.write(piece) {
            Ok(count) if count == piece.len() => {}
            Ok(_) => return true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
            Err(_) => return false,
        }
    }
    true
}

/// One of the ways to be a nuisance, by `number`.
fn nuisance(socket: &Path, number: usize) -> UnixStream {
    let many = |bytes: Vec<u8>, count: usize| bytes.repeat(count);
    let list = [&b"IHAVEOPT\0\0\0\x03"[..], &[0; 4]].concat();
    let mut stream = match number % 6 {
        // It stays in the handshake, and asks for lists that it never takes.
        4 => {
            let mut stream = UnixStream::connect(socket).unwrap();
            stream.write_all(&[0, 0, 0, 3]).unwrap();
            stream
        }
        _ => negotiated(socket),
    };
    let said = match number % 6 {
        // It says nothing.
        0 => Vec::new(),
        // A long message that never ends.
        1 => {
            let half = vec![1; LONGEST as usize / 2];
            [header(wire::CMD_WRITE, 0, LONGEST), half].concat()
        }
        // Long answers that it never takes.
        2 => many(header(wire::CMD_READ, 0, LONGEST), 200),
        // Short answers that it never takes.
        3 => many(header(wire::CMD_READ, 0, PAGE), 5000),
        4 => many(list, 5000),
        // Commands that are wrong.
        _ => many(header(99, 1, 1), 5000),
    };
    pour(&mut stream, &said);
    stream
}

#[test]
fn aborted_clients_leave_nothing_behind() {
    let server = Serving::start(&["--capacity", "64MiB"]);
    let mut good = server.client();
    assert_eq!(write(&mut good, 0, &[3; 4096]), 0);
    let (before, count) = (server.descriptors(), hostile());
    for number in 0..count {
        let mut stream = negotiated(&server.socket());
        let header = header(wire::CMD_WRITE, 0, 1 << 16);
        // It ends within the header, at its end, and within the data.
        let length = [10, 28, 1028][number % 3];
        stream
            .write_all(&[header, vec![9; 1000]].concat()[..length])
            .unwrap();
    }
    let began = Instant::now();
    while server.clients() > 1 && began.elapsed() < PATIENCE {
        sleep(Duration::from_millis(10));
    }
    assert_eq!(server.clients(), 1, "of {count} aborted clients");
    // The one more is that of the operator who asks, or has just asked.
    let after = server.descriptors();
    assert!(after <= before + 1, "{before} descriptors, then {after}");
    println!("{count} aborted clients: {before} descriptors before, {after} after");
    assert_eq!(read(&mut good, 0, PAGE).data, [3; 4096]);
    server.stop();
}

#[test]
fn hostile_clients_take_little_memory_and_others_are_served() {
    let server = Serving::start(&["--capacity", "64MiB"]);
    let mut good = server.client();
    let count = (hostile() / 10).max(40);
    let mut nuisances: Vec<UnixStream> = (0..count)
        .map(|number| nuisance(&server.socket(), number))
        .collect();
    let mut took = Vec::new();
    for round in 0..(4 * count) {
        // They go on, and those that were closed come again.
        let number = round % count;
        if !pour(&mut nuisances[number], &[0]) {
            nuisances[number] = nuisance(&server.socket(), number);
        }
        let offset = round as u64 * 4096 % CAPACITY;
        let began = Instant::now();
        assert_eq!(write(&mut good, offset, &[round as u8; 4096]), 0);
        assert_eq!(read(&mut good, offset, PAGE).data, [round as u8; 4096]);
        took.push(began.elapsed());
    }
    // A long one has its turn as well.
    let began = Instant::now();
    assert_eq!(write(&mut good, 0, &vec![5; 8 << 20]), 0);
    let long = began.elapsed();
    took.sort();
    let peak = server.peak_mib();
    println!(
        "{count} hostile clients: a write and a read of 4 KiB take {:?} (p50), {:?} (p99), {:?} at most; a write of 8 MiB {long:?}; the server had {peak} MiB at most",
        took[took.len() / 2],
        took[took.len() * 99 / 100],
        took[took.len() - 1],
    );
    assert!(peak < 512, "{peak} MiB");
    drop(nuisances);
    server.stop();
}

#[test]
fn long_writes_to_a_slow_device_wait_and_do_not_end_it() {
    // A page takes ten seconds, so nothing of this is ever answered.
    let slow = ["--pace", "model", "--set", "flash.program_us=10000000"];
    let size = ["--capacity", "64MiB", "--size", "1MiB"];
    let server = Serving::start(&[&slow[..], &size, &["--memory-limit", "512MiB"]].concat());
    let message = [
        header(wire::CMD_WRITE, 0, LONGEST),
        vec![1; LONGEST as usize],
    ];
    let message = message.concat();
    let mut hogs: Vec<UnixStream> = (0..4).map(|_| negotiated(&server.socket())).collect();
    for hog in &mut hogs {
        hog.set_nonblocking(true).unwrap();
    }
    // Each sends message after message, until for a while nothing is taken from any.
    let mut sent = [0; 4];
    let mut quiet = Instant::now();
    while quiet.elapsed() < Duration::from_secs(1) {
        for (hog, sent) in hogs.iter_mut().zip(&mut sent) {
            if let Ok(count) = hog.write(&message[*sent..]) {
                *sent = (*sent + count) % message.len();
                quiet = Instant::now();
            }
        }
    }
    let stats = server.operator().ask("stats").unwrap();
    assert!(stats["in_flight"].as_u64().unwrap() > 0);
    println!("long writes to a slow device: {} MiB", server.peak_mib());
    assert!(server.peak_mib() < 512);
    // Short requests do not wait for memory.
    let mut good = server.client();
    let hint = good.ask((wire::CMD_CACHE, 0), (0, PAGE), &[]).unwrap();
    assert_eq!(hint.error, 0);
}

#[test]
fn slow_readers_do_not_end_a_server() {
    let server = Serving::start(&["--capacity", "64MiB", "--memory-limit", "512MiB"]);
    let mut readers: Vec<UnixStream> = (0..50).map(|_| negotiated(&server.socket())).collect();
    for reader in &mut readers {
        let asked = header(wire::CMD_READ, 0, LONGEST).repeat(100);
        assert!(pour(reader, &asked));
    }
    let mut good = server.client();
    assert_eq!(write(&mut good, 4096, &[7; 4096]), 0);
    assert_eq!(read(&mut good, 4096, PAGE).data, [7; 4096]);
    // A long one waits until those that take nothing are closed.
    assert_eq!(read(&mut good, 0, LONGEST).data.len(), LONGEST as usize);
    println!("slow readers: {} MiB", server.peak_mib());
    assert!(server.peak_mib() < 512);
    server.stop();
}

/// A device is written until its memory is used up.
fn filled(options: &[&str]) {
    let limit = ["--memory-limit", "128MiB", "--capacity", "512MiB"];
    let server = Serving::start(&[&limit, options].concat());
    let mut client = server.client();
    let piece = |number: u64| [number as u8; 1 << 16];
    let pieces = 512 * MIB / (1 << 16);
    let taken = (0..pieces).find(|number| {
        let error = write(&mut client, number << 16, &piece(*number));
        assert!(error == 0 || error == NO_MEMORY, "{options:?}: {error}");
        error != 0
    });
    let taken = taken.unwrap_or_else(|| panic!("{options:?}: 512 MiB in 128"));
    assert!(taken << 16 > 40 * MIB, "{options:?}: {taken} pieces");
    // Refused is refused, and what was taken before is there.
    for _ in 0..100 {
        assert_eq!(write(&mut client, taken << 16, &piece(1)), NO_MEMORY);
    }
    let flush = client.ask((wire::CMD_FLUSH, 0), (0, 0), &[]).unwrap();
    assert_eq!(flush.error, 0, "{options:?}");
    let zeroes = client
        .ask((wire::CMD_WRITE_ZEROES, 0), (0, 256 << 20), &[])
        .unwrap();
    assert_eq!(zeroes.error, NO_MEMORY, "{options:?}");
    let check = |client: &mut Client| {
        for number in 512..taken {
            let found = read(client, number << 16, 1 << 16);
            assert_eq!(found.error, 0, "{options:?}");
            assert!(found.data == piece(number), "{options:?}: {number}");
        }
    };
    check(&mut client);
    // One too long to be held at all is refused, and the next is understood.
    let long = vec![1; LONGEST as usize];
    assert_eq!(write(&mut client, 0, &long), NO_MEMORY);
    assert_eq!(read(&mut client, 0, LONGEST).error, NO_MEMORY);
    check(&mut client);
    let mut operator = server.operator();
    operator.ask("cut").unwrap();
    operator.ask("restore").unwrap();
    assert_eq!(operator.ask("check").unwrap()["bad_sectors"], 0);
    check(&mut server.client());
    server.stop();
}

#[test]
fn what_the_memory_limit_has_no_room_for_is_refused() {
    for options in [
        &["--buffer", "lru"][..],
        &["--buffer", "bplru", "--ftl", "bast"],
        &[
            "--ftl",
            "dftl",
            "--pace",
            "model",
            "--set",
            "flash.program_us=0",
        ],
        &["--buffer", "nocache", "--set", "flash.page_bytes=512"],
    ] {
        filled(options);
    }
}

#[test]
fn operators_have_places_of_their_own() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_destage");
    let line = format!("ulimit -n 100; exec {program} serve --quiet --unix s --control c");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(place.path(""));
    let server = Serving::spawn(place, command);
    let streams: Vec<UnixStream> = (0..200)
        .map(|_| UnixStream::connect(server.socket()).unwrap())
        .collect();
    let closed = streams.iter().filter(|stream| {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut greeting = [0; 18];
        let mut stream = *stream;
        stream.read_exact(&mut greeting).is_err()
    });
    assert_eq!(closed.count(), 200 - 36, "of 100 files 64 are for others");
    let operators: Vec<Operator> = (0..20).map(|_| server.operator()).collect();
    assert_eq!(server.clients(), 36);
    drop(operators);
    server.stop();
}

#[test]
fn an_operator_that_takes_no_answers_takes_no_memory() {
    let server = Serving::start(&["--capacity", "64MiB", "--memory-limit", "128MiB"]);
    let mut stream = UnixStream::connect(server.place.path("c")).unwrap();
    let orders = b"{\"do\": \"stats\"}\n".repeat(100_000);
    pour(&mut stream, &orders);
    // Its answers wait while others are given theirs.
    for _ in 0..20 {
        assert_eq!(server.clients(), 0);
        pour(&mut stream, &orders);
    }
    assert!(server.peak_mib() < 64, "{} MiB", server.peak_mib());
    server.stop();
}
