# The front door. Every target installs what is missing (packages.txt) and builds first.
.PHONY: help packages page build install run test test-full test-view bench format format-check docs assets bundle clean
.DEFAULT_GOAL := help

JOBS    ?= $(shell nproc)
SCENE   ?= dam-break
OUT     ?= out/$(notdir $(SCENE))
PROGRAM := build/release/barchan
# PORTABLE=1 builds for any x86-64-v3 machine instead of this one.
PORTABLE ?= 0
# CUDA=OFF leaves the GPU out where nvcc is found: a third off the time to build.
CUDA ?= AUTO
# Where `make install` puts things.
PREFIX ?= /usr/local
RELEASE_FLAGS := -DBARCHAN_PORTABLE=$(if $(filter 1,$(PORTABLE)),ON,OFF) -DBARCHAN_CUDA=$(CUDA)

help:
	@echo "make run        simulate SCENE=$(SCENE) and make a video of it"
	@echo "make test       build, and run the tests (a quarter of an hour on two cores from nothing)"
	@echo "make test-full  the long tests, too, and all of them under sanitizers"
	@echo "make build      the program, at $(PROGRAM); PORTABLE=1 for any x86-64-v3 machine, CUDA=OFF"
	@echo "make install    program, C++ library and Python module, below PREFIX=$(PREFIX)"
	@echo "make bench      time the kernels and the bench scenes"
	@echo "make docs       write the pages that the program makes itself (docs/README.md leads to all)"
	@echo "make assets     fetch the Stanford bunny (npm); scenes do without it, too"
	@echo "make format     clang-format everything"
	@echo "make page       build the page of barchan view (npm); make build does where npm is there"
	@echo "make test-view  that page in a browser (chromium)"
	@echo "make bundle     program, tests, scenes and libraries in one file, for a machine without packages"

packages:
	@tools/install_packages.sh

build/%/build.ninja: | packages
	cmake --preset $* $(if $(filter release,$*),$(RELEASE_FLAGS))

page:
	@tools/build_page.sh

build: packages build/release/build.ninja
	@tools/build_page.sh --if-possible
	cmake --preset release $(RELEASE_FLAGS) > /dev/null
	cmake --build build/release --target barchan -j $(JOBS)

install: build
	cmake --build build/release --target barchan_library barchan_python -j $(JOBS)
	cmake --install build/release --prefix $(PREFIX)

run: build
	$(PROGRAM) run $(SCENE) --out $(OUT) --overwrite
	$(PROGRAM) render $(OUT) --size 640x360
	@echo
	@echo "Frames, ledger and XDMF:  $(OUT)"
	@echo "Pictures:                 $(OUT)/contact_sheet.png"
	@echo "Video:                    $(OUT)/video.mp4"

test: packages
	tools/test.sh

test-full: packages
	tools/test.sh --full

test-view: build
	@tools/build_page.sh
	node web/test/view.mjs $(PROGRAM)

bench: build
	cmake --build build/release --target barchan_bench -j $(JOBS)
	build/release/bench/barchan_bench
	$(PROGRAM) bench bench/ballistic-1m

docs: build
	@tools/make_docs.sh $(PROGRAM) docs
	@tools/check_links.py

format: packages
	@git ls-files -co --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh' | xargs clang-format -i

format-check: packages
	@git ls-files -co --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh' | xargs clang-format --dry-run --Werror

assets:
	tools/fetch_assets.sh

bundle: packages
	tools/bundle.sh

clean:
	rm -rf build
