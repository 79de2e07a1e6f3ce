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

/// One open LMDB environment. Any thread. Made by `registry.hpp` alone, as a process must not open a file twice.
class Environment {
 public:
  /// Read-only. Where the lock file can't be made, or has no room, it goes without, and nobody of ours may write
  /// meanwhile. Without `lock_file` it goes without one that nobody uses. @throws Error(corrupt) for a file that lacks
  /// pages which are not free.
  static std::unique_ptr<Environment> for_reading(const StoreFiles& files, bool read_ahead, bool lock_file);
  /// Made where it is empty.
  static std::unique_ptr<Environment> for_writing(const StoreFiles& files, std::size_t map_bytes, bool sync,
                                                  std::unique_ptr<WritersLock> lock);

  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment();

  MDB_env* handle() const noexcept { return env_; }
  /// The store's main, and only, table.
  MDB_dbi table() const noexcept { return table_; }
  const std::string& file() const noexcept { return file_; }
  int descriptor() const noexcept { return descriptor_; }
  /// Why it is read without a lock file; empty where it has one. `wanted`: whether who asks wants one.
  std::string without_lock_file(bool wanted) const;
  /// For one who wants a lock file, and joins who needs none: LMDB can't take it up any more, so it keeps writers of
  /// ours out from now on. @throws Error(invalid_argument) where one of ours, or another program, has written already.
  void join(const StoreFiles& files);
  /// Without a lock file nobody who writes sees that it is read. @throws Error(invalid_argument) where somebody has
  /// written to it since it was opened so.
  void require_unchanged() const {
    if (!without_lock_file_.empty()) [[unlikely]]
      compare_transaction();
  }
  /// Bytes in the map that stay what they are for as long as the reader's transaction: without a lock file, a copy in
  /// `room`, made before the question whether somebody has written since. @throws Error as `require_unchanged`.
  std::span<const std::byte> settled(std::span<const std::byte> value, std::vector<std::byte>& room) const {
    if (without_lock_file_.empty()) [[likely]]
      return value;
    room.assign(value.begin(), value.end());
    compare_transaction();
    return room;
  }
  /// False in a child made by fork(), where nothing of this may be touched.
  bool usable() const noexcept;
  /// @throws Error(forked) unless usable.
  void require_usable() const;

  /// Where a value's first byte lies in the file. Without a known map (`map_known`), 0.
  std::uint64_t offset_of(const void* value) const noexcept {
    return base_ == nullptr ? 0 : static_cast<std::uint64_t>(static_cast<const std::byte*>(value) - base_);
  }
  bool map_known() const noexcept { return base_ != nullptr; }
  /// True when the value lies within the file. A damaged tree may point anywhere.
  bool holds(const MDB_val& value) const noexcept {
    return base_ == nullptr ||
           ends_within(offset_of(value.mv_data), value.mv_size, file_bytes_.load(std::memory_order_relaxed)) ||
           holds_now(value);
  }
  /// The file's size. @throws Error(io).
  std::uint64_t bytes_now() const;
  /// @throws Error(io) when the file is shorter now than when it was opened.
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
  bool by_wish_ = false;  // without it, though it could have been used
  bool keeps_out_ = false;
  std::size_t opened_at_ = 0;  // the last transaction then
  std::uint32_t process_ = 0;
  const std::byte* base_ = nullptr;
  std::uint64_t needed_bytes_ = 0;
  mutable std::atomic<std::uint64_t> file_bytes_{0};
};

}  // namespace penstock::lmdb
