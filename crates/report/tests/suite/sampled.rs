//! The page for a sampled curve contains the intervals of the curve's values.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::{CurvePlan, Effort, Input, Rate, SALTS, Sampling, Settings, curve};

#[test]
fn a_page_of_a_sampled_curve_has_the_intervals() {
    let text =
        "zipf:requests=40000,footprint_pages=16000,cluster_pages=8,max_pages=8,write_percent=80";
    let plan = CurvePlan {
        settings: Settings::new(),
        buffers: Some(vec!["fab".to_owned()]),
        sizes: Some(vec!["16MiB".to_owned(), "24MiB".to_owned()]),
        sampling: Some(Sampling {
            rate: Rate::Share(0.125),
            salts: SALTS,
        }),
    };
    let input = Input::workload(text, &[]).unwrap();
    let curves = curve(&input, &plan, &Effort::default()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&curves.to_json()).unwrap();
    let hits = &json["curves"][0]["points"][1]["buffer.write_hits"];
    let [low, high] = ["low", "high"].map(|name| hits[name].as_u64().unwrap());
    assert!(low < high, "{hits}");
    let page = destage_report::html(&curves.to_json(), None).unwrap();
    let range = format!("\"buffer.write_hits\":[{low},{high}]");
    assert!(page.contains(&range), "{range}");
    assert!(page.contains("8 samples, each with 12.50 %"));
}
