// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <penstock/error.hpp>

#include "library/direct_access.hpp"
#include "library/element.hpp"
#include "library/library.hpp"

namespace penstock::hdf5 {

namespace {

constexpr std::uint64_t max_bytes = 64u << 20;

Handle open_object(hid_t file, const std::string& object) {
  Handle handle(H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose);
  if (!handle) throw Error(Errc::not_found, "there is no object '" + object + "'");
  return handle;
}

std::vector<std::string> fixed_texts(hid_t attribute, hid_t type, std::uint64_t count) {
  const std::size_t bytes = H5Tget_size(type);
  std::vector<char> all(bytes * count);
  if (H5Aread(attribute, type, all.data()) < 0) throw Error(Errc::io, library_says());
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < count; ++i) {
    texts.emplace_back(without_padding({all.data() + i * bytes, bytes}, H5Tget_strpad(type)));
  }
  return texts;
}

std::vector<std::string> variable_texts(hid_t attribute, hid_t type, hid_t space, std::uint64_t count) {
  std::vector<char*> all(count, nullptr);
  if (H5Aread(attribute, type, all.data()) < 0) throw Error(Errc::io, library_says());
  std::vector<std::string> texts;
  texts.reserve(all.size());
  for (const char* text : all) texts.emplace_back(text == nullptr ? "" : text);
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, all.data());
  return texts;
}

template <class T>
std::vector<T> numbers(hid_t attribute, hid_t memory, std::uint64_t count) {
  std::vector<T> values(count);
  if (count != 0 && H5Aread(attribute, memory, values.data()) < 0) throw Error(Errc::io, library_says());
  return values;
}

Hdf5Attribute value_of(hid_t attribute) {
  const Handle type = own_type(H5Aget_type(attribute)), space = own_space(H5Aget_space(attribute));
  if (!type || !space) throw Error(Errc::corrupt, library_says());
  Hdf5Attribute out;
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  if (rank > 0) H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  std::uint64_t count = H5Sget_simple_extent_type(space.get()) == H5S_NULL ? 0 : 1;
  for (int d = 0; d < rank; ++d) {
    const hsize_t n = dims[static_cast<std::size_t>(d)];
    if (n > max_bytes || count * n > max_bytes) throw Error(Errc::limit_exceeded, "it has too many values");
    count *= n;
    out.shape.push_back(static_cast<std::int64_t>(n));
  }
  if (count == 0 && out.shape.empty()) out.shape = {0};
  if (H5Tget_size(type.get()) * count > max_bytes) throw Error(Errc::limit_exceeded, "it is larger than 64 MiB");
  switch (H5Tget_class(type.get())) {
    case H5T_STRING:
      if (count == 0) {  // the library refuses to read 0 values
        out.values = std::vector<std::string>();
        break;
      }
      out.values = H5Tis_variable_str(type.get()) > 0 ? variable_texts(attribute, type.get(), space.get(), count)
                                                      : fixed_texts(attribute, type.get(), count);
      break;
    case H5T_INTEGER:
    case H5T_ENUM:
      out.values = numbers<std::int64_t>(attribute, H5T_NATIVE_INT64, count);
      // The library silently returns 2^63 - 1 for larger values.
      if (H5Tget_class(type.get()) == H5T_INTEGER && H5Tget_sign(type.get()) == H5T_SGN_NONE)
        for (const std::uint64_t value : numbers<std::uint64_t>(attribute, H5T_NATIVE_UINT64, count))
          if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            throw Error(Errc::unsupported, "it has a value above 2^63 - 1");
      break;
    case H5T_FLOAT:
      out.values = numbers<double>(attribute, H5T_NATIVE_DOUBLE, count);
      break;
    default:
      throw Error(Errc::unsupported, "its type is neither a number nor a string");
  }
  return out;
}

}  // namespace

std::vector<std::string> DirectAccess::attributes(const std::string& object) {
  const LibraryLock lock;
  const Handle handle = open_object(file_.get(), object);
  std::vector<std::string> names;
  const auto visit = [](hid_t, const char* name, const H5A_info_t*, void* data) -> herr_t {
    try {
      static_cast<std::vector<std::string>*>(data)->emplace_back(name);
      return 0;
    } catch (...) {
      return -1;  // out of memory
    }
  };
  hsize_t at = 0;
  if (H5Aiterate2(handle.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &at, visit, &names) < 0)
    throw Error(Errc::io, "the attributes of '" + object + "' can't be listed: " + library_says());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<Hdf5Attribute> DirectAccess::attribute(const std::string& object, const std::string& name) {
  const LibraryLock lock;
  const Handle handle = open_object(file_.get(), object);
  try {
    const htri_t there = H5Aexists(handle.get(), name.c_str());
    if (there == 0) return std::nullopt;
    if (there < 0) throw Error(Errc::io, library_says());
    const Handle attribute(H5Aopen(handle.get(), name.c_str(), H5P_DEFAULT), H5Aclose);
    if (!attribute) throw Error(Errc::io, library_says());
    return value_of(attribute.get());
  } catch (const Error& error) {
    throw Error(error.code(), "attribute '" + name + "' of '" + object + "': " + error.cause());
  }
}

}  // namespace penstock::hdf5
