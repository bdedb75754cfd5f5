"""Share one loaded metric among many clients over HTTP, with Starlette on uvicorn; `rome annotate` uses the server, too."""
