// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>
#include <sys/types.h>

#include <mutex>
#include <string>

namespace penstock::hdf5 {

/// Holds the lock for all calls of the HDF5 library, in all threads of the process. Builds that are not thread-safe
/// need it; with other builds threads would wait inside the library. While it is held the library prints nothing. May
/// be nested.
class LibraryLock {
 public:
  LibraryLock();
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;
  ~LibraryLock();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// An identifier of the library that closes itself. In a child made by fork() it stays open, because the lock may never
/// be released there.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  Handle(hid_t id, Close how);
  Handle(Handle&& other) noexcept;
  Handle& operator=(Handle&& other) noexcept;
  ~Handle();

  hid_t get() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }

 private:
  void close() noexcept;
  hid_t id_ = -1;
  Close close_ = nullptr;
  pid_t owner_ = 0;
};

inline Handle own_type(hid_t id) { return {id, H5Tclose}; }
inline Handle own_space(hid_t id) { return {id, H5Sclose}; }
inline Handle own_list(hid_t id) { return {id, H5Pclose}; }

/// Returns the innermost message about the library's last failure, as one sentence without a full stop. Call under the
/// lock.
std::string library_says();

/// Returns a message, with what to do, if the library's last failure is that it read something that only later versions
/// of HDF5 write; otherwise empty. Call under the lock.
std::string later_version();

}  // namespace penstock::hdf5
