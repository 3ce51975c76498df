//! `numpy.random.SeedSequence`: hashes words of any quality to words of good quality (O'Neill's `seed_seq` repaired).

use crate::symbol::{Symbol, functions};

/// A hash whose constant changes with each use.
struct Hash {
    constant: u32,
    factor: u32,
}

impl Hash {
    fn of(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.factor);
        let word = word.wrapping_mul(self.constant);
        word ^ (word >> 16)
    }
}

fn mix(x: u32, y: u32) -> u32 {
    let mixed = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
    mixed ^ (mixed >> 16)
}

/// The pool for some entropy.
fn pool_of(entropy: &[u32], size: usize) -> Vec<u32> {
    let mut hash = Hash { constant: 0x43b0_d7e5, factor: 0x931e_8875 };
    let mut pool: Vec<u32> = (0..size).map(|i| hash.of(entropy.get(i).copied().unwrap_or(0))).collect();
    for from in 0..size {
        for to in (0..size).filter(|to| *to != from) {
            pool[to] = mix(pool[to], hash.of(pool[from]));
        }
    }
    for word in entropy.iter().skip(size) {
        for to in &mut pool {
            *to = mix(*to, hash.of(*word));
        }
    }
    pool
}

/// Words of a seed: those of the entropy and their number, those of the spawn key and their number, the size of the
/// pool, where the words go and how many.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_seed_words(
    entropy: *const u32,
    entropy_len: i64,
    spawn_key: *const u32,
    spawn_len: i64,
    pool_size: i64,
    out: *mut u32,
    n: i64,
) {
    let list = |p: *const u32, n: i64| match n {
        0 => &[][..],
        // SAFETY: compiled code passes arrays of these sizes.
        n => unsafe { std::slice::from_raw_parts(p, n as usize) },
    };
    let (entropy, spawn_key) = (list(entropy, entropy_len), list(spawn_key, spawn_len));
    let mut all = entropy.to_vec();
    if !spawn_key.is_empty() && all.len() < pool_size as usize {
        // Else a spawn key could be taken for a part of the entropy.
        all.resize(pool_size as usize, 0);
    }
    all.extend(spawn_key);
    let pool = pool_of(&all, pool_size as usize);
    let mut hash = Hash { constant: 0x8b51_f9dd, factor: 0x58f3_8ded };
    for (i, word) in pool.iter().cycle().take(n as usize).enumerate() {
        // SAFETY: as above.
        unsafe { out.add(i).write(hash.of(*word)) };
    }
}

pub(super) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _ _ _ _ _) lh_seed_words;
    }
}
