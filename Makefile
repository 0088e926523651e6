# Everything a developer or the CI runs. Needs python3 (3.11 or newer), make and a C compiler; the rest goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RUNS ?= 3

.PHONY: wheel release help demo test nightly evidence lint unit lock docs programs bench bench-full bench-keystroke bench-growth bench-verdicts mutants extension e2e clean

help:
	@echo 'make demo             a live session of the language server on a C program, in this terminal'
	@echo 'make test             all checks: style, types, layers, tests'
	@echo 'make nightly          the long tests: those marked so, and property-based ones with 20 times as many examples; takes hours'
	@echo 'make evidence         measures what the docs say of Everproof, in pieces; takes a night on a quiet machine'
	@echo 'make docs             write the generated pages again (docs/rules, the settings of the extension)'
	@echo 'make extension        the VS Code extension: its checks, its tests, its packages (needs node and npm)'
	@echo 'make release          the wheel and the packages of the VS Code extension, into dist (needs node and npm)'
	@echo 'make e2e              tests in a real VS Code (in headless Chromium), Neovim and Emacs (fetches them; needs node and npm)'
	@echo 'make bench            cold checks and keystrokes, as Markdown (fetches the programs first)'
	@echo 'make bench-growth     generated programs of up to 1,000,000 lines; takes an hour'
	@echo 'make bench-verdicts   verdicts on programs with known ones: EVERPROOF_CORPUS names the folder, ARGUMENTS the options'
	@echo 'make mutants          breaks the judges (replay, certificates, repair, flags, store) one by one: the tests must notice'
	@echo 'make lock             pin the newest versions of the dependencies in requirements.lock'
	@echo 'make clean            remove the environment and the caches'

# Installed once; again when the lock or the metadata of the package change. Compiled, as pip does it with packages: the first start is
# as fast as others, also where Python is told not to keep what it compiles.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q analysis server
	$(BIN)/python -m server.transport.class_code
	@touch $@

demo: $(READY)
	@$(BIN)/python -m demo.live_session

# Both at once: the tests leave some of two cores idle while they wait for processes that they start.
test: $(READY)
	@$(MAKE) --no-print-directory -j 2 lint unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Compiled first: the tests start hundreds of processes, also where Python is told not to keep what it compiles. Four at once on
# two cores: a third of the time, a test waits for a process that it started. Each begins with files of its own, so that most fixtures
# of a file are made once. The assertions are not rewritten to say what they compared, which takes each worker as long as all
# else that it does before its first test: if some fail, those run again, with rewritten ones.
unit: $(READY)
	$(BIN)/python -m compileall -q -j 2 analysis server benchmarks tests
	$(BIN)/python -m pytest -n 4 --dist worksteal --assert=plain --quiet || \
		{ $(BIN)/python -m pytest -n 2 --last-failed --last-failed-no-failures none --quiet; exit 1; }

# Goes on where it stopped; then `make docs`
evidence: $(READY)
	$(BIN)/python -m benchmarks.evidence $(ARGUMENTS)

nightly: $(READY)
	EVERPROOF_NIGHTLY=1 $(BIN)/python -m pytest -n 2 --quiet -m ''

docs: $(READY)
	$(BIN)/python docs/generate.py
	$(BIN)/python -m benchmarks.evidence_pages
	$(BIN)/python vscode-extension/scripts/settings.py

extension: $(READY)
	cd vscode-extension && npm ci && npm run check && npm test && npm run package && npm run package:platform

release: wheel
	cd vscode-extension && npm ci && npm run package && npm run package:platform
	cp vscode-extension/*.vsix dist/

wheel: $(READY)
	rm -rf dist build/lib
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

# one after the other: each test starts an editor
e2e: extension
	$(BIN)/python -m benchmarks.programs spin
	tests/e2e/install-editors.sh $(CURDIR)/tests/e2e/.cache
	tests/e2e/vscode/install.sh $(CURDIR)/tests/e2e/.cache
	cd tests/e2e && node --test --test-concurrency=1 neovim/*.test.mjs emacs/*.test.mjs vscode/*.test.mjs

programs: $(READY)
	$(BIN)/python -m benchmarks.programs

bench: bench-full bench-keystroke

bench-full: programs
	$(BIN)/python -m benchmarks.full_check --runs $(RUNS)

bench-keystroke: programs
	$(BIN)/python -m benchmarks.keystroke $(if $(shell command -v clangd),--clangd)

bench-verdicts: $(READY)
	$(BIN)/python -m benchmarks.verdicts $(ARGUMENTS)

mutants: $(READY)
	$(BIN)/python -m benchmarks.mutants $(ARGUMENTS)

bench-growth: $(READY)
	$(BIN)/python -m benchmarks.growth

# pip-tools lives in an environment of its own, so that it is not among what it pins
lock:
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet pip-tools
	CUSTOM_COMPILE_COMMAND='make lock' build/lock/bin/pip-compile --quiet --upgrade --extra dev --extra bench --all-build-deps --allow-unsafe \
		--strip-extras --generate-hashes --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
		--output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) build dist *.egg-info server/transport/class_code.*.marshal .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis benchmarks/.cache \
		vscode-extension/node_modules vscode-extension/out vscode-extension/bundled vscode-extension/*.vsix \
		tests/e2e/.cache tests/e2e/artifacts tests/e2e/vscode/node_modules
