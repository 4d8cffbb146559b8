find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_package(CURL 7.85 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(libedit REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(re2 REQUIRED re2)  # without its flags: they differ from those that headers were compiled with
pkg_check_modules(libpq REQUIRED libpq)  # its header; the library is loaded when it is needed
find_package(SQLite3 REQUIRED)
find_package(CLI11 REQUIRED)
if(BOUGH_TESTS)
  find_package(GTest REQUIRED)
endif()
if(BOUGH_TESTS OR BOUGH_BENCH)
  find_package(simdjson REQUIRED)  # what our own reading of JSON is held against
endif()
