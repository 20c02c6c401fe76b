//! Tests of a server whose power fails, and of the contents after the power is restored.

#![allow(clippy::unwrap_used, reason = "a test says where it failed")]

use crate::kit;

use std::os::unix::fs::FileTypeExt;

use destage_base::Random;
use destage_serve::client::Client;
use destage_serve::control::{Operator, OperatorError};
use destage_serve::device::Pace;
use destage_serve::media::Place;
use destage_serve::protocol::wire;
use serde_json::{Map, Value, json};

use kit::{Asks, BYTES, FUA, Rig, Running};

fn operator(running: &Running) -> Operator {
    Operator::connect(&running.control).unwrap()
}

/// The error with which the server refuses `order`.
fn refused(operator: &mut Operator, order: &Value) -> String {
    match operator.order(order) {
        Err(OperatorError::Refused { error, .. }) => error,
        other => panic!("{order}: {other:?}"),
    }
}

/// Sends random commands. Returns `true` if the server closed the connection before all `rounds` were sent.
fn load(client: &mut Client, seed: u64, rounds: u32) -> bool {
    let mut random = Random::new(seed);
    for _ in 0..rounds {
        let sectors = 1 + random.below(40);
        let first = random.below(BYTES / 512 - sectors);
        let range = (first * 512, (sectors * 512) as u32);
        let fua = if random.below(8) == 0 { FUA } else { 0 };
        let data: Vec<u8> = (0..sectors * 512)
            .map(|_| random.below(256) as u8)
            .collect();
        let asked = match random.below(12) {
            0..6 => client.ask((wire::CMD_WRITE, fua), range, &data),
            6..8 => client.ask((wire::CMD_READ, 0), range, &[]),
            8 => client.ask((wire::CMD_WRITE_ZEROES, fua), range, &[]),
            9 => client.ask((wire::CMD_TRIM, fua), range, &[]),
            _ => client.ask((wire::CMD_FLUSH, 0), (0, 0), &[]),
        };
        match asked {
            Ok(answer) => assert_eq!(answer.error, 0),
            Err(_) => return true,
        }
    }
    false
}

/// For each moment of `moments`, three clients write until the power fails at this moment. No promised data may be
/// lost.
fn cut_under_load(rig: &Rig<'_>, moments: &[Value]) {
    let running = rig.start();
    let mut operator = operator(&running);
    for (round, moment) in (0..).zip(moments) {
        let clients = [0, 1, 2].map(|_| running.client());
        let workers = (0..).zip(clients).map(|(number, mut client)| {
            std::thread::spawn(move || load(&mut client, 100 * round + number, 1_000_000))
        });
        let workers: Vec<_> = workers.collect();
        let mut order = moment.clone();
        order["do"] = "cut".into();
        order["seed"] = round.into();
        let cut = operator.order(&order).unwrap();
        assert!(cut["model_ms"].as_f64().is_some(), "{cut:?}");
        for worker in workers {
            assert!(worker.join().unwrap(), "clients are dropped");
        }
        assert!(Client::connect(&running.address, true).is_err());
        let restored = operator.ask("restore").unwrap();
        assert!(restored["mount_ms"].as_f64().unwrap() > 0.0);
        let checked = operator.ask("check").unwrap();
        assert_eq!(checked["bad"], json!([]), "{moment} {:?}", rig.pairs);
        assert_eq!(checked["bad_sectors"], 0);
    }
    assert!(!load(&mut running.client(), 7, 200));
    assert_eq!(operator.ask("check").unwrap()["bad_sectors"], 0);
    assert!(running.stop().broken.is_none());
}

const MOMENTS: [fn(u64) -> Value; 4] = [
    |number| json!({"at_write": number}),
    |number| json!({"at_flush": number}),
    |number| json!({"at_program": number}),
    |number| json!({"at_ms": number}),
];

#[test]
fn nothing_promised_is_lost_under_every_scheme() {
    for (number, row) in (0..).zip(destage_sim::settings::Settings::new().schemes()) {
        if row.needs_future() {
            continue;
        }
        let scheme = format!("buffer.kind={}", row.name);
        let moment = |step: u64| MOMENTS[((number + step) % 4) as usize](20 + 31 * step);
        cut_under_load(&Rig::with(&[&scheme]), &[moment(0), moment(1), moment(2)]);
    }
}

#[test]
fn nothing_promised_is_lost_over_every_layer() {
    for row in destage::ftl::FTLS.iter().filter(|row| row.has_flash) {
        let layer = format!("ftl.kind={}", row.name);
        let rig = Rig::with(&[&layer, "buffer.kind=bplru"]);
        cut_under_load(
            &rig,
            &[
                json!({"at_program": 100}),
                json!({}),
                json!({"at_write": 30}),
            ],
        );
    }
}

#[test]
fn nothing_promised_is_lost_in_the_time_of_the_model() {
    for pairs in [
        &["buffer.kind=lru"][..],
        &["buffer.kind=lru", "device.vwc=off"],
        &["buffer.kind=epo", "device.plp=0.001"],
        &["buffer.kind=fab", "device.trim=strict"],
        &["buffer.kind=nocache", "ftl.kind=fast"],
    ] {
        let mut rig = Rig::with(pairs);
        rig.pace = Pace::Model;
        cut_under_load(&rig, &[0, 1, 2, 3].map(|way| MOMENTS[way](15)));
    }
}

fn until_armed(operator: &mut Operator) {
    while operator.ask("stats").unwrap()["armed"] == json!(false) {}
}

/// Sends the same requests on one connection until the armed cut happens. Returns the answer to the cut, the answer
/// to the restore, the contents, and the ledger.
fn repeated(moment: &Value) -> (Map<String, Value>, Map<String, Value>, Vec<u8>, String) {
    let rig = Rig::with(&[
        "buffer.kind=lru",
        "device.plp=0.0004",
        "flash.program_uj=50",
    ]);
    let running = rig.start();
    let mut operator = operator(&running);
    let mut second = Operator::connect(&running.control).unwrap();
    let order = moment.clone();
    let waits = std::thread::spawn(move || second.order(&order).unwrap());
    until_armed(&mut operator);
    assert!(load(&mut running.client(), 5, 1_000_000));
    let cut = waits.join().unwrap();
    let file = running.folder.path().join("ledger.csv");
    let known = operator
        .order(&json!({"do": "ledger", "to": file}))
        .unwrap();
    assert_eq!(known["file"], json!(file));
    let ledger = std::fs::read_to_string(&file).unwrap();
    let restored = operator.ask("restore").unwrap();
    let contents = running.client().read(0, BYTES as u32);
    running.stop();
    (cut, restored, contents, ledger)
}

#[test]
fn an_armed_cut_repeats_exactly() {
    for way in MOMENTS {
        let mut moment = way(40);
        moment["do"] = "cut".into();
        moment["seed"] = 3.into();
        let (first, second) = (repeated(&moment), repeated(&moment));
        assert_eq!(first, second);
        // When a flush arrives, there may be no data that the capacitor has to save.
        let energy = first.0["energy_j"].as_f64().unwrap();
        assert!(energy > 0.0 || moment.get("at_flush").is_some(), "{moment}");
        assert!(first.3.starts_with("sector,must,may\n"));
        assert!(first.3.lines().count() > 100);
        let (_, _, contents, _) = repeated(&json!({"do": "cut", "seed": 3, "at_write": 10}));
        assert!(first.2 != contents, "another moment leaves something else");
    }
}

#[test]
fn a_ledger_replaces_what_a_link_names_and_no_device() {
    let running = Rig::default().start();
    let mut operator = operator(&running);
    running.client().write(0, &[7; 4096]);
    let at = |name: &str| running.folder.path().join(name);
    std::fs::write(at("ledger.csv"), "before").unwrap();
    std::os::unix::fs::symlink("ledger.csv", at("link")).unwrap();
    // This link to an open file of the process takes the role of a link to a device node, for which the test would
    // need more rights. The data must go to the target of the link, and the link must remain.
    let open = std::fs::File::create(at("open")).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&open);
    std::os::unix::fs::symlink(format!("/proc/self/fd/{number}"), at("stands")).unwrap();
    for name in ["link", "stands"] {
        operator
            .order(&json!({"do": "ledger", "to": at(name)}))
            .unwrap();
        assert!(at(name).symlink_metadata().unwrap().is_symlink(), "{name}");
    }
    for name in ["ledger.csv", "open"] {
        let text = std::fs::read_to_string(at(name)).unwrap();
        assert!(text.starts_with("sector,must,may\n"), "{name}: {text}");
    }
    running.stop();
}

#[test]
fn orders_in_the_wrong_order_are_refused_and_change_nothing() {
    let running = Rig::default().start();
    let mut operator = operator(&running);
    let mut client = running.client();
    client.write(0, &[7; 4096]);
    let pipe = running.folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for (order, expected) in [
        (json!({"do": "restore"}), "the power is on"),
        (json!({"do": "cancel"}), "no cut is armed"),
        (json!({"do": "cut", "at_write": 0}), "from 1 on"),
        (
            json!({"do": "cut", "at_write": 1, "at_flush": 1}),
            "expected one of them",
        ),
        (
            json!({"do": "ledger", "to": "/nowhere/at/all"}),
            "/nowhere/at/all: cannot be written",
        ),
        (
            json!({"do": "ledger", "to": pipe}),
            "is a pipe, which may block the server",
        ),
    ] {
        let said = refused(&mut operator, &order);
        assert!(said.contains(expected), "{said}");
    }
    let kind = pipe.symlink_metadata().unwrap().file_type();
    assert!(kind.is_fifo(), "the pipe is as it was");
    assert_eq!(client.read(0, 4096), [7; 4096]);
    client.flush();
    operator.ask("cut").unwrap();
    for (order, expected) in [
        (json!({"do": "cut"}), "off already"),
        (json!({"do": "cut", "at_write": 1}), "off already"),
        (json!({"do": "cancel"}), "no cut is armed"),
        (json!({"do": "flush"}), "the power is off"),
        (json!({"do": "check"}), "the power is off"),
    ] {
        let said = refused(&mut operator, &order);
        assert!(said.contains(expected), "{said}");
    }
    let stats = operator.ask("stats").unwrap();
    assert_eq!(
        (&stats["power"], &stats["clients"]),
        (&json!("off"), &json!(0))
    );
    // The counts end at the power failure.
    assert_eq!(
        (&stats["writes"], &stats["flushes"]),
        (&json!(1), &json!(1))
    );
    assert!(stats["metrics"]["flash.programs"].as_u64().unwrap() > 0);
    assert!(Client::connect(&running.address, true).is_err());
    let known = operator.ask("ledger").unwrap();
    assert_eq!(
        [&known["sectors"], &known["must"], &known["may"]],
        [8, 8, 0].map(|n| json!(n)).each_ref()
    );
    operator.ask("restore").unwrap();
    assert!(refused(&mut operator, &json!({"do": "restore"})).contains("the power is on"));
    assert_eq!(running.client().read(0, 4096), [7; 4096]);
    running.stop();
}

#[test]
fn a_cut_that_is_armed_can_be_cancelled() {
    let running = Rig::default().start();
    let mut second = operator(&running);
    let waits = std::thread::spawn({
        let mut first = operator(&running);
        move || refused(&mut first, &json!({"do": "cut", "at_write": 3}))
    });
    until_armed(&mut second);
    let mut client = running.client();
    client.write(0, &[1; 4096]);
    second.ask("cancel").unwrap();
    assert_eq!(waits.join().unwrap(), "the cut was cancelled");
    assert_eq!(second.ask("stats").unwrap()["armed"], json!(false));
    for page in 0..10 {
        client.write(page * 4096, &[2; 4096]);
    }
    // The cut stays armed when its operator disconnects.
    let mut gone = std::os::unix::net::UnixStream::connect(&running.control).unwrap();
    std::io::Write::write_all(&mut gone, b"{\"do\": \"cut\", \"at_write\": 3}\n").unwrap();
    until_armed(&mut second);
    drop(gone);
    second.ask("cancel").unwrap();
    for page in 0..10 {
        client.write(page * 4096, &[3; 4096]);
    }
    assert_eq!(client.read(4096, 4096), [3; 4096]);
    assert_eq!(second.ask("stats").unwrap()["power"], json!("on"));
    assert!(running.stop().broken.is_none());
}

#[test]
fn one_cut_is_waited_for_and_who_goes_away_does_not_stand_in_the_way() {
    let running = Rig::default().start();
    let mut second = operator(&running);
    let waits = std::thread::spawn({
        let mut first = operator(&running);
        move || refused(&mut first, &json!({"do": "cut", "at_write": 1000}))
    });
    until_armed(&mut second);
    let another = json!({"do": "cut", "at_write": 1});
    assert!(refused(&mut second, &another).contains("armed already"));
    // A cut without a moment does not wait for the armed cut.
    assert_eq!(second.ask("cut").unwrap()["programs"], 0);
    assert_eq!(waits.join().unwrap(), "another order cut the power before");
    second.ask("restore").unwrap();
    let mut first = std::os::unix::net::UnixStream::connect(&running.control).unwrap();
    std::io::Write::write_all(&mut first, b"{\"do\": \"cut\", \"at_flush\": 1000000}\n").unwrap();
    until_armed(&mut second);
    drop(first);
    let mut client = running.client();
    let loaded = std::thread::spawn(move || load(&mut client, 5, 1_000_000));
    // The server accepts the order as soon as it has noticed that the first operator is gone.
    while let Err(error) = second.order(&another) {
        assert!(matches!(error, OperatorError::Refused { .. }), "{error}");
    }
    assert!(loaded.join().unwrap());
    second.ask("restore").unwrap();
    let waits = std::thread::spawn({
        let mut third = operator(&running);
        move || refused(&mut third, &json!({"do": "cut", "at_flush": 1_000_000}))
    });
    until_armed(&mut second);
    assert!(running.stop().broken.is_none());
    assert_eq!(waits.join().unwrap(), "the server ends");
    // A server without power ends without an error.
    let running = Rig::default().start();
    operator(&running).ask("cut").unwrap();
    let ended = running.stop();
    assert!(ended.broken.is_none());
}

#[test]
fn the_last_flush_of_a_server_is_not_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash");
    let rig = Rig::with(&["buffer.kind=lru"]);
    let running = rig.start_at(Place::Image(&path));
    running.client().write(0, &[7; 4096]);
    let waits = std::thread::spawn({
        let mut first = operator(&running);
        move || refused(&mut first, &json!({"do": "cut", "at_flush": 1}))
    });
    until_armed(&mut operator(&running));
    assert!(running.stop().unsaved.is_none());
    assert_eq!(waits.join().unwrap(), "the server ends");
    let running = rig.start_at(Place::Image(&path));
    assert_eq!(running.client().read(0, 4096), [7; 4096]);
    running.stop();
}

#[test]
fn the_time_of_the_model_goes_on_at_the_end_of_a_mount() {
    let rig = Rig {
        pace: Pace::Model,
        ..Rig::with(&["flash.read_us=20000"])
    };
    let running = rig.start();
    let mut operator = operator(&running);
    operator.ask("cut").unwrap();
    let restored = operator.ask("restore").unwrap();
    let stats = operator.ask("stats").unwrap();
    let times = [&stats["model_ms"], &restored["mount_ms"]];
    let [now, mount] = times.map(|time| time.as_f64().unwrap());
    assert!(now >= mount, "{now} ms after a mount of {mount} ms");
    running.stop();
}

#[test]
fn what_was_not_promised_is_lost_and_what_was_is_not() {
    let running = Rig::with(&["buffer.kind=lru"]).start();
    let mut operator = operator(&running);
    let mut client = running.client();
    client.write(0, &[1; 4096]);
    client.done((wire::CMD_WRITE, FUA), (8192, 4096), &[2; 4096]);
    client.write(4096, &[3; 4096]);
    operator.ask("cut").unwrap();
    let restored = operator.ask("restore").unwrap();
    assert_eq!(restored["bad_sectors"], 0);
    let mut client = running.client();
    assert_eq!(client.read(0, 8192), [0; 8192]);
    assert_eq!(client.read(8192, 4096), [2; 4096]);
    // The ledger promises the contents that the mount has found. Another cut must keep them.
    let known = operator.ask("ledger").unwrap();
    assert_eq!(
        [&known["must"], &known["may"]],
        [24, 0].map(|n| json!(n)).each_ref()
    );
    operator.ask("cut").unwrap();
    operator.ask("restore").unwrap();
    assert_eq!(running.client().read(8192, 4096), [2; 4096]);
    running.stop();
}

#[test]
fn a_check_finds_what_a_capacitor_that_failed_has_lost() {
    // The drive answers flushes at once, because it relies on a capacitor that does not work. The mount must report
    // the loss.
    let rig = Rig::with(&["buffer.kind=lru", "buffer.flush_mode=ignore"]);
    let running = rig.start();
    let mut operator = operator(&running);
    let mut client = running.client();
    client.write(0, &[1; 4096]);
    client.flush();
    operator.ask("cut").unwrap();
    let restored = operator.ask("restore").unwrap();
    assert_eq!(restored["lost"], json!({"energy": 8}));
    assert_eq!(operator.ask("check").unwrap()["bad_sectors"], 0);
    running.stop();
}
