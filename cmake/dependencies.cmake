find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_package(CURL 7.85 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(libedit REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(re2 REQUIRED re2)  # without its flags, because they differ from those of the precompiled headers
pkg_check_modules(libpq REQUIRED libpq)  # only its header; the library is loaded when needed
find_package(SQLite3 REQUIRED)
find_package(CLI11 REQUIRED)
if(BOUGH_TESTS)
  find_package(GTest REQUIRED)
endif()
if(BOUGH_TESTS OR BOUGH_BENCH)
  find_package(simdjson REQUIRED)  # the reference for testing our JSON reader
endif()
