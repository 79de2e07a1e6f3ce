// SPDX-License-Identifier: Apache-2.0
// HDF5 files for tests, made with HDF5's own C API from a description. Nothing of the library under test.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <penstock/dtype.hpp>

namespace penstock_test {

// A handle of the HDF5 library, given back at its end.
class H5Id {
 public:
  H5Id() = default;
  // Throws std::runtime_error for what the library gives where it failed.
  explicit H5Id(hid_t id, const char* what = "an HDF5 call");
  H5Id(H5Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  H5Id& operator=(H5Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~H5Id();
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = -1;
};
// Throws std::runtime_error where `status` says that a call failed.
void h5_must(herr_t status, const char* what = "an HDF5 call");

// What the values of a dataset are.
struct H5Type {
  enum class Kind : std::uint8_t {
    integer,
    real,         // IEEE
    brain,        // bfloat16, which no field has
    boolean,      // an enumeration of FALSE and TRUE
    enumeration,  // of A = 0, B = 3, C = 100
    bits,
    opaque,
    fixed_text,
    text,      // of variable length
    sequence,  // of variable length, of `members[0]`
    array,     // of `members[0]`
    compound,
  };
  Kind kind = Kind::integer;
  std::size_t bytes = 1;  // of the kinds up to fixed_text
  bool is_signed = false;
  bool big = false;        // byte order
  unsigned precision = 0;  // of integers: bits that count; 0: all
  H5T_str_t padding = H5T_STR_NULLTERM;
  std::vector<hsize_t> dims = {};  // of an array
  std::vector<std::pair<std::string, H5Type>> members = {};

  // True where values have no fixed size.
  bool varies() const;
};

H5Type h5_integer(std::size_t bytes, bool is_signed, bool big = false);
H5Type h5_real(std::size_t bytes, bool big = false);
H5Type h5_array(H5Type of, std::vector<hsize_t> dims);
H5Type h5_compound(std::vector<std::pair<std::string, H5Type>> members);
template <class T>
H5Type h5_type() {
  constexpr penstock::DType dtype = penstock::dtype_of<T>;
  if constexpr (dtype == penstock::DType::f16 || dtype == penstock::DType::f32 || dtype == penstock::DType::f64)
    return h5_real(sizeof(T));
  else
    return h5_integer(sizeof(T), static_cast<T>(-1) < T{});
}

// As it is stored; in memory as the library's own variable-length structures.
H5Id stored_type(const H5Type& type);
// What a program on this machine would read it as.
H5Id native_type(const H5Type& type);

enum class H5Filter : std::uint8_t { deflate, shuffle, fletcher32, scaleoffset, nbit, szip };

// One dataset.
struct H5Data {
  std::string path;
  H5Type type = {};
  std::vector<hsize_t> shape = {};
  H5D_layout_t layout = H5D_CONTIGUOUS;
  std::vector<hsize_t> chunk = {};
  std::vector<H5Filter> filters = {};    // in the order in which they are applied when it is written
  unsigned level = 4;                    // of deflate
  bool resizable = false;                // every dimension
  bool early = false;                    // all of its place is taken when it is made
  bool edges_unfiltered = false;         // chunks that reach beyond the shape are stored as they are
  std::optional<std::string> fill = {};  // one value as it is stored
  bool never_written = false;
  std::set<std::uint64_t> left_out = {};             // numbers of chunks, in row-major order
  std::map<std::uint64_t, unsigned> stored_as = {};  // chunks written past the library, with this filter mask
  std::string values = {};                           // all of them; empty: random ones
  std::uint64_t seed = 1;
  bool dense = false;  // random values of all bits, which no filter makes smaller

  std::uint64_t elements() const;
};

struct H5Files {
  std::vector<H5Data> data;
  hsize_t user_block = 0;
  bool latest = false;  // the newest format the library knows, whose chunks have other indexes
  bool narrow = false;  // addresses and sizes of 4 bytes
};

void write_h5(const std::string& path, const H5Files& files);
// A file for further calls; closed at the handle's end.
H5Id create_h5(const std::string& path, const H5Files& files = {});
void write_data(hid_t file, const H5Data& data);

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// A dataset of numbers, one after the other from `first` on.
template <class T>
H5Data counting(std::string path, std::vector<hsize_t> shape, T first = T{}) {
  H5Data data{.path = std::move(path), .type = h5_type<T>(), .shape = std::move(shape)};
  std::vector<T> values(data.elements());
  for (T& value : values) value = std::exchange(first, static_cast<T>(first + 1));
  data.values = bytes_of(values);
  return data;
}
// Values that count up, in chunks.
template <class T>
H5Data counting_chunks(std::string path, std::vector<hsize_t> shape, std::vector<hsize_t> chunk,
                       std::vector<H5Filter> filters = {}) {
  H5Data data = counting<T>(std::move(path), std::move(shape));
  data.layout = H5D_CHUNKED;
  data.chunk = std::move(chunk);
  data.filters = std::move(filters);
  return data;
}

// How many handles the HDF5 library has open, files among them.
std::size_t open_handles();

}  // namespace penstock_test
