//! Whom a file is from, and who may have written it: told by its descriptor, so of the very bytes that are read.

use rustix::fs::{FileType, Mode, Stat};
use std::io;
use std::path::Path;

/// Why a file is not read or written.
#[derive(Debug)]
pub enum Refused {
    /// Somebody else may have put it there; the text says who, and how that ends.
    Untrusted(String),
    /// It is not there, is no file, or cannot be opened.
    Failed(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        Refused::Failed(error)
    }
}

impl From<rustix::io::Errno> for Refused {
    fn from(error: rustix::io::Errno) -> Refused {
        Refused::Failed(error.into())
    }
}

/// Why a file or folder may hold what somebody else has put there; `None` if only its owner, who is this user or the
/// system's administrator, may write it.
///
/// An access list is seen, too: as long as it lets anybody write, the bits of the group say so, which are its mask.
/// Groups are not looked into. Even a group that is named after a user may have other members, elsewhere on a network.
pub(super) fn distrust(stat: &Stat, path: &Path) -> Option<String> {
    let path = path.display();
    let mode = Mode::from_raw_mode(stat.st_mode);
    let me = rustix::process::geteuid().as_raw();
    if stat.st_uid != me && stat.st_uid != 0 {
        return Some(format!("{path} belongs to another user (uid {})", stat.st_uid));
    }
    if mode.contains(Mode::WOTH) {
        return Some(format!("everybody may write to {path} (`chmod go-w {path}` ends that)"));
    }
    if mode.contains(Mode::WGRP) {
        let gid = stat.st_gid;
        return Some(format!("the group {gid} or an access list may write to {path} (`chmod go-w {path}` ends that)"));
    }
    None
}

/// Whether it is a file with bytes: no folder, link, FIFO, socket or device.
pub(super) fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// The error for all else that has a file's name.
pub(super) fn no_file(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{} is no regular file", path.display()))
}
