//! Tests of `trace info -o`, which writes a page of charts about the trace.

use crate::common;

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
    let plotted = place.json(&["trace", "info", "t.disksim", "--json", "-o", "t.html"]);
    assert_eq!(plain["statistics"], plotted["statistics"]);
    assert_eq!(plain["shape"], plotted["shape"]);
    let data = place.data("t.html");
    assert_eq!(data["shape"], plain["shape"]);
    let names: Vec<_> = data["statistics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row[0].as_str().unwrap())
        .collect();
    assert!(names.contains(&"rewrite_share"), "{names:?}");
    let shape = &plain["shape"];
    // All requests are 4 KiB long and aligned to 4 KiB.
    assert_eq!(shape["write_sectors"], serde_json::json!([[8, 1334]]));
    let starts: Vec<u64> = shape["starts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|count| count.as_u64().unwrap())
        .collect();
    let aligned: u64 = starts.iter().step_by(8).sum();
    assert_eq!(
        (starts.len(), aligned, starts.iter().sum::<u64>()),
        (32, 2000, 2000)
    );
    let sum = |name: &str| {
        shape["load"][name]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| count.as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(
        ["reads", "writes", "bytes_read", "bytes_written"].map(sum),
        [666, 1334, 666 * 4096, 1334 * 4096]
    );
    let page = place.read("t.html");
    assert!(
        page.contains("2,000 requests, 66.70 % of them writes"),
        "conclusions"
    );
    assert_eq!(place.files(), ["t.disksim", "t.html"]);
    // The JSON file contains the same data as the page.
    place.succeed(&["trace", "info", "t.disksim", "-o", "t.json"]);
    assert_eq!(common::json(&place.read("t.json"))["shape"], plain["shape"]);
}

#[test]
fn a_trace_of_flushes_alone_has_a_page_and_other_endings_are_refused() {
    let place = Place::new();
    place.write("f.csv", "time,op,sector,sectors\n0,flush,0,0\n");
    place.succeed(&["trace", "info", "f.csv", "-o", "f.html"]);
    assert_eq!(
        place.data("f.html")["shape"]["footprint"],
        serde_json::json!([])
    );
    // The program refuses the name of the output before it opens the trace.
    for file in ["x.svg", "x", "x.png", "x.html.txt"] {
        let outcome = place.run(&["trace", "info", "absent.csv", "-o", file]);
        assert_eq!(outcome.status, 2);
        let expected =
            format!("-o {file}: the ending names no form of statistics; expected .html or .json");
        assert!(outcome.errors.contains(&expected), "{}", outcome.errors);
    }
    assert_eq!(place.files(), ["f.csv", "f.html"]);
}
