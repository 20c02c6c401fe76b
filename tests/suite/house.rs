//! The house rules that a test can check, such as which crates a crate may use, and what texts must not contain.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use destage_buffer::{COMMON, SCHEMES};
use destage_ftl::FTLS;
use destage_sim::parameters::PARAMETERS;
use destage_tests::root;

/// The crates of the project that each crate may use.
const LAYERS: [(&str, &[&str]); 16] = [
    ("base", &[]),
    ("memory", &[]),
    ("buffer", &["base"]),
    ("nand", &["base"]),
    ("ftl", &["base", "nand"]),
    ("device", &["base", "buffer", "nand", "ftl"]),
    ("trace", &["base"]),
    ("workload", &["base", "trace"]),
    ("sim", BELOW_SIM),
    ("destage", BELOW_LIBRARY),
    ("study", ABOVE_LIBRARY),
    ("report", ABOVE_LIBRARY),
    ("serve", ABOVE_LIBRARY),
    ("python", ABOVE_ALL),
    ("cli", BELOW_ALL),
    ("tests", BELOW_ALL),
];
const BELOW_SIM: &[&str] = &[
    "base", "buffer", "nand", "ftl", "device", "trace", "workload",
];
const BELOW_LIBRARY: &[&str] = &[
    "base", "buffer", "nand", "ftl", "device", "trace", "workload", "sim", "memory",
];
const ABOVE_LIBRARY: &[&str] = &[
    "base", "buffer", "nand", "ftl", "device", "trace", "workload", "sim", "destage", "memory",
];
const BELOW_ALL: &[&str] = &[
    "base", "buffer", "nand", "ftl", "device", "trace", "workload", "sim", "destage", "study",
    "report", "serve", "memory",
];
/// The crates that the Python package may use. The wheel contains the command line, so `cli` is one of them.
const ABOVE_ALL: &[&str] = &["destage", "study", "report", "serve", "memory", "cli"];
/// The only crate with unsafe code; its manifest gives the reason. All other crates use the lints of the workspace.
const UNSAFE: &str = "memory";
/// Crates that must run without an operating system.
const NO_STD: [&str; 5] = ["base", "buffer", "nand", "ftl", "device"];
/// External crates that `NO_STD` crates may use.
const NO_STD_DEPENDENCIES: [&str; 0] = [];

fn manifests() -> BTreeMap<String, toml::Table> {
    let folders = std::fs::read_dir(root().join("crates")).expect("crates");
    let mut folders: Vec<PathBuf> = folders
        .map(|entry| entry.expect("a folder").path())
        .filter(|path| path.is_dir())
        .collect();
    folders.push(root().join("tests"));
    folders
        .iter()
        .map(|folder| {
            let text = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
            let name = folder
                .file_name()
                .and_then(|name| name.to_str())
                .expect("a name");
            (name.to_owned(), text.parse().expect("TOML"))
        })
        .collect()
}

fn dependencies(manifest: &toml::Table, table: &str) -> Vec<String> {
    let names = manifest.get(table).and_then(toml::Value::as_table);
    names
        .map(|names| names.keys().cloned().collect())
        .unwrap_or_default()
}

#[test]
fn crates_use_only_what_stands_below_them() {
    let layers: BTreeMap<_, _> = LAYERS.into_iter().collect();
    for (name, manifest) in manifests() {
        let allowed = layers
            .get(name.as_str())
            .unwrap_or_else(|| panic!("{name} has no layer"));
        for dependency in dependencies(&manifest, "dependencies") {
            let used = match dependency.as_str() {
                "destage" => "destage",
                other => match other.strip_prefix("destage-") {
                    Some(used) => used,
                    None => continue,
                },
            };
            assert!(allowed.contains(&used), "{name} may not use {used}");
        }
    }
}

#[test]
fn unsafe_code_stands_in_one_crate() {
    let lints = manifests()
        .into_iter()
        .map(|(name, manifest)| {
            let of_workspace = manifest["lints"]
                .get("workspace")
                .and_then(toml::Value::as_bool);
            (name, of_workspace == Some(true))
        })
        .filter(|(_, of_workspace)| !of_workspace);
    let own: Vec<String> = lints.map(|(name, _)| name).collect();
    assert_eq!(own, [UNSAFE]);
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    assert!(workspace.contains("unsafe_code = \"forbid\""));
}

#[test]
fn the_core_needs_no_operating_system() {
    for name in NO_STD {
        let root_file = root().join("crates").join(name).join("src/lib.rs");
        let text = std::fs::read_to_string(root_file).expect("lib.rs");
        assert!(text.contains("#![no_std]"), "{name} is not no_std");
        for dependency in dependencies(&manifests()[name], "dependencies") {
            assert!(
                dependency.starts_with("destage-")
                    || NO_STD_DEPENDENCIES.contains(&dependency.as_str()),
                "{name} uses {dependency}"
            );
        }
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
    {
        if entry.is_dir() && entry.file_name().is_none_or(|name| name != "target") {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

#[test]
fn files_are_documented_and_finished() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    sources(&root().join("tests/suite"), &mut files);
    assert!(files.len() > 40, "only {} source files found", files.len());
    // Composed of parts, so that the search does not find this file.
    let markers = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"]].map(|parts| parts.concat());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("text");
        let name = file.display();
        assert!(
            text.starts_with("//!"),
            "{name} does not begin by saying what it is"
        );
        for marker in &markers {
            assert!(
                !text.contains(marker.as_str()),
                "{name} has a left-over marker"
            );
        }
    }
}

/// The texts of the core crates name no configuration keys: only the caller of the core knows the key with which
/// a user sets a value.
#[test]
fn the_core_names_no_keys() {
    let global = PARAMETERS.iter().map(|row| row.name.to_owned());
    let schemes = SCHEMES.iter().flat_map(|row| row.parameters).chain(COMMON);
    let layers = FTLS.iter().flat_map(|row| row.parameters);
    let keys: BTreeSet<String> = global
        .chain(schemes.map(|row| format!("buffer.{}", row.name)))
        .chain(layers.map(|row| format!("ftl.{}", row.name)))
        .collect();
    assert!(keys.len() > 150, "only {} keys", keys.len());
    let mut files = Vec::new();
    for name in NO_STD {
        sources(&root().join("crates").join(name).join("src"), &mut files);
    }
    // A row of a registry lists the conditions that it requires and excludes. A condition is a key with a value.
    let is_condition = |literal: &str| {
        let ends = [" = ", " > "].map(|sign| literal.find(sign));
        let end = ends.into_iter().flatten().min();
        end.is_some_and(|end| keys.contains(&literal[..end]))
    };
    for file in files {
        let text = std::fs::read_to_string(&file).expect("text");
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let literals = code.flat_map(|line| line.split('"').skip(1).step_by(2));
        for literal in literals.filter(|literal| !is_condition(literal)) {
            let key = keys.iter().find(|key| literal.contains(key.as_str()));
            assert_eq!(key, None, "{}: {literal:?}", file.display());
        }
    }
}

#[test]
fn one_place_looks_for_outside_data() {
    // A test that looked for outside data by itself could pass silently without them.
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    sources(&root().join("tests"), &mut files);
    // Composed of parts, so that the search does not find this file.
    let variable = ["DESTAGE", "_SHARED"].concat();
    let place = root().join("tests/suite/lib.rs");
    let looks = |file: &&PathBuf| {
        let text = std::fs::read_to_string(file).expect("text");
        text.contains(&variable)
    };
    let found: Vec<_> = files.iter().filter(looks).collect();
    assert_eq!(found, [&place]);
}

/// Errors of the library use the names of the library's arguments. The command line replaces these names by the
/// names of its options.
#[test]
fn no_error_of_the_library_names_an_option() {
    // Two kinds of texts are allowed: texts that quote a command, and command lines that a user copies into a
    // shell.
    const COMMANDS: [&str; 9] = [
        "`destage reproduce ",
        "\"destage reproduce p",
        "\" --traces DIR\"",
        "--trace {trace}=FILE",
        "--scale {other}",
        "--scale full",
        "--scale reduced",
        "destage trace scale --time ",
        "--format csv --set \\\"trace.columns",
    ];
    const SHELL: &str = "\" --set trace.order=sort\"";
    let mut offending = Vec::new();
    for name in [
        "base", "buffer", "nand", "ftl", "device", "trace", "workload", "sim", "destage", "study",
        "report",
    ] {
        let mut files = Vec::new();
        sources(&root().join("crates").join(name).join("src"), &mut files);
        for path in files {
            let text = std::fs::read_to_string(&path).expect("a source file");
            for (number, line) in (1..).zip(text.lines()) {
                let is_comment = line.trim_start().starts_with("//");
                let names_option = line.contains('"')
                    && line
                        .split("--")
                        .skip(1)
                        .any(|rest| rest.starts_with(|letter: char| letter.is_ascii_lowercase()));
                let is_command =
                    COMMANDS.iter().any(|part| line.contains(part)) || line.contains(SHELL);
                if names_option && !is_comment && !is_command {
                    offending.push(format!("{}:{number}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    assert!(offending.is_empty(), "{}", offending.join("\n"));
}

/// The most fields that a structure may have: a structure with more fields stands for more than one idea.
const MOST_FIELDS: usize = 14;

/// The structures of `text` with more than [`MOST_FIELDS`] fields. A structure that a macro makes of a table is not
/// counted, as it has a field for each row of the table: the keys of a section, the statistics of a trace.
fn with_many_fields(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut table, mut current) = (false, None);
    for line in text.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if indent == 0 && code.ends_with("! {") {
            table = true;
        } else if indent == 0 && code == "}" {
            table = false;
        }
        let visible = |code: &str| {
            let bare = code.strip_prefix("pub").map_or(code, |rest| {
                rest.strip_prefix('(')
                    .and_then(|rest| rest.split_once(')'))
                    .map_or(rest, |(_, rest)| rest)
            });
            bare.trim_start().to_owned()
        };
        let bare = visible(code);
        match &mut current {
            None if !table => {
                let name = bare.strip_prefix("struct ").map(|rest| {
                    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
                    rest.split(|letter| !is_name(letter)).next().unwrap_or(rest)
                });
                let is_record = |name: &&str| {
                    let behind = bare["struct ".len() + name.len()..].chars().next();
                    behind != Some('(') && !code.ends_with([';', '}'])
                };
                if let Some(name) = name.filter(is_record) {
                    current = Some((name.to_owned(), indent, 0));
                }
            }
            None => {}
            Some((name, outside, fields)) => {
                if code == "}" && indent == *outside {
                    if *fields > MOST_FIELDS {
                        found.push(name.clone());
                    }
                    current = None;
                } else if indent == *outside + 4 {
                    let word = bare.split(": ").next().unwrap_or_default();
                    let is_field = bare.contains(": ")
                        && word.chars().all(|letter| {
                            letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_'
                        });
                    *fields += usize::from(is_field && !word.is_empty());
                }
            }
        }
    }
    found
}

#[test]
fn a_structure_has_few_fields() {
    let fields = |count: usize| -> String {
        (0..count)
            .map(|number| format!("    /// One: two.\n    pub(super) part_{number}: u32,\n"))
            .collect()
    };
    let record = |count| format!("pub(crate) struct Large<'a, T> {{\n{}}}\n", fields(count));
    assert_eq!(with_many_fields(&record(MOST_FIELDS)), [""; 0]);
    assert_eq!(with_many_fields(&record(MOST_FIELDS + 1)), ["Large"]);
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    sources(&root().join("tests"), &mut files);
    sources(&root().join("benches"), &mut files);
    let mut larger = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("text");
        let path = file.strip_prefix(root()).expect("a file of the project");
        let path = path.to_string_lossy().into_owned();
        larger.extend(
            with_many_fields(&text)
                .into_iter()
                .map(|name| format!("{path} {name}")),
        );
    }
    larger.sort_unstable();
    assert_eq!(
        larger, [""; 0],
        "a structure of over {MOST_FIELDS} fields is grouped by what its fields are for"
    );
}

/// The files of the project that `text` names in backquotes by their path from the root.
fn named_files(text: &str) -> impl Iterator<Item = &str> {
    const FOLDERS: [&str; 8] = [
        "benches/",
        "crates/",
        "docs/",
        "experiments/",
        "fuzz/",
        "packaging/",
        "python/",
        "tests/",
    ];
    const KINDS: [&str; 4] = [".md", ".py", ".rs", ".sh"];
    text.split('`').skip(1).step_by(2).filter(|name| {
        let is_path =
            !name.contains(|letter: char| letter.is_whitespace() || "<*".contains(letter));
        let is_placeholder = name
            .split(['/', '.'])
            .any(|part| part == "NAME" || part == "PAPER");
        is_path
            && !is_placeholder
            && FOLDERS.iter().any(|folder| name.starts_with(folder))
            && KINDS.iter().any(|kind| name.ends_with(kind))
    })
}

#[test]
fn every_file_that_documents_name_is_there() {
    assert!(named_files("`crates/none.rs`").eq(["crates/none.rs"]));
    let mut folders = vec![root(), root().join("docs")];
    let (mut count, mut missing) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && path.starts_with(root().join("docs")) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path).expect("a document");
                for name in named_files(&text) {
                    count += 1;
                    if !root().join(name).exists() {
                        missing.push(format!("{}: {name}", path.display()));
                    }
                }
            }
        }
    }
    assert!(count > 50, "only {count} files are named");
    assert!(missing.is_empty(), "{missing:#?}");
}
