//! The Mersenne Twister MT19937, a block of outputs at a time.

use super::split::{self, Family};
use lh_ops::layout::stream;
use std::mem::offset_of;

const N: usize = stream::WORDS;
const M: usize = 397;

/// Position that says "not seeded yet"; like any position from `N` on it leads to the slow path.
const UNSEEDED: usize = usize::MAX;
/// Position that says "of a block of a parallel loop that has not drawn yet".
const SPLIT: usize = usize::MAX - 1;

/// A position put aside.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    at: usize,
    /// The spare value of the generator around.
    pub(super) spare: Option<f64>,
}

/// A generator. Compiled code draws doubles from the block itself, while there are words in it.
#[repr(C)]
#[derive(Clone, Debug)]
pub(crate) struct Mt19937 {
    /// Next in the block.
    at: usize,
    /// The block made of `key`, ready to be given out.
    block: [u32; N],
    key: [u32; N],
    family: Family,
}

const _: () = assert!(offset_of!(Mt19937, at) == stream::AT && offset_of!(Mt19937, block) == stream::BLOCK);

impl Mt19937 {
    /// A generator that seeds itself from the operating system on first use.
    pub const fn new(family: Family) -> Mt19937 {
        Mt19937 { key: [0; N], block: [0; N], at: UNSEEDED, family }
    }

    /// Knuth's seeding from one word (`init_genrand`).
    pub fn seed(&mut self, seed: u32) {
        if self.at == SPLIT {
            split::put_aside(self.family, self);
        }
        let mut word = seed;
        for (i, k) in self.key.iter_mut().enumerate() {
            *k = word;
            word = 1_812_433_253_u32.wrapping_mul(word ^ (word >> 30)).wrapping_add(i as u32 + 1);
        }
        self.at = N;
    }

    /// Seeding from several words (`init_by_array`).
    pub fn seed_array(&mut self, words: &[u32]) {
        self.seed(19_650_218);
        let key = &mut self.key;
        let mut i = 1;
        let mix = |key: &[u32; N], i: usize| key[i - 1] ^ (key[i - 1] >> 30);
        for j in (0..words.len()).cycle().take(N.max(words.len())) {
            key[i] = (key[i] ^ mix(key, i).wrapping_mul(1_664_525)).wrapping_add(words[j]).wrapping_add(j as u32);
            i += 1;
            if i == N {
                key[0] = key[N - 1];
                i = 1;
            }
        }
        for _ in 1..N {
            key[i] = (key[i] ^ mix(key, i).wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            i += 1;
            if i == N {
                key[0] = key[N - 1];
                i = 1;
            }
        }
        key[0] = 0x8000_0000;
    }

    /// Leaves the stream to a block of a parallel loop, whose own begins at its first value.
    pub(super) fn mark(&mut self, spare: Option<f64>) -> Mark {
        Mark { at: std::mem::replace(&mut self.at, SPLIT), spare }
    }

    /// The end of the loop: the thread's own stream goes on.
    pub(super) fn unmark(&mut self, aside: Option<Box<Mt19937>>, mark: Mark) {
        if let Some(own) = aside {
            *self = *own;
        }
        self.at = mark.at;
    }

    /// Forgets the seed: the next number is of a stream that the operating system seeds.
    pub(super) fn forget(&mut self) {
        self.at = UNSEEDED;
    }

    /// A number from the operating system.
    pub(super) fn entropy() -> u64 {
        let words = words_from_os();
        u64::from(words[0]) << 32 | u64::from(words[1])
    }

    /// Seeding from the operating system.
    pub fn seed_from_os(&mut self) {
        self.seed_array(&words_from_os());
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        if self.at == UNSEEDED {
            self.seed_from_os();
        } else if self.at == SPLIT {
            self.seed_array(&split::words(self.family));
        }
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the feature was just checked.
            unsafe { self.next_block_avx2() };
            return;
        }
        self.next_block();
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn next_block_avx2(&mut self) {
        self.next_block();
    }

    #[inline(always)]
    fn next_block(&mut self) {
        let twist = |a: u32, b: u32, far: u32| {
            let y = (a & 0x8000_0000) | (b & 0x7fff_ffff);
            far ^ (y >> 1) ^ ((y & 1).wrapping_neg() & 0x9908_b0df)
        };
        let key = &mut self.key;
        for i in 0..N - M {
            key[i] = twist(key[i], key[i + 1], key[i + M]);
        }
        for i in N - M..N - 1 {
            key[i] = twist(key[i], key[i + 1], key[i + M - N]);
        }
        key[N - 1] = twist(key[N - 1], key[0], key[M - 1]);
        for (out, k) in self.block.iter_mut().zip(key) {
            let mut y = *k;
            y ^= y >> 11;
            y ^= (y << 7) & 0x9d2c_5680;
            y ^= (y << 15) & 0xefc6_0000;
            *out = y ^ (y >> 18);
        }
        self.at = 0;
    }

    /// 32 random bits.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.at >= N {
            self.refill();
        }
        let word = self.block[self.at];
        self.at += 1;
        word
    }

    /// 64 random bits, the high half first.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let high = u64::from(self.next_u32());
        high << 32 | u64::from(self.next_u32())
    }

    /// A double in [0, 1) with 53 random bits.
    #[inline]
    pub fn next_f64(&mut self) -> f64 {
        match self.block.get(self.at..self.at.wrapping_add(2)) {
            Some(&[high, low]) => {
                self.at += 2;
                to_f64(high, low)
            }
            _ => self.next_f64_across_blocks(),
        }
    }

    #[cold]
    #[inline(never)]
    fn next_f64_across_blocks(&mut self) -> f64 {
        let high = self.next_u32();
        to_f64(high, self.next_u32())
    }

    /// Fills memory with doubles as [`Mt19937::next_f64`] would give them.
    pub fn fill_f64(&mut self, mut out: &mut [f64]) {
        while !out.is_empty() {
            let ready = self.block.get(self.at..).unwrap_or_default();
            let pairs = (ready.len() / 2).min(out.len());
            if pairs == 0 {
                out[0] = self.next_f64();
                out = &mut out[1..];
                continue;
            }
            let (now, later) = out.split_at_mut(pairs);
            for (x, words) in now.iter_mut().zip(ready.chunks_exact(2)) {
                *x = to_f64(words[0], words[1]);
            }
            self.at += 2 * pairs;
            out = later;
        }
    }
}

/// Random words.
fn words_from_os() -> [u32; 8] {
    let mut words = [0u32; 8];
    // SAFETY: the buffer has that size. Requests of up to 256 bytes are served whole.
    let got = unsafe { libc::getrandom(words.as_mut_ptr().cast(), size_of_val(&words), 0) };
    if got != size_of_val(&words) as isize {
        // No source of entropy (a sandbox): what differs between threads and runs must do.
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let place = std::ptr::from_ref(&words).addr();
        words = [clock as u32, (clock >> 32) as u32, place as u32, (place >> 32) as u32, std::process::id(), 0, 0, 0];
    }
    words
}

/// `((high >> 5) * 2**26 + (low >> 6)) / 2**53`.
#[inline]
fn to_f64(high: u32, low: u32) -> f64 {
    let bits = u64::from(high >> 5) << 26 | u64::from(low >> 6);
    bits as i64 as f64 * (1.0 / 9_007_199_254_740_992.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_stream() {
        // From the authors' own `mt19937ar.out`.
        let mut g = Mt19937::new(Family::Numpy);
        g.seed_array(&[0x123, 0x234, 0x345, 0x456]);
        assert_eq!([g.next_u32(), g.next_u32(), g.next_u32()], [1_067_595_299, 955_945_823, 477_289_528]);
    }

    #[test]
    fn filling_is_the_same_stream() {
        let (mut a, mut b) = (Mt19937::new(Family::Numpy), Mt19937::new(Family::Numpy));
        for skip in [0, 1, 311, 623] {
            a.seed(5);
            b.seed(5);
            (0..skip).for_each(|_| assert_eq!(a.next_u32(), b.next_u32()));
            let mut all = vec![0.0; 1500];
            a.fill_f64(&mut all);
            assert!(all.iter().all(|x| *x == b.next_f64()));
            assert_eq!(a.next_u64(), b.next_u64());
        }
    }

    #[test]
    fn unseeded_generators_differ() {
        assert_ne!(Mt19937::new(Family::Numpy).next_u64(), Mt19937::new(Family::Numpy).next_u64());
    }
}
