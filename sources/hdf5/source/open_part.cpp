// SPDX-License-Identifier: Apache-2.0
// Opens one part of a source: its main file, and files that have other fields of the same records. Finds the keys and
// fields of these records, and the tables that have the fields.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/draw.hpp>

#include "library/errors.hpp"
#include "source/chunk_block.hpp"
#include "source/field_list.hpp"
#include "source/source_impl.hpp"

namespace penstock {

using hdf5::Dataset;
using hdf5::Part;
using hdf5::Table;

namespace {

// The blocks of a record are in memory together. If they exceed the limit, the datasets with the largest blocks are
// read by rows instead, until the other blocks fit.
void limit_block_bytes(Part& part) {
  std::vector<Dataset*> in_blocks;
  std::size_t bytes = 0;
  for (Table& table : part.tables)
    if (table.dataset.in_blocks()) {
      in_blocks.push_back(&table.dataset);
      bytes += hdf5::block_bytes(table.dataset);
    }
  // Puts the largest blocks first. Datasets whose blocks have equal sizes are sorted by address.
  std::ranges::sort(in_blocks, [](const Dataset* a, const Dataset* b) {
    const std::size_t of_a = hdf5::block_bytes(*a), of_b = hdf5::block_bytes(*b);
    return of_a != of_b ? of_a > of_b : a < b;
  });
  for (Dataset* largest : in_blocks) {
    if (bytes <= Dataset::largest_block) break;
    bytes -= hdf5::block_bytes(*largest);
    largest->read_by_rows();
  }
}

void check_rows(const Part& part) {
  for (const Table& table : part.tables)
    if (table.dataset.rows() != part.rows)
      throw table.dataset.error(Errc::schema_mismatch, "it has " + std::to_string(table.dataset.rows()) +
                                                           " records, '" + part.tables.front().dataset.path() +
                                                           "' has " + std::to_string(part.rows));
}

}  // namespace

Part Hdf5Source::Impl::open_part(const std::string& path, std::vector<Field>& found) {
  const auto file = open_file(path);
  Part part;
  open_keys(part, file);
  add_fields(part, file, found);
  limit_block_bytes(part);
  part.rows = part.tables.front().dataset.rows();
  check_rows(part);
  if (part.keys && part.keys->dataset().rows() != part.rows)
    refuse_keys(
        part, path,
        Error(Errc::schema_mismatch, "'" + part.keys->name() + "' has " + std::to_string(part.keys->dataset().rows()) +
                                         ", of " + std::to_string(part.rows) + " records"));
  return part;
}

std::shared_ptr<const hdf5::File> Hdf5Source::Impl::open_file(const std::string& path) {
  for (const auto& file : files)
    if (file->path() == path) return file;
  return files.emplace_back(std::make_shared<const hdf5::File>(path, options, running));
}

// Throws if the options name the keys. If only the file names them, the part is opened without keys.
void Hdf5Source::Impl::refuse_keys(Part& part, const std::string& path, const Error& why) {
  if (!options.key.empty()) throw hdf5::error_in(path, why.code(), "the keys: " + why.cause());
  part.keys.reset();
  keys_left_out = "keys: left out, because of " + path + ": " + why.cause();
}

void Hdf5Source::Impl::open_keys(Part& part, const std::shared_ptr<const hdf5::File>& file) {
  std::string name = options.key;
  if (name.empty() && (parts.empty() || parts.front().keys)) try {
      const auto marked = file->access().attribute("/", hdf5::keys_attribute);
      const auto* const names = marked ? std::get_if<std::vector<std::string>>(&marked->values) : nullptr;
      if (names != nullptr && names->size() == 1) name = names->front();
      if (name.empty() && !parts.empty())
        return refuse_keys(part, file->path(), Error(Errc::schema_mismatch, "it marks no dataset of keys"));
    } catch (const Error& failed) {
      return refuse_keys(part, file->path(), failed);
    }
  if (name.empty()) return;
  try {
    part.keys.emplace(file, hdf5::find_keys(file, name));
  } catch (const Error& failed) {
    refuse_keys(part, file->path(), failed);
  }
}

void Hdf5Source::Impl::add_fields(Part& part, const std::shared_ptr<const hdf5::File>& main,
                                  std::vector<Field>& found) {
  const bool named = !options.fields.empty();
  std::optional<Error> refused;
  TablePlaces places;
  for (const Hdf5Field& field : wanted_fields(part, *main)) {
    try {
      add_field(part, places, file_of(field, main), field, found);
    } catch (const Error& failed) {
      if (named || failed.code() != Errc::unsupported) throw;
      if (!refused) refused = failed;
      if (parts.empty())
        left_out.push_back(hdf5::field_name(field) + ": left out, because it can't be read: " + failed.cause());
    }
  }
  if (found.empty() && refused) throw Error(*refused);
}

std::vector<Hdf5Field> Hdf5Source::Impl::wanted_fields(const Part& part, const hdf5::File& main) {
  if (!options.fields.empty()) return options.fields;
  std::vector<std::string> not_fields;
  std::vector<Hdf5Field> wanted = hdf5::all_fields(main, not_fields);
  if (part.keys)
    std::erase_if(wanted, [&](const Hdf5Field& field) { return hdf5::field_name(field) == part.keys->name(); });
  if (wanted.empty())
    throw hdf5::error_in(main.path(), Errc::schema_mismatch,
                         "the file has nothing but its keys, '" + part.keys->name() +
                             "'; name them in `fields` to have them as a field too");
  if (parts.empty()) left_out.insert(left_out.end(), not_fields.begin(), not_fields.end());
  return wanted;
}

std::shared_ptr<const hdf5::File> Hdf5Source::Impl::file_of(const Hdf5Field& field,
                                                            const std::shared_ptr<const hdf5::File>& main) {
  if (field.file.empty()) return main;
  if (options.paths.size() > 1)
    throw Error(Errc::invalid_argument, "field '" + field.dataset +
                                            "' lies in a file of its own, which goes with one `path` only; join "
                                            "sources by zip and concat instead")
        .with_source("hdf5");
  return open_file(field.file);
}

void Hdf5Source::Impl::add_field(Part& part, TablePlaces& places, const std::shared_ptr<const hdf5::File>& file,
                                 const Hdf5Field& field, std::vector<Field>& found) {
  const auto known = places.find({file.get(), field.dataset});
  const std::size_t place = known != places.end() ? known->second : part.tables.size();
  if (place == part.tables.size()) add_table(part, file, field.dataset);
  Table& table = part.tables[place];
  try {
    table.columns.emplace_back(table.dataset, field, hdf5::field_name(field));
  } catch (const Error&) {
    if (table.columns.empty()) drop_last_table(part);
    throw;
  }
  places.try_emplace({file.get(), field.dataset}, place);
  table.slots.push_back(found.size());
  found.push_back(table.columns.back().field());
  name_classes(table, found.back());
}

void Hdf5Source::Impl::add_table(Part& part, const std::shared_ptr<const hdf5::File>& file,
                                 const std::string& dataset) {
  Table& table = part.tables.emplace_back(file, dataset, std::min(keep_left, options.max_kept_bytes));
  if (table.dataset.way() == Hdf5Way::kept) {
    table.kept = std::make_unique<hdf5::RowsInMemory>();
    keep_left -= table.dataset.rows() * table.dataset.row_bytes();
  }
  if (table.dataset.plain_rows()) table.chunk_offsets = std::make_unique<hdf5::ChunkOffsets>(table.dataset);
}

void Hdf5Source::Impl::drop_last_table(Part& part) {
  const Table& table = part.tables.back();
  if (table.kept != nullptr) keep_left += table.dataset.rows() * table.dataset.row_bytes();
  part.tables.pop_back();
}

void Hdf5Source::Impl::name_classes(const Table& table, Field& field) {
  if (!is_whole(field.dtype)) return;
  const auto attribute_of = [&](const std::string& object) {
    const auto found = table.dataset.file().access().attribute(object, "classes");
    const auto* const names = found ? std::get_if<std::vector<std::string>>(&found->values) : nullptr;
    return names != nullptr && found->shape.size() == 1 ? ClassNames(*names) : ClassNames();
  };
  try {
    if (table.columns.back().member().empty()) field.classes = attribute_of(table.dataset.path());
    if (field.classes.empty() && field.name == "label" && field.shape.rank() == 0) field.classes = attribute_of("/");
  } catch (const Error& failed) {
    if (failed.code() != Errc::unsupported && parts.empty())
      left_out.push_back("classes of " + field.name + ": left out, because they can't be read: " + failed.cause());
  }
}

}  // namespace penstock
