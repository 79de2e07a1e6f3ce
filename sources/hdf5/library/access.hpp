// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/dtype.hpp>
#include <penstock/shape.hpp>
#include <penstock/sources/hdf5.hpp>

namespace penstock::hdf5 {

/// An entry in the list of a file's datasets. A source whose options name no fields makes its fields from this list.
struct ListedDataset {
  std::string path;
  std::vector<std::uint64_t> dims = {};   ///< dimensions; empty for a single value, no value, a link, or if unreadable
  std::vector<std::string> members = {};  ///< columns of a compound type, else one empty name; none if `dims` is empty
  std::string link = {};                  ///< the target, if this is a link that is not followed
  std::string unreadable = {};            ///< why the library can't open this dataset; empty: it can
};

/// A filter of a dataset's chunks.
struct FilterFacts {
  enum class Kind : std::uint8_t { deflate, shuffle, fletcher32, lzf, lz4, zstd, blosc, bitshuffle, other };
  Kind kind = Kind::other;
  std::string name;
  std::array<std::uint64_t, 5> values{};  ///< the filter's first parameters
  std::string missing;                    ///< why the library can't use the filter, and what to do; empty: it can

  friend bool operator==(const FilterFacts&, const FilterFacts&) = default;
};

/// What the library reports about a dataset. A damaged file may make any of these facts wrong, so the caller checks
/// them.
struct DatasetFacts {
  enum class Layout : std::uint8_t { contiguous, chunked, compact, virtual_parts };

  /// If an element has more bytes than this, its fill value is not reported.
  static constexpr std::uint64_t largest_element = std::uint64_t{256} << 20;

  std::size_t number = 0;                  ///< number that identifies the dataset in calls
  std::vector<std::uint64_t> dims, chunk;  ///< `chunk` is set if the layout is chunked
  std::uint64_t element_bytes = 0;         ///< bytes of a stored element
  bool variable = false;                   ///< the type has parts without a fixed size, or references
  Layout layout = Layout::contiguous;
  bool elsewhere = false;    ///< the dataset is in another file, to which a link leads
  bool external = false;     ///< contiguous: the data are in other files
  bool plain_edges = false;  ///< chunks that extend past the dataset's end are stored without filters
  /// Offset of the data, if the layout is contiguous, the data are in this file, and `variable` is false. Unset if no
  /// data were written.
  std::optional<std::uint64_t> offset;
  std::vector<FilterFacts> filters;  ///< filters in the order in which they were applied
  std::vector<std::byte> fill;       ///< the value of elements that were never written; empty: zeros
  std::vector<std::string> files;    ///< names of other files that have values, including missing files
  std::vector<std::string> absent;   ///< if the dataset grows with numbered files: names of the next files
  /// Sentences about the first few stretches of rows that can't be read. The cause is a fault of one of `files`, or of
  /// a dataset from which a virtual dataset takes its values.
  std::vector<std::string> faults;
  /// All rows that can't be read for such a cause. For each stretch, in order: its first row, and the row after its
  /// last row. Empty if there are no such rows, or too many stretches.
  std::vector<std::uint64_t> lost;
  std::vector<std::string> told;  ///< further remarks about where the values come from
};

/// How an element of a dataset, or one column of a compound element, is read.
struct ElementFacts {
  enum class Form : std::uint8_t {
    same,       ///< unchanged bytes
    swapped,    ///< bytes in reversed order
    truth,      ///< a boolean, stored as a byte that is 0 or not 0
    text,       ///< a string of fixed size, without its padding; the shape is [?]
    converted,  ///< converted by the library
    variable,   ///< a string or sequence of any length, read by the library; the shape is [?]
  };

  std::size_t number = 0;  ///< number that identifies the element in calls
  Form form = Form::same;
  DType dtype = DType::u8;
  Shape shape;                           ///< dimensions of one element, which follow those of the dataset
  std::size_t bytes = 0;                 ///< bytes of the stored value
  std::size_t offset = 0;                ///< offset of the column in the stored element
  H5T_str_t padding = H5T_STR_NULLTERM;  ///< how text is padded
  bool string = false;                   ///< if `variable`: whether the value is a string, not a sequence
};

/// Where a chunk is stored.
struct StoredChunk {
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t mask = 0;  ///< bit n: filter n was not applied
};

/// A range of a dataset's elements: from `first` on, `count` in each dimension.
struct Slab {
  std::size_t dataset = 0;
  std::span<const std::uint64_t> first, count;
  bool verify_checksum = true;
  bool lost_too = false;  ///< rows that can't be read are not an error, and get any values
};

/// Strings, one after the other.
struct Texts {
  std::string bytes;
  std::vector<std::uint64_t> ends;  ///< where each text ends in `bytes`

  std::string_view operator[](std::size_t number) const {
    const std::uint64_t begin = number == 0 ? 0 : ends[number - 1];
    return std::string_view(bytes).substr(begin, ends[number] - begin);
  }
};

/// What a source asks of the HDF5 library about one open file. If a call fails, it throws an Error with the reason. The
/// caller adds the file to the Error, and the dataset if the Error does not name it. The caller checks all results. Any
/// thread.
class Access {
 public:
  virtual ~Access() = default;

  /// Returns the descriptor of the open file, for reading. It is closed with this object.
  virtual int descriptor() const noexcept = 0;
  /// Lists all datasets, in the order of their paths' bytes, then links to other files and broken links.
  virtual std::vector<ListedDataset> list() = 0;
  /// Opens a dataset. @throws Error(not_found) if it does not exist, Error(unsupported) if it needs a later version of
  /// HDF5.
  virtual DatasetFacts dataset(const std::string& path) = 0;
  /// Returns facts about a dataset's elements. For a compound type, `member` names the column (parts joined by '.').
  /// @throws Error(not_found) if the column does not exist, Error(unsupported) for a type that can't become a field.
  virtual ElementFacts element(std::size_t dataset, const std::string& member) = 0;
  /// Returns the chunk whose first element is at `first`; none if the chunk was never written. Reads the file's index
  /// of chunks, but no data.
  virtual std::optional<StoredChunk> find_chunk(std::size_t dataset, std::span<const std::uint64_t> first) = 0;
  /// Reads the stored bytes of elements. They fill `out`.
  virtual void read(const Slab& slab, std::span<std::byte> out) = 0;
  /// Reads the stored bytes of one column of elements. They fill `out`.
  virtual void read_column(const Slab& slab, std::size_t element, std::span<std::byte> out) = 0;
  /// Reads one value that has no fixed size. Calls `memory_for` with the value's length: the bytes of a string, or the
  /// elements of a sequence. Fills the memory that `memory_for` returns.
  virtual void read_variable(const Slab& slab, std::size_t element,
                             const std::function<std::span<std::byte>(std::uint64_t length)>& memory_for) = 0;
  /// Reads strings that have no fixed size, from rows with one string each. @throws Error(limit_exceeded) if the
  /// strings have more than `max_bytes` bytes together.
  virtual Texts read_texts(const Slab& slab, std::size_t element, std::uint64_t max_bytes) = 0;
  /// Converts `count` stored values, which follow each other without gaps, to the element's `dtype`.
  virtual void convert(std::size_t element, std::uint64_t count, std::span<const std::byte> stored,
                       std::span<std::byte> out) = 0;

  /// Returns the names of an object's attributes, sorted by their bytes. @throws Error(not_found) if there is no such
  /// object.
  virtual std::vector<std::string> attributes(const std::string& object) = 0;
  /// Returns an attribute of an object; none if the object has no attribute of that name. @throws Error(not_found) if
  /// there is no such object.
  virtual std::optional<Hdf5Attribute> attribute(const std::string& object, const std::string& name) = 0;
};

}  // namespace penstock::hdf5
