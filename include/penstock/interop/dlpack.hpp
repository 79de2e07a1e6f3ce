// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <penstock/batch.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/device.hpp>
#include <penstock/dtype.hpp>
#include <penstock/tensor.hpp>

/// Exports batches as DLPack tensors, and imports DLPack tensors that other libraries made. Memory is shared; nothing
/// is copied. The structs have DLPack's layout, so no header of DLPack is needed here. A caller that has a header of
/// DLPack casts the pointers:
///
///     penstock::dlpack::Exporter fields(std::move(batch));
///     auto* image = reinterpret_cast<DLManagedTensorVersioned*>(fields.to_versioned("image", stream));
namespace penstock::dlpack {

/// Kind of a device's memory (DLDeviceType). Imported tensors may have further values.
enum class DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, extension = 12, cuda_managed = 13 };
/// DLDevice.
struct DeviceId {
  /// Kind of the device's memory.
  DeviceType type = DeviceType::cpu;
  /// Number among the devices of that type, from 0.
  std::int32_t index = 0;
  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

/// DLDataTypeCode. Imported tensors may have further values.
enum class TypeCode : std::uint8_t { integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4, boolean = 6 };
/// DLDataType.
struct DataType {
  /// Kind of number.
  TypeCode code = TypeCode::unsigned_integer;
  /// Bits of one number.
  std::uint8_t bits = 8;
  /// Numbers per element. Always 1 in the type of a dtype.
  std::uint16_t lanes = 1;
  friend bool operator==(const DataType&, const DataType&) = default;
};
/// Returns DLPack's type for a dtype.
PENSTOCK_API DataType to_data_type(DType dtype) noexcept;
/// Returns the dtype for DLPack's type, or nothing if no dtype is the same type.
PENSTOCK_API std::optional<DType> to_dtype(DataType type) noexcept;

/// DLTensor. Strides are in elements.
struct RawTensor {
  /// The tensor's memory, as an address on its device.
  void* data = nullptr;
  /// The device that the memory is on.
  DeviceId device;
  /// Number of dimensions.
  std::int32_t ndim = 0;
  /// Type of the elements.
  DataType dtype;
  /// Sizes of the `ndim` dimensions.
  std::int64_t* shape = nullptr;
  /// Steps of the `ndim` dimensions, in elements. Null means that the tensor is contiguous.
  std::int64_t* strides = nullptr;
  /// Bytes from `data` to the first element.
  std::uint64_t byte_offset = 0;
};

/// DLManagedTensor. If the deleter is not null, the tensor's user calls it once, with a pointer to the ManagedTensor.
struct ManagedTensor {
  /// The tensor.
  RawTensor tensor;
  /// For the owner only.
  void* manager_ctx = nullptr;
  /// Frees the ManagedTensor and all that it points to.
  void (*deleter)(ManagedTensor*) = nullptr;
};

/// DLPackVersion. If the user of a tensor does not know the tensor's major version, it may use only `version`,
/// `manager_ctx` and `deleter`.
struct Version {
  /// The major version of an imported tensor must be the same as `version.major`.
  std::uint32_t major = 0;
  /// The minor version may differ.
  std::uint32_t minor = 0;
};
/// The version of exported tensors. Imported tensors must have its major version.
inline constexpr Version version{1, 0};

inline constexpr std::uint64_t flag_read_only = 1;  ///< the memory must not be written to
inline constexpr std::uint64_t flag_is_copied = 2;  ///< the consumer is the only user of the memory

/// DLManagedTensorVersioned. If the deleter is not null, the tensor's user calls it once, with a pointer to the
/// ManagedTensorVersioned.
struct ManagedTensorVersioned {
  /// Version of the layout.
  Version version;
  /// For the owner only.
  void* manager_ctx = nullptr;
  /// Frees the ManagedTensorVersioned and all that it points to.
  void (*deleter)(ManagedTensorVersioned*) = nullptr;
  /// 0, or a combination of `flag_read_only` and `flag_is_copied`.
  std::uint64_t flags = 0;
  /// The tensor.
  RawTensor tensor;
};

static_assert(sizeof(DeviceId) == 8 && offsetof(DeviceId, index) == 4);
static_assert(sizeof(DataType) == 4 && offsetof(DataType, bits) == 1 && offsetof(DataType, lanes) == 2);
static_assert(sizeof(Version) == 8 && offsetof(Version, minor) == 4);
// Every system with 64-bit pointers has these sizes.
static_assert(sizeof(void*) != 8 || sizeof(RawTensor) == 48);
static_assert(sizeof(void*) != 8 || (offsetof(RawTensor, device) == 8 && offsetof(RawTensor, ndim) == 16 &&
                                     offsetof(RawTensor, dtype) == 20 && offsetof(RawTensor, shape) == 24 &&
                                     offsetof(RawTensor, strides) == 32 && offsetof(RawTensor, byte_offset) == 40));
static_assert(sizeof(void*) != 8 || (sizeof(ManagedTensor) == 64 && offsetof(ManagedTensor, manager_ctx) == 48 &&
                                     offsetof(ManagedTensor, deleter) == 56));
static_assert(sizeof(void*) != 8 ||
              (sizeof(ManagedTensorVersioned) == 80 && offsetof(ManagedTensorVersioned, manager_ctx) == 8 &&
               offsetof(ManagedTensorVersioned, deleter) == 16 && offsetof(ManagedTensorVersioned, flags) == 24 &&
               offsetof(ManagedTensorVersioned, tensor) == 32));

/// What the consumer of an exported tensor may do with it. An unversioned tensor can't be marked as read-only.
enum class Access : std::uint8_t { read_write, read_only };

/// A batch whose fields are exported as DLPack tensors. Copies of the Exporter and exported tensors share the batch.
/// The lease ends when the last copy and the last tensor are gone, in any order, also after the loader's end. The batch
/// buffer counts as held until then, so a caller that keeps many tensors gets Error(leases_exhausted) from `next()`.
/// Any thread.
///
/// A deleter does not know on which stream the consumer used the tensor. So the end of the lease records events on the
/// stream that was passed to `next`, and on all streams that were passed to `to_versioned`, `to_unversioned` and
/// `also_used_on`. These streams must exist until the lease ends. Work that is put on one of these streams after the
/// deleter's call must not use the tensor.
///
/// Deleters may be called on any thread, whatever the current device is. Deleters wait for nothing and throw nothing.
/// The last deleter does what the end of a `Batch` does: a loader that still runs admits its next batch. Admitting a
/// batch may call a custom order. In a child made by fork(), deleters do not touch the parent's batch.
class PENSTOCK_API Exporter {
 public:
  /// Takes the batch over.
  /// @throws Error(closed) if the batch is empty.
  explicit Exporter(Batch batch);

  /// Exports a field, with the same memory and shape as `batch[field]`. The tensor is contiguous, with `strides` set
  /// and `byte_offset` 0. `data` is null if the tensor has no elements. The tensor's device is the CPU, or the CUDA
  /// device with the GPU's number. If the host emulates the batch's device, the tensor's device is an `extension`
  /// device, whose memory no library treats as readable. With `Access::read_write` the consumer may write to the
  /// tensor, as the caller may write to the batch. Tensors of one field share their memory.
  ///
  /// `stream` is the consumer's. Work that is put on `stream` after this call sees the batch. The loader writes to the
  /// batch's memory again only after this work. Without `stream`, this call waits until the batch is on the device. The
  /// consumer's work on the tensor must then be finished when it calls the deleter.
  ///
  /// The caller owns the result. If this function throws, nothing is exported.
  /// @throws Error(schema_mismatch) that lists the batch's fields, if there is no such field;
  /// @throws Error(unsupported) if the field is ragged;
  /// @throws the errors of Batch::also_used_on;
  /// @throws Error(forked) in a child made by fork();
  /// @throws Error(closed) if the object was released or moved from.
  [[nodiscard]] ManagedTensorVersioned* to_versioned(std::string_view field, StreamRef stream = {},
                                                     Access access = Access::read_write) const;
  /// Exports a field like `to_versioned`, for consumers that support only DLPack before 1.0.
  /// @throws the errors of `to_versioned`.
  [[nodiscard]] ManagedTensor* to_unversioned(std::string_view field, StreamRef stream = {}) const;

  /// The batch, for reading. Do not move the batch away. Use the exporter's `also_used_on` for further streams.
  /// @throws Error(closed) if the object was released or moved from.
  const Batch& batch() const;
  /// Adds a stream that uses the batch, like `Batch::also_used_on`.
  /// @throws the errors of `Batch::also_used_on`; Error(forked) in a child made by fork().
  void also_used_on(StreamRef stream) const;
  /// Whether the object was released or moved from.
  bool empty() const noexcept { return shared_ == nullptr; }
  /// Gives up this copy's share of the lease now.
  void release() noexcept { shared_.reset(); }

 private:
  struct Shared;
  Shared& need() const;
  std::shared_ptr<Shared> shared_;
};

/// Owns a DLPack tensor that another library made. The destructor calls the deleter once. Move-only. One thread at a
/// time. The destructor may run on any thread if the deleter allows that.
///
/// REQUIRES, for a tensor on a device: the tensor is read on a stream on which the producer's work on the tensor comes
/// before the reads. The caller asks the producer for this order in the call that makes the tensor (in Python,
/// `__dlpack__(stream=...)`). Nothing in this class waits for a device.
class PENSTOCK_API Tensor {
 public:
  Tensor() noexcept = default;
  /// Takes the tensor over. If the constructor throws, it has called the deleter. (If the tensor comes from a Python
  /// capsule, rename the capsule first.)
  /// @throws Error(unsupported) if
  /// - the tensor's major version is not `version.major`, or no dtype is the same as the tensor's type;
  /// - the tensor has more than one lane or more than 8 dimensions;
  /// - the tensor is not contiguous, or its data are not aligned to the dtype (copy the tensor into a contiguous array
  ///   first).
  /// @throws Error(limit_exceeded) if the tensor has more than 2^60 elements.
  /// @throws Error(invalid_argument) if `tensor` is null, or breaks DLPack's rules, for example with a negative
  /// dimension.
  explicit Tensor(ManagedTensorVersioned* tensor);
  /// Takes over a tensor of DLPack before 1.0. If the constructor throws, it has called the deleter.
  /// `read_only()` is false for such a tensor.
  /// @throws the errors of the constructor for versioned tensors, except the error for the version.
  explicit Tensor(ManagedTensor* tensor);
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(Tensor&&) noexcept;
  ~Tensor();

  /// Returns the tensor, valid as long as this object holds it. Do not write to the tensor if it is `read_only()`. The
  /// host must not access a tensor on a device. `data` is null if the tensor has no elements.
  /// @throws Error(closed) if empty.
  TensorView view() const;
  /// Returns the tensor's device. Pinned memory belongs to the host, managed memory to its GPU.
  /// @throws Error(unsupported) for other kinds of devices, because only the producer knows what `data` means there.
  /// @throws Error(closed) if empty.
  Device device() const;
  /// Returns the device that the producer set.
  /// @throws Error(closed) if empty.
  DeviceId device_id() const;
  /// Whether the producer forbids writing. Only a versioned tensor can forbid it. False if this object is empty.
  bool read_only() const noexcept { return read_only_; }
  /// Whether this object holds no tensor: it never had one, was released, or was moved from.
  bool empty() const noexcept { return managed_ == nullptr; }
  /// Calls the deleter now, if there is a tensor. This object is empty afterwards.
  void release() noexcept;

 private:
  using End = void (*)(void*) noexcept;
  Tensor(void* managed, End end) noexcept : managed_(managed), end_(end) {}
  void look_at(const RawTensor& tensor);
  void need_held() const;

  void* managed_ = nullptr;
  End end_ = nullptr;
  TensorView view_;
  DeviceId device_;
  bool read_only_ = false;
};

}  // namespace penstock::dlpack
