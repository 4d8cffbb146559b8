// Compiles the file that BOUGH_LOOPS names, which holds loops over ByteBlock: in the namespace `everywhere` for all
// processors, and on x86 in `withAvx2` again for those that have it. BOUGH_CHOOSE calls the one that fits.
//
// It is included where the loops belong, inside their namespace, and again for each file of loops: no `#pragma once`.
// Loops include nothing, since what they included would be compiled for AVX2, too; who includes this file also includes
// avx2_block.h.

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
