// SPDX-License-Identifier: Apache-2.0
#include "index/index_file.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <filesystem>
#include <utility>

#include <penstock/error.hpp>

#include "file/entry_bytes.hpp"
#include "file/errors.hpp"
#include "index/entry.hpp"

namespace penstock::slide {

namespace {

// In the file, the number `version` follows this text. A machine of another byte order reads a different number, and
// refuses the file.
constexpr std::string_view magic = "penstock tiles\n";
constexpr std::uint32_t version = 5;
constexpr std::uint64_t end_of_entries = ~std::uint64_t{0};

std::uint64_t hash_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string header_of(std::string_view settings) {
  EntryWriter header;
  header.put(version);
  header.put(settings);
  header.put(hash_of(settings));
  return std::string(magic) + header.bytes();
}

}  // namespace

std::optional<IndexContent> read_index(const std::string& path) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 36;
  const std::optional<std::string> text = read_text(path, source_name, most_bytes);
  if (!text) return std::nullopt;
  if (!std::string_view(*text).starts_with(magic))
    throw error_in(path, Errc::corrupt, "it is no index of slides, or an empty one; make it anew");
  IndexContent index;
  EntryReader from(std::string_view(*text).substr(magic.size()));
  std::uint64_t entry_begin = 0;
  try {
    if (const auto found = from.get<std::uint32_t>(); found != version)
      throw Error(Errc::unsupported, "it is of version " + std::to_string(found) + ", and this program reads version " +
                                         std::to_string(version) + "; make the index anew");
    index.settings = from.text();
    if (from.get<std::uint64_t>() != hash_of(index.settings)) throw Error(Errc::corrupt, "its settings are damaged");
    while (true) {
      entry_begin = text->size() - from.left();
      const auto bytes = from.get<std::uint64_t>();
      if (bytes == end_of_entries) {
        if (from.get<std::uint64_t>() != index.frames || from.left() != 0)
          throw Error(Errc::corrupt, "it doesn't end as it should");
        index.complete = true;
        return index;
      }
      const auto hash = from.get<std::uint64_t>();
      std::string entry = from.bytes(bytes);
      if (hash_of(entry) != hash) throw Error(Errc::corrupt, "the entry of a slide is damaged");
      std::string name = key_of_entry(entry).name;
      index.entries.insert_or_assign(std::move(name), std::move(entry));
      ++index.frames;
      index.bytes = text->size() - from.left();
    }
  } catch (const Error& failed) {
    // A run that was stopped may have written only a part of its last entry.
    if (path.ends_with(".partial") && index.bytes != 0) return index;
    throw error_in(path, failed.code(),
                   failed.code() == Errc::unsupported ? failed.cause() : failed.cause() + "; make the index anew",
                   entry_begin);
  }
}

IndexSink::IndexSink(std::string path, std::string settings, std::function<bool(const std::string&)> still_good)
    : path_(std::move(path)),
      settings_(std::move(settings)),
      still_good_(std::move(still_good)),
      lock_(partial_of(path_)) {}

void IndexSink::open(const SinkJob& /*job*/) {
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  if (!folder.empty()) make_folder(folder, source_name);
  if (!lock_.take(source_name))
    throw error_in(path_, Errc::invalid_argument, lock_holder(lock_.file()) + " is making this index");
  // Keeps the entries of an earlier run that was stopped, if its settings were the same.
  try {
    if (auto earlier = read_index(partial_of(path_)); earlier && earlier->settings == settings_)
      earlier_ = std::move(*earlier);
  } catch (const Error& failed) {
    if (!failed.sample_scoped()) throw;
  }
  frames_ = earlier_.frames;
  file_.emplace(partial_of(path_), earlier_.bytes, source_name);
  if (earlier_.bytes == 0) file_->append(header_of(settings_));
}

bool IndexSink::has(const SinkItem& item) const {
  const auto entry = earlier_.entries.find(item.key);
  return entry != earlier_.entries.end() && still_good_(entry->second);
}

void IndexSink::put_frame(std::string_view bytes) {
  EntryWriter head;
  head.put(std::uint64_t{bytes.size()});
  head.put(hash_of(bytes));
  file_->append(head.bytes());
  file_->append(bytes);
}

void IndexSink::put(const SinkItem& /*item*/, Sample& sample) {
  const TensorView entry = sample.tensor(0);
  put_frame({reinterpret_cast<const char*>(entry.data), entry.bytes()});
  ++frames_;
}

void IndexSink::commit() { file_->flush(); }

void IndexSink::finish() {
  EntryWriter end;
  end.put(end_of_entries);
  end.put(frames_);
  file_->append(end.bytes());
  file_->flush();
  file_->sync();
  file_->close();
  file_.reset();
  rename_file(partial_of(path_), path_, source_name);
  sync_folder_of(path_, source_name);
  lock_.release();
}

}  // namespace penstock::slide
