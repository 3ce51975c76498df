//! BLAKE2b (RFC 7693) with 32-byte results, and a way to hash structured data without ambiguity.

use std::fmt;

/// A hash of 32 bytes: what is equal has equal ones, what differs has different ones.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const IV: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// Order of the message words in each round; rounds 10 and 11 repeat the first two.
const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

const BLOCK: usize = 128;

/// A hash in the making.
pub struct Hasher {
    state: [u64; 8],
    block: [u8; BLOCK],
    filled: usize,
    total: u128,
}

impl Hasher {
    /// An empty hash; what is hashed for different purposes has different `domain`s.
    pub fn new(domain: &str) -> Hasher {
        let mut state = IV;
        // Parameter block: digest length 32, no key, fan-out and depth 1.
        state[0] ^= 0x0101_0020;
        let mut h = Hasher { state, block: [0; BLOCK], filled: 0, total: 0 };
        h.text(domain);
        h
    }
    /// Bytes alone, without their length.
    fn raw(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.filled == BLOCK {
                self.total += BLOCK as u128;
                self.compress(false);
                self.filled = 0;
            }
            let n = bytes.len().min(BLOCK - self.filled);
            self.block[self.filled..self.filled + n].copy_from_slice(&bytes[..n]);
            self.filled += n;
            bytes = &bytes[n..];
        }
    }
    /// Adds bytes, told apart from what comes before and after.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }
    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }
    /// Adds a number.
    pub fn number(&mut self, n: u64) {
        self.raw(&n.to_le_bytes());
    }
    /// Adds another hash.
    pub fn digest(&mut self, d: &Digest) {
        self.raw(&d.0);
    }
    /// The hash of all that was added.
    pub fn finish(mut self) -> Digest {
        self.total += self.filled as u128;
        self.block[self.filled..].fill(0);
        self.compress(true);
        let mut out = [0; 32];
        for (to, word) in out.chunks_exact_mut(8).zip(self.state) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        Digest(out)
    }

    fn compress(&mut self, last: bool) {
        let mut m = [0u64; 16];
        for (word, bytes) in m.iter_mut().zip(self.block.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let mut v = [0u64; 16];
        v[..8].copy_from_slice(&self.state);
        v[8..].copy_from_slice(&IV);
        v[12] ^= self.total as u64;
        v[13] ^= (self.total >> 64) as u64;
        if last {
            v[14] = !v[14];
        }
        let mut mix = |a: usize, b: usize, c: usize, d: usize, x: u64, y: u64| {
            v[a] = v[a].wrapping_add(v[b]).wrapping_add(x);
            v[d] = (v[d] ^ v[a]).rotate_right(32);
            v[c] = v[c].wrapping_add(v[d]);
            v[b] = (v[b] ^ v[c]).rotate_right(24);
            v[a] = v[a].wrapping_add(v[b]).wrapping_add(y);
            v[d] = (v[d] ^ v[a]).rotate_right(16);
            v[c] = v[c].wrapping_add(v[d]);
            v[b] = (v[b] ^ v[c]).rotate_right(63);
        };
        for round in 0..12 {
            let s = &SIGMA[round % 10];
            mix(0, 4, 8, 12, m[s[0]], m[s[1]]);
            mix(1, 5, 9, 13, m[s[2]], m[s[3]]);
            mix(2, 6, 10, 14, m[s[4]], m[s[5]]);
            mix(3, 7, 11, 15, m[s[6]], m[s[7]]);
            mix(0, 5, 10, 15, m[s[8]], m[s[9]]);
            mix(1, 6, 11, 12, m[s[10]], m[s[11]]);
            mix(2, 7, 8, 13, m[s[12]], m[s[13]]);
            mix(3, 4, 9, 14, m[s[14]], m[s[15]]);
        }
        for (i, word) in self.state.iter_mut().enumerate() {
            *word ^= v[i] ^ v[i + 8];
        }
    }
}

/// The hash of bytes, as `hashlib.blake2b(bytes, digest_size=32)` gives it.
pub fn blake2b(bytes: &[u8]) -> Digest {
    let mut h = Hasher { state: IV, block: [0; BLOCK], filled: 0, total: 0 };
    h.state[0] ^= 0x0101_0020;
    h.raw(bytes);
    h.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_hashlib() {
        // hashlib.blake2b(data, digest_size=32).hexdigest()
        let cases: [(Vec<u8>, &str); 4] = [
            (vec![], "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"),
            (b"abc".to_vec(), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"),
            (vec![7; 128], "332f1f712b03a6a6f6c28db7d96c62f170744119ab0f831b9e0d80f800e3aad7"),
            (
                (0..=255).cycle().take(1000).collect(),
                "c636324d47d89f2b2434dc2c994100663fbbaea880ff020fc5de89dd0f77a1ec",
            ),
        ];
        for (data, want) in cases {
            assert_eq!(blake2b(&data).to_string(), want);
        }
    }

    #[test]
    fn parts_are_told_apart() {
        let of = |parts: &[&str]| {
            let mut h = Hasher::new("test");
            parts.iter().for_each(|p| h.text(p));
            h.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["ab"]), of(&["ab", ""]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
    }
}
