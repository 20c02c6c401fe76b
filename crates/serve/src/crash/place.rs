//! The device as the tested program sees it: a folder with a mounted file system. The file system is on a loop
//! device. The loop device is on a FUSE file, which nbdfuse provides.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::held::{Held, MOUNT_POINTS};
use super::tools::{FileSystem, output};
use super::{CrashError, Stop};

/// The longest wait for the FUSE file to appear, and for nbdfuse to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// The device, attached as a disk. The fields are dropped in their order, so the mount is released first.
pub(super) struct Disk {
    mounted: Option<Held>,
    device: PathBuf,
    _loop_device: Held,
    _fuse: Held,
    nbdfuse: Nbdfuse,
    folder: PathBuf,
    file_system: FileSystem,
}

/// The process that shows the export as a file. If this value is dropped, the process is killed.
struct Nbdfuse {
    child: Child,
    group: Option<Held>,
}

impl Nbdfuse {
    /// Starts the process, which shows the export at `uri` as the file at `path`.
    fn start(path: &Path, uri: &str) -> Result<Self, CrashError> {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new("nbdfuse");
        command.arg(path).arg(uri).process_group(0);
        command.stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command
            .spawn()
            .map_err(|cause| CrashError::Tool(format!("nbdfuse: {cause}")))?;
        Ok(Self {
            group: Held::group(child.id()),
            child,
        })
    }

    fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }
}

impl Drop for Nbdfuse {
    fn drop(&mut self) {
        drop(self.group.take());
        // Both calls fail if the process has ended and was waited for already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Disk {
    /// Attaches the export at `uri` as a disk. The mount point of the disk is in `folder`.
    pub fn attach(
        file_system: FileSystem,
        uri: &str,
        folder: &Path,
        stop: Stop<'_>,
    ) -> Result<Self, CrashError> {
        let [fuse, mount] = MOUNT_POINTS.map(|name| folder.join(name));
        for path in [&fuse, &mount] {
            std::fs::create_dir_all(path)?;
        }
        let file = fuse.join("disk");
        let mut nbdfuse = Nbdfuse::start(&file, uri)?;
        let shown = Held::fuse(fuse);
        let began = Instant::now();
        while !file.exists() {
            if nbdfuse.has_ended()? || began.elapsed() > PATIENCE {
                return Err(CrashError::Tool(
                    "nbdfuse: does not show the device".to_owned(),
                ));
            }
            stop.check()?;
            sleep(Duration::from_millis(10));
        }
        let device = output(&["losetup", "--show", "--find"], &[file.as_os_str()])?;
        let device = PathBuf::from(device.trim());
        Ok(Self {
            mounted: None,
            _loop_device: Held::loop_device(device.clone()),
            device,
            _fuse: shown,
            nbdfuse,
            folder: mount,
            file_system,
        })
    }

    /// Makes a file system on the disk.
    pub fn make(&self) -> Result<(), CrashError> {
        self.file_system.make(&self.device)
    }

    /// Mounts the file system. Returns the folder, or the error of `mount`.
    pub fn mount(&mut self) -> Result<PathBuf, String> {
        self.file_system.mount(&self.device, &self.folder)?;
        self.mounted = Some(Held::mount(self.folder.clone()));
        Ok(self.folder.clone())
    }

    /// Whether the file system is mounted.
    pub fn is_mounted(&self) -> bool {
        self.mounted.is_some()
    }

    /// Unmounts the file system.
    pub fn unmount(&mut self) {
        self.mounted = None;
    }

    /// Checks the file system, which must not be mounted. Returns the errors that the check has found; `None` if there
    /// are none.
    pub fn check(&self) -> Result<Option<String>, CrashError> {
        self.file_system.check(&self.device)
    }

    /// Unmounts the file system, and detaches the disk.
    pub fn detach(self) {
        let Self {
            mounted,
            _loop_device,
            _fuse,
            mut nbdfuse,
            ..
        } = self;
        drop(mounted);
        drop(_loop_device);
        drop(_fuse);
        // nbdfuse ends by itself when its file is no longer open. If it does not end in time, it is killed.
        let began = Instant::now();
        while began.elapsed() < PATIENCE && nbdfuse.has_ended().is_ok_and(|end| !end) {
            sleep(Duration::from_millis(10));
        }
    }
}
