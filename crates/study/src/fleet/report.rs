//! Compares three ways to use the same total memory: separate buffers of equal size, one shared buffer, and
//! separate buffers whose sizes are chosen to absorb the most writes. For separate buffers, the counts are summed
//! over the volumes.

use std::collections::BTreeMap;
use std::time::Instant;

use destage_base::parameter::Value as Setting;
use destage_sim::metrics::{MetricRow, Metrics, Number, rows};
use serde_json::{Map, Value, json};

use super::curves::{PreparedFleet, shared_sizes};
use super::folder::VolumeFacts;
use super::split;
use crate::Store;
use destage::Error;
use destage::Facts;
use destage::Manifest;
use destage::Record;
use destage::numbers;

/// The metrics that are summed over the volumes. All are counts, because a sum of maxima or of means has no
/// meaning.
const ADDED: [&MetricRow; 13] = [
    rows::HOST_REQUESTS,
    rows::HOST_COMPLETED,
    rows::HOST_PAGE_READS,
    rows::HOST_PAGE_WRITES,
    rows::HOST_BYTES_WRITTEN,
    rows::BUFFER_WRITE_HITS,
    rows::BUFFER_READ_HITS,
    rows::BUFFER_EVICTIONS,
    rows::BUFFER_DESTAGED_PAGES,
    rows::BUFFER_ON_DEMAND_UPDATES,
    rows::BUFFER_PAD_READS,
    rows::BUFFER_PAD_FILLS,
    rows::BUFFER_DIRTY_AT_END,
];

/// The report on a fleet, computed from its curves.
pub struct FleetReport {
    /// Facts about the computation of the results, such as the version of the program.
    pub manifest: Manifest,
    /// The volumes.
    pub volumes: Vec<VolumeFacts>,
    /// The comparison of the three ways, for each scheme.
    pub fleet: Vec<FleetCurve>,
    /// The points of each volume's curve, as they are stored: `own[scheme][volume]` is a list of points.
    own: Vec<Vec<Vec<Value>>>,
}

/// The results of one scheme for each amount of total memory.
#[derive(Clone, Debug)]
pub struct FleetCurve {
    /// The scheme, as the user typed it.
    pub buffer: String,
    /// The points, in ascending order of size.
    pub points: Vec<FleetPoint>,
}

/// The three ways to use the same total memory.
#[derive(Clone, Debug)]
pub struct FleetPoint {
    /// The total memory divided by the number of volumes, in bytes: the size of each buffer if all volumes have
    /// separate buffers of equal size.
    pub each_bytes: u64,
    /// The total memory in bytes, which is the size of the shared buffer.
    pub bytes: u64,
    /// The sums over the volumes if each volume has a separate buffer of [`Self::each_bytes`].
    pub own: Metrics,
    /// The metrics of one buffer that all volumes share.
    pub shared: Metrics,
    /// The sums over the volumes if each volume has a separate buffer of the size in [`Self::split_bytes`].
    pub split: Metrics,
    /// The sizes of the separate buffers, in bytes, in the order of the volumes. The sizes are chosen so that the
    /// buffers together absorb as many writes as possible, but use no more than the total memory.
    pub split_bytes: Vec<u64>,
}

/// The values of the metrics in [`ADDED`], in the same order; `None` for a metric that a run does not have.
type Counts = [Option<u64>; ADDED.len()];

impl PreparedFleet {
    /// Builds the report from the curves in `store`.
    ///
    /// # Errors
    /// If a curve is not in `store`.
    pub fn report(&self, store: &Store) -> Result<FleetReport, Error> {
        let started = Instant::now();
        let volumes = &self.fleet.contents.volumes;
        let mut own = vec![vec![Vec::new(); volumes.len()]; self.schemes.len()];
        let mut shared = vec![Vec::new(); self.schemes.len()];
        let mut missing = 0;
        for unit in self.units() {
            let points = match store.read(&unit.key).map(|mut kept| kept["points"].take()) {
                Some(Value::Array(points)) if !points.is_empty() => points,
                _ => {
                    missing += 1;
                    continue;
                }
            };
            match unit.volume {
                Some(volume) => own[unit.scheme][volume] = points,
                None => shared[unit.scheme] = points,
            }
        }
        if missing > 0 {
            return Err(Error::Input(format!(
                "{}: {missing} of {} curves are missing; expected all (`destage study missing DIR` names them)",
                self.name,
                self.curves()
            )));
        }
        let schemes = self.schemes.iter().zip(own.iter().zip(&shared));
        let fleet = schemes.map(|(scheme, (own, shared))| FleetCurve {
            buffer: scheme.clone(),
            points: points(&self.sizes, own, shared),
        });
        let all = &self.fleet.contents.all;
        let mut facts =
            Facts::of_requests(&self.fleet.folder.join(&all.file).display().to_string());
        facts.digest = Some(all.digest.clone());
        facts.format = Some("compact");
        let mut manifest = Manifest::of_study(started);
        manifest.inputs = vec![facts];
        manifest.seed = self.seed;
        Ok(FleetReport {
            manifest,
            volumes: volumes.clone(),
            fleet: fleet.collect(),
            own,
        })
    }
}

/// Computes the points of a scheme. `own` has the stored curve of each volume, and `shared` is the stored curve
/// of the shared buffer.
fn points(sizes: &[u64], own: &[Vec<Value>], shared: &[Value]) -> Vec<FleetPoint> {
    // The curve of a scheme without a buffer has only one point, which applies to all sizes.
    let at = |points: &[Value], size: usize| counts(&points[size.min(points.len() - 1)]);
    let counted: Vec<Vec<Counts>> = own
        .iter()
        .map(|points| (0..sizes.len()).map(|size| at(points, size)).collect())
        .collect();
    let hits = ADDED
        .iter()
        .position(|row| **row == *rows::BUFFER_WRITE_HITS);
    let absorbed: Vec<Vec<u64>> = counted
        .iter()
        .map(|of| {
            of.iter()
                .map(|counts| hits.and_then(|hits| counts[hits]).unwrap_or(0))
                .collect()
        })
        .collect();
    let splits = split::best(sizes, &absorbed);
    let sum = |size: &dyn Fn(usize) -> usize| {
        let volumes = counted.iter().enumerate();
        added(volumes.map(|(volume, of)| &of[size(volume)]))
    };
    let totals = shared_sizes(sizes, own.len());
    let each = sizes.iter().zip(totals).zip(&splits).enumerate();
    each.map(|(place, ((each_bytes, bytes), split))| FleetPoint {
        each_bytes: *each_bytes,
        bytes,
        own: sum(&|_| place),
        shared: named(&at(shared, place)),
        split: sum(&|volume| split[volume]),
        split_bytes: split.iter().map(|size| sizes[*size]).collect(),
    })
    .collect()
}

fn counts(point: &Value) -> Counts {
    ADDED.map(|row| point[row.name].as_u64())
}

fn added<'a>(all: impl Iterator<Item = &'a Counts>) -> Metrics {
    let mut sum: Counts = [None; ADDED.len()];
    for counts in all {
        for (sum, count) in sum.iter_mut().zip(counts) {
            if let Some(count) = count {
                *sum.get_or_insert(0) += count;
            }
        }
    }
    named(&sum)
}

fn named(counts: &Counts) -> Metrics {
    let all = ADDED.iter().zip(counts);
    all.filter_map(|(row, count)| Some((row.name.to_owned(), Number::Integer((*count)?))))
        .collect()
}

/// The names of the three ways to use the same total memory: separate buffers of equal size, one shared buffer,
/// and separate buffers of chosen sizes.
const WAYS: [&str; 3] = ["own", "shared", "split"];

impl FleetPoint {
    /// The name and the metrics of each of the three ways to use the memory.
    pub fn ways(&self) -> impl Iterator<Item = (&'static str, &Metrics)> {
        WAYS.into_iter().zip([&self.own, &self.shared, &self.split])
    }
}

impl FleetReport {
    /// `{"manifest", "conclusions", "fleet": [{"buffer", "points": [{"each_bytes", "bytes", "own", "shared",
    /// "split"}]}], "volumes": [{"volume", "requests", ..., "curves": [{"buffer", "split_bytes", "points"}]}]}`:
    /// the output of `destage fleet --json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let point = |point: &FleetPoint| {
            let mut fields = Map::new();
            fields.insert("each_bytes".to_owned(), json!(point.each_bytes));
            fields.insert("bytes".to_owned(), json!(point.bytes));
            for (way, metrics) in point.ways() {
                fields.insert(way.to_owned(), destage::json::metrics(metrics));
            }
            Value::Object(fields)
        };
        let fleet = self.fleet.iter().map(|curve| {
            let points: Vec<_> = curve.points.iter().map(point).collect();
            json!({ "buffer": curve.buffer, "points": points })
        });
        let volumes = self.volumes.iter().enumerate().map(|(place, volume)| {
            let mut fields = json!(volume);
            let curves = self.fleet.iter().zip(&self.own);
            let curves = curves.map(|(curve, own)| {
                let split = curve.points.iter().map(|point| point.split_bytes[place]);
                json!({
                    "buffer": curve.buffer,
                    "split_bytes": split.collect::<Vec<_>>(),
                    "points": own[place],
                })
            });
            fields["curves"] = curves.collect();
            fields
        });
        destage::json::text(&json!({
            "manifest": self.manifest.single(),
            "conclusions": self.conclusions(),
            "fleet": fleet.collect::<Vec<_>>(),
            "volumes": volumes.collect::<Vec<_>>(),
        }))
    }

    /// The conclusions, one text for each scheme. The text describes the point at which separate buffers of equal
    /// size and a shared buffer differ most in the number of absorbed writes.
    #[must_use]
    pub fn conclusions(&self) -> Vec<String> {
        self.fleet
            .iter()
            .filter_map(|curve| self.conclusion(curve))
            .collect()
    }

    fn conclusion(&self, curve: &FleetCurve) -> Option<String> {
        let hits = |metrics: &Metrics| match metrics.get(rows::BUFFER_WRITE_HITS.name)? {
            Number::Integer(hits) => Some(hits),
            Number::Real(_) => None,
        };
        let all = curve.points.iter();
        let point = all
            .filter_map(|point| Some((point, hits(&point.own)?, hits(&point.shared)?)))
            .max_by_key(|(point, own, shared)| (own.abs_diff(*shared), point.bytes));
        let (point, own, shared) = point?;
        let writes = point.own.get(rows::HOST_PAGE_WRITES.name)?.as_f64();
        if writes == 0.0 {
            return None;
        }
        let percent = |hits: u64| format!("{:.1} %", 100.0 * hits as f64 / writes);
        let each = numbers::size(point.each_bytes);
        let mut text = format!(
            "{}: with {each} for each of {} volumes, {} in all, separate buffers absorb {} of the page writes, one shared buffer {}, and the best split {}.",
            curve.buffer,
            self.volumes.len(),
            numbers::size(point.bytes),
            percent(own),
            percent(shared),
            percent(hits(&point.split)?),
        );
        let enough = |of: fn(&FleetPoint) -> &Metrics, wanted: u64| {
            let found = curve.points.iter();
            found
                .filter(|point| hits(of(point)) >= Some(wanted))
                .map(|point| point.bytes)
                .min()
        };
        let enough = match shared >= own {
            true => enough(|point| &point.shared, own),
            false => enough(|point| &point.own, shared),
        };
        if let Some(bytes) = enough.filter(|bytes| *bytes < point.bytes) {
            let (bytes, more) = (numbers::size(bytes), numbers::size(point.bytes));
            text.push_str(&match shared >= own {
                true => format!(" One shared buffer of {bytes} absorbs as many as separate buffers with {more}."),
                false => format!(" Separate buffers with {bytes} in all absorb as many as a shared buffer of {more}."),
            });
        }
        Some(text)
    }

    /// The results in the form in which a comparison returns runs. The first records are for each scheme, size
    /// and way to use the memory. Their field `trace` is the name of the way (`own`, `shared` or `split`), and
    /// their buffer size is the total memory. The other records are for each volume, scheme and size. Their field
    /// `trace` is the file of the volume.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        let record = |trace: &str, buffer: &str, bytes: u64, metrics: Metrics| Record {
            trace: trace.to_owned(),
            buffer: buffer.to_owned(),
            ftl: "none".to_owned(),
            parameters: BTreeMap::from([
                ("buffer.capacity_bytes".to_owned(), Setting::Integer(bytes)),
                ("buffer.kind".to_owned(), Setting::Text(buffer.to_owned())),
            ]),
            metrics,
            explained: None,
            error: None,
        };
        let mut records = Vec::new();
        for curve in &self.fleet {
            for point in &curve.points {
                let ways = point.ways();
                records.extend(ways.map(|(way, metrics)| {
                    record(way, &curve.buffer, point.bytes, metrics.clone())
                }));
            }
        }
        for (place, volume) in self.volumes.iter().enumerate() {
            for (curve, own) in self.fleet.iter().zip(&self.own) {
                records.extend(own[place].iter().map(|point| {
                    let bytes = point["bytes"].as_u64().unwrap_or(0);
                    record(&volume.file.file, &curve.buffer, bytes, metrics(point))
                }));
            }
        }
        records
    }
}

/// The metrics of a stored point of a curve.
fn metrics(point: &Value) -> Metrics {
    let fields = point.as_object().into_iter().flatten();
    let number = |(name, value): (&String, &Value)| {
        let number = match value.as_u64() {
            Some(whole) => Number::Integer(whole),
            None => Number::Real(value.as_f64()?),
        };
        Some((name.clone(), number))
    };
    fields
        .filter(|(name, _)| *name != "pages" && *name != "bytes")
        .filter_map(number)
        .collect()
}
