// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "sources/hdf5/files.hpp"

namespace penstock_test {

namespace {

using Kind = H5Type::Kind;

H5Id integer_type(std::size_t bytes, bool is_signed, bool big, unsigned precision) {
  H5Id type(H5Tcopy(is_signed ? H5T_STD_I8LE : H5T_STD_U8LE));
  h5_must(H5Tset_size(type, bytes));
  h5_must(H5Tset_precision(type, precision != 0 ? precision : bytes * 8));
  h5_must(H5Tset_order(type, big ? H5T_ORDER_BE : H5T_ORDER_LE));
  return type;
}

H5Id real_type(std::size_t bytes, bool big) {
  H5Id type(H5Tcopy(bytes == 8 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE));
  if (bytes == 2) {
    h5_must(H5Tset_fields(type, 15, 10, 5, 0, 10));
    h5_must(H5Tset_size(type, 2));
    h5_must(H5Tset_ebias(type, 15));
  }
  h5_must(H5Tset_order(type, big ? H5T_ORDER_BE : H5T_ORDER_LE));
  return type;
}

H5Id brain_type(bool big) {
  H5Id type(H5Tcopy(H5T_IEEE_F32LE));
  h5_must(H5Tset_fields(type, 15, 7, 8, 0, 7));
  h5_must(H5Tset_size(type, 2));
  h5_must(H5Tset_order(type, big ? H5T_ORDER_BE : H5T_ORDER_LE));
  return type;
}

H5Id enumeration_type(const H5Type& type, bool big) {
  const H5Id base = integer_type(type.bytes, type.is_signed, big, 0);
  H5Id made(H5Tenum_create(base));
  const auto add = [&](const char* name, int value) {
    std::string bytes(type.bytes, '\0');
    bytes[big ? type.bytes - 1 : 0] = static_cast<char>(value);
    h5_must(H5Tenum_insert(made, name, bytes.data()));
  };
  if (type.kind == Kind::boolean) {
    add("FALSE", 0);
    add("TRUE", 1);
  } else {
    add("A", 0);
    add("B", 3);
    add("C", 100);
  }
  return made;
}

H5Id made_of(const H5Type& type, bool native) {
  const bool big = type.big && !native;
  switch (type.kind) {
    case Kind::integer:
      return integer_type(type.bytes, type.is_signed, big, native ? 0 : type.precision);
    case Kind::real:
      return real_type(type.bytes, big);
    case Kind::brain:
      return native ? real_type(4, false) : brain_type(big);
    case Kind::boolean:
    case Kind::enumeration:
      return enumeration_type(type, big);
    case Kind::bits: {
      H5Id made(H5Tcopy(type.bytes == 1   ? H5T_STD_B8LE
                        : type.bytes == 2 ? H5T_STD_B16LE
                        : type.bytes == 4 ? H5T_STD_B32LE
                                          : H5T_STD_B64LE));
      h5_must(H5Tset_order(made, big ? H5T_ORDER_BE : H5T_ORDER_LE));
      return made;
    }
    case Kind::opaque: {
      H5Id made(H5Tcreate(H5T_OPAQUE, type.bytes));
      h5_must(H5Tset_tag(made, "a tag"));
      return made;
    }
    case Kind::fixed_text: {
      H5Id made(H5Tcopy(H5T_C_S1));
      h5_must(H5Tset_size(made, type.bytes));
      h5_must(H5Tset_strpad(made, type.padding));
      return made;
    }
    case Kind::text: {
      H5Id made(H5Tcopy(H5T_C_S1));
      h5_must(H5Tset_size(made, H5T_VARIABLE));
      h5_must(H5Tset_cset(made, H5T_CSET_UTF8));
      return made;
    }
    case Kind::sequence:
      return H5Id(H5Tvlen_create(made_of(type.members[0].second, native)));
    case Kind::array:
      return H5Id(H5Tarray_create2(made_of(type.members[0].second, native), static_cast<unsigned>(type.dims.size()),
                                   type.dims.data()));
    case Kind::compound: {
      std::vector<H5Id> of;
      std::size_t size = 0;
      for (const auto& member : type.members) size += H5Tget_size(of.emplace_back(made_of(member.second, native)));
      // Stored ones have gaps, as structures of C have.
      const std::size_t gap = native ? 0 : 3;
      H5Id made(H5Tcreate(H5T_COMPOUND, size + gap * of.size()));
      std::size_t at = 0;
      for (std::size_t i = 0; i < of.size(); ++i) {
        h5_must(H5Tinsert(made, type.members[i].first.c_str(), at, of[i]));
        at += H5Tget_size(of[i]) + gap;
      }
      return made;
    }
  }
  throw std::logic_error("no such kind");
}

}  // namespace

bool H5Type::varies() const {
  return kind == Kind::fixed_text || kind == Kind::text || kind == Kind::sequence ||
         std::ranges::any_of(members, [](const auto& member) { return member.second.varies(); });
}

H5Type h5_integer(std::size_t bytes, bool is_signed, bool big) {
  return {.kind = Kind::integer, .bytes = bytes, .is_signed = is_signed, .big = big};
}
H5Type h5_real(std::size_t bytes, bool big) { return {.kind = Kind::real, .bytes = bytes, .big = big}; }
H5Type h5_array(H5Type of, std::vector<hsize_t> dims) {
  return {.kind = Kind::array, .dims = std::move(dims), .members = {{"", std::move(of)}}};
}
H5Type h5_compound(std::vector<std::pair<std::string, H5Type>> members) {
  return {.kind = Kind::compound, .members = std::move(members)};
}

H5Id stored_type(const H5Type& type) { return made_of(type, false); }
H5Id native_type(const H5Type& type) { return made_of(type, true); }

}  // namespace penstock_test
