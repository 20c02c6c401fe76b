//! The chart of the time of a page write over the buffer size. Each family of schemes has a panel, and both axes are
//! logarithmic.

use std::path::Path;

use plotters::prelude::*;

/// The curves of one scheme.
pub struct Line {
    /// The family of the scheme. Each family has a panel of the chart.
    pub family: &'static str,
    pub name: &'static str,
    /// Nanoseconds per page write in one buffer, for each size.
    pub whole: Vec<f64>,
    /// Nanoseconds per page write in small buffers that together have this size, for each size.
    pub split: Vec<f64>,
}

const COLUMNS: usize = 3;
const PANEL: (u32, u32) = (420, 340);
const HEADER: u32 = 70;
/// Colours that colour-blind readers can tell apart.
const COLOURS: [RGBColor; 9] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(122, 81, 149),
    RGBColor(140, 109, 31),
    RGBColor(86, 160, 211),
    RGBColor(60, 60, 60),
    RGBColor(190, 160, 0),
];

/// Draws `lines` over `sizes` into the SVG file `path`. `sizes` are in pages.
pub fn draw(path: &Path, sizes: &[u32], lines: &[Line]) -> Result<(), Box<dyn std::error::Error>> {
    let mut families: Vec<&str> = Vec::new();
    for line in lines {
        if !families.contains(&line.family) {
            families.push(line.family);
        }
    }
    let rows = families.len().div_ceil(COLUMNS).max(1);
    let (width, height) = (PANEL.0 * COLUMNS as u32, PANEL.1 * rows as u32 + HEADER);
    let root = SVGBackend::new(path, (width, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let (header, body) = root.split_vertically(HEADER);
    let text = |size: u32| ("sans-serif", size).into_font().color(&BLACK);
    header.draw_text(
        "Cost of a page write over the size of the buffer",
        &text(24),
        (16, 10),
    )?;
    header.draw_text(
        "ns per page, over Ki pages. Solid: one buffer. Dots: the same pages in buffers of 1 Ki pages, which miss the processor's caches alike.",
        &text(15),
        (16, 42),
    )?;
    let all = || {
        lines
            .iter()
            .flat_map(|line| line.whole.iter().chain(&line.split))
    };
    // The axis begins far below the shortest time, so that there is room for the legends below the curves.
    let least = all().copied().fold(f64::INFINITY, f64::min) * 0.15;
    let most = all().copied().fold(0.0, f64::max) * 1.3;
    let (Some(first), Some(last)) = (sizes.first(), sizes.last()) else {
        return Ok(());
    };
    let kibi = |size: u32| f64::from(size) / 1024.0;
    for (panel, family) in body.split_evenly((rows, COLUMNS)).iter().zip(&families) {
        let mut chart = ChartBuilder::on(panel)
            .caption(family, text(17))
            .margin(8)
            .margin_right(26)
            .x_label_area_size(26)
            .y_label_area_size(46)
            .build_cartesian_2d(
                (kibi(*first)..kibi(*last) * 1.01).log_scale().base(2.0),
                (least..most).log_scale(),
            )?;
        chart
            .configure_mesh()
            .light_line_style(BLACK.mix(0.06))
            .bold_line_style(BLACK.mix(0.15))
            .x_label_formatter(&|kibi| format!("{kibi:.0}"))
            .y_label_formatter(&|cost| format!("{cost:.0}"))
            .label_style(text(13))
            .draw()?;
        let members = lines.iter().filter(|line| line.family == *family);
        for (line, colour) in members.zip(COLOURS.iter().cycle()) {
            let points = |costs: &[f64]| -> Vec<(f64, f64)> {
                sizes
                    .iter()
                    .map(|size| kibi(*size))
                    .zip(costs.iter().copied())
                    .collect()
            };
            chart
                .draw_series(LineSeries::new(points(&line.whole), colour.stroke_width(2)))?
                .label(line.name)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2))
                });
            chart.draw_series(
                points(&line.split)
                    .into_iter()
                    .map(|point| Circle::new(point, 3, colour.filled())),
            )?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.2))
            .label_font(text(13))
            .draw()?;
    }
    root.present()?;
    Ok(())
}
