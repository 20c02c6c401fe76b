//! The charts of a trace on one picture, as PNG: the SVG of the pages, laid out and rasterised.
//!
//! Letters come from a font within the program and never from the machine, and nothing of the machine or the time is
//! written: equal traces give byte-equal pictures.

use std::path::Path;
use std::sync::Arc;

use destage_trace::statistics::Statistics;
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};

use crate::output::charts::Entry;
use crate::output::drawing::{HEIGHT, STYLE, WIDTH};
use crate::output::html::escape;
use crate::output::numbers;
use crate::output::shape::{Look, duration};
use destage::Manifest;

/// Pixels across.
const PIXELS: u32 = 1600;
/// Around everything, in units of a drawing like all lengths here.
const MARGIN: f64 = 20.0;
/// Between two charts beside or above each other.
const GAP: f64 = 20.0;
const COLUMNS: usize = 2;
/// Of the whole.
const SHEET_WIDTH: f64 = COLUMNS as f64 * (WIDTH + GAP) - GAP + 2.0 * MARGIN;
/// Where the charts begin.
const HEAD: f64 = 158.0;
const FOOT: f64 = 26.0;
/// The styles of what stands around the charts.
const AROUND: &str = "
.head text { font-size: 12px; fill: #333; }
.head .trace { font-size: 21px; font-weight: 600; fill: #1c1c1c; }
.head .figure { font-size: 16px; font-weight: 600; fill: #1c1c1c; }
.head .about { font-size: 11px; fill: #555; }
";
/// The family as the condensed faces name it: that they are narrow is a property of its own.
const FONT: &str = "DejaVu Sans";

/// The picture of a trace.
pub(crate) fn picture(look: &Look, manifest: &Manifest, statistics: &Statistics) -> Vec<u8> {
    let fonts = fonts();
    let rows = look.charts.len().div_ceil(COLUMNS);
    let height = HEAD + rows as f64 * (HEIGHT + GAP) + FOOT;
    let name = fitting(&title(manifest), SHEET_WIDTH - 2.0 * MARGIN, &fonts);
    let mut text = open(SHEET_WIDTH, height);
    text.push_str(&format!(
        "<g class=\"head\">\n<text x=\"{MARGIN}\" y=\"38\" class=\"trace\">{}</text>\n{}{}<text x=\"{MARGIN}\" y=\"138\">{}</text>\n<text x=\"{MARGIN}\" y=\"{:.1}\" class=\"about\">{}</text>\n</g>\n<g class=\"charts\">\n",
        escape(&name),
        figures(statistics),
        legend(&look.legend, &look.notes[0]),
        escape(&look.notes[1]),
        height - 16.0,
        escape(&manifest.origin()),
    ));
    for (index, chart) in look.charts.iter().enumerate() {
        let (column, row) = (index % COLUMNS, index / COLUMNS);
        text.push_str(&chart.at(
            MARGIN + column as f64 * (WIDTH + GAP),
            HEAD + row as f64 * (HEIGHT + GAP),
        ));
    }
    text.push_str("</g>\n</svg>\n");
    rasterise(&tree(&text, &fonts))
}

/// The trace without its folder, so that the picture does not depend on where it lies.
fn title(manifest: &Manifest) -> String {
    let name = manifest.names();
    match name.as_str() {
        "-" => "standard input".to_owned(),
        path => match Path::new(path).file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => name,
        },
    }
}

/// What fits into a line: how much there is of what.
fn figures(statistics: &Statistics) -> String {
    let share = |share: Option<f64>| {
        share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
    };
    let figures = [
        (numbers::whole(statistics.requests), "requests"),
        (duration((statistics.span_s * 1e6) as u64), "first to last"),
        (numbers::whole(statistics.reads), "reads"),
        (numbers::size(statistics.bytes_read), "read"),
        (numbers::whole(statistics.writes), "writes"),
        (numbers::size(statistics.bytes_written), "written"),
        (numbers::size(statistics.footprint_bytes), "footprint"),
        (share(statistics.rewrite_share), "rewrite share"),
        (share(statistics.sequential_share), "sequential share"),
    ];
    let step = (SHEET_WIDTH - 2.0 * MARGIN) / figures.len() as f64;
    let mut text = String::new();
    for (index, (figure, about)) in figures.iter().enumerate() {
        let x = MARGIN + index as f64 * step;
        text.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"70\" class=\"figure\">{figure}</text><text x=\"{x:.1}\" y=\"86\" class=\"about\">{about}</text>\n"
        ));
    }
    text
}

/// The legend, and beside it `note`.
fn legend(entries: &[Entry], note: &str) -> String {
    let mut text = String::new();
    for (index, entry) in entries.iter().enumerate() {
        text.push_str(&format!(
            "<g transform=\"translate({:.1} 106)\">{}<text x=\"40\" y=\"10\">{}</text></g>\n",
            MARGIN + index as f64 * 100.0,
            entry.sample(),
            escape(&entry.name)
        ));
    }
    text.push_str(&format!(
        "<text x=\"{:.1}\" y=\"116\">{}</text>\n",
        MARGIN + WIDTH + GAP,
        escape(note)
    ));
    text
}

/// `name` without its middle if it would be wider than `width`, and without what XML cannot hold.
fn fitting(name: &str, width: f64, fonts: &Options<'_>) -> String {
    let strange = |letter: char| letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}');
    let letters: Vec<char> = name
        .chars()
        .map(|letter| if strange(letter) { '\u{fffd}' } else { letter })
        .collect();
    let width_of = |text: &str| {
        let text = format!(
            "{}<g class=\"head\"><text class=\"trace\">{}</text></g></svg>",
            open(1.0, 1.0),
            escape(text)
        );
        f64::from(tree(&text, fonts).root().bounding_box().width())
    };
    let mut text: String = letters.iter().collect();
    let mut kept = letters.len();
    while width_of(&text) > width && kept > 0 {
        kept -= 1;
        // The end says more than the beginning.
        let head = kept / 3;
        let tail = letters.len() - (kept - head);
        text = letters[..head].iter().collect();
        text.push('…');
        text.extend(&letters[tail..]);
    }
    text
}

/// The beginning of a drawing of its own.
fn open(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">\n<style>{STYLE}{AROUND}</style>\n"
    )
}

/// The letters within the program, and no others.
fn fonts() -> Options<'static> {
    let mut database = Database::new();
    for font in [
        dejavu::sans_condensed::regular(),
        dejavu::sans_condensed::bold(),
    ] {
        database.load_font_source(Source::Binary(Arc::new(font)));
    }
    Options {
        font_family: FONT.to_owned(),
        fontdb: Arc::new(database),
        ..Options::default()
    }
}

fn tree(text: &str, fonts: &Options<'_>) -> Tree {
    Tree::from_str(text, fonts).expect("what is drawn is well-formed SVG with a size")
}

fn rasterise(tree: &Tree) -> Vec<u8> {
    let scale = PIXELS as f32 / tree.size().width();
    let height = (tree.size().height() * scale).ceil() as u32;
    let mut pixels = Pixmap::new(PIXELS, height).expect("the size is positive and small");
    pixels.fill(Color::WHITE);
    let transform = Transform::from_scale(scale, scale);
    resvg::render(tree, transform, &mut pixels.as_mut());
    pixels
        .encode_png()
        .expect("pixels in memory of a size that PNG has")
}
