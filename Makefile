# What a change must pass before it is shared. `make check` needs the extra `dev`: pip install -c constraints.txt -e ".[dev]"
.PHONY: check lint types copy audit test build clean

check: lint types audit test

lint: copy
	ruff check .
	cd build/types && lint-imports ../../.importlinter --no-cache --no-logo

types: copy
	cd build/types && MYPYPATH=. mypy --config-file ../../setup.cfg --cache-dir ../../.mypy_cache -p rome

# Neither type checkers nor import-linter can look through an ordinary editable install, nor through the mapping of the rooms:
# a throw-away copy in the shape of the installed package can be checked anywhere.
copy:
	rm -rf build/types && mkdir -p build/types/rome
	cp -R rome/. build/types/rome/
	for room in features train data; do cp -R $$room build/types/rome/; done
	rm -rf build/types/rome/data/models

# Known vulnerabilities of the pinned packages; skipped, with a line that says so, without pip-audit or a network.
audit:
	python .ci/audit.py

test:
	pytest -n 2 --dist loadfile

# The source archive and the wheel that is made from it, as they are published. A stale build folder brings deleted modules back.
build: clean
	python -m build
	twine check --strict dist/*

clean:
	rm -rf build dist *.egg-info
