"""The HTTP service: one metric, kept loaded, that many clients share. Starlette on uvicorn; `rome annotate` uses its server too."""
