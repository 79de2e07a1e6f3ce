# SPDX-License-Identifier: Apache-2.0
"""Certificates for servers on this machine."""

import pathlib
import ssl
import subprocess


def make_certificate(folder):
    """Writes a certificate for 127.0.0.1 and localhost that has signed itself. Returns its path and that of its key."""
    certificate, key = pathlib.Path(folder) / "certificate.pem", pathlib.Path(folder) / "key.pem"
    subprocess.run([
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
        "-addext", "keyUsage=critical,digitalSignature,keyCertSign", "-keyout", key, "-out", certificate,
    ], check=True, capture_output=True)
    return certificate, key


def server_context(certificate, key):
    """What the server's side of TLS connections needs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["http/1.1"])
    return context
