//! Kinds of operations of a warp, as `lib/cuda/warps.py` passes them to `lh_cuda_warp`.

/// A barrier of the warp.
pub const SYNC: i64 = 0;
/// Indexed shuffle: the value of a given lane.
pub const SHFL: i64 = 1;
/// Shuffle up: the value of a lane with a lower number.
pub const UP: i64 = 2;
/// Shuffle down: the value of a lane with a higher number.
pub const DOWN: i64 = 3;
/// Butterfly shuffle: the value of lane `id ^ mask`.
pub const XOR: i64 = 4;
/// Whether all values are true.
pub const ALL: i64 = 5;
/// Whether any value is.
pub const ANY: i64 = 6;
/// Whether all are true, or none.
pub const EQ: i64 = 7;
/// The lanes whose values are true.
pub const BALLOT: i64 = 8;
/// The lanes with the same value.
pub const MATCH_ANY: i64 = 9;
/// All lanes, if they have the same value.
pub const MATCH_ALL: i64 = 10;
/// Added if the value has 32 bits, which makes a difference to a GPU.
pub const NARROW: i64 = 16;
