// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/interop/dlpack.hpp>

namespace penstock::dlpack {

namespace {

template <class Managed>
void end_imported(void* managed) noexcept {
  auto* const tensor = static_cast<Managed*>(managed);
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

void need_tensor(const void* managed) {
  if (managed == nullptr) throw Error(Errc::invalid_argument, "a DLPack tensor that is a null pointer");
}

std::string described(DataType type) {
  const std::string code = [&] {
    switch (type.code) {
      case TypeCode::integer:
        return std::string("i");
      case TypeCode::unsigned_integer:
        return std::string("u");
      case TypeCode::floating:
        return std::string("f");
      case TypeCode::bfloat:
        return std::string("bf");
      case TypeCode::boolean:
        return std::string("bool");
    }
    return "code " + std::to_string(static_cast<unsigned>(type.code)) + " with bits ";
  }();
  return code + std::to_string(type.bits) + " in lanes of " + std::to_string(type.lanes);
}

DType dtype_of_tensor(const RawTensor& tensor) {
  if (const auto dtype = to_dtype(tensor.dtype)) return *dtype;
  throw Error(Errc::unsupported, "a DLPack tensor of " + described(tensor.dtype) +
                                     "; those of one lane of bool, u8 to u64, i8 to i64, f16, bf16, f32 or f64 can be "
                                     "imported: convert it first");
}

Shape shape_of(const RawTensor& tensor) {
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr))
    throw Error(Errc::invalid_argument,
                "a DLPack tensor of " + std::to_string(tensor.ndim) + " dimensions without a shape");
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  if (rank > Shape::max_rank)
    throw Error(Errc::unsupported, "a DLPack tensor of " + std::to_string(rank) + " dimensions; there may be " +
                                       std::to_string(Shape::max_rank) + ": reshape it first");
  const std::span dims(tensor.shape, rank);
  for (const std::int64_t dim : dims)
    if (dim < 0)
      throw Error(Errc::invalid_argument,
                  "a DLPack tensor with a dimension of " + std::to_string(dim) + ", which can't be");
  return Shape(dims);
}

// Returns whether the elements follow each other without gaps, in row-major order. Ignores the stride of a dimension
// whose size is 1.
bool is_compact(const RawTensor& tensor, const Shape& shape) noexcept {
  if (tensor.strides == nullptr) return true;
  std::int64_t stride = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    if (shape[axis] != 1 && tensor.strides[axis] != stride) return false;
    stride *= shape[axis];
  }
  return true;
}

std::byte* data_of(const RawTensor& tensor, std::size_t bytes, std::size_t element) {
  if (tensor.data == nullptr)
    throw Error(Errc::invalid_argument,
                "a DLPack tensor of " + std::to_string(bytes) + " bytes whose data is a null pointer");
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.data);
  const std::uintptr_t room = std::numeric_limits<std::uintptr_t>::max() - begin;
  if (tensor.byte_offset > room || bytes > room - tensor.byte_offset)
    throw Error(Errc::invalid_argument, "a DLPack tensor whose offset of " + std::to_string(tensor.byte_offset) +
                                            " bytes leads past the end of all memory");
  if ((begin + tensor.byte_offset) % element != 0)
    throw Error(Errc::unsupported, "a DLPack tensor whose data is not aligned to its elements of " +
                                       std::to_string(element) + " bytes: copy it first");
  return static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

}  // namespace

// The bodies of these two constructors run after the delegated constructor. So if a body throws, the destructor runs
// and ends the tensor.
Tensor::Tensor(ManagedTensorVersioned* tensor) : Tensor(tensor, &end_imported<ManagedTensorVersioned>) {
  need_tensor(tensor);
  if (tensor->version.major != version.major)
    throw Error(Errc::unsupported, "a tensor of DLPack " + std::to_string(tensor->version.major) + "." +
                                       std::to_string(tensor->version.minor) + "; " + std::to_string(version.major) +
                                       ".x can be imported: ask its producer for that (max_version)");
  read_only_ = (tensor->flags & flag_read_only) != 0;
  look_at(tensor->tensor);
}

Tensor::Tensor(ManagedTensor* tensor) : Tensor(tensor, &end_imported<ManagedTensor>) {
  need_tensor(tensor);
  look_at(tensor->tensor);
}

void Tensor::look_at(const RawTensor& tensor) {
  view_.dtype = dtype_of_tensor(tensor);
  view_.shape = shape_of(tensor);
  device_ = tensor.device;
  const std::size_t bytes = view_.bytes();
  if (bytes == 0) return;
  if (!is_compact(tensor, view_.shape))
    throw Error(Errc::unsupported, "a DLPack tensor " + view_.shape.to_string() +
                                       " whose rows are not one after the other; make it contiguous first "
                                       "(numpy.ascontiguousarray, torch's contiguous())");
  view_.data = data_of(tensor, bytes, size_of(view_.dtype));
}

Tensor::Tensor(Tensor&& other) noexcept { *this = std::move(other); }
Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  release();
  managed_ = std::exchange(other.managed_, nullptr);
  end_ = other.end_;
  view_ = std::exchange(other.view_, {});
  device_ = std::exchange(other.device_, {});
  read_only_ = std::exchange(other.read_only_, false);
  return *this;
}
Tensor::~Tensor() { release(); }

void Tensor::release() noexcept {
  if (void* const managed = std::exchange(managed_, nullptr); managed != nullptr) end_(managed);
  view_ = {};
  read_only_ = false;
}

TensorView Tensor::view() const {
  need_held();
  return view_;
}

DeviceId Tensor::device_id() const {
  need_held();
  return device_;
}

Device Tensor::device() const {
  switch (device_id().type) {
    case DeviceType::cpu:
    case DeviceType::cuda_host:
      return host();
    case DeviceType::cuda:
    case DeviceType::cuda_managed:
      return gpu(device_.index);
    case DeviceType::extension:
      break;
  }
  throw Error(Errc::unsupported, "a DLPack tensor on device " + std::to_string(device_.index) + " of kind " +
                                     std::to_string(static_cast<int>(device_.type)) +
                                     ", which is neither the host nor a GPU with CUDA: copy it to one of these");
}

void Tensor::need_held() const {
  if (empty()) throw Error(Errc::closed, "the DLPack tensor was released, or moved away");
}

}  // namespace penstock::dlpack
