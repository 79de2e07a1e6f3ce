// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/hdf5.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/draw.hpp>

#include "common/shard_names.hpp"
#include "common/store_list.hpp"
#include "isolation/find_reader.hpp"
#include "library/errors.hpp"
#include "source/chunk_block.hpp"
#include "source/give_row.hpp"
#include "source/row_range.hpp"
#include "source/source_impl.hpp"

namespace penstock {

namespace {

std::string words_of(const Schema& schema) {
  std::string words = schema.to_string();
  for (const Field& field : schema)
    if (!field.classes.empty()) words += ", " + field.name + " of " + field.classes.to_string();
  return words;
}

}  // namespace

using hdf5::Column;
using hdf5::Dataset;
using hdf5::Part;
using hdf5::Table;

Hdf5Source::Impl::Impl(Hdf5 o, const char* header) : options(std::move(o)), key_pages(options.max_kept_bytes) {
  if (options.path.empty() == options.paths.empty())
    throw Error(Errc::invalid_argument, "give either `path` or `paths`").with_source("hdf5");
  if (options.paths.empty() && common::names_store_list(options.path))
    options.paths = common::read_store_list(options.path, "hdf5", hdf5::source_name).stores;
  if (options.paths.empty()) options.paths = {options.path};
  if (options.isolate && (options.patience_ms == 0 || options.max_reader_bytes < (std::size_t{64} << 20)))
    throw Error(Errc::invalid_argument,
                "a reader can't work with a `patience_ms` of 0, or `max_reader_bytes` below 64 MiB")
        .with_source("hdf5");
  if (options.isolate) options.reader = hdf5::find_reader(options.reader, header);
  common::refuse_unfinished(options.paths, hdf5::shard_extension, hdf5::source_name);
  running = std::make_shared<hdf5::RunningReaders>();
  keep_left = 4 * std::min(options.max_kept_bytes, std::numeric_limits<std::size_t>::max() / 4);
  for (const std::string& path : options.paths) {
    std::vector<Field> found;
    Part part = open_part(path, found);
    part.first = size;
    size += part.rows;
    if (parts.empty()) {
      schema = Schema(std::move(found));
    } else if (const Schema other(std::move(found)); other != schema) {
      throw hdf5::error_in(path, Errc::schema_mismatch,
                           "the file's fields are " + words_of(other) + ", those of " + options.paths.front() +
                               " are " + words_of(schema) +
                               (other.to_string() == schema.to_string()
                                    ? "; open the files apart and join them by concat, which maps classes by name"
                                    : ""));
    }
    parts.push_back(std::move(part));
  }
  number_keys();
  describe();
  number_blocks();
  std::vector<std::uint64_t> rows;
  for (const Part& part : parts) rows.push_back(part.rows);
  std::string fields_text = schema.to_string();
  for (const Hdf5FieldInfo& field : fields) fields_text += '\0' + field.dataset + '\0' + field.member;
  if (!keys.empty()) fields_text += '\0' + keys;
  identity = XXH3_64bits_withSeed(fields_text.data(), fields_text.size(),
                                  XXH3_64bits(rows.data(), rows.size() * sizeof rows.front()));
}

void Hdf5Source::Impl::number_keys() {
  if (std::ranges::any_of(parts, [](const Part& part) { return !part.keys; }))
    for (Part& part : parts) part.keys.reset();
  std::uint64_t pages = 0;
  for (Part& part : parts) {
    if (!part.keys) return;
    part.first_key_page = std::exchange(pages, pages + part.keys->pages());
  }
  keys = parts.front().keys->name();
}

void Hdf5Source::Impl::number_blocks() {
  for (Part& part : parts)
    for (Table& table : part.tables) {
      table.first_block = blocks;
      table.first_record = part.first;
      if (!table.dataset.in_blocks()) continue;
      blocks += block_count(table.dataset);
      blocked.push_back(&table);
    }
}

void Hdf5Source::Impl::describe() {
  fields.resize(schema.size());
  for (const Table& table : parts.front().tables)
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Dataset& dataset = table.dataset;
      const Column& column = table.columns[c];
      Hdf5FieldInfo& info = fields[table.slots[c]];
      info.name = column.field().name;
      info.dataset = dataset.path();
      info.member = column.member();
      info.file = dataset.file().path();
      info.way = dataset.way();
      info.storage = dataset.storage();
      info.reason = dataset.reason();
      info.other_files = dataset.others().files;
      info.converted = column.converted();
      info.in_blocks = dataset.in_blocks();
      info.checksums = std::ranges::find(dataset.filters(), hdf5::ChunkFilter::Kind::fletcher32,
                                         &hdf5::ChunkFilter::kind) != dataset.filters().end();
      if (!dataset.chunk().empty()) info.rows_per_chunk = dataset.chunk().front();
    }
  for (const Part& part : parts)
    for (const Table& table : part.tables)
      for (const std::size_t slot : table.slots)
        if (table.dataset.way() != fields[slot].way || table.dataset.storage() != fields[slot].storage)
          fields[slot].differs = true;
}

const Part& Hdf5Source::Impl::part_of(std::uint64_t index) const {
  if (index >= size)
    throw hdf5::error_in(options.paths.front(), Errc::not_found,
                         "there is no such record; the source has " + std::to_string(size))
        .with_index(index);
  return *std::prev(std::upper_bound(parts.begin(), parts.end(), index,
                                     [](std::uint64_t i, const Part& part) { return i < part.first; }));
}

const Table& Hdf5Source::Impl::table_of(std::uint64_t block) const {
  if (block >= blocks)
    throw hdf5::error_in(options.paths.front(), Errc::not_found,
                         "there is no block " + std::to_string(block) + "; the source has " + std::to_string(blocks));
  return **std::prev(std::upper_bound(blocked.begin(), blocked.end(), block,
                                      [](std::uint64_t b, const Table* table) { return b < table->first_block; }));
}

Hdf5Source::Hdf5Source(Hdf5 options, const char* header)
    : impl_(std::make_shared<const Impl>(std::move(options), header)) {}

std::uint64_t Hdf5Source::size() const noexcept { return impl_->size; }
Schema Hdf5Source::schema() const { return impl_->schema; }
std::uint64_t Hdf5Source::blocks() const noexcept { return impl_->blocks; }

std::uint64_t Hdf5Source::block_bytes(std::uint64_t block) const {
  return hdf5::block_bytes(impl_->table_of(block).dataset);
}

void Hdf5Source::blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const {
  const Part& part = impl_->part_of(index);
  for (const Table& table : part.tables)
    if (table.dataset.in_blocks())
      ids.push_back(table.first_block + (index - part.first) / table.dataset.chunk().front());
}

std::optional<BlockRows> Hdf5Source::rows_of(std::uint64_t block) const {
  const Table& table = impl_->table_of(block);
  const Dataset& dataset = table.dataset;
  const std::uint64_t rows = dataset.chunk().front(), first = (block - table.first_block) * rows;
  // Excludes the dataset's last block if it has fewer rows than a chunk, because it is decoded to a whole chunk's size.
  if (table.columns.size() != 1 || !table.columns.front().is_row() || dataset.rows() - first < rows ||
      !std::equal(dataset.dims().begin() + 1, dataset.dims().end(), dataset.chunk().begin() + 1))
    return std::nullopt;
  return BlockRows{table.slots.front(), table.first_record + first, rows};
}

void Hdf5Source::load(std::uint64_t block, std::span<std::byte> bytes) const {
  const Table& table = impl_->table_of(block);
  impl_->read_ahead.forget({&block, 1});
  load_block(table.dataset, block - table.first_block, impl_->options.verify_checksum, impl_->workspaces, bytes);
}

BlocksAhead Hdf5Source::blocks_ahead() const noexcept {
  constexpr std::uint64_t most_blocks = 64, most_bytes = std::uint64_t{64} << 20;
  constexpr std::uint64_t least_bytes = std::uint64_t{16} << 10;  // the system reads ahead by itself as much as that
  const bool small = impl_->blocks == 0 || hdf5::block_bytes(impl_->blocked.front()->dataset) < least_bytes;
  return small ? BlocksAhead() : BlocksAhead{most_blocks, most_bytes};
}
void Hdf5Source::will_load(std::span<const std::uint64_t> blocks) const noexcept { impl_->read_ahead.announce(blocks); }
void Hdf5Source::will_not_load(std::span<const std::uint64_t> blocks) const noexcept {
  impl_->read_ahead.forget(blocks);
}
std::uint64_t Hdf5Source::chunks_advised() const noexcept { return impl_->read_ahead.asked(); }

void Hdf5Source::read(std::uint64_t index, std::span<const std::span<const std::byte>> blocks,
                      SampleBuilder& out) const {
  const Part& part = impl_->part_of(index);
  part.tables.front().dataset.file().require_own_process();
  std::size_t next_block = 0;
  for (const Table& table : part.tables) {
    const auto block = table.dataset.in_blocks() ? blocks[next_block++] : std::span<const std::byte>();
    give_row(table, index - part.first, block, impl_->options.verify_checksum, impl_->workspaces, out);
  }
}

void Hdf5Source::read_rows(std::size_t field, std::uint64_t first, std::uint64_t rows, std::span<std::byte> out) const {
  const auto refuse = [&](Errc code, const std::string& why) -> Error { return hdf5::error_in(file(), code, why); };
  if (field >= impl_->schema.size()) throw refuse(Errc::invalid_argument, "there is no field " + std::to_string(field));
  const Field& wanted = impl_->schema[field];
  if (!wanted.shape.fixed())
    throw refuse(Errc::invalid_argument,
                 "the shape of field \"" + wanted.name + "\" varies, so its rows are read one by one");
  if (first > impl_->size || rows > impl_->size - first)
    throw refuse(Errc::not_found, "there are no " + std::to_string(rows) + " records from record " +
                                      std::to_string(first) + " on; the source has " + std::to_string(impl_->size));
  const std::size_t bytes = wanted.shape.elements() * size_of(wanted.dtype);
  if (out.size() != rows * bytes)
    throw refuse(Errc::invalid_argument, std::to_string(rows) + " rows of \"" + wanted.name + "\" have " +
                                             std::to_string(rows * bytes) + " bytes, and there is room for " +
                                             std::to_string(out.size()));
  while (rows != 0) {
    const Part& part = impl_->part_of(first);
    const std::uint64_t here = std::min(rows, part.first + part.rows - first);
    for (const Table& table : part.tables)
      if (const auto slot = std::ranges::find(table.slots, field); slot != table.slots.end())
        copy_rows(table, static_cast<std::size_t>(slot - table.slots.begin()), wanted, first - part.first, here,
                  impl_->options.verify_checksum, impl_->workspaces, out.first(here * bytes));
    out = out.subspan(here * bytes);
    first += here;
    rows -= here;
  }
}

const std::string& Hdf5Source::keys() const noexcept { return impl_->keys; }

std::string Hdf5Source::key(std::uint64_t index) const {
  const Part& part = impl_->part_of(index);
  if (!part.keys)
    throw hdf5::error_in(file(), Errc::invalid_argument,
                         "the file marks no dataset of keys; name the one that has them in `key`");
  return part.keys->get(index - part.first, impl_->options.verify_checksum, impl_->workspaces, impl_->key_pages,
                        part.first_key_page);
}

std::string Hdf5Source::file() const { return impl_->options.paths.front(); }
std::string Hdf5Source::file_of(std::uint64_t index) const {
  return impl_->options.paths[static_cast<std::size_t>(&impl_->part_of(index) - impl_->parts.data())];
}
std::uint64_t Hdf5Source::identity() const noexcept { return impl_->identity; }
std::vector<std::uint64_t> Hdf5Source::block_ends() const {
  // The most chunks that a dataset may have. For data in another file, this is `told_elsewhere`. Otherwise it is
  // `always_told` plus the number of chunk positions for which the file has room.
  constexpr std::uint64_t always_told = std::uint64_t{1} << 20, told_elsewhere = std::uint64_t{1} << 27;
  std::vector<std::uint64_t> ends;
  bool chunked = false;
  for (const Part& part : impl_->parts) {
    const Table* largest = nullptr;
    const auto rank = [](const Table& table) {
      return std::pair(table.dataset.in_blocks(), hdf5::block_bytes(table.dataset));
    };
    for (const Table& table : part.tables)
      if (!table.dataset.chunk().empty() && (largest == nullptr || rank(table) > rank(*largest))) largest = &table;
    chunked = chunked || largest != nullptr;
    const std::uint64_t rows = largest != nullptr ? largest->dataset.chunk().front() : part.rows;
    // Chunks that were never written take no room in a file, so a small file may have any number of them. The position
    // of a written chunk takes at least 8 bytes, so the file's size limits how many were written.
    if (largest != nullptr) {
      const Dataset& dataset = largest->dataset;
      const std::uint64_t chunks = part.rows / rows;
      if (chunks > (dataset.elsewhere() ? told_elsewhere : always_told + dataset.file().bytes() / 8))
        throw dataset.error(Errc::limit_exceeded, "it has " + std::to_string(chunks) +
                                                      " chunks, most of which were never written; make it with larger "
                                                      "ones, to read it chunk by chunk");
    }
    for (std::uint64_t end = rows; end < part.rows; end += rows) ends.push_back(part.first + end);
    if (part.rows != 0) ends.push_back(part.first + part.rows);
  }
  if (!chunked) ends.clear();
  return ends;
}

std::optional<std::vector<std::int64_t>> Hdf5Source::labels(std::string_view field) const {
  const auto slot = impl_->schema.find(field);
  // If this is the schema's only field, a source of only this field would be the same source. The caller reads the
  // records instead.
  if (!slot || impl_->schema.size() == 1) return std::nullopt;
  const Field& wanted = impl_->schema[*slot];
  if (wanted.shape.rank() != 0 || !is_whole(wanted.dtype)) return std::nullopt;
  const Hdf5FieldInfo& info = impl_->fields[*slot];
  const Hdf5Field alone = impl_->options.fields.empty()
                              ? Hdf5Field{.dataset = info.dataset, .member = info.member, .name = info.name}
                              : impl_->options.fields[*slot];
  Hdf5 options = impl_->options;
  options.path.clear();
  options.fields = {alone};
  return labels_of(Hdf5Source(std::move(options)), field);
}

const std::vector<Hdf5FieldInfo>& Hdf5Source::fields() const noexcept { return impl_->fields; }

std::vector<std::string> Hdf5Source::attributes(std::string_view object) const {
  const hdf5::File& file = *impl_->files.front();
  file.require_own_process();
  try {
    return file.access().attributes(std::string(object));
  } catch (const Error& failed) {
    throw hdf5::error_in(file.path(), failed.code(), failed.cause());
  }
}

std::optional<Hdf5Attribute> Hdf5Source::attribute(std::string_view object, std::string_view name) const {
  const hdf5::File& file = *impl_->files.front();
  file.require_own_process();
  try {
    return file.access().attribute(std::string(object), std::string(name));
  } catch (const Error& failed) {
    throw hdf5::error_in(file.path(), failed.code(), failed.cause());
  }
}

}  // namespace penstock
