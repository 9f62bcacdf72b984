//! Checks a witness by playing it: the independent judge of the verifiers.

use crate::consistency::Instance;

/// Why a sequence is no witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// An event is missing or stands there twice.
    NotAPermutation,
    /// Program order is broken between these two.
    ProgramOrder(usize, usize),
    /// This read finds a write that is not good for it (`None` is the initial value).
    BadWrite(usize, Option<usize>),
}

/// Whether `order` is a sequentially consistent execution of the instance.
pub fn check_witness(instance: &Instance, order: &[usize]) -> Result<(), Flaw> {
    let mut place = vec![None; instance.items.len()];
    for (at, &event) in order.iter().enumerate() {
        match place.get_mut(event) {
            Some(slot @ None) => *slot = Some(at),
            _ => return Err(Flaw::NotAPermutation),
        }
    }
    if place.contains(&None) {
        return Err(Flaw::NotAPermutation);
    }
    for &(a, b) in &instance.edges {
        if place[a as usize] >= place[b as usize] {
            return Err(Flaw::ProgramOrder(a as usize, b as usize));
        }
    }
    let mut last = vec![None; instance.locs];
    for &event in order {
        let item = instance.items[event];
        let newest = &mut last[item.loc.0 as usize];
        if item.reads {
            let good = match *newest {
                None => item.init_good,
                Some(write) => instance.goods.contains(&(event as u32, write as u32)),
            };
            if !good {
                return Err(Flaw::BadWrite(event, *newest));
            }
        }
        if item.writes {
            *newest = Some(event);
        }
    }
    Ok(())
}
