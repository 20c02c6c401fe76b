//! Tests of the server from the side of its clients.

#![allow(clippy::unwrap_used, reason = "a test says where it failed")]

use crate::kit;

use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use destage_base::Random;
use destage_serve::address::{Address, Place};
use destage_serve::client::{Client, ClientError};
use destage_serve::control::Operator;
use destage_serve::device::Pace;
use destage_serve::protocol::wire;
use destage_serve::server::Sockets;
use destage_sim::metrics::Number;

use kit::{Asks, BYTES, FUA, Rig, Running};

fn bytes(random: &mut Random, length: usize) -> Vec<u8> {
    (0..length).map(|_| random.below(256) as u8).collect()
}

/// Sends random commands on three connections, and compares the answers with an array.
fn model(rig: &Rig<'_>, seed: u64, rounds: u32) {
    let running = rig.start();
    let mut clients = [running.client(), running.client(), running.client()];
    let mut random = Random::new(seed);
    let mut model = vec![0; BYTES as usize];
    for round in 0..rounds {
        let client = &mut clients[random.below(3) as usize];
        let sectors = 1 + random.below(40);
        let first = random.below(BYTES / 512 - sectors);
        let (offset, length) = (first * 512, (sectors * 512) as u32);
        let range = offset as usize..(offset + u64::from(length)) as usize;
        let fua = if random.below(8) == 0 { FUA } else { 0 };
        match random.below(10) {
            0..4 => {
                let data = bytes(&mut random, length as usize);
                client.done((wire::CMD_WRITE, fua), (offset, length), &data);
                model[range].copy_from_slice(&data);
            }
            4..7 => {
                let found = client.done((wire::CMD_READ, fua), (offset, length), &[]);
                assert!(found == model[range], "round {round}: {offset} {length}");
            }
            7 => {
                let flags = fua | (wire::CMD_FLAG_NO_HOLE * random.below(2) as u16);
                client.done((wire::CMD_WRITE_ZEROES, flags), (offset, length), &[]);
                model[range].fill(0);
            }
            8 => {
                client.done((wire::CMD_TRIM, fua), (offset, length), &[]);
                // After a trim, pages that the trim covers completely read as zeros. Pages that it covers only in
                // part are unchanged.
                let page = 4096;
                let start = range.start.next_multiple_of(page);
                let end = range.end / page * page;
                if start < end {
                    model[start..end].fill(0);
                }
            }
            _ => client.flush(),
        }
    }
    let whole = clients[0].read(0, BYTES as u32);
    assert!(whole == model);
    assert!(running.stop().broken.is_none());
}

#[test]
fn what_was_written_is_read_under_every_scheme() {
    for row in destage_sim::settings::Settings::new().schemes() {
        if row.needs_future() {
            continue;
        }
        let scheme = format!("buffer.kind={}", row.name);
        model(&Rig::with(&[&scheme]), 1, 300);
    }
}

#[test]
fn what_was_written_is_read_over_every_layer() {
    for row in destage::ftl::FTLS.iter().filter(|row| row.has_flash) {
        let layer = format!("ftl.kind={}", row.name);
        model(&Rig::with(&[&layer, "buffer.kind=bplru"]), 2, 300);
    }
}

#[test]
fn what_was_written_is_read_in_the_time_of_the_model() {
    for pairs in [
        &["buffer.kind=lru"][..],
        &["buffer.kind=bplru", "flash.parallel_units=1"],
        &["buffer.kind=epo", "trace.align=rmw"],
        &[
            "buffer.kind=lru",
            "flash.planes_per_die=2",
            "flash.parallel_units=2",
        ],
        &["buffer.kind=lru", "device.vwc=off"],
        &["buffer.kind=lru", "device.trim=strict"],
        &["buffer.kind=nocache"],
        &["buffer.kind=lru", "sim.precondition=sequential_fill"],
    ] {
        let mut rig = Rig::with(pairs);
        rig.pace = Pace::Model;
        model(&rig, 3, 300);
    }
}

#[test]
fn several_requests_under_way_are_each_answered_once() {
    for pace in [Pace::None, Pace::Model] {
        let rig = Rig {
            pace,
            ..Rig::default()
        };
        let running = rig.start();
        let mut client = running.client();
        for round in 0..10u64 {
            for page in 0..100u64 {
                let data = [(round + page) as u8; 4096];
                let range = (page * 4096, 4096);
                client
                    .send((wire::CMD_WRITE, 0), page, range, &data)
                    .unwrap();
            }
            for page in 0..100u64 {
                let range = (page * 4096, 4096);
                client
                    .send((wire::CMD_READ, 0), 1000 + page, range, &[])
                    .unwrap();
            }
            let mut seen = [false; 1100];
            for _ in 0..200 {
                let answer = client.receive(|_| 0).unwrap();
                assert_eq!(answer.error, 0);
                let seen = &mut seen[answer.cookie as usize];
                assert!(!std::mem::replace(seen, true));
            }
        }
        for page in 0..100u64 {
            assert_eq!(client.read(page * 4096, 4096), [9 + page as u8; 4096]);
        }
        running.stop();
    }
}

/// The number of page programs that have ended, from the statistics of the server.
fn programmed(operator: &mut Operator) -> u64 {
    let stats = operator.ask("stats").unwrap();
    stats["metrics"]["flash.programs"].as_u64().unwrap()
}

#[test]
fn a_flush_of_any_connection_covers_what_was_replied_on_all() {
    for (writer, flusher, fua) in [(0, 0, false), (0, 1, false), (1, 0, false), (0, 1, true)] {
        let running = Rig::default().start();
        let mut operator = Operator::connect(&running.control).unwrap();
        let mut clients = [running.client(), running.client()];
        let flags = if fua { FUA } else { 0 };
        clients[writer].done((wire::CMD_WRITE, flags), (0, 8192), &[7; 8192]);
        let after_write = programmed(&mut operator);
        assert_eq!(after_write, if fua { 2 } else { 0 });
        clients[flusher].flush();
        assert_eq!(programmed(&mut operator), 2);
        running.stop();
    }
}

#[test]
fn without_a_volatile_cache_every_write_is_programmed_before_its_reply() {
    let running = Rig::with(&["device.vwc=off"]).start();
    let mut operator = Operator::connect(&running.control).unwrap();
    let mut client = running.client();
    client.write(0, &[1; 4096]);
    assert_eq!(programmed(&mut operator), 1);
    client.done((wire::CMD_WRITE_ZEROES, 0), (4096, 4096), &[]);
    assert_eq!(programmed(&mut operator), 2);
    running.stop();
}

#[test]
fn what_is_out_of_range_or_forbidden_changes_nothing() {
    let running = Rig::default().start();
    let mut client = running.client();
    client.write(BYTES - 4096, &[5; 4096]);
    let last = (BYTES - 512, 1024);
    assert_eq!(client.error((wire::CMD_WRITE, 0), last, &[1; 1024]), 28);
    assert_eq!(client.error((wire::CMD_WRITE_ZEROES, 0), last, &[]), 28);
    assert_eq!(client.error((wire::CMD_TRIM, 0), last, &[]), 22);
    assert_eq!(client.error((wire::CMD_READ, 0), last, &[]), 22);
    assert_eq!(client.error((wire::CMD_READ, 0), (1 << 63, 512), &[]), 22);
    let fast = wire::CMD_FLAG_FAST_ZERO;
    let page = (BYTES - 4096, 4096);
    assert_eq!(client.error((wire::CMD_WRITE_ZEROES, fast), page, &[]), 95);
    assert_eq!(client.read(BYTES - 4096, 4096), [5; 4096]);
    client.done((wire::CMD_CACHE, 0), page, &[]);
    running.stop();

    let rig = Rig {
        read_only: true,
        ..Rig::with(&["sim.precondition=sequential_fill"])
    };
    let running = rig.start();
    let mut client = running.client();
    assert_eq!(client.error((wire::CMD_WRITE, 0), (0, 512), &[1; 512]), 1);
    assert_eq!(client.error((wire::CMD_WRITE_ZEROES, 0), (0, 512), &[]), 1);
    assert_eq!(client.error((wire::CMD_TRIM, 0), (0, 512), &[]), 1);
    assert_eq!(client.read(0, 4096), [0; 4096]);
    client.flush();
    running.stop();
}

#[test]
fn block_status_tells_holes_zeros_and_data() {
    let running = Rig::default().start();
    let mut client = running.client();
    client.write(4096, &[1; 8192]);
    client.done((wire::CMD_WRITE_ZEROES, 0), (12288, 4096), &[]);
    client.write(16384, &[1; 4096]);
    client.done((wire::CMD_TRIM, 0), (16384, 4096), &[]);
    let status = |client: &mut Client, flags| client.status(flags, (0, 65536));
    let all = [(4096, 3), (8192, 0), (4096, 2), (65536 - 16384, 3)];
    assert_eq!(status(&mut client, 0), all);
    client.flush();
    assert_eq!(status(&mut client, 0), all);
    let one = status(&mut client, wire::CMD_FLAG_REQ_ONE);
    assert_eq!(one, all[..1]);
    running.stop();
}

#[test]
fn long_zeroes_and_trims_go_in_parts_and_are_answered_once() {
    for pace in [Pace::None, Pace::Model] {
        let rig = Rig {
            pace,
            ..without_times()
        };
        let running = rig.start();
        let mut client = running.client();
        client.write(80 << 20, &[1; 4096]);
        let all = (0, 96 << 20);
        for command in [wire::CMD_WRITE_ZEROES, wire::CMD_TRIM] {
            client.done((command, 0), all, &[]);
            assert_eq!(client.read(80 << 20, 4096), [0; 4096]);
        }
        running.stop();
    }
}

/// A device of 96 MiB with the pace of the model, in which nothing takes time.
fn without_times() -> Rig<'static> {
    Rig {
        pace: Pace::Model,
        pairs: vec![
            "device.capacity_bytes=96MiB",
            "buffer.capacity_bytes=1MiB",
            "flash.program_us=0",
            "flash.transfer_ns_per_byte=0",
            "host.bus_ns_per_sector=0",
        ],
        ..Rig::default()
    }
}

#[test]
fn a_write_does_not_overtake_long_zeroes_that_came_before() {
    let running = without_times().start();
    let mut client = running.client();
    // The zeroes enter the device in two parts, and the write is for the second part.
    let (zeroes, at) = ((wire::CMD_WRITE_ZEROES, 0), 40 << 20);
    client.send(zeroes, 1, (0, 64 << 20), &[]).unwrap();
    let write = (wire::CMD_WRITE, 0);
    client.send(write, 2, (at, 4096), &[7; 4096]).unwrap();
    for _ in 0..2 {
        assert_eq!(client.receive(|_| 0).unwrap().error, 0);
    }
    assert_eq!(client.read(at, 4096), [7; 4096]);
    assert_eq!(client.read(at + 4096, 4096), [0; 4096]);
    running.stop();
}

/// The settings of a server whose socket is at `path`.
fn settings_at(path: &std::path::Path) -> destage_serve::server::Settings {
    destage_serve::server::Settings {
        place: Place::unix(path),
        control: None,
        export: String::new(),
        read_only: false,
        anywhere: false,
        about: String::new(),
        in_use: Vec::new(),
    }
}

#[test]
fn a_server_removes_no_socket_of_another_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let settings = settings_at(&path);
    let first = Sockets::new(&settings).unwrap();
    std::fs::remove_file(&path).unwrap();
    let second = Sockets::new(&settings).unwrap();
    drop(first);
    assert!(path.exists());
    drop(second);
    assert!(!path.exists());
}

#[test]
fn a_negotiation_that_is_cut_anywhere_harms_nobody() {
    let running = Rig::default().start();
    let Place::Unix(path) = &running.address.place else {
        panic!("a Unix socket");
    };
    let option = |number: u8, data: &[u8]| {
        let length = (data.len() as u32).to_be_bytes();
        [b"IHAVEOPT\0\0\0", &[number][..], &length, data].concat()
    };
    let name = [0, 0, 0, 0, 0, 0];
    let request = [
        &[0x25, 0x60, 0x95, 0x13, 0, 0, 0, 1][..],
        &[0; 8],
        &[0; 8],
        &[0, 0, 2, 0],
        &[7; 512],
    ];
    let said = [
        &[0, 0, 0, 3][..],
        &option(8, &[]),
        &option(6, &name),
        &option(7, &name),
        &request.concat(),
    ]
    .concat();
    for length in 0..said.len() {
        let mut stream = UnixStream::connect(path).unwrap();
        stream.write_all(&said[..length]).unwrap();
    }
    assert_eq!(running.client().read(0, 512), [0; 512], "part of a write");
    let mut stream = UnixStream::connect(path).unwrap();
    stream.write_all(&said).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    // A client that has closed only its sending side still receives the answer.
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.ends_with(&[0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(running.client().read(0, 512), [7; 512]);
    assert!(running.stop().broken.is_none());
}

#[test]
fn a_thousand_connections_and_slow_ones_do_not_keep_others_waiting() {
    let running = Rig::default().start();
    let Place::Unix(path) = &running.address.place else {
        panic!("a Unix socket");
    };
    // 500 connections send nothing, and 500 are served. One more stops in the middle of a request, and one more
    // does not receive its answers.
    let silent: Vec<_> = (0..500)
        .map(|_| UnixStream::connect(path).unwrap())
        .collect();
    let mut served: Vec<_> = (0..500).map(|_| running.client()).collect();
    let mut stuck = running.client();
    stuck
        .send((wire::CMD_WRITE, 0), 1, (0, 1 << 20), &[1; 5000])
        .unwrap();
    let mut deaf = running.client();
    for cookie in 0..60 {
        let range = (0, 1 << 20);
        deaf.send((wire::CMD_READ, 0), cookie, range, &[]).unwrap();
    }
    // If the server waited for the connection that stopped, the other clients would time out.
    for (place, client) in served.iter_mut().enumerate() {
        let offset = (place as u64 % 200) * 4096;
        client.write(offset, &[place as u8; 4096]);
        assert_eq!(client.read(offset, 4096), [place as u8; 4096]);
    }
    // The client that has not received its answers so far can still receive all of them.
    for _ in 0..60 {
        assert_eq!(deaf.receive(|_| 0).unwrap().data.len(), 1 << 20);
    }
    drop((silent, stuck));
    assert!(running.stop().broken.is_none());
}

/// Clients that each send a part of a long message and never its end. Together the messages need more memory than
/// the server grants.
fn endless(running: &Running) -> Vec<Client> {
    let piece = vec![1; 12 << 20];
    let (header, length) = ((wire::CMD_WRITE, 0), 32 << 20);
    let client = |_| {
        let mut client = running.client();
        let brief = Some(Duration::from_millis(100));
        client.set_send_timeout(brief).unwrap();
        // When memory is used up, the server reads nothing more, so this call may time out.
        let _ = client.send(header, 1, (0, length), &piece);
        client.set_timeout(Some(Duration::from_millis(1))).unwrap();
        client
    };
    (0..24).map(client).collect()
}

/// Whether the server still waits for the message that `client` began.
fn is_open(client: &mut Client) -> bool {
    let waits = [ErrorKind::WouldBlock, ErrorKind::TimedOut];
    matches!(client.receive(|_| 0), Err(ClientError::Socket(error)) if waits.contains(&error.kind()))
}

#[test]
fn messages_that_never_end_are_ended_where_memory_runs_out() {
    let pairs = vec!["device.capacity_bytes=32MiB", "flash.program_us=0"];
    let rig = Rig {
        pairs,
        ..Rig::default()
    };
    let running = rig.start();
    let mut small = running.client();
    let mut large = running.client();
    // On a busy machine some of the clients may be closed before the short request arrives. Then the attempt is
    // repeated.
    let mut stuck = Vec::new();
    let waits_for_nobody = (0..5).any(|_| {
        stuck = endless(&running);
        small.write(0, &[5; 4096]);
        assert_eq!(small.read(0, 4096), [5; 4096]);
        stuck.iter_mut().all(is_open)
    });
    assert!(waits_for_nobody, "short requests wait for memory");
    // The long write has its turn after the server has closed the client that has held memory for the longest time.
    large.write(0, &vec![6; 32 << 20]);
    assert!(!is_open(&mut stuck[0]));
    assert_eq!(small.read(0, 4096), [6; 4096]);
    drop(stuck);
    assert!(running.stop().broken.is_none());
}

#[test]
fn a_farewell_waits_for_what_is_under_way() {
    let rig = Rig {
        pace: Pace::Model,
        ..Rig::with(&["flash.program_us=20000"])
    };
    let running = rig.start();
    let mut client = running.client();
    for cookie in 0..4 {
        let range = (cookie * 4096, 4096);
        client
            .send((wire::CMD_WRITE, FUA), cookie, range, &[3; 4096])
            .unwrap();
    }
    client.send((wire::CMD_DISC, 0), 9, (0, 0), &[]).unwrap();
    for _ in 0..4 {
        assert_eq!(client.receive(|_| 0).unwrap().error, 0);
    }
    assert!(client.receive(|_| 0).is_err(), "the connection is closed");
    running.stop();
}

/// The device may take longer than a client may take for its farewell.
#[test]
fn a_farewell_waits_for_a_request_that_takes_long() {
    let rig = Rig {
        pace: Pace::Model,
        patience: Some(Duration::from_secs(2)),
        ..Rig::with(&["flash.program_us=4000000"])
    };
    let running = rig.start();
    let mut client = running.client();
    let began = Instant::now();
    let write = (wire::CMD_WRITE, FUA);
    client.send(write, 1, (0, 4096), &[3; 4096]).unwrap();
    client.send((wire::CMD_DISC, 0), 2, (0, 0), &[]).unwrap();
    let answer = client.receive(|_| 0).unwrap();
    assert_eq!((answer.cookie, answer.error), (1, 0));
    let took = began.elapsed();
    assert!(took > Duration::from_secs(3), "{took:?}");
    assert!(client.receive(|_| 0).is_err(), "the connection is closed");
    running.stop();
}

/// A write that has to wait for a part of earlier zeroes is answered, although its client sends nothing more.
#[test]
fn a_client_that_only_receives_gets_the_answers_of_requests_that_wait() {
    let running = without_times().start();
    let Place::Unix(path) = &running.address.place else {
        panic!("a Unix socket");
    };
    let request = |kind: u16, cookie: u64, offset: u64, length: u32| {
        [
            &[0x25_u8, 0x60, 0x95, 0x13, 0, 0][..],
            &kind.to_be_bytes(),
            &cookie.to_be_bytes(),
            &offset.to_be_bytes(),
            &length.to_be_bytes(),
        ]
        .concat()
    };
    // The zeroes enter the device in two parts, and the write is for the second part.
    let at = 40 << 20;
    let said = [
        &[0_u8, 0, 0, 3][..],
        b"IHAVEOPT\0\0\0\x07\0\0\0\x06",
        &[0; 6],
        &request(wire::CMD_WRITE_ZEROES, 1, 0, 64 << 20),
        &request(wire::CMD_WRITE, 2, at, 4096),
        &[7; 4096],
    ]
    .concat();
    let mut stream = UnixStream::connect(path).unwrap();
    let patience = Duration::from_secs(20);
    stream.set_read_timeout(Some(patience)).unwrap();
    stream.write_all(&said).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answers = Vec::new();
    stream.read_to_end(&mut answers).unwrap();
    // The two replies are the last bytes. The device may complete the requests in any order.
    let replies = answers[answers.len() - 32..].chunks(16);
    let mut cookies: Vec<u64> = replies
        .map(|reply| {
            let (head, cookie) = reply.split_at(8);
            assert_eq!(head, [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0]);
            u64::from_be_bytes(cookie.try_into().unwrap())
        })
        .collect();
    cookies.sort_unstable();
    assert_eq!(cookies, [1, 2]);
    let mut client = running.client();
    assert_eq!(client.read(at, 4096), [7; 4096]);
    assert_eq!(client.read(at + 4096, 4096), [0; 4096]);
    running.stop();
}

#[test]
fn requests_take_the_time_of_the_model() {
    const PROGRAM: Duration = Duration::from_millis(30);
    let rig = Rig {
        pace: Pace::Model,
        ..Rig::with(&["flash.program_us=30000", "flash.dies=1"])
    };
    let running = rig.start();
    let mut client = running.client();
    let began = Instant::now();
    client.done((wire::CMD_WRITE, FUA), (0, 4096), &[1; 4096]);
    let one = began.elapsed();
    assert!(one >= PROGRAM, "{one:?}");
    let buffered = (0..20).map(|_| {
        let began = Instant::now();
        client.write(8192, &[1; 4096]);
        began.elapsed()
    });
    let buffered: Vec<_> = buffered.collect();
    // Only the quickest write is checked, because the machine may be busy.
    let quickest = buffered.iter().min().unwrap();
    assert!(*quickest < Duration::from_millis(25), "it is buffered");
    // The reported lateness must not exceed what the client measured.
    let most = buffered.into_iter().fold(one - PROGRAM, Duration::max);
    let mut operator = Operator::connect(&running.control).unwrap();
    let stats = operator.ask("stats").unwrap();
    let late = stats["late_p99_ms"].as_f64().unwrap();
    assert!(late <= most.as_secs_f64() * 1000.0, "{late} of {most:?}");
    running.stop();
}

#[test]
fn at_its_end_a_server_answers_what_is_under_way_and_flushes() {
    let rig = Rig {
        pace: Pace::Model,
        // A program takes ten minutes, which is longer than any delay on a busy machine.
        ..Rig::with(&["flash.program_us=600000000"])
    };
    let running = rig.start();
    let mut client = running.client();
    for page in 0..3 {
        let flags = if page == 0 { FUA } else { 0 };
        let range = (page * 4096, 4096);
        client
            .send((wire::CMD_WRITE, flags), page, range, &[4; 4096])
            .unwrap();
    }
    // The two writes without FUA are answered at once. When both answers have arrived, the server has received all
    // three writes.
    for _ in 0..2 {
        assert_ne!(client.receive(|_| 0).unwrap().cookie, 0);
    }
    let began = Instant::now();
    let ended = running.stop();
    assert!(began.elapsed() < Duration::from_secs(300), "it hurries");
    let answer = client.receive(|_| 0).unwrap();
    assert_eq!((answer.cookie, answer.error), (0, 0));
    assert!(client.receive(|_| 0).is_err());
    let count = |name| ended.metrics.get(name);
    assert_eq!(count("host.requests"), Some(Number::Integer(3)));
    assert_eq!(count("host.completed"), Some(Number::Integer(3)));
}

#[test]
fn sockets_are_for_their_owner_and_are_taken_over_only_from_the_dead() {
    let running = Rig::default().start();
    let Place::Unix(path) = running.address.place.clone() else {
        panic!("a Unix socket");
    };
    for path in [&path, &running.control] {
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let bind = |place: &std::path::Path| {
        let settings = settings_at(place);
        let mut words = destage_sim::settings::Settings::new();
        words.set_pair("device.capacity_bytes=1MiB").unwrap();
        let (config, _) = destage_serve::configuration(&words).unwrap();
        let observer = Box::new(destage_sim::observer::Silent);
        let live = destage_sim::run::live::Live::new(&config, observer).unwrap();
        let front = destage_serve::device::Front::new(live, Pace::None);
        destage_serve::server::Server::bind(&settings, front, None).map(|_| ())
    };
    let error = bind(&path).unwrap_err().to_string();
    assert!(error.contains("a server listens there"), "{error}");
    let plain = running.folder.path().join("file");
    std::fs::write(&plain, "x").unwrap();
    let error = bind(&plain).unwrap_err().to_string();
    assert!(error.contains("is not a socket"), "{error}");
    let stale = running.folder.path().join("stale");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    assert!(bind(&stale).is_ok());
    assert!(!stale.exists(), "it is removed at the end");
    running.stop();
    assert!(!path.exists());
}

#[test]
fn other_machines_are_served_only_if_that_is_meant() {
    let running = Rig {
        tcp: true,
        export: "disk",
        ..Rig::default()
    }
    .start();
    let mut client = running.client();
    client.write(0, &[1; 512]);
    assert_eq!(client.bytes % 4096, 0);
    assert!(client.bytes >= BYTES);
    let other = Address {
        export: "other".to_owned(),
        ..running.address.clone()
    };
    let error = Client::connect(&other, true).err().unwrap().to_string();
    assert!(error.contains("no such export"), "{error}");
    running.stop();
}

#[test]
fn operators_are_answered_line_by_line() {
    let running = Rig::default().start();
    let mut client = running.client();
    client.write(0, &[1; 4096]);
    let mut operator = Operator::connect(&running.control).unwrap();
    let stats = operator.ask("stats").unwrap();
    assert_eq!(stats["clients"], 1);
    assert_eq!(stats["metrics"]["host.page_writes"], 1);
    assert_eq!(stats["metrics"]["buffer.dirty_at_end"], 1);
    operator.ask("flush").unwrap();
    let stats = operator.ask("stats").unwrap();
    assert_eq!(stats["metrics"]["buffer.dirty_at_end"], 0);
    let error = operator.ask("melt").unwrap_err().to_string();
    assert!(error.contains("is not known here"), "{error}");
    let mut stream = UnixStream::connect(&running.control).unwrap();
    stream.write_all(&[b'x'; 70_000]).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("a line of more than"), "{text}");
    operator.ask("stop").unwrap();
    assert!(running.stop().broken.is_none());
}
