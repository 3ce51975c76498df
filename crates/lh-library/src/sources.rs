//! The library's sources, by which it is seen whether what was made of them is still right.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A hash of names and texts of the Python files below a directory.
///
/// # Errors
/// What cannot be read.
pub fn digest(root: &Path) -> io::Result<u64> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let mut hash = DefaultHasher::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file).as_os_str().as_encoded_bytes();
        let text = fs::read(&file)?;
        for part in [name, &text] {
            hash.write_usize(part.len());
            hash.write(part);
        }
    }
    Ok(hash.finish())
}

fn collect(dir: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "py") {
            out.push(path);
        } else if entry.file_type()?.is_dir() && entry.file_name() != "__pycache__" {
            collect(&path, out)?;
        }
    }
    Ok(())
}
