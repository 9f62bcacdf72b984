//! Only the benchmark is of interest here.
