//! An order over small numbers, such as blocks or log blocks, in which any of them can be taken out at once.

/// A list of numbers, each at most once.
pub type List = destage_base::list::List<u32>;
