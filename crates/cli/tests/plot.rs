//! `trace info --plot`: a page of charts that holds what the trace holds.

mod common;

use common::Place;

#[test]
fn the_page_has_every_chart_and_does_not_disturb_other_output() {
    let place = Place::new();
    let trace: String = (0..2000)
        .map(|index| {
            format!(
                "{index}.5 0 {} 8 {}\n",
                (index * 37) % 90 * 8,
                index % 3 / 2
            )
        })
        .collect();
    place.write("t.disksim", trace);
    let plain = place.json(&["trace", "info", "t.disksim", "--json"]);
    let plotted = place.json(&["trace", "info", "t.disksim", "--json", "--plot", "t.html"]);
    assert_eq!(plain["statistics"], plotted["statistics"]);
    let page = place.read("t.html");
    for title in [
        "Requests below this size",
        "Gaps between arrivals",
        "PIRD",
        "BIRD",
        "Different pages written",
        "Blocks that the hottest pages lie in",
        "Page writes that go to the hottest pages",
        "Mean distance of a page's rewrites",
        "Reads, darker for more",
        "Writes, darker for more",
        "rewrite_share",
    ] {
        assert!(page.contains(title), "{title}");
    }
    // Requests of 4 KiB lie below 8 KiB, all of them.
    assert!(page.contains("writes, &lt;8 KiB: 100"), "{page}");
    assert!(!page.contains("NaN") && !page.contains("inf"));
    assert_eq!(place.files(), ["t.disksim", "t.html"]);
}

#[test]
fn a_trace_of_flushes_alone_has_a_page_and_other_endings_are_refused() {
    let place = Place::new();
    place.write("f.csv", "time,op,sector,sectors\n0,flush,0,0\n");
    place.succeed(&["trace", "info", "f.csv", "--plot", "f.html"]);
    let page = place.read("f.html");
    assert!(!page.contains("NaN"));
    // What is lacking is said where it would be.
    for text in [
        "no reads or writes",
        "fewer than two requests",
        "no page is written twice",
        ">no reads<",
        ">no writes<",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // Refused before the trace is looked for.
    for file in ["x.svg", "x", "x.html.txt"] {
        let outcome = place.run(&["trace", "info", "absent.csv", "--plot", file]);
        assert_eq!(outcome.status, 2);
        let expected = format!(
            "--plot {file}: the ending names no form of charts; expected a name that ends in .html (a page) or .png (a picture)"
        );
        assert!(outcome.errors.contains(&expected), "{}", outcome.errors);
    }
    assert_eq!(place.files(), ["f.csv", "f.html"]);
}

#[cfg(not(feature = "png"))]
#[test]
fn a_build_without_pictures_says_how_to_have_them() {
    let place = Place::new();
    let outcome = place.run(&["trace", "info", "absent.csv", "--plot", "x.png"]);
    assert_eq!(outcome.status, 2);
    let expected = "--plot x.png: this build draws no PNG; expected a name that ends in .html, or a program built with the feature png (cargo build --release -p destage-cli --features png)";
    assert!(outcome.errors.contains(expected), "{}", outcome.errors);
}
