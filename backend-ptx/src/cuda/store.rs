//! Compiled kernels, kept in a directory from one process to the next: compiling takes the driver some milliseconds for each.
//!
//! A kernel is found again by a hash of all that it depends on, which is the name of its file. Whatever is wrong with a file, the kernel
//! is compiled again: entries that are damaged or cut short are passed over, and files are put in place whole. The directory is
//! its owner's alone, since what is in it runs on the GPU. What has not been used for the longest time makes way for what is new.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of all files together, at most.
const MOST: u64 = 128 << 20;
/// What files begin with; the number is that of the format.
const MAGIC: &[u8] = b"arrc kernel 1\n";
/// Bytes of a hash.
const HASH: usize = 16;
/// How names of files end.
const EXTENSION: &str = "cubin";

/// A directory of compiled kernels.
#[derive(Clone, Debug)]
pub struct KernelStore {
    directory: PathBuf,
    most: u64,
}

/// What a kernel is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(u128);

impl Key {
    /// All that a compiled kernel depends on.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Hash::default();
        for part in parts {
            // Where a part ends matters.
            hash.add(&(part.len() as u64).to_le_bytes());
            hash.add(part);
        }
        Self(hash.0)
    }
}

/// The hash of Fowler, Noll and Vo in 128 bits: nobody else can write into the directory, so that chance alone is to be feared.
struct Hash(u128);

impl Default for Hash {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }
}

/// What is in a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Kernels.
    pub kernels: usize,
    /// Bytes of their files.
    pub bytes: u64,
}

impl KernelStore {
    /// The store in a directory, which is made when it is needed.
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            most: MOST,
        }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What there is.
    pub fn stored(&self) -> Stored {
        let files = self.files().unwrap_or_default();
        Stored {
            kernels: files.len(),
            bytes: files.iter().map(|file| file.bytes).sum(),
        }
    }

    /// Removes all kernels.
    pub fn clear(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.directory) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => Err(why),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// A kernel that was kept; nothing if there is none that is whole.
    pub(crate) fn get(&self, key: Key) -> Option<Vec<u8>> {
        if !is_private(&self.directory) {
            return None;
        }
        let path = self.path(key);
        let image = image(key, &fs::read(&path).ok()?)?;
        // If that fails, it makes way earlier than it should.
        let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(image)
    }

    /// Keeps a kernel, if it can be kept: it is compiled again otherwise.
    pub(crate) fn put(&self, key: Key, image: &[u8]) {
        if self.try_put(key, image).is_ok() {
            // Another process may have removed the same files.
            let _ = self.make_room(key);
        }
    }

    fn try_put(&self, key: Key, image: &[u8]) -> io::Result<()> {
        make_private(&self.directory)?;
        let path = self.path(key);
        // Another process may read it: it is there as a whole or not at all.
        let draft = path.with_extension(format!("{}.draft", std::process::id()));
        let written = write(&draft, &[MAGIC, &check(key, image), image]);
        let placed = written.and_then(|()| fs::rename(&draft, &path));
        if placed.is_err() {
            // It may never have been made.
            let _ = fs::remove_file(&draft);
        }
        placed
    }

    /// Removes the files that were not used for the longest time, as long as all are too much; never that of this kernel.
    fn make_room(&self, newest: Key) -> io::Result<()> {
        let newest = self.path(newest);
        let mut files = self.files()?;
        let mut bytes: u64 = files.iter().map(|file| file.bytes).sum();
        files.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
        for file in files.iter().filter(|file| file.path != newest) {
            if bytes <= self.most {
                break;
            }
            fs::remove_file(&file.path)?;
            bytes = bytes.saturating_sub(file.bytes);
        }
        Ok(())
    }

    fn path(&self, Key(key): Key) -> PathBuf {
        self.directory.join(format!("{key:032x}.{EXTENSION}"))
    }

    fn files(&self) -> io::Result<Vec<Entry>> {
        let mut files = Vec::new();
        for file in fs::read_dir(&self.directory)? {
            let path = file?.path();
            let is_kernel = path.extension().is_some_and(|e| e == EXTENSION);
            // Another process may just have removed it.
            if let (true, Ok(about)) = (is_kernel, fs::metadata(&path)) {
                files.push(Entry {
                    path,
                    bytes: about.len(),
                    used: about.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                });
            }
        }
        Ok(files)
    }
}

/// A file of the directory.
struct Entry {
    path: PathBuf,
    bytes: u64,
    /// When it was used last.
    used: SystemTime,
}

/// The image in a file, if it is that of this key, and whole.
fn image(key: Key, file: &[u8]) -> Option<Vec<u8>> {
    let rest = file.strip_prefix(MAGIC)?;
    let (found, image) = rest.split_at_checked(HASH)?;
    (found == check(key, image) && !image.is_empty()).then(|| image.to_vec())
}

fn check(Key(key): Key, image: &[u8]) -> [u8; HASH] {
    let mut hash = Hash::default();
    hash.add(&key.to_le_bytes());
    hash.add(image);
    hash.0.to_le_bytes()
}

fn write(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    parts.iter().try_for_each(|part| file.write_all(part))
}

/// Makes the directory, for its owner alone.
fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    if is_private(directory) {
        return Ok(());
    }
    Err(io::Error::other("others can write to the directory"))
}

/// Whether nobody but its owner has to do with a directory.
fn is_private(directory: &Path) -> bool {
    #[cfg(unix)]
    {
        let mode =
            |about: fs::Metadata| std::os::unix::fs::PermissionsExt::mode(&about.permissions());
        fs::symlink_metadata(directory)
            .is_ok_and(|about| about.is_dir() && mode(about) & 0o077 == 0)
    }
    #[cfg(not(unix))]
    {
        directory.is_dir()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A store in a directory of its own, which is removed in the end.
    struct Temporary(KernelStore);

    impl Temporary {
        fn new(name: &str, most: u64) -> Self {
            let name = format!("arrc-kernels-{}-{name}", std::process::id());
            let store = KernelStore {
                most,
                ..KernelStore::new(&std::env::temp_dir().join(name))
            };
            store.clear().expect("the directory can be removed");
            Self(store)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            // It lies where it does no harm.
            let _ = self.0.clear();
        }
    }

    fn key(text: &str) -> Key {
        Key::of(&[text.as_bytes(), b"90"])
    }

    #[test]
    fn what_is_put_is_found_again() {
        let store = &Temporary::new("found", MOST).0;
        assert_eq!(store.get(key("a")), None, "there is no directory yet");
        store.put(key("a"), b"first");
        store.put(key("b"), b"second");
        store.put(key("a"), b"third");
        assert_eq!(store.get(key("a")), Some(b"third".to_vec()));
        assert_eq!(store.get(key("b")), Some(b"second".to_vec()));
        assert_eq!(store.get(key("c")), None);
        assert_eq!(store.stored().kernels, 2);
        store.clear().expect("the directory can be removed");
        assert_eq!(store.stored(), Stored::default());
    }

    #[test]
    fn parts_of_a_key_are_told_apart() {
        assert_ne!(Key::of(&[b"ab", b"c"]), Key::of(&[b"a", b"bc"]));
        assert_ne!(Key::of(&[b"a"]), Key::of(&[b"a", b""]));
    }

    #[test]
    fn damaged_entries_are_passed_over() {
        let store = &Temporary::new("damaged", MOST).0;
        store.put(key("a"), b"a kernel");
        let path = store.path(key("a"));
        let whole = fs::read(&path).expect("the file is there");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            fs::write(&path, &damaged).expect("the file can be written");
            assert_eq!(store.get(key("a")), None, "byte {at} was changed");
            fs::write(&path, &whole[..at]).expect("the file can be written");
            assert_eq!(store.get(key("a")), None, "byte {at} is missing");
        }
        // That of another kernel under this name.
        store.put(key("b"), b"a kernel");
        fs::copy(store.path(key("b")), &path).expect("the file can be written");
        assert_eq!(store.get(key("a")), None);
        store.put(key("a"), b"a kernel");
        assert_eq!(store.get(key("a")), Some(b"a kernel".to_vec()));
    }

    #[test]
    fn what_was_not_used_for_long_makes_way() {
        let store = &Temporary::new("room", 400).0;
        let image = [7; 100];
        for (age, name) in [(30, "a"), (20, "b"), (10, "c")] {
            store.put(key(name), &image);
            let file = File::open(store.path(key(name))).expect("the file is there");
            let then = SystemTime::now() - Duration::from_secs(age);
            file.set_modified(then).expect("its time can be set");
        }
        assert!(store.get(key("a")).is_some(), "now it is the newest");
        store.put(key("d"), &image);
        let is_there = |name| store.get(key(name)).is_some();
        assert_eq!(
            ["a", "b", "c", "d"].map(is_there),
            [true, false, true, true],
            "three fit"
        );
        store.put(key("e"), &[7; 1000]);
        assert_eq!(store.stored().kernels, 1, "what is new stays");
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_others_reach_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let store = &Temporary::new("private", MOST).0;
        store.put(key("a"), b"a kernel");
        let about = fs::metadata(store.directory()).expect("the directory is there");
        assert_eq!(about.permissions().mode() & 0o777, 0o700);
        let open = fs::Permissions::from_mode(0o770);
        fs::set_permissions(store.directory(), open).expect("its mode can be set");
        assert_eq!(store.get(key("a")), None);
        store.put(key("b"), b"a kernel");
        assert_eq!(store.stored().kernels, 1);
    }
}
