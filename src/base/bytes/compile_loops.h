// Compiles the file that BOUGH_LOOPS names, which contains loops over ByteBlock: once for all processors, in the
// namespace `everywhere`, and on x86 once more for processors with AVX2, in the namespace `withAvx2`. BOUGH_CHOOSE
// calls the version that fits the processor.
//
// Include this file inside the namespace of the loops, once for each file of loops; it therefore has no `#pragma once`.
// A file of loops must not include anything, because its includes would be compiled for AVX2 too. The file that
// includes this one must also include avx2_block.h.

namespace everywhere {
#include BOUGH_LOOPS
}  // namespace everywhere

#if defined(__x86_64__)
BOUGH_AVX2_BEGIN
namespace withAvx2 {
using bough::avx2::any;
using bough::avx2::ByteBlock;
using bough::avx2::Bytes;
using bough::avx2::either;
using bough::avx2::equal;
using bough::avx2::fillBytes;
#include BOUGH_LOOPS
}  // namespace withAvx2
BOUGH_AVX2_END
#endif
#undef BOUGH_LOOPS

#ifndef BOUGH_CHOOSE
#if defined(__x86_64__)
#define BOUGH_CHOOSE(call) (hasAvx2() ? withAvx2::call : everywhere::call)
#else
#define BOUGH_CHOOSE(call) (everywhere::call)
#endif
#endif
