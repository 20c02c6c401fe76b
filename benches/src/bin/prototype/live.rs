//! Measures one input on one buffer. First a client replays the input on the live device in real time. Then a
//! simulated run repeats the requests that the server recorded.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::Failure;
use crate::logs::{difference, responses};

/// The device of the paper's prototype, as far as the paper describes it. Runs simulate time and do not only count
/// operations.
const DEVICE: [&str; 8] = [
    "--profile",
    "bplru-mlc",
    "--size",
    "8MiB",
    "--set",
    "sim.costing=event",
    "--set",
    "device.power_may_fail=true",
];
/// The host issues one command at a time, as with USB mass storage.
const CLOSED: [&str; 4] = ["--set", "host.replay=closed", "--set", "host.queue_depth=1"];

/// An input as a trace. The trace ends with a flush, so that the device also writes the pages that are still in the
/// buffer.
pub struct Work {
    pub name: String,
    program: PathBuf,
    folder: PathBuf,
}

/// The measurements of one buffer.
pub struct Row {
    pub buffer: &'static str,
    /// The metrics of the live device. If `difference` is `None`, they equal the metrics of the simulated run.
    pub live: Value,
    /// The metrics that the client measured.
    pub client: Value,
    /// The metrics of a simulated run of the trace, without a server, in which the host issues one request at a time.
    pub alone: Value,
    /// The throughput in MB/s that follows from operation counts, as in the simulation of the paper.
    pub counted_mb_per_s: f64,
    /// The delay in ms between the completion of a request in the model and its answer by the server: median and 99th
    /// percentile.
    pub late_ms: [f64; 2],
    /// Response times in ms, in the order of the trace: first those of the model, then those that the client
    /// measured.
    pub responses: [Vec<f64>; 2],
    /// Number of records in the destage log.
    pub records: usize,
    /// The first difference between the live device and the simulated run, or `None`.
    pub difference: Option<String>,
}

/// A server process, which is killed when this value is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Work {
    /// Writes `input` as `trace.csv` to `folder`. `input` is a workload or the path of a trace.
    pub fn prepare(program: &Path, folder: &Path, input: &str) -> Result<Self, Failure> {
        let path = Path::new(input);
        let source = if path.exists() {
            let path = path.canonicalize()?;
            vec!["convert".to_owned(), path.display().to_string()]
        } else {
            let workload = format!("--workload={input}");
            vec!["generate".to_owned(), workload]
        };
        let work = Self {
            name: path
                .file_name()
                .map_or(input.to_owned(), |name| name.to_string_lossy().into_owned()),
            program: program.to_owned(),
            folder: folder.to_owned(),
        };
        let mut arguments = vec!["trace".to_owned()];
        arguments.extend(source);
        arguments.extend(["-o", "trace.csv", "-q"].map(str::to_owned));
        work.text(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
        let trace = folder.join("trace.csv");
        let text = std::fs::read_to_string(&trace)?;
        let last = text.lines().last().unwrap_or_default();
        let time = last.split(',').next().unwrap_or_default();
        let mut file = std::fs::OpenOptions::new().append(true).open(&trace)?;
        writeln!(file, "{time},0,flush,0,0,0,0")?;
        Ok(work)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder);
        command
    }

    fn text(&self, arguments: &[&str]) -> Result<String, Failure> {
        let output = self.command(arguments).output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(format!("destage {}: {why}", arguments.join(" ")).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Runs a command and parses its JSON output.
    fn json(&self, parts: &[&[&str]]) -> Result<Value, Failure> {
        Ok(serde_json::from_str(&self.text(&parts.concat())?)?)
    }

    fn read(&self, name: &str) -> Result<String, Failure> {
        Ok(std::fs::read_to_string(self.folder.join(name))?)
    }

    /// Measures `buffer` on the live device and in simulated runs.
    pub fn measure(&self, buffer: &'static str) -> Result<Row, Failure> {
        let device = [&["--buffer", buffer], &DEVICE[..]].concat();
        let serve: [&[&str]; 5] = [
            &["serve", "--unix", "live.sock", "--control", "live.ctl"],
            &["--quiet", "--json", "--record", "recorded.csv"],
            &[
                "--pace",
                "model",
                "--set",
                "sim.precondition=sequential_fill",
            ],
            &[
                "--destage-log",
                "live.destages.csv",
                "--response-log",
                "live.responses.csv",
            ],
            &device,
        ];
        let mut command = self.command(&serve.concat());
        let mut server = Server(command.stdout(Stdio::piped()).spawn()?);
        let output = server.0.stdout.take().ok_or("the server has no output")?;
        let mut output = BufReader::new(output);
        let mut ready = String::new();
        output.read_line(&mut ready)?;
        let address = ready
            .strip_prefix("ready ")
            .ok_or("the server did not begin")?;
        let client = self.json(&[
            &[
                "replay",
                "trace.csv",
                "--to",
                address.trim(),
                "--closed",
                "--json",
            ],
            &["--response-log", "client.responses.csv"],
        ])?;
        if client["failed"] != 0 {
            return Err(format!("{} requests failed", client["failed"]).into());
        }
        let stats = self.json(&[&["device", "live.ctl", "stats", "--json"]])?;
        self.text(&["device", "live.ctl", "stop"])?;
        let mut live = String::new();
        output.read_to_string(&mut live)?;
        let live: Value = serde_json::from_str(&live)?;
        let status = server.0.wait()?;
        if !status.success() {
            return Err(format!("the server ended with {status}").into());
        }

        let run = self.json(&[
            &[
                "run",
                "recorded.csv",
                "--json",
                "--quiet",
                "--destage-log",
                "run.destages.csv",
            ],
            &["--response-log", "run.responses.csv"],
            &device,
        ])?;
        let alone = self.json(&[&["run", "trace.csv", "--json", "--quiet"], &device, &CLOSED])?;
        let counted = self.json(&[
            &["run", "trace.csv", "--json", "--quiet", "--buffer", buffer],
            &DEVICE[..4],
        ])?;
        let destages = self.read("run.destages.csv")?;
        let logs = [
            ("destage log", "live.destages.csv", &destages),
            (
                "response log",
                "live.responses.csv",
                &self.read("run.responses.csv")?,
            ),
        ];
        let mut found = None;
        for (what, live, run) in logs {
            found = found.or(difference(what, &self.read(live)?, run));
        }
        found = found.or(metrics_differ(&live["metrics"], &run["metrics"]));
        Ok(Row {
            buffer,
            client: client["metrics"].clone(),
            alone: alone["metrics"].clone(),
            counted_mb_per_s: number(&counted["metrics"], "throughput.op_model_mb_per_s")?,
            late_ms: [
                number(&stats, "late_p50_ms")?,
                number(&stats, "late_p99_ms")?,
            ],
            responses: [
                responses(&self.folder.join("run.responses.csv"))?,
                responses(&self.folder.join("client.responses.csv"))?,
            ],
            records: destages.lines().count() - 1,
            live: live["metrics"].clone(),
            difference: found,
        })
    }
}

/// The first metric that differs between `live` and `run`, with both values.
fn metrics_differ(live: &Value, run: &Value) -> Option<String> {
    let names = [live, run].into_iter().filter_map(Value::as_object);
    let name = names
        .flat_map(|metrics| metrics.keys())
        .find(|name| live[*name] != run[*name])?;
    Some(format!("{name}: live {}, run {}", live[name], run[name]))
}

/// The metric `name` as a number.
pub fn number(metrics: &Value, name: &str) -> Result<f64, Failure> {
    let value = &metrics[name];
    value
        .as_f64()
        .ok_or_else(|| format!("{name} is {value}; expected a number").into())
}
