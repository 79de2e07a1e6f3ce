// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/lmdb_sink.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "common/sinks/item_place.hpp"
#include "common/sinks/journal.hpp"
#include "common/sinks/opened_sink.hpp"
#include "sink/write_store.hpp"
#include "store/errors.hpp"
#include "store/files.hpp"
#include "store/hash.hpp"
#include "store/manifest.hpp"
#include "store/record.hpp"
#include "store/registry.hpp"

namespace penstock {

namespace {

using lmdb::Manifest;

// Explains how an earlier run's manifest differs from this run's. Returns an empty text if they agree.
std::string difference(const Manifest& there, const Manifest& wanted) {
  if (there.records != wanted.records) return "its records are \"" + there.records + "\"";
  if (there.keys != wanted.keys) return "its keys are \"" + there.keys + "\"";
  if (there.schema.to_string() != wanted.schema.to_string()) return "its fields are " + there.schema.to_string();
  for (std::size_t slot = 0; slot < wanted.schema.size(); ++slot) {
    const Field &field = there.schema[slot], &ours = wanted.schema[slot];
    if (field.collate != ours.collate) return "its fields are batched in another way";
    if (!(field.classes == ours.classes))
      return "field \"" + field.name + "\" stands for other classes there, " + field.classes.to_string();
  }
  if (there.updating) return "an update of it was stopped";
  if (const std::string differs = job_difference(there.made_by, wanted.made_by); !differs.empty())
    return "another job made it (" + differs + ")";
  return {};
}

// Returns whether an update can change the store `there` into `wanted`. The names of classes may differ.
bool updatable(const Manifest& there, const Manifest& wanted) {
  const auto same_values = [](const Field& a, const Field& b) {
    return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.collate == b.collate;
  };
  return there.records == wanted.records && there.keys == wanted.keys &&
         std::ranges::equal(there.schema, wanted.schema, same_values);
}

}  // namespace

class LmdbSink::Impl {
 public:
  static constexpr std::string_view sink_name = "LmdbSink", sink_source = lmdb::source_name;

  Impl(const LmdbSinkOptions& options, const SinkJob& job)
      : options_(options), files_(lmdb::place_store(options.path, options.single_file)) {
    if (options.path.empty()) refuse(Errc::invalid_argument, "the store's path is empty");
    wanted_.records = raw() ? "raw" : "fields";
    wanted_.keys = options.keys == LmdbKeys::position ? "position" : "automatic";
    wanted_.made_by = common::store_facts({}, options.job, job);
    const Schema& schema = job.schema;
    if (raw()) {
      slot_ = schema.slot(options.field);
      if (schema[slot_].dtype != DType::u8 || schema[slot_].shape.rank() != 1)
        refuse(Errc::schema_mismatch, "raw records need a field of bytes, u8[?]; \"" + options.field + "\" is " +
                                          std::string(to_string(schema[slot_].dtype)) +
                                          schema[slot_].shape.to_string());
      wanted_.schema = Schema{schema[slot_]};
    } else {
      wanted_.schema = schema;
      layout_.emplace(schema);
    }
    size_ = job.size;
    open_store(job.size);
    last_key_of_others_ = store_->last_key();
    has_some_ = store_->entries() > (raw() ? 0 : 1);
    store_->commit();
  }

  bool was_finished() const noexcept { return was_finished_; }
  const LmdbUpdate& updated() const noexcept { return update_; }

  bool has(const SinkItem& item) {
    if (update_.updating) return false;  // an update first makes each sample, and then compares it with the store's
    const std::string_view key = key_of(item);
    if (!store_->has(key)) return false;
    // A key after all keys that the store had when it was opened was put by this run.
    if (key > last_key_of_others_)
      refuse_key(Errc::invalid_argument, "two records have the key \"" + printable(key) + "\"", key);
    const common::ItemPlace place = common::place_of(item);
    if (!last_found_ || place > *last_found_) ++found_;
    last_found_ = place;
    return true;
  }

  bool has_some() const noexcept { return has_some_ && !update_.updating; }

  void put(const SinkItem& item, Sample& sample) {
    const std::string_view key = key_of(item);
    if (was_finished_)
      refuse_key(Errc::invalid_argument,
                 "the store is finished and lacks the key \"" + printable(key) +
                     "\", so it was made from something else; delete it, or write to another path",
                 key);
    if (!raw() && key == lmdb::manifest_key)
      refuse_key(Errc::invalid_argument, "the key is that of the store's manifest", key);
    if (update_.updating) {
      put_changed(key, sample);
    } else if (raw()) {
      store_->put(key, sample.bytes(slot_));
    } else {
      layout_->encode(sample, key, store_->reserve(key, layout_->encoded_bytes(sample)));
    }
    ++put_;
  }

  void commit() { store_->commit(); }

  void finish() {
    if (update_.updating) remove_others();
    store_->commit();
    const std::uint64_t records = store_->entries() - (raw() ? 0 : 1);
    store_->commit();
    if (records != found_ + put_)
      refuse(Errc::invalid_argument,
             "the store holds " + std::to_string(records) + " records, but this run had " +
                 std::to_string(found_ + put_) +
                 ": it was begun from something else, or two records have one key; delete it and run again");
    if (was_finished_) return;
    wanted_.complete = true;
    wanted_.count = records;
    // The manifest says that the store is complete, so the records must reach the disk before the manifest.
    store_->sync_from_now_on();
    if (raw()) {
      replace_text(files_.made_by, to_json(wanted_), true, lmdb::source_name);
      remove_mark();
    } else {
      store_->replace(lmdb::manifest_key, to_json(wanted_));
      sync_folder_of(files_.data, lmdb::source_name);
    }
  }

 private:
  void remove_mark() const {
    remove_file(files_.unfinished, lmdb::source_name);
    sync_folder_of(files_.unfinished, lmdb::source_name);
  }

  void put_changed(std::string_view key, Sample& sample) {
    if (!seen_.insert(lmdb::hash_bytes(key, 0)).second)
      refuse_key(Errc::invalid_argument, "two records have the key \"" + printable(key) + "\"", key);
    std::span<const std::byte> value;
    if (raw()) {
      value = sample.bytes(slot_);
    } else {
      encoded_.resize(layout_->encoded_bytes(sample));
      layout_->encode(sample, key, encoded_);
      value = encoded_;
    }
    const auto there = store_->view(key);
    if (there && std::ranges::equal(*there, value)) {
      ++update_.kept;
      return;
    }
    if (there) store_->erase(key);
    store_->put(key, value);
    ++(there ? update_.replaced : update_.added);
  }

  void remove_others() {
    const auto unseen = [&](std::string_view key) {
      return (raw() || key != lmdb::manifest_key) && !seen_.contains(lmdb::hash_bytes(key, 0));
    };
    for (const std::string& key : store_->keys_where(unseen)) {
      store_->erase(key);
      ++update_.removed;
    }
  }

  bool raw() const noexcept { return options_.records == LmdbRecords::raw; }

  [[noreturn]] void refuse(Errc code, std::string cause) const { refuse_key(code, std::move(cause), {}); }
  [[noreturn]] void refuse_key(Errc code, std::string cause, std::string_view key) const {
    throw lmdb::error_in(files_.data, code, std::move(cause)).with_key(key);
  }

  // Returns the item's key, valid until the next call.
  std::string_view key_of(const SinkItem& item) {
    if (options_.keys == LmdbKeys::automatic && !item.key.empty()) return item.key;
    number_ = position_key(item, size_);
    return number_;
  }

  // Marks the store as unfinished, so that from now on only a run of the same job can continue it.
  void mark_unfinished() {
    if (raw()) {
      replace_text(files_.unfinished, to_json(wanted_), true, lmdb::source_name);
    } else {
      store_->replace(lmdb::manifest_key, to_json(wanted_));
    }
  }

  // Takes the lock before it looks at any file, so that no other process changes the files after that. Before this
  // sink creates a store, it writes the mark, `files_.unfinished`. So a store that has neither the mark nor a manifest
  // among its records is finished, or not this sink's.
  void open_store(std::uint64_t size) {
    const std::string folder = std::filesystem::path(files_.data).parent_path().string();
    if (!folder.empty()) make_folder(folder, lmdb::source_name);
    std::unique_ptr<lmdb::WritersLock> lock = lmdb::lock_for_writing(files_);
    const auto mark = read_text(files_.unfinished, lmdb::source_name);
    if (lock->found_nothing() && !mark) replace_text(files_.unfinished, to_json(wanted_), true, lmdb::source_name);

    store_.emplace(files_, options_.map_bytes, options_.sync, std::move(lock));
    const bool empty = store_->entries() == 0;
    const auto manifest = store_->get(lmdb::manifest_key);
    store_->commit();
    if (empty) {
      begin_store();
    } else if (manifest) {
      if (mark) remove_mark();
      compare(*manifest, files_.data, size);
    } else if (mark) {
      compare(*mark, files_.unfinished, size);
    } else if (const auto made_by = read_text(files_.made_by, lmdb::source_name); raw() && made_by) {
      compare(*made_by, files_.made_by, size);
    } else if (raw() && options_.mode == LmdbMode::update) {
      begin_update();
    } else {
      refuse(Errc::invalid_argument, "there is a store here, and what made it is not known" +
                                         (raw() ? ", as the file " + files_.made_by + " is missing" : std::string()) +
                                         "; delete it, or write to another path");
    }
  }

  void finished_before() {
    if (options_.mode == LmdbMode::extend) {
      mark_unfinished();
    } else {
      was_finished_ = true;
    }
  }

  // Marks the store as being updated. If the update is stopped, only another update can complete the store.
  void begin_update() {
    Manifest marked = wanted_;
    marked.updating = true;
    if (raw()) {
      replace_text(files_.unfinished, to_json(marked), true, lmdb::source_name);
    } else {
      store_->replace(lmdb::manifest_key, to_json(marked));
    }
    update_.updating = true;
  }

  void begin_store() {
    if (raw()) {
      replace_text(files_.unfinished, to_json(wanted_), true, lmdb::source_name);
    } else {
      store_->replace(lmdb::manifest_key, to_json(wanted_));
      if (!options_.sync) store_->sync();
      remove_mark();
    }
  }

  // Compares the manifest `marked` with this run's. Decides whether this run updates, continues or extends the store,
  // or leaves it because it is finished. `file`: the file that has the manifest.
  // @throws Error(invalid_argument | state_mismatch), and what `parse_manifest` throws.
  void compare(const std::string& marked, const std::string& file, std::uint64_t size) {
    Manifest there;
    try {
      there = lmdb::parse_manifest(marked);
    } catch (const Error& error) {
      throw lmdb::error_in(file, error.code(), error.cause() + "; delete the store, or write to another path");
    }
    const std::string differs = difference(there, wanted_);
    if (options_.mode == LmdbMode::update && updatable(there, wanted_) &&
        (!differs.empty() || (there.complete && there.count > size))) {
      begin_update();
    } else if (!there.complete && there.updating) {
      refuse(Errc::state_mismatch, "an update of the store here was stopped; run it again, as an update");
    } else if (there.complete) {
      if (!differs.empty() || there.count > size)
        refuse(Errc::invalid_argument,
               "there is a finished store here" + (differs.empty() ? std::string() : ", and " + differs) + ", " +
                   std::to_string(there.count) + " records; delete it, or write to another path");
      finished_before();
    } else if (!differs.empty()) {
      refuse(Errc::state_mismatch, "there is an unfinished store here that can't be continued, as " + differs +
                                       "; delete it, or write to another path");
    }
  }

  const LmdbSinkOptions options_;
  const lmdb::StoreFiles files_;
  Manifest wanted_;
  std::optional<lmdb::RecordLayout> layout_;
  std::optional<lmdb::WriteStore> store_;
  std::size_t slot_ = 0;
  std::uint64_t size_ = 0;
  std::string number_;
  std::string last_key_of_others_;
  std::optional<common::ItemPlace> last_found_;
  LmdbUpdate update_;
  std::unordered_set<std::uint64_t> seen_;  // hashes of the keys that `put_changed` got
  std::vector<std::byte> encoded_;          // a record of this update, encoded
  std::uint64_t found_ = 0, put_ = 0;
  bool was_finished_ = false, has_some_ = false;
};

LmdbSink::LmdbSink(LmdbSinkOptions options) : options_(std::move(options)) {}
LmdbSink::LmdbSink(LmdbSink&&) noexcept = default;
LmdbSink& LmdbSink::operator=(LmdbSink&&) noexcept = default;
LmdbSink::~LmdbSink() = default;

LmdbUpdate LmdbSink::updated() const noexcept { return impl_ ? impl_->updated() : updated_; }

void LmdbSink::open(const SinkJob& job) {
  impl_.reset();
  updated_ = {};
  impl_ = std::make_unique<Impl>(options_, job);
  was_finished_ = impl_->was_finished();
}

bool LmdbSink::has(const SinkItem& item) { return common::opened(impl_).has(item); }
bool LmdbSink::has_some() const { return common::opened(impl_).has_some(); }
void LmdbSink::put(const SinkItem& item, Sample& sample) { common::opened(impl_).put(item, sample); }
void LmdbSink::commit() { common::opened(impl_).commit(); }
void LmdbSink::finish() {
  common::opened(impl_).finish();
  updated_ = impl_->updated();
  impl_.reset();  // so that the store can be read immediately
}

}  // namespace penstock
