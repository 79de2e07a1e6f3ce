// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/sources/csv.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/sources/webdataset.hpp>

namespace penstock::cli {

struct SlideFlags;

struct InputStoreOptions {
  bool checksums = true;
  std::string values = "automatic";  ///< for an LMDB: automatic, records, raw, datum
  bool isolate = false;              ///< for an HDF5 file: another process reads it
  /// The command line's option that set `isolate`; empty: none did. Only HDF5 stores accept this option.
  const char* isolate_option = "";
  FileAccess access = FileAccess::map;  ///< how files are read
  std::string key = {};                 ///< for HDF5 and tables: the dataset or column of keys; empty: the store's own
  /// Names of the wanted fields, in this order; empty: all. Other fields are not opened, if the store allows that.
  std::vector<std::string> fields = {};
  const SlideFlags* slides = nullptr;  ///< how slides are cut; null, or nothing given: into the file's own tiles
};

using OpenedStore = std::variant<LmdbSource, FilesSource, WebDatasetSource, CsvSource, Hdf5Source, SlideSource>;

/// The store that the tool reads. It is an LMDB, a folder of files, tar shards of WebDataset, HDF5 files, whole-slide
/// images, or text tables (by their names: *.csv, *.tsv, *.tab). The kind is found by looking at the path. Records of
/// slides are the tiles of the file; if there are several slides, the first one's tile size is used. Values of an LMDB
/// from other software are read as what most of them look like. Any thread.
class InputStore {
 public:
  /// @throws penstock::Error, and UsageError for options of a different kind of store.
  explicit InputStore(const std::string& path, const InputStoreOptions& options = {});

  const char* kind() const noexcept;
  std::uint64_t size() const;
  Schema schema() const;
  /// Returns the record's key, or its number if the store has no keys.
  std::string key(std::uint64_t index) const;
  bool has_keys() const;
  /// If the store is a folder of files, returns the record's file, relative to that folder; otherwise empty.
  std::string file_of(std::uint64_t index) const;
  /// Divides the records into runs. One thread should read all records of a run. Returns where each run ends; the last
  /// run ends at `size`. Empty: threads may read any records.
  std::vector<std::uint64_t> block_ends() const;
  /// Describes how the store's fields are read if there is more than one way, in a line each.
  std::vector<std::string> notes() const;
  /// Lists records that are known to be unreadable without being read, because their values are in files that are
  /// missing or cut off. Describes the first few, in a line each.
  std::vector<std::string> faults() const;
  /// Returns other files that the store's values come from, as the store names them.
  std::vector<std::string> other_files() const;
  /// Returns the source of slides; null if it is not a store of slides.
  const SlideSource* slides() const;
  /// Returns the field whose numbers are classes: label, or else the only field with names for its numbers. @throws
  /// UsageError.
  std::string class_field() const;
  /// Lists what is in the store and is not read, and other files in its folder, in a line each.
  std::vector<std::string> left_out() const;
  /// Lists files in the store's folder that are not records, and what to do, in a line each. `left_out` includes these
  /// files.
  std::vector<std::string> passed_over() const;
  /// Returns the classes of a folder of files that have no file.
  std::vector<std::string> empty_classes() const;
  /// Returns a pipeline of the store. With `classes`, the numbers of `class_field` become the numbers of these classes:
  /// by name, or unchanged if the store has no names.
  /// @throws UsageError, and Error(schema_mismatch) for a class that is not in `classes`.
  Pipeline pipeline(const ClassNames& classes = {}) const;
  /// Returns whether every record has a checksum, which reading compares unless InputStoreOptions disable that.
  bool checksums() const;
  /// Returns how the values of an LMDB are read: "records", "raw" or "datum"; otherwise empty.
  const char* values() const noexcept;
  /// Returns whether the values of an LMDB are read as bare bytes by guess, although they don't look like images.
  bool values_unknown() const noexcept { return values_unknown_; }
  /// Call at the end of reading. @throws Error(invalid_argument) if a process has written to the store during that time
  /// without noticing the reader.
  void require_unchanged() const;
  /// @throws UsageError, with what to do, if `values_unknown()`.
  void require_known_values() const;
  /// Describes in a line how ambiguous values were read; empty if they were not ambiguous.
  std::string guess() const;

  /// Reads one record after the other; one thread at a time.
  class Reader {
   public:
    /// The record is valid until the next call. It may have fields in addition to the wanted ones. @throws
    /// penstock::Error.
    Sample& read(std::uint64_t index);

   private:
    friend class InputStore;
    Reader(Schema schema, std::function<void(std::uint64_t, SampleBuilder&)> read);
    Schema schema_;
    std::function<void(std::uint64_t, SampleBuilder&)> read_;
    std::unique_ptr<OwnedSample> owned_;
    std::unique_ptr<Sample> sample_;
  };
  Reader reader() const;

 private:
  Schema whole_schema() const;
  std::string path_;
  std::vector<std::string> fields_;
  bool values_unknown_ = false, values_guessed_ = false;
  std::string passed_over_;  // declared before `source_`, because opening the source sets it
  OpenedStore source_;
};

/// Returns the bytes of a field of a record, which may have more fields than the wanted ones. If the record has the
/// schema `wanted`, finds the field by its slot in `wanted`; otherwise by its name.
std::span<const std::byte> bytes_of(const Sample& sample, const Schema& wanted, std::size_t slot);

/// Lists the files of a folder that are not records, in a line each. `labels` is the file of their labels, if there is
/// one.
std::vector<std::string> files_left_out(const FilesSource& files, const std::string& labels);

/// @throws UsageError, which names the existing fields.
[[noreturn]] void refuse_field(const std::string& field, const Schema& schema);

/// Returns whether the schema has a field of that name that holds encoded images, u8[?].
bool holds_encoded(const Schema& schema, const std::string& field);

/// @throws UsageError, which names the existing fields.
void require_field(const Schema& schema, const std::string& field);

}  // namespace penstock::cli
