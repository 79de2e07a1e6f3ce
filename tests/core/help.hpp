// SPDX-License-Identifier: Apache-2.0
// What the tests of the engine share: a source whose every byte is known, faults that can be planted in it, batches
// copied out for comparison, and a watchdog, because a test for hangs without one is none.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>

namespace help {

namespace ps = penstock;
using namespace std::chrono_literals;

/// Size of heavy tests: PENSTOCK_TEST_SCALE; default 1, under sanitizers 0.2.
double scale();
/// `n` scaled, but not below `least`.
std::uint64_t scaled(std::uint64_t n, std::uint64_t least = 1);
/// True under AddressSanitizer or ThreadSanitizer, where times and memory mean little.
bool sanitized();

/// Ends the process with a message when it lives longer than its time. (More of it under sanitizers.)
class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds limit, std::string what = "this test");
  ~Watchdog();

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool finished_ = false;
  std::thread thread_;
};

/// A hash of its own, so that expected bytes don't come from the library.
std::uint64_t mix(std::uint64_t x);
/// Element j of field "x" of record i.
inline std::uint32_t x_of(std::uint64_t i, std::uint64_t j) { return static_cast<std::uint32_t>(mix(i * 1000003 + j)); }

/// What a source or a transform does wrong.
enum class Fault : std::uint8_t { corrupt, io, standard, number, fatal, memory };
[[noreturn]] void raise(Fault fault);

/// Fields x: u32[width], y: i64[]. Copies share everything.
struct Records {
  struct Shared {
    std::map<std::uint64_t, Fault> faults;
    std::function<void(std::uint64_t)> before_read;  ///< any thread
    std::atomic<std::uint64_t> reads{0}, readers{0}, advised{0};
    std::mutex mutex;
    std::map<std::uint64_t, std::uint64_t> advice;  ///< how often each index was announced
  };
  std::uint64_t count = 0;
  std::int64_t width = 4;
  std::uint64_t salt = 0;
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();

  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"x", ps::DType::u32, {width}}, {"y", ps::DType::i64, {}}}; }
  std::string name() const { return "records"; }
  std::string file() const { return "/nowhere/records"; }
  std::string key(std::uint64_t i) const { return "key-" + std::to_string(i); }
  std::uint64_t identity() const { return salt; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const;
};

/// Records that announce what is needed. A type of its own, as sources without `will_need` take another way.
struct AdvisedRecords : Records {
  void will_need(std::span<const std::uint64_t> indices) const noexcept;
};

/// Counts what it is given.
struct CountingSink {
  std::uint64_t stored = 0, committed = 0;
  void open(const ps::SinkJob&) {}
  bool has(const ps::SinkItem&) { return false; }
  void put(const ps::SinkItem&, ps::Sample&) { ++stored; }
  void commit() { committed = stored; }
  void finish() {}
  std::string name() const { return "sink"; }
};

/// A batch, copied out.
struct Got {
  std::uint64_t epoch = 0, number = 0;
  std::vector<std::uint64_t> indices;
  std::vector<std::uint8_t> mask;
  std::vector<std::byte> bytes;  ///< of all fields, in the schema's order
  friend bool operator==(const Got&, const Got&) = default;
};
std::ostream& operator<<(std::ostream& out, const Got& got);

Got copy(const ps::Batch& batch);
/// A field's bytes; of a ragged one: the rows' shapes, their bytes, their lengths; of a padded one: bytes and lengths.
void append_field(const ps::Batch& batch, const ps::Field& field, std::vector<std::byte>& out);
/// All batches of the next `epochs` epochs.
std::vector<Got> collect(ps::Loader& loader, std::uint64_t epochs = 1);
std::vector<Got> collect(const ps::Pipeline& pipeline, const ps::LoaderOptions& options, std::uint64_t epochs = 1);

/// The Error that `f` throws; nothing when it throws none.
std::optional<ps::Error> error_of(const std::function<void()>& f);

inline bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Lets callers through once `need` of them, none on the thread that made it, are there at the same time.
class Meeting {
 public:
  explicit Meeting(unsigned need) : need_(need), maker_(std::this_thread::get_id()) {}
  void attend();
  bool complete() const { return arrived_ >= need_; }

 private:
  unsigned need_;
  std::thread::id maker_;
  std::atomic<unsigned> arrived_{0};
};

/// Adds a draw to every element of x: order, place and seed show in every byte.
struct AddDraw {
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::string name() const { return "add_draw"; }
  void operator()(ps::Sample& sample, ps::Context& context) const;
};

/// Threads and open files of this process.
unsigned thread_count();
unsigned fd_count();
/// Resident bytes of this process.
std::uint64_t resident_bytes();
/// Waits, at most 5 s, until `f` holds.
bool eventually(const std::function<bool()>& f);

/// Runs the TEST_CASE of that name of this program once more, in a process of its own with PENSTOCK_INNER=1, and
/// returns its exit status. `before` runs in the new process before the program starts.
int run_inner(const std::string& test_case, void (*before)() = nullptr);
bool inner();

}  // namespace help
