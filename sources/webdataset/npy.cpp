// SPDX-License-Identifier: Apache-2.0
#include "npy.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::webdataset {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr std::size_t data_alignment = 64;  // the same as NumPy's

// The types' names in a .npy header, without the byte order.
constexpr std::array<std::pair<std::string_view, DType>, 12> type_names{{{"u1", DType::u8},
                                                                         {"i1", DType::i8},
                                                                         {"u2", DType::u16},
                                                                         {"i2", DType::i16},
                                                                         {"u4", DType::u32},
                                                                         {"i4", DType::i32},
                                                                         {"u8", DType::u64},
                                                                         {"i8", DType::i64},
                                                                         {"f2", DType::f16},
                                                                         {"f4", DType::f32},
                                                                         {"f8", DType::f64},
                                                                         {"b1", DType::boolean}}};

[[noreturn]] void damaged(std::string what) { throw NpyFault{Errc::corrupt, std::move(what)}; }

// Parses the header. It is a Python literal: a dictionary with a string, a truth value and a tuple of whole numbers.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}

  bool accept(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) damaged("the array's header is damaged: no '" + std::string(token) + "' where it should be");
  }
  std::string_view text() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) damaged("the array's header is damaged: no text where it should be");
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return inside;
  }
  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (failed != std::errc() || value < 0) damaged("the array's header is damaged: a dimension is no number");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  bool at_end() {
    skip_space();
    return rest_.empty();
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

DType dtype_of_text(std::string_view text) {
  const char order = text.empty() ? '\0' : text.front();
  const bool swapped = order == '>';
  if (order == '<' || order == '>' || order == '|' || order == '=') {
    for (const auto& [name, dtype] : type_names) {
      if (text.substr(1) != name) continue;
      if (swapped && size_of(dtype) > 1) break;
      return dtype;
    }
  }
  throw NpyFault{Errc::unsupported, "the array's elements are \"" + std::string(text.substr(0, 40)) +
                                        "\"; numbers of 1 to 8 bytes, little-endian, can be read"};
}

Shape read_shape(Literal& literal) {
  std::vector<std::int64_t> dims;
  literal.expect("(");
  while (!literal.accept(")")) {
    if (dims.size() == Shape::max_rank) throw NpyFault{Errc::unsupported, "the array has more than 8 dimensions"};
    dims.push_back(literal.number());
    if (!literal.accept(",")) {
      literal.expect(")");
      break;
    }
  }
  return Shape(std::span<const std::int64_t>(dims));
}

std::size_t byte_at(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<std::size_t>(bytes[at]);
}

}  // namespace

std::size_t npy_header_bytes(std::span<const std::byte> beginning) {
  const std::string_view text(reinterpret_cast<const char*>(beginning.data()), beginning.size());
  if (!text.starts_with(magic) || text.size() < npy_preamble_bytes) damaged("the bytes are no .npy file");
  const std::size_t version = byte_at(beginning, 6);
  std::size_t bytes = 0;
  if (version == 1) {
    bytes = 10 + (byte_at(beginning, 8) | byte_at(beginning, 9) << 8);
  } else if (version == 2 || version == 3) {
    bytes = 12;
    for (std::size_t i = 0; i < 4; ++i) bytes += byte_at(beginning, 8 + i) << (8 * i);
  } else {
    throw NpyFault{Errc::unsupported, "the .npy file is of version " + std::to_string(version) + "; 1 to 3 are known"};
  }
  if (bytes > max_npy_header_bytes) damaged("the array's header has " + std::to_string(bytes) + " bytes");
  return bytes;
}

Npy parse_npy(std::span<const std::byte> beginning, std::size_t file_bytes) {
  Npy made;
  made.data = npy_header_bytes(beginning);
  if (made.data > file_bytes || made.data > beginning.size()) damaged("the array ends within its header");
  const std::size_t at = byte_at(beginning, 6) == 1 ? 10 : 12;
  Literal literal({reinterpret_cast<const char*>(beginning.data()) + at, made.data - at});
  bool has_dtype = false, has_order = false, has_shape = false;
  literal.expect("{");
  while (!literal.accept("}")) {
    const std::string_view key = literal.text();
    literal.expect(":");
    if (key == "descr" && !has_dtype) {
      if (literal.accept("[")) throw NpyFault{Errc::unsupported, "the array's elements are records"};
      made.dtype = dtype_of_text(literal.text());
      has_dtype = true;
    } else if (key == "fortran_order" && !has_order) {
      if (literal.accept("True"))
        throw NpyFault{Errc::unsupported, "the array is in Fortran order; save it with numpy.ascontiguousarray"};
      literal.expect("False");
      has_order = true;
    } else if (key == "shape" && !has_shape) {
      made.shape = read_shape(literal);
      has_shape = true;
    } else {
      damaged("the array's header is damaged: an unknown entry, or one twice");
    }
    if (!literal.accept(",")) {
      literal.expect("}");
      break;
    }
  }
  if (!literal.at_end() || !has_dtype || !has_order || !has_shape)
    damaged("the array's header is damaged: dtype, order or shape is missing");
  std::uint64_t wanted = 0;
  try {
    wanted = made.shape.elements() * size_of(made.dtype);
  } catch (const Error&) {
    damaged("the array's shape, " + made.shape.to_string() + ", is too large");
  }
  if (wanted != file_bytes - made.data)
    damaged("the array should have " + std::to_string(wanted) + " bytes of elements, but has " +
            std::to_string(file_bytes - made.data));
  return made;
}

std::string make_npy_header(DType dtype, const Shape& shape) {
  std::string_view name;
  for (const auto& [text, of] : type_names)
    if (of == dtype) name = text;
  std::string literal = "{'descr': '";
  literal += size_of(dtype) == 1 ? '|' : '<';
  literal += name;
  literal += "', 'fortran_order': False, 'shape': (";
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    literal += (axis == 0 ? "" : " ") + std::to_string(shape[axis]) + (axis + 1 < shape.rank() || axis == 0 ? "," : "");
  literal += "), }";
  std::size_t bytes = 10 + literal.size() + 1;
  const std::size_t padding = (data_alignment - bytes % data_alignment) % data_alignment;
  literal.append(padding, ' ');
  literal += '\n';
  std::string header(magic);
  header += std::string_view("\x01\x00", 2);
  header += static_cast<char>(literal.size() & 0xff);
  header += static_cast<char>(literal.size() >> 8);
  return header + literal;
}

}  // namespace penstock::webdataset
