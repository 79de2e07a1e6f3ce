// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/sources/coco.hpp>
#include <penstock/sources/csv.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/json_lines.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/sources/voc.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/yolo.hpp>

#include "stores/input_path.hpp"

namespace penstock::cli {

class RangeReader;
struct RemoteFlags;
struct SlideFlags;

struct InputStoreOptions {
  bool checksums = true;
  std::string values = "automatic";  ///< for an LMDB: automatic, records, raw, datum
  bool isolate = false;              ///< for an HDF5 file: another process reads it
  /// The command line's option that set `isolate`; empty if no option did. Stores other than HDF5 refuse such an
  /// option.
  const char* isolate_option = "";
  FileAccess access = FileAccess::map;  ///< how files are read
  std::string key = {};                 ///< for HDF5, tables and JSON: what has the keys; empty: the store's own
  /// Names of the wanted fields, in this order; empty: all fields. Other fields are not opened, if the store allows
  /// that.
  std::vector<std::string> fields = {};
  const RemoteFlags* remote = nullptr;  ///< how servers are asked; null, or no flag given: with the defaults
  const SlideFlags* slides = nullptr;   ///< how slides are cut; null, or no flag given: see InputStore
};

using OpenedStore = std::variant<LmdbSource, FilesSource, WebDatasetSource, CsvSource, JsonLinesSource, Hdf5Source,
                                 SlideSource, CocoSource, VocSource, YoloSource>;

/// The store that the tool reads. It is an LMDB, a folder of files, tar shards of WebDataset, HDF5 files, whole-slide
/// images, text tables (by their names: *.csv, *.tsv, *.tab), lines of JSON (*.jsonl, *.ndjson), or pictures with boxes
/// (see open_boxes.hpp). It may also be tar shards on a server, named by a URL. The kind is found by looking at the
/// path. If no flag says how slides are cut, each record is a square. Its side is the longer side of a tile in the
/// first readable slide's file. If that side has more than 1024 pixels, or the file has no tiles, the side is that of
/// `Slides`. Values of an LMDB from other software are read as the kind that most of them look like. Any thread.
class InputStore {
 public:
  /// @throws penstock::Error, and UsageError for options of a different kind of store or an unknown field.
  explicit InputStore(const InputPath& path, const InputStoreOptions& options = {});

  const char* kind() const noexcept;
  std::uint64_t size() const;
  Schema schema() const;
  /// Returns the record's key, or its number if the store has no keys.
  std::string key(std::uint64_t index) const;
  bool has_keys() const;
  /// If the store is a folder of files, returns the record's file, relative to that folder; otherwise empty.
  std::string file_of(std::uint64_t index) const;
  /// Divides the records into runs. One thread should read all records of a run. Returns where each run ends; the last
  /// run ends at `size`. If the result is empty, each thread may read any records.
  std::vector<std::uint64_t> block_ends() const;
  /// Returns whether the records are on a server.
  bool is_remote() const;
  /// Describes how the store is read, in lines: a guess at its values, its first slides, or what the source says about
  /// its fields.
  std::vector<std::string> notes() const;
  /// Lists stretches of records that can't be read because their values are in other files that are missing or cut off.
  /// Opening the store has found them. Only the first few have a line.
  std::vector<std::string> faults() const;
  /// Returns other files that the store's values come from, as the store names them.
  std::vector<std::string> other_files() const;
  /// Returns the source of slides; null for a store of any other kind.
  const SlideSource* slides() const;
  /// Returns the field whose numbers are classes: label, or else the only field with names for its numbers. @throws
  /// UsageError if there is no such field.
  std::string class_field() const;
  /// Lists what is in the store and is not read, and other files in its folder, in a line each.
  std::vector<std::string> left_out() const;
  /// Lists files in the store's folder that are not records, and what to do, in a line each. `left_out` includes these
  /// files.
  std::vector<std::string> passed_over() const;
  /// For a folder of files, returns the classes without a file; otherwise empty.
  std::vector<std::string> empty_classes() const;
  /// Returns a pipeline of the store. With `classes`, each number in `class_field` becomes the number that `classes`
  /// gives to the class of the same name. If the field has no names, the numbers stay, and get the names of `classes`.
  /// @throws UsageError, and Error(schema_mismatch) for a class that is not in `classes`.
  Pipeline pipeline(const ClassNames& classes = {}) const;
  /// Returns whether every record has a checksum. Reading compares it if `InputStoreOptions::checksums` is true.
  bool checksums() const;
  /// Returns how the values of an LMDB are read: "records", "raw" or "datum". Returns "" for other stores.
  const char* values() const noexcept;
  /// Returns whether it is unknown what the values of an LMDB are: they look neither like images nor like Datums.
  /// Reading returns them as bare bytes.
  bool values_unknown() const noexcept { return values_unknown_; }
  /// Call at the end of reading. @throws Error(invalid_argument) if the store is an LMDB, and a process has written to
  /// it since it was opened.
  void require_unchanged() const;
  /// @throws UsageError, with what to do, if `values_unknown()`.
  void require_known_values() const;
  /// Returns a line if the values of an LMDB are read as Caffe's Datums because they look like these; otherwise empty.
  std::string guess() const;

  /// Reads one record after the other; one thread at a time.
  class Reader {
   public:
    /// The record is valid until the next call. It may have fields in addition to the wanted ones. @throws
    /// penstock::Error.
    Sample& read(std::uint64_t index);
    /// Says which records are read next, in this order. Shards on a server are then transferred ahead.
    void expect(std::span<const std::uint64_t> indices);
    /// Says that the records from `begin` to before `end` are read next.
    void expect(std::uint64_t begin, std::uint64_t end);

   private:
    friend class InputStore;
    explicit Reader(Schema schema) : schema_(std::move(schema)) {}
    Schema schema_;
    std::shared_ptr<RangeReader> ranges_;  // of shards on a server; null: `read_` reads
    std::function<void(std::uint64_t, SampleBuilder&)> read_;
    std::unique_ptr<OwnedSample> owned_;
    std::unique_ptr<Sample> sample_;
  };
  Reader reader() const;

 private:
  Schema whole_schema() const;
  InputPath path_;
  std::vector<std::string> fields_;
  bool values_unknown_ = false, values_guessed_ = false;
  std::string passed_over_;  // declared before `source_`, because opening the source sets it
  OpenedStore source_;
};

/// Returns the bytes of field `slot` of `wanted` in a record. The record may have more fields than `wanted`. If the
/// field has another slot in the record, finds it by its name.
std::span<const std::byte> bytes_of(const Sample& sample, const Schema& wanted, std::size_t slot);

/// Counts the files of a folder that are not records, in a line for each reason. `labels`: the path of the file with
/// the labels; empty if there is no such file.
std::vector<std::string> files_left_out(const FilesSource& files, const std::string& labels);

/// Throws UsageError, which names the existing fields.
[[noreturn]] void refuse_field(const std::string& field, const Schema& schema);

/// Returns whether the schema has a field of that name that holds encoded images, u8[?].
bool holds_encoded(const Schema& schema, const std::string& field);

/// @throws UsageError, which names the existing fields, if `schema` lacks the field.
void require_field(const Schema& schema, const std::string& field);

}  // namespace penstock::cli
