// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/files.hpp"
#include "store/writers_lock.hpp"

namespace penstock::lmdb {

/// One open LMDB environment. Any thread. Only the functions of `registry.hpp` create one, because a process must not
/// open a file twice.
class Environment {
 public:
  /// Opens a store for reading only. If the lock file can't be created or written, or the disk has no room for it, the
  /// store is read without it. This library's writers are then kept out. With `lock_file` false, the store is read
  /// without the lock file if no process uses that file. Writers are then not kept out.
  /// @throws Error(corrupt) if the file is empty or is not LMDB's, or lacks pages that are not free; Error(unsupported)
  /// if the store has named tables, or several values for a key; Error(invalid_argument) if a writer that must be kept
  /// out has the store open; what `write_error` returns if another process uses the lock file, but the disk has no room
  /// for it.
  static std::unique_ptr<Environment> for_reading(const StoreFiles& files, bool read_ahead, bool lock_file);
  /// Opens a store for writing. If the data file is empty, creates the store.
  static std::unique_ptr<Environment> for_writing(const StoreFiles& files, std::size_t map_bytes, bool sync,
                                                  std::unique_ptr<WritersLock> lock);

  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment();

  MDB_env* handle() const noexcept { return env_; }
  /// Returns the store's main table, which is its only table.
  MDB_dbi table() const noexcept { return table_; }
  const std::string& file() const noexcept { return file_; }
  int descriptor() const noexcept { return descriptor_; }
  /// Explains why the store is read without a lock file. Returns an empty text if it is read with one. `wanted`:
  /// whether the caller wants a lock file.
  std::string without_lock_file(bool wanted) const;
  /// Call this when a reader that wants a lock file joins the readers of this environment. LMDB can't add a lock file
  /// to an open environment. If there is none, this library's writers are kept out instead, from this call on.
  /// @throws Error(invalid_argument) if a process has written to the store since this process opened it, or a writer of
  /// this library has it open.
  void join(const StoreFiles& files);
  /// Checks a store that is read without a lock file, because writers don't notice its readers. @throws
  /// Error(invalid_argument) if a process has written to it since it was opened.
  void require_unchanged() const {
    if (!without_lock_file_.empty()) [[unlikely]]
      compare_transaction();
  }
  /// Returns a value's bytes, which don't change during the reader's transaction. Without a lock file, copies them to
  /// `room`, then checks that no process has written, and returns the copy. @throws Error like `require_unchanged`.
  std::span<const std::byte> settled(std::span<const std::byte> value, std::vector<std::byte>& room) const {
    if (without_lock_file_.empty()) [[likely]]
      return value;
    room.assign(value.begin(), value.end());
    compare_transaction();
    return room;
  }
  /// Returns false in a child made by fork(), which must not use the environment.
  bool usable() const noexcept;
  /// @throws Error(forked) if `usable` returns false.
  void require_usable() const;

  /// Returns the offset of a value's first byte in the file. Returns 0 if `map_known` returns false.
  std::uint64_t offset_of(const void* value) const noexcept {
    return base_ == nullptr ? 0 : static_cast<std::uint64_t>(static_cast<const std::byte*>(value) - base_);
  }
  /// Returns whether the address of the map's beginning is known.
  bool map_known() const noexcept { return base_ != nullptr; }
  /// Returns whether the value is within the file. Returns true if `map_known` returns false. Check this before a value
  /// is read, because a damaged tree may point anywhere.
  bool holds(const MDB_val& value) const noexcept {
    return base_ == nullptr ||
           ends_within(offset_of(value.mv_data), value.mv_size, file_bytes_.load(std::memory_order_relaxed)) ||
           holds_now(value);
  }
  /// Returns the file's size. @throws Error(io).
  std::uint64_t bytes_now() const;
  /// @throws Error(io) if the file was cut short since it was opened.
  void require_full_length() const;

 private:
  explicit Environment(std::string file) : file_(std::move(file)) {}
  static bool ends_within(std::uint64_t begin, std::uint64_t bytes, std::uint64_t end) noexcept {
    return begin <= end && bytes <= end - begin;
  }
  void keep_writers_out(const StoreFiles& files, const std::string& why);
  void open_table();
  void check_length();
  void compare_transaction() const;
  std::size_t last_transaction() const;
  bool holds_now(const MDB_val& value) const noexcept;

  std::string file_;
  MDB_env* env_ = nullptr;
  MDB_dbi table_ = 0;
  int descriptor_ = -1;
  std::unique_ptr<WritersLock> lock_;
  std::string without_lock_file_;
  bool by_wish_ = false;  // whether there is no lock file because the caller asked for that
  bool keeps_out_ = false;
  std::size_t opened_at_ = 0;  // number of the last transaction when the store was opened
  std::uint32_t process_ = 0;
  const std::byte* base_ = nullptr;
  std::uint64_t needed_bytes_ = 0;
  mutable std::atomic<std::uint64_t> file_bytes_{0};
};

}  // namespace penstock::lmdb
