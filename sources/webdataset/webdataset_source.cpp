// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/webdataset.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <penstock/extend/store_files.hpp>

#include "class_names.hpp"
#include "common/shard_names.hpp"
#include "errors.hpp"
#include "infer_fields.hpp"
#include "npy.hpp"
#include "shard_paths.hpp"
#include "source_impl.hpp"
#include "tar_scan.hpp"

namespace penstock {

namespace {

using webdataset::Entry;

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

}  // namespace

std::shared_ptr<const WebDatasetSource::Impl> WebDatasetSource::Impl::open(WebDataset options) {
  auto made = std::make_shared<Impl>();
  made->options = std::move(options);
  SkippedEntries passed_over;
  made->shards = webdataset::list_shards(made->options.path, passed_over);
  made->passed_over = passed_over.text();
  common::refuse_unfinished(made->shards, webdataset::shard_extension, webdataset::source_name);
  try {
    made->named = made->options.fields;
    // Fields can't be inferred from a shard without samples, so the first shard that gives fields is used.
    for (std::size_t i = 0; made->named.empty() && i < made->shards.size(); ++i)
      made->named = webdataset::infer_fields(made->shards[i]);
    made->fields = webdataset::plan_fields(made->named);
  } catch (Error& error) {
    error.with_source("webdataset").with_file(made->options.path);
    throw;
  }
  made->indices = webdataset::index_shards(made->shards, made->fields, made->options.threads);
  webdataset::refuse_twice(made->shards, made->indices, made->options.path);
  made->maps.reserve(made->shards.size());
  for (std::size_t shard = 0; shard < made->shards.size(); ++shard)
    made->maps.emplace_back(made->shards[shard], made->indices[shard], made->options.read_ahead, made->options.access);
  made->add_up();
  made->take_schema();
  return made;
}

void WebDatasetSource::Impl::add_up() {
  std::uint64_t hash = shards.size();
  for (const webdataset::PlannedField& field : fields)
    hash = hash_text(webdataset::extensions_text(field), hash + static_cast<std::uint64_t>(field.kind));
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    const webdataset::ShardIndex& index = indices[shard];
    first.push_back(first.back() + index.samples());
    hash = hash_text(base_name(shards[shard]), hash + index.bytes);
    hash = hash_text(index.keys, hash_all(index.ends, hash));
    hash = index.entries.hash(hash);
    revision = revision * 0x9e3779b97f4a7c15 + file_revision(shards[shard]);
  }
  identity = hash;
}

void WebDatasetSource::Impl::take_schema() {
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

ClassNames WebDatasetSource::Impl::classes_of(const Field& field) const {
  if (!webdataset::may_have_classes(field)) return {};
  if (field.name == "label" && !options.classes.empty()) return options.classes;
  return webdataset::classes_beside(shards, field);
}

// Finds the dtype and shape of a field of arrays from the first samples. One bad sample must not decide for all others,
// so samples without a readable array are skipped.
Field WebDatasetSource::Impl::array_field(std::size_t slot) const {
  constexpr std::uint64_t looked_at = 100;
  std::optional<Field> made;
  std::unique_ptr<const webdataset::InputFile> file;
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
        file = std::make_unique<const webdataset::InputFile>(shards[location.shard]);
        webdataset::require_same(*file, indices[location.shard]);
      }
      const auto begin = [&](std::uint64_t most) {
        header.resize(static_cast<std::size_t>(std::min(entry.size, most)));
        file->read(reinterpret_cast<char*>(header.data()), header.size(), entry.offset);
        return std::span<const std::byte>(header);
      };
      const std::size_t bytes = webdataset::npy_header_bytes(begin(webdataset::npy_preamble_bytes));
      const webdataset::Npy npy = webdataset::parse_npy(begin(bytes), static_cast<std::size_t>(entry.size));
      if (!made) made = Field{fields[slot].name, npy.dtype, npy.shape};
      if (npy.dtype != made->dtype || npy.shape.rank() != made->shape.rank()) continue;
      for (std::size_t axis = 0; axis < npy.shape.rank(); ++axis)
        if (npy.shape[axis] != made->shape[axis]) made->shape[axis] = dynamic;
    } catch (const webdataset::NpyFault& damage) {
      if (why.empty()) why = " (of the first one: " + damage.what + ")";
    }
  }
  if (made) return *made;
  if (size() == 0) return {fields[slot].name, DType::u8, {dynamic}};
  throw webdataset::error_in(options.path, Errc::invalid_argument,
                             "none of the first " + std::to_string(std::min(size(), looked_at)) +
                                 " samples holds an array that can be read, with " +
                                 webdataset::extensions_in_words(fields[slot]) + why +
                                 ", so its dtype and rank can't be told; give the field the kind `bytes`");
}

WebDatasetSource::Impl::Location WebDatasetSource::Impl::location_of(std::uint64_t index) const noexcept {
  const auto after = std::upper_bound(first.begin(), first.end(), index);
  const auto shard = static_cast<std::size_t>(after - first.begin()) - 1;
  return {shard, index - first[shard]};
}

void WebDatasetSource::Impl::will_need(std::span<const std::uint64_t> samples) const noexcept {
  if (samples.empty() || fields.empty()) return;
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

WebDatasetSource::WebDatasetSource(WebDataset options) : impl_(Impl::open(std::move(options))) {}

std::uint64_t WebDatasetSource::size() const noexcept { return impl_->size(); }
Schema WebDatasetSource::schema() const { return impl_->schema; }
std::string WebDatasetSource::file() const { return impl_->options.path; }
std::uint64_t WebDatasetSource::identity() const noexcept { return impl_->identity; }
std::uint64_t WebDatasetSource::revision() const noexcept { return impl_->revision; }
std::vector<std::uint64_t> WebDatasetSource::block_ends() const {
  return {impl_->first.begin() + 1, impl_->first.end()};
}
const std::vector<std::string>& WebDatasetSource::shards() const noexcept { return impl_->shards; }
const std::vector<WebDatasetField>& WebDatasetSource::fields() const noexcept { return impl_->named; }
std::map<std::string, std::uint64_t> WebDatasetSource::left_out() const {
  std::map<std::string, std::uint64_t> all;
  for (const webdataset::ShardIndex& index : impl_->indices)
    for (const auto& [extension, count] : index.left_out) all[extension] += count;
  return all;
}
std::string WebDatasetSource::passed_over() const { return impl_->passed_over; }
std::vector<std::string> WebDatasetSource::notes() const {
  if (impl_->passed_over.empty()) return {};
  return {"passed over: " + impl_->passed_over + "; shards end in .tar, and lie in the folder itself"};
}
std::uint64_t WebDatasetSource::members_advised() const noexcept { return impl_->advice.asked(); }
void WebDatasetSource::will_need(std::span<const std::uint64_t> indices) const noexcept { impl_->will_need(indices); }

std::uint64_t WebDatasetSource::without_end() const noexcept {
  const auto& all = impl_->indices;
  return static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [](const auto& i) { return !i.has_end; }));
}

std::size_t WebDatasetSource::shard_of(std::uint64_t index) const {
  if (index < size()) return impl_->location_of(index).shard;
  throw webdataset::error_in(file(), Errc::not_found, "there are " + std::to_string(size()) + " samples")
      .with_index(index);
}

std::string WebDatasetSource::file_of(std::uint64_t index) const { return impl_->shards[shard_of(index)]; }

std::string WebDatasetSource::key(std::uint64_t index) const {
  const std::size_t shard = shard_of(index);
  return std::string(impl_->indices[shard].key(index - impl_->first[shard]));
}

}  // namespace penstock
