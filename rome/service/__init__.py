"""The HTTP service: one metric, kept loaded, that many clients share.

Starlette on uvicorn: small, pure Python, no model classes to keep beside those that exist. The bodies are checked by hand, because a
limit must hold before a body is parsed; the OpenAPI document is data, and the tests hold every answer against it.
"""
