//! A specification adds nothing to an ordinary program that is unused, and takes no name of its module.
#![deny(warnings)]

#[rsmc::spec(calls = 1, allow_trivial = true)]
pub(crate) mod register {
    //! A register.
    #![allow(non_snake_case)]

    type Register = std::sync::atomic::AtomicU8;

    /// Makes a register.
    fn new() -> Register {
        Register::new(0)
    }

    fn model() -> u8 {
        0
    }

    /// Its name is a word of the macro, and those of its parameters are.
    #[op(argument_0 in [1], call = |it, to, _| it.store(to, std::sync::atomic::Ordering::SeqCst))]
    fn structure(model: &mut u8, argument_0: u8, spec: bool) {
        _ = spec;
        *model = argument_0;
    }

    #[op(call = |it| it.load(std::sync::atomic::Ordering::SeqCst))]
    fn r#match(Model: &mut u8) -> u8 {
        *Model
    }

    /// Another test of it.
    #[test]
    fn has_operations() {
        assert_eq!(format!("{:?}", spec()), "Spec { operations: [\"structure\", \"match\"], .. }");
    }
}
