//! Every stand-in makes requests without end, whatever the size of its volume. When the volume is full, the stand-in
//! formats the volume or deletes files.

use crate::WORKLOADS;
use destage_base::parameter::{Value, Values};

#[test]
fn small_volumes_are_filled_over_and_over_or_refused_by_name() {
    for workload in WORKLOADS
        .iter()
        .filter(|row| row.name.starts_with("standin-"))
    {
        for footprint in [1, 50, 2000, 6000, 14_000, 70_000] {
            let mut values = Values::defaults(workload.parameters);
            values.set("footprint_pages", Value::Integer(footprint));
            values.set("requests", Value::Integer(60_000));
            match (workload.make)(&values, 5) {
                Ok(requests) => {
                    let mut count = 0;
                    for request in requests {
                        count += 1;
                        assert!(
                            request.sectors > 0 && request.end() <= footprint * 8,
                            "{workload:?} {footprint} {request:?}"
                        );
                    }
                    assert_eq!(count, 60_000, "{workload:?} {footprint}");
                }
                Err(error) => {
                    let text = error.to_string();
                    let start = format!("workload {}: ", workload.name);
                    assert!(text.starts_with(&start), "{text}");
                }
            }
        }
    }
}
