// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/sources/slide_index.hpp>

#include "file/errors.hpp"
#include "file/identity/file_mark.hpp"
#include "file/identity/other_files.hpp"
#include "file/openslide/openslide_library.hpp"
#include "index/entry.hpp"
#include "index/index_file.hpp"
#include "index/settings.hpp"
#include "source/indexed.hpp"
#include "source/slide_opener.hpp"

namespace penstock {

using slide::EntryKey;
using slide::IndexContent;
using slide::SlideOpener;

namespace {

// Returns the key of a slide's present state, without opening the slide.
EntryKey key_now(const SlideOpener& opening, std::size_t number) {
  const std::string& path = opening.options.paths[number];
  const auto file = slide::open_file(path);
  return {.name = opening.names[number],
          .sample = slide::sample_of(file->get(), path),
          .others = slide::sample_of_all(opening.other_files_of(number)),
          .own_mpp = opening.settings_of(number).own_mpp,
          .list = slide::hash_of_list(opening.list_of(number)),
          .regions = slide::hash_of_regions(opening.region_file_of(number)),
          .openslide = slide::openslide_version(),
          .failed = false};
}

bool same_as_now(const SlideOpener& opening, std::size_t number, const EntryKey& key) {
  try {
    return key.holds(key_now(opening, number));
  } catch (const Error& failed) {
    if (!failed.sample_scoped()) throw;
    return false;
  }
}

// A source of slides' entries. Each record is the entry of a slide: the old entry if it is still valid, otherwise an
// entry that is made by opening the slide.
class SlideEntries {
 public:
  SlideEntries(std::shared_ptr<const SlideOpener> opening, std::shared_ptr<const IndexContent> old)
      : opening_(std::move(opening)), old_(std::move(old)) {}

  std::uint64_t size() const { return opening_->count(); }
  static Schema schema() { return {{"entry", DType::u8, {dynamic}}}; }
  void read(std::uint64_t index, SampleBuilder& out) const {
    const std::string entry = make(static_cast<std::size_t>(index));
    const TensorView to = out.emplace(0, {static_cast<std::int64_t>(entry.size())});
    std::memcpy(to.data, entry.data(), entry.size());
  }
  static std::string name() { return "slides"; }
  std::string file() const { return opening_->options.paths.front(); }
  std::string file_of(std::uint64_t index) const { return opening_->options.paths[static_cast<std::size_t>(index)]; }
  std::string key(std::uint64_t index) const { return opening_->names[static_cast<std::size_t>(index)]; }
  std::uint64_t identity() const noexcept { return 0; }

 private:
  std::string make(std::size_t number) const {
    EntryKey key;
    key.name = opening_->names[number];
    try {
      key = key_now(*opening_, number);
    } catch (const Error& failed) {
      if (!failed.sample_scoped()) throw;  // opening the slide reports the other errors
    }
    const auto old = old_->entries.find(key.name);
    if (old != old_->entries.end() && slide::key_of_entry(old->second).holds(key)) return old->second;
    const slide::SlideFile slide = opening_->open(number);
    key.openslide = slide.found.openslide;
    key.failed = slide.failure.has_value();
    key.sample = slide.sample;  // sample of the opened file, which may have replaced the earlier one
    key.others = slide.others;
    return slide::entry_of(key, slide);
  }

  std::shared_ptr<const SlideOpener> opening_;
  std::shared_ptr<const IndexContent> old_;
};

}  // namespace

WriteProgress write_slide_index(const Slides& slides, const std::string& path, const WriteOptions& options) {
  Slides without = slides;
  without.index.clear();
  without.first_file = 0;  // the index is of all slides
  without.file_count = Slides().file_count;
  without.max_kept_bytes = 0;  // positions of tiles need not be kept here
  const auto opening = std::make_shared<const SlideOpener>(std::move(without));
  const std::string settings = slide::index_settings(opening->options);
  auto old = std::make_shared<IndexContent>();
  try {
    if (auto there = slide::read_index(path); there && there->settings == settings) *old = std::move(*there);
  } catch (const Error& failed) {
    if (failed.code() != Errc::unsupported) throw;  // an index of a different version is made again
  }
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < opening->count(); ++i) numbers.emplace(opening->names[i], i);
  slide::IndexSink sink(path, settings, [&](const std::string& entry) {
    const EntryKey key = slide::key_of_entry(entry);
    const auto number = numbers.find(key.name);
    return number != numbers.end() && same_as_now(*opening, number->second, key);
  });
  WriteOptions all_cores = options;
  // All cores open slides, because the thread that stores has hardly anything to do.
  if (options.threads == 0 && !options.executor) all_cores.threads = std::max(1u, std::thread::hardware_concurrency());
  return write(from(SlideEntries(opening, old)), sink, all_cores);
}

}  // namespace penstock
