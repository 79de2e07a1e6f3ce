// SPDX-License-Identifier: Apache-2.0
#include "isolation/remote_access.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <penstock/error.hpp>

#include "isolation/message.hpp"
#include "library/errors.hpp"

namespace penstock::hdf5 {

namespace {

constexpr unsigned max_ends = 8;
// After every 256 answers, one unexpected end of the process is forgotten. So a file with few bad places stays
// readable.
constexpr unsigned answers_that_forgive = 256;
constexpr std::uint64_t max_message = std::uint64_t{256} << 20;

// Shortens a text that may come from an untrusted file, and replaces its control characters.
std::string words_of_others(std::string text) {
  constexpr std::size_t longest = 2000;
  if (text.size() > longest) text.resize(longest);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

// Returns the absolute path, so that the reader can be started again after this process has changed its working
// directory.
std::string absolute(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  return failed ? path : whole.string();
}

// Returns the error code of a number. Returns `corrupt` for a number that the reader never sends.
Errc code_of(std::uint32_t number) {
  for (const Errc code : {Errc::io, Errc::not_found, Errc::unsupported, Errc::limit_exceeded})
    if (number == static_cast<std::uint32_t>(code)) return code;
  return Errc::corrupt;
}

Error lost() { return Error(Errc::corrupt, "the process that reads this file gave an answer of the wrong size"); }

}  // namespace

RemoteAccess::RemoteAccess(const std::string& path, const Hdf5& how, std::shared_ptr<RunningReaders> running)
    : path_(absolute(path)),
      program_(absolute(how.reader)),
      memory_bytes_(how.max_reader_bytes),
      patience_(how.patience_ms),
      running_(std::move(running)),
      owner_(::getpid()) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw system_error(errno, "opening the file", path);
  try {
    ask(Question::open, MessageWriter(), std::span<std::byte>());
  } catch (...) {
    running_->forget(*this);
    ::close(descriptor_);
    throw;
  }
}

RemoteAccess::~RemoteAccess() {
  // In a child made by fork() the lock of `running_` may never be released.
  if (owner_ == ::getpid()) running_->forget(*this);
  ::close(descriptor_);
}

bool RemoteAccess::end_if_idle() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  if (process_.started()) process_.finish();
  return true;
}

std::string RemoteAccess::why_no_answer(bool too_late) {
  ++ends_;
  const std::string how = process_.finish();
  if (too_late)
    last_end_ = "gave no answer for " + std::to_string(patience_.count()) +
                " ms and was ended: the file is damaged, or made to harm; where its storage is slow, raise "
                "`patience_ms`";
  else
    last_end_ = how + ": the file is damaged, or made to harm; leave out what can't be read, or make it anew";
  return "the process that reads this file " + last_end_;
}

void RemoteAccess::start(ReaderProcess::Time until) {
  if (ends_ >= max_ends)
    throw Error(Errc::corrupt, "the process that reads this file has ended " + std::to_string(ends_) +
                                   " times and is not started again; the last time it " + last_end_);
  try {
    process_.start(program_, memory_bytes_);
  } catch (const std::system_error& failed) {
    // The code is `closed`, because no record caused the failure.
    throw Error(Errc::closed, std::string(failed.what()) + "; the file is as it was");
  }
  const std::string expected = greeting();
  std::string said(expected.size(), '\0');
  process_.receive(std::as_writable_bytes(std::span(said)), until);
  if (said != expected) {
    process_.finish();
    throw Error(Errc::unsupported, program_ + " is not the reader of this version of the library, '" + expected +
                                       "': name the right one in `Hdf5::reader`");
  }
  MessageWriter message;
  message.put(std::string_view(path_));
  try {
    const Answer answer = exchange(Question::open, message.bytes(), std::span<std::byte>(), until);
    MessageParser parser(answer.message);
    const std::uint64_t device = parser.number(), inode = parser.number();
    parser.end();
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0 || status.st_dev != device || status.st_ino != inode)
      throw Error(Errc::io, "another file stands in its place since it was opened; open the source again");
  } catch (const Error&) {
    process_.finish();
    throw;
  }
}

RemoteAccess::Answer RemoteAccess::ask(Question question, const MessageWriter& message,
                                       std::optional<std::span<std::byte>> out) {
  const std::lock_guard lock(mutex_);
  running_->used(*this);
  const auto until = std::chrono::steady_clock::now() + patience_;
  try {
    if (process_.started() && !process_.running()) why_no_answer(false);
    if (!process_.started()) start(until);
    Answer answer = question == Question::open ? Answer() : exchange(question, message.bytes(), out, until);
    if (ends_ != 0 && ++answers_ % answers_that_forgive == 0) --ends_;
    return answer;
  } catch (const NoAnswer& none) {
    throw Error(Errc::corrupt, why_no_answer(none.too_late));
  }
}

std::vector<std::byte> RemoteAccess::receive_growing(std::uint64_t bytes, ReaderProcess::Time until) {
  // Allocates memory only as bytes arrive, because the announced number can't be trusted.
  constexpr std::uint64_t step = std::uint64_t{1} << 20;
  std::vector<std::byte> got;
  while (got.size() < bytes) {
    const std::size_t had = got.size();
    got.resize(had + std::min(bytes - had, std::max<std::uint64_t>(step, had)));
    process_.receive(std::span(got).subspan(had), until);
  }
  return got;
}

RemoteAccess::Answer RemoteAccess::exchange(Question question, std::span<const std::byte> message,
                                            std::optional<std::span<std::byte>> out, ReaderProcess::Time until) {
  const QuestionHead asked{static_cast<std::uint32_t>(question), 0, message.size()};
  process_.send(std::as_bytes(std::span(&asked, 1)), until);
  process_.send(message, until);
  AnswerHead head;
  process_.receive(std::as_writable_bytes(std::span(&head, 1)), until);
  // After a malformed answer, it is unknown where the next answer begins, so the process is ended.
  const auto end_it = [&] {
    ++ends_;
    process_.finish();
    last_end_ = "gave an answer that can't be understood";
  };
  const std::uint64_t max_data = head.failed != 0 ? 0 : out ? out->size() : memory_bytes_;
  if (head.sign != AnswerHead::right_sign || head.bytes > max_message || head.data_bytes > max_data ||
      (out && head.failed == 0 && head.data_bytes != out->size())) {
    end_it();
    throw lost();
  }
  Answer answer;
  answer.message = receive_growing(head.bytes, until);
  if (head.failed != 0) {
    MessageParser parser(answer.message);
    const std::uint32_t code = parser.number32();
    throw Error(code_of(code), words_of_others(parser.text()));
  }
  if (out)
    process_.receive(*out, until);
  else
    answer.data = receive_growing(head.data_bytes, until);
  return answer;
}

std::vector<ListedDataset> RemoteAccess::list() {
  const Answer answer = ask(Question::list, MessageWriter(), std::span<std::byte>());
  MessageParser parser(answer.message);
  std::vector<ListedDataset> found = parser.datasets();
  parser.end();
  return found;
}

DatasetFacts RemoteAccess::dataset(const std::string& path) {
  MessageWriter message;
  message.put(std::string_view(path));
  DatasetFacts facts;
  try {
    const Answer answer = ask(Question::dataset, message, std::span<std::byte>());
    MessageParser parser(answer.message);
    facts = parser.dataset();
    parser.end();
    for (auto* words : {&facts.files, &facts.absent, &facts.faults, &facts.told})
      for (std::string& text : *words) text = words_of_others(std::move(text));
  } catch (const Error& failed) {
    // The error may already name the dataset.
    if (failed.cause().find("dataset '") != std::string::npos) throw;
    throw Error(failed.code(), "dataset '" + path + "': " + failed.cause());
  }
  facts.number = datasets_.size();
  datasets_.push_back(path);
  return facts;
}

ElementFacts RemoteAccess::element(std::size_t dataset, const std::string& member) {
  MessageWriter message;
  message.put(std::string_view(datasets_[dataset])).put(std::string_view(member));
  const Answer answer = ask(Question::element, message, std::span<std::byte>());
  MessageParser parser(answer.message);
  ElementFacts facts = parser.element();
  parser.end();
  facts.number = elements_.size();
  elements_.push_back({dataset, member, size_of(facts.dtype)});
  return facts;
}

std::optional<StoredChunk> RemoteAccess::find_chunk(std::size_t dataset, std::span<const std::uint64_t> first) {
  MessageWriter message;
  message.put(std::string_view(datasets_[dataset])).put(first);
  const Answer answer = ask(Question::find_chunk, message, std::span<std::byte>());
  MessageParser parser(answer.message);
  const bool there = parser.truth();
  StoredChunk chunk;
  chunk.offset = parser.number();
  chunk.bytes = parser.number();
  chunk.mask = parser.number32();
  parser.end();
  return there ? std::optional(chunk) : std::nullopt;
}

MessageWriter RemoteAccess::about(const Slab& slab) const {
  MessageWriter message;
  message.put(std::string_view(datasets_[slab.dataset]))
      .put(slab.first)
      .put(slab.count)
      .put(slab.verify_checksum)
      .put(slab.lost_too);
  return message;
}

void RemoteAccess::read(const Slab& slab, std::span<std::byte> out) { ask(Question::read, about(slab), out); }

void RemoteAccess::read_column(const Slab& slab, std::size_t element, std::span<std::byte> out) {
  ask(Question::read_column, about(slab).put(std::string_view(elements_[element].member)), out);
}

void RemoteAccess::read_variable(const Slab& slab, std::size_t element,
                                 const std::function<std::span<std::byte>(std::uint64_t)>& memory_for) {
  const AskedElement& of = elements_[element];
  const Answer answer = ask(Question::read_variable, about(slab).put(std::string_view(of.member)), std::nullopt);
  const std::span<std::byte> to = memory_for(answer.data.size() / of.value_bytes);
  if (answer.data.size() % of.value_bytes != 0) throw lost();
  std::copy_n(answer.data.begin(), std::min(to.size(), answer.data.size()), to.begin());
}

Texts RemoteAccess::read_texts(const Slab& slab, std::size_t element, std::uint64_t max_bytes) {
  MessageWriter message = about(slab);
  message.put(std::string_view(elements_[element].member)).put(max_bytes);
  const Answer answer = ask(Question::read_texts, message, std::span<std::byte>());
  MessageParser parser(answer.message);
  Texts texts = parser.texts_together();
  parser.end();
  std::uint64_t rows = 1;
  for (const std::uint64_t n : slab.count) rows *= n;
  if (texts.ends.size() != rows || texts.bytes.size() > max_bytes) throw lost();
  return texts;
}

void RemoteAccess::convert(std::size_t element, std::uint64_t count, std::span<const std::byte> stored,
                           std::span<std::byte> out) {
  const AskedElement& of = elements_[element];
  MessageWriter message;
  message.put(std::string_view(datasets_[of.dataset])).put(std::string_view(of.member)).put(count);
  message.put<std::uint64_t>(out.size()).put(stored);
  ask(Question::convert, message, out);
}

std::vector<std::string> RemoteAccess::attributes(const std::string& object) {
  MessageWriter message;
  message.put(std::string_view(object));
  const Answer answer = ask(Question::attributes, message, std::span<std::byte>());
  MessageParser parser(answer.message);
  std::vector<std::string> names = parser.texts();
  parser.end();
  return names;
}

std::optional<Hdf5Attribute> RemoteAccess::attribute(const std::string& object, const std::string& name) {
  MessageWriter message;
  message.put(std::string_view(object)).put(std::string_view(name));
  const Answer answer = ask(Question::attribute, message, std::span<std::byte>());
  MessageParser parser(answer.message);
  std::optional<Hdf5Attribute> attribute = parser.attribute();
  parser.end();
  return attribute;
}

}  // namespace penstock::hdf5
