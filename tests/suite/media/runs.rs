//! Repeats MQSim's rows as complete simulations: the profile `mqsim-match` runs the requests of a row through
//! host model, device and translation layer.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_NS;
use destage_sim::observer::{Observer, Response};
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
use destage_sim::settings::Settings;
use destage_sim::source::Source;

use super::mqsim::{completions, device, requests};
use super::{Named, lines, number};

/// The completion time of each request, by its position.
#[derive(Default)]
struct Completions(Vec<Ticks>);

impl Observer for Completions {
    fn wants_responses(&self) -> bool {
        true
    }
    fn response(&mut self, response: &Response) {
        let index = response.index as usize;
        let length = self.0.len().max(index + 1);
        self.0.resize(length, 0);
        self.0[index] = response.arrival + response.response.expect("a request that completed");
    }
}

/// Whether no result of the row depends on which page of a plane a write gets.
fn is_of_dies(row: &Named<'_>) -> bool {
    let whole_pages = (number(row, "sectors") * 512).is_multiple_of(number(row, "page_bytes"));
    let by_channel_and_chip = ["CWDP", "CWPD", "CPWD", "PCWD"].contains(&row["scheme"]);
    row["planes"] == "1"
        && row["cell"] == "SLC"
        && row["ties"] != "reads_first"
        && by_channel_and_chip
        && whole_pages
}

/// The number of rows of `text` that can be run in this way, the number of these rows with all completions equal,
/// and texts on the other rows.
pub fn compare(text: &str) -> (usize, usize, Vec<String>) {
    let (columns, lines) = lines(text);
    let (mut all, mut equal, mut wrong) = (0, 0, Vec::new());
    for (_, line) in lines {
        let row: Named<'_> = columns.iter().copied().zip(line.split(',')).collect();
        if !is_of_dies(&row) {
            continue;
        }
        let (channels, chips) = (number(&row, "channels"), number(&row, "chips"));
        let pair = 2 * (1000 / number(&row, "mts"));
        let has_link = row["pcie_gbps"] != "inf";
        let is_closed = row["replay"] == "closed";
        let depth = match (is_closed, has_link) {
            (true, _) => number(&row, "queue_depth"),
            (false, true) => 512,
            (false, false) => 100_000,
        };
        let pairs = [
            format!("flash.channels={channels}"),
            format!("flash.dies={}", channels * chips),
            "flash.planes_per_die=1".to_owned(),
            "flash.blocks_per_plane=128".to_owned(),
            format!("flash.pages_per_block={}", row["pages_per_block"]),
            format!("flash.page_bytes={}", row["page_bytes"]),
            format!("flash.read_us={}", number(&row, "read_ns") as f64 / 1000.0),
            format!(
                "flash.program_us={}",
                number(&row, "program_ns") as f64 / 1000.0
            ),
            format!(
                "flash.transfer_ns_per_byte={}",
                pair as f64 / 2.0 / number(&row, "width") as f64
            ),
            format!(
                "host.replay={}",
                // Over a link, the doorbells of all requests are rung at once, and the device fetches the
                // requests.
                if is_closed && !has_link {
                    "closed"
                } else {
                    "trace"
                }
            ),
            format!("host.queue_depth={depth}"),
            format!(
                "host.link_lane_gb_per_s={}",
                if has_link { row["pcie_gbps"] } else { "0" }
            ),
        ];
        let mut settings = Settings::new();
        settings.load_profile("mqsim-match").expect("the profile");
        for pair in &pairs {
            settings
                .set_pair(pair)
                .unwrap_or_else(|error| panic!("{error}"));
        }
        let config = settings.resolve().unwrap_or_else(|error| panic!("{error}"));
        let requests = requests(&row);
        let mut seen = Completions::default();
        run(
            &config,
            Source::memory("requests", &requests),
            &Prepass::default(),
            &mut seen,
        )
        .unwrap_or_else(|error| panic!("{error}"));
        let ours: Vec<u64> = seen.0.iter().map(|ticks| ticks / TICKS_PER_NS).collect();
        let theirs = completions(&requests, &device(&row));
        all += 1;
        match ours
            .iter()
            .zip(&theirs)
            .position(|(ours, theirs)| ours != theirs)
        {
            None if ours.len() == theirs.len() => equal += 1,
            place => wrong.push(format!("row {}: request {place:?}", row["row"])),
        }
    }
    (all, equal, wrong)
}
