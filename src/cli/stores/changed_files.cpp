// SPDX-License-Identifier: Apache-2.0
#include "stores/changed_files.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "stores/input_store.hpp"

namespace penstock::cli {

namespace {

namespace fs = std::filesystem;

// Returns the time at which the store was last written.
fs::file_time_type time_of(const StoreToWrite& store) {
  std::vector<std::string> files;
  if (store.extension.empty()) {
    files.push_back(store.form == StoreForm::lmdb && !store.single_file ? store.path + "/data.mdb" : store.path);
  } else {
    std::error_code failed;
    for (std::uint64_t i = 0; fs::exists(store.shard(i), failed); ++i) files.push_back(store.shard(i));
  }
  auto latest = fs::file_time_type::min();
  for (const std::string& file : files) {
    std::error_code failed;
    if (const auto time = fs::last_write_time(file, failed); !failed) latest = std::max(latest, time);
  }
  return latest;
}

// Collects the first few names, and counts all names.
class Names {
 public:
  void add(std::string name) {
    if (++count_ <= most) text_ += (count_ == 1 ? "" : ", ") + printable(name);
  }
  std::string text(const char* what) const {
    if (count_ == 0) return {};
    return fmt::format("{} {} ({}{})", counted(count_, "file"), what, text_, count_ > most ? ", ..." : "");
  }

 private:
  static constexpr std::uint64_t most = 3;
  std::uint64_t count_ = 0;
  std::string text_;
};

// This and the next function return false for a file that can't be checked.
bool has_size(const fs::path& file, std::size_t bytes) {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(file, failed);
  return !failed && size == bytes;
}
bool written_by(const fs::path& file, fs::file_time_type time) {
  std::error_code failed;
  const fs::file_time_type written = fs::last_write_time(file, failed);
  return !failed && written <= time;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string changed_files(const FilesSource& files, const StoreToWrite& store, bool sizes) {
  std::unordered_map<std::string, std::uint64_t> missing;
  for (std::uint64_t i = 0; i < files.size(); ++i) {
    const std::string key = files.key(i);
    missing.emplace(store.form == StoreForm::shards ? webdataset_key(key) : key, i);
  }
  const InputStore stored(store.name(), {.checksums = false, .access = FileAccess::read});
  const fs::file_time_type packed = time_of(store);
  const auto labels = files.labels("label");
  const bool with_labels = labels && stored.schema().find("label");
  Names changed, added, removed;
  InputStore::Reader reader = stored.reader();
  for (std::uint64_t record = 0; record < stored.size(); ++record) {
    Sample& sample = reader.read(record);
    // If an HDF5 file does not mark its dataset of keys, the keys are a field.
    const bool field = !stored.has_keys() && stored.schema().find("key");
    const std::string key = field ? text_of(sample.bytes("key")) : stored.key(record);
    const auto found = missing.find(key);
    if (found == missing.end()) {
      removed.add(key);
      continue;
    }
    const std::string path = files.path(found->second);
    const fs::path file = fs::path(files.file()) / path;
    const bool other_label = with_labels && sample.scalar<std::int64_t>("label") != (*labels)[found->second];
    if (other_label || (sizes && !has_size(file, sample.bytes("image").size())) || !written_by(file, packed))
      changed.add(path);
    missing.erase(found);
  }
  std::vector<std::uint64_t> rest;
  for (const auto& [key, index] : missing) rest.push_back(index);
  std::ranges::sort(rest);
  for (const std::uint64_t index : rest) added.add(files.path(index));
  std::string text;
  for (const std::string& part : {changed.text("changed"), added.text("added"), removed.text("removed or renamed")})
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

SharedKeys shared_keys(const FilesSource& files, const StoreToWrite& store) {
  SharedKeys found;
  try {
    const LmdbSource stored(Lmdb{.path = store.path, .allow_unfinished = true});
    std::unordered_set<std::string> of_files;
    for (std::uint64_t i = 0; i < files.size(); ++i) of_files.insert(files.key(i));
    for (; found.records < stored.size(); ++found.records)
      found.shared += of_files.contains(stored.key(found.records)) ? 1 : 0;
  } catch (const Error&) {  // the sink reports what is wrong with the store
    return {};
  }
  return found;
}

}  // namespace penstock::cli
