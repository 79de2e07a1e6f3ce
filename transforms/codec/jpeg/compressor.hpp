// SPDX-License-Identifier: Apache-2.0
// libjpeg's compressing struct, which writes into a file that grows.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/extend/image_encoder.hpp>

#include "errors.hpp"

namespace penstock::jpeg {

// libjpeg's callbacks may throw through its C functions, which hold nothing that must be freed on the way. The
// destructor frees libjpeg's memory.
class Compressor {
 public:
  // The text of every error of libjpeg begins with `name`. If `otherwise` is given, it is the code of all these errors
  // except out_of_memory. By default, each error has its own code. After jpeg_finish_compress, `out` has the file.
  Compressor(std::string name, EncodedFile& out, std::optional<Errc> otherwise = {});
  ~Compressor() { jpeg_destroy_compress(&info_); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  jpeg_compress_struct& info() noexcept { return info_; }

 private:
  static Compressor& of(j_compress_ptr info) { return *static_cast<Compressor*>(info->client_data); }
  void begin_buffer() noexcept;
  void write(std::size_t bytes);

  std::string name_;
  EncodedFile& out_;
  std::optional<Errc> otherwise_;
  jpeg_compress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_destination_mgr target_{};
  std::byte buffer_[8192];  // bytes that are not in the file yet
};

// A file that is collected in memory.
class FileInMemory final : public EncodedFile {
 public:
  void append(std::span<const std::byte> more) override { bytes_.insert(bytes_.end(), more.begin(), more.end()); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace penstock::jpeg
