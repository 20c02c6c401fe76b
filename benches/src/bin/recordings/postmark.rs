//! PostMark (Katcher, 1997): creates a pool of small files, runs transactions on it, and deletes it.
//!
//! A transaction has two steps. The first step reads a file or appends to it, and the second step creates or deletes
//! a file. The sizes are uniformly distributed from 500 to 9770 bytes, and creating is as likely as deleting. Both
//! are defaults of PostMark.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use destage_base::Random;

use crate::Failure;
use crate::files::noise;

const LEAST_BYTES: u64 = 500;
const MOST_BYTES: u64 = 9770;
/// Approximate number of files in a folder.
const FOLDER_FILES: u64 = 500;

struct Pool {
    random: Random,
    folder: PathBuf,
    folders: u64,
    made: u64,
    files: Vec<(PathBuf, u64)>,
}

impl Pool {
    fn make(&mut self) -> Result<(), Failure> {
        let bytes = LEAST_BYTES + self.random.below(MOST_BYTES - LEAST_BYTES + 1);
        let place = self.random.below(self.folders);
        let path = self.folder.join(format!("s{place}/{}", self.made));
        fs::write(&path, noise(&mut self.random, bytes))?;
        self.made += 1;
        self.files.push((path, bytes));
        Ok(())
    }

    fn pick(&mut self) -> Option<usize> {
        let count = self.files.len() as u64;
        (count > 0).then(|| self.random.below(count) as usize)
    }

    fn append(&mut self, index: usize) -> Result<(), Failure> {
        let (path, bytes) = self.files[index].clone();
        if bytes >= MOST_BYTES {
            return Ok(());
        }
        let piece = 1 + self.random.below(MOST_BYTES - bytes);
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.seek(SeekFrom::End(0))?;
        file.write_all(&noise(&mut self.random, piece))?;
        self.files[index].1 += piece;
        Ok(())
    }

    fn step(&mut self, read_bias: u64) -> Result<(), Failure> {
        if let Some(index) = self.pick() {
            if self.random.below(10) < read_bias {
                fs::read(&self.files[index].0)?;
            } else {
                self.append(index)?;
            }
        }
        if self.random.below(10) < 5 {
            self.make()?;
        } else if let Some(index) = self.pick() {
            fs::remove_file(self.files.swap_remove(index).0)?;
        }
        Ok(())
    }
}

/// Runs PostMark in `folder`. Of ten first steps, `read_bias` read and the others append (`set bias read` of
/// PostMark, with the default 5).
pub fn run(folder: &Path, count: u64, transactions: u64, read_bias: u64) -> Result<(), Failure> {
    let folders = count.div_ceil(FOLDER_FILES).max(1);
    for place in 0..folders {
        fs::create_dir_all(folder.join(format!("s{place}")))?;
    }
    let mut pool = Pool {
        random: Random::new(9),
        folder: folder.to_owned(),
        folders,
        made: 0,
        files: Vec::new(),
    };
    for _ in 0..count {
        pool.make()?;
    }
    for _ in 0..transactions {
        pool.step(read_bias)?;
    }
    for (path, _) in pool.files {
        fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_but_folders() {
        let place = tempfile::tempdir().unwrap();
        run(place.path(), 600, 400, 5).unwrap();
        let folders: Vec<_> = fs::read_dir(place.path()).unwrap().collect();
        assert_eq!(folders.len(), 2);
        for folder in folders {
            assert_eq!(fs::read_dir(folder.unwrap().path()).unwrap().count(), 0);
        }
    }
}
