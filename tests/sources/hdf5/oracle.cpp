// SPDX-License-Identifier: Apache-2.0
#include "sources/hdf5/oracle.hpp"

#include <cctype>
#include <cstdio>
#include <functional>
#include <stdexcept>

namespace penstock_test {

namespace {

using Kind = H5Type::Kind;
using penstock::DType;

struct Leaf {
  std::vector<std::string> path;
  const H5Type* type;
};

void leaves_of(const H5Type& type, const std::vector<std::string>& path, std::vector<Leaf>& out) {
  if (type.kind != Kind::compound) return out.push_back({path, &type});
  for (const auto& [name, member] : type.members) {
    std::vector<std::string> inner = path;
    inner.push_back(name);
    leaves_of(member, inner, out);
  }
}

DType integer_dtype(std::size_t bytes, bool is_signed) {
  switch (bytes) {
    case 1:
      return is_signed ? DType::i8 : DType::u8;
    case 2:
      return is_signed ? DType::i16 : DType::u16;
    case 4:
      return is_signed ? DType::i32 : DType::u32;
    case 8:
      return is_signed ? DType::i64 : DType::u64;
    default:
      throw std::logic_error("no dtype of so many bytes");
  }
}

// Its dtype; its own dimensions are added to `shape`.
DType field_of(const H5Type& type, std::vector<std::int64_t>& shape) {
  switch (type.kind) {
    case Kind::integer:
    case Kind::enumeration:
      return integer_dtype(type.bytes, type.is_signed);
    case Kind::bits:
      return integer_dtype(type.bytes, false);
    case Kind::real:
      return type.bytes == 2 ? DType::f16 : type.bytes == 4 ? DType::f32 : DType::f64;
    case Kind::brain:
      return DType::f32;
    case Kind::boolean:
      return DType::boolean;
    case Kind::opaque:
      shape.push_back(static_cast<std::int64_t>(type.bytes));
      return DType::u8;
    case Kind::fixed_text:
    case Kind::text:
      shape.push_back(penstock::dynamic);
      return DType::u8;
    case Kind::sequence:
      shape.push_back(penstock::dynamic);
      return field_of(type.members[0].second, shape);
    case Kind::array:
      for (const hsize_t n : type.dims) shape.push_back(static_cast<std::int64_t>(n));
      return field_of(type.members[0].second, shape);
    case Kind::compound:
      break;
  }
  throw std::logic_error("a compound is no field");
}

// The member alone, within compounds as it is stored.
H5Id memory_type(const Leaf& leaf) {
  H5Id type = native_type(*leaf.type);
  for (std::size_t i = leaf.path.size(); i-- > 0;) {
    H5Id around(H5Tcreate(H5T_COMPOUND, H5Tget_size(type)));
    h5_must(H5Tinsert(around, leaf.path[i].c_str(), 0, type));
    type = std::move(around);
  }
  return type;
}

std::string without_padding(std::string text, H5T_str_t padding) {
  if (padding == H5T_STR_NULLTERM) return text.substr(0, text.find('\0'));
  const char pad = padding == H5T_STR_NULLPAD ? '\0' : ' ';
  text.resize(text.find_last_not_of(pad) + 1);
  return text;
}

// A row as the library gave it.
H5Value value_of(const Leaf& leaf, const penstock::Field& field, const std::string& row) {
  const auto dynamic_shape = [](std::size_t n) { return penstock::Shape{static_cast<std::int64_t>(n)}; };
  switch (leaf.type->kind) {
    case Kind::fixed_text: {
      const std::string text = without_padding(row, leaf.type->padding);
      return {dynamic_shape(text.size()), text};
    }
    case Kind::text: {
      const char* at = nullptr;
      std::memcpy(&at, row.data(), sizeof at);
      const std::string text = at == nullptr ? std::string() : std::string(at);
      return {dynamic_shape(text.size()), text};
    }
    case Kind::sequence: {
      hvl_t values{};
      std::memcpy(&values, row.data(), sizeof values);
      const std::size_t each = penstock::size_of(field.dtype);
      return {dynamic_shape(values.len), std::string(static_cast<const char*>(values.p), values.len * each)};
    }
    default:
      break;
  }
  if (field.dtype != DType::boolean) return {field.shape, row};
  // The enumeration's integers, of which a boolean is one byte.
  const std::size_t count = field.shape.elements(), each = count == 0 ? 1 : row.size() / count;
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = row.find_first_not_of('\0', i * each) < (i + 1) * each ? '\1' : '\0';
  return {field.shape, bytes};
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes.substr(0, 40)) {
    char two[4];
    std::snprintf(two, sizeof two, "%02x ", static_cast<unsigned char>(c));
    text += two;
  }
  return std::to_string(bytes.size()) + " bytes " + text;
}

std::string differs(const penstock::TensorView& have, const H5Column& column, std::uint64_t row) {
  const H5Value& want = column.rows.at(row);
  const std::string where = "row " + std::to_string(row) + " of " + column.field.name + ": ";
  if (have.dtype != column.field.dtype) return where + "dtype " + std::string(to_string(have.dtype));
  if (!(have.shape == want.shape)) return where + have.shape.to_string() + ", not " + want.shape.to_string();
  const std::string bytes(reinterpret_cast<const char*>(have.data), have.bytes());
  return bytes == want.bytes ? "" : where + "\n  have " + hex(bytes) + "\n  want " + hex(want.bytes);
}

}  // namespace

std::vector<H5Column> columns_of(const std::string& path, const H5Data& data) {
  const H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "H5Fopen");
  const H5Id dataset(H5Dopen2(file, data.path.c_str(), H5P_DEFAULT), "H5Dopen");
  const H5Id space(H5Dget_space(dataset));
  const auto rank = static_cast<std::size_t>(H5Sget_simple_extent_ndims(space));
  std::vector<hsize_t> shape(rank);
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  std::vector<Leaf> leaves;
  leaves_of(data.type, {}, leaves);
  std::vector<H5Column> columns;
  for (const Leaf& leaf : leaves) {
    H5Column& column = columns.emplace_back();
    column.field.name = data.path.substr(data.path.front() == '/' ? 1 : 0);
    for (std::size_t i = 0; i < leaf.path.size(); ++i) column.field.name += (i == 0 ? "/" : ".") + leaf.path[i];
    std::vector<std::int64_t> dims(shape.begin() + 1, shape.end());
    column.field.dtype = field_of(*leaf.type, dims);
    column.field.shape = penstock::Shape(std::span<const std::int64_t>(dims));

    const H5Id memory = memory_type(leaf);
    std::vector<hsize_t> start(rank, 0), count = shape;
    count[0] = 1;
    std::size_t elements = 1;
    for (const hsize_t n : count) elements *= n;
    const H5Id row_space(H5Screate_simple(static_cast<int>(rank), count.data(), nullptr));
    for (start[0] = 0; start[0] < shape[0]; ++start[0]) {
      std::string row(elements * H5Tget_size(memory), '\0');
      if (elements != 0) {
        h5_must(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr));
        h5_must(H5Dread(dataset, memory, row_space, space, H5P_DEFAULT, row.data()), "H5Dread");
      }
      column.rows.push_back(value_of(leaf, column.field, row));
      if (leaf.type->kind == Kind::text || leaf.type->kind == Kind::sequence)
        h5_must(H5Dvlen_reclaim(memory, row_space, H5P_DEFAULT, row.data()));
    }
  }
  return columns;
}

std::vector<H5Column> columns_of(const std::string& file, const std::vector<H5Data>& data) {
  std::vector<H5Column> columns;
  for (const H5Data& one : data)
    for (H5Column& column : columns_of(file, one)) columns.push_back(std::move(column));
  return columns;
}

void append(std::vector<H5Column>& to, const std::vector<H5Column>& from) {
  if (to.size() != from.size()) throw std::logic_error("other columns");
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i].rows.insert(to[i].rows.end(), from[i].rows.begin(), from[i].rows.end());
}

std::string difference(const penstock::Schema& schema, const std::vector<H5Column>& columns) {
  if (schema.size() != columns.size()) return "the fields are " + schema.to_string();
  for (const H5Column& column : columns) {
    const auto slot = schema.find(column.field.name);
    if (!slot) return "no field " + column.field.name + " in " + schema.to_string();
    if (schema[*slot].dtype != column.field.dtype || !(schema[*slot].shape == column.field.shape))
      return "the field is not " + penstock::Schema{column.field}.to_string() + ": " + schema.to_string();
  }
  return {};
}

std::string difference(const penstock::OwnedSample& sample, const std::vector<H5Column>& columns, std::uint64_t row) {
  for (const H5Column& column : columns)
    if (std::string text = differs(sample[column.field.name], column, row); !text.empty()) return text;
  return {};
}

std::string difference(const penstock::Batch& batch, const std::vector<H5Column>& columns) {
  for (const H5Column& column : columns) {
    const bool ragged = !column.field.shape.fixed();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      penstock::TensorView have;
      if (ragged) {
        have = batch.ragged(column.field.name)[i];
      } else {
        const penstock::TensorView all = batch[column.field.name];
        const std::size_t each = column.field.shape.elements() * penstock::size_of(column.field.dtype);
        have = {all.data + i * each, all.dtype, column.field.shape};
      }
      if (std::string text = differs(have, column, batch.indices()[i]); !text.empty())
        return "in batch " + std::to_string(batch.number()) + ", " + text;
    }
  }
  return {};
}

}  // namespace penstock_test
