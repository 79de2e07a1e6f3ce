// SPDX-License-Identifier: Apache-2.0
#include "compressor.hpp"

#include <utility>

namespace penstock::jpeg {

Compressor::Compressor(std::string name, EncodedFile& out, std::optional<Errc> otherwise)
    : name_(std::move(name)), out_(out), otherwise_(otherwise) {
  info_.err = jpeg_std_error(&errors_);
  errors_.error_exit = [](j_common_ptr common) {
    const Compressor& self = *static_cast<const Compressor*>(common->client_data);
    const Errc code = code_of(*common->err);
    throw Error(code == Errc::out_of_memory ? code : self.otherwise_.value_or(code),
                self.name_ + ": " + message(common));
  };
  errors_.output_message = [](j_common_ptr) {};
  info_.client_data = this;
  jpeg_create_compress(&info_);
  target_.init_destination = [](j_compress_ptr info) { of(info).begin_buffer(); };
  // libjpeg calls this when the whole buffer is full, and may not have updated `free_in_buffer`.
  target_.empty_output_buffer = [](j_compress_ptr info) -> boolean {
    of(info).write(sizeof(buffer_));
    return TRUE;
  };
  target_.term_destination = [](j_compress_ptr info) {
    Compressor& self = of(info);
    self.write(sizeof(buffer_) - self.target_.free_in_buffer);
  };
  info_.dest = &target_;
}

void Compressor::begin_buffer() noexcept {
  target_.next_output_byte = reinterpret_cast<JOCTET*>(buffer_);
  target_.free_in_buffer = sizeof(buffer_);
}

void Compressor::write(std::size_t bytes) {
  out_.append({buffer_, bytes});
  begin_buffer();
}

}  // namespace penstock::jpeg
