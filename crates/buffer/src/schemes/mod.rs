//! The schemes, a folder per family.
//!
//! | family | orders |
//! | --- | --- |
//! | [`block`] | the buffered pages of one logical block |
//! | [`page`] | single pages, or the pages of one request |
//! | [`element`] | the pages of each element apart |
//! | [`set`] | the lines of each set of a set-associative cache apart |
//! | [`bound`] | nothing a real buffer could: what no scheme can beat |

pub mod block;
pub mod bound;
pub mod element;
pub mod page;
pub mod set;
//! | [`hybrid`] | single pages and clusters side by side |
//! | [`page`] | single pages, or the pages of one request |
//! | [`run`] | runs of pages that came together |

pub mod hybrid;
pub mod page;
pub mod run;
