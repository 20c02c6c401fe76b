//! How often requests fall where, as SVG text: time to the right, address upward, darker for more.

use destage_trace::statistics::Grid;

use crate::output::charts::colour;
use crate::output::drawing::{BOTTOM, Drawing, HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use crate::output::html::escape;
use crate::output::numbers;
use crate::output::scale::Scale;

/// Shades that can be told from one another, each for a range of powers of two.
const SHADES: u32 = 6;

/// An axis: what a unit of the grid is worth, and the units it may be shown in, from small to large.
pub(crate) struct Axis {
    /// From the grid's units to the first of `units`.
    pub(crate) factor: f64,
    /// Names, and how much of the first each is.
    pub(crate) units: &'static [(&'static str, f64)],
}

impl Axis {
    /// For a length in the grid's units: the length in the largest unit that it holds, and the unit's name.
    pub(crate) fn shown(&self, length: f64) -> (f64, &'static str) {
        let length = length * self.factor;
        let holds = |row: &&(&str, f64)| row.1 <= length;
        let (name, size) = self
            .units
            .iter()
            .rev()
            .find(holds)
            .unwrap_or(&self.units[0]);
        (length / size, name)
    }
}

/// How far `grids` reach together, in their units: cells double when they are outgrown, and what lies beyond the last
/// used one is left out.
pub(crate) fn extent(grids: &[Grid]) -> [f64; 2] {
    let mut extent = [0.0_f64; 2];
    for grid in grids {
        for (x, y, _) in used(grid) {
            let [across, up] = grid.cell();
            extent[0] = extent[0].max((x + 1) as f64 * across as f64);
            extent[1] = extent[1].max((y + 1) as f64 * up as f64);
        }
    }
    extent
}

/// Place and count of each cell that holds something.
fn used(grid: &Grid) -> impl Iterator<Item = (usize, usize, u64)> {
    let [across, up] = Grid::SIZE;
    let cells = (0..up).flat_map(move |y| (0..across).map(move |x| (x, y, grid.count(x, y))));
    cells.filter(|(_, _, count)| *count > 0)
}

/// The picture of `grid` up to `extent`, in the colour of `style`, whose axes are `time` and `address`.
pub(crate) fn heatmap(
    kind: &str,
    style: usize,
    (time, address): (&Axis, &Axis),
    extent: [f64; 2],
    grid: &Grid,
) -> Drawing {
    let Some(most) = used(grid).map(|cell| cell.2).max() else {
        let (title, kind) = (escape(kind), escape(&kind.to_lowercase()));
        return Drawing::empty(title, &format!("no {kind}"));
    };
    let mut drawing = Drawing::new(format!(
        "{}, darker for more, up to {} in a cell",
        escape(kind),
        numbers::whole(most)
    ));
    let (end, unit) = address.shown(extent[1]);
    for (value, label) in Scale::within(end) {
        let y = HEIGHT - BOTTOM - value / end * (HEIGHT - TOP - BOTTOM);
        let class = if value == 0.0 { "axis" } else { "grid" };
        drawing.push(&format!(
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" class=\"{class}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
        ));
    }
    drawing.push(&format!(
        "<text x=\"{:.1}\" y=\"16\" text-anchor=\"end\" class=\"name\">{unit}</text>\n",
        LEFT - 8.0
    ));
    let (end, unit) = time.shown(extent[0]);
    for (value, label) in Scale::within(end) {
        let x = LEFT + value / end * (WIDTH - LEFT - RIGHT);
        drawing.push(&format!(
            "<line x1=\"{x:.1}\" y1=\"{0:.1}\" x2=\"{x:.1}\" y2=\"{1:.1}\" class=\"axis\"/><text x=\"{x:.1}\" y=\"{2:.1}\" text-anchor=\"middle\">{label}</text>\n",
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 4.0,
            HEIGHT - BOTTOM + 17.0,
        ));
    }
    drawing.push(&format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" class=\"name\">{unit} from the first request</text>\n",
        WIDTH - RIGHT,
        HEIGHT - 6.0,
    ));
    let shade = |count: u64| match most.ilog2() {
        0 => SHADES,
        all => (1 + count.ilog2() * (SHADES - 1) / all).min(SHADES),
    };
    let cell = grid.cell();
    // Edges are rounded before lengths are taken, so that neighbours meet.
    let place = |axis: usize, room: f64, index: usize| {
        let share = index as f64 * cell[axis] as f64 / extent[axis];
        (share * room * 100.0).round() / 100.0
    };
    let x_of = |index| LEFT + place(0, WIDTH - LEFT - RIGHT, index);
    let y_of = |index| HEIGHT - BOTTOM - place(1, HEIGHT - TOP - BOTTOM, index);
    drawing.push(&format!("<g class=\"cells\" fill=\"{}\">\n", colour(style)));
    for (x, y, count) in used(grid) {
        drawing.push(&format!(
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill-opacity=\"{:.2}\"/>\n",
            x_of(x),
            y_of(y + 1),
            x_of(x + 1) - x_of(x),
            y_of(y) - y_of(y + 1),
            0.15 + 0.85 * f64::from(shade(count) - 1) / f64::from(SHADES - 1),
        ));
    }
    drawing.push("</g>\n");
    drawing
}
