#include "compressor.hpp"

#include <utility>

namespace penstock::jpeg {

Compressor::Compressor(std::string name, std::optional<Errc> otherwise)
    : name_(std::move(name)), otherwise_(otherwise) {
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
  target_.init_destination = [](j_compress_ptr info) { of(info).grow(); };
  target_.empty_output_buffer = [](j_compress_ptr info) -> boolean {
    of(info).target_.free_in_buffer = 0;
    of(info).grow();
    return TRUE;
  };
  target_.term_destination = [](j_compress_ptr info) {
    Compressor& self = of(info);
    self.out_.resize(self.out_.size() - self.target_.free_in_buffer);
  };
  info_.dest = &target_;
}

void Compressor::grow() {
  const std::size_t full = out_.size(), more = full < 16384 ? 16384 : full;
  out_.resize(full + more);
  target_.next_output_byte = reinterpret_cast<JOCTET*>(out_.data() + full);
  target_.free_in_buffer = more;
}

}  // namespace penstock::jpeg
