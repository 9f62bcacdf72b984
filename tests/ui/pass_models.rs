//! A list of memory models is a module with one test per model.
#![deny(warnings)]

#[rsmc::test(memory = ["sc"])]
pub(crate) fn queue() {
    assert_eq!(helper(), 1);
}

#[rsmc::test(memory = ["tso", "pso"])]
pub(crate) fn weaker() {}

#[rsmc::test(memory = ["c11"])]
pub(crate) fn weakest() {}

/// A model that an explorer does not know is an error of the test.
#[rsmc::test(memory = ["c11"], explorer = "view")]
#[should_panic(expected = "is not implemented for the memory model")]
pub(crate) fn unknown() {}

/// What a body calls from outside, also by a path that starts at its own place.
#[cfg(test)]
fn helper() -> u8 {
    1
}

/// The names of the tests are those that they should have.
#[cfg(test)]
mod names {
    #[allow(unused_imports)]
    use super::{
        queue::sc,
        weaker::{pso, tso},
        weakest::c11,
    };
}

/// Tests in a module, where `super` means what it says and a function may have the name of a model.
#[cfg(test)]
mod nested {
    fn sc() -> u8 {
        2
    }

    #[rsmc::test(memory = ["sc"], max_executions = 100)]
    pub(super) fn one() -> Result<(), String> {
        assert_eq!(super::helper() + sc(), 3);
        Ok(())
    }

    /// Attributes go where they have a meaning.
    #[rsmc::test(memory = ["sc"])]
    #[cfg_attr(all(), should_panic(expected = "as it should"), allow(unused_variables))]
    #[expect(unused_mut)]
    #[allow(non_snake_case)]
    pub fn Attributes() {
        let mut unused = 1;
        panic!("as it should");
    }

    #[rsmc::test(memory = ["sc"])]
    #[cfg(any())]
    fn configured_out() {
        there_is_no_such_function();
    }
}
