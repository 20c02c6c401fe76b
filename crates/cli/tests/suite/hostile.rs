//! Tests of hostile clients. Such a client aborts, sends endless messages, never reads answers, or needs more memory
//! than there is. The server must release the descriptors and the memory of hostile clients, and must serve other
//! clients and its operator.
//!
//! `DESTAGE_HOSTILE` is the number of clients that abort (default 300). A tenth of this number, but at least 40
//! clients, are hostile at the same time. `make hostile` uses 10,000 clients that abort and 1,000 clients at the same
//! time, and limits the memory of the server to 512 MiB.
#![cfg(target_os = "linux")] // Descriptors and memory peaks of a process are read from /proc.
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
/// The size of the device.
const CAPACITY: u64 = 64 * MIB;
/// The longest request that the protocol allows.
const LONGEST: u32 = 32 << 20;
/// The error number of the protocol for a lack of memory.
const NO_MEMORY: u32 = 12;
/// A timeout for a busy machine. A test that passes never waits this long.
const PATIENCE: Duration = Duration::from_secs(60);

fn hostile() -> usize {
    let text = std::env::var("DESTAGE_HOSTILE");
    text.map_or(300, |text| {
        text.parse().expect("DESTAGE_HOSTILE is a number")
    })
}

/// A server that is killed when this value is dropped.
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
        // A thread reads the output, so that the server can end without blocking on a full pipe.
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

    /// The peak memory of the server in MiB.
    fn peak_mib(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1));
        kib.unwrap().parse::<u64>().unwrap() / 1024
    }

    /// Stops the server, which must end without an error.
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

/// A connection after its handshake, through which a test can send any bytes.
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

/// Sends as many of `bytes` as the server accepts without waiting. Returns whether the connection is still open.
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

/// A hostile client. `number` determines how the client behaves.
fn nuisance(socket: &Path, number: usize) -> UnixStream {
    let many = |bytes: Vec<u8>, count: usize| bytes.repeat(count);
    let list = [&b"IHAVEOPT\0\0\0\x03"[..], &[0; 4]].concat();
    let mut stream = match number % 6 {
        // This client never ends the handshake. It requests lists of exports and does not read them.
        4 => {
            let mut stream = UnixStream::connect(socket).unwrap();
            stream.write_all(&[0, 0, 0, 3]).unwrap();
            stream
        }
        _ => negotiated(socket),
    };
    let said = match number % 6 {
        // This client sends nothing.
        0 => Vec::new(),
        // This client sends half of a long message.
        1 => {
            let half = vec![1; LONGEST as usize / 2];
            [header(wire::CMD_WRITE, 0, LONGEST), half].concat()
        }
        // This client never reads its long answers.
        2 => many(header(wire::CMD_READ, 0, LONGEST), 200),
        // This client never reads its short answers.
        3 => many(header(wire::CMD_READ, 0, PAGE), 5000),
        4 => many(list, 5000),
        // This client sends invalid commands.
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
        // The client disconnects within the header, after the header, or within the data.
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
    // The server may have one more descriptor than before, for the connection of the operator.
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
        // The hostile clients continue. If the server has closed the connection of a hostile client, the client
        // connects again.
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
    // The server must also serve a long request of the good client.
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
    // A program takes ten seconds, so the server answers no write during the test.
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
    // Each client sends one message after the other. The loop ends when the server has accepted nothing for a second.
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
    // Short requests need not wait for memory.
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
    // A long read waits until the server has closed the connections of the clients that read nothing.
    assert_eq!(read(&mut good, 0, LONGEST).data.len(), LONGEST as usize);
    println!("slow readers: {} MiB", server.peak_mib());
    assert!(server.peak_mib() < 512);
    server.stop();
}

/// Writes to a device until the memory limit is reached.
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
    // The server refuses later writes, and all data of the accepted writes can be read.
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
    // The server refuses a request that is too long for its memory, and still finds the beginning of the next
    // request.
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
fn what_moves_no_data_needs_no_memory() {
    // A read of this length never fits below this limit.
    let server = Serving::start(&["--capacity", "64MiB", "--memory-limit", "34MiB"]);
    let mut client = server.client();
    assert_eq!(read(&mut client, 0, LONGEST).error, NO_MEMORY);
    for command in [wire::CMD_CACHE, wire::CMD_BLOCK_STATUS] {
        let answer = client.ask((command, 0), (0, LONGEST), &[]).unwrap();
        assert_eq!(answer.error, 0);
    }
    server.stop();
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
    // This operator does not read its answers. The server must nevertheless answer other operators.
    for _ in 0..20 {
        assert_eq!(server.clients(), 0);
        pour(&mut stream, &orders);
    }
    assert!(server.peak_mib() < 64, "{} MiB", server.peak_mib());
    server.stop();
}
