//! Files that store the state of a device before the first request, so that later runs need not prepare the device
//! again.
//!
//! ```text
//! destage-state 4
//! flash.blocks_per_plane = 40         the parameters that decide the contents: shape, layer, precondition, seed
//! ...
//! sim.precondition = random_fill:2
//! sim.seed = 1
//!                                     an empty line
//! state of the layer                  compressed by zstd, see `destage_base::archive`
//! SHA-256                             of all of the above, 32 bytes
//! ```
//!
//! Reading does not check the single entries of the state. The checksum shows that the file is unchanged. The
//! parameters show that the state belongs to the same device. A file with forged parameters and a forged checksum may
//! cause a panic. Even then, reading uses no more memory than the device of these parameters needs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use destage_base::archive::Archive;
use destage_base::parameter::Value;
use destage_ftl::Ftl;
use destage_nand::Geometry;
use sha2::{Digest, Sha256};

use crate::error::SimError;
use crate::precondition::Precondition;
use crate::settings::Config;

/// The version of the file format. It increases with every change of the form of a layer's state, so that older files
/// are refused.
pub const FORMAT: u32 = 4;
const MAGIC: &str = "destage-state";
/// The prefix of a file name in `sim.precondition`.
const PREFIX: &str = "file:";
/// The parameters that say how the device was filled. All other parameters in the file describe the device.
const FILLED: [&str; 2] = ["sim.precondition", "sim.seed"];
/// The parameters of flash and device. The flag says whether the contents of a device before the first request depend
/// on the parameter. The contents depend on the parameters from which the layer is built, and on all parameters of
/// the layer (`ftl.*`), which are not listed here. The contents do not depend on times, queues or channels, because a
/// preparation writes pages one by one and in no simulated time.
const DECIDES: &[(&str, bool)] = &[
    ("flash.dies", true),
    ("flash.planes_per_die", true),
    ("flash.blocks_per_plane", true),
    ("flash.pages_per_block", true),
    ("flash.page_bytes", true),
    ("flash.summary_page", true),
    ("flash.spare_bytes_per_sector", false),
    ("flash.copy_back", true),
    ("flash.parallel_units", true),
    ("flash.read_us", false),
    ("flash.program_us", false),
    ("flash.read_times_us", false),
    ("flash.program_times_us", false),
    ("flash.program_unit", true),
    ("flash.program_passes", false),
    ("flash.first_pass_us", false),
    ("flash.unit_wait_us", false),
    ("flash.erase_us", false),
    ("flash.read_uj", false),
    ("flash.program_uj", false),
    ("flash.erase_uj", false),
    ("flash.transfer_uj_per_byte", false),
    ("flash.bits_per_cell", true),
    ("flash.cell_mode", true),
    ("flash.pslc_read_us", false),
    ("flash.pslc_program_us", false),
    ("flash.channels", false),
    ("flash.command_ns", false),
    ("flash.status_ns", false),
    ("flash.scheduling", false),
    ("flash.read_starvation_limit", false),
    ("flash.suspend", false),
    ("flash.suspend_us", false),
    ("flash.suspend_limit", false),
    ("flash.suspend_pulse_us", false),
    ("flash.suspend_tail_us", false),
    ("flash.read_loaded_percent", false),
    ("flash.multi_plane", false),
    ("flash.program_command_ns", false),
    ("flash.ready_ns", false),
    ("flash.plane_gap_read_ns", false),
    ("flash.plane_gap_program_ns", false),
    ("flash.cache_read", false),
    ("flash.cache_read_busy_us", false),
    ("flash.cache_program", false),
    ("flash.cache_program_busy_us", false),
    ("flash.transfer_ns_per_byte", false),
    ("flash.endurance", true),
    ("flash.wearout", true),
    ("device.vwc", false),
    ("device.trim", false),
    ("device.torn", false),
    ("device.paired_loss", false),
    ("device.power_may_fail", true),
    ("device.firmware_ns", false),
    ("device.firmware_read_ns", false),
    ("device.firmware_page_ns", false),
    ("device.firmware_cores", false),
    ("device.firmware_uj", false),
    ("device.command_slots", false),
    ("device.dram_access_ns", false),
    ("device.dram_program_ns", false),
    ("device.loaded_pages", false),
    ("device.load_window_us", false),
    ("device.dram_ns_per_byte", false),
    ("device.dram_uj_per_byte", false),
    ("device.plp", false),
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

    /// Loads the state into `ftl`, which was just built from `config`, and returns `ftl`.
    ///
    /// # Errors
    /// If the state belongs to another device or layer than `config`, or if the file cannot be read or is
    /// damaged.
    pub(crate) fn load(
        &self,
        config: &Config,
        geometry: &Geometry,
        mut ftl: Box<dyn Ftl>,
    ) -> Result<Box<dyn Ftl>, SimError> {
        self.check_device(config)?;
        let unreadable = |error: io::Error| refusal(&self.path, &error.to_string());
        let (begin, end) = self.body;
        let mut file = File::open(&self.path).map_err(unreadable)?;
        let mut hash = Sha256::new();
        copy_into(&mut hash, (&mut file).take(end)).map_err(unreadable)?;
        if hash.finalize()[..] != self.checksum {
            return Err(damaged(&self.path));
        }
        file.seek(SeekFrom::Start(begin)).map_err(unreadable)?;
        let body = zstd::Decoder::new(file.take(end - begin)).map_err(unreadable)?;
        let mut body = BufReader::new(body.take(bytes_max(geometry)));
        let mut read = |bytes: &mut [u8]| body.read_exact(bytes).is_ok();
        let laid = ftl.archive(&mut Archive::Read(&mut read));
        if laid.is_err() || body.fill_buf().is_ok_and(|rest| !rest.is_empty()) {
            return Err(damaged(&self.path));
        }
        Ok(ftl)
    }

    /// Fails if the state belongs to another device or layer than `config`. The error names the first difference.
    fn check_device(&self, config: &Config) -> Result<(), SimError> {
        let mut wanted = depends_on(config);
        let mut found = self.parameters.clone();
        for filled in FILLED {
            wanted.remove(filled);
            found.remove(filled);
        }
        // If the layers differ, the error names the layer and not one of its parameters.
        let layer = std::iter::once("ftl.kind");
        let names = wanted.keys().chain(found.keys()).map(String::as_str);
        for name in layer.chain(names) {
            let [found, wanted] = [&found, &wanted].map(|of| of.get(name).map(String::as_str));
            if found != wanted {
                let [found, wanted] = [found, wanted].map(|value| value.unwrap_or("not there"));
                return Err(refusal(
                    &self.path,
                    &format!("is of a device with {name} = {found}, but here it is {wanted}"),
                ));
            }
        }
        Ok(())
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

/// Whether the contents of a device before the first request depend on the parameter `name`.
pub(crate) fn decides(name: &str) -> bool {
    let of_device = DECIDES.contains(&(name, true));
    of_device || name.starts_with("ftl.") || FILLED.contains(&name)
}

/// The parameters on which the contents of a device of `config` before the first request depend: each name with its
/// value.
#[must_use]
pub fn depends_on(config: &Config) -> BTreeMap<String, String> {
    let parameters = config.parameters().into_iter();
    parameters
        .filter(|(name, _)| decides(name))
        .map(|(name, value)| (name, value.to_string()))
        .collect()
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
    use super::*;
    use crate::parameters::{Flash, Promises};

    #[test]
    fn devices_that_differ_in_what_decides_are_not_shared() {
        let text = |pair: &str| {
            let mut settings = crate::settings::Settings::new();
            settings.set_pair(pair).unwrap();
            settings.resolve().unwrap().device_text()
        };
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
    fn every_parameter_of_flash_and_device_is_said_to_decide_or_not() {
        let rows = Flash::ROWS.iter().chain(Promises::ROWS);
        let mut rows: Vec<&str> = rows.map(|row| row.name).collect();
        let mut said: Vec<&str> = DECIDES.iter().map(|(name, _)| *name).collect();
        rows.sort_unstable();
        said.sort_unstable();
        assert_eq!(said, rows);
    }
}
