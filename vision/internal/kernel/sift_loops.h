// The inner loops of the detector. Like match_loops.h this is included once per instruction set, within a namespace
// that defines kWidth, the number of floats of a vector register.

typedef float Vector __attribute__((vector_size(kWidth * 4), aligned(4), may_alias));
typedef int32_t Mask __attribute__((vector_size(kWidth * 4)));

// weigh_rows writes the sum of 2*radius+1 rows, weighed symmetrically: kernel[0] is the middle's weight. rows points
// at the middle one's pointer. width is rounded up to whole vectors, which all rows must have.
void weigh_rows(const float *const *rows, const float *kernel, int radius, int width, float *out) {
	for (int x = 0; x < width; x += 2 * kWidth) {
		const Vector *middle = reinterpret_cast<const Vector *>(rows[0] + x);
		Vector a = middle[0] * kernel[0], b = middle[1] * kernel[0];
		for (int i = 1; i <= radius; i++) {
			const Vector *up = reinterpret_cast<const Vector *>(rows[-i] + x);
			const Vector *down = reinterpret_cast<const Vector *>(rows[i] + x);
			a += (up[0] + down[0]) * kernel[i];
			b += (up[1] + down[1]) * kernel[i];
		}
		Vector *to = reinterpret_cast<Vector *>(out + x);
		to[0] = a;
		to[1] = b;
	}
}

// weigh_columns does the same along a row that goes on for radius floats to its left and for radius and two vectors
// to its right.
void weigh_columns(const float *row, const float *kernel, int radius, int width, float *out) {
	for (int x = 0; x < width; x += 2 * kWidth) {
		const Vector *middle = reinterpret_cast<const Vector *>(row + x);
		Vector a = middle[0] * kernel[0], b = middle[1] * kernel[0];
		for (int i = 1; i <= radius; i++) {
			const Vector *left = reinterpret_cast<const Vector *>(row + x - i);
			const Vector *right = reinterpret_cast<const Vector *>(row + x + i);
			a += (left[0] + right[0]) * kernel[i];
			b += (left[1] + right[1]) * kernel[i];
		}
		Vector *to = reinterpret_cast<Vector *>(out + x);
		to[0] = a;
		to[1] = b;
	}
}

inline Vector minus(const float *coarse, const float *fine, int at) {
	return *reinterpret_cast<const Vector *>(coarse + at) - *reinterpret_cast<const Vector *>(fine + at);
}

// promising appends to found the columns from first to before last where the difference of two successive levels,
// g[2] − g[1], is beyond ±threshold and no less extreme than its neighbours left, right, above and below, and at the
// scales above and below, g[3] − g[2] and g[1] − g[0]. Rows are stride floats apart.
int promising(const float *const g[4], int stride, float threshold, int first, int last, int *found) {
	int n = 0;
	for (int x = first; x < last; x += kWidth) {
		const Vector v = minus(g[2], g[1], x);
		Mask high = v > threshold, low = v < -threshold;
		const Mask beyond = high | low;
		int64_t parts[kWidth / 2], any = 0;
		std::memcpy(parts, &beyond, sizeof parts);
		for (int i = 0; i < kWidth / 2; i++) any |= parts[i];
		if (any == 0) continue;
		const Vector l = minus(g[2], g[1], x - 1), r = minus(g[2], g[1], x + 1);
		const Vector u = minus(g[2], g[1], x - stride), d = minus(g[2], g[1], x + stride);
		const Vector f = minus(g[1], g[0], x), c = minus(g[3], g[2], x);
		high &= (v >= l) & (v >= r) & (v >= u) & (v >= d) & (v >= f) & (v >= c);
		low &= (v <= l) & (v <= r) & (v <= u) & (v <= d) & (v <= f) & (v <= c);
		const Mask either = high | low;
		std::memcpy(parts, &either, sizeof parts);
		any = 0;
		for (int i = 0; i < kWidth / 2; i++) any |= parts[i];
		if (any == 0) continue;
		for (int i = 0; i < kWidth && x + i < last; i++) {
			if (either[i] != 0) found[n++] = x + i;
		}
	}
	return n;
}
