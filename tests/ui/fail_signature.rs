//! Functions that cannot be tests.

#[rsmc::test]
async fn asynchronous() {}

#[rsmc::test]
const fn constant() {}

#[rsmc::test]
unsafe fn not_safe() {}

#[rsmc::test]
extern "C" fn foreign() {}

#[rsmc::test]
fn generic<T>() {}

#[rsmc::test]
fn with_where_clause()
where
    u8: Copy,
{
}

#[rsmc::test]
fn parameters(threads: usize, _rounds: usize) {
    // No error that follows from the one above.
    drop(threads);
}

fn main() {}
