// SPDX-License-Identifier: Apache-2.0
#include "library/element.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

namespace penstock::hdf5 {

namespace {

static_assert(std::endian::native == std::endian::little, "byte orders are compared with a little-endian machine");

NoElement no_field(const std::string& what) { return {what + " can't become a field"}; }

struct Name {
  char* text;
  explicit Name(char* t) : text(t) {}
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;
  ~Name() { H5free_memory(text); }
};

std::string member_name(hid_t type, unsigned index) {
  const Name name(H5Tget_member_name(type, index));
  return name.text == nullptr ? std::string() : std::string(name.text);
}

DType whole_number(std::size_t bytes, bool negative) {
  switch (bytes) {
    case 1:
      return negative ? DType::i8 : DType::u8;
    case 2:
      return negative ? DType::i16 : DType::u16;
    case 4:
      return negative ? DType::i32 : DType::u32;
    case 8:
      return negative ? DType::i64 : DType::u64;
    default:
      throw no_field("a whole number of " + std::to_string(bytes) + " bytes");
  }
}

Handle native_of(DType dtype) {
  switch (dtype) {
    case DType::u8:
    case DType::boolean:
      return own_type(H5Tcopy(H5T_NATIVE_UINT8));
    case DType::i8:
      return own_type(H5Tcopy(H5T_NATIVE_INT8));
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return own_type(H5Tcopy(H5T_NATIVE_UINT16));
    case DType::i16:
      return own_type(H5Tcopy(H5T_NATIVE_INT16));
    case DType::u32:
      return own_type(H5Tcopy(H5T_NATIVE_UINT32));
    case DType::i32:
      return own_type(H5Tcopy(H5T_NATIVE_INT32));
    case DType::u64:
      return own_type(H5Tcopy(H5T_NATIVE_UINT64));
    case DType::i64:
      return own_type(H5Tcopy(H5T_NATIVE_INT64));
    case DType::f32:
      return own_type(H5Tcopy(H5T_NATIVE_FLOAT));
    case DType::f64:
      return own_type(H5Tcopy(H5T_NATIVE_DOUBLE));
  }
  return {};
}

// Sets `form`, and `memory` if the library must convert the values. `plain`: whether the stored values differ from
// `dtype` only in byte order, if at all.
void set_order(Element& element, hid_t type, bool plain) {
  const H5T_order_t order = H5Tget_order(type);
  const bool one_byte = H5Tget_size(type) == 1;
  if (plain && (order == H5T_ORDER_LE || one_byte)) {
    element.form = Element::Form::same;
  } else if (plain && order == H5T_ORDER_BE) {
    element.form = Element::Form::swapped;
  } else {
    element.form = Element::Form::converted;
    element.memory = native_of(element.dtype);
  }
}

Element integer(hid_t type) {
  Element element;
  element.bytes = H5Tget_size(type);
  element.dtype =
      whole_number(std::bit_ceil(element.bytes), H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2);
  const bool plain = std::has_single_bit(element.bytes) && H5Tget_precision(type) == 8 * element.bytes;
  // The library converts bit fields to bit fields only.
  if (!plain && H5Tget_class(type) == H5T_BITFIELD)
    throw no_field("a bit field of " + std::to_string(H5Tget_precision(type)) + " bits");
  set_order(element, type, plain);
  return element;
}

bool is_half(hid_t type) {
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  return H5Tget_size(type) == 2 &&
         H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && sign == 15 &&
         exponent == 10 && exponent_bits == 5 && mantissa == 0 && mantissa_bits == 10 && H5Tget_ebias(type) == 15;
}

Element real(hid_t type) {
  Element element;
  element.bytes = H5Tget_size(type);
  const bool single = H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0;
  const bool twice = H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0;
  const bool half = is_half(type);
  element.dtype = half ? DType::f16 : single || (!twice && element.bytes < 4) ? DType::f32 : DType::f64;
  set_order(element, type, half || single || twice);
  if (half && element.form == Element::Form::converted) throw no_field("a 16-bit float of a mixed byte order");
  return element;
}

bool is_truth(hid_t type, hid_t base) {
  if (H5Tget_class(base) != H5T_INTEGER || H5Tget_size(base) != 1 || H5Tget_nmembers(type) != 2) return false;
  std::array<bool, 2> found{};
  for (const unsigned i : {0u, 1u}) {
    std::int8_t value = -1;
    H5Tget_member_value(type, i, &value);
    if (value == 0 && member_name(type, i) == "FALSE") found[0] = true;
    if (value == 1 && member_name(type, i) == "TRUE") found[1] = true;
  }
  return found[0] && found[1];
}

Element enumeration(hid_t type) {
  const Handle base = own_type(H5Tget_super(type));
  if (!is_truth(type, base.get())) return integer(base.get());
  Element element;
  element.form = Element::Form::truth;
  element.dtype = DType::boolean;
  element.bytes = 1;
  return element;
}

Element array(hid_t type) {
  const Handle base = own_type(H5Tget_super(type));
  Element element = element_of(base.get());
  if (element.form == Element::Form::text || element.form == Element::Form::variable ||
      H5Tget_class(base.get()) == H5T_COMPOUND)
    throw no_field("an array of anything but numbers");
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  const int rank = H5Tget_array_ndims(type);
  if (rank < 1 || H5Tget_array_dims2(type, dims.data()) < 0) throw NoElement{"an array that can't be understood"};
  std::vector<std::int64_t> shape;
  shape.reserve(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) shape.push_back(static_cast<std::int64_t>(dims[static_cast<std::size_t>(i)]));
  shape.insert(shape.end(), element.shape.dims().begin(), element.shape.dims().end());
  if (shape.size() > Shape::max_rank) throw no_field("an array of more than 8 dimensions");
  element.shape = Shape(std::span<const std::int64_t>(shape));
  element.bytes = H5Tget_size(type);
  if (element.form == Element::Form::converted)
    element.memory = own_type(H5Tarray_create2(element.memory.get(), static_cast<unsigned>(rank), dims.data()));
  return element;
}

Element text(hid_t type) {
  Element element;
  element.shape = {dynamic};
  if (H5Tis_variable_str(type) > 0) {
    element.form = Element::Form::variable;
    element.string = true;
    element.bytes = H5Tget_size(type);
    element.memory = own_type(H5Tcopy(type));
    return element;
  }
  element.form = Element::Form::text;
  element.bytes = H5Tget_size(type);
  element.padding = H5Tget_strpad(type);
  return element;
}

Element sequence(hid_t type) {
  const Handle base = own_type(H5Tget_super(type));
  Element element = element_of(base.get());
  if (element.shape.rank() != 0 || element.form == Element::Form::variable)
    throw no_field("sequences of anything but numbers");
  if (element.dtype == DType::f16 && element.form != Element::Form::same)
    throw no_field("sequences of 16-bit floats of the other byte order");
  const Handle native = element.form == Element::Form::same || element.form == Element::Form::truth
                            ? own_type(H5Tcopy(base.get()))
                            : native_of(element.dtype);
  element.memory = own_type(H5Tvlen_create(native.get()));
  element.form = Element::Form::variable;
  element.shape = {dynamic};
  element.bytes = H5Tget_size(type);
  return element;
}

Element column(hid_t type, const std::string& member) {
  const std::size_t dot = member.find('.');
  const int count = H5Tget_nmembers(type);
  // A column's name may have dots itself, so the whole name is tried first.
  for (const std::string_view head : {std::string_view(member), std::string_view(member).substr(0, dot)})
    for (int i = 0; i < count; ++i) {
      const auto index = static_cast<unsigned>(i);
      if (member_name(type, index) != head) continue;
      const Handle inner = own_type(H5Tget_member_type(type, index));
      Element element =
          element_of(inner.get(), head.size() == member.size() ? std::string() : member.substr(head.size() + 1));
      element.offset += H5Tget_member_offset(type, index);
      element.path.emplace(element.path.begin(), head);
      return element;
    }
  std::string known;
  for (const std::string& name : members_of(type)) known += (known.empty() ? "" : ", ") + name;
  throw NoElement{"it has no member '" + member + "'; there are: " + known, true};
}

}  // namespace

namespace {

Element simple(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  switch (kind) {
    case H5T_INTEGER:
    case H5T_BITFIELD:
      return integer(type);
    case H5T_FLOAT:
      return real(type);
    case H5T_ENUM:
      return enumeration(type);
    case H5T_ARRAY:
      return array(type);
    case H5T_STRING:
      return text(type);
    case H5T_VLEN:
      return sequence(type);
    case H5T_OPAQUE: {
      Element element;
      element.bytes = H5Tget_size(type);
      element.shape = {static_cast<std::int64_t>(element.bytes)};
      return element;
    }
    default:
      throw no_field(kind == H5T_REFERENCE ? "references" : "a type that is not known");
  }
}

}  // namespace

Element element_of(hid_t type, const std::string& member) {
  if (H5Tget_class(type) == H5T_COMPOUND) {
    if (member.empty()) throw NoElement{"a compound type can't become a field; name one of its members"};
    return column(type, member);
  }
  if (!member.empty()) throw NoElement{"it has no member '" + member + "', as it is no compound type", true};
  Element element = simple(type);
  element.stored = own_type(H5Tcopy(type));
  return element;
}

std::string_view without_padding(std::string_view text, H5T_str_t padding) noexcept {
  if (padding == H5T_STR_NULLTERM) return text.substr(0, text.find('\0'));
  // With any other padding, h5py returns texts as NumPy strings, which have no NULs at the end. So NULs are removed
  // here too.
  if (padding == H5T_STR_SPACEPAD) text = text.substr(0, text.find_last_not_of(' ') + 1);
  return text.substr(0, text.find_last_not_of('\0') + 1);
}

std::vector<std::string> members_of(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND) return {""};
  std::vector<std::string> names;
  const int count = H5Tget_nmembers(type);
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<unsigned>(i);
    const std::string own = member_name(type, index);
    const Handle inner = own_type(H5Tget_member_type(type, index));
    for (const std::string& nested : members_of(inner.get())) {
      names.push_back(own);
      if (!nested.empty()) names.back().append(".").append(nested);
    }
  }
  return names;
}

bool has_variable_parts(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_VLEN:
    case H5T_REFERENCE:
      return true;
    case H5T_STRING:
      return H5Tis_variable_str(type) > 0;
    case H5T_ARRAY:
      return has_variable_parts(own_type(H5Tget_super(type)).get());
    case H5T_COMPOUND: {
      const int count = H5Tget_nmembers(type);
      for (int i = 0; i < count; ++i)
        if (has_variable_parts(own_type(H5Tget_member_type(type, static_cast<unsigned>(i))).get())) return true;
      return false;
    }
    default:
      return false;
  }
}

Handle nested_in(std::span<const std::string> path, hid_t memory) {
  if (path.empty()) return own_type(H5Tcopy(memory));
  const Handle inner = nested_in(path.subspan(1), memory);
  Handle outer = own_type(H5Tcreate(H5T_COMPOUND, H5Tget_size(inner.get())));
  H5Tinsert(outer.get(), path.front().c_str(), 0, inner.get());
  return outer;
}

}  // namespace penstock::hdf5
