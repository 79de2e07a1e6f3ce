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

/// Batches leave as DLPack tensors, and those of others come in: memory is shared, nothing is copied. The structs have
/// DLPack's layout, so that no header of it is needed here; whoever has one casts:
///
///     penstock::dlpack::Exporter fields(std::move(batch));
///     auto* image = reinterpret_cast<DLManagedTensorVersioned*>(fields.to_versioned("image", stream));
namespace penstock::dlpack {

/// What a tensor's memory is (DLDeviceType). Tensors of others may have further values.
enum class DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, extension = 12, cuda_managed = 13 };
/// DLDevice.
struct DeviceId {
  /// What its memory is.
  DeviceType type = DeviceType::cpu;
  /// Which of these devices, from 0.
  std::int32_t index = 0;
  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

/// DLDataTypeCode. Tensors of others may have further values.
enum class TypeCode : std::uint8_t { integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4, boolean = 6 };
/// DLDataType.
struct DataType {
  /// What kind of number.
  TypeCode code = TypeCode::unsigned_integer;
  /// Bits of one.
  std::uint8_t bits = 8;
  /// Numbers an element; 1.
  std::uint16_t lanes = 1;
  friend bool operator==(const DataType&, const DataType&) = default;
};
/// The dtype as DLPack says it.
PENSTOCK_API DataType to_data_type(DType dtype) noexcept;
/// The dtype that DLPack says; nothing for one that `DType` does not have.
PENSTOCK_API std::optional<DType> to_dtype(DataType type) noexcept;

/// DLTensor. Strides count elements.
struct RawTensor {
  /// Memory, as its device addresses it.
  void* data = nullptr;
  /// The device that the memory is on.
  DeviceId device;
  /// Number of dimensions.
  std::int32_t ndim = 0;
  /// Type of the elements.
  DataType dtype;
  /// `ndim` sizes.
  std::int64_t* shape = nullptr;
  /// `ndim` steps in elements; null: contiguous.
  std::int64_t* strides = nullptr;
  /// Bytes from `data` to the first element.
  std::uint64_t byte_offset = 0;
};

/// DLManagedTensor. Whoever has it calls the deleter, unless it is null, once and with it.
struct ManagedTensor {
  /// The tensor.
  RawTensor tensor;
  /// The owner's; nobody else looks at it.
  void* manager_ctx = nullptr;
  /// Frees all of this.
  void (*deleter)(ManagedTensor*) = nullptr;
};

/// DLPackVersion. Another major version has another layout after `manager_ctx` and the deleter.
struct Version {
  /// What must agree.
  std::uint32_t major = 0;
  /// What may differ.
  std::uint32_t minor = 0;
};
/// What is exported says that it is of this version, and what is imported must be of its major one.
inline constexpr Version version{1, 0};

inline constexpr std::uint64_t flag_read_only = 1;  ///< must not be written to
inline constexpr std::uint64_t flag_is_copied = 2;  ///< nobody else has this memory

/// DLManagedTensorVersioned. Whoever has it calls the deleter, unless it is null, once and with it.
struct ManagedTensorVersioned {
  /// Which version of this layout it has.
  Version version;
  /// The owner's; nobody else looks at it.
  void* manager_ctx = nullptr;
  /// Frees all of this.
  void (*deleter)(ManagedTensorVersioned*) = nullptr;
  /// `flag_read_only`, `flag_is_copied`.
  std::uint64_t flags = 0;
  /// The tensor.
  RawTensor tensor;
};

static_assert(sizeof(DeviceId) == 8 && offsetof(DeviceId, index) == 4);
static_assert(sizeof(DataType) == 4 && offsetof(DataType, bits) == 1 && offsetof(DataType, lanes) == 2);
static_assert(sizeof(Version) == 8 && offsetof(Version, minor) == 4);
// These sizes are those of every system with pointers of 64 bits.
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

/// What the consumer of an exported tensor may do with it. An unversioned tensor can't say that it is read-only.
enum class Access : std::uint8_t { read_write, read_only };

/// A batch whose fields leave as DLPack tensors. Copies share it, and so does every tensor: the lease ends when the
/// last copy and the last tensor are gone, in any order, also after the loader is. The batch buffer counts as held
/// until then: a caller that hoards tensors gets Error(leases_exhausted) from `next()`. Any thread.
///
/// A deleter is told no stream. The lease's end therefore puts its events on the stream that the batch was asked for on
/// and on those that tensors were exported for: each must still be there then, and work put on them later than the
/// deleter's call must not use the tensor. Deleters may be called on any thread, with any device chosen; they wait for
/// nothing and throw nothing. The last one does what a `Batch`'s end does: where the loader still runs, its next batch
/// is admitted, which may ask a user's own order. In a child made by fork() they leave the parent's batch alone.
class PENSTOCK_API Exporter {
 public:
  /// Takes the batch over. @throws Error(closed) for an empty one.
  explicit Exporter(Batch batch);

  /// A field as `batch[field]` has it: contiguous, `strides` always there, `byte_offset` 0, `data` null where it has no
  /// elements. It lies on the CPU, on the CUDA device of a GPU's number, or, of a device that the host emulates, on an
  /// `extension` device, which no library takes for memory that it may read. Whoever has it may write to it, as to the
  /// batch itself, and tensors of one field share their memory.
  ///
  /// `stream` is the consumer's: what is put on it from now on sees the batch, and the lease's end waits for it.
  /// Without one this call waits, on a device, until the batch is there, and a deleter's call is taken for the end of
  /// the use.
  ///
  /// The caller owns what it gets. @throws Error(schema_mismatch) that lists the fields there are; Error(unsupported)
  /// for a ragged one; as Batch::also_used_on; Error(forked) in a child made by fork(); Error(closed) when it was
  /// released or moved away. Nothing is exported then.
  [[nodiscard]] ManagedTensorVersioned* to_versioned(std::string_view field, StreamRef stream = {},
                                                     Access access = Access::read_write) const;
  /// Exports a field as `to_versioned` does, for consumers that know DLPack before 1.0 alone. @throws as that.
  [[nodiscard]] ManagedTensor* to_unversioned(std::string_view field, StreamRef stream = {}) const;

  /// The batch, for reading. It is not to be moved out of; further streams are told to `also_used_on` of the exporter.
  /// @throws Error(closed) when it was released or moved away.
  const Batch& batch() const;
  /// Tells another stream that uses the batch, as `Batch::also_used_on` does. @throws as that; Error(forked) in a child
  /// made by fork().
  void also_used_on(StreamRef stream) const;
  /// True of one that was moved out of.
  bool empty() const noexcept { return shared_ == nullptr; }
  /// Ends this copy's part of the lease now.
  void release() noexcept { shared_.reset(); }

 private:
  struct Shared;
  Shared& need() const;
  std::shared_ptr<Shared> shared_;
};

/// A DLPack tensor that somebody else made. Owns it: its deleter is called once, where this ends. Move-only. One thread
/// at a time; its end on any, where the deleter allows that.
///
/// Whoever has it from a device asked its producer to order it for the stream that it is read on: DLPack has that in
/// the call that makes the tensor, and nothing here waits.
class PENSTOCK_API Tensor {
 public:
  Tensor() noexcept = default;
  /// Takes it over always, also where it refuses: the deleter was called then. (Of a Python capsule: rename it first.)
  /// @throws Error(unsupported) for another major version, a dtype that `DType` does not have, more than one lane, more
  /// than 8 dimensions, strides that are not those of contiguous rows, or data not aligned to its dtype: copy it into a
  /// contiguous array first; Error(limit_exceeded) for more than 2^60 elements; Error(invalid_argument) for what no
  /// producer may make.
  explicit Tensor(ManagedTensorVersioned* tensor);
  /// Takes over a tensor of DLPack before 1.0, always, also where it refuses. @throws as for a versioned one.
  explicit Tensor(ManagedTensor* tensor);
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(Tensor&&) noexcept;
  ~Tensor();

  /// The tensor, valid as long as this lives. Not to be written to where it is `read_only()`, nor to be touched by the
  /// host where it lies on a device; `data` is null where there are no elements. @throws Error(closed) when empty.
  TensorView view() const;
  /// Where it lies; pinned memory is the host's, managed memory its GPU's.
  /// @throws Error(unsupported) for another kind of device, whose `data` means what its producer says it does;
  /// Error(closed) when empty.
  Device device() const;
  /// Device on which it lies, in the producer's own words. @throws Error(closed) when empty.
  DeviceId device_id() const;
  /// True where its producer forbids to write to it, which only a versioned tensor can say. False when empty.
  bool read_only() const noexcept { return read_only_; }
  /// True of one that was moved out of.
  bool empty() const noexcept { return managed_ == nullptr; }
  /// Calls the deleter now.
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
