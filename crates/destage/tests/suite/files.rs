//! Tests that regular files are replaced as a whole, and that data is written into pipes, devices and open files.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]
#![cfg(unix)]

use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use destage::files::{PendingFile, is_name, make_private, place, write};

/// The names of all files in `folder`, including hidden files, in ascending order.
fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<_> = entries
        .map(|entry| name(entry).to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn make(program: &str, path: &Path, rest: &[&str]) {
    let made = Command::new(program).arg(path).args(rest).status();
    assert!(made.unwrap().success(), "{program} {}", path.display());
}

#[test]
fn a_file_appears_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    std::fs::write(&path, "before").unwrap();
    let mut file = PendingFile::create(&path).unwrap();
    file.put("half").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
    drop(file);
    assert_eq!(names(folder.path()), ["results.json"]);
    write(&path, "after").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "after");
    assert_eq!(names(folder.path()), ["results.json"]);
}

#[test]
fn a_private_file_is_for_its_owner_alone_and_a_new_one_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mode = |name: &str| at(name).metadata().unwrap().permissions().mode() & 0o777;
    let mut log = PendingFile::create_private(&at("log")).unwrap();
    log.put("secret").unwrap();
    log.commit().unwrap();
    assert_eq!(mode("log"), 0o600);
    let fill = |mut file: &std::fs::File| file.write_all(b"whole");
    drop(make_private(&at("new"), fill).unwrap());
    assert_eq!(mode("new"), 0o600);
    assert_eq!(std::fs::read_to_string(at("new")).unwrap(), "whole");
    assert!(make_private(&at("log"), fill).is_err());
    assert_eq!(std::fs::read_to_string(at("log")).unwrap(), "secret");
    // A file that cannot be filled does not appear.
    assert!(make_private(&at("none"), |_| Err(std::io::Error::other("no"))).is_err());
    assert_eq!(names(folder.path()), ["log", "new"]);
}

#[test]
fn a_link_is_followed_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("kept")).unwrap();
    std::fs::write(at("kept/there"), "before").unwrap();
    symlink("kept/there", at("one")).unwrap();
    symlink("one", at("two")).unwrap();
    symlink("kept/not-yet", at("dangling")).unwrap();
    for (link, target) in [("two", "kept/there"), ("dangling", "kept/not-yet")] {
        write(&at(link), link).unwrap();
        assert!(at(link).symlink_metadata().unwrap().is_symlink(), "{link}");
        assert_eq!(std::fs::read_to_string(at(target)).unwrap(), link);
    }
    assert_eq!(
        place(&at("two")).unwrap(),
        place(&at("kept/there")).unwrap()
    );
    assert_eq!(names(&at("kept")), ["not-yet", "there"]);
    symlink("round", at("round")).unwrap();
    let error = write(&at("round"), "").unwrap_err().to_string();
    assert!(error.contains("round: cannot be written"), "{error}");
}

#[test]
fn a_pipe_is_written_into() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    make("mkfifo", &pipe, &[]);
    assert_eq!(place(&pipe).unwrap(), None);
    let text = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut text = String::new();
            std::fs::File::open(&pipe)
                .unwrap()
                .read_to_string(&mut text)
                .unwrap();
            text
        });
        write(&pipe, "through").unwrap();
        reader.join().unwrap()
    });
    assert_eq!(text, "through");
    assert!(pipe.symlink_metadata().unwrap().file_type().is_fifo());
    assert_eq!(names(folder.path()), ["pipe"]);
}

#[test]
#[ignore = "needs root"]
fn a_device_node_is_written_into_as_root() {
    let folder = tempfile::tempdir().unwrap();
    let (node, link) = (folder.path().join("null"), folder.path().join("link"));
    make("mknod", &node, &["c", "1", "3"]);
    symlink("null", &link).unwrap();
    let number = node.metadata().unwrap().rdev();
    for path in [&node, &link] {
        write(path, "gone").unwrap();
        let data = node.symlink_metadata().unwrap();
        assert!(data.file_type().is_char_device());
        assert_eq!(data.rdev(), number);
    }
    assert_eq!(names(folder.path()), ["link", "null"]);
}

#[test]
fn what_stands_for_an_open_file_is_written_into() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("open");
    std::fs::write(&path, "begun, ").unwrap();
    let file = std::fs::File::options().append(true).open(&path).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    for folder in ["/dev/fd", "/proc/self/fd"] {
        let open = Path::new(folder).join(number.to_string());
        if open.exists() {
            write(&open, "and more, ").unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("begun, and more, "), "{text}");
        }
    }
    assert_eq!(place(Path::new("/dev/stdout")).unwrap(), None);
    // A regular file in a folder of /dev is also replaced as a whole.
    let memory = Path::new("/dev/shm");
    if let Ok(folder) = tempfile::tempdir_in(memory) {
        let path = folder.path().join("results.json");
        for text in ["one", "two"] {
            write(&path, text).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}

#[test]
fn a_name_leads_nowhere() {
    for name in ["throughput", "fig-7_b", "0"] {
        assert!(is_name(name), "{name}");
    }
    for name in ["", ".", "..", "a/b", "../a", "a.b", "A", "a b", "a\0", "ä"] {
        assert!(!is_name(name), "{name}");
    }
}
