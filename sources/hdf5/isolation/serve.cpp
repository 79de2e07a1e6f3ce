// SPDX-License-Identifier: Apache-2.0
#include "isolation/serve.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include <penstock/error.hpp>

#include "isolation/confine.hpp"
#include "isolation/message.hpp"
#include "library/direct_access.hpp"

namespace penstock::hdf5 {

namespace {

// Thrown if the other side has closed the socket.
struct SocketClosed {};

void receive_all(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(STDIN_FILENO, bytes.data(), bytes.size(), 0);
    if (got > 0)
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
      throw SocketClosed{};
  }
}

void send_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(STDIN_FILENO, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0)
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    else if (errno != EINTR)
      throw SocketClosed{};
  }
}

// Answers questions. Questions give the names of datasets and columns, not numbers, so that a new process can answer
// after an earlier one has ended.
class Server {
 public:
  // Returns the answer's message. The answer's data are in `data()`.
  MessageWriter answer(Question question, MessageParser& asked) {
    data_.clear();
    MessageWriter out;
    if (question != Question::open && access_ == nullptr) throw Error(Errc::io, "no file is open");
    switch (question) {
      case Question::open:
        open(asked, out);
        break;
      case Question::list:
        out.put(access_->list());
        break;
      case Question::dataset:
        out.put(dataset(asked.text()));
        break;
      case Question::element:
        out.put(element(asked));
        break;
      case Question::find_chunk:
        find_chunk(asked, out);
        break;
      case Question::read:
        read(asked);
        break;
      case Question::read_column:
        read_column(asked);
        break;
      case Question::read_variable:
        read_variable(asked);
        break;
      case Question::read_texts:
        read_texts(asked, out);
        break;
      case Question::convert:
        convert(asked);
        break;
      case Question::attributes:
        out.put(access_->attributes(asked.text()));
        break;
      case Question::attribute:
        attribute(asked, out);
        break;
      default:
        throw Error(Errc::io, "a question that is not known");
    }
    return out;
  }
  std::span<const std::byte> data() const noexcept { return data_; }

 private:
  void open(MessageParser& asked, MessageWriter& out) {
    access_ = std::make_unique<DirectAccess>(asked.text());
    struct stat status {};
    ::fstat(access_->descriptor(), &status);
    out.put<std::uint64_t>(status.st_dev).put<std::uint64_t>(status.st_ino);
  }
  void find_chunk(MessageParser& asked, MessageWriter& out) {
    const DatasetFacts& of = dataset(asked.text());
    const std::vector<std::uint64_t> first = asked.numbers();
    if (first.size() != of.dims.size()) refuse_rank();
    const auto chunk = access_->find_chunk(of.number, first);
    const StoredChunk found = chunk.value_or(StoredChunk{});
    out.put(chunk.has_value()).put(found.offset).put(found.bytes).put(found.mask);
  }
  void read(MessageParser& asked) {
    const DatasetFacts& of = dataset(asked.text());
    const Slab elements = slab(of, asked);
    access_->read(elements, room(of.element_bytes));
  }
  void read_column(MessageParser& asked) {
    const ColumnSlab wanted = column_slab(asked);
    access_->read_column(wanted.elements, wanted.column.number, room(wanted.column.bytes));
  }
  void read_variable(MessageParser& asked) {
    const ColumnSlab wanted = column_slab(asked);
    access_->read_variable(wanted.elements, wanted.column.number, [&](std::uint64_t length) {
      data_.resize(length * size_of(wanted.column.dtype));
      return std::span(data_);
    });
  }
  void read_texts(MessageParser& asked, MessageWriter& out) {
    const ColumnSlab wanted = column_slab(asked);
    out.put(access_->read_texts(wanted.elements, wanted.column.number, asked.number()));
  }
  void convert(MessageParser& asked) {
    const ElementFacts& column = element(asked);
    const std::uint64_t count = asked.number(), bytes = asked.number();
    const std::vector<std::byte> stored = asked.data();
    if (stored.size() / column.bytes < count || bytes / size_of(column.dtype) < count)
      throw Error(Errc::io, "it has another type than when it was opened");
    data_.resize(bytes);
    access_->convert(column.number, count, stored, data_);
  }
  void attribute(MessageParser& asked, MessageWriter& out) {
    const std::string object = asked.text();
    out.put(access_->attribute(object, asked.text()));
  }

  [[noreturn]] static void refuse_rank() { throw Error(Errc::io, "it has another rank than when it was opened"); }
  Slab slab(const DatasetFacts& of, MessageParser& asked) {
    first_ = asked.numbers();
    count_ = asked.numbers();
    if (first_.size() != of.dims.size() || count_.size() != of.dims.size()) refuse_rank();
    return {of.number, first_, count_, asked.truth(), asked.truth()};
  }
  struct ColumnSlab {
    Slab elements;
    const ElementFacts& column;
  };
  ColumnSlab column_slab(MessageParser& asked) {
    const std::string path = asked.text();
    const Slab elements = slab(dataset(path), asked);
    return {elements, element(path, asked.text())};
  }
  const DatasetFacts& dataset(const std::string& path) {
    const auto known = datasets_.find(path);
    return known != datasets_.end() ? known->second : datasets_.emplace(path, access_->dataset(path)).first->second;
  }
  const ElementFacts& element(const std::string& path, const std::string& member) {
    const auto name = std::pair(path, member);
    const auto known = elements_.find(name);
    if (known != elements_.end()) return known->second;
    return elements_.emplace(name, access_->element(dataset(path).number, member)).first->second;
  }
  const ElementFacts& element(MessageParser& asked) {
    const std::string path = asked.text();
    return element(path, asked.text());
  }
  // Returns memory for the elements of the current question, of `bytes` bytes each.
  std::span<std::byte> room(std::uint64_t bytes) {
    for (const std::uint64_t n : count_)
      if (__builtin_mul_overflow(bytes, n, &bytes)) throw std::bad_alloc();
    data_.resize(bytes);
    return data_;
  }

  std::unique_ptr<DirectAccess> access_;
  std::map<std::string, DatasetFacts> datasets_;
  std::map<std::pair<std::string, std::string>, ElementFacts> elements_;
  std::vector<std::uint64_t> first_, count_;
  std::vector<std::byte> data_;
};

void send_answer(bool failed, const MessageWriter& message, std::span<const std::byte> data) {
  AnswerHead head;
  head.failed = failed ? 1 : 0;
  head.bytes = message.bytes().size();
  head.data_bytes = data.size();
  send_all(std::as_bytes(std::span(&head, 1)));
  send_all(message.bytes());
  send_all(data);
}

void answer_next(Server& server, std::uint64_t memory_bytes) {
  QuestionHead asked;
  receive_all(std::as_writable_bytes(std::span(&asked, 1)));
  const auto refuse = [](Errc code, const std::string& why) {
    send_answer(true, MessageWriter().put(static_cast<std::uint32_t>(code)).put(std::string_view(why)), {});
  };
  std::vector<std::byte> message(asked.bytes);
  receive_all(message);
  MessageParser parser(message);
  try {
    const MessageWriter out = server.answer(static_cast<Question>(asked.kind), parser);
    send_answer(false, out, server.data());
  } catch (const Error& failed) {
    refuse(failed.code(), failed.cause());
  } catch (const std::bad_alloc&) {
    refuse(Errc::limit_exceeded,
           "it takes more memory than the " + std::to_string(memory_bytes) + " bytes that `max_reader_bytes` allows");
  } catch (const std::exception& failed) {  // thrown by the standard library for impossible lengths
    refuse(Errc::limit_exceeded, failed.what());
  }
}

}  // namespace

int serve_reader(int count, const char* const* arguments) {
  const std::uint64_t memory_bytes = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
  struct stat input {};
  if (memory_bytes == 0 || ::fstat(STDIN_FILENO, &input) != 0 || !S_ISSOCK(input.st_mode)) {
    constexpr char text[] = "penstock-hdf5-reader is started by programs that read HDF5 files with `isolate = true`.\n";
    static_cast<void>(!::write(STDERR_FILENO, text, sizeof text - 1));
    return 2;
  }
  try {
    confine(memory_bytes, STDIN_FILENO);
    const std::string hello = greeting();
    send_all(std::as_bytes(std::span(hello)));
    Server server;
    while (true) answer_next(server, memory_bytes);
  } catch (const SocketClosed&) {
    ::_exit(0);  // no clean-up, because the library may be in any state
  } catch (const std::exception&) {
    ::_exit(3);
  }
}

}  // namespace penstock::hdf5
