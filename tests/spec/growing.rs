//! A set in stripes that get more when one of them holds two keys.

use std::collections::BTreeSet;

use rsmc::sync::{Mutex, RwLock};

type Stripe = Mutex<BTreeSet<u8>>;

pub struct Growing(RwLock<Vec<Stripe>>);

impl Default for Growing {
    fn default() -> Self {
        Self(RwLock::new(stripes(1)))
    }
}

fn stripes(count: usize) -> Vec<Stripe> {
    (0..count).map(|_| Stripe::default()).collect()
}

fn stripe_of(stripes: &[Stripe], key: u8) -> &Stripe {
    &stripes[usize::from(key) % stripes.len()]
}

impl Growing {
    pub fn insert(&self, key: u8) {
        let stripes = self.0.read().unwrap();
        let in_stripe = {
            let mut stripe = stripe_of(&stripes, key).lock().unwrap();
            stripe.insert(key);
            stripe.len()
        };
        let count = stripes.len();
        drop(stripes);
        if in_stripe > 1 {
            self.grow_from(count);
        }
    }

    fn grow_from(&self, count: usize) {
        let mut all = self.0.write().unwrap();
        if all.len() == count {
            let more = stripes(2 * count);
            for key in all.drain(..).flat_map(|stripe| stripe.into_inner().unwrap()) {
                stripe_of(&more, key).lock().unwrap().insert(key);
            }
            *all = more;
        }
    }

    pub fn keys(&self) -> Vec<u8> {
        let stripes = self.0.read().unwrap();
        let all: Vec<_> = stripes.iter().map(|stripe| stripe.lock().unwrap()).collect();
        sorted(all.iter().flat_map(|stripe| stripe.iter().copied()))
    }

    /// Broken: when the set grows meanwhile, keys come to another stripe.
    pub fn keys_of_one_by_one(&self) -> Vec<u8> {
        let keys_of = |number| {
            let stripes = self.0.read().unwrap();
            let stripe: &Stripe = stripes.get(number)?;
            let keys: Vec<u8> = stripe.lock().unwrap().iter().copied().collect();
            Some(keys)
        };
        sorted((0..).map_while(keys_of).flatten())
    }
}

fn sorted(keys: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut keys: Vec<u8> = keys.collect();
    keys.sort_unstable();
    keys
}
