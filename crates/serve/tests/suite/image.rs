//! Tests of images: a reopened image has the same contents, and can only be opened with the parameters of the device
//! that made it.

#![allow(clippy::unwrap_used, reason = "a test says where it failed")]

use crate::kit;
use crate::tape;

use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use destage::ftl::FTLS;
use destage_base::Random;
use destage_device::RequestKind;
use destage_device::backed::Fault;
use destage_serve::configuration;
use destage_serve::device::{Pace, Sync};
use destage_serve::media::{Place, open};
use destage_serve::protocol::{ErrorCode, wire};
use destage_sim::observer::Silent;
use destage_sim::run::live::{Live, Media};
use destage_sim::settings::Settings;

use kit::{Asks, FUA, Rig};
use tape::{Tape, ask, blank, live, settings};

#[test]
fn a_file_that_takes_no_more_ends_the_device_and_keeps_what_was_promised() {
    let (config, _) = configuration(&settings(&["device.capacity_bytes=1MiB"])).unwrap();
    let tape = Arc::new(Tape::of(&config, blank(&config)));
    let mut rig = Rig::with(&[]);
    rig.pairs = vec!["device.capacity_bytes=1MiB"];
    rig.pace = Pace::Model;
    let of_server = tape.clone();
    let running = rig.start_over(move || (Media::Image(of_server, 0), None));
    let mut client = running.client();
    client.write(0, &[7; 4096]);
    client.flush();
    client.write(4096, &[8; 4096]);
    *tape.fault.lock().unwrap() = Some(Fault::Full);
    let full = ErrorCode::NoSpace as u32;
    assert_eq!(client.error((wire::CMD_FLUSH, 0), (0, 0), &[]), full);
    *tape.fault.lock().unwrap() = None;
    assert_eq!(client.error((wire::CMD_FLUSH, 0), (0, 0), &[]), full);
    assert!(running.stop().broken.is_some());
    let device = live(&config, &tape);
    let mut bytes = Vec::new();
    device.read(0, 8, &mut bytes).unwrap();
    assert!(bytes == [7; 4096]);
}

fn with_bytes(path: &Path, offset: u64, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, offset).unwrap();
}

#[test]
fn opened_again_it_holds_what_was_written_and_how_worn_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash");
    let rig = Rig::with(&["buffer.kind=fab", "ftl.kind=fast"]);
    let mut random = Random::new(3);
    let mut model = vec![0; kit::BYTES as usize];
    let mut erases = 0.0;
    for round in 0..6u8 {
        // In every second round most parameters are not set, and have the values of the image.
        let rig = if round % 2 == 0 {
            &rig
        } else {
            &Rig {
                pairs: vec!["buffer.capacity_bytes=32KiB"],
                ..Rig::default()
            }
        };
        let running = rig.start_at(Place::Image(&path));
        let mut client = running.client();
        assert!(client.read(0, kit::BYTES as u32) == model, "round {round}");
        for _ in 0..300 {
            let at = 512 * random.below(kit::BYTES / 512 - 16);
            client.done((wire::CMD_WRITE, 0), (at, 4608), &[round + 1; 4608]);
            model[at as usize..at as usize + 4608].fill(round + 1);
        }
        client.done((wire::CMD_WRITE, FUA), (0, 512), &[round; 512]);
        model[..512].fill(round);
        let ended = running.stop();
        assert!(ended.unsaved.is_none() && ended.broken.is_none());
        let mean = match ended.metrics.get("wear.erase_mean") {
            Some(destage_sim::metrics::Number::Real(mean)) => mean,
            other => panic!("{other:?}"),
        };
        assert!(mean > erases, "round {round}: {mean} after {erases}");
        erases = mean;
    }
}

#[test]
fn another_device_and_what_is_no_image_are_refused_by_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash");
    let base = [
        "device.capacity_bytes=1MiB",
        "flash.dies=2",
        "flash.pages_per_block=8",
    ];
    let with = |pairs: &[&str]| settings(&[&base[..], pairs].concat());
    #[track_caller]
    fn refused(settings: &Settings, path: &Path) -> String {
        let opened = open(settings, Place::Image(path), false);
        let error = opened.err().expect("it is refused").to_string();
        assert_eq!(error.lines().count(), 1);
        error
    }
    let text = refused(&with(&["sim.precondition=sequential_fill"]), &path);
    assert!(text.contains("expected none"), "{text}");
    assert!(!path.exists());
    drop(open(&with(&[]), Place::Image(&path), false).unwrap());
    let first = open(&with(&[]), Place::Image(&path), false).unwrap();
    assert!(refused(&with(&[]), &path).contains("the file is already in use"));
    drop(first);
    for (pair, expected) in [
        (
            "flash.dies=4",
            "flash.dies: the image was made with 2, but the option says 4",
        ),
        (
            "flash.page_bytes=8192",
            "flash.page_bytes: the image was made with 4096, but the option says 8192",
        ),
        (
            "ftl.kind=bast",
            "ftl.kind: the image was made with page, but the option says bast",
        ),
        (
            "ftl.reserve_percent=30",
            "ftl.reserve_percent: the image was made with 15, but the option says 30",
        ),
        (
            "device.capacity_bytes=64MiB",
            "flash.blocks_per_plane: the image was made with",
        ),
    ] {
        let text = refused(&with(&[pair]), &path);
        assert!(text.contains(expected), "{text}");
    }
    assert!(open(&settings(&[]), Place::Image(&path), false).is_ok());

    let length = std::fs::metadata(&path).unwrap().len();
    let copy = |name: &str| {
        let copy = folder.path().join(name);
        std::fs::copy(&path, &copy).unwrap();
        copy
    };
    let short = copy("short");
    OpenOptions::new()
        .write(true)
        .open(&short)
        .unwrap()
        .set_len(length - 4096)
        .unwrap();
    let text = refused(&with(&[]), &short);
    assert!(
        text.contains(&format!("has {} bytes", length - 4096)),
        "{text}"
    );
    let stub = copy("stub");
    OpenOptions::new()
        .write(true)
        .open(&stub)
        .unwrap()
        .set_len(100)
        .unwrap();
    assert!(refused(&with(&[]), &stub).contains("has 100 bytes"));
    let spoilt = copy("spoilt");
    with_bytes(&spoilt, 40, b"9");
    assert!(refused(&with(&[]), &spoilt).contains("the header is damaged"));
    let older = copy("older");
    with_bytes(&older, 14, b"1");
    let text = refused(&with(&[]), &older);
    let expected = "is an image of version \"1\"; expected 2";
    assert!(text.contains(expected), "{text}");
    let other = folder.path().join("other");
    std::fs::write(&other, vec![b'x'; 8192]).unwrap();
    assert!(refused(&with(&[]), &other).contains("is not an image"));
}

#[test]
fn a_page_that_is_not_what_was_programmed_is_an_error_and_not_other_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash");
    let rig = Rig::with(&["buffer.kind=nocache"]);
    let running = rig.start_at(Place::Image(&path));
    let mut client = running.client();
    client.write(0, &[b'q'; 4096]);
    client.write(4096, &[b'r'; 4096]);
    running.stop();
    let bytes = std::fs::read(&path).unwrap();
    let at = bytes
        .windows(4096)
        .position(|window| window == [b'q'; 4096]);
    with_bytes(&path, at.unwrap() as u64 + 100, b"z");
    let running = rig.start_at(Place::Image(&path));
    let mut client = running.client();
    let mut operator = destage_serve::control::Operator::connect(&running.control).unwrap();
    assert_eq!(operator.ask("check").unwrap()["bad_sectors"], 8);
    let io = ErrorCode::Io as u32;
    assert_eq!(client.error((wire::CMD_READ, 0), (0, 512), &[]), io);
    assert_eq!(client.read(4096, 4096), [b'r'; 4096]);
    // A write of a part of the page needs the rest of the page, and so fails. Other pages are not affected.
    let part = [b't'; 512];
    assert_eq!(client.error((wire::CMD_WRITE, 0), (512, 512), &part), io);
    client.write(4096, &[b'u'; 512]);
    client.write(4096, &[b'r'; 512]);
    client.flush();
    assert_eq!(client.read(4096, 4096), [b'r'; 4096]);
    // A loss of power makes the damage neither better nor worse.
    operator.ask("cut").unwrap();
    operator.ask("restore").unwrap();
    assert_eq!(operator.ask("check").unwrap()["bad_sectors"], 8);
    let mut client = running.client();
    assert_eq!(client.error((wire::CMD_READ, 0), (0, 512), &[]), io);
    client.write(8192, &[b'v'; 4096]);
    client.flush();
    assert_eq!(client.read(4096, 4096), [b'r'; 4096]);
    client.write(0, &[b's'; 4096]);
    assert_eq!(client.read(0, 4096), [b's'; 4096]);
    running.stop();
}

#[test]
fn what_a_cut_takes_back_is_taken_back_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    // With only two spare blocks in a die, page mapping might find no free block after a cut. So the reserve is
    // larger here.
    let roomy = "ftl.reserve_percent=40";
    for (layer, more) in [
        ("ftl.kind=page", roomy),
        ("ftl.kind=fast", "device.vwc=on"),
        ("ftl.kind=bast", "device.vwc=on"),
    ] {
        let path = folder.path().join(layer);
        let rig = Rig {
            pace: Pace::Model,
            ..Rig::with(&["buffer.kind=lru", layer, more])
        };
        let mut random = Random::new(9);
        for round in 0..12u8 {
            let running = rig.start_at(Place::Image(&path));
            let mut client = running.client();
            let mut operator = destage_serve::control::Operator::connect(&running.control).unwrap();
            for cookie in 0..90 {
                let at = 512 * random.below(kit::BYTES / 512 - 16);
                let data = vec![round + 1; 8192];
                client
                    .send((wire::CMD_WRITE, 0), cookie, (at, 8192), &data)
                    .unwrap();
            }
            for _ in 0..20 + 5 * round {
                assert_eq!(client.receive(|_| 0).unwrap().error, 0);
            }
            operator.ask("cut").unwrap();
            let restored = operator.ask("restore").unwrap();
            assert_eq!(restored["bad_sectors"], 0);
            let read = running
                .client()
                .told((wire::CMD_READ, 0), (0, kit::BYTES as u32), &[]);
            let ended = running.stop();
            assert!(read.error == 0, "{layer} {round}: {:?}", ended.broken);
            let found = read.data;
            let running = rig.start_at(Place::Image(&path));
            assert!(
                running.client().read(0, kit::BYTES as u32) == found,
                "{layer} {round}"
            );
            running.stop();
        }
    }
}

#[test]
fn images_and_files_behind_the_buffer_are_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made");
    for place in [Place::Image(&path), Place::Backing(&path)] {
        drop(open(&settings(&["device.capacity_bytes=1MiB"]), place, false).unwrap());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{place:?}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// A new image is first written under a temporary name. It replaces no file, and the target of a link is made.
#[test]
fn a_new_image_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("made", at("link")).unwrap();
    let pairs = settings(&["device.capacity_bytes=1MiB"]);
    drop(open(&pairs, Place::Image(&at("link")), false).unwrap());
    let entries = folder.path().read_dir().unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["link", "made"]);
    assert!(at("link").is_symlink() && at("made").is_file());
}

/// Opens the image at `path`. The device has a ledger, so that the test can cut its power.
fn opened(path: &Path, pairs: &[&str]) -> (Live<'static>, Sync) {
    let opened = open(&settings(pairs), Place::Image(path), false).unwrap();
    let mut live = Live::on(&opened.config, opened.media, Box::new(Silent)).unwrap();
    live.keep_ledger();
    (live, opened.sync.unwrap())
}

fn bytes_of(live: &Live<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    live.read(0, live.sectors() as u32, &mut bytes).unwrap();
    bytes
}

#[test]
fn what_a_mount_has_shown_as_zeros_stays_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let layers = FTLS.iter().filter(|row| row.has_flash);
    for (pages, row) in layers.flat_map(|row| [(16, row), (100, row), (250, row)]) {
        let path = folder.path().join(format!("{}-{pages}", row.name));
        let layer = format!("ftl.kind={}", row.name);
        let pairs = [
            "device.capacity_bytes=1MiB",
            "flash.dies=2",
            "flash.planes_per_die=1",
            "flash.pages_per_block=8",
            "buffer.kind=nocache",
            &layer,
        ];
        let (mut live, mut sync) = opened(&path, &pairs);
        for page in 0..pages {
            ask(
                &mut live,
                RequestKind::Write,
                8 * page..8 * page + 8,
                false,
                1,
            )
            .unwrap();
        }
        ask(&mut live, RequestKind::Trim, 0..8 * pages, false, 0).unwrap();
        for _ in 0..30 {
            ask(&mut live, RequestKind::Write, 2000..2008, true, 2).unwrap();
        }
        ask(&mut live, RequestKind::Flush, 0..0, false, 0).unwrap();
        sync().unwrap();
        let at = live.now();
        let (off, _) = live.fail(at, None);
        let Ok((live, restored)) = off.restore(at) else {
            panic!("{layer}: it is mounted");
        };
        assert_eq!(restored.bad, 0);
        let shown = bytes_of(&live);
        // Dropping the device has the effect of killing the process: nothing more is written.
        drop((live, sync));
        let (live, _) = opened(&path, &[]);
        assert!(bytes_of(&live) == shown, "{layer}, {pages} pages");
    }
}
