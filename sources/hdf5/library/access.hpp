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

/// A dataset of a file, for a source that names none.
struct ListedDataset {
  std::string path;
  std::vector<std::uint64_t> dims = {};   ///< dimensions; empty for a single value, or no value
  std::vector<std::string> members = {};  ///< columns of a compound type; otherwise one empty name
  std::string link = {};                  ///< if it is a link that is not followed: its target
  std::string unreadable = {};            ///< why the library can't open it although it can open others; empty: it can
};

/// A filter of a dataset's chunks.
struct FilterFacts {
  enum class Kind : std::uint8_t { deflate, shuffle, fletcher32, lzf, lz4, zstd, blosc, bitshuffle, other };
  Kind kind = Kind::other;
  std::string name;
  std::array<std::uint64_t, 5> values{};  ///< its first parameters
  std::string missing;                    ///< why the library can't use it, and what to do; empty: it can

  friend bool operator==(const FilterFacts&, const FilterFacts&) = default;
};

/// What the library reports about a dataset. Nothing of it is checked.
struct DatasetFacts {
  enum class Layout : std::uint8_t { contiguous, chunked, compact, virtual_parts };

  /// Bytes of the largest element whose form is reported. For a larger element only the size is reported.
  static constexpr std::uint64_t largest_element = std::uint64_t{256} << 20;

  std::size_t number = 0;                  ///< number that identifies it in calls
  std::vector<std::uint64_t> dims, chunk;  ///< chunk: set if the layout is chunked
  std::uint64_t element_bytes = 0;         ///< bytes of an element, as stored
  bool variable = false;                   ///< its values have no fixed size
  Layout layout = Layout::contiguous;
  bool elsewhere = false;               ///< it is in another file, which a link leads to
  bool external = false;                ///< contiguous: its data are in other files
  bool plain_edges = false;             ///< chunks that extend past its end are stored without filters
  std::optional<std::uint64_t> offset;  ///< contiguous, in this file: offset of its data, if it has any
  std::vector<FilterFacts> filters;     ///< filters in the order in which they were applied
  std::vector<std::byte> fill;          ///< the value of elements that were never written; empty: zeros
  std::vector<std::string> files;       ///< other files with its values; for missing ones their names
  std::vector<std::string> absent;      ///< names of files with which it would continue
  std::vector<std::string> faults;      ///< which rows these files make unreadable, the first few
  /// Rows of all these faults, in order: the first row of each stretch and the row after it. Empty: none, or too many.
  std::vector<std::uint64_t> lost;
  std::vector<std::string> told;  ///< further remarks about these files
};

/// How an element of a dataset, or one column of a compound element, is read.
struct ElementFacts {
  enum class Form : std::uint8_t {
    same,       ///< unchanged bytes
    swapped,    ///< bytes in reversed order
    truth,      ///< a byte that is 0 or not: boolean
    text,       ///< a string of fixed size, without its padding: [?]
    converted,  ///< converted by the library
    variable,   ///< a string or sequence of any length, by the library: [?]
  };

  std::size_t number = 0;  ///< number that identifies it in calls
  Form form = Form::same;
  DType dtype = DType::u8;
  Shape shape;                           ///< dimensions in addition to the dataset's
  std::size_t bytes = 0;                 ///< bytes, as stored
  std::size_t offset = 0;                ///< offset of the column in the stored element
  H5T_str_t padding = H5T_STR_NULLTERM;  ///< how text is padded
  bool string = false;                   ///< if variable: a string, not a sequence
};

/// Where a chunk is stored.
struct StoredChunk {
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t mask = 0;  ///< bits of filters that were left out
};

/// Elements of a dataset: from `first` on, `count` in each dimension.
struct Slab {
  std::size_t dataset = 0;
  std::span<const std::uint64_t> first, count;
  bool verify_checksum = true;
  bool lost_too = false;  ///< rows that are known to be lost are not an error, and have any values
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

/// What a source asks of the HDF5 library about one open file. A failure is an Error with the reason. The caller knows
/// the file and dataset, and checks all results. Any thread.
class Access {
 public:
  virtual ~Access() = default;

  /// Returns the descriptor of the open file, for reading; the access owns it.
  virtual int descriptor() const noexcept = 0;
  /// Lists all datasets, in the order of their paths' bytes, then links to other files and broken links.
  virtual std::vector<ListedDataset> list() = 0;
  /// @throws Error(not_found) if it does not exist.
  virtual DatasetFacts dataset(const std::string& path) = 0;
  /// Returns facts about a dataset's elements. For a compound type, `member` names the column (parts joined by '.').
  /// @throws Error(not_found) if the column does not exist, Error(unsupported) for a type without a field.
  virtual ElementFacts element(std::size_t dataset, const std::string& member) = 0;
  /// Returns the chunk whose first element is `first`; none if it was never written. Reads the library's index and no
  /// data.
  virtual std::optional<StoredChunk> find_chunk(std::size_t dataset, std::span<const std::uint64_t> first) = 0;
  /// Reads elements as they are stored, into all of `out`.
  virtual void read(const Slab& slab, std::span<std::byte> out) = 0;
  /// Reads one column of elements, as it is stored.
  virtual void read_column(const Slab& slab, std::size_t element, std::span<std::byte> out) = 0;
  /// Reads a value of no fixed size, of one element: calls `memory_for` with its length in elements, and fills the
  /// result.
  virtual void read_variable(const Slab& slab, std::size_t element,
                             const std::function<std::span<std::byte>(std::uint64_t length)>& memory_for) = 0;
  /// Reads strings of any length, of rows with one string each. @throws Error(limit_exceeded) if they have more than
  /// `max_bytes` bytes together.
  virtual Texts read_texts(const Slab& slab, std::size_t element, std::uint64_t max_bytes) = 0;
  /// Converts stored values, one right after the other, to the element's form.
  virtual void convert(std::size_t element, std::uint64_t count, std::span<const std::byte> stored,
                       std::span<std::byte> out) = 0;

  virtual std::vector<std::string> attributes(const std::string& object) = 0;
  virtual std::optional<Hdf5Attribute> attribute(const std::string& object, const std::string& name) = 0;
};

}  // namespace penstock::hdf5
