//! Tests with images that are damaged at random places. Either the damaged image is refused, or reads of damaged
//! pages return an error. No page ever returns wrong bytes.
//!
//! `DESTAGE_FLIPS` is the number of damages (default 260; `make flips` uses 10000), and `DESTAGE_SEED` is the seed
//! (default 1).

#![allow(clippy::unwrap_used, reason = "a test says where it failed")]
#![allow(
    clippy::print_stdout,
    reason = "how much was tried is said to who asks for it"
)]

use crate::tape;

use std::fs::OpenOptions;
use std::path::Path;

use destage::ftl::FTLS;
use destage_base::Random;
use destage_device::RequestKind;
use destage_nand::medium::image::Marks;
use destage_serve::device::Sync;
use destage_serve::media::{Opened, Place, open};
use destage_sim::observer::Silent;
use destage_sim::run::live::Live;

use tape::{ask, settings};

fn number(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name);
    text.map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Opens the image at `path`. Returns its device, or the reason why the image is refused.
fn opened(path: &Path, pairs: &[&str]) -> Result<(Live<'static>, Sync), String> {
    let Opened {
        config,
        media,
        sync,
        ..
    } = open(&settings(pairs), Place::Image(path), false).map_err(|error| error.to_string())?;
    let live = Live::on(&config, media, Box::new(Silent)).map_err(|error| error.to_string())?;
    Ok((live, sync.unwrap()))
}

/// The contents of each sector; `None` for a sector that cannot be read.
fn contents(live: &Live<'_>) -> Vec<Option<[u8; 512]>> {
    let mut bytes = Vec::new();
    let read = |sector| {
        bytes.clear();
        live.read(sector, 1, &mut bytes).ok()?;
        bytes[..].try_into().ok()
    };
    (0..live.sectors()).map(read).collect()
}

fn flush(live: &mut Live<'_>, sync: &mut Sync) -> Result<(), String> {
    ask(live, RequestKind::Flush, 0..0, false, 0)?;
    sync().map_err(|error| error.to_string())
}

/// An undamaged image.
struct Sound {
    layer: String,
    bytes: Vec<u8>,
    /// The contents that a mount of this image has returned.
    shown: Vec<Option<[u8; 512]>>,
    /// The offset at which the data of pages begin.
    data_at: u64,
}

impl Sound {
    fn new(path: &Path, layer: &'static str) -> Self {
        let layer = format!("ftl.kind={layer}");
        let pairs = [
            "device.capacity_bytes=256KiB",
            "flash.page_bytes=1024",
            "flash.dies=2",
            "flash.planes_per_die=1",
            "flash.pages_per_block=4",
            "flash.spare_bytes_per_sector=16",
            "buffer.capacity_bytes=8KiB",
            &layer,
        ];
        let _ = std::fs::remove_file(path);
        let (mut live, mut sync) = opened(path, &pairs).unwrap();
        let mut random = Random::new(5);
        for value in 1..=700 {
            let length = 1 + random.below(6);
            let first = random.below(live.sectors() - length);
            let kind = match random.below(12) {
                0 => RequestKind::Trim,
                1 => RequestKind::WriteZeroes,
                2 => RequestKind::Flush,
                _ => RequestKind::Write,
            };
            let range = match kind {
                RequestKind::Flush => 0..0,
                _ => first..first + length,
            };
            ask(&mut live, kind, range, false, value).unwrap();
        }
        flush(&mut live, &mut sync).unwrap();
        drop((live, sync));
        let (live, _) = opened(path, &[]).unwrap();
        let shown = contents(&live);
        assert!(shown.iter().all(Option::is_some));
        drop(live);
        let Opened { config, .. } = open(&settings(&[]), Place::Image(path), false).unwrap();
        let bytes = std::fs::read(path).unwrap();
        Self {
            data_at: config.image_layout(4096).unwrap().data_at,
            layer,
            bytes,
            shown,
        }
    }

    /// Damages `bytes`, a copy of this image. Returns a description of the damage.
    fn damage(&self, bytes: &mut Vec<u8>, random: &mut Random) -> String {
        let place = |random: &mut Random| {
            let (from, to) = match random.below(8) {
                0 => (0, 4096),
                1 => (4096, 3 * 4096),
                2..=5 => (3 * 4096, self.data_at),
                _ => (self.data_at, self.bytes.len() as u64),
            };
            (from + random.below(to - from)) as usize
        };
        let at = place(random);
        match random.below(12) {
            0 => {
                let length = random.below(bytes.len() as u64) as usize;
                bytes.truncate(length);
                format!("cut off at {length}")
            }
            1 | 2 => {
                let piece = [512, 4096][random.below(2) as usize];
                let from = at / piece * piece;
                let end = (from + piece).min(bytes.len());
                bytes[from..end].fill(0);
                format!("{from}..{end} is zero")
            }
            3 => {
                let value = random.below(256) as u8;
                bytes[at] = value;
                format!("byte {at} is {value}")
            }
            4 => {
                let other = place(random);
                bytes[at] ^= 1;
                bytes[other] ^= 128;
                format!("a bit of bytes {at} and {other}")
            }
            _ => {
                let bit = random.below(8);
                bytes[at] ^= 1 << bit;
                format!("bit {bit} of byte {at}")
            }
        }
    }
}

/// The effect of a damage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Refused,
    Unreadable,
    Unharmed,
}

/// Opens the damaged image at `path`. If that succeeds, writes to the device, and opens the image once more.
fn tried(path: &Path, sound: &Sound, random: &mut Random) -> Result<Outcome, String> {
    let Ok((mut live, mut sync)) = opened(path, &[]) else {
        return Ok(Outcome::Refused);
    };
    let mut expected = contents(&live);
    let mut outcome = Outcome::Unharmed;
    for (sector, (found, shown)) in expected.iter().zip(&sound.shown).enumerate() {
        if found.is_none() {
            outcome = Outcome::Unreadable;
        } else if found != shown {
            return Err(format!("sector {sector} holds other bytes"));
        }
    }
    for value in 1_000_000..1_000_040 {
        let at = random.below(live.sectors() - 4);
        match ask(&mut live, RequestKind::Write, at..at + 4, false, value) {
            Ok(()) => {}
            // The other part of a page that was to be written is damaged, so the write changes nothing.
            Err(fault) if fault == "Io" => continue,
            // The device had to copy a damaged page, and reported an error.
            Err(_) => return Ok(outcome),
        }
        let sector: [u8; 512] = value.to_le_bytes().repeat(64).try_into().unwrap();
        expected[at as usize..at as usize + 4].fill(Some(sector));
    }
    if flush(&mut live, &mut sync).is_err() {
        return Ok(outcome);
    }
    drop((live, sync));
    let Ok((live, _)) = opened(path, &[]) else {
        return Ok(outcome);
    };
    for (sector, (found, expected)) in contents(&live).iter().zip(&expected).enumerate() {
        if found.is_some() && found != expected && expected.is_some() {
            return Err(format!("sector {sector} holds other bytes in the end"));
        }
    }
    Ok(outcome)
}

/// An undamaged image for each layer with flash.
fn of_all_layers(path: &Path) -> Vec<Sound> {
    let layers = FTLS.iter().filter(|row| row.has_flash);
    layers.map(|row| Sound::new(path, row.name)).collect()
}

/// The outcomes of `flips` damages, or a description of the first damage that made a sector return wrong bytes.
fn flipped(path: &Path, sound: &[Sound], flips: u64, seed: u64) -> Result<Vec<Outcome>, String> {
    let mut random = Random::new(seed);
    let each = (0..flips).map(|flip| {
        let sound = &sound[flip as usize % sound.len()];
        let mut bytes = sound.bytes.clone();
        let done = sound.damage(&mut bytes, &mut random);
        let _ = std::fs::remove_file(path);
        std::fs::write(path, bytes).unwrap();
        let outcome = tried(path, sound, &mut random);
        outcome.map_err(|why| format!("{}, flip {flip} of seed {seed}, {done}: {why}", sound.layer))
    });
    each.collect()
}

#[test]
fn a_damaged_image_never_gives_other_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image");
    let sound = of_all_layers(&path);
    let (flips, seed) = (number("DESTAGE_FLIPS", 130), number("DESTAGE_SEED", 1));
    let outcomes = match flipped(&path, &sound, flips, seed) {
        Ok(outcomes) => outcomes,
        Err(why) => panic!("{why}"),
    };
    let count = |wanted| outcomes.iter().filter(|one| **one == wanted).count();
    let [refused, unreadable, unharmed] =
        [Outcome::Refused, Outcome::Unreadable, Outcome::Unharmed].map(count);
    println!(
        "{flips} damages: {refused} refused, {unreadable} with pages that cannot be read, {unharmed} without harm"
    );
    assert!(refused > 0 && unreadable > 0 && unharmed > 0);
}

/// Shows that the test of damages can fail. Here the images have only their first mark, as after a crash before the
/// first sync. So they do not record which data are durable, and a damage makes sectors return wrong bytes.
#[test]
fn without_a_mark_damage_gives_other_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image");
    let mut sound = of_all_layers(&path);
    for sound in &mut sound {
        std::fs::write(&path, &sound.bytes).unwrap();
        let Opened { config, .. } = open(&settings(&[]), Place::Image(&path), false).unwrap();
        let (at, mark) = Marks::new(&config.image_layout(4096).unwrap()).head();
        sound.bytes[4096..3 * 4096].fill(0);
        sound.bytes[at as usize..at as usize + mark.len()].copy_from_slice(&mark);
    }
    let found = flipped(&path, &sound, 200, 1);
    assert!(found.is_err());
}

/// The device must notice if a table of its image was overwritten with zeros. Otherwise durable data would vanish, or
/// older data would return. An unused table may be zero.
#[test]
fn what_had_lasted_does_not_go_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image");
    let sound = Sound::new(&path, "page");
    for at in (3 * 4096..sound.data_at).step_by(4096) {
        let mut bytes = sound.bytes.clone();
        let piece = &mut bytes[at as usize..at as usize + 4096];
        let is_used = piece.iter().any(|byte| *byte != 0);
        piece.fill(0);
        std::fs::write(&path, bytes).unwrap();
        let refused = opened(&path, &[]).err();
        assert_eq!(refused.is_some(), is_used, "{at}: {refused:?}");
        if let Some(text) = refused {
            assert!(text.starts_with("the image is damaged: "), "{text}");
            assert_eq!(text.lines().count(), 1);
        }
    }
    // An image without any mark is refused, and so is a file that is longer than its image.
    let mut marks = sound.bytes.clone();
    marks[4096..3 * 4096].fill(0);
    std::fs::write(&path, marks).unwrap();
    let refused = opened(&path, &[]).err().unwrap();
    assert!(
        refused.contains("nothing says which of its data are durable"),
        "{refused}"
    );
    let mut longer = OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut longer, &[0; 512]).unwrap();
    assert!(
        opened(&path, &[])
            .err()
            .unwrap()
            .contains("bytes, but the image")
    );
}
