//! The capacity of a device and its over-provisioning, which a user may give in place of the number of blocks and the
//! reserve.
//!
//! These two settings replace other parameters. They are set like any parameter. But results contain the parameters
//! that are replaced, and not these settings.

use std::cmp::Ordering;

use destage_base::parameter::{Kind, Parameter, Value};
use destage_ftl::FtlRow;

use crate::check::in_words;
use crate::error::SimError;
use crate::settings::{Config, Origin, Settings};

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
    needs: &["flash"],
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
    about: "Over-provisioning, in place of ftl.reserve_percent: flash that is not offered to the host, in percent of the flash that is offered. All of it serves garbage collection, so ftl.min_free_percent is 0 unless it is given as well.",
    source: "ours",
    needs: &["reserve"],
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

/// The device differs greatly from the over-provisioning that the user has set, if the difference is more than this
/// fraction of what was set.
const MUCH: f64 = 0.1;

/// The values of the [`STAND_INS`] that are set; the over-provisioning only if the layer has a reserve.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Wanted {
    pub capacity_bytes: Option<u64>,
    pub over_provisioning: Option<f64>,
}

/// The over-provisioning that the user has set, and that of the device.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OverProvisioned {
    /// The over-provisioning in percent that the user has set.
    pub asked_percent: f64,
    /// The over-provisioning of the device in percent.
    pub percent: f64,
    /// Bytes that the device offers to the host.
    pub offered_bytes: u64,
    /// Bytes of data that the flash holds.
    pub flash_bytes: u64,
}

impl Config {
    /// The over-provisioning, if the user has set it and the device differs greatly from it. This happens with few
    /// blocks in a plane, because layers set whole blocks aside. `None` if the number of blocks is not known yet.
    #[must_use]
    pub fn rounded_over_provisioning(&self) -> Option<OverProvisioned> {
        let asked_percent = self.asked.over_provisioning?;
        let offered = self.ftl_with(false).ok()?.pages();
        let offered_bytes = offered.saturating_mul(self.geometry().page_bytes);
        let flash_bytes = self.flash_bytes();
        let kept = flash_bytes.saturating_sub(offered_bytes);
        let percent = 100.0 * kept as f64 / offered_bytes.max(1) as f64;
        let differs = (percent - asked_percent).abs() > MUCH * asked_percent.max(1.0);
        differs.then_some(OverProvisioned {
            asked_percent,
            percent,
            offered_bytes,
            flash_bytes,
        })
    }
}

impl Settings {
    /// These settings, with the replaced parameters in place of the [`STAND_INS`]; and the values of the stand-ins
    /// that have an effect with the layer `ftl`.
    ///
    /// # Errors
    /// If one of the settings has an illegal value, or is set at the same place as the parameter that it replaces.
    pub(crate) fn spelled_out(&self, ftl: &FtlRow) -> Result<(Self, Wanted), SimError> {
        let mut settings = self.clone();
        let mut wanted = Wanted::default();
        if let Some((value, origin)) = settings.take(&CAPACITY, BLOCKS)? {
            settings.set(BLOCKS, destage_base::parameter::AUTO, origin);
            wanted.capacity_bytes = match value {
                Value::Integer(bytes) => Some(bytes),
                _ => None,
            };
        }
        if let Some((Value::Number(percent), origin)) =
            settings.take(&OVER_PROVISIONING, RESERVE_KEY)?
            && has_reserve(ftl)
        {
            let reserve = 100.0 * percent / (100.0 + percent);
            // The blocks that this parameter keeps free would be most of the reserve. But over-provisioning means all
            // flash that is not offered.
            if has(ftl, MIN_FREE) && settings.gives_way(MIN_FREE_KEY, &origin) {
                settings.set(MIN_FREE_KEY, "0", origin.clone());
            }
            settings.set(RESERVE_KEY, &reserve.to_string(), origin);
            wanted.over_provisioning = Some(percent);
        }
        Ok((settings, wanted))
    }

    /// The [`STAND_INS`] that the user has set and that have no effect in `config`, each with the reason.
    pub(crate) fn idle_stand_ins(&self, config: &Config) -> Vec<(String, String)> {
        let given = STAND_INS.iter().filter(|row| self.is_set_by_user(row.name));
        let idle = given.filter_map(|row| {
            let mut needs = row.needs.iter();
            let lacking = needs.find(|condition| !config.holds(condition))?;
            Some((
                row.name.to_owned(),
                format!("it needs {}", in_words(lacking)),
            ))
        });
        idle.collect()
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

    /// Whether the replacement from `origin` may overwrite `key`: if `key` is not set, or is set at a place that
    /// `origin` overrides.
    fn gives_way(&self, key: &str, origin: &Origin) -> bool {
        let entry = self.entry(key);
        entry.is_none_or(|(_, other)| other.rank() < origin.rank())
    }

    /// Removes the setting `row`, which replaces `key`, and returns its value. If one of the two settings is at a place
    /// that overrides the place of the other, the other has no effect. `None` if `row` is not set or has no effect.
    fn take(&mut self, row: &Parameter, key: &str) -> Result<Option<(Value, Origin)>, SimError> {
        let Some((text, origin)) = self.entry(row.name) else {
            return Ok(None);
        };
        if let Some((_, other)) = self.entry(key) {
            match origin.rank().cmp(&other.rank()) {
                Ordering::Greater => {}
                Ordering::Less => {
                    self.remove(row.name);
                    return Ok(None);
                }
                Ordering::Equal => {
                    return Err(SimError::Config(format!(
                        "{origin}: {} replaces {key}, which is set as well ({other}); expected one of the two",
                        row.name
                    )));
                }
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

/// Whether the layer has the parameter that over-provisioning sets.
pub(crate) fn has_reserve(ftl: &FtlRow) -> bool {
    has(ftl, RESERVE)
}

/// Whether `key` is one of the [`STAND_INS`] and may be set with the layer `ftl`.
pub(crate) fn replaces(ftl: &FtlRow, key: &str) -> bool {
    key == CAPACITY.name || key == OVER_PROVISIONING.name && has_reserve(ftl)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(profile: Option<&str>, pairs: &[&str]) -> Result<Config, String> {
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
    }

    #[test]
    fn what_a_layer_does_not_have_is_named() {
        let named = |pairs: &[&str]| resolved(None, pairs).unwrap().without_effect;
        let of_bast = named(&["device.op_percent=7", "ftl.kind=bast"]);
        let reason = "it needs a layer with ftl.reserve_percent";
        let expected = (OVER_PROVISIONING.name.to_owned(), reason.to_owned());
        assert_eq!(of_bast, [expected]);
        let reason = "it needs a translation layer with flash (any but ftl.kind = none)";
        for (pair, key) in [
            ("device.capacity_bytes=1GiB", CAPACITY.name),
            ("flash.blocks_per_plane=7", BLOCKS),
        ] {
            let of_none = named(&[pair, "ftl.kind=none"]);
            assert_eq!(of_none, [(key.to_owned(), reason.to_owned())]);
        }
        assert!(named(&["device.op_percent=7", "device.capacity_bytes=1GiB"]).is_empty());
        let text = error(&["device.op_percent=much", "ftl.kind=bast"]);
        assert!(text.contains("expected a number from 0 to 9900"), "{text}");
    }

    #[test]
    fn the_place_that_overrides_the_other_decides() {
        let config = |low: (&str, &str), high: &str| {
            let mut settings = Settings::new();
            settings.set(low.0, low.1, Origin::File("c.toml".to_owned()));
            settings.set_pair(high).unwrap();
            settings.resolve().unwrap()
        };
        let sized = config((BLOCKS, "7"), "device.capacity_bytes=1GiB");
        assert_eq!(sized.capacity_bytes, Some(1 << 30));
        let counted = config((CAPACITY.name, "1GiB"), "flash.blocks_per_plane=7");
        assert_eq!(counted.capacity_bytes, None);
        assert_eq!(counted.parameters()[BLOCKS], Value::Integer(7));
        let reserved = config((RESERVE_KEY, "10"), "device.op_percent=25");
        assert_eq!(reserved.parameters()[RESERVE_KEY], Value::Number(20.0));
        let free = config((MIN_FREE_KEY, "3"), "device.op_percent=25");
        assert_eq!(free.parameters()[MIN_FREE_KEY], Value::Number(0.0));
    }

    #[test]
    fn over_provisioning_that_whole_blocks_change_much_is_known() {
        let of = |percent: &str, blocks: &str| {
            let percent = format!("device.op_percent={percent}");
            let blocks = format!("flash.blocks_per_plane={blocks}");
            let config = resolved(None, &[&percent, &blocks]).unwrap();
            config.rounded_over_provisioning()
        };
        // Of eight blocks, each plane sets two aside.
        let found = of("50", "8").unwrap();
        assert_eq!(found.asked_percent, 50.0);
        assert!((found.percent - 100.0 / 3.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.offered_bytes, found.flash_bytes / 4 * 3);
        assert_eq!(of("25", "1000"), None);
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
