# Two commands do everything on a bare Debian 12 machine: `make demo` and `make test`.
# What is missing is installed by tools/setup.sh; what is there already is left alone.

VENV := .venv
PY := $(VENV)/bin/python
export PATH := $(HOME)/.cargo/bin:$(PATH)

# Where the pinned toolchain is not installed but the stable one is the same version, nothing has to be fetched.
PINNED := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
ifeq ($(shell PATH="$(PATH)" rustup toolchain list 2>/dev/null | grep '^$(PINNED)-'),)
ifneq ($(findstring rustc $(PINNED) ,$(shell PATH="$(PATH)" rustc +stable --version 2>/dev/null)),)
export RUSTUP_TOOLCHAIN := stable
endif
endif

SOURCES := $(shell find crates python -type f \
	\( -name '*.rs' -o -name '*.py' -o -name '*.pyi' -o -name '*.toml' -o -name '*.cpp' -o -name '*.c' -o -name '*.typed' \) \
	-not -path '*/tests/*') $(wildcard docs/diagnostics/*.md)

# The Python of a machine with a GPU.
PYTHON ?= python3.12

.PHONY: build demo test night bench gpu docs setup tools-of-tests clean

# The release wheel, in target/wheels and installed in .venv.
build: $(VENV)/.lancehead-installed

demo: build
	$(VENV)/bin/lancehead demo

test: build tools-of-tests
	cargo xtask check

# All of it: hours. MINUTES of random programs are part of them.
MINUTES ?= 20
night: build tools-of-tests
	cargo xtask check --all --minutes $(MINUTES)

bench: build tools-of-tests
	cargo xtask bench

# A folder to carry to a machine with a GPU, in target/gpu/carry: the wheel for PYTHON, and what checks and measures it there.
gpu: build
	mkdir -p target/gpu
	tools/gpu_wheel.sh $(PYTHON)
	tools/gpu_folder.sh target/gpu/wheels/lancehead-*.whl target/gpu/carry

# The documentation as a site, in site/. Every warning, such as a link that leads nowhere, is an error.
docs: .venv-docs/.installed
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet

.venv-docs/.installed: tools/docs_requirements.txt
	python3 -m venv --clear .venv-docs
	.venv-docs/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# The list of LLVM's functions in the order in which they run, of a module that is linked without it: for a new version of
# LLVM.
.PHONY: order
order: | setup
	VIRTUAL_ENV=$(VENV) LANCEHEAD_ORDER= $(VENV)/bin/maturin develop --release --skip-install -- -C strip=none
	$(PY) xtask/order.py python/lancehead/_core.*.so target/order.txt
	rm -f python/lancehead/_core.*.so
	gzip -9 -n -c target/order.txt >tools/llvm-22.order.gz

setup:
	@tools/setup.sh

tools-of-tests: | setup
	@tools/setup.sh tests

$(VENV)/.lancehead-installed: $(SOURCES) Cargo.toml Cargo.lock pyproject.toml tools/setup.sh tools/pack.sh tools/pages.sh tools/archive.sh tools/requirements.txt | setup
	# With the libraries of lh-py, so that both processors have work.
	cargo build --release --quiet --package lh-aot --package lh-driver
	tools/archive.sh target/release/liblancehead.a python/lancehead/liblancehead.a
	tools/pack.sh $(VENV) target/wheels
	touch $@

# One wheel per version of Python in target/wheels-all, each tried: make wheels PYTHONS='3.11 3.12 3.13'
PYTHONS ?= 3.11 3.12 3.13
.PHONY: wheels
wheels: | setup
	tools/wheels.sh $(PYTHONS)

clean:
	rm -rf target $(VENV) .venv-docs site
