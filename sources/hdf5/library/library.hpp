#pragma once

#include <hdf5.h>
#include <sys/types.h>

#include <mutex>
#include <string>

namespace penstock::hdf5 {

/// Holds the lock under which every call of the HDF5 library is made, in all threads of the process: builds that are
/// not thread-safe need it, and the others would wait inside. Meanwhile the library prints nothing. May be nested.
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

/// An identifier of the library that closes itself. In a child made by fork() it is left open: the lock may be held
/// there for ever.
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

/// The innermost of what the library says about its last failure, as one sentence without a full stop. Under the lock.
std::string library_says();

/// Where the library's last failure is that it meets what only later versions of HDF5 write: that, and what to do; else
/// empty. Under the lock.
std::string later_version();

}  // namespace penstock::hdf5
