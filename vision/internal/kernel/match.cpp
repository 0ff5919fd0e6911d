#include "kernel.h"

#include <climits>
#include <cstring>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__)
#define DOCENT_X86 1
#include <immintrin.h>
#endif

// Descriptors are compared by squared Euclidean distance, |a|² + |b|² − 2ab. Their bytes are at most 127, so that
// products of a signed and an unsigned byte can be summed in pairs without saturation.
//
// The right-hand side is packed in groups of kLanes rows: four bytes of row 0, four bytes of row 1 …, then the next
// four bytes of each. One vector register then holds the same four bytes of several rows, a product with four
// broadcast bytes of a left-hand row adds to one sum per lane, and no sum across lanes is needed. Rows beyond the
// last are zeros at a distance beyond all others. kBlock left-hand rows share each load of packed bytes.

namespace {

const int kLanes = 16;
const int kBlock = 4;
const int32_t kFar = INT_MAX / 4;

// Packed is the right-hand side; it does not own its memory.
struct Packed {
	int groups, chunks;
	const uint8_t *bytes;
	const int32_t *norm;  // one per lane
};

// Lanes is, per lane, the two least distances of one left-hand row and the group of the least.
struct Lanes {
	int32_t first[kLanes], second[kLanes], group[kLanes];
};

int32_t word(const uint8_t *p) {
	int32_t v;
	std::memcpy(&v, p, 4);
	return v;
}

namespace plain {
inline void products(const uint8_t *const *rows, const uint8_t *group, int chunks, int32_t out[kBlock][kLanes]) {
	for (int b = 0; b < kBlock; b++) {
		int32_t sum[kLanes] = {0};
		const uint8_t *g = group;
		for (int c = 0; c < chunks; c++, g += kLanes * 4) {
			const uint8_t *a = rows[b] + c * 4;
			for (int l = 0; l < kLanes; l++) {
				sum[l] += a[0] * g[4 * l] + a[1] * g[4 * l + 1] + a[2] * g[4 * l + 2] + a[3] * g[4 * l + 3];
			}
		}
		std::memcpy(out[b], sum, sizeof sum);
	}
}
#include "match_loops.h"
}  // namespace plain

#ifdef DOCENT_X86
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
inline void products(const uint8_t *const *rows, const uint8_t *group, int chunks, int32_t out[kBlock][kLanes]) {
	const __m256i ones = _mm256_set1_epi16(1);
	__m256i sum[kBlock][2];
	for (int b = 0; b < kBlock; b++) sum[b][0] = sum[b][1] = _mm256_setzero_si256();
	for (int c = 0; c < chunks; c++, group += kLanes * 4) {
		const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(group));
		const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(group + 32));
		for (int b = 0; b < kBlock; b++) {
			const __m256i a = _mm256_set1_epi32(word(rows[b] + c * 4));
			sum[b][0] = _mm256_add_epi32(sum[b][0], _mm256_madd_epi16(_mm256_maddubs_epi16(low, a), ones));
			sum[b][1] = _mm256_add_epi32(sum[b][1], _mm256_madd_epi16(_mm256_maddubs_epi16(high, a), ones));
		}
	}
	for (int b = 0; b < kBlock; b++) {
		_mm256_storeu_si256(reinterpret_cast<__m256i *>(out[b]), sum[b][0]);
		_mm256_storeu_si256(reinterpret_cast<__m256i *>(out[b] + 8), sum[b][1]);
	}
}
#include "match_loops.h"
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vnni,prefer-vector-width=512")
namespace vnni {
inline void products(const uint8_t *const *rows, const uint8_t *group, int chunks, int32_t out[kBlock][kLanes]) {
	__m512i sum[kBlock];
	for (int b = 0; b < kBlock; b++) sum[b] = _mm512_setzero_si512();
	for (int c = 0; c < chunks; c++, group += kLanes * 4) {
		const __m512i g = _mm512_loadu_si512(group);
		for (int b = 0; b < kBlock; b++) {
			sum[b] = _mm512_dpbusd_epi32(sum[b], g, _mm512_set1_epi32(word(rows[b] + c * 4)));
		}
	}
	for (int b = 0; b < kBlock; b++) _mm512_storeu_si512(out[b], sum[b]);
}
#include "match_loops.h"
}  // namespace vnni
#pragma GCC pop_options
#endif

struct Loops {
	decltype(&plain::two_nearest) two_nearest;
	decltype(&plain::all_distances) all_distances;
	decltype(&plain::nearest_rows) nearest_rows;
};

// loops is the best this processor can do, or what level asks for where it can: see docent_match.
Loops loops(int level = 0) {
	if (level == 1) return {plain::two_nearest, plain::all_distances, plain::nearest_rows};
#ifdef DOCENT_X86
	if (level != 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512vnni")) {
		return {vnni::two_nearest, vnni::all_distances, vnni::nearest_rows};
	}
	if (__builtin_cpu_supports("avx2")) return {avx2::two_nearest, avx2::all_distances, avx2::nearest_rows};
#endif
	return {plain::two_nearest, plain::all_distances, plain::nearest_rows};
}

int32_t length(const uint8_t *a, int width) {
	int32_t sum = 0;
	for (int i = 0; i < width; i++) sum += static_cast<int32_t>(a[i]) * a[i];
	return sum;
}

// Pack owns the memory of a Packed.
struct Pack {
	std::vector<uint8_t> bytes;
	std::vector<int32_t> norm;
	Packed packed;

	Pack(const uint8_t *rows, int n, int width) {
		const int groups = (n + kLanes - 1) / kLanes, chunks = width / 4;
		bytes.assign(static_cast<size_t>(groups) * kLanes * width, 0);
		norm.assign(static_cast<size_t>(groups) * kLanes, kFar);
		for (int i = 0; i < n; i++) {
			const uint8_t *from = rows + static_cast<size_t>(i) * width;
			uint8_t *to = bytes.data() + (static_cast<size_t>(i / kLanes) * chunks * kLanes + i % kLanes) * 4;
			for (int c = 0; c < chunks; c++) std::memcpy(to + static_cast<size_t>(c) * kLanes * 4, from + c * 4, 4);
			norm[i] = length(from, width);
		}
		packed = {groups, chunks, bytes.data(), norm.data()};
	}
};

}  // namespace

void docent_match(const uint8_t *q, int nq, const uint8_t *r, int nr, float ratio2, int level,
                  int32_t *best) {
	const int width = 128;
	const Pack pack(r, nr, width);
	std::vector<int32_t> norm(nq);
	std::vector<Lanes> lanes(nq);
	for (int i = 0; i < nq; i++) {
		norm[i] = length(q + static_cast<size_t>(i) * width, width);
		for (int l = 0; l < kLanes; l++) lanes[i].first[l] = lanes[i].second[l] = kFar, lanes[i].group[l] = -1;
	}
	std::vector<int32_t> r_best(pack.norm.size(), INT_MAX), r_from(pack.norm.size(), -1);
	loops(level).two_nearest(q, nq, norm.data(), pack.packed, lanes.data(), r_best.data(), r_from.data());

	for (int i = 0; i < nq; i++) {
		const Lanes &x = lanes[i];
		int32_t first = kFar, second = kFar, at = -1;
		for (int l = 0; l < kLanes; l++) {
			const int32_t row = x.group[l] * kLanes + l;
			if (x.group[l] >= 0 && (x.first[l] < first || (x.first[l] == first && row < at))) {
				second = first < x.second[l] ? first : x.second[l];
				first = x.first[l];
				at = row;
			} else if (x.first[l] < second) {
				second = x.first[l];
			}
		}
		const bool alone = second >= kFar / 2;
		const bool distinct = at >= 0 && at < nr &&
		                      (alone || static_cast<float>(first + norm[i]) < ratio2 * static_cast<float>(second + norm[i]));
		best[i] = distinct && r_from[at] == i ? at : -1;
	}
}

void docent_nearest(const uint8_t *rows, int n, int width, const uint8_t *centres, int k, int32_t *nearest) {
	const Pack pack(centres, k, width);
	loops().nearest_rows(rows, n, pack.packed, nearest);
}

void docent_distances(const uint8_t *rows, int n, int width, const uint8_t *centres, int k, int32_t *distances) {
	const Pack pack(centres, k, width);
	loops().all_distances(rows, n, pack.packed, k, distances);
}
