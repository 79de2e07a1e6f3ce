// SPDX-License-Identifier: Apache-2.0
// Tensors of others: what is taken, what is refused, and that their deleter is called once whatever happens.
#include "support/catch.hpp"

#include <cstring>
#include <numeric>

#include <penstock/emulated_gpu.hpp>
#include <penstock/interop/dlpack.hpp>
#include <penstock/sources/memory.hpp>

#include "core/help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
namespace dl = penstock::dlpack;

namespace {

// A producer of either kind of tensor over 24 numbers, which counts its deleter's calls.
template <class Managed>
struct Producer {
  std::vector<float> values = std::vector<float>(24);
  std::vector<std::int64_t> shape{2, 3, 4};
  std::vector<std::int64_t> strides;
  int ended = 0;
  Managed managed{};

  Producer() {
    std::iota(values.begin(), values.end(), 0.f);
    managed.tensor.data = values.data();
    managed.tensor.ndim = 3;
    managed.tensor.dtype = dl::to_data_type(ps::DType::f32);
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<Producer*>(self->manager_ctx)->ended; };
    if constexpr (requires { managed.version; }) managed.version = dl::version;
  }
  Managed* get() {
    managed.tensor.shape = shape.empty() ? nullptr : shape.data();
    managed.tensor.strides = strides.empty() ? nullptr : strides.data();
    return &managed;
  }
};
using Versioned = Producer<dl::ManagedTensorVersioned>;
using Unversioned = Producer<dl::ManagedTensor>;

// Its code; the deleter must have been called once.
template <class P>
ps::Errc refusal(P& producer) {
  const auto error = error_of([&] { dl::Tensor(producer.get()); });
  REQUIRE(error);
  CHECK(producer.ended == 1);
  return error->code();
}

// Both kinds are looked at by the same code, after the version.
ps::Errc refused(const std::function<void(dl::RawTensor&, std::vector<std::int64_t>& shape,
                                          std::vector<std::int64_t>& strides)>& change) {
  Versioned versioned;
  Unversioned unversioned;
  change(versioned.managed.tensor, versioned.shape, versioned.strides);
  change(unversioned.managed.tensor, unversioned.shape, unversioned.strides);
  const ps::Errc code = refusal(versioned);
  CHECK(refusal(unversioned) == code);
  return code;
}

}  // namespace

TEST_CASE("the structs of DLPack have their places") {
  // What a consumer finds in memory, at the offsets that the format has on 64 bits.
  dl::ManagedTensorVersioned m;
  m.version = {7, 9};
  m.manager_ctx = &m;
  m.flags = 5;
  m.tensor.device = {dl::DeviceType::cuda, 3};
  m.tensor.ndim = 4;
  m.tensor.dtype = {dl::TypeCode::floating, 16, 1};
  m.tensor.byte_offset = 11;
  std::array<std::byte, sizeof m> bytes{};
  std::memcpy(bytes.data(), &m, sizeof m);
  const auto u32 = [&](std::size_t at) {
    std::uint32_t out = 0;
    std::memcpy(&out, bytes.data() + at, sizeof out);
    return out;
  };
  CHECK(u32(0) == 7);
  CHECK(u32(4) == 9);
  CHECK(u32(24) == 5);
  CHECK(u32(40) == 2);
  CHECK(u32(44) == 3);
  CHECK(u32(48) == 4);
  CHECK(u32(52) == (2u | 16u << 8 | 1u << 16));
  CHECK(u32(72) == 11);
}

TEST_CASE("a tensor of DLPack is seen where it lies and its deleter is called once") {
  Versioned versioned;
  Unversioned unversioned;
  {
    dl::Tensor a(versioned.get()), b(unversioned.get());
    for (const dl::Tensor* t : {&a, &b}) {
      CHECK(t->view().shape == ps::Shape{2, 3, 4});
      CHECK(t->view().dtype == ps::DType::f32);
      CHECK(t->view().as<float, 3>()(1, 2, 3) == 23.f);
      CHECK(t->device() == ps::host());
      CHECK_FALSE(t->read_only());
    }
    CHECK(a.view().data == reinterpret_cast<std::byte*>(versioned.values.data()));
    dl::Tensor moved = std::move(a);
    CHECK(a.empty());  // NOLINT(bugprone-use-after-move)
    CHECK(error_of([&] { (void)a.view(); })->code() == ps::Errc::closed);
    CHECK(error_of([&] { (void)a.device(); })->code() == ps::Errc::closed);
    CHECK(versioned.ended == 0);
    b = std::move(moved);
    CHECK(unversioned.ended == 1);
    CHECK(versioned.ended == 0);
    CHECK(b.view().as<float, 3>()(0, 0, 1) == 1.f);
    b.release();
    CHECK(versioned.ended == 1);
    b.release();
    CHECK(b.empty());
  }
  CHECK(versioned.ended == 1);
  CHECK(unversioned.ended == 1);
}

TEST_CASE("a tensor of DLPack without a deleter is left to its owner") {
  Versioned versioned;
  Unversioned unversioned;
  versioned.managed.deleter = nullptr;
  unversioned.managed.deleter = nullptr;
  CHECK(dl::Tensor(versioned.get()).view().as<float, 3>()(0, 1, 0) == 4.f);
  CHECK(dl::Tensor(unversioned.get()).view().as<float, 3>()(0, 1, 0) == 4.f);
  versioned.managed.version.major = 2;
  CHECK(error_of([&] { dl::Tensor(versioned.get()); })->code() == ps::Errc::unsupported);
}

TEST_CASE("a tensor of DLPack says whether it may be written to") {
  Versioned read_only, copied;
  read_only.managed.flags = dl::flag_read_only | dl::flag_is_copied;
  copied.managed.flags = dl::flag_is_copied | 1u << 2;
  CHECK(dl::Tensor(read_only.get()).read_only());
  CHECK_FALSE(dl::Tensor(copied.get()).read_only());
}

TEST_CASE("a tensor of another major version is ended and not looked at") {
  for (const std::uint32_t major : {0u, 2u, 77u}) {
    Versioned producer;
    producer.managed.version = {major, 1};
    producer.managed.tensor.data = reinterpret_cast<void*>(std::uintptr_t{1});
    producer.managed.tensor.ndim = -5;
    CHECK(refusal(producer) == ps::Errc::unsupported);
  }
  Versioned later;
  later.managed.version = {1, 99};
  CHECK(dl::Tensor(later.get()).view().shape.rank() == 3);
}

TEST_CASE("a tensor of DLPack begins at its byte_offset") {
  Versioned producer;
  producer.managed.tensor.byte_offset = 8;
  producer.shape = {2, 3, 3};
  CHECK(dl::Tensor(producer.get()).view().as<float, 3>()(0, 0, 0) == 2.f);
}

TEST_CASE("strides of contiguous rows are taken and others are refused with what to do") {
  using Strides = std::vector<std::int64_t>;
  for (const auto& [shape, strides] : std::vector<std::pair<Strides, Strides>>{{{2, 3, 4}, {12, 4, 1}},
                                                                               {{1, 6, 4}, {-7, 4, 1}},
                                                                               {{6, 4, 1}, {4, 1, 99}},
                                                                               {{1, 1, 1}, {0, 0, 0}},
                                                                               {{0, 3, 4}, {5, 6, 7}},
                                                                               {{3, 0, 4}, {1, 1, 1}}}) {
    Versioned producer;
    producer.shape = shape;
    producer.strides = strides;
    CHECK(dl::Tensor(producer.get()).view().shape == ps::Shape(std::span<const std::int64_t>(shape)));
    CHECK(producer.ended == 1);
  }
  for (const Strides& strides : {Strides{1, 2, 6}, Strides{24, 4, 1}, Strides{0, 4, 1}, Strides{12, 4, 2},
                                 Strides{12, 4, -1}, Strides{-12, 4, 1}})
    CHECK(refused([&](dl::RawTensor&, auto&, auto& s) { s = strides; }) == ps::Errc::unsupported);
  Versioned producer;
  producer.strides = {1, 2, 6};
  CHECK(error_of([&] { dl::Tensor(producer.get()); })->cause().find("ascontiguousarray") != std::string::npos);
}

TEST_CASE("dtypes of DLPack are told apart both ways") {
  for (const ps::DType dtype :
       {ps::DType::u8, ps::DType::i8, ps::DType::u16, ps::DType::i16, ps::DType::u32, ps::DType::i32, ps::DType::u64,
        ps::DType::i64, ps::DType::f16, ps::DType::f32, ps::DType::f64, ps::DType::boolean, ps::DType::bf16}) {
    const dl::DataType type = dl::to_data_type(dtype);
    CHECK(type.bits == 8 * ps::size_of(dtype));
    CHECK(type.lanes == 1);
    CHECK(dl::to_dtype(type) == dtype);
  }
  CHECK(static_cast<int>(dl::to_data_type(ps::DType::boolean).code) == 6);
  CHECK(static_cast<int>(dl::to_data_type(ps::DType::f16).code) == 2);
  CHECK(static_cast<int>(dl::to_data_type(ps::DType::bf16).code) == 4);
  CHECK(static_cast<int>(dl::to_data_type(ps::DType::u8).code) == 1);
  CHECK(static_cast<int>(dl::to_data_type(ps::DType::i64).code) == 0);
  const auto other = [](unsigned code, unsigned bits, unsigned lanes) {
    return refused([&](dl::RawTensor& t, auto&, auto&) {
      t.dtype = {static_cast<dl::TypeCode>(code), static_cast<std::uint8_t>(bits), static_cast<std::uint16_t>(lanes)};
    });
  };
  CHECK(other(4, 8, 1) == ps::Errc::unsupported);   // a float of 8 bits
  CHECK(other(5, 64, 1) == ps::Errc::unsupported);  // complex
  CHECK(other(3, 64, 1) == ps::Errc::unsupported);  // an opaque handle
  CHECK(other(2, 32, 4) == ps::Errc::unsupported);  // vectors
  CHECK(other(2, 32, 0) == ps::Errc::unsupported);
  CHECK(other(2, 8, 1) == ps::Errc::unsupported);
  CHECK(other(6, 1, 1) == ps::Errc::unsupported);  // packed bits
  CHECK(other(0, 4, 1) == ps::Errc::unsupported);
  CHECK(other(200, 8, 1) == ps::Errc::unsupported);
}

TEST_CASE("a tensor of DLPack that can't be is refused") {
  using Dims = std::vector<std::int64_t>;
  CHECK(refused([](dl::RawTensor& t, auto&, auto&) { t.ndim = -1; }) == ps::Errc::invalid_argument);
  CHECK(refused([](dl::RawTensor&, auto& shape, auto&) { shape.clear(); }) == ps::Errc::invalid_argument);
  CHECK(refused([](dl::RawTensor& t, auto&, auto&) { t.data = nullptr; }) == ps::Errc::invalid_argument);
  CHECK(refused([](dl::RawTensor&, auto& shape, auto&) { shape = {2, -1, 4}; }) == ps::Errc::invalid_argument);
  CHECK(refused([](dl::RawTensor&, auto& shape, auto&) { shape = {2, -2, 4}; }) == ps::Errc::invalid_argument);
  CHECK(refused([](dl::RawTensor& t, auto&, auto&) { t.byte_offset = ~std::uint64_t{0} - 7; }) ==
        ps::Errc::invalid_argument);
  CHECK(refused([](dl::RawTensor& t, auto&, auto&) { t.byte_offset = 2; }) == ps::Errc::unsupported);
  CHECK(refused([](dl::RawTensor& t, auto& shape, auto&) {
          shape = Dims(9, 1);
          t.ndim = 9;
        }) == ps::Errc::unsupported);
  const std::int64_t huge = std::int64_t{1} << 31;
  CHECK(refused([&](dl::RawTensor&, auto& shape, auto&) { shape = {huge, huge, 4}; }) == ps::Errc::limit_exceeded);
  CHECK(refused([&](dl::RawTensor&, auto& shape, auto&) { shape = {huge, huge, 0}; }) == ps::Errc::limit_exceeded);
  CHECK(error_of([] { dl::Tensor(static_cast<dl::ManagedTensor*>(nullptr)); })->code() == ps::Errc::invalid_argument);
  CHECK(error_of([] { dl::Tensor(static_cast<dl::ManagedTensorVersioned*>(nullptr)); })->code() ==
        ps::Errc::invalid_argument);
}

TEST_CASE("a tensor of DLPack without elements has no data and one without dimensions is a number") {
  Versioned none;
  none.shape = {0, 3, 4};
  none.managed.tensor.data = nullptr;
  const dl::Tensor empty(none.get());
  CHECK(empty.view().data == nullptr);
  CHECK(empty.view().bytes() == 0);
  Versioned one;
  one.shape = {};
  one.managed.tensor.ndim = 0;
  const dl::Tensor number(one.get());
  CHECK(number.view().as<float, 0>()() == 0.f);
  CHECK(error_of([&] { ps::Memory().add("x", dl::Tensor(one.get())); })->code() == ps::Errc::invalid_argument);
}

TEST_CASE("a tensor of DLPack lies where its producer says") {
  const auto with = [](int type, std::int32_t index) {
    auto producer = std::make_unique<Versioned>();
    producer->managed.tensor.device = {static_cast<dl::DeviceType>(type), index};
    return producer;
  };
  CHECK(dl::Tensor(with(3, 0)->get()).device() == ps::host());
  CHECK(dl::Tensor(with(2, 5)->get()).device() == ps::gpu(5));
  CHECK(dl::Tensor(with(13, 1)->get()).device() == ps::gpu(1));
  for (const int type : {4, 10, 12, 14}) {
    const auto producer = with(type, 2);
    const dl::Tensor tensor(producer->get());
    CHECK(tensor.view().shape.rank() == 3);
    CHECK(tensor.device_id() == dl::DeviceId{static_cast<dl::DeviceType>(type), 2});
    CHECK(error_of([&] { (void)tensor.device(); })->code() == ps::Errc::unsupported);
  }
  const auto on_gpu = with(2, 0);
  CHECK(error_of([&] { ps::Memory().add("x", dl::Tensor(on_gpu->get())); })->code() == ps::Errc::unsupported);
  CHECK(on_gpu->ended == 1);
}

TEST_CASE("a tensor of a device is imported and ended without a wait and without a call of the device") {
  bool written = false;
  ps::EmulatedGpu gpu({.mode = ps::EmulatedGpuOptions::Mode::late});
  auto stream = gpu.make_stream("producer");
  stream.launch("write", [&] { written = true; });
  const std::uint64_t calls = gpu.calls();
  Versioned versioned;
  Unversioned unversioned;
  const dl::DeviceId id{dl::DeviceType::extension, gpu.device().index};
  versioned.managed.tensor.device = unversioned.managed.tensor.device = id;
  dl::Tensor a(versioned.get()), b(unversioned.get());
  for (dl::Tensor* const tensor : {&a, &b}) {
    CHECK(tensor->view().shape == ps::Shape{2, 3, 4});
    CHECK(tensor->device_id() == id);
    tensor->release();
  }
  CHECK(versioned.ended == 1);
  CHECK(unversioned.ended == 1);
  CHECK(gpu.calls() == calls);
  CHECK_FALSE(written);
  stream.synchronize();
  CHECK(written);
}

TEST_CASE("rows of a tensor of DLPack are records that live as long as anything reads them") {
  Versioned producer;
  producer.shape = {6, 2, 2};
  {
    std::optional<ps::Loader> loader;
    {
      ps::Memory memory;
      memory.add("x", dl::Tensor(producer.get())).add<std::int64_t>("y", {}, {0, 1, 2, 3, 4, 5});
      loader.emplace(ps::from(memory) | ps::shuffle() | ps::batch(2), ps::LoaderOptions{.threads = 2});
    }
    CHECK(producer.ended == 0);
    for (const ps::Batch& batch : loader->epoch())
      for (std::int64_t row = 0; row < 2; ++row)
        for (std::int64_t k = 0; k < 4; ++k)
          CHECK(batch.view<float, 3>("x")(row, k / 2, k % 2) ==
                static_cast<float>(4 * batch.view<std::int64_t, 1>("y")(row) + k));
  }
  CHECK(producer.ended == 1);
}

TEST_CASE("values and offsets of DLPack are records of their own lengths, and both are ended once") {
  Versioned values;
  values.shape = {6, 2, 2};
  std::vector<std::int64_t> numbers{0, 1, 1, 6};
  const auto offer_numbers = [&numbers](Versioned& offsets) {
    offsets.managed.tensor.data = numbers.data();
    offsets.managed.tensor.dtype = dl::to_data_type(ps::DType::i64);
    offsets.managed.tensor.ndim = 1;
    offsets.shape = {static_cast<std::int64_t>(numbers.size())};
  };
  Versioned offsets;
  offer_numbers(offsets);
  {
    std::optional<ps::Memory> memory(std::in_place);
    memory->add_ragged("x", dl::Tensor(values.get()), dl::Tensor(offsets.get()));
    CHECK(memory->schema().to_string() == "{x: f32[?, 2, 2]}");
    const ps::Memory copy = *memory;
    memory.reset();
    REQUIRE(copy.size() == 3);
    for (std::uint64_t i = 0; i < 3; ++i) {
      const ps::OwnedSample sample = ps::read_sample(copy, i);
      REQUIRE(sample["x"].shape[0] == numbers[i + 1] - numbers[i]);
      for (std::int64_t k = 0; k < 4 * sample["x"].shape[0]; ++k)
        CHECK(sample["x"].as<float, 3>()(k / 4, k / 2 % 2, k % 2) == static_cast<float>(4 * numbers[i] + k));
    }
    CHECK(values.ended + offsets.ended == 0);
  }
  CHECK(values.ended == 1);
  CHECK(offsets.ended == 1);

  const auto cause = [&](const std::function<void(Versioned&, Versioned&)>& change) {
    Versioned of_values, of_offsets;
    of_values.shape = {6, 2, 2};
    offer_numbers(of_offsets);
    change(of_values, of_offsets);
    const auto error =
        error_of([&] { ps::Memory().add_ragged("x", dl::Tensor(of_values.get()), dl::Tensor(of_offsets.get())); });
    REQUIRE(error);
    CHECK(of_values.ended == 1);
    CHECK(of_offsets.ended == 1);
    return std::string(error->cause());
  };
  CHECK(cause([](Versioned& of_values, Versioned&) {
          of_values.shape = {5, 2, 2};
        }) == "offset 3 of field \"x\" is 6; it must be the number of elements, which is 5");
  CHECK(cause([](Versioned&, Versioned& ends) { ends.managed.tensor.dtype = dl::to_data_type(ps::DType::f64); }) ==
        "the offsets of field \"x\" are f64[4]; they must be i64 [N + 1]");
  CHECK(cause([](Versioned&, Versioned& ends) {
          ends.managed.tensor.ndim = 2;
          ends.shape = {2, 2};
        }) == "the offsets of field \"x\" are i64[2, 2]; they must be i64 [N + 1]");
  CHECK(cause([](Versioned& of_values, Versioned&) {
          of_values.managed.tensor.ndim = 0;
          of_values.shape = {};
        }) == "field \"x\" is one number; its first dimension counts elements");
}

}  // namespace PENSTOCK_TEST_FILE
