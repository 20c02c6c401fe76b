//! Creates the files that the recorded programs use: songs, a source tree, and sources that a C compiler accepts.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use destage_base::Random;

use crate::Failure;

/// Mean size of a song in bytes (W5 of BPLRU).
const SONG_BYTES: u64 = 4_800_000;
/// Mean size of a file of the source tree in bytes (W7 of BPLRU, which is Linux 2.6.21).
const SOURCE_BYTES: f64 = 10_700.0;
/// Subfolders of each folder of the tree.
const BRANCHES: usize = 8;
/// Functions in each source file.
const FUNCTIONS: u64 = 60;

/// `bytes` random bytes, which do not compress.
pub fn noise(random: &mut Random, bytes: u64) -> Vec<u8> {
    let words = bytes.div_ceil(8);
    let mut data: Vec<u8> = (0..words)
        .flat_map(|_| random.next_u64().to_le_bytes())
        .collect();
    data.truncate(bytes as usize);
    data
}

/// Creates `count` songs in `folder`. The size of a song is between 0.5 and 1.5 times the mean.
pub fn mp3(folder: &Path, count: u64) -> Result<(), Failure> {
    let mut random = Random::new(5);
    fs::create_dir_all(folder)?;
    for index in 0..count {
        let bytes = SONG_BYTES / 2 + random.below(SONG_BYTES);
        fs::write(
            folder.join(format!("song{index:03}.mp3")),
            noise(&mut random, bytes),
        )?;
    }
    Ok(())
}

/// Creates `count` files in a tree of `folders` folders. The sizes of the files are exponentially distributed, and
/// each file is in a random folder.
pub fn tree(folder: &Path, count: u64, folders: u64) -> Result<(), Failure> {
    let mut random = Random::new(7);
    let mut places: Vec<PathBuf> = vec![folder.to_owned()];
    for index in 1..folders as usize {
        places.push(places[(index - 1) / BRANCHES].join(format!("folder{index}")));
    }
    for place in &places {
        fs::create_dir_all(place)?;
    }
    for index in 0..count {
        let place = &places[random.below(places.len() as u64) as usize];
        let bytes = -SOURCE_BYTES * (1.0 - random.unit()).ln();
        fs::write(
            place.join(format!("file{index}.c")),
            noise(&mut random, bytes as u64),
        )?;
    }
    Ok(())
}

/// Creates `count` C sources of about 10 KB, twenty per folder.
pub fn sources(folder: &Path, count: u64) -> Result<(), Failure> {
    let mut random = Random::new(8);
    for index in 0..count {
        let place = folder.join(format!("part{}", index / 20));
        fs::create_dir_all(&place)?;
        let mut text = String::new();
        for function in 0..FUNCTIONS {
            let [first, second, third] = [7, 13, 1000].map(|bound| random.below(bound) + 2);
            writeln!(
                text,
                "int f{index}_{function}(int a, int b) {{\n\tint s = {third};\n\tfor (int i = 0; i < a; i++)\n\t\ts += (i % {first}) * b - (s >> {second});\n\treturn s;\n}}"
            )?;
        }
        fs::write(place.join(format!("unit{index}.c")), text)?;
    }
    Ok(())
}
