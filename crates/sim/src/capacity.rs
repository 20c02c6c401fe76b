//! The capacity of a device and its over-provisioning, which a user may give in place of the number of blocks and the
//! reserve.
//!
//! These two settings replace other parameters. They are set like any parameter. But results contain the parameters
//! that are replaced, and not these settings.

use destage_base::parameter::{Kind, Parameter, Value};
use destage_ftl::FtlRow;

use crate::error::SimError;
use crate::settings::{Origin, Settings};

/// The number of bytes that the device must offer.
pub const CAPACITY: Parameter = Parameter {
    name: "device.capacity_bytes",
    kind: Kind::Bytes {
        min: 1,
        max: 1 << 60,
    },
    default: "1TB",
    unit: "bytes",
    about: "Size of the device as the host sees it, in place of flash.blocks_per_plane: the smallest number of blocks that offers it.",
    source: "ours",
    ..Parameter::BLANK
};

/// The flash beyond the offered capacity, in percent of this capacity.
pub const OVER_PROVISIONING: Parameter = Parameter {
    name: "device.op_percent",
    kind: Kind::Number {
        min: 0.0,
        max: 9900.0,
    },
    default: "7",
    unit: "%",
    about: "Over-provisioning, in place of ftl.reserve_percent: flash that is not offered to the host, in percent of the flash that is offered. All of it serves garbage collection: unless ftl.min_free_percent is given as well, it is 0 then.",
    source: "ours",
    ..Parameter::BLANK
};

/// Settings that replace parameters. The default in such a row is only an example: a setting that is not given
/// has no value.
pub const STAND_INS: &[Parameter] = &[CAPACITY, OVER_PROVISIONING];

const BLOCKS: &str = "flash.blocks_per_plane";
const RESERVE: &str = "reserve_percent";
const RESERVE_KEY: &str = "ftl.reserve_percent";
const MIN_FREE: &str = "min_free_percent";
const MIN_FREE_KEY: &str = "ftl.min_free_percent";

impl Settings {
    /// These settings, with the replaced parameters in place of the [`STAND_INS`]. Also the number of bytes that the
    /// device must offer, if the user has set it.
    ///
    /// # Errors
    /// If one of the settings has an illegal value, is set together with the parameter that it replaces, or does
    /// not exist in the layer `ftl`.
    pub(crate) fn spelled_out(&self, ftl: &FtlRow) -> Result<(Self, Option<u64>), SimError> {
        let mut settings = self.clone();
        let mut capacity = None;
        if let Some((value, origin)) = settings.take(&CAPACITY, BLOCKS)? {
            settings.set(BLOCKS, destage_base::parameter::AUTO, origin);
            capacity = match value {
                Value::Integer(bytes) => Some(bytes),
                _ => None,
            };
        }
        if let Some((Value::Number(percent), origin)) =
            settings.take(&OVER_PROVISIONING, RESERVE_KEY)?
        {
            if !has(ftl, RESERVE) {
                let layers = destage_ftl::FTLS.iter().filter(|row| has(row, RESERVE));
                let layers: Vec<_> = layers.map(|row| row.name).collect();
                return Err(SimError::Config(format!(
                    "{origin}: {} has no {RESERVE_KEY}, which over-provisioning sets; expected one of {}",
                    ftl.name,
                    layers.join(", ")
                )));
            }
            let reserve = 100.0 * percent / (100.0 + percent);
            // The blocks that this parameter keeps free would be most of the reserve. But over-provisioning means all
            // flash that is not offered.
            if has(ftl, MIN_FREE) && settings.gives_way(MIN_FREE_KEY, &origin) {
                settings.set(MIN_FREE_KEY, "0", origin.clone());
            }
            settings.set(RESERVE_KEY, &reserve.to_string(), origin);
        }
        Ok((settings, capacity))
    }

    /// Removes settings of base profiles that the profile of `origin` replaces: their number of blocks if it sets the
    /// size of the device, their size if it sets the number of blocks, and likewise over-provisioning and the reserve.
    pub(crate) fn remove_inherited(&mut self, origin: &Origin) {
        let replaced = [
            (CAPACITY.name, BLOCKS),
            (BLOCKS, CAPACITY.name),
            (OVER_PROVISIONING.name, RESERVE_KEY),
            (OVER_PROVISIONING.name, MIN_FREE_KEY),
            (RESERVE_KEY, OVER_PROVISIONING.name),
        ];
        for (key, other) in replaced {
            let origin_of = |key| self.entry(key).map(|(_, origin)| origin);
            let is_own = |key| origin_of(key).as_ref() == Some(origin);
            let is_inherited = matches!(origin_of(other), Some(Origin::Profile(_)));
            if is_own(key) && is_inherited && !is_own(other) {
                self.remove(other);
            }
        }
    }

    /// Whether the replacement from `origin` may overwrite `key`. It may if `key` is not set. It also may if a
    /// profile sets `key` and the replacement is not from a profile.
    fn gives_way(&self, key: &str, origin: &Origin) -> bool {
        let is_of_profile = |origin: &Origin| matches!(origin, Origin::Profile(_));
        let entry = self.entry(key);
        entry.is_none_or(|(_, other)| is_of_profile(&other) && !is_of_profile(origin))
    }

    /// Removes the setting `row`, which replaces `key`, and returns its value. If exactly one of the two settings is
    /// from a profile, the setting of the profile has no effect. `None` if `row` is not set or has no effect.
    fn take(&mut self, row: &Parameter, key: &str) -> Result<Option<(Value, Origin)>, SimError> {
        let Some((text, origin)) = self.entry(row.name) else {
            return Ok(None);
        };
        let is_of_profile = |origin: &Origin| matches!(origin, Origin::Profile(_));
        if let Some((_, other)) = self.entry(key) {
            if is_of_profile(&origin) == is_of_profile(&other) {
                return Err(SimError::Config(format!(
                    "{origin}: {} replaces {key}, which is set as well ({other}); expected one of the two",
                    row.name
                )));
            }
            if is_of_profile(&origin) {
                self.remove(row.name);
                return Ok(None);
            }
        }
        let value = row.read(&text).map_err(|expected| {
            SimError::Config(format!(
                "{origin}: {}: {text:?}: expected {expected}",
                row.name
            ))
        })?;
        self.remove(row.name);
        Ok(Some((value, origin)))
    }
}

fn has(ftl: &FtlRow, name: &str) -> bool {
    ftl.parameters.iter().any(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(profile: Option<&str>, pairs: &[&str]) -> Result<crate::settings::Config, String> {
        let mut settings = Settings::new();
        if let Some(profile) = profile {
            settings.load_profile(profile).unwrap();
        }
        for pair in pairs {
            settings.set_pair(pair).unwrap();
        }
        settings.resolve().map_err(|error| error.to_string())
    }

    fn error(pairs: &[&str]) -> String {
        resolved(None, pairs).err().unwrap()
    }

    #[test]
    fn over_provisioning_is_flash_beyond_what_is_offered_over_what_is() {
        let config = resolved(None, &["device.op_percent=25"]).unwrap();
        assert_eq!(config.parameters()[RESERVE_KEY], Value::Number(20.0));
        assert!(!config.parameters().contains_key(OVER_PROVISIONING.name));
        // The number of blocks kept free is the minimum that garbage collection needs, unless the user sets more.
        let min_free = |pairs: &[&str]| {
            let config = resolved(None, &[&["device.op_percent=25"], pairs].concat());
            config.unwrap().parameters()[MIN_FREE_KEY].clone()
        };
        assert_eq!(min_free(&[]), Value::Number(0.0));
        assert_eq!(min_free(&["ftl.min_free_percent=3"]), Value::Number(3.0));
        let of_profile = resolved(Some("qlc-pslc"), &["device.op_percent=25"]).unwrap();
        assert_eq!(of_profile.parameters()[MIN_FREE_KEY], Value::Number(0.0));
        let text = error(&["device.op_percent=7", "ftl.kind=bast"]);
        assert!(
            text.contains("bast has no ftl.reserve_percent")
                && text.contains("expected one of page, dftl, hat"),
            "{text}"
        );
    }

    #[test]
    fn a_size_and_what_it_stands_for_are_refused_together() {
        let text = error(&["device.capacity_bytes=1GiB", "flash.blocks_per_plane=7"]);
        assert!(text.contains("replaces flash.blocks_per_plane"), "{text}");
        let text = error(&["device.op_percent=7", "ftl.reserve_percent=7"]);
        assert!(text.contains("replaces ftl.reserve_percent"), "{text}");
        let text = error(&["device.capacity_bytes=much"]);
        assert!(text.contains("expected a size in bytes from 1"), "{text}");
        let text = error(&["device.capacity=1GiB"]);
        assert!(
            text.contains("did you mean \"device.capacity_bytes\"?"),
            "{text}"
        );
    }

    #[test]
    fn a_profile_replaces_what_it_inherits() {
        let folder = tempfile::tempdir().unwrap();
        let resolved = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            resolved(path.to_str(), &[])
        };
        // `tlc` sets its number of blocks and its reserve.
        let sized = "[profile]\nabout = \"a\"\nsource = \"b\"\ninherits = \"tlc\"\n\
            [device]\ncapacity_bytes = \"1GiB\"\nop_percent = 25\n";
        let config = resolved("sized.toml", sized).unwrap();
        assert_eq!(config.capacity_bytes, Some(1 << 30));
        assert_eq!(config.parameters()[RESERVE_KEY], Value::Number(20.0));
        assert_eq!(config.parameters()[MIN_FREE_KEY], Value::Number(0.0));
        let counted = "[profile]\nabout = \"a\"\nsource = \"b\"\ninherits = \"sized.toml\"\n\
            [flash]\nblocks_per_plane = 100\n[ftl]\nreserve_percent = 10\n";
        let config = resolved("counted.toml", counted).unwrap();
        assert_eq!(config.capacity_bytes, None);
        assert_eq!(config.parameters()[BLOCKS], Value::Integer(100));
        assert_eq!(config.parameters()[RESERVE_KEY], Value::Number(10.0));
        // One profile that sets both contradicts itself.
        let both = format!("{sized}[flash]\nblocks_per_plane = 100\n");
        let text = resolved("both.toml", &both).err().unwrap();
        assert!(text.contains("replaces flash.blocks_per_plane"), "{text}");
    }

    #[test]
    fn the_size_of_a_profile_gives_way() {
        let config = resolved(Some("tlc"), &["device.capacity_bytes=1GiB"]).unwrap();
        assert_eq!(config.capacity_bytes, Some(1 << 30));
        assert!(config.is_open());
    }
}
