//! Tests of traces from a pipe, which can be read only once. Commands that read a trace once must accept such a
//! trace. Commands that read a trace twice must refuse it without waiting.

#![cfg(unix)] // Named pipes.

use crate::common;

use std::process::Command;

use common::{Place, page_writes};

/// Runs the program in a shell that provides the trace through the named pipe `f` and through `/dev/stdin`. Returns
/// the exit status, standard output and standard error.
fn piped(place: &Place, arguments: &str) -> (i32, String, String) {
    let program = env!("CARGO_BIN_EXE_destage");
    // The shell kills the writer of the named pipe, so that it does not wait for the writer if nothing reads the
    // pipe.
    let command = format!(
        "[ -p f ] || mkfifo f
         cat t.disksim > f & writer=$!
         cat t.disksim | timeout 20 {program} {arguments}; status=$?
         kill $writer 2>/dev/null; exit $status"
    );
    let mut shell = Command::new("bash");
    shell.args(["-c", &command]).current_dir(place.path("."));
    let output = shell.output().expect("a shell runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn commands_that_read_once_take_pipes() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[1, 2, 3, 1]));
    let plain = place.succeed(&["trace", "info", "t.disksim"]);
    let rows = |text: &str| text.split_once('\n').map(|(_, rows)| rows.to_owned());
    for file in ["f", "/dev/stdin", "-", "<(cat t.disksim)"] {
        let (status, output, errors) =
            piped(&place, &format!("trace info {file} --format disksim"));
        assert_eq!(status, 0, "{file}: {errors}");
        assert_eq!(rows(&output), rows(&plain), "{file}");
        for command in [
            "run",
            "compare --buffers lru,fifo --sizes 1MiB",
            "trace convert -o o.csv",
        ] {
            let arguments = format!("{command} {file} --format disksim");
            let (status, _, errors) = piped(&place, &arguments);
            assert_eq!(status, 0, "{arguments}: {errors}");
        }
    }
}

#[test]
fn commands_that_read_twice_refuse_pipes_and_do_not_wait() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[1, 2, 3, 1]));
    for (arguments, what) in [
        (
            "run FILE --set trace.addr_map=shrink",
            "trace.addr_map=shrink",
        ),
        (
            "run FILE --buffer belady --size 1MiB",
            "a scheme that knows the coming writes",
        ),
        (
            "run FILE --set trace.volumes=concatenate",
            "trace.volumes=concatenate",
        ),
        (
            "trace info FILE --set trace.volumes=concatenate",
            "trace.volumes=concatenate",
        ),
        ("trace anonymize FILE -o o.compact", "anonymize"),
    ] {
        for file in ["f", "/dev/stdin", "-", "<(cat t.disksim)"] {
            let arguments = format!("{} --format disksim", arguments.replace("FILE", file));
            let (status, _, errors) = piped(&place, &arguments);
            assert_eq!(status, 2, "{arguments}: {errors}");
            let told = format!("{what} reads the trace twice; expected a regular file");
            assert!(errors.contains(&told), "{arguments}: {errors}");
            assert!(!place.path("o.compact").exists(), "{arguments}");
        }
    }
    // Standard input that is redirected from a file can be read again.
    let program = env!("CARGO_BIN_EXE_destage");
    let command = format!(
        "{program} run /dev/stdin --format disksim --buffer belady --size 1MiB < t.disksim"
    );
    let mut shell = Command::new("bash");
    shell.args(["-c", &command]).current_dir(place.path("."));
    if cfg!(target_os = "linux") {
        assert!(shell.output().expect("a shell runs").status.success());
    }
}

#[test]
fn names_of_files_do_not_steer_the_terminal() {
    let place = Place::new();
    place.write("a\u{1b}[31m\u{7}b\u{9b}.disksim", "nonsense\n");
    for name in ["a\u{1b}[31m\u{7}b\u{9b}.disksim", "missing\u{1b}]0;x\u{7}"] {
        for command in [
            &["run"][..],
            &["trace", "info"],
            &["trace", "convert", "-o", "o.csv"],
        ] {
            let outcome = place.run(&[command, &[name]].concat());
            assert_eq!(outcome.status, 2, "{}", outcome.errors);
            assert!(outcome.errors.contains("\\u{1b}"), "{}", outcome.errors);
            let steers = |letter: char| letter.is_control() && letter != '\n';
            assert!(!outcome.errors.contains(steers), "{:?}", outcome.errors);
            assert!(!outcome.output.contains(steers), "{:?}", outcome.output);
        }
    }
}

#[test]
fn a_conversion_in_a_pipe() {
    let place = Place::new();
    let writes = page_writes(&[0, 5, 3]);
    let command = [
        "trace", "convert", "-", "--format", "disksim", "-o", "-", "--to", "csv",
    ];
    let outcome = place.run_with(&command, writes.as_bytes());
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    assert_eq!(outcome.output.lines().count(), 4, "{}", outcome.output);
    place.write("t.disksim", writes);
    let packed = place.run(&["trace", "convert", "t.disksim", "-o", "t.compact.gz"]);
    assert_eq!(packed.status, 2);
    assert!(
        packed.errors.contains("always compressed with zstd"),
        "{}",
        packed.errors
    );
    assert_eq!(place.files(), ["t.disksim"]);
}
