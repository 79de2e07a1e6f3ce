// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/interop/dlpack.hpp>

namespace penstock::dlpack {

struct Exporter::Shared {
  explicit Shared(Batch b) noexcept : batch(std::move(b)) {}
  Batch batch;
  std::mutex streams;  // guards the batch's streams; nothing else in the batch changes
  pid_t pid = ::getpid();
};

namespace {

// Everything that an exported tensor points to. The tensor's deleter destroys this object, and with it the tensor's
// share of the lease.
template <class Managed>
struct Exported {
  std::shared_ptr<const void> lease;
  std::array<std::int64_t, Shape::max_rank> shape{}, strides{};
  Managed managed{};

  static void end(Managed* self) noexcept { delete static_cast<Exported*>(self->manager_ctx); }
};

DeviceId device_id_of(const Device& device) noexcept {
  switch (device.kind) {
    case Device::Kind::gpu:
      return {DeviceType::cuda, device.index};
    case Device::Kind::emulated:
      // The memory is not exported as host memory, although the host could read it. A library that reads host memory
      // does not wait for the device's streams.
      return {DeviceType::extension, device.index};
    case Device::Kind::host:
      break;
  }
  return {};
}

TensorView field_of(const Batch& batch, std::string_view field) {
  try {
    return batch[field];
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw;
    throw Error(Errc::unsupported,
                "the rows of field \"" + std::string(field) +
                    "\" are of differing sizes, which DLPack has no tensor for; let the pipeline "
                    "`pad` them instead of `ragged`, or copy them with batch.ragged(field).packed()");
  }
}

// Callers call `also_used_on` after this function. So if this function throws, the lease does not wait for the stream.
template <class Managed>
std::unique_ptr<Exported<Managed>> exported(const std::shared_ptr<const void>& lease, const Batch& batch,
                                            std::string_view field) {
  const TensorView view = field_of(batch, field);
  auto out = std::make_unique<Exported<Managed>>();
  out->lease = lease;
  std::int64_t stride = 1;
  for (std::size_t axis = view.shape.rank(); axis-- > 0;) {
    out->shape[axis] = view.shape[axis];
    out->strides[axis] = stride;
    stride *= std::max<std::int64_t>(view.shape[axis], 1);
  }
  out->managed.manager_ctx = out.get();
  out->managed.deleter = &Exported<Managed>::end;
  RawTensor& tensor = out->managed.tensor;
  tensor.data = view.bytes() == 0 ? nullptr : view.data;
  tensor.device = device_id_of(batch.device());
  tensor.ndim = static_cast<std::int32_t>(view.shape.rank());
  tensor.dtype = to_data_type(view.dtype);
  tensor.shape = tensor.ndim == 0 ? nullptr : out->shape.data();
  tensor.strides = tensor.ndim == 0 ? nullptr : out->strides.data();
  return out;
}

}  // namespace

Exporter::Exporter(Batch batch) {
  if (batch.empty()) throw Error(Errc::closed, "the batch was released, or moved away");
  shared_ = std::make_shared<Shared>(std::move(batch));
}

Exporter::Shared& Exporter::need() const {
  if (shared_ == nullptr) throw Error(Errc::closed, "the batch was released, or moved away");
  return *shared_;
}

const Batch& Exporter::batch() const { return need().batch; }

void Exporter::also_used_on(StreamRef stream) const {
  Shared& shared = need();
  // This check comes before locking the mutex, which another thread may have held when this process was forked.
  if (shared.pid != ::getpid()) throw Error(Errc::forked, "the batch is the parent process's; export it there");
  const std::lock_guard lock(shared.streams);
  shared.batch.also_used_on(stream);
}

ManagedTensorVersioned* Exporter::to_versioned(std::string_view field, StreamRef stream, Access access) const {
  auto out = exported<ManagedTensorVersioned>(shared_, need().batch, field);
  out->managed.version = version;
  out->managed.flags = access == Access::read_only ? flag_read_only : 0;
  also_used_on(stream);
  return &out.release()->managed;
}

ManagedTensor* Exporter::to_unversioned(std::string_view field, StreamRef stream) const {
  auto out = exported<ManagedTensor>(shared_, need().batch, field);
  also_used_on(stream);
  return &out.release()->managed;
}

}  // namespace penstock::dlpack
