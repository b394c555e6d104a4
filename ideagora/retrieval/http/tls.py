"""TLS settings that the HTTP clients of a process share."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def tls_context(*, trust_env: bool = True) -> ssl.SSLContext:
    """httpx's default context, made once: reading its certificates takes about 20 ms.

    Args:
        trust_env: Whether SSL_CERT_FILE and SSL_CERT_DIR replace the certificates.
    """
    import httpx

    return httpx.create_ssl_context(trust_env=trust_env)
