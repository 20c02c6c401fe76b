//! Properties that every file system must have after any sequence of file operations.

use super::ext::Ext;
use super::fat::Fat;
use super::ntfs::Ntfs;
use super::*;
use destage_base::Random;
use std::collections::BTreeMap;

fn all(pages: u64, page_bytes: u64) -> Vec<(&'static str, Box<dyn FileSystem>)> {
    let mut all: Vec<(&'static str, Box<dyn FileSystem>)> = Vec::new();
    if let Some(fat) = Fat::new(pages, page_bytes, 12) {
        all.push(("fat", Box::new(fat)));
    }
    if let Some(ext) = Ext::new(pages, page_bytes, 12, 3) {
        all.push(("ext", Box::new(ext)));
    }
    if let Some(ntfs) = Ntfs::new(pages, page_bytes, 12, 3) {
        all.push(("ntfs", Box::new(ntfs)));
    }
    all
}

/// Makes, grows, overwrites and removes files until the volume is full. Then continues with operations on the full
/// volume.
#[test]
fn no_page_belongs_to_two_files_and_none_lies_outside() {
    for (pages, page_bytes) in [
        (40, 4096),
        (1500, 4096),
        (5000, 512),
        (40_000, 4096),
        (3000, 64 << 10),
    ] {
        for (name, mut system) in all(pages, page_bytes) {
            let (mut random, mut disk) = (Random::new(pages), Disk::new(8, 8));
            let mut files: Vec<File> = Vec::new();
            let mut directory = system.make_directory();
            for step in 0..6000 {
                let most = page_bytes * (1 + random.below(30));
                let bytes = 1 + random.below(most);
                match random.below(10) {
                    0 if system.fits(bytes) => directory = system.make_directory(),
                    0..6 if system.fits(bytes) => {
                        let mut file = system.create(directory);
                        system.append(&mut file, bytes, &mut disk);
                        assert_eq!(file.bytes, bytes);
                        files.push(file);
                    }
                    6 if system.fits(bytes) && !files.is_empty() => {
                        let index = random.below(files.len() as u64) as usize;
                        system.append(&mut files[index], bytes, &mut disk);
                    }
                    7 if !files.is_empty() => {
                        let file = &files[random.below(files.len() as u64) as usize];
                        system.overwrite(file, 0, file.bytes, &mut disk);
                        system.read(file, file.bytes - 1, 1, &mut disk);
                    }
                    _ if !files.is_empty() => {
                        let index = random.below(files.len() as u64) as usize;
                        system.remove(files.swap_remove(index), &mut disk);
                    }
                    _ => system.sync(&mut disk),
                }
                while let Some(access) = disk.pop() {
                    assert!(
                        access.pages > 0 && access.pages <= 8,
                        "{name} {pages} {step}"
                    );
                    assert!(
                        access.page + access.pages <= pages,
                        "{name} {pages} {step} {access:?}"
                    );
                }
                if step % 100 == 0 {
                    let mut owners = BTreeMap::new();
                    for (index, file) in files.iter().enumerate() {
                        let data = file
                            .extents
                            .iter()
                            .flat_map(|extent| extent.first..extent.first + extent.pages);
                        for page in data.chain(file.indirect.iter().copied()) {
                            assert!(page < pages, "{name} {page}");
                            assert_eq!(owners.insert(page, index), None, "{name} {pages} {page}");
                        }
                    }
                }
                if step == 4000 {
                    files.clear();
                    system.format(&mut disk);
                    directory = system.make_directory();
                }
            }
        }
    }
}

#[test]
fn data_is_written_where_the_file_is_and_metadata_beside() {
    for (name, mut system) in all(40_000, 4096) {
        let mut disk = Disk::new(64, 64);
        let directory = system.make_directory();
        let mut file = system.create(directory);
        system.append(&mut file, 9 * 4096, &mut disk);
        let first = file.extents[0].first;
        assert_eq!(file.extents.len(), 1, "{name}");
        let data = |disk: &mut Disk| {
            let access = disk.pop().unwrap();
            (access.page - first, access.pages)
        };
        // FAT writes data immediately. The other file systems write data together with metadata. Their write-back is
        // due after three more pages.
        if name == "fat" {
            assert_eq!(data(&mut disk), (0, 9));
        }
        assert!(disk.pop().is_none(), "{name}: nothing is due yet");
        system.append(&mut file, 2 * 4096 + 1, &mut disk);
        let expected = if name == "fat" { (9, 3) } else { (0, 12) };
        assert_eq!(data(&mut disk), expected, "{name}");
        let metadata: u64 = std::iter::from_fn(|| disk.pop())
            .map(|access| {
                assert!(access.page + access.pages <= first || access.page >= first + 12);
                access.pages
            })
            .sum();
        let expected = match name {
            // A page of the table in both copies, and a page of the directory.
            "fat" => 3,
            // Pages in the journal: a descriptor, both bitmaps, the descriptor of the group, the inodes, the
            // directory, and the commit page.
            "ext" => 7,
            // A page of the log, a page of the bitmap, a page with both records, and a page of the directory.
            _ => 4,
        };
        assert_eq!(metadata, expected, "{name}");
    }
}

#[test]
fn a_journal_goes_round_and_metadata_reaches_its_place_at_checkpoints() {
    let mut system = Ext::new(40_000, 4096, 1, 5).unwrap();
    let mut disk = Disk::new(1, 1);
    let directory = system.make_directory();
    let mut file = system.create(directory);
    system.append(&mut file, 4096, &mut disk);
    while disk.pop().is_some() {}
    let mut written = BTreeMap::new();
    let steps = 5000;
    for _ in 0..steps {
        system.overwrite(&file, 0, 1, &mut disk);
        while let Some(access) = disk.pop() {
            *written.entry(access.page).or_insert(0) += 1;
        }
    }
    assert_eq!(written[&file.extents[0].first], steps);
    // Every fifth commit is followed by a checkpoint, which writes the page of the inode and the first page of the
    // journal.
    assert_eq!(written[&system.inode_page_of(&file)], steps / 5);
    // Each commit writes three pages to the journal. The commits use the 4095 pages after the first page of the
    // journal in turn, again and again.
    let journal: u64 = written
        .iter()
        .filter(|(page, _)| system.in_journal(**page))
        .map(|(_, count)| *count)
        .sum();
    assert_eq!(journal, steps * 3 + steps / 5);
    assert_eq!(
        written
            .keys()
            .filter(|page| system.in_journal(**page))
            .count(),
        4096
    );
}

#[test]
fn a_gibibyte_of_fat_has_clusters_of_16_kib() {
    for (pages, cluster_pages) in [(262_144, 4), (32_768, 1), (500_000, 8), (524_288, 1)] {
        let mut system = Fat::new(pages, 4096, 1).unwrap();
        let directory = system.make_directory();
        let mut file = system.create(directory);
        system.append(&mut file, 1, &mut Disk::new(1, 1));
        assert_eq!(file.pages(), cluster_pages, "{pages}");
    }
}

#[test]
fn what_one_process_makes_on_ext_lies_side_by_side_and_what_several_make_apart() {
    // A group has 32768 pages, so a sixteenth of a group has 2048 pages. The tables and the journal fill the first
    // two sixteenths and part of the third. A search that begins in these pages finds free pages after them.
    let sixteenth = 2048;
    for processes in [1, 5] {
        let mut system = Ext::new(40_000, 4096, 1000, 3).unwrap().used_by(processes);
        let mut disk = Disk::new(1, 1);
        let directory = system.make_directory();
        let first: Vec<u64> = (0..10)
            .map(|_| {
                let mut file = system.create(directory);
                system.append(&mut file, 4096, &mut disk);
                file.extents[0].first
            })
            .collect();
        let behind = first[0];
        assert!((2 * sixteenth..3 * sixteenth).contains(&behind), "{behind}");
        let expected: Vec<u64> = match processes {
            1 => (behind..behind + 10).collect(),
            _ => [0, 1, 2, 3 * sixteenth, 4 * sixteenth, 3, 4, 5, 1, 1]
                .iter()
                .zip(0..)
                .map(|(place, index)| match index % 5 {
                    0..3 => behind + place,
                    own => own * sixteenth + place % sixteenth,
                })
                .collect(),
        };
        assert_eq!(first, expected, "{processes}");
    }
}

#[test]
fn a_page_on_ntfs_waits_for_so_many_write_backs_from_its_first_change_on() {
    for commits in [1, 3] {
        let mut system = Ntfs::new(40_000, 4096, 1, 1000).unwrap().waiting(commits);
        let mut disk = Disk::new(1, 1);
        let directory = system.make_directory();
        let mut file = system.create(directory);
        // Each append and each overwrite causes a write-back. Each of them changes the first page, and one of them
        // changes the second page.
        system.append(&mut file, 4096, &mut disk);
        let first = file.extents[0].first;
        let mut written = Vec::new();
        let mut drain = |disk: &mut Disk| {
            let data: Vec<u64> = std::iter::from_fn(|| disk.pop())
                .filter(|access| (first..first + 8).contains(&access.page))
                .map(|access| access.page - first)
                .collect();
            written.push(data);
        };
        drain(&mut disk);
        for _ in 0..2 {
            system.overwrite(&file, 0, 1, &mut disk);
            drain(&mut disk);
        }
        system.append(&mut file, 4096, &mut disk);
        drain(&mut disk);
        let removed = system.create(directory);
        system.remove(removed, &mut disk);
        drain(&mut disk);
        system.remove(file, &mut disk);
        drain(&mut disk);
        let expected: [&[u64]; 6] = match commits {
            1 => [&[0], &[0], &[0], &[1], &[], &[]],
            // Data that is removed before it has waited for enough write-backs is not written.
            _ => [&[], &[], &[0], &[], &[], &[]],
        };
        assert_eq!(written, expected, "{commits}");
    }
}
