//! The chart of response times. For each input and buffer, two curves show the share of requests that completed
//! within a given time: one in the model, and one as measured by the client.

use std::path::Path;

use plotters::prelude::*;

use crate::Failure;
use crate::live::Row;

const PANEL: (u32, u32) = (330, 260);
const HEADER: u32 = 66;
/// Shorter times are drawn at this time.
const LEAST_MS: f64 = 0.01;
const MODEL: RGBColor = RGBColor(0, 114, 178);
const CLIENT: RGBColor = RGBColor(213, 94, 0);
/// The number of points of a curve.
const POINTS: usize = 200;

/// Draws `panels`, with `columns` of them side by side, into the SVG file `path`.
pub fn draw(path: &Path, panels: &[(String, Row)], columns: usize) -> Result<(), Failure> {
    let lines = panels.len().div_ceil(columns).max(1);
    let size = (PANEL.0 * columns as u32, PANEL.1 * lines as u32 + HEADER);
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let (header, body) = root.split_vertically(HEADER);
    let text = |size: u32| ("sans-serif", size).into_font().color(&BLACK);
    let title = "Share of the requests (%) that took at most so long (ms)";
    header.draw_text(title, &text(22), (16, 10))?;
    for (at, colour, who) in [
        (16, MODEL, "in the model"),
        (180, CLIENT, "as the client saw it"),
    ] {
        header.draw(&PathElement::new(
            [(at, 50), (at + 24, 50)],
            colour.stroke_width(2),
        ))?;
        header.draw_text(who, &text(15), (at + 30, 42))?;
    }
    for (panel, (name, row)) in body.split_evenly((lines, columns)).iter().zip(panels) {
        let most = row
            .responses
            .iter()
            .flatten()
            .copied()
            .fold(LEAST_MS * 10.0, f64::max);
        let workload = name.split(':').next().unwrap_or(name);
        let mut chart = ChartBuilder::on(panel)
            .caption(format!("{workload}, {}", row.buffer), text(15))
            .margin(8)
            .margin_right(18)
            .x_label_area_size(24)
            .y_label_area_size(36)
            .build_cartesian_2d((LEAST_MS..most).log_scale(), 0.0..100.0)?;
        chart
            .configure_mesh()
            .light_line_style(BLACK.mix(0.04))
            .bold_line_style(BLACK.mix(0.15))
            .y_label_formatter(&|share| format!("{share:.0}"))
            .label_style(text(12))
            .draw()?;
        for (times, colour) in row.responses.iter().zip([MODEL, CLIENT]) {
            chart.draw_series(LineSeries::new(shares(times), colour.stroke_width(2)))?;
        }
    }
    root.present()?;
    Ok(())
}

/// Points of the cumulative distribution of `times`. Each point is a time in ms and a share of the requests in %.
fn shares(times: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let point = |index: usize| {
        let share = 100.0 * (index + 1) as f64 / sorted.len() as f64;
        Some((sorted.get(index)?.max(LEAST_MS), share))
    };
    (0..=POINTS)
        .filter_map(|step| point(last * step / POINTS))
        .collect()
}
