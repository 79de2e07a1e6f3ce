// SPDX-License-Identifier: Apache-2.0
#include "library/driver.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>  // newer versions declare drivers here
#endif

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <new>
#include <set>
#include <span>
#include <string_view>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::hdf5 {

namespace {

ReadProbe* asked = nullptr;
OpenRecorder* noting = nullptr;
std::uint64_t opened = 0;  // how many files the library has opened through this driver

// The library knows a file by its `base`, so `base` must be the first member.
struct OpenFile {
  H5FD_t base{};
  int fd = -1;
  std::uint64_t bytes = 0;  // the file's size when it was opened
  haddr_t end = 0;          // end of the addresses that the library has allocated
  dev_t device{};
  ino_t inode{};
};
static_assert(std::is_standard_layout_v<OpenFile>);

OpenFile& of(H5FD_t* file) noexcept { return *reinterpret_cast<OpenFile*>(file); }
const OpenFile& of(const H5FD_t* file) noexcept { return *reinterpret_cast<const OpenFile*>(file); }

// Returns false if there is no memory for the note.
bool note_opened(const char* name, const struct stat& status) noexcept {
  const FileState state = state_of(status);
  try {
    if (noting != nullptr) noting->note(name, &state);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// If there is no memory for the note, it is dropped, because the library will soon fail by itself.
void note_failed(const char* name) noexcept {
  try {
    if (noting != nullptr) noting->note(name, nullptr);
  } catch (const std::exception&) {
  }
}

H5FD_t* open_file(const char* name, unsigned flags, hid_t, haddr_t) {
  if ((flags & H5F_ACC_RDWR) != 0) return nullptr;
  // An HDF5 file may name other files, and such a name may be a pipe's. O_NONBLOCK: opening a pipe does not wait for a
  // writer.
  const int fd = uninterrupted([&] { return ::open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  struct stat status {};
  const bool regular = fd >= 0 && ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  // The library only passes the pointer back, so `close_file` can free it with delete.
  auto* file = regular && note_opened(name, status) ? new (std::nothrow) OpenFile : nullptr;
  if (file == nullptr) {
    if (!regular) note_failed(name);
    if (fd >= 0) ::close(fd);
    return nullptr;
  }
  ++opened;
  file->fd = fd;
  file->bytes = static_cast<std::uint64_t>(status.st_size);
  file->device = status.st_dev;
  file->inode = status.st_ino;
  return &file->base;
}

herr_t close_file(H5FD_t* file) {
  ::close(of(file).fd);
  delete &of(file);
  return 0;
}

int compare(const H5FD_t* a, const H5FD_t* b) {
  const OpenFile &x = of(a), &y = of(b);
  if (x.device != y.device) return x.device < y.device ? -1 : 1;
  if (x.inode != y.inode) return x.inode < y.inode ? -1 : 1;
  return 0;
}

herr_t tell_features(const H5FD_t*, unsigned long* flags) {
  // No sieve buffer, because after a failed read the library keeps the buffer's wrong content permanently.
  *flags = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_POSIX_COMPAT_HANDLE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t allocated_end(const H5FD_t* file, H5FD_mem_t) { return of(file).end; }

herr_t set_allocated_end(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  of(file).end = end;
  return 0;
}

haddr_t file_end(const H5FD_t* file, H5FD_mem_t) { return of(file).bytes; }

herr_t handle_of(H5FD_t* file, hid_t, void** handle) {
  *handle = &of(file).fd;
  return 0;
}

herr_t read_file(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t size, void* buffer) {
  const OpenFile& f = of(file);
  if (address > static_cast<haddr_t>(std::numeric_limits<off_t>::max()) - size) return -1;
  if (asked != nullptr && type == H5FD_MEM_DRAW) {
    asked->note(address, size);
    return 0;
  }
  const std::span out(static_cast<std::byte*>(buffer), size);
  const std::size_t got = read_whole(f.fd, out, address);
  if (got == size) return 0;
  // Missing bytes after the file's end were allocated and never written, so they are zeros. Missing bytes that the file
  // had when it was opened are an error.
  if (errno != 0 || address + got < f.bytes) return -1;
  std::ranges::fill(out.subspan(got), std::byte{});
  return 0;
}

herr_t no_writing(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return -1; }

// Takes a shared lock, like the library's own driver, unless the environment turns locks off. Fails while another
// process writes the file, because that process holds an exclusive lock.
herr_t lock_file(H5FD_t* file, hbool_t) {
  const char* wanted = std::getenv("HDF5_USE_FILE_LOCKING");
  if (wanted != nullptr && (std::string_view(wanted) == "FALSE" || std::string_view(wanted) == "0")) return 0;
  if (uninterrupted([&] { return ::flock(of(file).fd, LOCK_SH | LOCK_NB); }) == 0 || errno == ENOSYS) return 0;
  return -1;
}

herr_t unlock_file(H5FD_t* file) {
  ::flock(of(file).fd, LOCK_UN);
  return 0;
}

const H5FD_class_t& driver_class() {
  static const H5FD_class_t driver = [] {
    H5FD_class_t d{};
#ifdef H5FD_CLASS_VERSION
    d.version = H5FD_CLASS_VERSION;
    d.value = static_cast<H5FD_class_value_t>(513);  // a number that any program may use
#endif
    d.name = "penstock";
    d.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
    d.fc_degree = H5F_CLOSE_WEAK;
    d.open = open_file;
    d.close = close_file;
    d.cmp = compare;
    d.query = tell_features;
    d.get_eoa = allocated_end;
    d.set_eoa = set_allocated_end;
    d.get_eof = file_end;
    d.get_handle = handle_of;
    d.read = read_file;
    d.write = no_writing;
    d.lock = lock_file;
    d.unlock = unlock_file;
    std::fill(std::begin(d.fl_map), std::end(d.fl_map), H5FD_MEM_DEFAULT);
    return d;
  }();
  return driver;
}

}  // namespace

Handle open_through_driver(const char* path, std::string& said) {
  static hid_t driver = -1;
  for (const bool again : {false, true}) {
    // Since the last call, other code may have closed the library with H5close(). If so, the driver's number is
    // invalid, or means something else.
    if (again || driver < 0 || H5Iget_type(driver) != H5I_VFL) driver = H5FDregister(&driver_class());
    const Handle access = own_list(H5Pcreate(H5P_FILE_ACCESS));
    const std::uint64_t before = opened;
    if (driver < 0 || H5Pset_driver(access.get(), driver, nullptr) < 0) continue;
    Handle file(H5Fopen(path, H5F_ACC_RDONLY, access.get()), H5Fclose);
    // Gets the message immediately, because every successful call clears it, even a call that closes something.
    if (!file) said = library_says();
    if (opened != before) return file;
  }
  return {};
}

FileState state_of(const struct stat& status) noexcept {
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

OpenRecorder::OpenRecorder() { noting = this; }
OpenRecorder::~OpenRecorder() { noting = nullptr; }

void OpenRecorder::note(std::string_view path, const FileState* state) {
  if (state == nullptr)
    failed_.emplace_back(path);
  else
    opened_.push_back({std::string(path), *state});
}

std::string OpenRecorder::lost() const {
  // The library looks for a file in several folders, under the same name. So a failure counts only if no file of that
  // name was opened.
  const auto last = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  std::set<std::string_view> found;
  for (const OpenedFile& opened : opened_) found.insert(last(opened.path));
  for (const std::string& path : failed_)
    if (!found.contains(last(path))) return path;
  return {};
}

ReadProbe::ReadProbe() { asked = this; }
ReadProbe::~ReadProbe() { asked = nullptr; }

void ReadProbe::note(std::uint64_t offset, std::uint64_t bytes) noexcept {
  piece_ = {offset, bytes};
  ++pieces_;
}

}  // namespace penstock::hdf5
