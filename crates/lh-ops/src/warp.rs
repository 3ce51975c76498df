//! Kinds of operations of a warp, as `lib/cuda/warps.py` passes them to `lh_cuda_warp`.

/// Waits.
pub const SYNC: i64 = 0;
/// Gives the value of a lane.
pub const SHFL: i64 = 1;
/// Gives that of a lane below.
pub const UP: i64 = 2;
/// Gives that of a lane above.
pub const DOWN: i64 = 3;
/// Gives that of the lane whose number differs in some bits.
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
