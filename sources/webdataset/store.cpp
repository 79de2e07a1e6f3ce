// SPDX-License-Identifier: Apache-2.0
#include "store.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <penstock/extend/store_files.hpp>

#include "claims.hpp"
#include "class_names.hpp"
#include "common/shard_names.hpp"
#include "errors.hpp"
#include "infer_fields.hpp"
#include "manifest.hpp"
#include "member_finder.hpp"
#include "npy.hpp"
#include "shard_paths.hpp"
#include "tar_scan.hpp"

namespace penstock::webdataset {

namespace {

std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) noexcept {
  return hash_bytes(text.data(), text.size(), seed + text.size());
}

template <class T>
std::uint64_t hash_all(const std::vector<T>& values, std::uint64_t seed) noexcept {
  static_assert(std::has_unique_object_representations_v<T>);
  return hash_bytes(values.data(), values.size() * sizeof(T), seed + values.size());
}

std::string_view base_name(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }
std::string_view path_of_folder(std::string_view path) noexcept { return path.substr(0, path.rfind('/') + 1); }

}  // namespace

Store::Store(WebDataset its_options) : options(std::move(its_options)) {
  const bool is_url = names_url(options.path);
  std::optional<Manifest> manifest;
  if (names_manifest(options.path)) manifest = read_manifest(options);
  on_servers = is_url || (manifest && manifest->on_servers);
  try {
    if (on_servers) {
      open_remote(manifest);
      index_remote();
    } else {
      open_local(manifest);
    }
  } catch (Error& error) {
    if (manifest) manifest->add_line(error);
    throw;
  }
  add_up();
  take_schema();
}

Store::Store(WebDataset its_options, std::unique_ptr<ShardRanges> its_shards)
    : options(std::move(its_options)), ranges(std::move(its_shards)), on_servers(true) {
  index_remote();
  add_up();
  take_schema();
}

void Store::open_remote(const std::optional<Manifest>& manifest) {
  urls_ = manifest ? manifest->shards : expand_url(options.path);
  if (!manifest) {  // which has its own check
    std::set<std::string> seen;
    for (const std::string& url : urls_)
      if (!seen.insert(url_to_compare(url)).second)
        throw Error(Errc::invalid_argument, "the pattern gives a shard twice, \"" + url_without_secrets(url) + "\"")
            .with_source(source_name);
  }
  if (manifest && names_url(options.path)) require_same_server(options, urls_);
  ranges = open_urls(options, urls_, opening_notes);
  if (names_url(options.path)) options.path = url_without_secrets(options.path);
}

void Store::open_local(const std::optional<Manifest>& manifest) {
  if (manifest) {
    shards = manifest->shards;
  } else {
    SkippedEntries others;
    shards = list_shards(options.path, others);
    passed_over = others.text();
  }
  common::refuse_unfinished(shards, shard_extension, source_name);
  if (options.range_bytes != 0) open_in_ranges();
  plan([this](std::size_t shard) {
    const InputFile file(shards[shard]);
    TarScan scan(file);
    return infer_fields(scan);
  });
  indices = index_shards(shards, fields, options.threads);
  refuse_twice(shards, indices, options.path);
  if (ranges != nullptr) return;
  maps.reserve(shards.size());
  for (std::size_t shard = 0; shard < shards.size(); ++shard)
    maps.emplace_back(shards[shard], indices[shard], options.read_ahead, options.access);
}

// Before the shards are indexed, so that no other file can take a shard's place unnoticed.
void Store::open_in_ranges() {
  constexpr std::size_t least = std::size_t{4} << 10, most = std::size_t{1} << 30;
  if (options.range_bytes < least || options.range_bytes > most)
    throw error_in(options.path, Errc::invalid_argument, "`range_bytes` is 0, or 4,096 to 2^30");
  ShardRanges::Files files;
  for (const std::string& shard : shards) files.push_back(open_local_file(shard, options.range_bytes, source_name));
  ranges = std::make_unique<ShardRanges>(std::move(files));
}

void Store::index_remote() {
  for (std::size_t shard = 0; shard < ranges->shards(); ++shard) shards.push_back(ranges->file(shard).name());
  MemberFinder finder(*ranges);
  plan([&](std::size_t shard) { return finder.infer(shard); });
  indices = finder.index(fields, options.threads);
  for (std::string& note : finder.notes()) opening_notes.push_back(std::move(note));
}

// Decides the fields. `infer`: returns those of a shard.
void Store::plan(const std::function<std::vector<WebDatasetField>(std::size_t)>& infer) {
  try {
    named = options.fields;
    // Fields can't be inferred from a shard without samples, so the first shard that gives fields is used.
    for (std::size_t i = 0; named.empty() && i < shards.size(); ++i) named = infer(i);
    fields = plan_fields(named);
  } catch (Error& error) {
    error.with_source(source_name).with_file(options.path);
    throw;
  }
}

// Opens a shard to look at a part of it. @throws Error(io) if it is not the one that was indexed.
std::unique_ptr<const ShardBytes> Store::open_shard(std::size_t shard) const {
  if (on_servers) return std::make_unique<const StreamedShard>(*ranges, shard);
  auto file = std::make_unique<const InputFile>(shards[shard]);
  require_same(*file, indices[shard]);
  return file;
}

void Store::add_up() {
  std::uint64_t hash = shards.size();
  for (const PlannedField& field : fields)
    hash = hash_text(extensions_text(field), hash + static_cast<std::uint64_t>(field.kind));
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    const ShardIndex& index = indices[shard];
    first.push_back(first.back() + index.samples());
    const std::string_view base = base_name(shards[shard]);
    hash = hash_text(on_servers ? plain_name(std::string(base)) : std::string(base), hash + index.bytes);
    hash = hash_text(index.keys, hash_all(index.ends, hash));
    hash = index.entries.hash(hash);
    const std::uint64_t own = on_servers ? ranges->file(shard).revision() : file_revision(shards[shard]);
    revision = revision * 0x9e3779b97f4a7c15 + own;
  }
  identity = hash;
}

void Store::take_schema() {
  std::vector<Field> made;
  for (std::size_t slot = 0; slot < fields.size(); ++slot) {
    switch (fields[slot].kind) {
      case WebDatasetKind::automatic:
      case WebDatasetKind::bytes:
        made.push_back({fields[slot].name, DType::u8, {dynamic}});
        break;
      case WebDatasetKind::integer:
        made.push_back({fields[slot].name, DType::i64, {}});
        break;
      case WebDatasetKind::array:
        made.push_back(array_field(slot));
        break;
    }
  }
  try {
    for (Field& field : made) field.classes = classes_of(field);
    schema = Schema(std::move(made));
    if (const auto label = schema.find("label"); !options.classes.empty() && (!label || schema[*label].classes.empty()))
      throw Error(Errc::invalid_argument,
                  "`classes` name those of a field label of whole numbers; the fields are " + schema.to_string());
  } catch (Error& error) {
    error.with_source("webdataset").with_file(options.path);
    throw;
  }
}

ClassNames Store::classes_of(const Field& field) const {
  if (!may_have_classes(field)) return {};
  if (field.name == "label" && !options.classes.empty()) return options.classes;
  if (!on_servers) return classes_beside(shards, field, [](const auto& file) { return read_text(file, source_name); });
  std::vector<std::string> paths;
  // Of the first shard in each folder. A query may be a key, so no other folder gets it.
  std::map<std::string, std::string, std::less<>> queries;
  for (const std::string& url : urls_) {
    const std::size_t end = std::min(url.find_first_of("?#"), url.size());
    paths.push_back(url.substr(0, end));
    if (paths.back().find('/', paths.back().find("://") + 3) == std::string::npos) paths.back() += '/';
    queries.emplace(std::string(path_of_folder(paths.back())), url.substr(end));
  }
  return classes_beside(paths, field, [&](const std::string& file) {
    return find_url(options, file + queries.find(path_of_folder(file))->second);
  });
}

// Finds the dtype and shape of a field of arrays from the first samples. One bad sample must not decide for all others,
// so samples without a readable array are skipped.
Field Store::array_field(std::size_t slot) const {
  constexpr std::uint64_t looked_at = 100;
  std::optional<Field> made;
  std::unique_ptr<const ShardBytes> file;
  std::vector<std::byte> header;
  std::string why;  // what is wrong with the first damaged array
  for (std::uint64_t index = 0; index < std::min(size(), looked_at); ++index) {
    const Location location = location_of(index);
    const Entry entry = this->entry(location, slot);
    if (!entry.readable()) continue;
    try {
      // Reads the file and not the map: if the shard is cut short, reading the map would end the process.
      if (!file || file->path() != shards[location.shard]) {
        file.reset();
        file = open_shard(location.shard);
      }
      if (indices[location.shard].is_claimed())
        require_as_claimed(*file, indices[location.shard], location.sample, entry, fields[slot]);
      const auto begin = [&](std::uint64_t most) {
        header.resize(static_cast<std::size_t>(std::min(entry.size, most)));
        file->read(reinterpret_cast<char*>(header.data()), header.size(), entry.offset);
        return std::span<const std::byte>(header);
      };
      const std::size_t bytes = npy_header_bytes(begin(npy_preamble_bytes));
      const Npy npy = parse_npy(begin(bytes), static_cast<std::size_t>(entry.size));
      if (!made) made = Field{fields[slot].name, npy.dtype, npy.shape};
      if (npy.dtype != made->dtype || npy.shape.rank() != made->shape.rank()) continue;
      for (std::size_t axis = 0; axis < npy.shape.rank(); ++axis)
        if (npy.shape[axis] != made->shape[axis]) made->shape[axis] = dynamic;
    } catch (const NpyFault& damage) {
      if (why.empty()) why = " (of the first one: " + damage.what + ")";
    }
  }
  if (made) return *made;
  if (size() == 0) return {fields[slot].name, DType::u8, {dynamic}};
  throw error_in(options.path, Errc::invalid_argument,
                 "none of the first " + std::to_string(std::min(size(), looked_at)) +
                     " samples holds an array that can be read, with " + extensions_in_words(fields[slot]) + why +
                     ", so its dtype and rank can't be told; give the field the kind `bytes`");
}

Store::Location Store::location_of(std::uint64_t index) const noexcept {
  const auto after = std::upper_bound(first.begin(), first.end(), index);
  const auto shard = static_cast<std::size_t>(after - first.begin()) - 1;
  return {shard, index - first[shard]};
}

void Store::will_need(std::span<const std::uint64_t> samples) const noexcept {
  if (samples.empty() || fields.empty() || ranges != nullptr) return;
  const auto probe = [&] {
    const std::uint64_t index = samples[samples.size() / 2];
    if (index >= size()) return common::PageRange{};
    const Location location = location_of(index);
    const Entry entry = this->entry(location, 0);
    return entry.readable() ? common::pages_of(mapped(location.shard, entry)) : common::PageRange{};
  };
  if (!advice.worth_asking(samples.size(), probe)) return;
  try {
    std::vector<common::PageRange> ranges;
    ranges.reserve(samples.size() * fields.size());
    for (const std::uint64_t index : samples) {
      if (index >= size()) continue;
      const Location location = location_of(index);
      for (const Entry entry : entries_of(location))
        if (entry.readable() && entry.size != 0) ranges.push_back(common::pages_of(mapped(location.shard, entry)));
    }
    advice.ask(ranges);
  } catch (const std::bad_alloc&) {  // without memory there is no advice
  }
}

}  // namespace penstock::webdataset
