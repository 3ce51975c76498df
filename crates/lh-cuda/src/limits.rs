//! The limits of compute capability 9.0, which the CPU device has too, and the errors for launches beyond them.

use crate::launch::{Code, Config};

/// An error of CUDA's driver.
#[derive(Debug)]
pub struct Refusal {
    /// CUDA's number.
    pub code: i32,
    /// CUDA's name.
    pub name: &'static str,
    /// The reason.
    pub text: &'static str,
}

/// Threads of a block.
pub const MAX_THREADS: i64 = 1024;
/// Threads of a block by axis.
pub const MAX_BLOCK: [i64; 3] = [1024, 1024, 64];
/// Blocks of a grid by axis.
pub const MAX_GRID: [i64; 3] = [(1 << 31) - 1, 65535, 65535];
/// Shared memory of a block that a launch may ask for, bytes.
pub const MAX_SHARED: i64 = 227 << 10;
/// Static shared memory of a block, bytes.
pub const MAX_STATIC_SHARED: usize = 48 << 10;
/// Threads of a grid whose threads wait for each other.
pub const MAX_COOPERATIVE_THREADS: i64 = 1 << 15;

const fn invalid(text: &'static str) -> Refusal {
    Refusal { code: 1, name: "CUDA_ERROR_INVALID_VALUE", text }
}

static THREADS: Refusal = invalid("a block has at most 1024 threads");
static BLOCK: Refusal = invalid("a block has at most 1024 x 1024 x 64 threads, and at least one in each dimension");
static GRID: Refusal =
    invalid("a grid has at most 2147483647 x 65535 x 65535 blocks, and at least one in each dimension");
static SHARED: Refusal = invalid("a block has at most 232448 bytes of shared memory");
static STATIC_SHARED: Refusal = Refusal {
    code: 218,
    name: "CUDA_ERROR_INVALID_PTX",
    text: "the kernel uses too much shared data: arrays of known shape have at most 49152 bytes together; for more, give one the shape 0 and launch with its bytes",
};
static COOPERATIVE: Refusal = Refusal {
    code: 720,
    name: "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
    text: "too many blocks in cooperative launch",
};

/// Whether the geometry of a launch is one that any device has.
///
/// # Errors
/// The first thing that is too large, or nothing.
pub fn check_geometry(config: &Config) -> Result<(), &'static Refusal> {
    let within = |v: &[i64; 3], max: &[i64; 3]| v.iter().zip(max).all(|(v, m)| (1..=*m).contains(v));
    if !within(&config.block, &MAX_BLOCK) {
        return Err(&BLOCK);
    }
    if config.threads() > MAX_THREADS {
        return Err(&THREADS);
    }
    if !within(&config.grid, &MAX_GRID) {
        return Err(&GRID);
    }
    if !(0..=MAX_SHARED).contains(&config.dynamic_shared) {
        return Err(&SHARED);
    }
    Ok(())
}

/// Whether a device takes a launch.
///
/// # Errors
/// The first thing that is too large.
pub fn check(code: &Code, config: &Config) -> Result<(), &'static Refusal> {
    check_geometry(config)?;
    if code.info.shared_bytes > MAX_STATIC_SHARED {
        return Err(&STATIC_SHARED);
    }
    if code.info.shared_bytes as i64 + config.dynamic_shared > MAX_SHARED {
        return Err(&SHARED);
    }
    if code.info.is_cooperative && config.threads().saturating_mul(config.blocks()) > MAX_COOPERATIVE_THREADS {
        return Err(&COOPERATIVE);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::KernelInfo;

    unsafe extern "C" fn nothing(_: *const u64, _: *mut u64) -> i32 {
        0
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let info = KernelInfo { is_cooperative: true, shared_bytes: 1000, ..KernelInfo::default() };
        let mut code = Code { entry: nothing, info };
        let tried = |code: &Code, grid, block, dynamic_shared| {
            check(code, &Config { grid, block, dynamic_shared, in_order: false }).map_err(|r| r.code)
        };
        assert_eq!(tried(&code, [1, 1, 1], [32, 32, 1], 0), Ok(()));
        assert_eq!(tried(&code, [1, 1, 1], [32, 33, 1], 0), Err(1));
        assert_eq!(tried(&code, [0, 1, 1], [32, 1, 1], 0), Err(1));
        assert_eq!(tried(&code, [1, 65536, 1], [32, 1, 1], 0), Err(1));
        assert_eq!(tried(&code, [1, 1, 1], [32, 1, 1], MAX_SHARED), Err(1));
        assert_eq!(tried(&code, [64, 1, 1], [1024, 1, 1], 0), Err(720));
        code.info.shared_bytes = MAX_STATIC_SHARED + 1;
        assert_eq!(tried(&code, [1, 1, 1], [32, 1, 1], 0), Err(218));
    }
}
