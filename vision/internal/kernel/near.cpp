#include "kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define DOCENT_X86 1
#include <immintrin.h>
#endif

namespace {

typedef int (*Scan)(const uint64_t *s, uint32_t from, uint32_t to, uint64_t wanted, int most, docent_near_hit *out);

namespace plain {
int scan(const uint64_t *s, uint32_t from, uint32_t to, uint64_t wanted, int most, docent_near_hit *out) {
	int n = 0;
	for (uint32_t i = from; i < to; i++) {
		const int bits = __builtin_popcountll(s[i] ^ wanted);
		if (bits <= most) out[n++] = {i, static_cast<uint32_t>(bits)};
	}
	return n;
}
}  // namespace plain

#ifdef DOCENT_X86
#pragma GCC push_options
#pragma GCC target("popcnt")
namespace popcnt {
int scan(const uint64_t *s, uint32_t from, uint32_t to, uint64_t wanted, int most, docent_near_hit *out) {
	int n = 0;
	for (uint32_t i = from; i < to; i++) {
		const int bits = __builtin_popcountll(s[i] ^ wanted);
		if (bits <= most) out[n++] = {i, static_cast<uint32_t>(bits)};
	}
	return n;
}
}  // namespace popcnt
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vpopcntdq,popcnt")
namespace wide {
int scan(const uint64_t *s, uint32_t from, uint32_t to, uint64_t wanted, int most, docent_near_hit *out) {
	const __m512i w = _mm512_set1_epi64(static_cast<long long>(wanted)), limit = _mm512_set1_epi64(most);
	int n = 0;
	for (uint32_t i = from; i < to; i += 8) {
		const __mmask8 valid = to - i >= 8 ? 0xff : static_cast<__mmask8>((1u << (to - i)) - 1);
		const __m512i bits = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_maskz_loadu_epi64(valid, s + i), w));
		for (unsigned found = _mm512_mask_cmple_epi64_mask(valid, bits, limit); found != 0; found &= found - 1) {
			const uint32_t at = i + static_cast<uint32_t>(__builtin_ctz(found));
			out[n++] = {at, static_cast<uint32_t>(__builtin_popcountll(s[at] ^ wanted))};
		}
	}
	return n;
}
}  // namespace wide
#pragma GCC pop_options
#endif

// best is the best this processor can do, or what level asks for where it can: see docent_near.
Scan best(int level) {
#ifdef DOCENT_X86
	if (level == 0 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq")) return wide::scan;
	if (level != 1 && __builtin_cpu_supports("popcnt")) return popcnt::scan;
#endif
	return plain::scan;
}

}  // namespace

int docent_near(const uint64_t *signatures, const uint32_t *from, const uint32_t *to, const uint64_t *wanted, int lists,
                int most, int level, docent_near_hit *out) {
	const Scan scan = best(level);
	int n = 0;
	for (int i = 0; i < lists; i++) n += scan(signatures, from[i], to[i], wanted[i], most, out + n);
	return n;
}
