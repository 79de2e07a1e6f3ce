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

/// Access by the HDF5 library in another process. That process may end, hang, or send any answer. So answers are
/// checked, and an Error names what went wrong. One question at a time.
class RemoteAccess final : public Access {
 public:
  /// @throws Error if this process or the other process can't open the file. If this process can't, the other process
  /// is not started. `how.reader`: the result of find_reader().
  RemoteAccess(const std::string& path, const Hdf5& how, std::shared_ptr<RunningReaders> running);
  RemoteAccess(const RemoteAccess&) = delete;
  RemoteAccess& operator=(const RemoteAccess&) = delete;
  ~RemoteAccess() override;

  /// Ends the process and returns true, unless a question is being asked. The next question starts the process again.
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
    std::size_t value_bytes;  ///< bytes per element of a sequence
  };
  struct Answer {
    std::vector<std::byte> message;
    std::vector<std::byte> data;  ///< the answer's data, if the caller gave no destination
  };

  /// Asks a question. The answer's data go to `out`, and must have the size of `out`. If `out` is none, data of any
  /// size up to `memory_bytes_` go to `Answer::data`.
  Answer ask(Question question, const MessageWriter& message, std::optional<std::span<std::byte>> out);
  /// Call the following functions while holding the mutex, except `about`.
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
  std::mutex mutex_;  ///< guards the next four members; held while a question is asked
  ReaderProcess process_;
  unsigned ends_ = 0;     ///< unexpected ends of processes, minus those that were forgotten
  unsigned answers_ = 0;  ///< answers that came while `ends_` was not 0
  std::string last_end_;
  std::vector<std::string> datasets_;   ///< paths by dataset number; changed only while the source is opened
  std::vector<AskedElement> elements_;  ///< by element number; changed only while the source is opened
};

}  // namespace penstock::hdf5
