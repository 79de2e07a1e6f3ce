// SPDX-License-Identifier: Apache-2.0
#include "certificates.hpp"

#include <unistd.h>

#include <cstdlib>

namespace penstock::remote {

std::string find_certificates(const std::string& given) {
  if (!given.empty()) return given;
  for (const char* const variable : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"})
    if (const char* const file = std::getenv(variable); file != nullptr && *file != '\0') return file;
  // A libcurl from elsewhere may look for the certificates of another system.
  for (const char* const file : {"/etc/ssl/certs/ca-certificates.crt",                 // Debian
                                 "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora
                                 "/etc/ssl/ca-bundle.pem",                             // openSUSE
                                 "/etc/ssl/cert.pem"})                                 // Alpine
    if (::access(file, R_OK) == 0) return file;
  return {};
}

}  // namespace penstock::remote
