// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>
#include <penstock/sources/lmdb.hpp>

#include "source/datum.hpp"
#include "source/source_impl.hpp"
#include "source/stores.hpp"
#include "store/bytes.hpp"
#include "store/errors.hpp"
#include "store/lookup.hpp"
#include "store/values_ahead.hpp"

namespace penstock {

// Reads one store.
class LmdbReader::OfStore {
 public:
  // `begin`: the index that this store's first record has in the source.
  OfStore(std::shared_ptr<const LmdbSource::Impl> store, std::uint64_t begin)
      : store_(std::move(store)), begin_(begin), lookup_(store_->environment, store_->keys, *store_->addresses) {}

  void read(std::uint64_t index, SampleBuilder& out) {
    const LmdbSource::Impl& store = *store_;
    const lmdb::Environment& environment = *store.environment;
    if (index >= store.keys.size()) [[unlikely]]
      fail(Error(Errc::not_found, "there are " + std::to_string(store.keys.size()) + " records"), index);
    std::uint64_t offset = 0;
    try {
      const MDB_val value = find(index);
      offset = environment.offset_of(value.mv_data);
      if (store.options.access == FileAccess::read) {
        give_copy(lmdb::bytes_of(value), offset, index, out);
      } else {
        give(environment.settled(lmdb::bytes_of(value), copy_), index, out);
      }
    } catch (const lmdb::Damage& damage) {
      Error error(damage.code, damage.what);
      fail(error.with_offset(offset + damage.offset), index);
    } catch (Error& error) {
      fail(error, index);
    }
  }

  void expect(std::span<const std::uint64_t> indices) noexcept {
    ahead_.forget();
    if (store_->options.access == FileAccess::read) return;  // `read` must check the file's length before each search
    indices = indices.first(std::min(indices.size(), lmdb::ValuesAhead::most));
    lookup_.prefetch(indices);
    try {
      for (const std::uint64_t index : indices) {
        MDB_val value{};
        // `read` will report a fault.
        if (index >= store_->keys.size() || lookup_.find(index, value) != 0) break;
        ahead_.add(index, value);
      }
    } catch (...) {
    }
    ahead_.fetch_next();
  }

  void pause() noexcept {
    ahead_.forget();
    lookup_.pause();
  }

 private:
  // Finds a value in the reader's transaction. The value stays in place until the transaction ends.
  MDB_val find(std::uint64_t index) {
    store_->environment->require_usable();
    MDB_val value{};
    if (ahead_.take(index, value)) return value;
    ahead_.forget();
    if (store_->options.access == FileAccess::read && !lookup_.knows(index)) [[unlikely]]
      require_full_length(index);
    const int code = lookup_.find(index, value);
    if (code == lmdb::Lookup::outside) [[unlikely]]
      fail(Error(Errc::corrupt, "the value, of " + std::to_string(value.mv_size) + " bytes, lies outside of the file"),
           index);
    if (code != 0) [[unlikely]]
      fail(lmdb::error_of(code, "reading a record", store_->environment->file()), index);
    return value;
  }

  void give(std::span<const std::byte> value, std::uint64_t index, SampleBuilder& out) const {
    lmdb::KeyBuffer buffer;
    switch (store_->values) {
      case LmdbValues::automatic:
      case LmdbValues::raw:
        out.view(0, value);
        return;
      case LmdbValues::records:
        store_->layout->decode(value, store_->keys.key(index, buffer), store_->options.verify_checksum, out);
        return;
      case LmdbValues::datum:
        lmdb::give(lmdb::parse_datum(value), out);
        return;
    }
  }

  // Reads the value from the file. Views in `out` point into the reader's own memory, which does not change until the
  // next read.
  void give_copy(std::span<const std::byte> value, std::uint64_t offset, std::uint64_t index, SampleBuilder& out) {
    if (store_->values == LmdbValues::raw) {
      const TensorView to = out.emplace(0, Shape{static_cast<std::int64_t>(value.size())});
      read_file({to.data, value.size()}, offset);
    } else {
      copy_.resize(value.size());
      read_file(copy_, offset);
      give(copy_, index, out);
    }
  }

  // Throws if the file was cut short. Call this before the map is read, because reading a missing part of the map would
  // end the process. The file may still be cut short after this check.
  void require_full_length(std::uint64_t index) const {
    try {
      store_->environment->require_full_length();
    } catch (Error& error) {
      fail(error, index);
    }
  }

  void read_file(std::span<std::byte> to, std::uint64_t offset) const {
    const std::size_t got = read_whole(store_->environment->descriptor(), to, offset);
    store_->environment->require_unchanged();
    if (got == to.size()) return;
    if (errno != 0) throw lmdb::error_of(errno, "reading a record", store_->environment->file());
    Error error(Errc::io, "the file was cut short while it was open");
    throw error.with_offset(offset + got);
  }

  [[noreturn]] void fail(Error error, std::uint64_t index) const {
    lmdb::KeyBuffer buffer;
    if (index < store_->keys.size()) error.with_key(store_->keys.key(index, buffer));
    throw error.with_source("lmdb").with_file(store_->environment->file()).with_index(begin_ + index);
  }

  std::shared_ptr<const LmdbSource::Impl> store_;
  const std::uint64_t begin_;
  lmdb::Lookup lookup_;
  std::vector<std::byte> copy_;
  lmdb::ValuesAhead ahead_;
};

// Opens a store's reader when a record of that store is first needed. If there is only one store, opens its reader at
// once.
class LmdbReader::Impl {
 public:
  explicit Impl(std::shared_ptr<const LmdbSource::Stores> stores)
      : stores_(std::move(stores)), readers_(stores_->all().size()), expected_(readers_.size()) {
    if (stores_->single()) reader(0);
  }

  void read(std::uint64_t index, SampleBuilder& out) {
    if (stores_->single()) [[likely]]
      return readers_.front()->read(index, out);
    // If `index` is past the end, the last store's reader throws the error.
    const std::size_t store = std::min(stores_->store_of(index), readers_.size() - 1);
    reader(store).read(index - stores_->begin(store), out);
  }

  void expect(std::span<const std::uint64_t> indices) noexcept {
    if (stores_->single()) return readers_.front()->expect(indices);
    try {
      for (std::vector<std::uint64_t>& some : expected_) some.clear();
      for (const std::uint64_t index : indices) {
        if (index >= stores_->size()) continue;
        const std::size_t store = stores_->store_of(index);
        expected_[store].push_back(index - stores_->begin(store));
      }
      for (std::size_t store = 0; store < expected_.size(); ++store)
        if (!expected_[store].empty()) reader(store).expect(expected_[store]);
    } catch (...) {
      // The prefetching is optional, and `read` will report the fault.
    }
  }

  void pause() noexcept {
    for (const std::unique_ptr<OfStore>& reader : readers_)
      if (reader != nullptr) reader->pause();
  }

 private:
  OfStore& reader(std::size_t store) {
    if (readers_[store] == nullptr)
      readers_[store] = std::make_unique<OfStore>(stores_->all()[store], stores_->begin(store));
    return *readers_[store];
  }

  std::shared_ptr<const LmdbSource::Stores> stores_;
  std::vector<std::unique_ptr<OfStore>> readers_;
  std::vector<std::vector<std::uint64_t>> expected_;
};

LmdbReader::LmdbReader(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
LmdbReader::~LmdbReader() = default;
void LmdbReader::read(std::uint64_t index, SampleBuilder& out) { impl_->read(index, out); }
void LmdbReader::expect(std::span<const std::uint64_t> indices) noexcept { impl_->expect(indices); }
void LmdbReader::pause() noexcept { impl_->pause(); }

std::unique_ptr<LmdbReader> LmdbSource::open_reader() const {
  return std::unique_ptr<LmdbReader>(new LmdbReader(std::make_unique<LmdbReader::Impl>(stores_)));
}

}  // namespace penstock
