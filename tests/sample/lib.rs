//! Whether a test runs a sample of its cases, as in `make test`, or all of them, as in `make whole`
//! (`DESTAGE_WHOLE=1`).

/// `sample`, or `whole` if `DESTAGE_WHOLE` is 1.
///
/// A sample leaves out cases: seeds, sizes, or requests at the end of a trace. A case is checked by the same
/// assertions in a sample and in the whole test.
#[must_use]
pub fn sampled<T>(sample: T, whole: T) -> T {
    match std::env::var("DESTAGE_WHOLE").as_deref() {
        Ok("1") => whole,
        _ => sample,
    }
}
