//! The device profiles that are part of the program, and profiles in files. A profile can build on another one.

use std::path::Path;

use crate::error::{Argument, SimError};
use crate::settings::{argument, read_file, suggestion};

/// A device profile of the program: a TOML text with the parameters that it sets.
pub struct Profile {
    /// The value of `--profile`.
    pub name: &'static str,
    /// The TOML text. Its table `profile` describes the device.
    pub text: &'static str,
}

/// The row for a file in the folder `profiles`.
macro_rules! profile {
    ($name:literal) => {
        Profile {
            name: $name,
            text: include_str!(concat!("../profiles/", $name, ".toml")),
        }
    };
}

/// All profiles that are part of the program.
pub static PROFILES: &[Profile] = &[
    profile!("disksim-ssd"),
    profile!("bplru-mlc"),
    profile!("bpac-slc"),
    profile!("epo-slc"),
    profile!("apu-slc"),
    profile!("tlc"),
    profile!("qlc"),
    profile!("femu-tlc"),
    profile!("mqsim-match"),
    profile!("nvmevirt-970pro"),
    profile!("client-tlc"),
    profile!("enterprise-tlc"),
    profile!("datacenter-tlc"),
    profile!("sk-hynix-pe8110"),
    profile!("solidigm-p5520"),
    profile!("micron-7450-pro"),
    profile!("kioxia-cm7-r"),
    profile!("qlc-pslc"),
    profile!("sd-card"),
];

/// The profile of the program called `name`; `None` if there is none.
#[must_use]
pub fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

/// A profile that was read, from the program or from a file of the user.
#[derive(Clone, Debug)]
pub struct Read {
    /// The name of the profile, or the path of its file.
    pub name: String,
    /// The TOML text.
    pub text: String,
    /// The parsed text. All values in its table `profile` are texts.
    table: toml::Table,
}

/// The keys that are allowed in the table `profile`.
const ABOUT: [&str; 3] = ["about", "source", "inherits"];

impl Read {
    fn of(name: &str) -> Result<Self, SimError> {
        let wrong = |what: String| argument("profile", what);
        let text = if name.ends_with(".toml") {
            let unreadable = |error| wrong(format!(" {name}: {error}; expected a TOML file"));
            read_file(Path::new(name)).map_err(unreadable)?
        } else {
            let Some(profile) = find(name) else {
                let names = PROFILES.iter().map(|profile| profile.name);
                let file = format!("{name}.toml");
                let nearest = match Path::new(&file).exists() {
                    true => format!("; did you mean {file:?}?"),
                    false => suggestion(name, names.clone()),
                };
                return Err(wrong(format!(
                    " {name:?}: no such profile{nearest}; expected one of {} or a .toml file",
                    names.collect::<Vec<_>>().join(", ")
                )));
            };
            profile.text.to_owned()
        };
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            SimError::Config(format!("profile {name}: {error}"))
        })?;
        if let Some(key) = ABOUT.iter().find(|key| table.contains_key(**key)) {
            return Err(SimError::Config(format!(
                "profile {name}: {key} is in no table; expected it under [profile]"
            )));
        }
        let about = match table.get("profile") {
            None => &toml::Table::new(),
            Some(toml::Value::Table(about)) => about,
            Some(other) => {
                return Err(SimError::Config(format!(
                    "profile {name}: profile = {other}: expected a table [profile]"
                )));
            }
        };
        for (key, value) in about {
            if !ABOUT.contains(&key.as_str()) || !value.is_str() {
                let nearest = match ABOUT.contains(&key.as_str()) {
                    true => String::new(),
                    false => suggestion(key, ABOUT.into_iter()),
                };
                return Err(SimError::Config(format!(
                    "profile {name}: profile.{key} = {value}{nearest}; expected about, source or inherits, each a text"
                )));
            }
        }
        let name = name.to_owned();
        Ok(Self { name, text, table })
    }

    /// The text under `key` in the table `profile`; `None` if there is none.
    #[must_use]
    pub fn describe(&self, key: &str) -> Option<&str> {
        self.table.get("profile")?.get(key)?.as_str()
    }

    /// Whether this profile itself sets the parameter `key`.
    #[must_use]
    pub fn sets(&self, key: &str) -> bool {
        let mut parts = key.split('.');
        let first = parts.next().and_then(|part| self.table.get(part));
        let found = parts.try_fold(first, |value, part| Some(value?.get(part)));
        matches!(found, Some(Some(_)))
    }

    /// The comment behind the value of the parameter `key`; `None` if there is none.
    #[must_use]
    pub fn comment(&self, key: &str) -> Option<&str> {
        let mut section = String::new();
        for line in self.text.lines().map(str::trim) {
            if let Some(header) = line.strip_prefix('[') {
                let name = header.split(']').next().unwrap_or_default();
                section = format!("{}.", name.trim());
            } else if let Some((name, value)) = line.split_once('=')
                && key.strip_prefix(section.as_str()) == Some(name.trim())
            {
                // A text in quotes may contain the sign of a comment.
                let value = value.trim_start();
                let quote = value
                    .chars()
                    .next()
                    .filter(|sign| ['"', '\''].contains(sign));
                let behind = match quote {
                    Some(quote) => value[1..].split_once(quote)?.1,
                    None => value,
                };
                let comment = behind.split_once('#')?.1.trim();
                return (!comment.is_empty()).then_some(comment);
            }
        }
        None
    }

    /// The profile that this one builds on. The path of a file is relative to the folder of this profile.
    fn inherits(&self) -> Option<String> {
        let base = self.describe("inherits")?;
        let folder = Path::new(&self.name).parent();
        match folder.filter(|_| base.ends_with(".toml")) {
            Some(folder) => Some(folder.join(base).display().to_string()),
            None => Some(base.to_owned()),
        }
    }
}

/// The profile called `name`, after all profiles that it builds on. If `name` ends in `.toml`, it is the path of a
/// file with the profile. The first profile of the list builds on no other one, and each further profile builds on
/// the one before it.
///
/// # Errors
/// If one of the profiles cannot be read, has an unknown key in its table `profile`, or builds on itself.
pub fn chain(name: &str) -> Result<Vec<Read>, SimError> {
    let mut chain = vec![Read::of(name)?];
    while let Some(base) = chain.last().and_then(Read::inherits) {
        let of = &chain[chain.len() - 1].name;
        if chain.iter().any(|profile| profile.name == base) {
            return Err(SimError::Config(format!(
                "profile {of}: inherits {base:?}, which inherits {of} in turn; expected profiles that do not inherit one another"
            )));
        }
        let read = Read::of(&base).map_err(|error| {
            let what = match error {
                // The caller's argument names another profile, so the name of the argument is dropped.
                SimError::Argument(Argument { what, .. }) => what.trim_start().to_owned(),
                other => other.to_string(),
            };
            SimError::Config(format!("profile {of}: inherits {what}"))
        })?;
        chain.push(read);
    }
    chain.reverse();
    Ok(chain)
}

impl Profile {
    /// The text under `key` in the table `profile`; `None` if there is none.
    #[must_use]
    pub fn describe(&self, key: &str) -> Option<String> {
        let table: toml::Table = self.text.parse().ok()?;
        table.get("profile")?.get(key)?.as_str().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn every_profile_resolves_and_says_what_it_is() {
        for profile in PROFILES {
            let mut settings = Settings::new();
            settings.load_profile(profile.name).unwrap();
            assert!(settings.resolve().is_ok(), "{}", profile.name);
            assert!(profile.describe("about").is_some(), "{}", profile.name);
            assert!(profile.describe("source").is_some(), "{}", profile.name);
        }
    }

    #[test]
    fn a_profile_builds_on_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
        write(
            "base.toml",
            "[profile]\ninherits = \"tlc\"\n[flash]\ndies = 2\nprogram_us = 500\n",
        );
        write(
            "mine.toml",
            "flash.dies = 3\n[profile]\nabout = \"Mine.\"\ninherits = \"base.toml\"\n",
        );
        let mut settings = Settings::new();
        settings.load_profile(&path("mine.toml")).unwrap();
        let flash = settings.resolve().unwrap().typed.flash;
        assert_eq!((flash.dies, flash.program_us), (3, 500.0));
        let mut of_tlc = Settings::new();
        of_tlc.load_profile("tlc").unwrap();
        assert_eq!(flash.read_us, of_tlc.resolve().unwrap().typed.flash.read_us);
        let names: Vec<String> = chain(&path("mine.toml"))
            .unwrap()
            .into_iter()
            .map(|one| one.name)
            .collect();
        assert_eq!(
            names,
            ["tlc".to_owned(), path("base.toml"), path("mine.toml")]
        );
    }

    #[test]
    fn a_comment_belongs_to_the_value_before_it() {
        let text = "host.depth = 2 # two\n# erase_us = 3 # none\n[flash]\nprogram_us=7\nscheduling = \"a # b\"  # c #d\n[ftl]\nprogram_us = 8 # other\n";
        let read = Read {
            name: String::new(),
            text: text.to_owned(),
            table: text.parse().unwrap(),
        };
        for (key, comment) in [
            ("host.depth", Some("two")),
            ("flash.erase_us", None),
            ("flash.program_us", None),
            ("flash.scheduling", Some("c #d")),
            ("ftl.program_us", Some("other")),
            ("ftl.dies", None),
        ] {
            assert_eq!(read.comment(key), comment, "{key}");
        }
    }

    #[test]
    fn what_a_profile_says_of_itself_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml").display().to_string();
        for (text, wrong) in [
            (
                "inherits = \"tlc\"\n",
                "inherits is in no table; expected it under [profile]",
            ),
            (
                "[profile]\ninherit = \"tlc\"\n",
                "profile.inherit = \"tlc\"; did you mean \"inherits\"?",
            ),
            (
                "[profile]\nabout = 3\n",
                "profile.about = 3; expected about, source or inherits",
            ),
            ("profile = 3\n", "expected a table [profile]"),
            ("[profile]\ninherits = \"mine.toml\"\n", "which inherits"),
            (
                "[profile]\ninherits = \"tcl\"\n",
                "mine.toml: inherits \"tcl\": no such profile; did you mean \"tlc\"?",
            ),
            (
                "[profile]\ninherits = \"other.toml\"\n",
                "other.toml: No such file",
            ),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = chain(&path).unwrap_err().to_string();
            assert!(error.contains(wrong), "{text}: {error}");
        }
    }
}
