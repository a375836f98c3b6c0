//! Where values come from: files and standard input, decompressed.

use flate2::read::MultiGzDecoder;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of one input, and its name for messages.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    bytes: Vec<u8>,
    npy: bool,
    npz: bool,
}

/// An input that could not be opened or decompressed.
#[derive(Debug)]
pub struct SourceError {
    name: String,
    why: io::Error,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", self.name, self.why)
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.why)
    }
}

impl Source {
    /// Bytes that are already here. Compressed ones (by their first two bytes) are decompressed.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Self, SourceError> {
        let name = name.into();
        let bare = name.strip_suffix(".gz").unwrap_or(&name);
        let (npy, npz) = (bare.ends_with(".npy"), bare.ends_with(".npz"));
        match gunzip(bytes) {
            Ok(bytes) => Ok(Self {
                name,
                bytes,
                npy,
                npz,
            }),
            Err(why) => Err(SourceError { name, why }),
        }
    }
    /// A file; `-` is standard input.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        if path == Path::new("-") {
            return Self::stdin();
        }
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Self::from_bytes(name, bytes),
            Err(why) => Err(SourceError { name, why }),
        }
    }
    /// All of standard input.
    pub fn stdin() -> Result<Self, SourceError> {
        let mut bytes = Vec::new();
        let name = "standard input";
        match io::stdin().lock().read_to_end(&mut bytes) {
            Ok(_) => Self::from_bytes(name, bytes),
            Err(why) => Err(SourceError {
                name: name.to_owned(),
                why,
            }),
        }
    }
    /// The name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The contents.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    /// Whether this is an archive of NumPy files, by its name.
    pub fn is_npz(&self) -> bool {
        self.npz
    }
    /// Whether this is a NumPy file, by its name.
    pub fn is_npy(&self) -> bool {
        self.npy
    }
}

/// Decompresses gzip data; other data is handed back as it is.
pub fn gunzip(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut out = Vec::new();
    MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut out)?;
    Ok(out)
}
