#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <penstock/pipeline.hpp>
#include <penstock/sample.hpp>
#include <penstock/sources/csv.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/webdataset.hpp>

namespace penstock::cli {

struct StoreOptions {
  bool checksums = true;
  std::string values = "automatic";  ///< of an LMDB: automatic, records, raw, datum
  bool trust = true;                 ///< of an HDF5 file: false has another process read it
};

/// What the tool reads from: an LMDB store, a folder of files, WebDataset's tar shards, HDF5 files, or text tables
/// (by their names: *.csv, *.tsv, *.tab), told apart by what is there. Shards' first image extension is the field
/// "image", `cls` the field "label". Any thread.
class Store {
 public:
  /// @throws penstock::Error.
  explicit Store(const std::string& path, const StoreOptions& options = {});

  const char* kind() const noexcept;
  std::uint64_t size() const;
  Schema schema() const;
  /// Of a store without keys the record's number.
  std::string key(std::uint64_t index) const;
  bool has_keys() const;
  /// Where runs of records end that are best read by one thread, the last one at `size`; empty: anywhere.
  std::vector<std::uint64_t> block_ends() const;
  /// Of its files' sizes and times.
  std::uint64_t revision() const;
  /// How the store's fields are read, where there is more than one way; a line each.
  std::vector<std::string> notes() const;
  /// Names of classes by number, as far as the store knows them.
  const std::vector<std::string>& classes() const;
  Pipeline pipeline() const;
  /// Every record has a checksum, which reading compares unless StoreOptions say otherwise.
  bool checksums() const;
  /// The values are of no form that is known, but are Caffe's Datums as far as the first ones tell.
  bool looks_like_datum() const;

  /// Reads one record after the other; one thread at a time.
  class Reader {
   public:
    /// The record is valid until the next call. @throws penstock::Error.
    Sample& read(std::uint64_t index);

   private:
    friend class Store;
    Reader(Schema schema, std::function<void(std::uint64_t, SampleBuilder&)> read);
    Schema schema_;
    std::function<void(std::uint64_t, SampleBuilder&)> read_;
    std::unique_ptr<OwnedSample> owned_;
    std::unique_ptr<Sample> sample_;
  };
  Reader reader() const;

 private:
  std::string path_;
  std::vector<std::string> hdf5_classes_;
  std::variant<LmdbSource, FilesSource, WebDatasetSource, CsvSource, Hdf5Source> source_;
};

/// Slot of the field that holds encoded images, u8[?], if the schema has such a one under that name.
bool holds_encoded(const Schema& schema, const std::string& field);

/// @throws UsageError, which names the fields there are.
void require_field(const Schema& schema, const std::string& field);

/// What a file begins with: "jpeg", "png", "gif", "bmp", "tiff", "webp", or "" for none of these.
const char* image_kind(std::span<const std::byte> bytes) noexcept;

}  // namespace penstock::cli
