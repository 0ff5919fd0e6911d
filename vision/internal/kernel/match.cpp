#include "kernel.h"

#include <climits>
#include <vector>

// The loops below are written so that the compiler turns them into vector instructions. On x86 several versions are
// built and the processor's best is taken when the program starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define DOCENT_CLONES __attribute__((target_clones("arch=icelake-server", "avx2", "default")))
#else
#define DOCENT_CLONES
#endif

namespace {

const int kBytes = 128;

inline int32_t dot(const uint8_t *__restrict a, const uint8_t *__restrict b) {
	int32_t sum = 0;
	for (int i = 0; i < kBytes; i++) sum += static_cast<int32_t>(a[i]) * static_cast<int32_t>(b[i]);
	return sum;
}

}  // namespace

DOCENT_CLONES
void docent_match(const uint8_t *q, int nq, const uint8_t *r, int nr, float ratio2, int32_t *best,
                  int32_t *distance) {
	std::vector<int32_t> r_norm(nr), r_best(nr, INT_MAX), r_from(nr, -1);
	for (int j = 0; j < nr; j++) r_norm[j] = dot(r + static_cast<size_t>(j) * kBytes, r + static_cast<size_t>(j) * kBytes);
	for (int i = 0; i < nq; i++) {
		const uint8_t *a = q + static_cast<size_t>(i) * kBytes;
		const int32_t norm = dot(a, a);
		int32_t d1 = INT_MAX, d2 = INT_MAX, at = -1;
		for (int j = 0; j < nr; j++) {
			const int32_t d = norm + r_norm[j] - 2 * dot(a, r + static_cast<size_t>(j) * kBytes);
			if (d < d1) {
				d2 = d1;
				d1 = d;
				at = j;
			} else if (d < d2) {
				d2 = d;
			}
			if (d < r_best[j]) {
				r_best[j] = d;
				r_from[j] = i;
			}
		}
		const bool distinct = at >= 0 && (d2 == INT_MAX || static_cast<float>(d1) < ratio2 * static_cast<float>(d2));
		best[i] = distinct ? at : -1;
		distance[i] = d1;
	}
	for (int i = 0; i < nq; i++) {
		if (best[i] >= 0 && r_from[best[i]] != i) best[i] = -1;
	}
}

DOCENT_CLONES
void docent_nearest(const uint8_t *d, int n, const uint8_t *centres, int k, int32_t *nearest) {
	std::vector<int32_t> norm(k);
	for (int j = 0; j < k; j++) {
		norm[j] = dot(centres + static_cast<size_t>(j) * kBytes, centres + static_cast<size_t>(j) * kBytes);
	}
	for (int i = 0; i < n; i++) {
		const uint8_t *a = d + static_cast<size_t>(i) * kBytes;
		int32_t best = INT_MAX, at = 0;
		for (int j = 0; j < k; j++) {
			const int32_t v = norm[j] - 2 * dot(a, centres + static_cast<size_t>(j) * kBytes);
			if (v < best) {
				best = v;
				at = j;
			}
		}
		nearest[i] = at;
	}
}
