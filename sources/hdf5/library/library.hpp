// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>
#include <sys/types.h>

#include <mutex>
#include <string>

namespace penstock::hdf5 {

/// Holds the process's lock for calls of the HDF5 library. Builds of the library that are not thread-safe need the
/// lock. Thread-safe builds have a lock of their own, for which threads would wait otherwise. So this lock costs no
/// time with them. While the lock is held, the library prints nothing. A thread may take the lock several times.
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

/// Owns an identifier of the library: the destructor closes it. In a child made by fork(), the parent's identifiers are
/// not closed.
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

/// Returns a message, with advice, if the library's last failure suggests that the file needs a later version of HDF5.
/// Otherwise returns an empty text. Call under the lock.
std::string later_version();

}  // namespace penstock::hdf5
