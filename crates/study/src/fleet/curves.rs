//! Computes the curves of a fleet, which are results over the buffer size. Each scheme has one curve for each
//! volume, and one curve for the shared buffer with the requests of all volumes. Each curve is stored when it is
//! computed, so several machines can divide the curves among them.

use std::path::PathBuf;

use destage_sim::settings::{Config, Origin, Settings};
use destage_trace::request::{SECTOR_BYTES, SECTORS_MAX};
use serde_json::{Map, Value, json};

use super::folder::{FileFacts, Fleet};
use crate::{InputFacts, Key, Plan, Planned, Role, Shard, Share, Store};
use destage::Effort;
use destage::Error;
use destage::Grid;
use destage::internal::side_by_side;
use destage::internal::{bytes_of, default_sizes};
use destage::{CurvePlan, curve};
use destage::{Input, Reading};

/// The settings, the schemes and the buffer sizes for the curves of a fleet.
#[derive(Clone)]
pub struct FleetPlan {
    /// All settings except the scheme and the size. Only buffers are simulated, without flash.
    pub settings: Settings,
    /// The schemes, in the form that [`Grid::buffers`] accepts; `None` for the scheme of the settings.
    pub buffers: Option<Vec<String>>,
    /// The buffer sizes for each volume, in the form that [`Grid::sizes`] accepts. The sizes of the shared buffer
    /// are these sizes times the number of volumes. `None` chooses at most 24 sizes: 64, 96, 128, 192 pages and
    /// so on, up to an upper bound on the number of pages that any volume writes.
    pub sizes: Option<Vec<String>>,
}

/// A fleet with the list of the curves to compute.
pub struct PreparedFleet {
    pub(super) name: String,
    pub(super) fleet: Fleet,
    /// The schemes, as the user typed them.
    pub(super) schemes: Vec<String>,
    /// The buffer sizes for each volume, in bytes, in ascending order.
    pub(super) sizes: Vec<u64>,
    pub(super) seed: u64,
    page_bytes: u64,
    own: Settings,
    shared: Settings,
    /// The curves, in descending order of their numbers of requests.
    units: Vec<Unit>,
}

/// A curve to compute: one scheme with the requests of one volume, or with the requests of all volumes.
pub(super) struct Unit {
    /// The index of the volume; `None` for the curve of the shared buffer.
    pub(super) volume: Option<usize>,
    /// The index of the scheme.
    pub(super) scheme: usize,
    pub(super) key: Key,
}

const VOLUMES: &str = "trace.volumes";
const STRIDE: &str = "trace.volume_stride";
/// The largest possible buffer, in pages and in bytes. The parameter `buffer.capacity_bytes` has the same upper
/// bounds.
const PAGES_MAX: u64 = 1 << 31;
const BYTES_MAX: u64 = 1 << 44;
/// In the shared buffer, the volumes are at different addresses. The first addresses of two volumes are at least
/// this many sectors apart, which is the default of `trace.volume_stride`.
const STRIDE_SECTORS: u64 = 1 << 32;

impl Fleet {
    /// Builds the list of the curves for `plan`.
    ///
    /// # Errors
    /// If `plan` has a setting that does not apply to a fleet, or a wrong scheme or size.
    pub fn prepare(&self, plan: &FleetPlan) -> Result<PreparedFleet, Error> {
        let settings = &plan.settings;
        for (key, why) in [
            (
                VOLUMES,
                "volumes have files of their own, and are placed one after the other in the shared buffer",
            ),
            (STRIDE, "the value follows from the volumes"),
            (
                "buffer.capacity_bytes",
                "the sizes of a fleet are given for each volume",
            ),
        ] {
            if settings.text(key).is_some() {
                return Err(Error::Input(format!(
                    "{key}: does not apply to a fleet: {why}; expected no such setting"
                )));
            }
        }
        if settings.text("ftl.kind").is_some_and(|kind| kind != "none") {
            return Err(Error::Input(
                "ftl.kind: a fleet simulates buffers alone; expected none (`destage curve` of a volume's file takes a translation layer)".to_owned(),
            ));
        }
        let mut own = settings.clone();
        own.set_kind("ftl", "none")?;
        let mut shared = own.clone();
        let volumes = &self.contents.volumes;
        let ends = volumes.iter().map(|volume| volume.file.end_sector);
        let stride = ends
            .max()
            .unwrap_or(0)
            .next_power_of_two()
            .max(STRIDE_SECTORS);
        // The numbers of volumes may be so large (those of a block trace are numbers of devices) that addresses in
        // proportion to them do not fit.
        let last = volumes.last().map_or(0, |volume| u64::from(volume.volume));
        let end = (last + 1).checked_mul(stride);
        let stride = stride.to_string();
        let placed = match end.is_some_and(|end| end <= SECTORS_MAX) {
            true => &[(VOLUMES, "separate"), (STRIDE, &*stride)][..],
            false => &[(VOLUMES, "concatenate")],
        };
        for (key, value) in placed {
            shared.set(key, value, Origin::Given(format!("the fleet's {key}")));
        }
        let grid = |settings: &Settings| {
            let grid = Grid::new(settings.clone());
            match &plan.buffers {
                Some(items) => grid.buffers(items.iter().cloned()),
                None => grid,
            }
        };
        let (of_own, of_shared) = (grid(&own), grid(&shared));
        let (each, together) = (of_own.combinations()?, of_shared.combinations()?);
        let Some(first) = each.first() else {
            return Err(Error::Internal("a grid has no combination".to_owned()));
        };
        let page_bytes = first.config.typed.flash.page_bytes;
        let sizes = self.sizes(&of_own, plan.sizes.as_deref(), &first.config)?;
        let in_all = shared_sizes(&sizes, volumes.len());
        let mut units = Vec::new();
        for (scheme, (own, shared)) in each.iter().zip(&together).enumerate() {
            let of = |digest: &str, shared_by_all: bool| match shared_by_all {
                true => Key::of_curve(digest, &in_all, shared),
                false => Key::of_curve(digest, &sizes, own),
            };
            units.push(Unit {
                volume: None,
                scheme,
                key: of(&self.contents.all.digest, true)?,
            });
            for (volume, facts) in volumes.iter().enumerate() {
                units.push(Unit {
                    volume: Some(volume),
                    scheme,
                    key: of(&facts.file.digest, false)?,
                });
            }
        }
        // The longest curves are computed first, so that all workers finish at about the same time.
        units.sort_by_key(|unit| std::cmp::Reverse(self.file(unit.volume).requests));
        Ok(PreparedFleet {
            name: format!("fleet-{}", self.name()),
            fleet: self.clone(),
            schemes: each.iter().map(|one| one.buffer.clone()).collect(),
            sizes,
            seed: first.config.typed.sim.seed,
            page_bytes,
            own,
            shared,
            units,
        })
    }

    /// The buffer sizes that `items` describe, rounded down to whole pages; the default sizes if `items` is
    /// `None`.
    fn sizes(
        &self,
        grid: &Grid,
        items: Option<&[String]>,
        config: &Config,
    ) -> Result<Vec<u64>, Error> {
        let page_bytes = config.typed.flash.page_bytes;
        let volumes = &self.contents.volumes;
        let most = (PAGES_MAX * page_bytes).min(BYTES_MAX) / volumes.len() as u64;
        let Some(items) = items else {
            let sectors = page_bytes.div_ceil(SECTOR_BYTES);
            let pages = |file: &FileFacts| {
                // An upper bound on the number of written pages. A write accesses as many pages as its sectors
                // can fill, and up to two more pages if it is not aligned.
                let written = file.written_sectors / sectors + 2 * file.writes;
                written.min(file.end_sector.div_ceil(sectors))
            };
            let largest = volumes.iter().map(|volume| pages(&volume.file)).max();
            let mut sizes = default_sizes(largest.unwrap_or(0), config);
            sizes.retain(|size| *size <= most);
            return Ok(sizes);
        };
        let mut sizes = bytes_of(grid, items)?;
        for size in &mut sizes {
            *size = *size / page_bytes * page_bytes;
        }
        sizes.dedup();
        let wrong = |size: u64, expected: String| {
            let what = format!(
                ": {size} bytes for each of {} volumes; expected {expected}",
                volumes.len()
            );
            Error::argument("sizes", what)
        };
        match sizes.iter().find(|size| **size == 0 || **size > most) {
            Some(0) => Err(wrong(0, format!("at least a page, {page_bytes} bytes"))),
            Some(size) => Err(wrong(
                *size,
                format!("at most {most}, so that the shared buffer is not too large"),
            )),
            None => Ok(sizes),
        }
    }

    /// The file with the requests of `volume`, or for `None` the file with the requests of all volumes.
    fn file(&self, volume: Option<usize>) -> &FileFacts {
        match volume {
            Some(volume) => &self.contents.volumes[volume].file,
            None => &self.contents.all,
        }
    }
}

/// The sizes of the shared buffer, which are `sizes` times the number of volumes.
pub(super) fn shared_sizes(sizes: &[u64], volumes: usize) -> Vec<u64> {
    sizes.iter().map(|size| size * volumes as u64).collect()
}

impl PreparedFleet {
    /// The list of all curves. With this list, the commands `destage study status` and `destage study missing`
    /// find the curves that have no result yet.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let planned = |unit: &Unit| {
            let volume = unit
                .volume
                .map(|volume| self.fleet.contents.volumes[volume].volume);
            let volume = volume.map_or("all".to_owned(), |number| number.to_string());
            let file = self.fleet.file(unit.volume);
            let labels = [
                ("volume", volume),
                ("buffer", self.schemes[unit.scheme].clone()),
            ];
            Planned::new(
                &unit.key,
                labels,
                InputFacts {
                    name: file.file.clone(),
                    digest: Some(format!("sha256:{}", file.digest)),
                    role: Role::Original,
                    differs: String::new(),
                },
            )
        };
        Plan::of_fleet(
            &self.name,
            &self.fleet.folder,
            self.units.iter().map(planned).collect(),
        )
    }

    /// Writes the plan to `store`.
    ///
    /// # Errors
    /// If the plan cannot be written, or if `store` has a plan of a different fleet or study with the same name.
    pub fn keep_plan(&self, store: &Store) -> Result<(), Error> {
        store.write_plan(&self.plan())
    }

    /// The number of curves.
    #[must_use]
    pub fn curves(&self) -> usize {
        self.units.len()
    }

    /// Computes the curves of one part that have no result in `store` yet. The curves, in descending order of
    /// their numbers of requests, are assigned to the parts in turn.
    ///
    /// # Errors
    /// An error in a file or the store, or an interrupt if `effort.progress` asks to stop.
    pub fn carry_out_part(
        &self,
        store: &Store,
        shard: Shard,
        effort: &Effort<'_>,
    ) -> Result<Share, Error> {
        let mine = |place: usize| place as u64 % shard.of == shard.index - 1;
        let own = self.units.iter().enumerate();
        let own: Vec<&Unit> = own
            .filter(|(place, _)| mine(*place))
            .map(|(_, unit)| unit)
            .collect();
        let is_missing = |unit: &&&Unit| store.read(&unit.key).is_none();
        let to_do: Vec<&Unit> = own.iter().filter(is_missing).copied().collect();
        side_by_side(
            &to_do,
            |_| 1,
            effort,
            |unit, effort| {
                let result = self.make(unit, effort)?;
                store.write(&unit.key, &result)
            },
        )?;
        Ok(Share {
            runs: self.units.len(),
            own: own.len(),
            made: to_do.len(),
            // The list is empty, because a curve that fails ends this function with an error.
            failures: Vec::new(),
        })
    }

    /// Computes the curve `unit`. The result has the form `{"points": [{"pages", "bytes", METRIC: VALUE}]}`.
    fn make(&self, unit: &Unit, effort: &Effort<'_>) -> Result<Value, Error> {
        let file = self.fleet.file(unit.volume);
        let path: PathBuf = self.fleet.folder.join(&file.file);
        let sizes = match unit.volume {
            Some(_) => self.sizes.clone(),
            None => shared_sizes(&self.sizes, self.fleet.contents.volumes.len()),
        };
        let settings = match unit.volume {
            Some(_) => &self.own,
            None => &self.shared,
        };
        let input = Input::trace(&path).read(Reading {
            format: Some("compact".to_owned()),
            ..Reading::default()
        })?;
        let plan = CurvePlan {
            settings: settings.clone(),
            buffers: Some(vec![self.schemes[unit.scheme].clone()]),
            sizes: Some(sizes.iter().map(u64::to_string).collect()),
            sampling: None,
        };
        let curves = curve(&input, &plan, effort)?;
        let digest = curves
            .manifest
            .inputs
            .first()
            .and_then(|facts| facts.digest.as_ref());
        if digest != Some(&file.digest) {
            return Err(Error::Input(format!(
                "{}: is not the file that was written: it has sha256 {}; expected {} (partition the trace again)",
                path.display(),
                digest.map_or("unknown", String::as_str),
                file.digest
            )));
        }
        let mut points = Vec::new();
        for point in curves.curves.iter().flat_map(|curve| curve.points()) {
            if let Some(error) = &point.error {
                return Err(Error::Input(format!(
                    "{}: {}: {error}",
                    path.display(),
                    point.buffer
                )));
            }
            let bytes = point.capacity().unwrap_or(0);
            let mut fields = Map::new();
            fields.insert("pages".to_owned(), json!(bytes / self.page_bytes));
            fields.insert("bytes".to_owned(), json!(bytes));
            if let Value::Object(metrics) = destage::json::metrics(&point.metrics) {
                fields.extend(metrics);
            }
            points.push(Value::Object(fields));
        }
        Ok(json!({ "points": points }))
    }

    pub(super) fn units(&self) -> &[Unit] {
        &self.units
    }
}
