//! Stand-ins for traces. A profile is fitted to a trace, and requests are then drawn from the profile.
//!
//! A profile contains the sweeps of a trace. A sweep is a sequence of reads, or of writes, in which each request
//! begins where the previous one ended. For each sweep the profile has the block and the sector where the sweep
//! begins, the sizes of its requests, and the positions of its first and last request among all requests. Blocks are
//! numbered in the order in which they are first touched. The generator gives the blocks new addresses, at which
//! adjacent blocks remain adjacent. The requests of a sweep follow one another at a steady pace. For each gap between
//! arrivals, the profile has the class of the gap. A page has 4 KiB and a block has 64 pages, whatever the device.
//!
//! | module | holds |
//! | --- | --- |
//! | `profile` `text` | the profile of a trace, and its TOML form |
//! | `fit` `sweep` `blocks` `classes` | make a profile from requests |
//! | `generate` `schedule` `arrivals` `addresses` | generate requests from a profile: their order, arrival times and addresses |
//! | `deck` | random draws without replacement |

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

/// The parameters of a fitted stand-in; [`defaults`] returns their default values.
pub const PARAMETERS: &[Parameter] = Parameters::ROWS;

/// The default values of [`PARAMETERS`] for `profile`.
#[must_use]
pub fn defaults(profile: &Profile) -> Values {
    let mut values = Values::defaults(PARAMETERS);
    values.set("requests", Value::Integer(profile.requests()));
    values.set("write_percent", Value::Number(profile.write_percent()));
    values
}

/// The requests that `profile`, `values` of [`PARAMETERS`] and `seed` determine.
///
/// If `write_percent` differs from the share of writes in the profile, reads or writes are omitted at random. The
/// remaining requests keep their arrival times. If the profile lacks reads or writes that `write_percent` demands,
/// there are no requests.
#[must_use]
pub fn requests(profile: &Arc<Profile>, values: &Values, seed: u64) -> Requests {
    let own = Parameters::from_values(values);
    let has = profile.write_percent() / 100.0;
    let wanted = own.write_percent / 100.0;
    let all = Fitted::new(Arc::clone(profile), seed);
    if (has - wanted).abs() < 1e-9 {
        return Box::new(all.take(usize::try_from(own.requests).unwrap_or(usize::MAX)));
    }
    // The probability with which a write, or a read, is not omitted.
    let odds = |part: f64, of: f64| if of > 0.0 { (part / of).min(1.0) } else { 0.0 };
    let writes = odds(wanted * (1.0 - has), (1.0 - wanted) * has);
    let reads = odds((1.0 - wanted) * has, wanted * (1.0 - has));
    let (writes, reads) = match (wanted >= 1.0, wanted <= 0.0) {
        (true, _) => (1.0, 0.0),
        (_, true) => (0.0, 1.0),
        _ => (writes, reads),
    };
    // A profile that has only reads cannot give writes. A profile that has only writes cannot give reads.
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
