// SPDX-License-Identifier: Apache-2.0
#include "help.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

namespace help {

double scale() {
  static const double value = [] {
    const char* text = std::getenv("PENSTOCK_TEST_SCALE");
    const double v = text == nullptr ? 0 : std::atof(text);
    return v > 0 ? v : sanitized() ? 0.2 : 1.0;
  }();
  return value;
}

std::uint64_t scaled(std::uint64_t n, std::uint64_t least) {
  return std::max(least, static_cast<std::uint64_t>(static_cast<double>(n) * scale()));
}

bool sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#endif
#endif
  return false;
}

Watchdog::Watchdog(std::chrono::seconds limit, std::string what)
    : thread_([this, limit = limit * (sanitized() ? 5 : 1), what = std::move(what)] {
        std::unique_lock lock(mutex_);
        if (done_.wait_for(lock, limit, [this] { return finished_; })) return;
        std::fprintf(stderr, "WATCHDOG: %s hangs\n", what.c_str());
        std::fflush(stderr);
        std::abort();
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  done_.notify_all();
  thread_.join();
}

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

void raise(Fault fault) {
  switch (fault) {
    case Fault::corrupt:
      throw ps::Error(ps::Errc::corrupt, "planted damage").with_offset(17);
    case Fault::io:
      throw ps::Error(ps::Errc::io, "planted read error");
    case Fault::standard:
      throw std::runtime_error("planted exception");
    case Fault::number:
      throw 42;
    case Fault::fatal:
      throw ps::Error(ps::Errc::invalid_argument, "planted mistake");
    case Fault::memory:
      throw std::bad_alloc();
  }
  std::abort();
}

void Records::read(std::uint64_t i, ps::SampleBuilder& out) const {
  shared->reads.fetch_add(1);
  if (shared->before_read) shared->before_read(i);
  auto x = out.emplace<std::uint32_t, 1>(0, {width});
  std::uint64_t j = 0;
  for (std::uint32_t& v : x) v = x_of(i, j++);
  // After x is written: a place that was half written must not show in what replaces it.
  if (const auto fault = shared->faults.find(i); fault != shared->faults.end()) raise(fault->second);
  out.scalar<std::int64_t>(1, static_cast<std::int64_t>(i));
}

void AdvisedRecords::will_need(std::span<const std::uint64_t> indices) const noexcept {
  shared->advised.fetch_add(indices.size());
  const std::lock_guard lock(shared->mutex);
  for (const std::uint64_t i : indices) ++shared->advice[i];
}

std::ostream& operator<<(std::ostream& out, const Got& got) {
  out << "batch " << got.epoch << ":" << got.number << " [";
  for (std::size_t i = 0; i < got.indices.size(); ++i)
    out << (i != 0 ? " " : "") << static_cast<std::int64_t>(got.indices[i]) << (got.mask[i] != 0 ? "" : "!");
  std::uint64_t hash = 0;
  for (const std::byte b : got.bytes) hash = mix(hash + static_cast<std::uint64_t>(b));
  return out << "] " << got.bytes.size() << " bytes, hash " << hash;
}

void append_field(const ps::Batch& batch, const ps::Field& field, std::vector<std::byte>& out) {
  const auto add = [&out](const void* data, std::size_t bytes) {
    const auto* from = static_cast<const std::byte*>(data);
    out.insert(out.end(), from, from + bytes);
  };
  const auto add_lengths = [&] {
    const auto lengths = batch.lengths(field.name);
    add(lengths.data(), lengths.size_bytes());
  };
  if (field.collate.kind == ps::Collate::Kind::ragged) {
    const ps::RaggedRows rows = batch.ragged(field.name);
    for (std::uint64_t r = 0; r < rows.size(); ++r) {
      const ps::TensorView row = rows[r];
      for (const std::int64_t dim : row.shape.dims()) add(&dim, sizeof dim);
    }
    const ps::PackedRows packed = rows.packed();
    add(packed.data.data(), packed.data.size());
    add_lengths();
  } else {
    const ps::TensorView t = batch[field.name];
    add(t.data, t.bytes());
    if (field.collate.kind == ps::Collate::Kind::pad) add_lengths();
  }
}

Got copy(const ps::Batch& batch) {
  Got got;
  got.epoch = batch.epoch();
  got.number = batch.number();
  got.indices.assign(batch.indices().begin(), batch.indices().end());
  got.mask.assign(batch.mask().begin(), batch.mask().end());
  for (const ps::Field& f : batch.schema()) {
    append_field(batch, f, got.bytes);
  }
  return got;
}

std::vector<Got> collect(ps::Loader& loader, std::uint64_t epochs) {
  std::vector<Got> out;
  for (std::uint64_t e = 0; e < epochs; ++e)
    for (ps::Batch& batch : loader.epoch()) out.push_back(copy(batch));
  return out;
}

std::vector<Got> collect(const ps::Pipeline& pipeline, const ps::LoaderOptions& options, std::uint64_t epochs) {
  ps::Loader loader(pipeline, options);
  return collect(loader, epochs);
}

std::optional<ps::Error> error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const ps::Error& error) {
    return error;
  }
  return std::nullopt;
}

void Meeting::attend() {
  if (arrived_ >= need_) return;
  // The caller helps while runners are slow to come; it must not make everything before they are there.
  if (std::this_thread::get_id() != maker_) arrived_.fetch_add(1);
  // Not for ever: where the runners never come, the test must fail and not hang.
  for (int i = 0; i < 20000 && arrived_ < need_; ++i) std::this_thread::sleep_for(1ms);
}

void AddDraw::operator()(ps::Sample& sample, ps::Context& context) const {
  for (std::uint32_t& v : sample.view<std::uint32_t, 1>("x")) v += context.rng()();
}

namespace {
unsigned entries(const char* folder) {
  unsigned n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++n;
  return n;
}
}  // namespace

unsigned thread_count() {
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer has a thread of its own from the first one that is started on.
  static const bool begun = [] {
    std::thread([] {}).join();
    return true;
  }();
  return entries("/proc/self/task") - (begun ? 1 : 0);
#else
  return entries("/proc/self/task");
#endif
}
unsigned fd_count() { return entries("/proc/self/fd") - 1; }

std::uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool eventually(const std::function<bool()>& f) {
  for (int i = 0; i < 5000; ++i) {
    if (f()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return f();
}

bool inner() { return std::getenv("PENSTOCK_INNER") != nullptr; }

int run_inner(const std::string& test_case, void (*before)()) {
  std::string filter;
  for (const char c : test_case) (c == ',' ? filter += '\\' : filter) += c;  // a comma stands between two filters
  const pid_t child = ::fork();
  if (child == 0) {
    if (before != nullptr) before();
    ::setenv("PENSTOCK_INNER", "1", 1);
    ::execl("/proc/self/exe", "inner", filter.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace help
