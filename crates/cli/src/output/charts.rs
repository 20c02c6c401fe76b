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
#[derive(Default)]
pub(crate) struct Series {
    /// As in the legend.
    pub(crate) name: String,
    /// The style: the same name has the same one in all charts of a report.
    pub(crate) style: usize,
    /// Holds for all places: drawn across all of them.
    pub(crate) level: bool,
    /// One per place; nothing where there is none.
    pub(crate) values: Vec<Option<f64>>,
    /// Smallest and largest of several runs, one pair per place; none at all where there is nothing to say.
    pub(crate) ranges: Vec<Option<[f64; 2]>>,
    /// What others say it is, one per place; none at all where they say nothing.
    pub(crate) published: Vec<Option<f64>>,
}

impl Series {
    /// Everything that has to fit the axis of values.
    fn shown(&self) -> impl Iterator<Item = &f64> + Clone {
        let ranges = self.ranges.iter().flatten().flatten();
        let published = self.published.iter().flatten();
        self.values.iter().flatten().chain(ranges).chain(published)
    }
}

/// What stands around the marks.
pub(crate) struct Frame<'a> {
    /// What is shown, with its unit.
    pub(crate) title: &'a str,
    /// What the axis below is.
    pub(crate) axis: &'a str,
    /// Its places in order.
    pub(crate) places: &'a [String],
    /// How far along each of them is, from 0 to 1; evenly apart if not given.
    pub(crate) at: Option<&'a [f64]>,
}

impl Frame<'_> {
    /// The room of one place.
    fn step(&self) -> f64 {
        (WIDTH - LEFT - RIGHT) / self.places.len() as f64
    }

    /// How far right the place `index` is.
    fn x(&self, index: usize) -> f64 {
        match self.at {
            Some(at) => LEFT + MARGIN + at[index] * (WIDTH - LEFT - RIGHT - 2.0 * MARGIN),
            None => LEFT + (index as f64 + 0.5) * self.step(),
        }
    }
}

/// Between the ends of an axis and its first and last place.
const MARGIN: f64 = 22.0;

/// What holds for all places stands apart from what is compared.
const LEVEL: &str = "class=\"level\" stroke-width=\"2\" stroke-dasharray=\"7 4\"";

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
        if self.level {
            return format!("<line x1=\"1\" y1=\"6\" x2=\"33\" y2=\"6\" {LEVEL}/>");
        }
        let colour = colour(self.style);
        format!(
            "<line x1=\"1\" y1=\"6\" x2=\"33\" y2=\"6\" stroke=\"{colour}\" stroke-width=\"2.5\"{}/><circle cx=\"17\" cy=\"6\" r=\"3.5\" fill=\"{colour}\"/>",
            dashes(dash(self.style))
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

/// The names of all series with a sample of their line, and what `hollow` marks are, if there are any.
pub(crate) fn legend(entries: &[Entry], hollow: Option<&str>) -> String {
    let mut text = String::from("<p class=\"legend\">");
    let samples = entries
        .iter()
        .map(|entry| (entry.sample(), entry.name.as_str()));
    let ring = ring(17.0, 6.0, "#8a8a8a", "");
    for (sample, name) in samples.chain(hollow.map(|name| (ring, name))) {
        text.push_str(&format!(
            "<span><svg width=\"34\" height=\"12\" aria-hidden=\"true\">{sample}</svg> {}</span>\n",
            escape(name)
        ));
    }
    text.push_str("</p>\n");
    text
}

/// A hollow mark that can be told from what is behind it.
fn ring(x: f64, y: f64, colour: &str, title: &str) -> String {
    format!(
        "<g><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\" class=\"hollow\"/><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.2\" class=\"hollow\" stroke=\"{colour}\" stroke-width=\"2\"/>{title}</g>"
    )
}

/// A line per series.
pub(crate) fn lines(frame: &Frame<'_>, series: &[Series]) -> Drawing {
    let values = series.iter().flat_map(Series::shown);
    lines_on(&Scale::fitting(values), frame, series)
}

/// A line per series of amounts that are compared with the whole: from zero.
pub(crate) fn shares(frame: &Frame<'_>, series: &[Series]) -> Drawing {
    lines_on(&scale_of(series, false), frame, series)
}

/// The scale that holds all of `series`, from zero or by powers of ten.
pub(crate) fn scale_of(series: &[Series], log: bool) -> Scale {
    let values = series.iter().flat_map(Series::shown);
    match log {
        true => Scale::decades(values),
        false => Scale::linear(values),
    }
}

/// A line per series on the axis `scale`.
pub(crate) fn lines_on(scale: &Scale, frame: &Frame<'_>, series: &[Series]) -> Drawing {
    let mut drawing = open(frame, scale, Labels::Some);
    for series in series {
        let name = escape(&series.name);
        let colour = colour(series.style);
        if series.level {
            if let Some(value) = series.values.iter().flatten().next() {
                let (y, shown) = (y_of(scale, *value), numbers::real(*value));
                drawing.push(&format!(
                    "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" {LEVEL}><title>{name}: {shown}</title></line>\n",
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
            .map(|(index, value)| format!("{:.1},{:.1}", frame.x(*index), y_of(scale, *value)))
            .collect();
        drawing.push(&format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{}/>\n",
            path.join(" "),
            dashes(dash(series.style))
        ));
        for (index, value) in points {
            drawing.push(&format!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"><title>{name}, {}: {}</title></circle>\n",
                frame.x(index),
                y_of(scale, value),
                escape(&frame.places[index]),
                numbers::real(value)
            ));
        }
        for index in 0..frame.places.len() {
            beside(&mut drawing, frame, scale, series, index, frame.x(index));
        }
    }
    drawing
}

/// What stands beside a measured value at `x`: the range of several runs, and what others say.
fn beside(
    drawing: &mut Drawing,
    frame: &Frame<'_>,
    scale: &Scale,
    series: &Series,
    index: usize,
    x: f64,
) {
    let (name, place) = (escape(&series.name), escape(&frame.places[index]));
    if let Some([low, high]) = series.ranges.get(index).copied().flatten()
        && low < high
    {
        let (from, to) = (y_of(scale, low), y_of(scale, high));
        drawing.push(&format!(
            "<path d=\"M{0:.1} {from:.1}H{1:.1}M{x:.1} {from:.1}V{to:.1}M{0:.1} {to:.1}H{1:.1}\" class=\"range\"><title>{name}, {place}: {2} to {3}</title></path>\n",
            x - 4.0,
            x + 4.0,
            numbers::real(low),
            numbers::real(high)
        ));
    }
    if let Some(value) = series.published.get(index).copied().flatten() {
        let title = format!(
            "<title>{name}, {place}: {} published</title>",
            numbers::real(value)
        );
        drawing.push(&ring(x, y_of(scale, value), colour(series.style), &title));
    }
}

/// A group of bars per place, one of each series, on the axis `scale`.
pub(crate) fn groups(scale: &Scale, frame: &Frame<'_>, series: &[Series]) -> Drawing {
    let mut drawing = open(frame, scale, Labels::All);
    let width = (frame.step() * 0.8 / series.len() as f64).min(64.0);
    for (order, each) in series.iter().enumerate() {
        let offset = (order as f64 + 0.5 - series.len() as f64 / 2.0) * width;
        for (index, place) in frame.places.iter().enumerate() {
            let x = frame.x(index) + offset;
            if let Some(value) = each.values.get(index).copied().flatten() {
                let name = format!("{}, {place}", each.name);
                drawing.push(&bar(
                    scale,
                    x,
                    width * 0.94,
                    value,
                    colour(each.style),
                    &name,
                ));
            }
            beside(&mut drawing, frame, scale, each, index, x);
        }
    }
    drawing
}

/// A bar of `value` around `x`, from where the scale's amounts begin.
fn bar(scale: &Scale, x: f64, width: f64, value: f64, colour: &str, name: &str) -> String {
    let (from, to) = (y_of(scale, scale.base()), y_of(scale, value));
    format!(
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{colour}\"><title>{}: {}</title></rect>\n",
        x - width / 2.0,
        from.min(to),
        (from - to).abs(),
        escape(name),
        numbers::real(value),
    )
}

/// A bar per place, with its value above.
pub(crate) fn bars(frame: &Frame<'_>, values: &[Option<f64>], styles: &[usize]) -> Drawing {
    let scale = Scale::linear(values.iter().flatten());
    let mut drawing = open(frame, &scale, Labels::All);
    let step = frame.step();
    let width = (step * 0.62).min(64.0);
    // Values that would run into each other are left out; the bars still name them.
    let longest = values
        .iter()
        .flatten()
        .map(|value| numbers::real(*value).len());
    let named = longest.max().unwrap_or(0) as f64 * VALUE_LETTER <= step;
    for (index, value) in values.iter().enumerate() {
        let Some(value) = *value else { continue };
        let middle = frame.x(index);
        let (y, shown) = (y_of(&scale, value), numbers::real(value));
        let colour = colour(styles.get(index).copied().unwrap_or(0));
        drawing.push(&bar(
            &scale,
            middle,
            width,
            value,
            colour,
            &frame.places[index],
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
        let class = if value == scale.base() {
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
    let step = frame.step();
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
    let slanted = frame.at.is_none() && wanted > step * every as f64;
    let named = match frame.at {
        Some(_) => apart(frame),
        None => (0..frame.places.len()).step_by(every.max(1)).collect(),
    };
    for index in named {
        let place = &frame.places[index];
        let (x, y) = (frame.x(index), HEIGHT - BOTTOM + 17.0);
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

/// Places whose labels do not run into each other, where they are not evenly apart: from left to right what fits.
fn apart(frame: &Frame<'_>) -> Vec<usize> {
    let mut all: Vec<_> = (0..frame.places.len()).collect();
    all.sort_by(|one, other| frame.x(*one).total_cmp(&frame.x(*other)));
    let mut end = f64::NEG_INFINITY;
    all.retain(|index| {
        let half = frame.places[*index].chars().count() as f64 * LETTER / 2.0;
        let fits = frame.x(*index) - half >= end;
        if fits {
            end = frame.x(*index) + half;
        }
        fits
    });
    all
}
