//! Tests of the table of schemes.

use destage_base::parameter::Values;
use destage_buffer::{COMMON, SCHEMES};

#[test]
fn names_are_unique_and_defaults_are_legal() {
    for (index, row) in SCHEMES.iter().enumerate() {
        assert!(
            SCHEMES[..index].iter().all(|other| other.name != row.name),
            "{}",
            row.name
        );
        let all = COMMON.iter().chain(row.parameters);
        // Two parameters with the same name would share a value, so the two counts would differ.
        assert_eq!(
            Values::defaults(all.clone()).iter().count(),
            all.count(),
            "{}",
            row.name
        );
    }
}
