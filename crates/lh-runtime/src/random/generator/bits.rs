//! Sources of random bits: those of NumPy, by its C interface, and our own with the same states and streams.
//!
//! The states of NumPy's own bit generators are known, so that numbers are drawn without a call for each; all others
//! are drawn from by their functions. [`is_as_known`] holds a state against that knowledge.

use std::ffi::c_void;

/// NumPy's `bitgen_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BitGen {
    pub(super) state: *mut c_void,
    pub(super) next_u64: unsafe extern "C" fn(*mut c_void) -> u64,
    pub(super) next_u32: unsafe extern "C" fn(*mut c_void) -> u32,
    pub(super) next_f64: unsafe extern "C" fn(*mut c_void) -> f64,
    pub(super) next_raw: unsafe extern "C" fn(*mut c_void) -> u64,
}

/// Numbers of the kinds of bit generators, as compiled code has them.
pub mod kind {
    /// Any other: only its functions are known.
    pub const FOREIGN: i64 = 0;
    /// `PCG64`.
    pub const PCG64: i64 = 1;
    /// `PCG64DXSM`.
    pub const PCG64DXSM: i64 = 2;
    /// `MT19937`.
    pub const MT19937: i64 = 3;
    /// `Philox`.
    pub const PHILOX: i64 = 4;
    /// `SFC64`.
    pub const SFC64: i64 = 5;
    /// The bits of a kind; of our own, [`NATIVE`] is set, too.
    pub const MASK: i64 = 7;
    /// Made by compiled code.
    pub const NATIVE: i64 = 8;
}

/// A source of random bits. The state may be a copy, which is written back afterwards.
pub(super) trait Bits {
    /// Whether many words at once take much less time than one after the other, and all numbers are made of them.
    const IN_BLOCKS: bool = false;
    fn next_u64(&mut self) -> u64;
    fn next_u32(&mut self) -> u32;
    /// A double in [0, 1) with 53 random bits.
    #[inline(always)]
    fn next_f64(&mut self) -> f64 {
        Self::f64_of(self.next_u64())
    }
    /// The double that a word is.
    #[inline(always)]
    fn f64_of(word: u64) -> f64 {
        (word >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
    /// Doubles in [0, 1), as many as there is room for.
    #[inline(always)]
    fn fill_f64(&mut self, out: &mut [f64]) {
        out.iter_mut().for_each(|x| *x = self.next_f64());
    }
    /// Words, as many as there is room for.
    #[inline(always)]
    fn fill_u64(&mut self, out: &mut [u64]) {
        out.iter_mut().for_each(|x| *x = self.next_u64());
    }
    /// The same of 32 bits.
    #[inline(always)]
    fn fill_u32(&mut self, out: &mut [u32]) {
        out.iter_mut().for_each(|x| *x = self.next_u32());
    }
    /// Floats in [0, 1), as many as there is room for.
    #[inline(always)]
    fn fill_f32(&mut self, out: &mut [f32]) {
        let mut words = [0; BATCH];
        for part in out.chunks_mut(BATCH) {
            let words = &mut words[..part.len()];
            self.fill_u32(words);
            part.iter_mut().zip(words).for_each(|(x, word)| *x = f32_of(*word));
        }
    }
    /// A float in [0, 1) with 24 random bits.
    #[inline(always)]
    fn next_f32(&mut self) -> f32 {
        f32_of(self.next_u32())
    }
}

#[inline(always)]
fn f32_of(word: u32) -> f32 {
    (word >> 8) as i32 as f32 * (1.0 / 16_777_216.0)
}

/// The half of a word of 64 bits that the next draw of 32 bits gives.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Half {
    is_there: i32,
    word: u32,
}

impl Half {
    #[inline(always)]
    fn next(&mut self, next_u64: impl FnOnce() -> u64) -> u32 {
        if self.is_there != 0 {
            self.is_there = 0;
            return self.word;
        }
        let next = next_u64();
        *self = Half { is_there: 1, word: (next >> 32) as u32 };
        next as u32
    }
}

/// A linear congruential generator of 128 bits.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Lcg {
    state: u128,
    inc: u128,
}

/// The state of `PCG64` and `PCG64DXSM`.
#[repr(C)]
pub(super) struct PcgState {
    pub(super) lcg: *mut Lcg,
    pub(super) half: Half,
}

impl Default for PcgState {
    fn default() -> Self {
        PcgState { lcg: std::ptr::null_mut(), half: Half::default() }
    }
}

impl Default for PhiloxState {
    fn default() -> Self {
        let (counter, key) = (std::ptr::null_mut(), std::ptr::null_mut());
        PhiloxState { counter, key, at: 4, buffer: [0; 4], half: Half::default() }
    }
}

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;
const CHEAP_MULTIPLIER: u64 = 0xDA94_2042_E4DD_58B5;

impl Lcg {
    /// The state for two seeds.
    pub(super) fn seeded(words: [u64; 4]) -> Lcg {
        let [seed, inc] = [0, 2].map(|i| u128::from(words[i]) << 64 | u128::from(words[i + 1]));
        let inc = inc << 1 | 1;
        let state = inc.wrapping_add(seed).wrapping_mul(MULTIPLIER).wrapping_add(inc);
        Lcg { state, inc }
    }
}

/// A copy of the state of `PCG64`, or of `PCG64DXSM`.
pub(super) struct Pcg<const DXSM: bool> {
    lcg: Lcg,
    half: Half,
}

impl<const DXSM: bool> Pcg<DXSM> {
    const FACTOR: u128 = if DXSM { CHEAP_MULTIPLIER as u128 } else { MULTIPLIER };

    #[inline(always)]
    pub(super) unsafe fn load(state: *mut PcgState) -> Self {
        // SAFETY: the caller passes such a state.
        unsafe { Pcg { lcg: *(*state).lcg, half: (*state).half } }
    }
    #[inline(always)]
    pub(super) unsafe fn save(self, state: *mut PcgState) {
        // SAFETY: as above.
        unsafe {
            *(*state).lcg = self.lcg;
            (*state).half = self.half;
        }
    }
    /// The number of a state: of `PCG64DXSM` the one before a step, of `PCG64` the one after it.
    #[inline(always)]
    fn output(state: u128) -> u64 {
        if DXSM {
            let (high, low) = ((state >> 64) as u64, state as u64 | 1);
            let high = (high ^ (high >> 32)).wrapping_mul(CHEAP_MULTIPLIER);
            return (high ^ (high >> 48)).wrapping_mul(low);
        }
        ((state >> 64) as u64 ^ state as u64).rotate_right((state >> 122) as u32)
    }
    #[inline(always)]
    fn step(lcg: &mut Lcg) -> u64 {
        let before = lcg.state;
        lcg.state = next_state(before, Self::FACTOR, lcg.inc);
        Self::output(if DXSM { before } else { lcg.state })
    }
    /// Fills memory with what is made of words. Four states go on by four steps each, so that their products do not
    /// wait for each other.
    #[inline(always)]
    fn fill<T>(&mut self, out: &mut [T], made: impl Fn(u64) -> T) {
        let inc = self.lcg.inc;
        let (mut far, mut jump) = (1_u128, 0_u128);
        for _ in 0..4 {
            (far, jump) = (far.wrapping_mul(Self::FACTOR), next_state(jump, Self::FACTOR, inc));
        }
        // The states of the next four numbers.
        let first = self.lcg.state;
        let mut lanes = [if DXSM { first } else { next_state(first, Self::FACTOR, inc) }; 4];
        for i in 1..4 {
            lanes[i] = next_state(lanes[i - 1], Self::FACTOR, inc);
        }
        let mut chunks = out.chunks_exact_mut(4);
        for chunk in &mut chunks {
            // The state after the four numbers: that of the last one, or that of the next one.
            let last = lanes[3];
            for (x, lane) in chunk.iter_mut().zip(&mut lanes) {
                *x = made(Self::output(*lane));
                *lane = next_state(*lane, far, jump);
            }
            self.lcg.state = if DXSM { lanes[0] } else { last };
        }
        chunks.into_remainder().iter_mut().for_each(|x| *x = made(self.next_u64()));
    }
}

/// A step of a generator of 128 bits.
#[inline(always)]
fn next_state(state: u128, factor: u128, inc: u128) -> u128 {
    state.wrapping_mul(factor).wrapping_add(inc)
}

impl<const DXSM: bool> Bits for Pcg<DXSM> {
    fn fill_f64(&mut self, out: &mut [f64]) {
        self.fill(out, Self::f64_of);
    }
    fn fill_u64(&mut self, out: &mut [u64]) {
        self.fill(out, |word| word);
    }
    fn fill_u32(&mut self, out: &mut [u32]) {
        let left = usize::from(self.half.is_there != 0).min(out.len());
        let (first, rest) = out.split_at_mut(left);
        first.iter_mut().for_each(|x| *x = self.next_u32());
        let (pairs, last) = rest.as_chunks_mut::<2>();
        self.fill(pairs, |word| [word as u32, (word >> 32) as u32]);
        last.iter_mut().for_each(|x| *x = self.next_u32());
    }
    #[inline(always)]
    fn next_u64(&mut self) -> u64 {
        Self::step(&mut self.lcg)
    }
    #[inline(always)]
    fn next_u32(&mut self) -> u32 {
        let lcg = &mut self.lcg;
        self.half.next(|| Self::step(lcg))
    }
}

const WORDS: usize = 624;
const MIDDLE: usize = 397;

/// The state of `MT19937`.
#[repr(C)]
pub(super) struct MtState {
    pub(super) key: [u32; WORDS],
    pub(super) at: i32,
}

/// The state of `MT19937` in its place.
pub(super) struct Mt<'a>(&'a mut MtState);

impl MtState {
    #[cold]
    #[inline(never)]
    fn next_block(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the feature was just checked.
            return unsafe { self.twist_avx2() };
        }
        self.twist();
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn twist_avx2(&mut self) {
        self.twist();
    }
    #[inline(always)]
    fn twist(&mut self) {
        let twist = |a: u32, b: u32, far: u32| {
            let y = (a & 0x8000_0000) | (b & 0x7fff_ffff);
            far ^ (y >> 1) ^ ((y & 1).wrapping_neg() & 0x9908_b0df)
        };
        let key = &mut self.key;
        for i in 0..WORDS - MIDDLE {
            key[i] = twist(key[i], key[i + 1], key[i + MIDDLE]);
        }
        for i in WORDS - MIDDLE..WORDS - 1 {
            key[i] = twist(key[i], key[i + 1], key[i + MIDDLE - WORDS]);
        }
        key[WORDS - 1] = twist(key[WORDS - 1], key[0], key[MIDDLE - 1]);
        self.at = 0;
    }
}

#[inline(always)]
fn tempered(mut y: u32) -> u32 {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c_5680;
    y ^= (y << 15) & 0xefc6_0000;
    y ^ (y >> 18)
}

/// The double of two words. The parts are converted as integers of 32 bits, for which there are vectors.
#[inline(always)]
fn double([high, low]: [u32; 2]) -> f64 {
    let (high, low) = (f64::from((high >> 5) as i32), f64::from((low >> 6) as i32));
    (high * 67_108_864.0 + low) * (1.0 / 9_007_199_254_740_992.0)
}

#[inline(always)]
fn joined([high, low]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Makes values of the words of a block, as many as either has.
#[inline(always)]
fn make<const N: usize, T>(out: &mut [T], words: &[u32], made: impl Fn([u32; N]) -> T) {
    for (x, words) in out.iter_mut().zip(words.as_chunks::<N>().0) {
        *x = made(words.map(tempered));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn make_avx2<const N: usize, T>(out: &mut [T], words: &[u32], made: impl Fn([u32; N]) -> T) {
    make(out, words, made);
}

impl Mt<'_> {
    /// Fills memory with what is made of some words each, in vectors where a block has them.
    #[inline(always)]
    fn fill<const N: usize, T>(&mut self, mut out: &mut [T], made: impl Fn([u32; N]) -> T + Copy) {
        while !out.is_empty() {
            let ready = self.0.key.get(self.0.at as usize..).unwrap_or_default();
            let n = (ready.len() / N).min(out.len());
            let (now, later) = out.split_at_mut(n.max(1));
            if n == 0 {
                // Words of two blocks.
                now[0] = made(std::array::from_fn(|_| self.next_u32()));
            } else {
                #[cfg(target_arch = "x86_64")]
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the feature was just checked.
                    unsafe { make_avx2(now, ready, made) };
                } else {
                    make(now, ready, made);
                }
                #[cfg(not(target_arch = "x86_64"))]
                make(now, ready, made);
                self.0.at += (N * n) as i32;
            }
            out = later;
        }
    }
}

impl Bits for Mt<'_> {
    const IN_BLOCKS: bool = true;
    fn fill_f64(&mut self, out: &mut [f64]) {
        self.fill(out, double);
    }
    fn fill_u64(&mut self, out: &mut [u64]) {
        self.fill(out, joined);
    }
    fn fill_u32(&mut self, out: &mut [u32]) {
        self.fill(out, |[word]| word);
    }
    #[inline(always)]
    fn next_u32(&mut self) -> u32 {
        if self.0.at as usize >= WORDS {
            self.0.next_block();
        }
        let word = self.0.key[self.0.at as usize];
        self.0.at += 1;
        tempered(word)
    }
    #[inline(always)]
    fn next_u64(&mut self) -> u64 {
        let high = self.next_u32();
        joined([high, self.next_u32()])
    }
    #[inline(always)]
    fn f64_of(word: u64) -> f64 {
        double([(word >> 32) as u32, word as u32])
    }
}

/// The state of `Philox`.
#[repr(C)]
pub(super) struct PhiloxState {
    pub(super) counter: *mut [u64; 4],
    pub(super) key: *mut [u64; 2],
    pub(super) at: i32,
    pub(super) buffer: [u64; 4],
    pub(super) half: Half,
}

/// The state of `Philox` in its place.
pub(super) struct Philox<'a> {
    state: &'a mut PhiloxState,
    counter: &'a mut [u64; 4],
    key: [u64; 2],
}

impl Philox<'_> {
    fn next_block(&mut self) {
        self.state.buffer = self.block();
        self.state.at = 0;
    }

    /// Ten rounds on the next counter.
    #[inline(always)]
    fn block(&mut self) -> [u64; 4] {
        for word in self.counter.iter_mut() {
            *word = word.wrapping_add(1);
            if *word != 0 {
                break;
            }
        }
        let product = |a: u64, b: u64| {
            let both = u128::from(a) * u128::from(b);
            ((both >> 64) as u64, both as u64)
        };
        let (mut c, mut k) = (*self.counter, self.key);
        for round in 0..10 {
            if round > 0 {
                k = [k[0].wrapping_add(0x9E37_79B9_7F4A_7C15), k[1].wrapping_add(0xBB67_AE85_84CA_A73B)];
            }
            let (high0, low0) = product(0xD2E7_470E_E14C_6C93, c[0]);
            let (high1, low1) = product(0xCA5A_8263_9512_1157, c[2]);
            c = [high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0];
        }
        c
    }

    /// Fills memory with what is made of words. Whole blocks do not go through the state, so that the processor works
    /// on several of them.
    #[inline(always)]
    fn fill<T>(&mut self, out: &mut [T], made: impl Fn(u64) -> T) {
        let left = 4usize.saturating_sub(self.state.at as usize).min(out.len());
        let (first, rest) = out.split_at_mut(left);
        first.iter_mut().for_each(|x| *x = made(self.next_u64()));
        let (blocks, last) = rest.as_chunks_mut::<4>();
        for block in blocks {
            let words = self.block();
            block.iter_mut().zip(words).for_each(|(x, word)| *x = made(word));
        }
        last.iter_mut().for_each(|x| *x = made(self.next_u64()));
    }
}

impl Bits for Philox<'_> {
    const IN_BLOCKS: bool = true;
    fn fill_f64(&mut self, out: &mut [f64]) {
        self.fill(out, Self::f64_of);
    }
    fn fill_u64(&mut self, out: &mut [u64]) {
        self.fill(out, |word| word);
    }
    fn fill_u32(&mut self, out: &mut [u32]) {
        let left = usize::from(self.state.half.is_there != 0).min(out.len());
        let (first, rest) = out.split_at_mut(left);
        first.iter_mut().for_each(|x| *x = self.next_u32());
        let (pairs, last) = rest.as_chunks_mut::<2>();
        self.fill(pairs, |word| [word as u32, (word >> 32) as u32]);
        last.iter_mut().for_each(|x| *x = self.next_u32());
    }
    #[inline(always)]
    fn next_u64(&mut self) -> u64 {
        if self.state.at as usize >= 4 {
            self.next_block();
        }
        let word = self.state.buffer[self.state.at as usize];
        self.state.at += 1;
        word
    }
    #[inline(always)]
    fn next_u32(&mut self) -> u32 {
        let mut half = self.state.half;
        let word = half.next(|| self.next_u64());
        self.state.half = half;
        word
    }
}

/// Words that are drawn at once.
pub(super) const BATCH: usize = 256;

/// A source whose words are drawn ahead, for numbers of which each takes at least one: never more words than there are
/// numbers to come, so that none is left over.
pub(super) struct Ahead<'a, B> {
    source: &'a mut B,
    words: [u64; BATCH],
    at: usize,
    end: usize,
}

/// Fills memory with numbers of which each takes at least one word of 64 bits, and nothing but these and doubles.
#[inline(always)]
pub(super) fn fill_each<'a, B: Bits, T>(source: &'a mut B, out: &mut [T], draw: impl Fn(&mut Ahead<'a, B>) -> T) {
    let mut ahead = Ahead { source, words: [0; BATCH], at: 0, end: 0 };
    let mut to_come = out.len();
    for x in out {
        if B::IN_BLOCKS && ahead.at == ahead.end {
            (ahead.at, ahead.end) = (0, BATCH.min(to_come));
            ahead.source.fill_u64(&mut ahead.words[..ahead.end]);
        }
        *x = draw(&mut ahead);
        to_come -= 1;
    }
}

impl<B: Bits> Bits for Ahead<'_, B> {
    #[inline(always)]
    fn next_u64(&mut self) -> u64 {
        if !B::IN_BLOCKS || self.at == self.end {
            return self.source.next_u64();
        }
        let word = self.words[self.at];
        self.at += 1;
        word
    }
    #[inline(always)]
    fn next_u32(&mut self) -> u32 {
        lh_ir::bug!("numbers that are drawn ahead take words of 64 bits")
    }
    #[inline(always)]
    fn next_f64(&mut self) -> f64 {
        if B::IN_BLOCKS { B::f64_of(self.next_u64()) } else { self.source.next_f64() }
    }
}

/// The state of `SFC64`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Sfc {
    s: [u64; 4],
    half: Half,
}

impl Sfc {
    /// The state for a seed.
    pub(super) fn seeded(words: [u64; 3]) -> Sfc {
        let mut made = Sfc { s: [words[0], words[1], words[2], 1], half: Half::default() };
        for _ in 0..12 {
            made.next_u64();
        }
        made
    }
    #[inline(always)]
    fn step(s: &mut [u64; 4]) -> u64 {
        let out = s[0].wrapping_add(s[1]).wrapping_add(s[3]);
        *s = [
            s[1] ^ (s[1] >> 11),
            s[2].wrapping_add(s[2] << 3),
            s[2].rotate_left(24).wrapping_add(out),
            s[3].wrapping_add(1),
        ];
        out
    }
}

impl Bits for Sfc {
    #[inline(always)]
    fn next_u64(&mut self) -> u64 {
        Self::step(&mut self.s)
    }
    #[inline(always)]
    fn next_u32(&mut self) -> u32 {
        let s = &mut self.s;
        self.half.next(|| Self::step(s))
    }
}

/// A bit generator of which only the functions are known.
pub(super) struct Foreign(BitGen);

impl Bits for Foreign {
    fn next_u64(&mut self) -> u64 {
        // SAFETY: the functions of a bit generator take its state.
        unsafe { (self.0.next_u64)(self.0.state) }
    }
    fn next_u32(&mut self) -> u32 {
        // SAFETY: as above.
        unsafe { (self.0.next_u32)(self.0.state) }
    }
    fn next_f64(&mut self) -> f64 {
        // SAFETY: as above.
        unsafe { (self.0.next_f64)(self.0.state) }
    }
}

/// A bit generator with its kind, which is asked for at each draw: for distributions that take long themselves.
#[derive(Clone, Copy)]
pub struct Source {
    pub(super) bits: *mut BitGen,
    pub(super) kind: i64,
}

/// Does something with a copy of the state, or with the state in its place, in code of its own for each kind.
macro_rules! drawing {
    ($source:expr, $bits:ident => $body:expr) => {{
        #[allow(unused_imports, reason = "not all users are elsewhere")]
        use $crate::random::generator::bits::{Foreign, Mt, Pcg, Philox, Sfc, Source, kind};
        let Source { bits, kind: of } = $source;
        // SAFETY: compiled code passes a bit generator that is alive, with its kind, and nobody else draws meanwhile.
        unsafe {
            let state = (*bits).state;
            match of & kind::MASK {
                kind::PCG64 => drawing!(@copy Pcg::<false>, state, $bits => $body),
                kind::PCG64DXSM => drawing!(@copy Pcg::<true>, state, $bits => $body),
                kind::SFC64 => drawing!(@copy Sfc, state, $bits => $body),
                kind::MT19937 => {
                    let $bits = &mut Mt::at(state);
                    $body
                }
                kind::PHILOX => {
                    let $bits = &mut Philox::at(state);
                    $body
                }
                _ => {
                    let $bits = &mut Foreign::at(bits);
                    $body
                }
            }
        }
    }};
    (@copy $of:ty, $state:ident, $bits:ident => $body:expr) => {{
        let mut copy = <$of>::load($state.cast());
        let $bits = &mut copy;
        let made = $body;
        copy.save($state.cast());
        made
    }};
}
pub(super) use drawing;

impl Sfc {
    #[inline(always)]
    pub(super) unsafe fn load(state: *mut Sfc) -> Self {
        // SAFETY: the caller passes such a state.
        unsafe { *state }
    }
    #[inline(always)]
    pub(super) unsafe fn save(self, state: *mut Sfc) {
        // SAFETY: as above.
        unsafe { *state = self }
    }
}
impl Mt<'_> {
    #[inline(always)]
    pub(super) unsafe fn at(state: *mut c_void) -> Self {
        // SAFETY: the caller passes such a state.
        unsafe { Mt(&mut *state.cast()) }
    }
}
impl Philox<'_> {
    #[inline(always)]
    pub(super) unsafe fn at(state: *mut c_void) -> Self {
        // SAFETY: the caller passes such a state; its parts lie elsewhere.
        unsafe {
            let state: &mut PhiloxState = &mut *state.cast();
            let (counter, key) = (&mut *state.counter, *state.key);
            Philox { state, counter, key }
        }
    }
}
impl Foreign {
    #[inline(always)]
    pub(super) unsafe fn at(bits: *mut BitGen) -> Self {
        // SAFETY: the caller passes a bit generator.
        unsafe { Foreign(*bits) }
    }
}

impl Bits for Source {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        drawing!(*self, b => b.next_u64())
    }
    #[inline]
    fn next_u32(&mut self) -> u32 {
        drawing!(*self, b => b.next_u32())
    }
    #[inline]
    fn next_f64(&mut self) -> f64 {
        drawing!(*self, b => b.next_f64())
    }
}

/// Whether two bit generators of NumPy with the same seed are of a kind as it is known here: one is drawn from by its
/// functions, the other one as if it were of the kind.
///
/// # Safety
/// Both are alive, of that class, and different.
pub unsafe fn is_as_known(one: *mut BitGen, other: *mut BitGen, kind: i64) -> bool {
    let mut plain = Source { bits: one, kind: kind::FOREIGN };
    let mut known = Source { bits: other, kind };
    (0..700).all(|i| match i % 4 {
        0 => plain.next_u64() == known.next_u64(),
        1 => plain.next_f64().to_bits() == known.next_f64().to_bits(),
        _ => plain.next_u32() == known.next_u32(),
    })
}
