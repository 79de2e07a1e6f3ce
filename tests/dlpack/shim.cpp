// SPDX-License-Identifier: Apache-2.0
// A loader, its batches as DLPack tensors, and tensors of others, behind an interface of C: what a binding for Python
// would have of Penstock. Errors are told by `last_error`, and a null pointer or -1.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <penstock/interop/dlpack.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>

namespace {

namespace ps = penstock;
namespace dl = penstock::dlpack;

thread_local std::string error_text;

template <class F>
auto told(F f) noexcept -> decltype(f()) {
  try {
    error_text.clear();
    return f();
  } catch (const std::exception& error) {
    error_text = error.what();
  }
  if constexpr (std::is_pointer_v<decltype(f())>)
    return nullptr;
  else
    return -1;
}

// Element j of field number `field` of record i. Every dtype has all of 0 to 100 exactly.
int value(std::uint64_t i, std::uint64_t j, std::uint64_t field) {
  return static_cast<int>((i * 31 + j * 7 + field * 13) % 101);
}

std::uint16_t half_bits(int value) {
  if (value == 0) return 0;
  unsigned exponent = 0;
  while (value >> (exponent + 1) != 0) ++exponent;
  return static_cast<std::uint16_t>((exponent + 15) << 10 | (static_cast<unsigned>(value) << (10 - exponent) & 0x3ffu));
}

struct Numbers {
  std::uint64_t count;
  std::uint64_t size() const { return count; }
  ps::Schema schema() const {
    using enum ps::DType;
    return {{"u8", u8, {5, 3}}, {"i8", i8, {2}},   {"u16", u16, {3}},       {"i16", i16, {}},
            {"u32", u32, {2}},  {"i32", i32, {4}}, {"u64", u64, {1, 2}},    {"i64", i64, {}},
            {"f16", f16, {6}},  {"f32", f32, {7}}, {"f64", f64, {2, 2, 2}}, {"bool", boolean, {9}}};
  }
  std::string name() const { return "numbers"; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    const ps::Schema fields = schema();
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const ps::TensorView to = out.emplace(f, fields[f].shape);
      const std::size_t each = ps::size_of(to.dtype);
      for (std::uint64_t j = 0; j < fields[f].shape.elements(); ++j) put(to, j, each, value(i, j, f));
    }
  }

 private:
  static void put(const ps::TensorView& to, std::uint64_t j, std::size_t each, int v) {
    std::byte* const at = to.data + j * each;
    const auto as = [&](auto number) { std::memcpy(at, &number, sizeof number); };
    switch (to.dtype) {
      case ps::DType::f16:
        return as(half_bits(v));
      case ps::DType::f32:
        return as(static_cast<float>(v));
      case ps::DType::f64:
        return as(static_cast<double>(v));
      case ps::DType::boolean:
        return as(static_cast<std::uint8_t>(v % 2));
      default:  // integers, whose first bytes hold it
        std::memset(at, 0, each);
        std::memcpy(at, &v, std::min(each, sizeof v));
    }
  }
};

}  // namespace

#define PENSTOCK_SHIM extern "C" __attribute__((visibility("default")))

PENSTOCK_SHIM const char* last_error() { return error_text.c_str(); }

// -- a loader --
PENSTOCK_SHIM void* loader_of_numbers(std::uint64_t records, std::uint64_t rows, unsigned depth) {
  return told([&] {
    return new ps::Loader(ps::from(Numbers{records}) | ps::shuffle({.seed = 5}) | ps::batch(rows),
                          {.threads = 2, .depth = depth});
  });
}
// Over the rows of an imported tensor, which it takes.
PENSTOCK_SHIM void* loader_of_tensor(void* tensor, std::uint64_t rows) {
  return told([&] {
    const std::unique_ptr<dl::Tensor> owned(static_cast<dl::Tensor*>(tensor));
    ps::Memory memory;
    memory.add("x", std::move(*owned));
    return new ps::Loader(ps::from(memory) | ps::batch(rows, {.tail = ps::Tail::keep}), {.threads = 2});
  });
}
PENSTOCK_SHIM void loader_end(void* loader) { delete static_cast<ps::Loader*>(loader); }
// Null without an error: the epoch's end.
PENSTOCK_SHIM void* loader_next(void* loader) {
  return told([&]() -> dl::Exporter* {
    auto batch = static_cast<ps::Loader*>(loader)->next();
    return batch ? new dl::Exporter(std::move(*batch)) : nullptr;
  });
}

// -- a batch --
PENSTOCK_SHIM void batch_end(void* batch) { delete static_cast<dl::Exporter*>(batch); }
PENSTOCK_SHIM std::int64_t batch_index(void* batch, std::uint64_t row) {
  return static_cast<std::int64_t>(static_cast<dl::Exporter*>(batch)->batch().indices()[row]);
}
PENSTOCK_SHIM void* batch_versioned(void* batch, const char* field, int read_only) {
  return told([&] {
    return static_cast<dl::Exporter*>(batch)->to_versioned(
        field, {}, read_only != 0 ? dl::Access::read_only : dl::Access::read_write);
  });
}
PENSTOCK_SHIM void* batch_unversioned(void* batch, const char* field) {
  return told([&] { return static_cast<dl::Exporter*>(batch)->to_unversioned(field); });
}

// -- a tensor that nobody took --
// Python's own, which the interpreter brings along.
extern "C" {
int PyCapsule_IsValid(void*, const char*) __attribute__((weak));       // NOLINT(readability-identifier-naming)
void* PyCapsule_GetPointer(void*, const char*) __attribute__((weak));  // NOLINT(readability-identifier-naming)
}
namespace {
std::atomic<std::int64_t> unused{0};
}
// The destructor of both kinds of capsules: a consumer that takes the tensor gives its capsule another name. It runs
// while an exception is on its way too, so no line of Python may stand in it.
PENSTOCK_SHIM void capsule_end(void* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned") != 0) {
    auto* const tensor = static_cast<dl::ManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    tensor->deleter(tensor);
    ++unused;
  } else if (PyCapsule_IsValid(capsule, "dltensor") != 0) {
    auto* const tensor = static_cast<dl::ManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    tensor->deleter(tensor);
    ++unused;
  }
}
// How many there were.
PENSTOCK_SHIM std::int64_t capsules_unused() { return unused; }

// -- a tensor of others, taken always --
PENSTOCK_SHIM void* import_versioned(void* managed) {
  return told([&] { return new dl::Tensor(static_cast<dl::ManagedTensorVersioned*>(managed)); });
}
PENSTOCK_SHIM void* import_unversioned(void* managed) {
  return told([&] { return new dl::Tensor(static_cast<dl::ManagedTensor*>(managed)); });
}
PENSTOCK_SHIM void tensor_end(void* tensor) { delete static_cast<dl::Tensor*>(tensor); }
PENSTOCK_SHIM const void* tensor_data(void* tensor) { return static_cast<dl::Tensor*>(tensor)->view().data; }
PENSTOCK_SHIM const char* tensor_dtype(void* tensor) {
  return ps::to_string(static_cast<dl::Tensor*>(tensor)->view().dtype).data();
}
PENSTOCK_SHIM int tensor_rank(void* tensor) {
  return static_cast<int>(static_cast<dl::Tensor*>(tensor)->view().shape.rank());
}
PENSTOCK_SHIM std::int64_t tensor_dim(void* tensor, int axis) {
  return static_cast<dl::Tensor*>(tensor)->view().shape[static_cast<std::size_t>(axis)];
}
PENSTOCK_SHIM int tensor_on_host(void* tensor) {
  return told([&] { return static_cast<int>(static_cast<dl::Tensor*>(tensor)->device() == ps::host()); });
}
PENSTOCK_SHIM int tensor_read_only(void* tensor) { return static_cast<dl::Tensor*>(tensor)->read_only() ? 1 : 0; }
