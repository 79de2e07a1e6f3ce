// SPDX-License-Identifier: Apache-2.0
// penstock verify: reads every record, checks its checksum, and decodes its image to the end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/error.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/transforms/decode_image.hpp>

#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/interrupt.hpp"
#include "console/output.hpp"
#include "console/progress.hpp"
#include "stores/encoded_image.hpp"
#include "stores/input_path.hpp"
#include "stores/input_store.hpp"
#include "stores/pixel_memory.hpp"
#include "stores/remote_flags.hpp"

namespace penstock::cli {

namespace {

struct VerifyOptions {
  InputPath store;
  RemoteFlags remote;
  std::string key, values = "automatic", json;
  bool isolate = true;
  FileAccess access = FileAccess::map;
  std::optional<std::string> field;
  std::vector<std::string> fields;
  bool quiet = false, no_decode = false;
  unsigned threads = 0;
  std::uint64_t max_sample_bytes = CheckOptions{}.max_sample_bytes, max_pixels = DecodeImageOptions{}.max_pixels;
};

struct Bad {
  std::uint64_t index;
  std::string key;
  Error error;
};

class Verifier {
 public:
  Verifier(const InputStore& store, const VerifyOptions& options)
      : store_(store),
        options_(options),
        schema_(store.schema()),
        size_(store.size()),
        ends_(store.block_ends()),
        field_(options.field.value_or("image")),
        decodes_(!options.no_decode && holds_encoded(store.schema(), field_)),
        is_slide_(std::string_view(store.kind()) == "slide"),
        keys_apart_(store.has_keys() && std::string_view(store.kind()) == "hdf5") {}

  /// Reads and checks all records. Ends early at a signal, and at an error that concerns more than one record: see
  /// `signal` and `failure`.
  void run(unsigned threads, const Interrupt& interrupt, Progress& progress) {
    std::vector<std::thread> workers;
    try {
      try {
        for (unsigned t = 0; t < threads; ++t) workers.emplace_back([this] { work(); });
      } catch (const std::system_error&) {  // the threads that were started do the work
        if (workers.empty()) work();
      }
      while (done_.load() < size_ && !stop_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        progress.set(done_.load());
        if (interrupt.signal() != 0) stop_ = true;
      }
    } catch (...) {
      stop_ = true;
      for (std::thread& worker : workers) worker.join();
      throw;
    }
    for (std::thread& worker : workers) worker.join();
    std::ranges::sort(bad_, {}, &Bad::index);
    if (done_ < size_) signal_ = interrupt.signal();
    if (const std::uint64_t run = next_.load(); run < runs()) first_unread_ = std::min(first_unread_, begin_of(run));
  }

  const std::vector<Bad>& bad() const noexcept { return bad_; }
  const std::map<std::string, std::uint64_t>& undecoded() const noexcept { return undecoded_; }
  std::uint64_t decoded() const noexcept { return decoded_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::uint64_t read() const noexcept { return done_; }
  /// After a run that a signal ended: returns a number n. All records with an index below n were read.
  std::uint64_t first_unread() const noexcept { return first_unread_; }
  /// Returns the signal that ended the run early, or 0.
  int signal() const noexcept { return signal_; }
  std::exception_ptr failure() const noexcept { return failure_; }
  /// Returns the number of readable records whose contents neither a decoder nor a checksum has checked.
  std::uint64_t unchecked() const { return store_.checksums() ? 0 : done_ - bad_.size() - decoded_; }

 private:
  std::uint64_t runs() const noexcept { return ends_.empty() ? size_ : ends_.size(); }
  std::uint64_t begin_of(std::uint64_t run) const noexcept {
    return ends_.empty() ? run : run == 0 ? 0 : ends_[run - 1];
  }

  void work() noexcept {
    try {
      InputStore::Reader reader = store_.reader();
      DecodeImageOptions decodes = options_for_any_image();
      decodes.max_pixels = options_.max_pixels;
      const auto decoding = any_image_decoder(decodes)->start();
      PixelMemory pixels;
      for (std::uint64_t run = 0; !stop_ && (run = next_.fetch_add(1)) < runs();) {
        const std::uint64_t end = ends_.empty() ? run + 1 : ends_[run];
        reader.expect(begin_of(run), end);
        for (std::uint64_t i = begin_of(run); i < end; ++i, done_.fetch_add(1)) {
          if (stop_) {
            leave_from(i);
            break;
          }
          try {
            const bool decoded = check(reader.read(i), *decoding, pixels);
            if (keys_apart_) static_cast<void>(store_.key(i));
            if (decoded) decoded_.fetch_add(1, std::memory_order_relaxed);
          } catch (Error& error) {
            if (!error.sample_scoped()) {
              leave_from(i);
              throw;
            }
            note(i, error);
          } catch (...) {
            leave_from(i);
            throw;
          }
        }
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
  }

  void leave_from(std::uint64_t index) {
    const std::lock_guard lock(mutex_);
    first_unread_ = std::min(first_unread_, index);
  }

  // Returns whether the record's image was decoded.
  bool check(Sample& sample, ImageDecoding& decoding, PixelMemory& pixels) {
    std::uint64_t bytes = 0;
    for (std::size_t slot = 0; slot < schema_.size(); ++slot) {
      const std::uint64_t size = bytes_of(sample, schema_, slot).size();
      if (size > options_.max_sample_bytes)
        refuse_size(fmt::format("field \"{}\" of {} bytes", schema_[slot].name, with_commas(size)));
      bytes += size;
    }
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (!decodes_) return is_slide_;  // reading a slide's record has decoded its image
    const std::span<const std::byte> encoded = sample.bytes(field_);
    try {
      const ImageShape shape = decoding.open(encoded);
      const auto height = static_cast<std::uint64_t>(shape.height), width = static_cast<std::uint64_t>(shape.width);
      if (height * width > options_.max_sample_bytes / shape.pixel_bytes())
        refuse_size(fmt::format("an image of {}x{}x{} bytes", width, height, shape.channels));
      decode_whole(decoding, encoded, pixels);
    } catch (const Error& error) {
      if (error.code() == Errc::unsupported && lacks_decoder(decoding, encoded)) {
        const std::lock_guard lock(mutex_);
        ++undecoded_[image_kind(encoded)];
      }
      throw;
    }
    return true;
  }

  // Throws the error for a record that is larger than a loader accepts.
  [[noreturn]] void refuse_size(const std::string& what) const {
    throw Error(
        Errc::limit_exceeded,
        fmt::format("{} is larger than `max_sample_bytes` = {}, a loader's limit, which check() raises there and "
                    "--max-sample-bytes here",
                    what, options_.max_sample_bytes));
  }

  void note(std::uint64_t index, Error& error) {
    std::string key;
    try {
      key = store_.key(index);
      error.with_file(store_.file_of(index));
    } catch (const Error&) {
    }
    const std::lock_guard lock(mutex_);
    bad_.push_back({index, std::move(key), error});
  }

  const InputStore& store_;
  const VerifyOptions& options_;
  const Schema schema_;
  const std::uint64_t size_;
  /// Ends of runs of records. One thread reads a run. If empty, each record is a run.
  const std::vector<std::uint64_t> ends_;
  const std::string field_;
  const bool decodes_, is_slide_;
  const bool keys_apart_;  ///< keys are stored apart from records, so reading a record doesn't check its key
  std::atomic<std::uint64_t> next_{0}, done_{0}, decoded_{0}, bytes_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<Bad> bad_;
  std::map<std::string, std::uint64_t> undecoded_;
  std::exception_ptr failure_;
  std::uint64_t first_unread_ = ~std::uint64_t{0};
  int signal_ = 0;
};

void tell_json(const VerifyOptions& options, const InputStore& store, const Verifier& verifier, double seconds) {
  Json bad = Json::array();
  for (const Bad& b : verifier.bad()) {
    Json row{{"index", b.index}, {"key", b.key}, {"code", to_string(b.error.code())}, {"cause", b.error.cause()}};
    if (b.error.offset()) row["offset"] = *b.error.offset();
    if (!b.error.file().empty()) row["file"] = b.error.file();
    bad.push_back(std::move(row));
  }
  Json undecoded = Json::object();
  for (const auto& [kind, count] : verifier.undecoded()) undecoded[kind] = count;
  write_json({{"store", options.store.shown()},
              {"kind", store.kind()},
              {"records", store.size()},
              {"finished", verifier.signal() == 0},
              {"read", verifier.read()},
              {"decoded", verifier.decoded()},
              {"not_decoded", undecoded},
              {"checksums", store.checksums()},
              {"not_checked", verifier.unchecked()},
              {"bytes", verifier.bytes()},
              {"seconds", seconds},
              {"passed_over", store.passed_over()},
              {"bad", bad}},
             options.json);
}

void tell(const VerifyOptions& options, const InputStore& store, const Verifier& verifier, double seconds) {
  std::string out;
  for (const Bad& b : verifier.bad()) {
    const std::string file = store.file_of(b.index);
    out += fmt::format("bad: index {}, key {}{}: {}: {}", b.index, printable_key(b.key),
                       file.empty() ? "" : ", file " + printable(file), to_string(b.error.code()),
                       printable(b.error.cause()));
    if (b.error.offset()) out += fmt::format(" (at byte {})", *b.error.offset());
    out += "\n";
  }
  print(out);
  if (options.quiet) return;
  const std::uint64_t unchecked = verifier.unchecked();
  out =
      fmt::format("{}: {} read, {} decoded, {} in {:.1f} s", options.store.shown(), counted(verifier.read(), "record"),
                  with_commas(verifier.decoded()), bytes_text(static_cast<double>(verifier.bytes())), seconds);
  if (!verifier.bad().empty()) {
    out += fmt::format("; {} bad", with_commas(verifier.bad().size()));
  } else if (unchecked < verifier.read() || store.size() == 0) {
    out += unchecked == 0 ? "; none is bad" : "; none of those checked is bad";
  }
  if (unchecked != 0) out += fmt::format("; {} only read, not checked", with_commas(unchecked));
  for (const auto& [kind, count] : verifier.undecoded())
    out += fmt::format("; {} of kind {} not decoded", with_commas(count), kind);
  if (!store.guess().empty()) out += "\n" + store.guess();
  for (const std::string& line : store.passed_over()) out += "\n" + line;
  for (const std::string& line : store.left_out())
    if (line.starts_with("left out: the field"))
      out += "\n" + printable(line);  // nothing else in the output shows that a field is left out
  print(out + "\n");
}

// Reports how many records were read, if a signal stopped the run.
void tell_stop(const InputStore& store, const Verifier& verifier) {
  if (verifier.signal() == 0) return;
  fmt::print(stderr, "penstock: stopped: {} of {} records were read, among them all of the first {}\n",
             with_commas(verifier.read()), with_commas(store.size()), with_commas(verifier.first_unread()));
}

int verify(const VerifyOptions& options) {
  const InputStore store(options.store, {.values = options.values,
                                         .isolate = options.isolate,
                                         .isolate_option = options.isolate ? "" : "--no-isolate",
                                         .access = options.access,
                                         .key = options.key,
                                         .fields = options.fields,
                                         .remote = &options.remote});
  store.require_known_values();
  if (options.field) {
    require_field(store.schema(), *options.field);
    if (!holds_encoded(store.schema(), *options.field))
      throw UsageError("--field: \"" + *options.field + "\" holds no encoded images, which are u8[?]; the fields are " +
                       store.schema().to_string());
  }
  Verifier verifier(store, options);
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const auto start = std::chrono::steady_clock::now();
  {
    const Interrupt interrupt;
    Progress progress("verifying", store.size(), options.quiet || options.json == "-");
    verifier.run(options.threads != 0 ? options.threads : cores, interrupt, progress);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!verifier.failure()) store.require_unchanged();
  if (options.json != "-") tell(options, store, verifier, seconds);
  if (!options.json.empty()) tell_json(options, store, verifier, seconds);
  tell_stop(store, verifier);
  if (verifier.failure()) std::rethrow_exception(verifier.failure());
  if (verifier.signal() != 0) return exit_signal + verifier.signal();
  return verifier.bad().empty() ? exit_ok : exit_bad_records;
}

}  // namespace

void add_verify(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App& command = *app.add_subcommand("verify",
                                          "Reads every record of a store, compares its checksum, and decodes its image "
                                          "to the end; lists those that a loader\n"
                                          "would call bad: what is damaged, larger than a loader's limits, or of a "
                                          "kind that nothing here decodes.\n"
                                          "Exit status 3 when there are some.");
  add_store_argument(command, options->store).required();
  command.add_option("--field", options->field, "Field with the encoded image; default: image, if there is one");
  command.add_flag("--no-decode", options->no_decode, "Read and compare checksums only");
  command
      .add_option("--max-sample-bytes", options->max_sample_bytes,
                  "Of a field, and of a decoded image, as of check({.max_sample_bytes = ...})")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--max-pixels", options->max_pixels, "Of an image, as of a decoder's `max_pixels`")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--values", options->values, "What an LMDB's values are")
      ->check(CLI::IsMember({"automatic", "records", "raw", "datum"}));
  add_access_option(command, options->access);
  add_key_option(command, options->key);
  add_fields_option(command, options->fields);
  command.add_flag_callback(
      "--no-isolate", [options] { options->isolate = false; },
      "An HDF5 file is trusted: this process reads it itself, with plugins, and may be crashed by it");
  command.add_option("--threads", options->threads, "Default: all cores")->check(CLI::Range(1, 1024));
  add_remote_options(command, options->remote);
  add_json_option(command, options->json);
  command.add_flag("--quiet,-q", options->quiet, "Bad records only");
  command.callback([options, &chosen] { chosen = [options] { return verify(*options); }; });
}

}  // namespace penstock::cli
