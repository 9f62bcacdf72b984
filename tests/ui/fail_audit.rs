//! The arguments of `#[rsmc::audit]`.

#[rsmc::audit(memory = "sc", explorer = "random")]
fn no_orderings() {}

#[rsmc::audit(within = "soon", allow = ["src/queue.rs", "a.rs: f()", "a.rs: f()"])]
fn values() {}

#[rsmc::audit(allow = "src/queue.rs: self.tail.load(SeqCst)")]
fn no_list() {}

#[rsmc::audit(alow = [])]
fn misspelt() {}

#[rsmc::test(allow = [])]
fn of_the_other() {}

#[rsmc::audit]
#[rsmc::test]
fn twice() {}

#[rsmc::test]
#[rsmc::audit]
fn twice_the_other_way() {}

#[rsmc::audit]
fn parameters(threads: usize) {
    let _ = threads;
}

#[rsmc::audit]
struct Structure;

fn main() {
    let _ = Structure;
}
