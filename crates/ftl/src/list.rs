//! An ordered list of small numbers, such as blocks or log blocks, from which any number can be removed in O(1).

/// A list of numbers in which each number occurs at most once.
pub type List = destage_base::list::List<u32>;
