//! Memory models as operational rules: what memory holds, and what a step does to it.

pub mod sc;
