// SPDX-License-Identifier: Apache-2.0
// Batches that leave as DLPack tensors: what the tensors say, and who holds the buffer how long.
#include "support/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include <penstock/emulated_gpu.hpp>
#include <penstock/interop/dlpack.hpp>
#include <penstock/sources/memory.hpp>

#include "core/dlpack/dlpack_help.hpp"
#include "core/help.hpp"

using namespace help;
namespace dl = penstock::dlpack;

namespace {

ps::Pipeline exported_records(std::uint64_t count = 24, std::uint64_t rows = 4) {
  return ps::from(Records{.count = count}) | ps::shuffle() | ps::batch(rows);
}

template <class Managed>
void check_tensor(const Managed& managed, const ps::Batch& batch, const std::string& field) {
  const ps::TensorView view = batch[field];
  const dl::RawTensor& t = managed.tensor;
  REQUIRE(t.ndim == static_cast<std::int32_t>(view.shape.rank()));
  CHECK(t.device == dl::DeviceId{dl::DeviceType::cpu, 0});
  CHECK(t.byte_offset == 0);
  CHECK(t.dtype == dl::to_data_type(view.dtype));
  CHECK(t.data == (view.bytes() == 0 ? nullptr : view.data));
  REQUIRE(t.shape != nullptr);
  REQUIRE(t.strides != nullptr);
  std::int64_t stride = 1;
  for (std::int32_t axis = t.ndim; axis-- > 0;) {
    CHECK(t.shape[axis] == view.shape[static_cast<std::size_t>(axis)]);
    CHECK(t.strides[axis] == stride);
    stride *= t.shape[axis];
  }
}

}  // namespace

TEST_CASE("a batch leaves as tensors of DLPack of both kinds that are its own memory") {
  ps::Loader loader(exported_records(), {.threads = 1});
  const dl::Exporter fields(loader.next().value());
  for (const std::string field : {"x", "y"}) {
    const Owned versioned(fields.to_versioned(field));
    const Owned unversioned(fields.to_unversioned(field));
    check_tensor(*versioned, fields.batch(), field);
    check_tensor(*unversioned, fields.batch(), field);
    CHECK(versioned->version.major == 1);
    CHECK(versioned->flags == 0);
  }
  const Owned x(fields.to_versioned("x"));
  for (std::uint64_t row = 0; row < 4; ++row)
    for (std::uint64_t j = 0; j < 4; ++j)
      CHECK(static_cast<const std::uint32_t*>(x->tensor.data)[4 * row + j] == x_of(fields.batch().indices()[row], j));
  CHECK(Owned(fields.to_versioned("x", {}, dl::Access::read_only))->flags == dl::flag_read_only);
}

TEST_CASE("a batch of no rows leaves without data") {
  for (const auto& [rank, rows] : {std::pair<int, std::int64_t>{0, 1}, {1, 0}}) {
    ps::Loader loader(ps::from(Records{.count = 1}) | ps::batch(2) | ps::for_rank({.rank = rank, .world = 2}),
                      {.threads = 1});
    auto batch = loader.next();
    REQUIRE(batch);
    const dl::Exporter fields(std::move(*batch));
    for (const std::string field : {"x", "y"}) {
      const Owned tensor(fields.to_versioned(field));
      CHECK(tensor->tensor.shape[0] == rows);
      CHECK((tensor->tensor.data == nullptr) == (rows == 0));
      CHECK(tensor->tensor.strides[0] == (field == "x" ? 4 : 1));
      CHECK(tensor->tensor.strides[tensor->tensor.ndim - 1] == 1);
    }
  }
}

TEST_CASE("tensors and exporters hold the buffer together and give it back in any order") {
  const Watchdog watchdog(60s);
  const auto expected = collect(exported_records(), {.threads = 1});
  std::vector<int> order{0, 1, 2, 3};
  do {
    ps::Loader loader(exported_records(), {.threads = 1, .depth = 2});
    auto other = loader.next();
    std::optional<dl::Exporter> fields(loader.next().value()), copy(*fields);
    Owned<dl::ManagedTensorVersioned> x(fields->to_versioned("x"));
    Owned<dl::ManagedTensor> y(copy->to_unversioned("y"));
    for (const int what : order) {
      const auto error = error_of([&] { (void)loader.next(); });
      REQUIRE(error);
      CHECK(error->code() == ps::Errc::leases_exhausted);
      if (what == 0) x.reset();
      if (what == 1) y.reset();
      if (what == 2) fields.reset();
      if (what == 3) copy->release();
    }
    const auto third = loader.next();
    REQUIRE(third);
    CHECK(help::copy(*third) == expected[2]);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("tensors outlive their exporter and their loader and end on another thread") {
  const Watchdog watchdog(60s);
  const auto expected = collect(exported_records(), {.threads = 1});
  Owned<dl::ManagedTensorVersioned> x;
  Owned<dl::ManagedTensor> y;
  {
    ps::Loader loader(exported_records(), {.threads = 2});
    const dl::Exporter fields(loader.next().value());
    x = Owned(fields.to_versioned("x"));
    y = Owned(fields.to_unversioned("y"));
  }
  std::vector<std::byte> bytes(4 * 4 * 4 + 4 * 8);
  std::memcpy(bytes.data(), x->tensor.data, 64);
  std::memcpy(bytes.data() + 64, y->tensor.data, 32);
  CHECK(bytes == expected[0].bytes);
  std::thread([&] { x.reset(); }).join();
  std::thread([&] { y.reset(); }).join();
}

TEST_CASE("tensors are made and ended on many threads while their loader goes on") {
  const Watchdog watchdog(120s);
  const ps::Pipeline pipeline = exported_records(400);
  const auto expected = collect(pipeline, {.threads = 1});
  ps::Loader loader(pipeline, {.threads = 2, .depth = 6});
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::jthread> threads;
  std::uint64_t count = 0;
  for (ps::Batch& batch : loader.epoch()) {
    const Got& want = expected[count++];
    const dl::Exporter fields(std::move(batch));
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&wrong, &want, fields = dl::Exporter(fields)]() mutable {
        const Owned x(fields.to_versioned("x"));
        fields.release();
        if (std::memcmp(x->tensor.data, want.bytes.data(), 64) != 0) ++wrong;
      });
    while (threads.size() > 4) threads.erase(threads.begin());
  }
  threads.clear();
  CHECK(wrong == 0);
  CHECK(count == expected.size());
}

TEST_CASE("what can't leave as a tensor of DLPack is refused and holds nothing") {
  CHECK(error_of([] { dl::Exporter(ps::Batch{}); })->code() == ps::Errc::closed);
  ps::EmulatedGpu gpu;
  const auto stream = gpu.make_stream("stranger");
  ps::Loader loader(ps::from(Records{.count = 24}) | ps::ragged("x") | ps::batch(4), {.threads = 1, .depth = 2});
  auto held = loader.next();
  dl::Exporter fields(loader.next().value());
  const auto ragged = error_of([&] { (void)fields.to_versioned("x"); });
  REQUIRE(ragged);
  CHECK(ragged->code() == ps::Errc::unsupported);
  CHECK(ragged->cause().find("`pad`") != std::string::npos);
  CHECK(error_of([&] { (void)fields.to_unversioned("x"); })->code() == ps::Errc::unsupported);
  const auto absent = error_of([&] { (void)fields.to_unversioned("z"); });
  REQUIRE(absent);
  CHECK(absent->code() == ps::Errc::schema_mismatch);
  CHECK(absent->cause().find('y') != std::string::npos);
  CHECK(error_of([&] { (void)fields.to_versioned("y", stream.ref()); })->code() == ps::Errc::invalid_argument);
  CHECK(error_of([&] { (void)fields.to_unversioned("y", stream.ref()); })->code() == ps::Errc::invalid_argument);
  CHECK(error_of([&] { fields.also_used_on(stream.ref()); })->code() == ps::Errc::invalid_argument);
  const dl::Exporter moved = std::move(fields);
  CHECK(fields.empty());  // NOLINT(bugprone-use-after-move)
  CHECK(error_of([&] { (void)fields.to_versioned("y"); })->code() == ps::Errc::closed);
  CHECK(error_of([&] { (void)fields.to_unversioned("y"); })->code() == ps::Errc::closed);
  CHECK(error_of([&] { (void)fields.batch(); })->code() == ps::Errc::closed);
  CHECK(error_of([&] { fields.also_used_on({}); })->code() == ps::Errc::closed);
  fields = moved;
  fields.release();
  CHECK(error_of([&] { (void)loader.next(); })->code() == ps::Errc::leases_exhausted);
  held.reset();
  CHECK(loader.next());
}

TEST_CASE("padded fields leave as tensors of DLPack of the length they have in the batch") {
  for (const std::int64_t to : {0, 7}) {
    ps::Loader loader(ps::from(Records{.count = 24}) | ps::pad("x", {.to = to}) | ps::batch(4), {.threads = 1});
    const dl::Exporter fields(loader.next().value());
    const Owned x(fields.to_versioned("x"));
    check_tensor(*x, fields.batch(), "x");
    CHECK(x->tensor.shape[1] == (to == 0 ? 4 : 7));
    CHECK(x->tensor.strides[0] == x->tensor.shape[1]);
  }
}

TEST_CASE("in a forked child nothing is exported and a deleter leaves the parent's batch alone") {
  const Watchdog watchdog(60s);
  ps::EmulatedGpu gpu({.mode = ps::EmulatedGpuOptions::Mode::threaded});
  for (const ps::Device device : {ps::host(), gpu.device()}) {
    const auto expected = collect(exported_records(), {.threads = 1});
    ps::Loader loader(exported_records(), {.device = device, .threads = 1});
    std::optional<dl::Exporter> fields(loader.next().value());
    Owned<dl::ManagedTensorVersioned> x(fields->to_versioned("x"));
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(sanitized() ? 50 : 10);
      const auto error = error_of([&] { (void)fields->to_versioned("x"); });
      x.reset();
      fields.reset();
      ::_exit(error && error->code() == ps::Errc::forked ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    CHECK(std::memcmp(x->tensor.data, expected[0].bytes.data(), 64) == 0);
    x.reset();
    fields.reset();
    for (std::size_t i = 1; i < expected.size(); ++i) CHECK(copy(loader.next().value()) == expected[i]);
  }
}

TEST_CASE("random fields make the round trip through DLPack bit for bit") {
  constexpr ps::DType all[] = {ps::DType::u8,  ps::DType::i8,      ps::DType::u16, ps::DType::i16, ps::DType::u32,
                               ps::DType::i32, ps::DType::u64,     ps::DType::i64, ps::DType::f16, ps::DType::f32,
                               ps::DType::f64, ps::DType::boolean, ps::DType::bf16};
  std::mt19937_64 random(20);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (std::uint64_t trial = 0; trial < scaled(200, 40); ++trial) {
    const std::uint64_t records = 1 + below(20), rows = 1 + below(6);
    std::vector<std::vector<std::byte>> data;
    ps::Memory memory;
    for (std::uint64_t f = 0; f < 1 + trial % 3; ++f) {
      std::vector<std::int64_t> dims(below(5));
      for (std::int64_t& dim : dims) dim = 1 + static_cast<std::int64_t>(below(4));
      const ps::Shape shape{std::span<const std::int64_t>(dims)};
      const ps::DType dtype = all[below(13)];
      std::vector<std::byte>& bytes = data.emplace_back(records * shape.elements() * ps::size_of(dtype));
      for (std::byte& b : bytes) b = static_cast<std::byte>(dtype == ps::DType::boolean ? below(2) : below(256));
      memory.add({std::string(1, static_cast<char>('a' + f)), dtype, shape}, bytes.data(), records);
    }
    ps::Loader loader(ps::from(memory) | ps::batch(rows, {.tail = ps::Tail::keep}), {.threads = 1});
    std::uint64_t first = 0;
    for (ps::Batch& batch : loader.epoch()) {
      const dl::Exporter fields(std::move(batch));
      for (std::size_t f = 0; f < data.size(); ++f) {
        const ps::Field& field = fields.batch().schema()[f];
        const ps::TensorView view = fields.batch()[field.name];
        const bool versioned = below(2) == 0;
        const dl::Access access = below(2) == 0 ? dl::Access::read_only : dl::Access::read_write;
        const dl::Tensor back = versioned ? dl::Tensor(fields.to_versioned(field.name, {}, access))
                                          : dl::Tensor(fields.to_unversioned(field.name));
        CHECK(back.read_only() == (versioned && access == dl::Access::read_only));
        REQUIRE(back.view().dtype == view.dtype);
        REQUIRE(back.view().shape == view.shape);
        REQUIRE(back.view().data == view.data);
        CHECK(back.device() == ps::host());
        const std::size_t each = field.shape.elements() * ps::size_of(field.dtype);
        REQUIRE(std::memcmp(back.view().data, data[f].data() + first * each, fields.batch().size() * each) == 0);
      }
      first += fields.batch().size();
    }
    CHECK(first == records);
  }
}
