//! Tests of files that are almost in a known format. The program must refuse such a file and name the settings with
//! which it can read the file. With these settings it must read the file.

use crate::common;

use std::process::Command;

use common::Place;

const MSR: &str = "128166372003061629,hm,1,Read,383496192,32768,413\n128166372016382155,hm,1,Write,2822144,4096,2000\n128166372026382245,hm,1,Write,2846720,8192,300\n";
const SPC: &str = "0,20941264,8192,W,0.551706\n1,20939840,8192,R,0.554041\n";
const SYSTOR: &str = "1456095145.133,0.0008,R,3,4096,512\n1456095146.126,0.0001,W,0,0,1024\n";
const ALIBABA: &str = "419,W,512,1024,1577808144360767\n7,R,0,512,1577808144360700\n";
const DISKSIM: &str = "5265.313 0 6357144 8 0\n5266.5 1 8 16 1\n";
const DISKMON: &str =
    "0\t4.656875\t0.00003815\t0\tWrite\t6194591\t32\n1\t4.756875\t0.00003815\t0\tRead\t63\t8\n";

#[test]
fn the_line_of_the_error_reads_the_file() {
    let place = Place::new();
    let spaced = |text: &str| text.replace(',', " ");
    let lower = |text: &str| text.to_ascii_lowercase();
    for (format, sound, odd) in [
        ("msr", MSR, spaced(MSR)),
        ("msr", MSR, lower(MSR)),
        ("msr", MSR, lower(&spaced(MSR))),
        ("msr", MSR, MSR.replace(',', "\t")),
        ("spc", SPC, SPC.replace(',', ";")),
        ("systor", SYSTOR, spaced(SYSTOR)),
        ("alibaba", ALIBABA, spaced(ALIBABA)),
        ("disksim", DISKSIM, DISKSIM.replace(' ', ",")),
        ("diskmon", DISKMON, lower(DISKMON)),
        ("diskmon", DISKMON, DISKMON.replace('\t', "|")),
    ] {
        place.write("odd.txt", &odd);
        place.write("sound.txt", sound);
        let outcome = place.run(&["trace", "info", "odd.txt"]);
        assert_eq!(outcome.status, 2, "{odd}\n{}", outcome.errors);
        let told = outcome
            .errors
            .split_once("; expected ")
            .expect("what was expected")
            .1;
        let (typed, rest) = told
            .split_once(", which reads it as a table like ")
            .expect(told);
        assert!(rest.starts_with(format), "{odd}\n{told}");
        let program = env!("CARGO_BIN_EXE_destage");
        let mut shell = Command::new("sh");
        let command = format!("{program} trace convert odd.txt {typed} -o odd.csv");
        let output = shell.args(["-c", &command]).current_dir(place.path("."));
        let output = output.output().expect("a shell runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{odd}\n{told}\n{errors}");
        place.succeed(&[
            "trace",
            "convert",
            "sound.txt",
            "--format",
            format,
            "-o",
            "sound.csv",
        ]);
        assert_eq!(
            place.read("odd.csv"),
            place.read("sound.csv"),
            "{odd}\n{typed}"
        );
    }
}

#[test]
fn what_is_like_no_format_is_told_of_none() {
    let place = Place::new();
    for content in [
        "once upon a time\n",
        "1 2 3\n",
        "a,b,c,d,e,f,g\n",
        "{\"time\": 1}\n",
    ] {
        place.write("odd.txt", content);
        let errors = place.run(&["trace", "info", "odd.txt"]).errors;
        assert!(
            errors.contains("; expected one of disksim, ssdsim"),
            "{errors}"
        );
    }
}
