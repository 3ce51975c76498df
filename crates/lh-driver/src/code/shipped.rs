//! Objects that come with lancehead, in a file: those of units that many programs share, for levels of processors.
//!
//! ```text
//! "LHSHIPPD" · number of objects · (digest of the key · offset · size) in order of the digests · objects
//! ```

use super::objects::key;
use crate::digest::Digest;

const MAGIC: &[u8; 8] = b"LHSHIPP1";

/// A digest, an offset and a size.
const ROW: usize = 32 + 4 + 4;

/// The objects in a file, of which those for one processor are used.
#[derive(Debug)]
pub struct Shipped {
    rows: &'static [[u8; ROW]],
    objects: &'static [u8],
    processor: (String, String),
}

impl Shipped {
    /// Opens a file that [`write()`] has made, for a processor of it.
    pub fn open(file: &'static [u8], processor: (&str, &str)) -> Option<Shipped> {
        let (number, rest) = file.strip_prefix(MAGIC)?.split_first_chunk::<4>()?;
        let (rows, objects) = rest.split_at_checked(ROW * u32::from_le_bytes(*number) as usize)?;
        let processor = (processor.0.to_owned(), processor.1.to_owned());
        Some(Shipped { rows: rows.as_chunks().0, objects, processor })
    }

    /// The object of a module.
    pub(crate) fn find(&self, module: &Digest) -> Option<&'static [u8]> {
        let wanted = key(module, (&self.processor.0, &self.processor.1));
        let at = self.rows.binary_search_by(|row| row[..32].cmp(&wanted.0)).ok()?;
        let number = |from: usize| {
            self.rows[at][from..].first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
        };
        let (offset, size) = (number(32), number(36));
        self.objects.get(offset..offset + size)
    }
}

/// Objects with the digests of their keys, and the names of their functions.
pub(crate) type Named = Vec<(String, Digest, Vec<u8>)>;

/// The file of objects. Those of functions of one name lie together: they are alike, and so the wheel is smaller.
pub(crate) fn write(mut objects: Named) -> Vec<u8> {
    objects.sort_by(|a, b| (&a.0, a.2.len(), a.1).cmp(&(&b.0, b.2.len(), b.1)));
    objects.dedup_by_key(|(_, key, _)| *key);
    let mut rows = Vec::new();
    let mut offset = 0u32;
    for (_, key, object) in &objects {
        rows.push((*key, offset, object.len() as u32));
        offset += object.len() as u32;
    }
    rows.sort_unstable();
    let mut out = MAGIC.to_vec();
    out.extend((rows.len() as u32).to_le_bytes());
    for (key, offset, size) in rows {
        out.extend(key.0);
        out.extend(offset.to_le_bytes());
        out.extend(size.to_le_bytes());
    }
    objects.iter().for_each(|(_, _, object)| out.extend(object));
    out
}
