// SPDX-License-Identifier: Apache-2.0
#include <penstock/extend/sample.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include <penstock/error.hpp>

#include "data/decode_whole.hpp"
#include "data/scratch.hpp"

namespace penstock {

namespace detail {

std::byte* Cells::make(std::size_t slot, const Shape& shape) {
  const Field& field = (*schema)[slot];
  if (!field.shape.admits(shape)) refuse(slot, "value of shape " + shape.to_string(), field.dtype, shape.rank());
  Cell& cell = cells[slot];
  std::byte* memory = std::exchange(cell.destination, nullptr);
  if (memory == nullptr) {
    const std::uint64_t bytes = shape.elements() * size_of(field.dtype);
    require_size(slot, bytes);
    const std::uint32_t row = std::exchange(cell.row, 0);
    memory = row == 0 ? scratch(static_cast<std::size_t>(bytes)) : destination(row - 1, shape);
  }
  cell.data = memory;
  cell.promise = nullptr;
  cell.shape = shape;
  cell.writable = true;
  return memory;
}

void Cells::give_promise(std::size_t slot, PromisedImage& image) {
  const Field& field = (*schema)[slot];
  const ImageShape is = image.shape();
  const Shape shape{is.height, is.width, is.channels};
  if (is.element != field.dtype || !field.shape.admits(shape))
    refuse(slot, "promised image of shape " + shape.to_string(), is.element, shape.rank());
  Cell& cell = cells[slot];
  // The promise takes over the cell's destination, because the cell may get another value's destination before the
  // image is decoded.
  cell.promise = ::new (promise_memory(sizeof(Promise)))
      Promise{&image, is, std::exchange(cell.destination, nullptr), std::exchange(cell.row, 0), slot};
  cell.data = nullptr;
  cell.shape = shape;
}

void Cells::keep_promise(std::size_t slot) {
  if (cells[slot].promise == nullptr) missing(slot);
  const Promise promise = *cells[slot].promise;
  const Shape shape = cells[slot].shape;
  std::byte* memory = promise.destination;
  if (memory == nullptr) {
    // `schema` may be the schema of a later stage, in which the field has another dtype.
    const std::uint64_t bytes = shape.elements() * size_of(promise.shape.element);
    require_size(slot, bytes);
    memory = promise.row == 0 ? scratch(static_cast<std::size_t>(bytes)) : destination(promise.row - 1, shape);
  }
  decode(promise, memory);
  Cell& cell = cells[slot];
  cell.data = memory;
  cell.writable = true;
}

void Cells::decode(const Promise& promise, std::byte* out) {
  ScratchArena scratch;
  decode_whole(*promise.image, promise.shape, true, out, scratch);
}

// A derived class that sets `Cell::row` overrides this function. Otherwise it is never called.
std::byte* Cells::destination(std::size_t, const Shape&) { std::terminate(); }

void Cells::require_size(std::size_t slot, std::uint64_t bytes) const {
  if (bytes > max_bytes) [[unlikely]]
    throw Error(Errc::limit_exceeded, "field \"" + (*schema)[slot].name + "\" has " + std::to_string(bytes) +
                                          " bytes, more than `max_sample_bytes` = " + std::to_string(max_bytes));
}

std::byte* Cells::own(std::size_t slot) {
  value(slot);
  Cell& cell = cells[slot];
  if (!cell.writable) {
    const std::byte* from = cell.data;
    const std::size_t bytes = static_cast<std::size_t>(cell.shape.elements()) * size_of((*schema)[slot].dtype);
    const Shape shape = cell.shape;
    std::memcpy(make(slot, shape), from, bytes);
    copied_bytes += bytes;
  }
  cell.promise = nullptr;
  return const_cast<std::byte*>(cell.data);
}

void Cells::refuse(std::size_t slot, std::string_view what, DType asked, std::size_t rank) const {
  const Field& field = (*schema)[slot];
  throw Error(Errc::schema_mismatch, "field \"" + field.name + "\" is " + std::string(to_string(field.dtype)) +
                                         field.shape.to_string() + " in the schema, which doesn't allow " +
                                         std::string(what.starts_with('i') ? "an " : "a ") + std::string(what) +
                                         " as " + std::string(to_string(asked)) + " of rank " + std::to_string(rank));
}

void Cells::missing(std::size_t slot) const {
  throw Error(Errc::schema_mismatch, "field \"" + (*schema)[slot].name + "\" was not given a value");
}

}  // namespace detail

class OwnedSample::Store final : public detail::Cells {
 public:
  explicit Store(Schema s) : owned_schema(std::move(s)) {
    schema = &owned_schema;
    cells.resize(owned_schema.size());
  }
  Schema owned_schema;
  std::vector<std::unique_ptr<std::byte[]>> blocks;

 protected:
  std::byte* scratch(std::size_t bytes) override {
    blocks.push_back(std::make_unique<std::byte[]>(std::max<std::size_t>(bytes, 1)));
    return blocks.back().get();
  }
};

OwnedSample::OwnedSample(Schema schema) : store_(std::make_unique<Store>(std::move(schema))) {}
OwnedSample::OwnedSample(OwnedSample&&) noexcept = default;
OwnedSample& OwnedSample::operator=(OwnedSample&&) noexcept = default;
OwnedSample::~OwnedSample() = default;

const Schema& OwnedSample::schema() const noexcept { return store_->owned_schema; }
SampleBuilder OwnedSample::builder() { return SampleBuilder(*store_); }
Sample OwnedSample::sample() { return Sample(*store_); }
void OwnedSample::keep() {
  for (std::size_t slot = 0; slot < store_->cells.size(); ++slot) store_->own(slot);
}
TensorView OwnedSample::operator[](std::string_view field) const { return Sample(*store_).tensor(field); }

}  // namespace penstock
