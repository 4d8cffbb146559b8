#!/usr/bin/env bash
# Installs the build in $1 into an empty folder and builds main.cpp against it, with CMake and with pkg-config.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/usr" >"$work/log"
library=$(dirname "$(find "$work/usr" -name libbough.a)")
expected='{"dialect":"bough","message":{"role":"user","content":"Hello"}}'

cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/usr" -DCMAKE_CXX_FLAGS="${BOUGH_PACKAGE_FLAGS:-}" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/cmake" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
[ "$("$work/cmake/user" "$work/store1")" = "$expected" ] || { echo "the program built with CMake failed"; exit 1; }

[ "$("$work/cmake/agent_user" "$work")" = "You said: hello" ] || { echo "the program with the agent failed"; exit 1; }
# Programs that link the library or the agent do not need libcurl.
if ldd "$work/cmake/user" "$work/cmake/agent_user" | grep curl; then exit 1; fi

flags=$(PKG_CONFIG_PATH="$library/pkgconfig" pkg-config --cflags --libs bough)
[[ $flags != *-std=* ]] || { echo "pkg-config says which standard a program must be built with: $flags"; exit 1; }
# shellcheck disable=SC2086
g++ -std=c++23 -o "$work/user" "$here/main.cpp" $flags ${BOUGH_PACKAGE_FLAGS:-} || exit 1
[ "$(LD_LIBRARY_PATH="$library" "$work/user" "$work/store2")" = "$expected" ] || { echo "the program built with pkg-config failed"; exit 1; }
objdump -p "$work/user" | grep -q 'NEEDED.*libbough.so.0' || { echo "the program does not use libbough.so.0"; exit 1; }

# The README's program, word for word, with a store in the work folder.
readme=$(sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$here/../../README.md")
{
  grep '^#include' <<<"$readme"
  echo 'int main() {'
  grep -v '^#include' <<<"$readme" | sed "s|/var/lib/agent/sessions|$work/store3|"
  echo 'return store && session && appended && entries && fork && entries->back().id == appended->lastAppendedEntryId ? 0 : 1; }'
} >"$work/readme.cpp"
# shellcheck disable=SC2086
g++ -std=c++23 -o "$work/readme" "$work/readme.cpp" $flags ${BOUGH_PACKAGE_FLAGS:-} || { echo "the program of the README does not compile"; exit 1; }
LD_LIBRARY_PATH="$library" "$work/readme" || { echo "the program of the README failed"; exit 1; }

flags=$(PKG_CONFIG_PATH="$library/pkgconfig" pkg-config --cflags --libs bough-agent)
# shellcheck disable=SC2086
g++ -std=c++23 -o "$work/agent_user" "$here/agent.cpp" $flags ${BOUGH_PACKAGE_FLAGS:-} || exit 1
[ "$("$work/agent_user" "$work")" = "You said: hello" ] || { echo "the agent built with pkg-config failed"; exit 1; }

for file in man/man1/bough.1 doc/bough/README.md doc/bough/docs/tour.md doc/bough/docs/decisions doc/bough/examples \
  bash-completion/completions/bough zsh/site-functions/_bough fish/vendor_completions.d/bough.fish; do
  [ -s "$work/usr/share/$file" ] || { echo "$file was not installed"; exit 1; }
done

# ./run must build every file that is installed.
read -ra targets < <(sed -n 's|^ *build build/release ||p' "$here/../../run")
ninja -C "$build" -t commands "${targets[@]}" >"$work/commands"
for file in libbough.a libbough_agent.a libbough.so bough.1 completion.bash completion.zsh completion.fish; do
  grep -q "$file" "$work/commands" || { echo "./run does not make $file, which is installed"; exit 1; }
done
"$work/usr/bin/bough" --store "$work/store1" verify
echo "package: built and ran with CMake and with pkg-config"
