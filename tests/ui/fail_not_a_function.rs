//! Things that are no functions with a body.

#[rsmc::test]
struct Structure;

trait Trait {
    #[rsmc::test]
    fn without_body();
}

fn main() {
    let _ = Structure;
}
