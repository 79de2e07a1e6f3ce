// SPDX-License-Identifier: Apache-2.0
// Chunks of filters that HDF5 itself lacks, as their plugins store them: made here by the libraries that those use, and
// written as they are.
#include <blosc.h>
#include <liblzf/lzf.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/hdf5.hpp>

#include "sources/hdf5/files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

using Bytes = std::vector<std::byte>;

void put_number(Bytes& out, std::uint64_t n, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<std::byte>(n >> 8 * i));
}
void put_all(Bytes& out, std::span<const std::byte> more) { out.insert(out.end(), more.begin(), more.end()); }

Bytes as_lz4_block(std::span<const std::byte> in) {
  Bytes out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(in.size()))));
  out.resize(static_cast<std::size_t>(LZ4_compress_default(reinterpret_cast<const char*>(in.data()),
                                                           reinterpret_cast<char*>(out.data()),
                                                           static_cast<int>(in.size()), static_cast<int>(out.size()))));
  return out;
}

Bytes as_zstd(std::span<const std::byte> in) {
  Bytes out(ZSTD_compressBound(in.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), in.data(), in.size(), 3));
  return out;
}

Bytes as_lzf(std::span<const std::byte> in) {
  Bytes out(2 * in.size() + 64);
  out.resize(lzf_compress(in.data(), static_cast<unsigned>(in.size()), out.data(), static_cast<unsigned>(out.size())));
  return out;
}

Bytes as_lz4(std::span<const std::byte> in, std::size_t block) {
  Bytes out;
  put_number(out, in.size(), 8), put_number(out, block, 4);
  for (std::size_t at = 0; at < in.size(); at += block) {
    const auto some = in.subspan(at, std::min(block, in.size() - at));
    Bytes packed = as_lz4_block(some);
    if (packed.size() >= some.size()) packed.assign(some.begin(), some.end());
    put_number(out, packed.size(), 4), put_all(out, packed);
  }
  return out;
}

Bytes as_blosc(std::span<const std::byte> in, int shuffle, const char* compressor, std::size_t element) {
  Bytes out(in.size() + BLOSC_MAX_OVERHEAD);
  const int bytes =
      blosc_compress_ctx(5, shuffle, element, in.size(), in.data(), out.data(), out.size(), compressor, 0, 1);
  if (bytes <= 0) throw std::runtime_error("blosc");
  out.resize(static_cast<std::size_t>(bytes));
  return out;
}

// Bit by bit.
Bytes bits_apart(std::span<const std::byte> in, std::size_t element) {
  const std::size_t count = in.size() / element, bits = 8 * element;
  Bytes out(in.size());
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < bits; ++b) {
      if ((std::to_integer<unsigned>(in[i * element + b / 8]) >> b % 8 & 1) == 0) continue;
      const std::size_t to = b * count + i;
      out[to / 8] |= static_cast<std::byte>(1u << to % 8);
    }
  return out;
}

// `packing`: 0, 2 for LZ4, 3 for Zstandard. `block`: elements.
Bytes as_bitshuffle(std::span<const std::byte> in, std::size_t element, std::size_t block, int packing) {
  Bytes out;
  if (packing != 0) put_number(out, in.size(), 8), put_number(out, block * element, 4);
  while (in.size() >= 8 * element) {
    const std::size_t count = std::min(block, in.size() / element / 8 * 8);
    Bytes apart = bits_apart(in.first(count * element), element);
    in = in.subspan(apart.size());
    if (packing == 2) apart = as_lz4_block(apart);
    if (packing == 3) apart = as_zstd(apart);
    if (packing != 0) put_number(out, apart.size(), 4);
    put_all(out, apart);
  }
  put_all(out, in);
  return out;
}

struct Packing {
  std::string name;
  H5Z_filter_t id;
  std::vector<unsigned> values;
  std::function<Bytes(std::span<const std::byte>)> pack;
};

std::vector<Packing> packings(std::size_t element) {
  const auto e = static_cast<unsigned>(element);
  std::vector<Packing> all;
  all.push_back({"lzf", 32000, {4, 0x105, 0}, as_lzf});
  for (const std::size_t block : {std::size_t{64}, std::size_t{1} << 30})
    all.push_back({"lz4", 32004, {static_cast<unsigned>(block)}, [=](auto in) { return as_lz4(in, block); }});
  all.push_back({"zstd", 32015, {3}, as_zstd});
  for (const char* compressor : {"blosclz", "lz4", "zlib", "zstd"})
    for (const int shuffle : {0, 1, 2})
      all.push_back({"blosc", 32001, {2, 2, e, 0, 5, static_cast<unsigned>(shuffle)}, [=](auto in) {
                       return as_blosc(in, shuffle, compressor, element);
                     }});
  for (const int packing : {0, 2, 3})
    for (const unsigned block : {8u, 40u, 0u}) {
      const std::size_t usual = std::max<std::size_t>(8192 / element / 8 * 8, 128);
      all.push_back({"bitshuffle", 32008, {0, 3, e, block, static_cast<unsigned>(packing)}, [=](auto in) {
                       return as_bitshuffle(in, element, block != 0 ? block : usual, packing);
                     }});
    }
  return all;
}

constexpr hsize_t rows = 23, columns = 13, chunk_rows = 5, chunk_columns = 13;

// [rows, columns] of elements of `element` bytes, like numbers that grow.
Bytes values_of(std::size_t element) {
  Bytes all(rows * columns * element);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::byte>(i % element == 0 ? i / element * 7 : i / element / (40 * (i % element)));
  return all;
}

H5Id element_type(std::size_t element) {
  if (element == 1) return H5Id(H5Tcopy(H5T_STD_U8LE));
  if (element == 2) return H5Id(H5Tcopy(H5T_STD_U16LE));
  if (element == 4) return H5Id(H5Tcopy(H5T_STD_U32LE));
  if (element == 8) return H5Id(H5Tcopy(H5T_STD_U64LE));
  return H5Id(H5Tcreate(H5T_OPAQUE, element));
}

// A dataset whose chunks went through `packing`; `change` is done to each as it is stored.
void write_packed(const H5Id& file, const std::string& name, std::size_t element, const Packing& packing,
                  const std::function<void(Bytes&)>& change = {}) {
  const H5Id type = element_type(element), creation(H5Pcreate(H5P_DATASET_CREATE));
  const hsize_t dims[] = {rows, columns}, chunk[] = {chunk_rows, chunk_columns};
  h5_must(H5Pset_chunk(creation, 2, chunk));
  h5_must(H5Pset_filter(creation, packing.id, H5Z_FLAG_OPTIONAL, packing.values.size(), packing.values.data()));
  const H5Id space(H5Screate_simple(2, dims, nullptr));
  const H5Id dataset(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  const Bytes all = values_of(element);
  const std::size_t row = columns * element;
  for (hsize_t first = 0; first < rows; first += chunk_rows) {
    Bytes values(chunk_rows * row);
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first * row),
                std::min<std::size_t>(chunk_rows, rows - first) * row, values.begin());
    Bytes stored = packing.pack(values);
    if (change) change(stored);
    const hsize_t at[] = {first, 0};
    h5_must(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, at, stored.size(), stored.data()));
  }
}

// Without plugins: they would change the parameters that a dataset is made with, and could read what we can't.
H5Id new_file(const std::string& path) {
  h5_must(H5PLset_loading_state(0));

  return H5Id(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
}

// All rows of a field, or the first error.
Bytes read_all(const Hdf5Source& source, const std::string& field) {
  Bytes all;
  const Pipeline pipeline = from(source);
  for (std::uint64_t i = 0; i < rows; ++i) {
    const OwnedSample sample = pipeline.at(i);
    const TensorView value = sample[field];
    all.insert(all.end(), value.data, value.data + value.bytes());
  }
  return all;
}

}  // namespace

TEST_CASE("chunks of every filter are decoded here, whatever plugins there are") {
  for (const std::size_t element : {1u, 2u, 4u, 8u, 12u, 3u}) {
    const TempFolder folder;
    const std::vector<Packing> all = packings(element);
    {
      const H5Id file = new_file(folder / "packed.h5");
      for (std::size_t p = 0; p < all.size(); ++p) write_packed(file, "x" + std::to_string(p), element, all[p]);
    }
    const Bytes expected = values_of(element);
    for (const bool isolate : {false, true})
      for (const std::size_t keep_bytes : {std::size_t{0}, Hdf5{}.max_kept_bytes}) {
        if (isolate && element != 4) continue;
        const Hdf5Source source({.path = folder / "packed.h5", .max_kept_bytes = keep_bytes, .isolate = isolate});
        REQUIRE(source.fields().size() == all.size());
        for (std::size_t p = 0; p < all.size(); ++p) {
          const Hdf5FieldInfo* info = nullptr;
          for (const Hdf5FieldInfo& field : source.fields())
            if (field.name == "x" + std::to_string(p)) info = &field;
          REQUIRE(info != nullptr);
          INFO(info->storage << ", element " << element << ", packing " << p << ", isolate " << isolate);
          CHECK(info->way == (keep_bytes == 0 ? Hdf5Way::chunks : Hdf5Way::kept));
          CHECK(info->storage.find(all[p].name) != std::string::npos);
          CHECK(read_all(source, info->name) == expected);
        }
      }
  }
}

TEST_CASE("a damaged chunk of any filter is an error or its bytes, and no more") {
  const TempFolder folder;
  int errors = 0, reads = 0;
  for (const std::size_t element : {2u, 8u}) {
    const std::vector<Packing> all = packings(element);
    for (std::size_t p = 0; p < all.size(); ++p)
      for (std::uint32_t seed = 0; seed < 12; ++seed) {
        std::uint32_t state = seed * 7919 + static_cast<std::uint32_t>(p);
        const auto random = [&](std::size_t below) {
          state = state * 1664525 + 1013904223;
          return static_cast<std::size_t>(state >> 8) % below;
        };
        {
          const H5Id file = new_file(folder / "damaged.h5");
          write_packed(file, "x", element, all[p], [&](Bytes& stored) {
            if (seed % 3 == 0) stored.resize(random(stored.size()) + 1);
            if (seed % 3 == 1)
              stored[random(std::min<std::size_t>(stored.size(), 16))] = static_cast<std::byte>(random(256));
            if (seed % 3 == 2)
              for (int n = 0; n < 3; ++n) stored[random(stored.size())] = static_cast<std::byte>(random(256));
          });
        }
        INFO(all[p].name << " " << p << ", element " << element << ", seed " << seed);
        const Hdf5Source source(
            {.path = folder / "damaged.h5", .max_kept_bytes = seed % 2 == 0 ? 0 : Hdf5{}.max_kept_bytes});
        try {
          const Bytes all_rows = read_all(source, "x");
          CHECK(all_rows.size() == values_of(element).size());
          ++reads;
        } catch (const Error& error) {
          REQUIRE(error.code() == Errc::corrupt);
          REQUIRE(std::string(error.what()).find("'x'") != std::string::npos);
          ++errors;
        }
      }
  }
  CHECK(errors > 200);
  CHECK(reads > 10);
}

TEST_CASE("what a filter's data says of its size is not believed") {
  const TempFolder folder;
  const std::vector<Packing> all = packings(4);
  for (const Packing& packing : all) {
    if (packing.name != "lz4" && (packing.name != "bitshuffle" || packing.values[4] == 0)) continue;
    for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 40})
      for (const int number : {0, 1}) {
        {
          const H5Id file = new_file(folder / "lies.h5");
          write_packed(file, "x", 4, packing, [&](Bytes& stored) {
            Bytes said;
            put_number(said, size, number == 0 ? 8 : 4);
            std::copy(said.begin(), said.end(), stored.begin() + (number == 0 ? 0 : 8));
          });
        }
        const Hdf5Source source({.path = folder / "lies.h5", .max_kept_bytes = 0});
        INFO(packing.name << ", " << size << " in place of number " << number);
        if (packing.name == "lz4" && number == 1 && size == ~std::uint64_t{0}) continue;  // one block, however large
        CHECK(code_of([&] { read_all(source, "x"); }) == Errc::corrupt);
      }
  }
  // Parameters in the file's own header.
  for (const std::vector<unsigned>& values :
       {std::vector<unsigned>{0, 3, 0, 0, 2}, {0, 3, 4, 7, 2}, {0, 3, 4, 0, 9}, {0, 3, 1u << 30, 0, 0}, {}}) {
    {
      const H5Id file = new_file(folder / "values.h5");
      write_packed(file, "x", 4, {"bitshuffle", 32008, values, as_zstd});
    }
    try {
      read_all(Hdf5Source({.path = folder / "values.h5"}), "x");
      FAIL("it was read");
    } catch (const Error& error) {
      CHECK((error.code() == Errc::unsupported || error.code() == Errc::corrupt));
    }
  }
}
