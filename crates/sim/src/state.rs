//! Files that store the state of a device before the first request, so that later runs need not prepare the device
//! again.
//!
//! ```text
//! destage-state 5
//! flash.blocks_per_plane = 40         the parameters on which a fill depends: shape, layer, precondition, seed
//! ...
//! sim.precondition = random_fill:2
//! sim.seed = 1
//!                                     an empty line
//! state of the layer                  compressed by zstd, see `destage_base::archive`
//! SHA-256                             of all of the above, 32 bytes
//! ```
//!
//! A state is accepted if a preparation of the device of the run gives the same state. A device that is empty or filled
//! in order is built at once, so it is built with the parameters of the file as well, and the places of all pages are
//! compared. After a random fill, the parameters on which the fill may depend are compared (`DEPENDS`), and the numbers
//! that the layer derives from some of them ([`Ftl::derived`]).
//!
//! Reading does not check the single entries of the state. The checksum shows that the file is unchanged. The
//! parameters show that the state fits the device. A file with forged parameters and a forged checksum may cause a
//! panic. Even then, reading uses no more memory than the device of these parameters needs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use destage_base::Lpn;
use destage_base::archive::Archive;
use destage_base::parameter::Value;
use destage_ftl::{DERIVED, Ftl};
use destage_nand::{Geometry, Operations};
use sha2::{Digest, Sha256};

use crate::error::SimError;
use crate::precondition::Precondition;
use crate::settings::Config;

/// The version of the file format. It increases with every change of the form of a layer's state, so that older files
/// are refused.
pub const FORMAT: u32 = 5;
const MAGIC: &str = "destage-state";
/// The prefix of a file name in `sim.precondition`.
const PREFIX: &str = "file:";
/// The parameters that say how the device was filled. All other parameters in the file describe the device.
const FILLED: [&str; 2] = ["sim.precondition", "sim.seed"];
/// The parameters that say after how many erases a block is retired.
const WEAROUT: &str = "flash.wearout";
const ENDURANCE: &str = "flash.endurance";
/// The condition under which the layer chooses blocks by the erases that they have left.
const CHOOSES_BY_LIFE: &str = "ftl.gc_policy = wear_aware|greedy_wear";
const POWER: &str = "device.power_may_fail";
const ALWAYS: &[&str] = &["flash"];
const NEVER: &[&str] = &[];
/// The conditions under which the transfers of garbage collection change the dates of erases: it copies between planes,
/// copies units, or programs other pages than copies.
const DATED_TRANSFERS: &[&str] = &[
    "erase-dates and flash.copy_back = false",
    "erase-dates and flash.summary_page = true",
    "erase-dates and shared-pages",
    "erase-dates and fillers",
];
/// The conditions under which a random fill depends on a parameter: at least one of the conditions of the parameter has
/// to hold. A random fill depends on no parameter of flash and device that is not listed, and on each parameter of the
/// layer that is not listed. It never depends on a parameter without effect.
///
/// A fill writes pages one by one and in no simulated time, and it has neither trims, nor long writes, nor waiting
/// operations. So it does not depend on queues, channels and scheduling. It depends on times only through the dates of
/// erases, which wear-aware garbage collection keeps.
pub(crate) const DEPENDS: &[(&str, &[&str])] = &[
    ("flash.dies", ALWAYS),
    ("flash.planes_per_die", ALWAYS),
    ("flash.blocks_per_plane", ALWAYS),
    ("flash.pages_per_block", ALWAYS),
    ("flash.summary_page", ALWAYS),
    (WEAROUT, ALWAYS),
    (ENDURANCE, ALWAYS),
    (POWER, ALWAYS),
    (
        "flash.page_bytes",
        &[
            "shared-pages",
            "ftl.mappings_per_page = 0",
            "erase-dates and flash.copy_back = false",
            "erase-dates and fillers",
        ],
    ),
    ("ftl.map_unit_bytes", &["shared-pages"]),
    // Without a clock, no program waits for the rest of its unit.
    ("sim.costing", &["merges and shared-pages"]),
    (
        "flash.cell_mode",
        &["one-cell-mode and flash.bits_per_cell > 1"],
    ),
    (
        "flash.bits_per_cell",
        &["flash.cell_mode = pslc", "cell-modes"],
    ),
    (
        "flash.copy_back",
        &["ftl.kind = page|dftl|hat", "merges and clock and units"],
    ),
    ("flash.parallel_units", &["batches"]),
    (
        "flash.program_unit",
        &["merges and clock", "whole-units", "fillers"],
    ),
    ("flash.program_passes", &["merges and clock", "fillers"]),
    (
        "flash.read_us",
        &["erase-dates and flash.cell_mode = native"],
    ),
    (
        "flash.program_us",
        &["erase-dates and flash.cell_mode = native"],
    ),
    (
        "flash.pslc_read_us",
        &["erase-dates and flash.cell_mode = pslc"],
    ),
    (
        "flash.pslc_program_us",
        &["erase-dates and flash.cell_mode = pslc"],
    ),
    ("flash.erase_us", &["erase-dates"]),
    ("flash.transfer_ns_per_byte", DATED_TRANSFERS),
    ("flash.spare_bytes_per_sector", DATED_TRANSFERS),
    (
        "ftl.allocation_pool",
        &["one-cell-mode and flash.copy_back = true"],
    ),
    // Every page has contents, so no place of a data block is free for a first write.
    ("ftl.first_write", NEVER),
    ("ftl.seq_pages", NEVER),
    ("ftl.die_choice", NEVER),
    ("ftl.background_gc", NEVER),
    ("ftl.cache_fold_idle", NEVER),
    ("ftl.cache_fold_percent", NEVER),
    ("ftl.cache_fold_pages", NEVER),
    ("ftl.sb_map_cached", NEVER),
    ("ftl.hat_lookup_us", NEVER),
    ("ftl.hat_update_us", NEVER),
];
/// The largest number of bytes of the lines before the state. There are about fifty short lines.
const HEADER_MAX: u64 = 1 << 16;
const CHECKSUM: usize = 32;
const LEVEL: i32 = 3;

/// The file that a value of `sim.precondition` names; `None` if it names none.
#[must_use]
pub fn file_of(precondition: &str) -> Option<&Path> {
    let name = precondition.strip_prefix(PREFIX)?;
    (!name.is_empty()).then(|| Path::new(name))
}

/// The description of a state in its file.
#[derive(Clone, Debug)]
pub struct State {
    path: PathBuf,
    /// The parameters of the device and its layer, its precondition, and the seed.
    parameters: BTreeMap<String, String>,
    precondition: Precondition,
    /// The last bytes of the file: the SHA-256 of all bytes before them.
    checksum: [u8; CHECKSUM],
    /// The offsets in the file where the compressed state begins and ends.
    body: (u64, u64),
}

impl State {
    /// Reads the description of the state in the file at `path`. The state itself is neither read nor checked
    /// here.
    ///
    /// # Errors
    /// If the file cannot be read, is not a state, or has another format version.
    pub fn open(path: &Path) -> Result<Self, SimError> {
        let refused = |why: String| refusal(path, &why);
        let unreadable = |error: io::Error| refused(error.to_string());
        let mut file = File::open(path).map_err(unreadable)?;
        let data = file.metadata().map_err(unreadable)?;
        if !data.is_file() {
            return Err(refused("is no regular file".to_owned()));
        }
        let mut lines = BufReader::new((&mut file).take(HEADER_MAX));
        let mut begin = 0;
        let mut line = || -> Result<String, SimError> {
            let mut text = Vec::new();
            lines.read_until(b'\n', &mut text).map_err(unreadable)?;
            begin += text.len() as u64;
            let text = String::from_utf8(text).ok();
            let text = text.and_then(|text| Some(text.strip_suffix('\n')?.to_owned()));
            text.ok_or_else(|| refused("is not the state of a device".to_owned()))
        };
        let first = line()?;
        match first.split_once(' ') {
            Some((MAGIC, version)) if version == FORMAT.to_string() => {}
            Some((MAGIC, version)) => {
                return Err(refused(format!(
                    "has format {version:?}, but this version reads {FORMAT}"
                )));
            }
            _ => return Err(refused("is not the state of a device".to_owned())),
        }
        let mut parameters = BTreeMap::new();
        loop {
            let text = line()?;
            if text.is_empty() {
                break;
            }
            let (name, value) = text.split_once(" = ").ok_or_else(|| damaged(path))?;
            parameters.insert(name.to_owned(), value.to_owned());
        }
        let precondition = parameters.get("sim.precondition");
        let precondition = precondition.and_then(|text| Precondition::read(text));
        let end = data.len().checked_sub(CHECKSUM as u64);
        let (Some(precondition), Some(end)) = (precondition, end.filter(|end| *end >= begin))
        else {
            return Err(damaged(path));
        };
        let mut checksum = [0; CHECKSUM];
        file.seek(SeekFrom::Start(end)).map_err(unreadable)?;
        file.read_exact(&mut checksum).map_err(unreadable)?;
        Ok(Self {
            path: path.to_owned(),
            parameters,
            precondition,
            checksum,
            body: (begin, end),
        })
    }

    /// The precondition with which the device was filled.
    #[must_use]
    pub fn precondition(&self) -> Precondition {
        self.precondition
    }

    /// The number of blocks in a plane of the state's device.
    pub(crate) fn blocks_per_plane(&self) -> Option<u32> {
        self.parameters.get("flash.blocks_per_plane")?.parse().ok()
    }

    /// The description of the state in results: its checksum, the precondition, and the seed.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (String, Value)> + '_ {
        let of = |name: &str| self.parameters.get(name).cloned().unwrap_or_default();
        let seed = match of("sim.seed").parse() {
            Ok(seed) => Value::Integer(seed),
            Err(_) => Value::Text(of("sim.seed")),
        };
        let digits = destage_trace::hexadecimal(&self.checksum);
        [
            ("digest", Value::Text(format!("sha256:{digits}"))),
            ("precondition", Value::Text(of("sim.precondition"))),
            ("seed", seed),
        ]
        .into_iter()
        .map(|(name, value)| (format!("state.{name}"), value))
    }

    /// The layer of `config` with this state. The random numbers of the layer continue those of the file.
    ///
    /// # Errors
    /// If a preparation of the device of `config` would not give this state, or if the file cannot be read or is
    /// damaged.
    pub(crate) fn load(&self, config: &Config) -> Result<Box<dyn Ftl>, SimError> {
        let mut seeded = config.clone();
        let seed = self.parameters.get("sim.seed");
        if let Some(seed) = seed.and_then(|text| text.parse().ok()) {
            seeded.set("sim.seed", Value::Integer(seed));
        }
        let ftl = seeded.ftl()?;
        match self.precondition {
            Precondition::RandomFill(_) => self.read_into(ftl, config),
            Precondition::None | Precondition::SequentialFill => {
                self.check_places(&*ftl, config)?;
                self.body()?;
                // The layer is built with these contents.
                Ok(ftl)
            }
        }
    }

    /// Reads the state after a random fill into `ftl`, the layer of `config`.
    fn read_into(&self, mut ftl: Box<dyn Ftl>, config: &Config) -> Result<Box<dyn Ftl>, SimError> {
        self.check_fill(&*ftl, config)?;
        let mut body = BufReader::new(self.body()?.take(bytes_max(&config.geometry())));
        let mut read = |bytes: &mut [u8]| body.read_exact(bytes).is_ok();
        let is_read = ftl.archive(&mut Archive::Read(&mut read)).is_ok();
        if !is_read || !body.fill_buf().is_ok_and(<[u8]>::is_empty) {
            return Err(damaged(&self.path));
        }
        self.check_wear(config, ftl.wear().former_max)?;
        Ok(ftl)
    }

    /// The state of the layer in the file, after a check of the whole file.
    fn body(&self) -> Result<impl Read, SimError> {
        let unreadable = |error: io::Error| refusal(&self.path, &error.to_string());
        let (begin, end) = self.body;
        let mut file = File::open(&self.path).map_err(unreadable)?;
        let mut hash = Sha256::new();
        copy_into(&mut hash, (&mut file).take(end)).map_err(unreadable)?;
        if hash.finalize()[..] != self.checksum {
            return Err(damaged(&self.path));
        }
        file.seek(SeekFrom::Start(begin)).map_err(unreadable)?;
        zstd::Decoder::new(file.take(end - begin)).map_err(unreadable)
    }

    /// For a device that is empty or filled in order: compares `ftl`, the layer of `config`, with a layer that has the
    /// parameters of the file. Fails if the two layers have a page in different places, or pages in different blocks.
    /// The error names the first parameter that differs.
    fn check_places(&self, ftl: &dyn Ftl, config: &Config) -> Result<(), SimError> {
        let wanted = depends_on(config);
        let mut names = self.names(&wanted).into_iter();
        let Some(difference) = names.find_map(|name| self.compared(&wanted, name)) else {
            return Ok(());
        };
        let shape = |config: &Config| Geometry {
            page_bytes: 0,
            ..config.geometry()
        };
        let of_file = self.config(config, |_| true);
        let of_file = of_file.filter(|of_file| shape(of_file) == shape(config));
        let original = of_file.and_then(|of_file| of_file.ftl().ok());
        let is_same = original
            .is_some_and(|original| !self.precondition.fills() || holds_the_same(&*original, ftl));
        is_same.then_some(()).ok_or(difference)
    }

    /// Fails if a random fill could give other contents with the parameters of the file than with `config`, whose layer
    /// is `ftl`. The error names the first parameter that differs. The parameters of [`State::check_wear`] are left
    /// out.
    fn check_fill(&self, ftl: &dyn Ftl, config: &Config) -> Result<(), SimError> {
        let wanted = depends_on(config);
        let of_wear =
            |name: &str| name == WEAROUT || name == ENDURANCE && !config.holds(CHOOSES_BY_LIFE);
        let names = self.names(&wanted).into_iter();
        let names = names.filter(|name| !of_wear(name));
        let (derived, others): (Vec<&str>, Vec<&str>) = names.partition(|name| is_derived(name));
        let compared = |names: &[&str]| {
            let mut names = names.iter();
            names.find_map(|name| self.compared(&wanted, name))
        };
        if let Some(difference) = compared(&others) {
            return Err(difference);
        }
        let Some(difference) = compared(&derived) else {
            return Ok(());
        };
        let of_file = self.config(config, is_derived);
        let original = of_file.and_then(|of_file| of_file.ftl().ok());
        match original.is_some_and(|original| original.derived() == ftl.derived()) {
            true => Ok(()),
            false => Err(difference),
        }
    }

    /// `config` with the values that the file has for the parameters for which `is_taken` is true. `None` if the file is
    /// of another layer.
    fn config(&self, config: &Config, is_taken: impl Fn(&str) -> bool) -> Option<Config> {
        let mut other = config.clone();
        for (name, text) in &self.parameters {
            let (row, value) = config.row(name)?;
            if name == "ftl.kind" && !value.is(text) {
                return None;
            }
            if FILLED.contains(&name.as_str()) || name == "ftl.kind" || !is_taken(name) {
                continue;
            }
            let value = row.read(text).ok()?;
            match config.ftl_parameter(row.name) {
                Some(_) => other.set_of_layer(row.name, value),
                None => other.set(row.name, value),
            }
        }
        Some(other)
    }

    /// The names of all parameters in `wanted` or in the file that describe the device. The layer is first, so that an
    /// error names the layer and not one of its parameters.
    fn names<'n>(&'n self, wanted: &'n BTreeMap<String, String>) -> Vec<&'n str> {
        let all = wanted.keys().chain(self.parameters.keys());
        let of_device = all
            .map(String::as_str)
            .filter(|name| !FILLED.contains(name));
        std::iter::once("ftl.kind").chain(of_device).collect()
    }

    /// The error that `name` has another value in `wanted` than in the file, if it has.
    fn compared(&self, wanted: &BTreeMap<String, String>, name: &str) -> Option<SimError> {
        let values = [&self.parameters, wanted].map(|of| of.get(name).map(String::as_str));
        let [found, wanted] = values.map(|value| value.unwrap_or("not there"));
        (found != wanted).then(|| {
            refusal(
                &self.path,
                &format!("is of a device with {name} = {found}, but here it is {wanted}"),
            )
        })
    }

    /// Fails if a block was retired in one of the two preparations, that of the file and that of `config`, and not in
    /// the other. `most` is the largest number of erases of a block in the preparation of the file.
    fn check_wear(&self, config: &Config, most: u64) -> Result<(), SimError> {
        let wanted = depends_on(config);
        let [found, here] = [&self.parameters, &wanted].map(|of| {
            let endurance = of.get(ENDURANCE).and_then(|text| text.parse().ok());
            let retires = of.get(WEAROUT).is_some_and(|word| word == "retire");
            endurance.filter(|_| retires).unwrap_or(u64::MAX)
        });
        if found == here || most < found.min(here) {
            return Ok(());
        }
        let mut names = [WEAROUT, ENDURANCE].into_iter();
        names
            .find_map(|name| self.compared(&wanted, name))
            .map_or(Ok(()), Err)
    }
}

/// Writes the state of `ftl` to `writer`. The device was prepared as `config` says.
///
/// # Errors
/// If `writer` or the compression fails.
pub fn save(config: &Config, ftl: &mut dyn Ftl, writer: impl Write) -> io::Result<()> {
    let mut writer = Hashing {
        hash: Sha256::new(),
        writer,
    };
    writeln!(writer, "{MAGIC} {FORMAT}")?;
    let mut parameters = depends_on(config);
    if let Some(state) = &config.state {
        let filled =
            FILLED.map(|name| Some((name.to_owned(), state.parameters.get(name)?.clone())));
        parameters.extend(filled.into_iter().flatten());
    }
    for (name, value) in parameters {
        writeln!(writer, "{name} = {value}")?;
    }
    writeln!(writer)?;
    let mut failure = None;
    let encoder = zstd::Encoder::new(&mut writer, LEVEL)?;
    let mut body = io::BufWriter::with_capacity(1 << 16, encoder);
    let mut write = |bytes: &[u8]| match body.write_all(bytes) {
        Ok(()) => true,
        Err(error) => {
            failure = Some(error);
            false
        }
    };
    let written = ftl.archive(&mut Archive::Write(&mut write));
    if written.is_err() {
        return Err(failure.unwrap_or_else(|| io::ErrorKind::Other.into()));
    }
    body.into_inner()?.finish()?;
    let Hashing { hash, mut writer } = writer;
    writer.write_all(&hash.finalize())?;
    writer.flush()
}

/// Whether a fill depends on the parameter `name` only through numbers that the layer derives from it.
fn is_derived(name: &str) -> bool {
    let of_layer = name.strip_prefix("ftl.");
    name == POWER || of_layer.is_some_and(|name| DERIVED.contains(&name))
}

/// The conditions of [`DEPENDS`] for the parameter `name`.
fn conditions(name: &str) -> &'static [&'static str] {
    let known = DEPENDS.iter().find(|(known, _)| *known == name);
    match known {
        Some((_, conditions)) => conditions,
        None if name.starts_with("ftl.") => ALWAYS,
        None => NEVER,
    }
}

/// The parameters on which the contents of a device of `config` before the first request may depend, each with its
/// value. A parameter on which they do not depend has its default. If two configurations have the same parameters and
/// values, the layers of both have the same state before the first request.
#[must_use]
pub fn depends_on(config: &Config) -> BTreeMap<String, String> {
    let of_device = config.rows().filter_map(|(name, row)| {
        let conditions = conditions(&name);
        let mut holding = conditions
            .iter()
            .filter(|condition| config.holds(condition));
        let value = match holding.next() {
            Some(_) => config.value_in_effect(&name),
            None => row.read(row.default).ok(),
        };
        let value = value.filter(|_| !conditions.is_empty())?;
        Some((name, value.to_string()))
    });
    let filled = FILLED.iter().filter_map(|name| {
        let value = config.global_parameter(name)?;
        Some(((*name).to_owned(), value.to_string()))
    });
    of_device.chain(filled).collect()
}

/// Whether two layers of dies of the same shape have the same pages in the same places, before the first request.
fn holds_the_same(one: &dyn Ftl, other: &dyn Ftl) -> bool {
    let mut reads = Operations::default();
    let mut place = |ftl: &dyn Ftl, page: Lpn| {
        reads.clear();
        ftl.peek(page, &mut reads);
        let read = reads.all().last();
        (ftl.home_of(page), read.map(|read| read.at))
    };
    let mut pages = (0..one.pages()).map(Lpn);
    one.pages() == other.pages()
        && one.map_pages() == other.map_pages()
        && pages.all(|page| place(one, page) == place(other, page))
}

/// The largest number of bytes that the state of a layer can have. The largest tables have a few numbers for each
/// page.
fn bytes_max(geometry: &Geometry) -> u64 {
    let blocks = u64::from(geometry.dies) * u64::from(geometry.blocks_per_die());
    let pages = blocks.saturating_mul(u64::from(geometry.pages_per_block));
    (1 << 20) + pages.saturating_mul(256)
}

fn refusal(path: &Path, why: &str) -> SimError {
    SimError::Config(format!(
        "sim.precondition = {PREFIX}{}: {why}; expected a file that `destage precondition` wrote for this device",
        path.display()
    ))
}

fn damaged(path: &Path) -> SimError {
    refusal(path, "is damaged")
}

fn copy_into(hash: &mut Sha256, mut from: impl Read) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            length => hash.update(&buffer[..length]),
        }
    }
}

/// A writer that passes bytes on and hashes them.
struct Hashing<W> {
    hash: Sha256,
    writer: W,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.writer.write(bytes)?;
        self.hash.update(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::{Config, Settings};

    fn config(pairs: &[&str]) -> Config {
        let mut settings = Settings::new();
        for pair in pairs {
            settings.set_pair(pair).unwrap();
        }
        settings.resolve().unwrap()
    }

    #[test]
    fn devices_that_differ_in_what_decides_are_not_shared() {
        let text = |pair: &str| config(&[pair]).device_text();
        let plain = text("host.queue_depth=1");
        assert_eq!(text("device.firmware_ns=100"), plain);
        for pair in [
            "device.power_may_fail=true",
            "ftl.reserve_percent=9",
            "sim.seed=2",
        ] {
            assert_ne!(text(pair), plain, "{pair}");
        }
    }

    #[test]
    fn prepared_devices_are_not_shared_if_a_setting_elsewhere_changes_their_layer() {
        for (pairs, pair, is_shared) in [
            (
                &["ftl.kind=bast", "flash.program_unit=2"][..],
                "sim.costing=op_count",
                false,
            ),
            (
                &["flash.parallel_units=2"],
                "device.dram_program_ns=9",
                false,
            ),
            (
                &["flash.program_unit=2", "sim.costing=event"],
                "device.dram_program_ns=9",
                true,
            ),
        ] {
            let pairs = [pairs, &["sim.precondition=random_fill:1"]].concat();
            let [one, other] = [&[][..], &[pair]]
                .map(|more| config(&[&pairs[..], more].concat()).preparation().unwrap());
            assert_eq!(one == other, is_shared, "{pairs:?} {pair}");
        }
    }
}
