// SPDX-License-Identifier: Apache-2.0
#include <penstock/tensor.hpp>

#include <cstring>
#include <string>

#include <penstock/error.hpp>
#include <penstock/extend/batch_view.hpp>

namespace penstock {

std::size_t RaggedRows::bytes() const {
  std::size_t bytes = 0;
  for (std::uint64_t row = 0; row < size(); ++row) bytes += (*this)[row].bytes();
  return bytes;
}

void RaggedRows::pack(std::span<std::byte> out) const {
  if (out.size() != bytes())
    throw Error(Errc::invalid_argument, "the rows have " + std::to_string(bytes()) +
                                            " bytes, and were to be packed into " + std::to_string(out.size()));
  std::byte* to = out.data();
  for (std::uint64_t row = 0; row < size(); ++row) {
    const TensorView tensor = (*this)[row];
    const std::size_t here = tensor.bytes();
    if (here != 0) std::memcpy(to, tensor.data, here);
    to += here;
  }
}

PackedRows RaggedRows::packed() const {
  PackedRows packed;
  packed.dtype = dtype_;
  packed.data.resize(bytes());
  packed.offsets.reserve(size() + 1);
  packed.offsets.push_back(0);
  for (std::uint64_t row = 0; row < size(); ++row)
    packed.offsets.push_back(packed.offsets.back() + static_cast<std::int64_t>((*this)[row].shape.elements()));
  pack(packed.data);
  return packed;
}

PackedTensor BatchView::packed(std::string_view field) const {
  const std::size_t slot = schema->slot(field);
  if (slot >= offsets.size() || offsets[slot].data == nullptr)
    throw Error(Errc::unsupported,
                "field \"" + std::string(field) + "\" is not ragged; view[field] is all of its rows");
  return {fields[slot], offsets[slot]};
}

}  // namespace penstock
