//! The cross product of schemes, sizes and translation layers.

use std::collections::{BTreeMap, BTreeSet};

use destage_base::parameter::{Value, read_bytes};
use destage_sim::check::Purpose;
use destage_sim::error::SimError;
use destage_sim::settings::{Config, Origin, Settings, split_kind};

use crate::error::Error;

/// One configuration, with the names that identify it.
#[derive(Clone)]
pub struct Combination {
    /// The scheme as given, with its parameters.
    pub buffer: String,
    /// The translation layer as given, with its parameters.
    pub ftl: String,
    /// The complete configuration.
    pub config: Config,
}

impl Combination {
    /// The combination that `settings` choose.
    ///
    /// # Errors
    /// If a setting cannot be used; the error names the first such setting.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let config = settings.resolve()?;
        Ok(Self {
            buffer: config.scheme.name.to_owned(),
            ftl: config.ftl_row.name.to_owned(),
            config,
        })
    }

    /// The configured size of the buffer in bytes, even if the scheme buffers no pages.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.config.typed.buffer.capacity_bytes
    }

    /// The parameters on which the results depend.
    #[must_use]
    pub fn parameters(&self) -> BTreeMap<String, Value> {
        self.without_size(self.config.parameters())
    }

    /// The parameters that differ from their defaults.
    #[must_use]
    pub fn chosen(&self) -> BTreeMap<String, Value> {
        self.without_size(self.config.chosen())
    }

    fn without_size(&self, mut parameters: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
        if !self.config.keeps_pages() {
            parameters.remove(CAPACITY);
        }
        parameters
    }

    /// A text that names the work on `input`, for the message when memory runs out.
    pub(crate) fn doing(&self, input: &str) -> String {
        format!("{} over {} for {input}", self.buffer, self.ftl)
    }
}

/// Every scheme at every size on every translation layer. If a list is not given, the settings give its single value.
#[derive(Clone)]
pub struct Grid {
    base: Settings,
    buffers: Option<Vec<String>>,
    sizes: Option<Vec<String>>,
    ftls: Option<Vec<String>>,
}

impl Grid {
    /// A grid with one combination: the one that `base` chooses.
    #[must_use]
    pub fn new(base: Settings) -> Self {
        Self {
            base,
            buffers: None,
            sizes: None,
            ftls: None,
        }
    }

    /// Sets the schemes, each `NAME[:k=v,...]`. `all` adds every scheme that can run with these settings.
    #[must_use]
    pub fn buffers(mut self, items: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.buffers = Some(items.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the capacities of the buffer: `8MiB`, `512KiB`, `8388608`. `LO..HI` gives `LO`, twice `LO`, four times
    /// `LO` and so on, up to `HI`.
    #[must_use]
    pub fn sizes(mut self, items: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.sizes = Some(items.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the translation layers, each `NAME[:k=v,...]`.
    #[must_use]
    pub fn ftls(mut self, items: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.ftls = Some(items.into_iter().map(Into::into).collect());
        self
    }

    /// All combinations, ordered by translation layer, then by scheme, then by size. Runs that would repeat another
    /// run are left out: those of an item that is listed twice, and those of a second size if the scheme buffers no
    /// pages.
    ///
    /// A setting that only some of the schemes or translation layers have applies only to their combinations. A
    /// setting that no scheme or layer of the grid has is listed in [`Config::without_effect`] of each combination.
    ///
    /// # Errors
    /// If a setting cannot be used, if a list is empty, or if [`Settings::set_pair`] has set the key whose values a list
    /// gives.
    pub fn combinations(&self) -> Result<Vec<Combination>, Error> {
        let mut known = BTreeSet::new();
        let mut combinations = self.every()?;
        combinations.retain(|combination| known.insert(identity(combination)));
        Ok(combinations)
    }

    /// Does the same as [`Grid::combinations`], but does not leave out repeated runs.
    ///
    /// # Errors
    /// The errors of [`Grid::combinations`].
    pub fn every(&self) -> Result<Vec<Combination>, Error> {
        let base = &self.base;
        for (list, key, argument) in [
            (&self.buffers, "buffer.kind", "buffers"),
            (&self.sizes, CAPACITY, "sizes"),
            (&self.ftls, "ftl.kind", "ftls"),
        ] {
            if list.is_some() {
                refuse_pair(base, key, argument)?;
            }
        }
        let buffers = self.buffers.as_ref().map(|items| self.schemes(items));
        let buffers = match &buffers {
            Some(items) => items.iter().map(Some).collect(),
            None => vec![None],
        };
        let sizes = self.sizes.as_deref().map(all_sizes).transpose()?;
        let (sizes, ftls) = (of(&sizes), of(&self.ftls));
        let mut foreign: BTreeSet<String> = base.keys().map(str::to_owned).collect();
        let mut combinations = Vec::new();
        for ftl in &ftls {
            for buffer in &buffers {
                for size in &sizes {
                    let scheme = buffer.map(|buffer| &*buffer.name);
                    let asked = buffer.is_none_or(|buffer| buffer.asked);
                    let config = self.config(scheme, *size, *ftl, &mut foreign)?;
                    match config.check(Purpose::Run) {
                        // A scheme that `all` has added is left out if the settings exclude it. A scheme that was
                        // named explicitly is not left out, and its run reports the error.
                        Err(SimError::Excluded(_)) if !asked => continue,
                        Err(SimError::Excluded(_)) | Ok(()) => {}
                        Err(error) => return Err(error.into()),
                    }
                    let name =
                        |given: Option<&str>, of_row: &str| given.unwrap_or(of_row).to_owned();
                    combinations.push(Combination {
                        buffer: name(scheme, config.scheme.name),
                        ftl: name(ftl.map(String::as_str), config.ftl_row.name),
                        config,
                    });
                }
            }
        }
        let Some(first) = combinations.first_mut() else {
            return Err(Error::Input(
                "buffers, sizes, ftls: expected at least one of each".to_owned(),
            ));
        };
        if !foreign.is_empty() {
            // The settings that belong to no combination are read once. If one is wrong, reading returns the error.
            // Otherwise reading gives the reason why each has no effect.
            let mut settings = base.clone();
            for key in base.keys().filter(|key| !foreign.contains(*key)) {
                settings.remove(key);
            }
            settings.set_kind("buffer", first.config.scheme.name)?;
            settings.set_kind("ftl", first.config.ftl_row.name)?;
            let in_vain = settings.read()?.without_effect;
            for combination in &mut combinations {
                combination
                    .config
                    .without_effect
                    .extend(in_vain.iter().cloned());
            }
        }
        Ok(combinations)
    }

    /// The schemes that `items` describe.
    fn schemes(&self, items: &[String]) -> Vec<Scheme> {
        let mut schemes = Vec::new();
        for item in items {
            if item != ALL {
                schemes.push(Scheme {
                    name: item.clone(),
                    asked: true,
                });
                continue;
            }
            schemes.extend(self.base.schemes().map(|row| Scheme {
                name: row.name.to_owned(),
                asked: false,
            }));
        }
        schemes
    }

    /// The configuration of one combination. The settings of the base that this combination accepts are removed from
    /// `foreign`.
    fn config(
        &self,
        buffer: Option<&str>,
        size: Option<&String>,
        ftl: Option<&String>,
        foreign: &mut BTreeSet<String>,
    ) -> Result<Config, Error> {
        let mut settings = self.base.clone();
        let mut own = BTreeSet::new();
        for (argument, section, item) in [
            ("ftls", "ftl", ftl.map(String::as_str)),
            ("buffers", "buffer", buffer),
        ] {
            let Some(item) = item else { continue };
            settings.set_kind_by(argument, section, item)?;
            let (_, pairs) = split_kind(argument, item)?;
            own.extend(pairs.iter().map(|(key, _)| format!("{section}.{key}")));
        }
        if let Some(size) = size {
            let origin = Origin::Argument("sizes".to_owned(), size.clone());
            settings.set(CAPACITY, size, origin);
        }
        settings.check_kinds()?;
        for key in self.base.keys() {
            if settings.accepts(key) {
                foreign.remove(key);
            } else if !own.contains(key) {
                settings.remove(key);
            }
        }
        Ok(settings.read()?)
    }
}

/// The word that adds every scheme.
const ALL: &str = "all";
/// The key whose values the list of sizes gives.
pub(crate) const CAPACITY: &str = "buffer.capacity_bytes";

/// Returns an error if [`Settings::set_pair`] has set `key`, whose values the list `argument` gives.
pub(crate) fn refuse_pair(settings: &Settings, key: &str, argument: &str) -> Result<(), Error> {
    match settings.pairs().find(|(known, _)| *known == key) {
        None => Ok(()),
        Some((_, pair)) => {
            let what = format!(
                " {pair}: the list {argument} gives the values of {key}; expected a value there"
            );
            Err(Error::argument("setting", what))
        }
    }
}

/// An item of the list of schemes.
struct Scheme {
    name: String,
    /// Whether the scheme was named explicitly, and not added by [`ALL`].
    asked: bool,
}

/// The sizes that `items` describe.
fn all_sizes(items: &[String]) -> Result<Vec<String>, Error> {
    let mut sizes = Vec::new();
    for item in items {
        let Some((first, last)) = item.split_once("..") else {
            sizes.push(item.clone());
            continue;
        };
        let ends = read_bytes(first.trim()).zip(read_bytes(last.trim()));
        let Some((first, last)) = ends.filter(|(first, last)| (1..=*last).contains(first)) else {
            return Err(Error::argument(
                "sizes",
                format!(
                    " {item:?}: expected LO..HI with two sizes in bytes, the smaller one first, such as 256KiB..64MiB"
                ),
            ));
        };
        let doubled = |size: &u64| size.checked_mul(2).filter(|size| *size <= last);
        let range = std::iter::successors(Some(first), doubled);
        sizes.extend(range.map(|size| size.to_string()));
    }
    Ok(sizes)
}

/// The different buffer sizes of `combinations` in bytes, in ascending order.
pub(crate) fn capacities(combinations: &[Combination]) -> Vec<u64> {
    let mut sizes: Vec<u64> = combinations.iter().map(Combination::capacity).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The items of a list; a single `None` if the list is not given.
fn of(items: &Option<Vec<String>>) -> Vec<Option<&String>> {
    match items {
        None => vec![None],
        Some(items) => items.iter().map(Some).collect(),
    }
}

/// A text that is equal for combinations whose runs are equal.
fn identity(combination: &Combination) -> String {
    let parameters = combination.chosen();
    let (buffer, ftl) = (&combination.buffer, &combination.ftl);
    format!("{buffer} {ftl} {parameters:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::unused;

    fn settings(pair: &str) -> Settings {
        let mut settings = Settings::new();
        settings.set_pair(pair).unwrap();
        settings
    }

    #[test]
    fn a_setting_applies_to_the_schemes_that_know_it() {
        let base = settings("buffer.lru_unit=request");
        let grid = Grid::new(base)
            .buffers(["fifo", "lru"])
            .sizes(["4MiB", "8MiB"]);
        let all = grid.combinations().unwrap();
        assert_eq!(all.len(), 4);
        let unit = |index: usize| {
            let parameters = all[index].config.parameters();
            parameters.get("buffer.lru_unit").cloned()
        };
        let request = Value::Text("request".to_owned());
        assert_eq!([unit(0), unit(1)], [None, None]);
        assert_eq!([unit(2), unit(3)], [Some(request.clone()), Some(request)]);
    }

    #[test]
    fn a_setting_that_no_scheme_has_is_named_and_one_that_none_knows_is_refused() {
        let refusal = |key: &str, buffers: &[&str]| {
            let grid = Grid::new(settings(key)).buffers(buffers.iter().copied());
            match grid.combinations() {
                Err(error) => error.to_string(),
                _ => panic!("no refusal"),
            }
        };
        let named = |key: &str, buffers: &[&str]| {
            let grid = Grid::new(settings(key)).buffers(buffers.iter().copied());
            let all = grid.combinations().unwrap();
            unused(all.iter().map(|combination| &combination.config), &[])
        };
        assert_eq!(
            named("buffer.lru_unit=request", &["nocache", "fifo"]),
            [
                "buffer.lru_unit was set, but has no effect: it is a parameter of lru, but nocache is chosen"
            ]
        );
        assert!(named("buffer.lru_unit=request", &["lru", "fifo"]).is_empty());
        assert_eq!(
            named("buffer.cluster_pages=8", &["lru", "fab"]),
            [
                "buffer.cluster_pages was set, but has no effect in 1 of 2 runs: it needs a scheme that knows clusters"
            ]
        );
        let text = refusal("flash.deis=4", &["fifo", "lru"]);
        assert!(text.contains("did you mean \"flash.dies\"?"), "{text}");
        let text = refusal("buffer.lru_unit=pages", &["fifo", "lru"]);
        assert!(text.contains("expected one of page"), "{text}");
        let named = named("host.time_scale=1", &["fifo:lru_unit=request", "lru"]);
        assert!(
            named[0].contains("in 1 of 2 runs: it is a parameter of lru, but fifo is chosen"),
            "{named:?}"
        );
    }

    #[test]
    fn what_would_be_the_same_run_again_is_left_out() {
        let names = |buffers: &[&str], sizes: &[&str]| {
            let grid = Grid::new(Settings::new())
                .buffers(buffers.iter().copied())
                .sizes(sizes.iter().copied());
            let all = grid.combinations().unwrap();
            all.iter()
                .map(|combination| combination.buffer.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(&["nocache", "lru"], &["1MiB", "2MiB"]),
            ["nocache", "lru", "lru"]
        );
        assert_eq!(names(&["lru", "lru"], &["1MiB", "1024KiB"]), ["lru"]);
        // If a scheme is listed with two spellings, each spelling has its own row, even if the runs are equal.
        let spelt = ["lru", "lru:lru_unit=page"];
        assert_eq!(names(&spelt, &["1MiB"]), spelt);
    }

    fn sizes(items: &[&str]) -> Result<Vec<u64>, String> {
        let grid = Grid::new(Settings::new()).sizes(items.iter().copied());
        let all = grid.combinations().map_err(|error| error.to_string())?;
        Ok(all.iter().map(Combination::capacity).collect())
    }

    #[test]
    fn a_range_of_sizes_doubles_up_to_its_end() {
        let mib = |numbers: &[u64]| Ok(numbers.iter().map(|number| number << 20).collect());
        assert_eq!(sizes(&["1MiB..8MiB", "3MiB"]), mib(&[1, 2, 4, 8, 3]));
        assert_eq!(sizes(&["3MiB..20MiB"]), mib(&[3, 6, 12]));
        assert_eq!(sizes(&["4MiB..4MiB"]), mib(&[4]));
        for wrong in ["8MiB..1MiB", "0..1MiB", "1MiB..", "..", "1MiB..many"] {
            let text = sizes(&[wrong]).unwrap_err();
            assert!(text.contains("expected LO..HI"), "{wrong}: {text}");
        }
    }

    #[test]
    fn all_is_every_scheme_that_can_run() {
        let names = |pair: &str, items: &[&str]| -> Vec<String> {
            let grid = Grid::new(settings(pair)).buffers(items.iter().copied());
            let all = grid.combinations().unwrap();
            all.into_iter().map(|each| each.buffer).collect()
        };
        let registered: Vec<_> = destage_buffer::SCHEMES.iter().map(|row| row.name).collect();
        assert_eq!(names("host.time_scale=1", &["all", "lru"]), registered);
        // The scheme `belady` has to know the order of writes in advance. If the host reorders requests, this order
        // is not known.
        let clook = names("host.scheduler=clook", &["all"]);
        assert!(!clook.contains(&"belady".to_owned()));
        assert_eq!(clook.len(), registered.len() - 1);
        // A scheme that was named explicitly is not left out, and its run reports the error.
        assert_eq!(names("host.scheduler=clook", &["belady"]), ["belady"]);
    }

    #[test]
    fn what_a_list_gives_is_not_set_as_well() {
        for (pair, list) in [
            ("buffer.kind=fifo", "buffers"),
            ("buffer.capacity_bytes=2MiB", "sizes"),
            ("ftl.kind=bast", "ftls"),
        ] {
            let grid = Grid::new(settings(pair));
            assert!(grid.combinations().is_ok(), "{pair}");
            let grid = match list {
                "buffers" => grid.buffers(["lru"]),
                "sizes" => grid.sizes(["1MiB"]),
                _ => grid.ftls(["page"]),
            };
            let text = grid.combinations().err().unwrap().to_string();
            let told = format!("setting {pair}: the list {list} gives ");
            assert!(text.starts_with(&told), "{text}");
        }
        // A size that only a file sets is a default.
        let mut settings = Settings::new();
        settings.set(CAPACITY, "2MiB", Origin::File("c.toml".to_owned()));
        let all = Grid::new(settings).sizes(["1MiB"]).combinations().unwrap();
        assert_eq!(all[0].capacity(), 1 << 20);
    }

    #[test]
    fn over_provisioning_applies_to_the_layers_that_have_a_reserve() {
        let base = settings("device.op_percent=25");
        let reserve = |ftls: &[&str]| {
            let all = Grid::new(base.clone()).ftls(ftls.iter().copied());
            let all = all.combinations().unwrap();
            let named = unused(all.iter().map(|combination| &combination.config), &[]);
            let first = all[0].config.parameters();
            (first.get("ftl.reserve_percent").cloned(), named)
        };
        let of_page = Some(Value::Number(20.0));
        assert_eq!(reserve(&["page", "bast"]), (of_page, Vec::new()));
        let (none, named) = reserve(&["bast", "none"]);
        assert_eq!(none, None);
        assert_eq!(
            named,
            [
                "device.op_percent was set, but has no effect: it needs a layer with ftl.reserve_percent"
            ]
        );
    }

    #[test]
    fn an_empty_list_is_refused() {
        let grid = Grid::new(Settings::new()).sizes(Vec::<String>::new());
        assert!(matches!(grid.combinations(), Err(Error::Input(_))));
    }
}
