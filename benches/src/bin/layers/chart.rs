//! The chart of the study: a panel per workload, a group of bars per layer, a bar per scheme.

use std::path::Path;

use destage_benches::Outcome;
use plotters::prelude::*;

use crate::Grid;

const WIDTH: u32 = 1180;
const PANEL: u32 = 280;
const HEADER: u32 = 74;
/// Colours that stay apart for readers who see few of them.
const COLOURS: [RGBColor; 3] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
];

/// Draws throughputs into the file `path`.
pub fn draw(
    path: &Path,
    workloads: &[&str],
    layers: &[&str],
    schemes: &[&str],
    grid: &Grid,
) -> Outcome<()> {
    let height = HEADER + PANEL * workloads.len() as u32;
    let root = SVGBackend::new(path, (WIDTH, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let (header, body) = root.split_vertically(HEADER);
    let text = |size: u32| ("sans-serif", size).into_font().color(&BLACK);
    header.draw_text(
        "Host MB per second of flash time, by translation layer and scheme",
        &text(24),
        (16, 10),
    )?;
    for (number, (scheme, colour)) in schemes.iter().zip(COLOURS).enumerate() {
        let left = 18 + 110 * number as i32;
        header.draw(&Rectangle::new(
            [(left, 46), (left + 16, 60)],
            colour.filled(),
        ))?;
        header.draw_text(scheme, &text(16), (left + 22, 44))?;
    }
    for (panel, (workload, cells)) in body
        .split_evenly((workloads.len(), 1))
        .iter()
        .zip(workloads.iter().zip(grid))
    {
        let all = || cells.iter().flatten().map(|cell| cell.throughput);
        let least = all().fold(f64::INFINITY, f64::min) * 0.7;
        let most = all().fold(0.0, f64::max) * 1.4;
        let mut chart = ChartBuilder::on(panel)
            .caption(workload, text(18))
            .margin(8)
            .x_label_area_size(30)
            .y_label_area_size(80)
            .build_cartesian_2d(0.0..layers.len() as f64, (least..most).log_scale())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .light_line_style(BLACK.mix(0.05))
            .bold_line_style(BLACK.mix(0.15))
            .y_desc("MB/s, logarithmic")
            .y_label_formatter(&|rate| format!("{rate:.2}"))
            .y_labels(6)
            .label_style(text(14))
            .draw()?;
        let share = 0.8 / schemes.len() as f64;
        for (position, of_layer) in cells.iter().enumerate() {
            let bars = of_layer.iter().zip(COLOURS).enumerate();
            chart.draw_series(bars.map(|(number, (cell, colour))| {
                let left = position as f64 + 0.1 + share * number as f64;
                Rectangle::new(
                    [(left, least), (left + share * 0.92, cell.throughput)],
                    colour.filled(),
                )
            }))?;
        }
        let area = chart.plotting_area();
        for (position, layer) in layers.iter().enumerate() {
            let (x, y) = area.map_coordinate(&(position as f64 + 0.5, least));
            let half = 4 * layer.len() as i32;
            root.draw_text(layer, &text(15), (x - half, y + 8))?;
        }
    }
    root.present()?;
    Ok(())
}
