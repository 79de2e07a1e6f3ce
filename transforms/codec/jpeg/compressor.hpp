// libjpeg's compressing struct, which writes into a vector.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "errors.hpp"

namespace penstock::jpeg {

// Callbacks throw: the C frames they pass hold nothing that needs cleaning up, and the pools go with the struct.
class Compressor {
 public:
  // `name` begins every error's text. `otherwise`: the code of those that are not about memory; default: what they are.
  explicit Compressor(std::string name, std::optional<Errc> otherwise = {});
  ~Compressor() { jpeg_destroy_compress(&info_); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  jpeg_compress_struct& info() noexcept { return info_; }
  // The file, after jpeg_finish_compress.
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  static Compressor& of(j_compress_ptr info) { return *static_cast<Compressor*>(info->client_data); }
  void grow();

  std::string name_;
  std::optional<Errc> otherwise_;
  jpeg_compress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_destination_mgr target_{};
  std::vector<std::byte> out_;  // libjpeg's buffer is its last, unfinished part
};

}  // namespace penstock::jpeg
