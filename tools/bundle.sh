#!/usr/bin/env bash
# Packs a portable build (x86-64-v3) with its tests, scenes, validation cases and shared libraries
# into one file, for machines without a package manager: build/barchan-bundle.tar.xz. Unpack it and
# run ./barchan.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}

cmake --preset portable > /dev/null
cmake --build build/portable -j "$jobs"

root=build/bundle/barchan
rm -rf build/bundle
mkdir -p "$root/bin" "$root/lib"
cp build/portable/barchan build/portable/tests/barchan_tests build/portable/bench/barchan_bench "$root/bin/"
cp -r scenes validation "$root/"
if [ -d assets ]; then cp -r assets "$root/"; fi
tools/build_page.sh --if-possible
if [ -f web/dist/index.html ]; then
  mkdir -p "$root/web/dist" "$root/docs/gallery"
  cp web/dist/index.html "$root/web/dist/"
  cp docs/gallery/*.jpg docs/gallery/*.png "$root/docs/gallery/"
fi
strip "$root"/bin/*

# Plots, where they can be made here, with a font of their own.
if command -v gnuplot > /dev/null; then
  cp -L "$(command -v gnuplot)" "$root/bin/gnuplot"
  mkdir -p "$root/fonts"
  cp "$(fc-match -f '%{file}' sans)" "$root/fonts/"
  cat > "$root/fonts/fonts.conf" <<'FONTS'
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">.</dir><cachedir>/tmp/barchan-fonts</cachedir></fontconfig>
FONTS
fi

# Everything that the programs load, but for the C library, which belongs to the machine.
for program in "$root"/bin/*; do ldd "$program"; done |
  awk '/=> \// {print $3}' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|ld-linux[^/]*)\.so' |
  while read -r library; do cp -L "$library" "$root/lib/"; done

for program in barchan barchan_tests barchan_bench; do
  cat > "$root/$program" <<'RUN'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
  BARCHAN_SCENES="$here/scenes" BARCHAN_VALIDATION="$here/validation" \
  BARCHAN_WEB="$here/web" BARCHAN_DOCS="$here/docs" PATH="$here/bin:$PATH"
if [ -d "$here/fonts" ]; then export FONTCONFIG_FILE="$here/fonts/fonts.conf"; fi
exec "$here/bin/$(basename "$0")" "$@"
RUN
  chmod +x "$root/$program"
done
XZ_OPT="-T$jobs -3" tar -C build/bundle -cJf build/barchan-bundle.tar.xz barchan
ls -l build/barchan-bundle.tar.xz
