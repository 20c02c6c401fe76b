//! Tests that end a server with `kill -9` while several connections write to it. No promised data may be lost, and no
//! data may appear that no client wrote.
//!
//! One test uses servers with an image, and another test uses servers with a backing file. Each of these tests has at
//! least `DESTAGE_KILLS` kills (default 20; `make kills` uses 1000).
#![cfg(unix)]
#![allow(
    clippy::print_stdout,
    reason = "how much was tried is said to who asks for it"
)]

pub mod book;
pub mod host;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use destage_base::Random;
use destage_serve::address::{Address, Place};
use destage_serve::client::Client;
use destage_serve::protocol::wire;

use book::{Book, SECTOR};
use host::{Host, Plant, Traffic, until_answered};

const BYTES: usize = 1 << 20;
/// The sectors of a page of 4 KiB.
const PAGE: usize = 8;
/// The requests to each server.
const TRAFFIC: Traffic = Traffic {
    sectors: BYTES / SECTOR,
    page: PAGE,
    connections: 3,
    depth: 8,
    write_through: false,
    strict_trim: true,
    plant: Plant::Nothing,
};

/// The options of a small device.
const TINY: [&str; 10] = [
    "--capacity",
    "1MiB",
    "--size",
    "128KiB",
    "--set",
    "flash.dies=2",
    "--set",
    "flash.pages_per_block=8",
    "--set",
    "flash.planes_per_die=1",
];

fn kills() -> u32 {
    let text = std::env::var("DESTAGE_KILLS");
    text.map_or(20, |text| text.parse().expect("DESTAGE_KILLS is a number"))
}

/// Starts a server in `folder`. `options` set the parameters of the device, and name the file with its bytes.
fn start(folder: &Path, options: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_destage"))
        .args(["serve", "--quiet", "--unix", "socket"])
        .args(options)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

fn until_ready(child: &mut Child) {
    let mut line = String::new();
    let output = child.stdout.as_mut().expect("a pipe");
    BufReader::new(output).read_line(&mut line).expect("a line");
    assert!(line.starts_with("ready"), "{line:?}");
}

/// Reads all bytes of the device.
fn contents(address: &Address) -> Vec<u8> {
    let mut client = Client::connect(address, true).expect("a server");
    let answer = client.ask((wire::CMD_READ, 0), (0, BYTES as u32), &[]);
    let answer = answer.expect("an answer");
    assert_eq!(answer.error, 0);
    answer.data
}

/// Runs `times` servers one after the other and kills each of them. All servers have the options of `device`, which name
/// the same file, and one of `schemes` in turn; without schemes, they have the scheme of the device. The error is the
/// first violation of a promise.
fn campaign(
    (device, page): &Device<'_>,
    schemes: &[&str],
    plant: Plant,
    times: u32,
    seed: u64,
) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let address = Address {
        place: Place::Unix(folder.path().join("socket")),
        export: String::new(),
    };
    let mut random = Random::new(seed);
    let book = Mutex::new(Book::new(BYTES / SECTOR));
    for round in 0..times {
        let scheme = schemes.iter().cycle().nth(round as usize);
        let buffer = scheme.map_or(Vec::new(), |scheme| vec!["--buffer", scheme]);
        let options = [&device[..], &buffer].concat();
        let mut child = start(folder.path(), &options);
        if random.below(8) == 0 {
            // The server is killed while it starts.
            std::thread::sleep(Duration::from_micros(random.below(8000)));
            child.kill().expect("it is killed");
            child.wait().expect("an end");
            child = start(folder.path(), &options);
        }
        until_ready(&mut child);
        let found = book
            .lock()
            .expect("no thread")
            .check(&contents(&address), 0);
        let found =
            found.map_err(|what| format!("{options:?}, seed {seed}, server {round}: {what}"));
        if found.is_ok() {
            std::thread::scope(|scope| {
                let run = |number| {
                    let page = *page;
                    let traffic = Traffic {
                        page,
                        plant,
                        ..TRAFFIC
                    };
                    let host = Host::new(&book, traffic, number, random.next_u64());
                    let address = &address;
                    scope.spawn(move || host.run(address))
                };
                let hosts: Vec<_> = (0..TRAFFIC.connections).map(run).collect();
                until_answered(&book, random.below(200), &hosts);
                child.kill().expect("it is killed");
            });
        }
        let _ = child.kill();
        child.wait().expect("an end");
        found?;
        if let Some(what) = &book.lock().expect("no thread").wrong {
            return Err(format!("{options:?}, seed {seed}, server {round}: {what}"));
        }
    }
    let book = book.into_inner().expect("no thread");
    // A few servers may be killed before they answer a flush.
    assert!(book.flushes > 0 || times < 10);
    println!(
        "{}: {times} kills, {} changes and {} flushes answered",
        device.join(" "),
        book.changes,
        book.flushes
    );
    Ok(())
}

/// The options of a device, and the sectors of its pages.
pub type Device<'a> = (Vec<&'a str>, usize);

/// Runs a campaign for each of `devices`, in parallel. All campaigns together have at least the number of kills that
/// [`kills`] returns.
pub fn all<'devices>(devices: &'devices [Device<'devices>], schemes: &[&str]) {
    let each = kills().div_ceil(devices.len() as u32);
    std::thread::scope(|scope| {
        let run = |(seed, device): (u64, &'devices Device<'devices>)| {
            scope.spawn(move || campaign(device, schemes, Plant::Nothing, each, seed))
        };
        let runs: Vec<_> = (0..).zip(devices).map(run).collect();
        for run in runs {
            if let Err(what) = run.join().expect("a campaign") {
                panic!("{what}");
            }
        }
    });
}

const SCHEMES: [&str; 6] = ["lru", "bplru", "fab", "nocache", "apu-lru", "epo"];

/// The options for a device with an image. Trims are strict, as [`TRAFFIC`] demands.
pub const IMAGE: [&str; 4] = ["--image", "flash", "--set", "device.trim=strict"];

#[test]
fn an_image_keeps_what_was_promised() {
    let layers = [
        "page",
        "bast",
        "fast",
        "dftl",
        "superblock",
        "pslc",
        "zns",
        "striped",
    ];
    let devices = layers.map(|layer| ([&TINY[..], &IMAGE, &["--ftl", layer]].concat(), PAGE));
    all(&devices, &SCHEMES);
}

#[test]
fn a_file_behind_the_buffer_keeps_what_was_promised() {
    let options: [&[&str]; 3] = [
        &[],
        &["--set", "device.vwc=off"],
        &["--set", "trace.align=rmw", "--ftl", "fast"],
    ];
    let devices = options.map(|options| {
        let device = [&TINY[..], &["--backing", "disk"], options].concat();
        (device, PAGE)
    });
    all(&devices, &SCHEMES);
}

/// Shows that the test can fail. It must fail with clients that treat too many writes as promised, and with a device
/// that answers flushes without writing.
#[test]
fn what_is_lost_is_found() {
    for media in [["--image", "flash"], ["--backing", "disk"]] {
        let device = ([&TINY[..], &media].concat(), PAGE);
        for plant in [Plant::EarlyFlush, Plant::EveryWrite] {
            let found = campaign(&device, &["lru"], plant, 40, 1);
            assert!(found.is_err(), "{media:?}");
        }
        let lies = [&device.0[..], &["--set", "buffer.flush_mode=ignore"]].concat();
        let lies = (lies, PAGE);
        let found = campaign(&lies, &["lru"], Plant::Nothing, 40, 1);
        assert!(found.is_err(), "{media:?}");
    }
}
