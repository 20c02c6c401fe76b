//! Replays the corpus of NBD sessions. Each session is replayed as it is, cut off after each of its first 2000 bytes,
//! and mutated.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_base::Random;
use destage_fuzz::mutate::mutate;
use destage_fuzz::nbd::{distort, survives};
use std::path::Path;

fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus-nbd");
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.display().to_string(), std::fs::read(path).unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn every_session_of_the_corpus_is_survived_and_sound_ones_have_commands() {
    let mut random = Random::new(1);
    for (name, content) in corpus() {
        let mut most = 0;
        for _ in 0..50 {
            let commands = survives(&content, &mut random);
            most = most.max(commands.unwrap_or_else(|finding| panic!("{name}: {finding}")));
        }
        assert!(
            most >= 2 || !name.ends_with("-sound"),
            "{name}: {most} commands"
        );
        for end in 0..content.len().min(2000) {
            survives(&content[..end], &mut random)
                .unwrap_or_else(|finding| panic!("{name} up to {end}: {finding}"));
        }
    }
}

#[test]
fn a_short_run_survives_and_hears_commands() {
    let mut random = Random::new(2);
    let mut commands = 0;
    for round in 0..4000 {
        for (name, mut content) in corpus() {
            if random.below(2) == 0 {
                mutate(&mut content, &mut random);
            }
            distort(&mut content, &mut random);
            commands += survives(&content, &mut random)
                .unwrap_or_else(|finding| panic!("{name} {round}: {finding}"));
        }
    }
    // If the server understood no command, the test would show nothing.
    assert!(commands > 10_000, "{commands}");
}
