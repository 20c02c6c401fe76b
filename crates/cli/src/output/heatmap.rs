//! How often requests fall where, as SVG text: time to the right, address upward, darker for more.

use destage_trace::statistics::Grid;

use crate::output::html::escape;
use crate::output::numbers;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 46.0;
/// Shades that are told apart, each standing for some powers of two.
const SHADES: u32 = 6;

/// What a unit of an axis is worth.
pub(crate) struct Axis<'a> {
    /// What it is, with its unit.
    pub(crate) name: &'a str,
    /// From the grid's units to those of `name`.
    pub(crate) factor: f64,
}

/// The picture of `grid`, whose axes are `time` and `address`.
pub(crate) fn heatmap(title: &str, time: &Axis<'_>, address: &Axis<'_>, grid: &Grid) -> String {
    let [across, up] = Grid::SIZE;
    let cells = (0..up).flat_map(|y| (0..across).map(move |x| (x, y, grid.count(x, y))));
    let cells: Vec<_> = cells.filter(|(_, _, count)| *count > 0).collect();
    // Cells double when they are outgrown: what lies beyond the last used one is left out.
    let columns = cells.iter().map(|cell| cell.0 + 1).max().unwrap_or(1);
    let rows = cells.iter().map(|cell| cell.1 + 1).max().unwrap_or(1);
    let most = cells.iter().map(|cell| cell.2).max().unwrap_or(1);
    let (width, height) = (
        (WIDTH - LEFT - RIGHT) / columns as f64,
        (HEIGHT - TOP - BOTTOM) / rows as f64,
    );
    let title = format!(
        "{}, darker for more, up to {} in a cell",
        escape(title),
        numbers::whole(most)
    );
    let mut text = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n<text x=\"{LEFT}\" y=\"16\" class=\"title\">{title}</text>\n"
    );
    let [cell_time, cell_address] = grid.cell();
    let worth = |axis: &Axis<'_>, cells: usize, cell: u64| cells as f64 * cell as f64 * axis.factor;
    for part in 0..=4 {
        let share = f64::from(part) / 4.0;
        let (x, y) = (
            LEFT + share * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM),
        );
        let class = if part == 0 { "axis" } else { "grid" };
        text.push_str(&format!(
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" class=\"{class}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{}\">{}</text>\n",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
            numbers::real(share * worth(address, rows, cell_address)),
            HEIGHT - BOTTOM + 17.0,
            if part == 4 { "end" } else { "middle" },
            numbers::real(share * worth(time, columns, cell_time)),
        ));
    }
    let shade = |count: u64| {
        let (own, all) = (count.ilog2(), most.ilog2().max(1));
        (1 + own * (SHADES - 1) / all).min(SHADES)
    };
    for (x, y, count) in cells {
        text.push_str(&format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"#0072b2\" fill-opacity=\"{:.2}\"/>\n",
            LEFT + x as f64 * width,
            HEIGHT - BOTTOM - (y + 1) as f64 * height,
            width,
            height,
            0.15 + 0.85 * f64::from(shade(count) - 1) / f64::from(SHADES - 1),
        ));
    }
    text.push_str(&format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" class=\"name\">{}</text>\n<text x=\"{:.1}\" y=\"16\" text-anchor=\"end\" class=\"name\">{}</text>\n</svg>\n",
        WIDTH - RIGHT,
        HEIGHT - 6.0,
        escape(time.name),
        LEFT - 8.0,
        escape(address.name)
    ));
    text
}
