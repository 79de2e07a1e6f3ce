#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <penstock/sources/hdf5.hpp>

#include "chunk_filters.hpp"
#include "column.hpp"
#include "dataset.hpp"
#include "file.hpp"
#include "find_chunk.hpp"
#include "reader/running.hpp"

namespace penstock {

namespace hdf5 {

/// All rows of a small dataset, read when they are first asked for.
class KeptRows {
 public:
  /// Null where they can't be read whole; then each is read by itself, so that only damaged ones fail.
  const std::byte* get(const Dataset& dataset, bool verify_checksum);

 private:
  std::mutex mutex_;
  std::vector<std::byte> rows_;
  std::atomic<const std::byte*> ready_{nullptr};
  std::atomic<bool> failed_{false};
};

/// A dataset with the fields that come of it.
struct Table {
  Table(std::shared_ptr<const File> file, const std::string& path, std::size_t keep_bytes)
      : dataset(std::move(file), path, keep_bytes) {}

  Dataset dataset;
  std::vector<Column> columns;
  std::vector<std::size_t> slots;       ///< of the columns, in the schema
  std::uint64_t first_block = 0;        ///< of those of all datasets
  std::uint64_t first_record = 0;       ///< of the source's
  std::unique_ptr<KeptRows> kept;       ///< where its way is `kept`
  std::unique_ptr<ChunkPlaces> places;  ///< where its rows lie in chunks as they are
};

/// One of the files that are read one after the other, or several that hold the fields of the same records.
struct Part {
  std::vector<Table> tables;
  std::uint64_t first = 0, rows = 0;  ///< records
};

}  // namespace hdf5

/// What copies of a source share. Immutable but for rows that are kept, and workspaces.
class Hdf5Source::Impl {
 public:
  explicit Impl(Hdf5 options);

  const hdf5::Part& part_of(std::uint64_t index) const;
  const hdf5::Table& table_of(std::uint64_t block) const;

  Hdf5 options;
  std::vector<std::shared_ptr<const hdf5::File>> files;  ///< the first is the one whose attributes are given
  std::vector<hdf5::Part> parts;
  Schema schema;
  std::vector<Hdf5FieldInfo> fields;
  std::vector<std::string> left_out;  ///< of the first file, why
  std::uint64_t size = 0, blocks = 0, identity = 0;
  std::vector<const hdf5::Table*> blocked;  ///< tables that are read in blocks, by their first block
  mutable hdf5::Workspaces workspaces;

 private:
  std::size_t keep_left = 0;                      ///< of what may be kept, while files are opened
  std::shared_ptr<hdf5::RunningReaders> running;  ///< of files that are not trusted
  hdf5::Part open_part(const std::string& path, std::vector<Field>& fields_of_part);
  void describe();
};

}  // namespace penstock
