//! Memory that more than one device uses: the host's own which a GPU reaches, and that of another GPU.

use super::{Buffer, Gpu, Handle, Result, attribute};
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;

/// Who may use memory of a pool, and how, as the driver takes it.
#[repr(C)]
pub(super) struct Access {
    kind: c_int,
    ordinal: c_int,
    flags: c_int,
}

/// A pool to be made, as the driver takes it: `CUmemPoolProps`.
#[repr(C)]
pub(super) struct PoolProperties {
    allocation: c_int,
    handles: c_int,
    location: c_int,
    ordinal: c_int,
    security: Handle,
    most: usize,
    usage: u16,
    reserved: [u8; 54],
}

/// The part of a GPU's memory that its pool keeps when nothing uses it. Libraries that allocate beside us do not get
/// it.
const KEPT: u64 = 8;

impl Gpu {
    /// A pool of memory of our own: the device's default one belongs to all libraries of the process.
    pub(super) fn new_pool(&self) -> Result<usize> {
        const PINNED: c_int = 1;
        const DEVICE: c_int = 1;
        let properties = PoolProperties {
            allocation: PINNED,
            handles: 0,
            location: DEVICE,
            ordinal: self.ordinal,
            security: null_mut(),
            most: 0,
            usage: 0,
            reserved: [0; 54],
        };
        let (mut pool, mut kept) = (null_mut(), self.memory()?.1 as u64 / KEPT);
        // SAFETY: the description is the driver's; the pool is written; the attribute is a 64-bit number.
        unsafe {
            self.driver.pool_create(&raw mut pool, &raw const properties)?;
            self.driver.pool_attribute(pool, attribute::POOL_KEEPS, (&raw mut kept).cast())?;
        }
        Ok(pool.addr())
    }

    /// Memory of the host that is not moved, and that GPUs use at the same address.
    pub fn allocate_host(self: &Arc<Self>, bytes: usize) -> Result<Buffer> {
        const PORTABLE_AND_MAPPED: u32 = 3;
        self.enter()?;
        let mut at = null_mut();
        // SAFETY: the address is written.
        unsafe { self.driver.host_alloc(&raw mut at, bytes.max(1), PORTABLE_AND_MAPPED)? };
        Ok(Buffer { gpu: self.clone(), address: at as u64, bytes, is_host: true })
    }

    /// Keeps memory of the host where it is, so that copies are fast; or no longer.
    ///
    /// # Safety
    /// The memory is alive as long.
    pub unsafe fn pin(&self, at: usize, bytes: usize, on: bool) -> Result<()> {
        const PORTABLE: u32 = 1;
        self.enter()?;
        let at = at as Handle;
        // SAFETY: by contract.
        unsafe { if on { self.driver.host_register(at, bytes, PORTABLE) } else { self.driver.host_unregister(at) } }
    }

    /// The number of the GPU in whose memory an address is.
    ///
    /// # Errors
    /// No GPU knows the address.
    pub fn owner(&self, address: u64) -> Result<usize> {
        let mut ordinal: c_int = 0;
        self.enter()?;
        // SAFETY: the number is written.
        unsafe { self.driver.pointer_attribute((&raw mut ordinal).cast(), attribute::POINTER_ORDINAL, address)? };
        Ok(ordinal as usize)
    }

    /// Whether kernels here can use another GPU's memory, once that is enabled.
    pub fn can_reach(&self, other: &Gpu) -> Result<bool> {
        let mut can = 0;
        // SAFETY: the number is written.
        unsafe { self.driver.can_access_peer(&raw mut can, self.ordinal, other.ordinal)? };
        Ok(can != 0)
    }

    /// Lets kernels here use another GPU's memory, that of its pool too.
    ///
    /// # Errors
    /// As the driver says; that it was enabled before is none.
    pub fn reach(&self, other: &Gpu) -> Result<()> {
        const ALREADY: i32 = 704;
        const DEVICE: c_int = 1;
        const READ_AND_WRITE: c_int = 3;
        self.enter()?;
        // SAFETY: the other's context is alive.
        match unsafe { self.driver.enable_peer(other.context, 0) } {
            Err(e) if e.code != ALREADY => return Err(e),
            _ => (),
        }
        if let Some(pool) = other.pool {
            let access = Access { kind: DEVICE, ordinal: self.ordinal, flags: READ_AND_WRITE };
            // SAFETY: the pool is alive; one description is read.
            unsafe { self.driver.pool_access(pool as Handle, &raw const access, 1)? };
        }
        Ok(())
    }

    /// Copies bytes from another GPU, after all that was started on both.
    ///
    /// # Safety
    /// Both places are alive and as long, on these GPUs.
    pub unsafe fn copy_from(&self, to: u64, other: &Gpu, from: u64, bytes: usize) -> Result<()> {
        self.enter()?;
        // SAFETY: by contract.
        unsafe { self.driver.copy_peer(to, self.context, from, other.context, bytes) }
    }
}
