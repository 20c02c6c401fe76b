use destage_flash::ftl::page::*;
use destage_flash::*;
use destage_sim::{elements::Elements, engine::*, host::*, observer::Silent, paging::*, source::Source};
fn main() {
    let shared = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    let only = std::env::args().nth(2).unwrap_or_default();
    let table = std::fs::read_to_string(shared.join("oracle/disksim-mean-response.csv")).unwrap();
    let mut lines = table.lines();
    let head: Vec<_> = lines.next().unwrap().split(',').collect();
    for line in lines {
        let row: std::collections::HashMap<_, _> = head.iter().copied().zip(line.split(',')).collect();
        let name = format!("{}/{}", row["config"], row["trace"]);
        if !name.starts_with(&only) { continue; }
        let f = |k: &str| row[k].parse::<f64>().unwrap();
        let u = |k: &str| row[k].parse::<u32>().unwrap();
        let path = match row["trace"] { "iozone" => "traces/iozone-100k.disksim.zst", "postmark" => "traces/postmark-62k.disksim.zst", "synth-a" => "oracle/synth-a.trace.zst", _ => "oracle/synth-b.trace.zst" };
        let geometry = Geometry { elements: u("elements"), planes: u("planes_per_element"), blocks_per_plane: u("blocks_per_plane"), pages_per_block: u("pages_per_block"), summary_page: true, page_bytes: u64::from(u("page_sectors")) * 512 };
        let ms = |k: &str| (f(k) * 1e7 + 0.5) as u64;
        let byte = f("xfer_ms_per_byte") * 1e7;
        let timing = Timing { read: ms("read_ms"), program: ms("write_ms"), erase: ms("erase_ms"), page_transfer: (byte * 528.0 * f("page_sectors") + 0.5) as u64, sector_transfer: (byte * 528.0 + 0.5) as u64 };
        let ftl = PageFtl::new(&PageConfig { geometry, timing, reserve_percent: f("reserve_pct"), min_free_percent: f("min_free_pct"), copy_back: u("copy_back") == 1, parallel_units: u("parallel_units"), allocation_pool: if u("alloc_pool") == 1 { AllocationPool::Element } else { AllocationPool::Plane }, cleaning: if u("cleaning_policy") == 2 { Policy::Greedy } else { Policy::WearAware }, background_cleaning: u("background_cleaning") == 1, endurance: 50, filled: true }).unwrap();
        let elements = Elements::new(Box::new(ftl), timing, geometry.elements, geometry.blocks_per_element());
        let start = std::time::Instant::now();
        let options = destage_trace::ReadOptions { format: destage_trace::format::find("disksim"), ..Default::default() };
        let reader = destage_trace::Reader::open(&shared.join(path), &options).unwrap();
        let config = EngineConfig { queue_depth: u("device_queue"), scheduler: if u("host_policy") == 3 { Scheduler::CLook } else { Scheduler::Fifo }, bus_per_sector: 2384, clock: if std::env::args().nth(3).is_some() { destage_sim::events::Clock::DoubleMs } else { destage_sim::events::Clock::Exact }, replay: Replay::Trace, time_scale: 1.0, attribution: Attribution::DiskSim, saturation: 10_000, window: Window::LastArrival, drain: false, paging: Paging { align: Align::Cover, sectors_per_page: u64::from(u("page_sectors")) }, address_map: AddressMap::Refuse, span_pages: 0, honor_flush: true };
        let mut silent = Silent;
        let m = Engine::new(config, Source::reading(path, reader), elements, None, &mut silent).run().unwrap().0;
        let t = start.elapsed().as_secs_f64();
        let r = m.response.all().unwrap(); let d = m.device_response.all().unwrap();
        let erases: u64 = m.totals.tally.erases.iter().sum(); let moved = m.totals.tally.programs[2];
        let ok = |a: f64, k: &str, tol: f64| if (a - f(k)).abs() <= tol { "ok".into() } else { format!("BAD {a} != {}", row[k]) };
        println!("{name}: mean {} dev {} erases {} moved {} completed {} sat {} | std {} p50 {} p99 {} max {} cleantime {} | {:.2} Mpages/s {:.0}ms", ok(r.mean_ms, "mean_ms", 1e-6), ok(d.mean_ms, "device_mean_ms", 1e-6), ok(erases as f64, "erases", 0.), ok(moved as f64, "pages_moved", 0.), ok(m.completed as f64, "completed", 0.), ok(f64::from(u8::from(m.saturated)), "saturated", 0.), ok(r.std_ms, "std_ms", 1e-6), ok(r.percentiles_ms[0], "p50_ms", 1e-6), ok(r.percentiles_ms[2], "p99_ms", 1e-4), ok(r.max_ms, "max_ms", 1e-6), ok(m.totals.clean_time as f64 / 1e7, "clean_time_ms", 1e-3), (m.page_reads + m.page_writes) as f64 / t / 1e6, t * 1e3);
    }
}
