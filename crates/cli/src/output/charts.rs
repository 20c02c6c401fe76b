//! Charts as SVG text: lines over an ordered axis, and bars.
//!
//! Everything a reader needs stands in the picture: unit, the kind of axis, a legend, and the exact value of
//! each mark as its title.

use crate::output::drawing::{BOTTOM, Drawing, HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use crate::output::html::escape;
use crate::output::numbers;
use crate::output::scale::Scale;

/// Room for a letter of a label, with some of the space to the next label; a browser's font may be a wide one.
const LETTER: f64 = 7.5;
/// The same for values above bars, which are smaller.
const VALUE_LETTER: f64 = 6.4;

/// Colours that stay apart for readers who see few of them; the dashes repeat them.
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5195", "#8c6d1f", "#56a0d3", "#8a8a8a",
];
const DASHES: [&str; 3] = ["", "7 3", "2 3"];

/// A named row of values, one per place of the axis.
pub(crate) struct Series {
    /// As in the legend.
    pub(crate) name: String,
    /// The style: the same name has the same one in all charts of a report.
    pub(crate) style: usize,
    /// Holds for all places: drawn across all of them.
    pub(crate) level: bool,
    /// One per place; nothing where there is none.
    pub(crate) values: Vec<Option<f64>>,
}

/// What stands around the marks.
pub(crate) struct Frame<'a> {
    /// What is shown, with its unit.
    pub(crate) title: &'a str,
    /// What the axis below is.
    pub(crate) axis: &'a str,
    /// Its places in order.
    pub(crate) places: &'a [String],
}

/// What holds for all places stands apart from what is compared.
const LEVEL_COLOUR: &str = "#222222";

/// How far down `value` is drawn.
fn y_of(scale: &Scale, value: f64) -> f64 {
    HEIGHT - BOTTOM - scale.share(value) * (HEIGHT - TOP - BOTTOM)
}

/// The colour of style `style`.
pub(crate) fn colour(style: usize) -> &'static str {
    COLOURS[style % COLOURS.len()]
}

fn dash(style: usize) -> &'static str {
    DASHES[style / COLOURS.len() % DASHES.len()]
}

/// What a legend names.
pub(crate) struct Entry {
    /// Of the series.
    pub(crate) name: String,
    /// Of the series.
    pub(crate) style: usize,
    /// Of the series.
    pub(crate) level: bool,
}

impl Entry {
    /// A sample of the line: dies 34 wide and 12 high.
    pub(crate) fn sample(&self) -> String {
        let (colour, pattern) = match self.level {
            true => (LEVEL_COLOUR, "7 4"),
            false => (colour(self.style), dash(self.style)),
        };
        let mark = match self.level {
            true => String::new(),
            false => format!("<circle cx=\"17\" cy=\"6\" r=\"3.5\" fill=\"{colour}\"/>"),
        };
        format!(
            "<line x1=\"1\" y1=\"6\" x2=\"33\" y2=\"6\" stroke=\"{colour}\" stroke-width=\"2.5\"{}/>{mark}",
            dashes(pattern)
        )
    }
}

/// The attribute of a line of this pattern; none makes it solid.
fn dashes(pattern: &str) -> String {
    match pattern {
        "" => String::new(),
        pattern => format!(" stroke-dasharray=\"{pattern}\""),
    }
}

/// The names of all series with a sample of their line.
pub(crate) fn legend(entries: &[Entry]) -> String {
    let mut text = String::from("<p class=\"legend\">");
    for entry in entries {
        text.push_str(&format!(
            "<span><svg width=\"34\" height=\"12\" aria-hidden=\"true\">{}</svg> {}</span>\n",
            entry.sample(),
            escape(&entry.name)
        ));
    }
    text.push_str("</p>\n");
    text
}

/// A line per series.
pub(crate) fn lines(frame: &Frame<'_>, series: &[Series]) -> Drawing {
    let values = series
        .iter()
        .flat_map(|series| series.values.iter().flatten());
    lines_on(&Scale::fitting(values), frame, series)
}

/// A line per series of amounts that are compared with the whole: from zero.
pub(crate) fn shares(frame: &Frame<'_>, series: &[Series]) -> Drawing {
    let values = series
        .iter()
        .flat_map(|series| series.values.iter().flatten());
    lines_on(&Scale::linear(values), frame, series)
}

fn lines_on(scale: &Scale, frame: &Frame<'_>, series: &[Series]) -> Drawing {
    let mut drawing = open(frame, scale, Labels::Some);
    let step = (WIDTH - LEFT - RIGHT) / frame.places.len() as f64;
    let x = |index: usize| LEFT + (index as f64 + 0.5) * step;
    for series in series {
        let name = escape(&series.name);
        let colour = if series.level {
            LEVEL_COLOUR
        } else {
            colour(series.style)
        };
        if series.level {
            if let Some(value) = series.values.iter().flatten().next() {
                let (y, shown) = (y_of(scale, *value), numbers::real(*value));
                drawing.push(&format!(
                    "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"7 4\"><title>{name}: {shown}</title></line>\n",
                    WIDTH - RIGHT
                ));
            }
            continue;
        }
        let points: Vec<(usize, f64)> = series
            .values
            .iter()
            .enumerate()
            .filter_map(|(index, value)| Some((index, (*value)?)))
            .collect();
        let path: Vec<String> = points
            .iter()
            .map(|(index, value)| format!("{:.1},{:.1}", x(*index), y_of(scale, *value)))
            .collect();
        drawing.push(&format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{}/>\n",
            path.join(" "),
            dashes(dash(series.style))
        ));
        for (index, value) in points {
            drawing.push(&format!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"><title>{name}, {}: {}</title></circle>\n",
                x(index),
                y_of(scale, value),
                escape(&frame.places[index]),
                numbers::real(value)
            ));
        }
    }
    drawing
}

/// A bar per place, with its value above.
pub(crate) fn bars(frame: &Frame<'_>, values: &[Option<f64>], styles: &[usize]) -> Drawing {
    let scale = Scale::linear(values.iter().flatten());
    let mut drawing = open(frame, &scale, Labels::All);
    let step = (WIDTH - LEFT - RIGHT) / frame.places.len() as f64;
    let width = (step * 0.62).min(64.0);
    // Values that would run into each other are left out; the bars still name them.
    let longest = values
        .iter()
        .flatten()
        .map(|value| numbers::real(*value).len());
    let named = longest.max().unwrap_or(0) as f64 * VALUE_LETTER <= step;
    for (index, value) in values.iter().enumerate() {
        let Some(value) = *value else { continue };
        let middle = LEFT + (index as f64 + 0.5) * step;
        let (y, shown) = (y_of(&scale, value), numbers::real(value));
        drawing.push(&format!(
            "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{}: {shown}</title></rect>\n",
            middle - width / 2.0,
            HEIGHT - BOTTOM - y,
            colour(styles.get(index).copied().unwrap_or(0)),
            escape(&frame.places[index]),
        ));
        if named {
            drawing.push(&format!(
                "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" class=\"value\">{shown}</text>\n",
                y - 4.0
            ));
        }
    }
    drawing
}

/// Which places are named below the axis.
enum Labels {
    /// As many as there is room for. A reader can place the others between their neighbours.
    Some,
    All,
}

/// Frame, title, grid and axes.
fn open(frame: &Frame<'_>, scale: &Scale, labels: Labels) -> Drawing {
    let title = format!("{}{}", escape(frame.title), scale.note());
    let mut drawing = Drawing::new(title);
    for (value, label) in scale.ticks() {
        let y = y_of(scale, value);
        let class = if scale.share(value) == 0.0 {
            "axis"
        } else {
            "grid"
        };
        drawing.push(&format!(
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" class=\"{class}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0
        ));
    }
    let step = (WIDTH - LEFT - RIGHT) / frame.places.len() as f64;
    let longest = frame
        .places
        .iter()
        .map(|place| place.chars().count())
        .max()
        .unwrap_or(0);
    let wanted = longest as f64 * LETTER;
    // Labels that would run into each other: on an ordered axis only some are written (each place still names its
    // marks), others stand aslant.
    let every = match labels {
        Labels::Some => (wanted / step).ceil() as usize,
        Labels::All => 1,
    };
    let slanted = wanted > step * every as f64;
    for (index, place) in frame.places.iter().enumerate().step_by(every.max(1)) {
        let (x, y) = (LEFT + (index as f64 + 0.5) * step, HEIGHT - BOTTOM + 17.0);
        let (x, anchor, turn) = match slanted {
            true => (
                x,
                "end",
                format!(" transform=\"rotate(-28 {x:.1} {y:.1})\""),
            ),
            // The last one may be wider than the room to its right.
            false if x + wanted / 2.0 > WIDTH => (WIDTH, "end", String::new()),
            false => (x, "middle", String::new()),
        };
        drawing.push(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{turn}>{}</text>\n",
            escape(place)
        ));
    }
    drawing.push(&format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" class=\"name\">{}</text>\n",
        WIDTH - RIGHT,
        HEIGHT - 6.0,
        escape(frame.axis)
    ));
    drawing
}
