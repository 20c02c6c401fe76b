//! Stand-ins fitted to a trace: a profile of it, and requests drawn from the profile.
//!
//! A profile keeps the sweeps of a trace, which are sequences of reads or writes that continue each other: in which block of the working set each
//! begins, and where in it, the sizes of its requests, and when among all others it began and ended.
//! Blocks are numbered in the order in which they are first touched. A generator gives them other addresses, where
//! neighbours stay neighbours; requests of a sweep come at a steady pace. Of each gap its class is kept. Pages are of 4 KiB and blocks of 64 pages, whatever the device.
//!
//! | module | holds |
//! | --- | --- |
//! | `profile` `text` | the kept facts about a trace, and the same as TOML |
//! | `fit` `sweep` `blocks` `classes` | from requests to a profile |
//! | `generate` `schedule` `arrivals` `addresses` | the reverse: which request comes next, when, and at which address |
//! | `deck` | draws without replacement |

mod addresses;
mod arrivals;
mod blocks;
mod classes;
mod deck;
mod fit;
mod generate;
mod profile;
mod schedule;
mod sweep;
mod text;

pub use fit::Fitter;
pub use generate::Fitted;
pub use profile::Profile;
pub use text::ProfileError;

use std::sync::Arc;

use destage_base::parameter::{Parameter, Value, Values};
use destage_base::{Random, parameters};
use destage_trace::Operation;

use crate::Requests;
use crate::shared::{REQUESTS, WRITE_PERCENT};

parameters! {
    /// The parameters of every fitted stand-in.
    struct Parameters {
        requests: u64 as REQUESTS { source: "as many requests as the trace had" };
        write_percent: f64 as WRITE_PERCENT { source: "as the trace had it" };
    }
}

/// The parameters of a fitted stand-in; their default values are [`defaults`].
pub const PARAMETERS: &[Parameter] = Parameters::ROWS;

/// The values of `profile` by default.
#[must_use]
pub fn defaults(profile: &Profile) -> Values {
    let mut values = Values::defaults(PARAMETERS);
    values.set("requests", Value::Integer(profile.requests()));
    values.set("write_percent", Value::Number(profile.write_percent()));
    values
}

/// The requests of `profile` under `values` of [`PARAMETERS`], as `seed` has them.
///
/// Another share of writes leaves out reads, or writes, at random; the others keep their times.
#[must_use]
pub fn requests(profile: &Arc<Profile>, values: &Values, seed: u64) -> Requests {
    let own = Parameters::from_values(values);
    let has = profile.write_percent() / 100.0;
    let wanted = own.write_percent / 100.0;
    let all = Fitted::new(Arc::clone(profile), seed);
    if (has - wanted).abs() < 1e-9 {
        return Box::new(all.take(usize::try_from(own.requests).unwrap_or(usize::MAX)));
    }
    // The share of each that is kept.
    let odds = |part: f64, of: f64| if of > 0.0 { (part / of).min(1.0) } else { 0.0 };
    let writes = odds(wanted * (1.0 - has), (1.0 - wanted) * has);
    let reads = odds((1.0 - wanted) * has, wanted * (1.0 - has));
    let (writes, reads) = match (wanted >= 1.0, wanted <= 0.0) {
        (true, _) => (1.0, 0.0),
        (_, true) => (0.0, 1.0),
        _ => (writes, reads),
    };
    // A profile with only reads cannot give writes, nor one with only writes reads.
    let possible = (has > 0.0 || wanted <= 0.0) && (has < 1.0 || wanted >= 1.0);
    let mut random = Random::new(!seed);
    let kept = all.filter(move |request| {
        let share = if request.operation == Operation::Write {
            writes
        } else {
            reads
        };
        share >= 1.0 || random.unit() < share
    });
    let count = if possible { own.requests } else { 0 };
    let lines = kept.zip(1u32..=u32::MAX).map(|(mut request, line)| {
        request.line = line;
        request
    });
    Box::new(lines.take(usize::try_from(count).unwrap_or(usize::MAX)))
}
