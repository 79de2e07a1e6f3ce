// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "isolation/process.hpp"
#include "isolation/running.hpp"
#include "library/access.hpp"

namespace penstock::hdf5 {

class MessageWriter;
class MessageParser;
enum class Question : std::uint32_t;

/// Access by the library in another process. That process may end, hang, or answer anything: answers are parsed with
/// care, and an Error names the fault. One question at a time.
class RemoteAccess final : public Access {
 public:
  /// Starts the process only if the file can be opened. `how.reader`: the result of find_reader().
  RemoteAccess(const std::string& path, const Hdf5& how, std::shared_ptr<RunningReaders> running);
  RemoteAccess(const RemoteAccess&) = delete;
  RemoteAccess& operator=(const RemoteAccess&) = delete;
  ~RemoteAccess() override;

  /// Ends its process unless a question is being asked. The process is started again when it is needed.
  bool end_if_idle();

  int descriptor() const noexcept override { return descriptor_; }
  std::vector<ListedDataset> list() override;
  DatasetFacts dataset(const std::string& path) override;
  ElementFacts element(std::size_t dataset, const std::string& member) override;
  std::optional<StoredChunk> find_chunk(std::size_t dataset, std::span<const std::uint64_t> first) override;
  void read(const Slab& slab, std::span<std::byte> out) override;
  void read_column(const Slab& slab, std::size_t element, std::span<std::byte> out) override;
  void read_variable(const Slab& slab, std::size_t element,
                     const std::function<std::span<std::byte>(std::uint64_t)>& memory_for) override;
  Texts read_texts(const Slab& slab, std::size_t element, std::uint64_t max_bytes) override;
  void convert(std::size_t element, std::uint64_t count, std::span<const std::byte> stored,
               std::span<std::byte> out) override;
  std::vector<std::string> attributes(const std::string& object) override;
  std::optional<Hdf5Attribute> attribute(const std::string& object, const std::string& name) override;

 private:
  struct AskedElement {
    std::size_t dataset;
    std::string member;
    std::size_t value_bytes;  ///< bytes per number of a sequence
  };
  struct Answer {
    std::vector<std::byte> message;
    std::vector<std::byte> data;  ///< data without a given destination
  };

  /// Asks a question. Data go to `out`, whose size they must have; if `out` is none, data of any size go to the answer.
  Answer ask(Question question, const MessageWriter& message, std::optional<std::span<std::byte>> out);
  /// Call under the mutex.
  void start(ReaderProcess::Time until);
  Answer exchange(Question question, std::span<const std::byte> message, std::optional<std::span<std::byte>> out,
                  ReaderProcess::Time until);
  std::vector<std::byte> receive_growing(std::uint64_t bytes, ReaderProcess::Time until);
  MessageWriter about(const Slab& slab) const;
  std::string why_no_answer(bool too_late);

  const std::string path_, program_;
  const std::uint64_t memory_bytes_;
  const std::chrono::milliseconds patience_;
  const std::shared_ptr<RunningReaders> running_;
  const pid_t owner_;
  int descriptor_ = -1;
  std::mutex mutex_;  ///< guards the process, and all members below; held during a question
  ReaderProcess process_;
  unsigned ends_ = 0;     ///< unexpected ends of processes, minus the forgiven ones
  unsigned answers_ = 0;  ///< answers since an end was last forgiven
  std::string last_end_;
  std::vector<std::string> datasets_;   ///< paths by number; changed only while the source is opened
  std::vector<AskedElement> elements_;  ///< the same
};

}  // namespace penstock::hdf5
