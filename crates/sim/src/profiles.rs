//! The device profiles that come with the program, as data.

/// A device as a TOML text with the parameters it sets.
pub struct Profile {
    /// The value of `--profile`.
    pub name: &'static str,
    /// Its text; the table `profile` says what it is.
    pub text: &'static str,
}

/// The row of a file in the folder of profiles.
macro_rules! profile {
    ($name:literal) => {
        Profile {
            name: $name,
            text: include_str!(concat!("../profiles/", $name, ".toml")),
        }
    };
}

/// All profiles.
pub const PROFILES: &[Profile] = &[
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
    profile!("qlc-pslc"),
    profile!("sd-card"),
];

/// The profile called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

impl Profile {
    /// What its table `profile` says under `key`.
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
}
