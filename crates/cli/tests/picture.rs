//! `trace info --plot FILE.png`: one picture of the same charts, the same bytes every time.
#![cfg(feature = "png")]

mod common;

use std::collections::BTreeMap;
use std::io::Cursor;

use common::Place;

/// Colours by how many pixels have them, of a part of a picture.
type Colours = BTreeMap<[u8; 3], usize>;

const READS: [u8; 3] = [0x00, 0x72, 0xb2];
const WRITES: [u8; 3] = [0xd5, 0x5e, 0x00];
/// Of headings, the trace's name among them.
const HEADING: [u8; 3] = [0x1c, 0x1c, 0x1c];

/// A decoded picture.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    fn of(bytes: &[u8]) -> Self {
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        let decoder = png::Decoder::new(Cursor::new(bytes));
        let mut reader = decoder.read_info().expect("a header");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size in memory")];
        let frame = reader.next_frame(&mut pixels).expect("pixels");
        assert_eq!(frame.color_type, png::ColorType::Rgba);
        assert!(pixels.chunks(4).all(|pixel| pixel[3] == 255), "opaque");
        Self {
            width: frame.width as usize,
            height: frame.height as usize,
            pixels,
        }
    }

    /// Of the lines from `first` to before `end`.
    fn colours(&self, first: usize, end: usize) -> Colours {
        let mut colours = Colours::new();
        for pixel in self.pixels[first * self.width * 4..end * self.width * 4].chunks(4) {
            *colours.entry([pixel[0], pixel[1], pixel[2]]).or_default() += 1;
        }
        colours
    }

    /// The columns with anything but white, of the lines from `first` to before `end`.
    fn inked(&self, first: usize, end: usize) -> Vec<usize> {
        let white = |x: usize, y: usize| {
            let start = (y * self.width + x) * 4;
            self.pixels[start..start + 3] == [255; 3]
        };
        let columns = 0..self.width;
        columns
            .filter(|x| (first..end).any(|y| !white(*x, y)))
            .collect()
    }
}

/// The lines of the trace's name.
const NAME: (usize, usize) = (30, 64);

fn trace(operation: impl Fn(usize) -> u8) -> String {
    let line = |index: usize| {
        let start = (index * 37) % 90 * 8;
        format!("{index}.5 0 {start} 8 {}\n", operation(index))
    };
    (0..500).map(line).collect()
}

/// The picture of `name` in `place`.
fn plotted(place: &Place, name: &str) -> Picture {
    place.succeed(&["trace", "info", name, "--plot", "p.png"]);
    Picture::of(&std::fs::read(place.path("p.png")).expect("a picture"))
}

#[test]
fn the_picture_has_letters_and_both_colours_and_does_not_disturb_other_output() {
    let place = Place::new();
    place.write("t.disksim", trace(|index| (index % 2) as u8));
    let plain = place.json(&["trace", "info", "t.disksim", "--json"]);
    let arguments = ["trace", "info", "t.disksim", "--json", "--plot", "t.png"];
    assert_eq!(plain["statistics"], place.json(&arguments)["statistics"]);
    let first = std::fs::read(place.path("t.png")).expect("a picture");
    let picture = Picture::of(&first);
    assert_eq!(picture.width, 1600);
    let colours = picture.colours(0, picture.height);
    for colour in [READS, WRITES, HEADING, [255; 3]] {
        let count = colours.get(&colour).copied().unwrap_or(0);
        assert!(count > 500, "{colour:?}: {count}");
    }
    let name = picture.colours(NAME.0, NAME.1);
    assert!(name.contains_key(&HEADING), "no letters in the name");

    // Again, and of the same trace elsewhere: what the picture shows does not depend on time or place.
    std::fs::create_dir(place.path("folder")).expect("a folder");
    place.write("folder/t.disksim", place.read("t.disksim"));
    for (trace, file) in [("t.disksim", "u.png"), ("folder/t.disksim", "v.PNG")] {
        place.succeed(&["trace", "info", trace, "--plot", file]);
        let again = std::fs::read(place.path(file)).expect("a picture");
        assert!(first == again, "{trace}: {file} differs");
    }
    assert_eq!(
        place.files(),
        ["folder", "t.disksim", "t.png", "u.png", "v.PNG"]
    );
}

#[test]
fn what_a_trace_lacks_is_not_drawn_and_the_size_stays() {
    let place = Place::new();
    place.write("reads.disksim", trace(|_| 1));
    place.write("writes.disksim", trace(|_| 0));
    place.write("flush.csv", "time,op,sector,sectors\n0,flush,0,0\n");
    place.write("one.csv", "time,op,sector,sectors\n7,write,800,8\n");
    place.write(
        "far.csv",
        format!("time,op,sector,sectors\n7,write,{},8\n", (1_u64 << 54) - 8),
    );
    let [reads, writes, flush, one, far] = [
        "reads.disksim",
        "writes.disksim",
        "flush.csv",
        "one.csv",
        "far.csv",
    ]
    .map(|name| plotted(&place, name));
    for picture in [&writes, &flush, &one, &far] {
        assert_eq!((picture.width, picture.height), (reads.width, reads.height));
    }
    // The legend names both colours in every picture: what comes below it is what was drawn.
    let marks = |picture: &Picture, colour| {
        let colours = picture.colours(200, picture.height);
        colours.get(&colour).copied().unwrap_or(0)
    };
    assert_eq!(marks(&reads, WRITES), 0);
    assert_eq!(marks(&writes, READS), 0);
    assert!(marks(&reads, READS) > 100 && marks(&writes, WRITES) > 100);
    assert_eq!((marks(&flush, READS), marks(&flush, WRITES)), (0, 0));
    assert!(marks(&one, WRITES) > 100 && marks(&far, WRITES) > 100);
}

#[test]
fn names_of_any_length_and_letters_fit() {
    let place = Place::new();
    let content = trace(|index| (index % 2) as u8);
    let long = format!("{}.disksim", "W".repeat(200));
    for name in [long.as_str(), "\u{1}<&\"'\u{fffe}>.disksim", "中文.disksim"] {
        place.write(name, &content);
        let picture = plotted(&place, name);
        let inked = picture.inked(NAME.0, NAME.1);
        let margin = 29;
        assert!(
            inked.first() >= Some(&margin) && inked.last() < Some(&(1600 - margin)),
            "{name:?}: {:?} to {:?}",
            inked.first(),
            inked.last()
        );
    }
    // From standard input there is no name, and from a part of a trace no digest.
    let outcome = place.run_with(
        &["trace", "info", "-", "--limit", "20", "--plot", "i.png"],
        content.as_bytes(),
    );
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    let picture = Picture::of(&std::fs::read(place.path("i.png")).expect("a picture"));
    assert!(picture.colours(NAME.0, NAME.1).contains_key(&HEADING));
}
