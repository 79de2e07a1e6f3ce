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
  std::string values = "automatic";     ///< of an LMDB: automatic, records, raw, datum
  bool isolate = false;                 ///< of an HDF5 file: another process reads it
  const char* isolate_option = "";      ///< that the command line has, of HDF5 files alone; empty: none
  FileAccess access = FileAccess::map;  ///< how files are read
  std::string key = {};                 ///< of HDF5 and tables: the dataset or column of keys; empty: as the store says
  /// Names of the fields that are wanted, in this order; empty: all. Others are not opened, where the store allows it.
  std::vector<std::string> fields = {};
  const SlideFlags* slides = nullptr;  ///< how slides are cut; null, or nothing given: into the file's own tiles
};

using OpenedStore = std::variant<LmdbSource, FilesSource, WebDatasetSource, CsvSource, Hdf5Source, SlideSource>;

/// What the tool reads from: an LMDB store, a folder of files, WebDataset's tar shards, HDF5 files, whole-slide images,
/// or text tables (by their names: *.csv, *.tsv, *.tab), told apart by what is there. Records of slides are the tiles
/// of the file, the first slide's where there are several. Values of an LMDB that others wrote are taken
/// for what most of them look like. Any thread.
class InputStore {
 public:
  /// @throws penstock::Error, and UsageError for options that are of another kind of store.
  explicit InputStore(const std::string& path, const InputStoreOptions& options = {});

  const char* kind() const noexcept;
  std::uint64_t size() const;
  Schema schema() const;
  /// The record's key, or its number where the store has no keys.
  std::string key(std::uint64_t index) const;
  bool has_keys() const;
  /// The record's file, below the folder that the store is; else empty.
  std::string file_of(std::uint64_t index) const;
  /// Where runs of records end that are best read by one thread, the last one at `size`; empty: anywhere.
  std::vector<std::uint64_t> block_ends() const;
  /// How the store's fields are read, where there is more than one way; a line each.
  std::vector<std::string> notes() const;
  /// Which records are known not to be readable without looking at them, as their values lie in files that are missing
  /// or cut short; a line each, the first few.
  std::vector<std::string> faults() const;
  /// Files beside the store that its values come from, as it says itself.
  std::vector<std::string> other_files() const;
  /// Null where it is no store of slides.
  const SlideSource* slides() const;
  /// The field whose numbers stand for classes: label, else the only one that has names for them. @throws UsageError.
  std::string class_field() const;
  /// What the store knows beside its records, keys and classes, and what lies there and is no record; a line each.
  std::vector<std::string> left_out() const;
  /// What lies in its folder and is no record, and what to do; a line each. `left_out` has them, too.
  std::vector<std::string> passed_over() const;
  /// The classes of a folder of files that have none.
  std::vector<std::string> empty_classes() const;
  /// With `classes`, the numbers of `class_field` are those of these classes: by name, or, where nobody names them, as
  /// they are. @throws UsageError, and Error(schema_mismatch) for a class that is not among them.
  Pipeline pipeline(const ClassNames& classes = {}) const;
  /// Every record has a checksum, which reading compares unless InputStoreOptions say otherwise.
  bool checksums() const;
  /// What the values of an LMDB are: "records", "raw" or "datum"; else empty.
  const char* values() const noexcept;
  /// The values of an LMDB are taken as bare bytes, though they look like no image, and nobody said so.
  bool values_unknown() const noexcept { return values_unknown_; }
  /// At the end of what reads it. @throws Error(invalid_argument) where somebody has written to it meanwhile, who did
  /// not see that it was read.
  void require_unchanged() const;
  /// @throws UsageError for such a store, which says what to do.
  void require_known_values() const;
  /// How values were taken that could be something else, in a line; or empty.
  std::string guess() const;

  /// Reads one record after the other; one thread at a time.
  class Reader {
   public:
    /// The record is valid until the next call. It may have fields beside those that are wanted. @throws
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
  std::string passed_over_;  // before the source, which is opened with it
  OpenedStore source_;
};

/// A field of a record, which may have others beside those that are wanted: where `wanted` stands in its own schema, or
/// else by its name.
std::span<const std::byte> bytes_of(const Sample& sample, const Schema& wanted, std::size_t slot);

/// What of a folder is not among its records; a line each. `labels` is the file of their labels, if there is one.
std::vector<std::string> files_left_out(const FilesSource& files, const std::string& labels);

/// @throws UsageError, which names the fields there are.
[[noreturn]] void refuse_field(const std::string& field, const Schema& schema);

/// Slot of the field that holds encoded images, u8[?], if the schema has such a one under that name.
bool holds_encoded(const Schema& schema, const std::string& field);

/// @throws UsageError, which names the fields there are.
void require_field(const Schema& schema, const std::string& field);

}  // namespace penstock::cli
