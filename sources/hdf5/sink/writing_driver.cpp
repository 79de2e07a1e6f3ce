// SPDX-License-Identifier: Apache-2.0
#include "sink/writing_driver.hpp"

#include <fcntl.h>
#include <unistd.h>

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>  // newer versions declare drivers here
#endif

#include <algorithm>
#include <cerrno>
#include <functional>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::hdf5 {

struct WritingDriver::State {
  std::string name;
  std::uint64_t data_end = 0;
  haddr_t next_data = HADDR_UNDEF;
  int failure = 0;
};

namespace {

// The state of the file that is being opened. It is global because the library has no better way to pass it to the
// driver.
std::shared_ptr<WritingDriver::State>* opening = nullptr;

// The library knows a file by its `base`, so `base` must be the first member.
struct OpenWritten {
  H5FD_t base{};
  // Shared, because the library may keep a file that it failed to close.
  std::shared_ptr<WritingDriver::State>* state = nullptr;
  int fd = -1;
  haddr_t end = 0;     // end of everything that is allocated
  bool begun = false;  // the library has allocated the superblock
};
static_assert(std::is_standard_layout_v<OpenWritten>);

OpenWritten& written_of(H5FD_t* file) noexcept { return *reinterpret_cast<OpenWritten*>(file); }
const OpenWritten& written_of(const H5FD_t* file) noexcept { return *reinterpret_cast<const OpenWritten*>(file); }

WritingDriver::State& state_of(const OpenWritten& file) noexcept { return **file.state; }

constexpr haddr_t metadata_alignment = 8;

H5FD_t* open_written(const char* name, unsigned, hid_t, haddr_t) {
  if (opening == nullptr || (*opening)->name != name) return nullptr;
  const int fd = uninterrupted([&] { return ::open(name, O_RDWR | O_CLOEXEC); });
  if (fd < 0) {
    (*opening)->failure = errno;
    return nullptr;
  }
  std::unique_ptr<OpenWritten> file(new (std::nothrow) OpenWritten);
  if (file) file->state = new (std::nothrow) std::shared_ptr<WritingDriver::State>(*opening);
  if (!file || file->state == nullptr) {
    ::close(fd);
    return nullptr;
  }
  file->fd = fd;
  return &file.release()->base;
}

herr_t close_written(H5FD_t* file) {
  if (::close(written_of(file).fd) != 0 && errno != EINTR && state_of(written_of(file)).failure == 0)
    state_of(written_of(file)).failure = errno;
  delete written_of(file).state;
  delete &written_of(file);
  return 0;
}

int compare_written(const H5FD_t* a, const H5FD_t* b) { return a == b ? 0 : std::less<>()(a, b) ? -1 : 1; }

herr_t no_features(const H5FD_t*, unsigned long* flags) {
  *flags = 0;  // the library does not combine small allocations and has no sieve buffer, so this driver sees every
               // allocation
  return 0;
}

haddr_t allocate(H5FD_t* file, H5FD_mem_t type, hid_t, hsize_t size) {
  OpenWritten& f = written_of(file);
  // To the library, the heap of strings is raw data as well. `next_data` is not set for it, so it is placed like
  // metadata.
  if (type == H5FD_MEM_DRAW && state_of(f).next_data != HADDR_UNDEF)
    return std::exchange(state_of(f).next_data, HADDR_UNDEF);
  if (type == H5FD_MEM_SUPER) {
    // The superblock comes first. Before it is allocated, the library must see an empty file.
    f.begun = true;
    f.end = std::max<haddr_t>(state_of(f).data_end, size);
    return 0;
  }
  const haddr_t at = (f.end + metadata_alignment - 1) / metadata_alignment * metadata_alignment;
  f.end = at + size;
  return at;
}

haddr_t end_of_written(const H5FD_t* file, H5FD_mem_t) { return written_of(file).end; }

herr_t set_end_of_written(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  OpenWritten& f = written_of(file);
  f.end = f.begun ? std::max<haddr_t>(end, state_of(f).data_end) : end;
  return 0;
}

herr_t read_written(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
  const std::span out(static_cast<std::byte*>(buffer), size);
  const std::size_t got = read_whole(written_of(file).fd, out, address);
  if (got < size && errno != 0) return -1;
  std::ranges::fill(out.subspan(got), std::byte{});
  return 0;
}

herr_t write_written(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t size, const void* buffer) {
  OpenWritten& f = written_of(file);
  if (type == H5FD_MEM_DRAW && address < state_of(f).data_end) return 0;
  // Failures are only noted in `failure`. If the driver reported them, the library would keep the file open forever.
  const auto* in = static_cast<const std::byte*>(buffer);
  while (size > 0 && state_of(f).failure == 0) {
    const ssize_t put = uninterrupted([&] { return ::pwrite(f.fd, in, size, static_cast<off_t>(address)); });
    if (put <= 0) {
      state_of(f).failure = put < 0 ? errno : EIO;
      return 0;
    }
    const auto part = static_cast<std::size_t>(put);
    in += part;
    address += part;
    size -= part;
  }
  return 0;
}

herr_t truncate_written(H5FD_t* file, hid_t, hbool_t) {
  // Sets the file's size, because the last allocated bytes may not have been written.
  const OpenWritten& f = written_of(file);
  if (uninterrupted([&] { return ::ftruncate(f.fd, static_cast<off_t>(f.end)); }) != 0 && state_of(f).failure == 0)
    state_of(f).failure = errno;
  return 0;
}

const H5FD_class_t& writing_class() {
  static const H5FD_class_t driver = [] {
    H5FD_class_t d{};
#ifdef H5FD_CLASS_VERSION
    d.version = H5FD_CLASS_VERSION;
    d.value = static_cast<H5FD_class_value_t>(481);  // 256 to 511 are for drivers that are not registered
#endif
    d.name = "penstock-writing";
    d.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
    d.fc_degree = H5F_CLOSE_STRONG;
    d.open = open_written;
    d.close = close_written;
    d.cmp = compare_written;
    d.query = no_features;
    d.alloc = allocate;
    d.get_eoa = end_of_written;
    d.set_eoa = set_end_of_written;
    d.get_eof = end_of_written;
    d.read = read_written;
    d.write = write_written;
    d.truncate = truncate_written;
    std::fill(std::begin(d.fl_map), std::end(d.fl_map), H5FD_MEM_DEFAULT);
    return d;
  }();
  return driver;
}

}  // namespace

WritingDriver::WritingDriver(std::string file, std::uint64_t data_end)
    : state_(std::make_shared<State>(State{std::move(file), data_end})) {}

WritingDriver::~WritingDriver() = default;

Handle WritingDriver::create(std::string& said) {
  static hid_t driver = -1;
  // Since the last call, other code may have closed the library with H5close(), and with it the driver.
  if (driver < 0 || H5Iget_type(driver) != H5I_VFL) driver = H5FDregister(&writing_class());
  const Handle access = own_list(H5Pcreate(H5P_FILE_ACCESS));
  if (driver < 0 || H5Pset_driver(access.get(), driver, nullptr) < 0) {
    said = library_says();
    return {};
  }
  opening = &state_;
  Handle file(H5Fcreate(state_->name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
  opening = nullptr;
  if (!file) said = library_says();  // at once, because every successful call clears the message
  return file;
}

void WritingDriver::next_data(std::uint64_t offset) noexcept { state_->next_data = offset; }
int WritingDriver::failure() const noexcept { return state_->failure; }

}  // namespace penstock::hdf5
