// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <penstock/sources/hdf5.hpp>

#include "filters/chunk_filters.hpp"
#include "isolation/running.hpp"
#include "source/chunk_block.hpp"
#include "source/read_ahead.hpp"
#include "source/tables.hpp"

namespace penstock {

/// State that copies of a source share. Immutable, except kept rows, pages of keys, offsets of chunks, and workspaces.
class Hdf5Source::Impl {
 public:
  Impl(Hdf5 options, const char* header);

  const hdf5::Part& part_of(std::uint64_t index) const;
  const hdf5::Table& table_of(std::uint64_t block) const;

  Hdf5 options;
  /// All open files; the source's attributes are the first file's.
  std::vector<std::shared_ptr<const hdf5::File>> files;
  std::vector<hdf5::Part> parts;
  Schema schema;
  std::vector<Hdf5FieldInfo> fields;
  std::vector<std::string> left_out;  ///< what is left out of the first file, and why
  std::uint64_t size = 0, blocks = 0, identity = 0;
  std::vector<const hdf5::Table*> blocked;  ///< tables that are read in blocks, in the order of their first blocks
  std::string keys;                         ///< name of the keys in the first file; empty: the source has no keys
  std::string keys_left_out;                ///< why there are no keys, although a file names some; otherwise empty
  mutable hdf5::KeyPages key_pages;
  mutable hdf5::Workspaces workspaces;

 private:
  std::size_t keep_left = 0;                      ///< while files are opened: bytes that may still be kept
  std::shared_ptr<hdf5::RunningReaders> running;  ///< processes for untrusted files
  /// The index of each table in a part, by file and dataset.
  using TablePlaces = std::map<std::pair<const hdf5::File*, std::string>, std::size_t>;

  hdf5::Part open_part(const std::string& path, std::vector<Field>& fields_of_part);
  /// Returns a file. Opens the file first, if the source has not opened it already.
  std::shared_ptr<const hdf5::File> open_file(const std::string& path);
  void add_fields(hdf5::Part& part, const std::shared_ptr<const hdf5::File>& main, std::vector<Field>& fields_of_part);
  /// Returns the fields that the options name, or else all fields of the file except its keys.
  std::vector<Hdf5Field> wanted_fields(const hdf5::Part& part, const hdf5::File& main);
  std::shared_ptr<const hdf5::File> file_of(const Hdf5Field& field, const std::shared_ptr<const hdf5::File>& main);
  void add_field(hdf5::Part& part, TablePlaces& places, const std::shared_ptr<const hdf5::File>& file,
                 const Hdf5Field& field, std::vector<Field>& fields_of_part);
  void add_table(hdf5::Part& part, const std::shared_ptr<const hdf5::File>& file, const std::string& dataset);
  void drop_last_table(hdf5::Part& part);
  /// Sets the names of classes of the field that was added last, if the file has them.
  void name_classes(const hdf5::Table& table, Field& field);
  void refuse_keys(hdf5::Part& part, const std::string& path, const Error& why);
  void open_keys(hdf5::Part& part, const std::shared_ptr<const hdf5::File>& file);
  void number_keys();
  void number_blocks();
  void describe();

 public:
  /// The last member, because its thread uses the others.
  mutable hdf5::ReadAhead read_ahead{[this](std::uint64_t block) {
    const hdf5::Table& table = table_of(block);
    return read_block_ahead(table.dataset, block - table.first_block);
  }};
};

}  // namespace penstock
