#include "kernel.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include <opencv2/core/utility.hpp>

#include "fail.h"

// SIFT (Lowe, IJCV 2004) written for speed. It differs from OpenCV's in three ways. Filters are cut at three standard
// deviations and run over blocks of rows that stay in the cache. The strongest key points are chosen before their
// directions and descriptors are computed. Directions and descriptors are computed on a small grid laid over the
// point at its scale and direction, so each takes the same few hundred samples at any size, and the weights of the
// samples are constants.

namespace {

const int kScales = 3;          // per octave
const float kSigma = 1.6f;      // blur of an octave's first level
const float kCameraBlur = 0.5f; // blur a picture is taken to have
const int kBorder = 5;          // pixels along the edge without key points
const int kMinOctave = 12;      // pixels of the shorter side
const int kMaxRadius = 12;
const int kPad = 32;            // floats; two vectors of the widest kind

namespace plain {
const int kWidth = 4;
#include "sift_loops.h"
}  // namespace plain

#if defined(__x86_64__) && defined(__GNUC__)
#define DOCENT_X86 1
#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
const int kWidth = 8;
#include "sift_loops.h"
}  // namespace avx2
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,fma,prefer-vector-width=512")
namespace avx512 {
const int kWidth = 16;
#include "sift_loops.h"
}  // namespace avx512
#pragma GCC pop_options
#endif

struct Loops {
	decltype(&plain::weigh_rows) weigh_rows;
	decltype(&plain::weigh_columns) weigh_columns;
	decltype(&plain::promising) promising;
};

Loops loops() {
#ifdef DOCENT_X86
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512dq")) {
		return {avx512::weigh_rows, avx512::weigh_columns, avx512::promising};
	}
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		return {avx2::weigh_rows, avx2::weigh_columns, avx2::promising};
	}
#endif
	return {plain::weigh_rows, plain::weigh_columns, plain::promising};
}

// Plane is a gray picture of floats, 0 to 255. Its rows are padded to whole vectors.
struct Plane {
	int width = 0, height = 0, stride = 0;
	std::unique_ptr<float[]> data;

	void allocate(int w, int h) {
		width = w;
		height = h;
		stride = (w + kPad - 1) / kPad * kPad + kPad;
		data.reset(new float[static_cast<size_t>(stride) * h]);
		for (int y = 0; y < h; y++) std::fill(row(y) + w, row(y) + stride, 0.0f);
	}
	float *row(int y) { return data.get() + static_cast<size_t>(stride) * y; }
	const float *row(int y) const { return data.get() + static_cast<size_t>(stride) * y; }
	int padded() const { return (width + kPad - 1) / kPad * kPad; }
};

// mirrored is i reflected at the edges of 0 … n−1, which are not doubled.
int mirrored(int i, int n) {
	if (n == 1) return 0;
	while (i < 0 || i >= n) i = i < 0 ? -i : 2 * n - 2 - i;
	return i;
}

// stripes runs work on parts of 0 … n−1, on several threads where that pays.
template <class Work>
void stripes(int n, int width, Work work) {
	const int kRows = 32;
	const int parts = (n + kRows - 1) / kRows;
	if (static_cast<int64_t>(n) * width < 1 << 16) {
		work(0, n, 0);
		return;
	}
	cv::parallel_for_(cv::Range(0, parts), [&](const cv::Range &r) {
		for (int p = r.start; p < r.end; p++) work(p * kRows, std::min(n, (p + 1) * kRows), p);
	});
}

// blur writes in, blurred by a Gaussian of sigma pixels, to out.
void blur(const Loops &l, const Plane &in, float sigma, Plane *out) {
	out->allocate(in.width, in.height);
	const int radius = std::min(kMaxRadius, std::max(1, static_cast<int>(std::ceil(3 * sigma))));
	float kernel[kMaxRadius + 1], sum = 0;
	for (int i = 0; i <= radius; i++) {
		kernel[i] = std::exp(-i * i / (2 * sigma * sigma));
		sum += i == 0 ? kernel[i] : 2 * kernel[i];
	}
	for (int i = 0; i <= radius; i++) kernel[i] /= sum;

	stripes(in.height, in.width, [&](int from, int to, int) {
		std::vector<float> line(in.padded() + 2 * kPad + 2 * kMaxRadius);
		float *middle = line.data() + kPad;
		const float *rows[2 * kMaxRadius + 1];
		for (int y = from; y < to; y++) {
			for (int i = -radius; i <= radius; i++) rows[i + radius] = in.row(mirrored(y + i, in.height));
			l.weigh_rows(rows + radius, kernel, radius, in.padded(), middle);
			for (int i = 1; i <= radius; i++) {
				middle[-i] = middle[mirrored(-i, in.width)];
				middle[in.width - 1 + i] = middle[mirrored(in.width - 1 + i, in.width)];
			}
			l.weigh_columns(middle, kernel, radius, in.padded(), out->row(y));
		}
	});
}

// doubled is a picture twice as large, pixel x, y at 2x, 2y.
void doubled(const uint8_t *pixels, int rows, int cols, size_t step, Plane *out) {
	out->allocate(2 * cols, 2 * rows);
	for (int y = 0; y < rows; y++) {
		const uint8_t *in = pixels + y * step;
		float *row = out->row(2 * y);
		for (int x = 0; x + 1 < cols; x++) {
			row[2 * x] = in[x];
			row[2 * x + 1] = 0.5f * (in[x] + in[x + 1]);
		}
		row[2 * cols - 2] = row[2 * cols - 1] = in[cols - 1];
	}
	for (int y = 0; y < rows; y++) {
		const float *above = out->row(2 * y), *below = out->row(y + 1 < rows ? 2 * y + 2 : 2 * y);
		float *row = out->row(2 * y + 1);
		for (int x = 0; x < 2 * cols; x++) row[x] = 0.5f * (above[x] + below[x]);
	}
}

void plain_copy(const uint8_t *pixels, int rows, int cols, size_t step, Plane *out) {
	out->allocate(cols, rows);
	for (int y = 0; y < rows; y++) {
		const uint8_t *in = pixels + y * step;
		float *row = out->row(y);
		for (int x = 0; x < cols; x++) row[x] = in[x];
	}
}

// halved takes every second pixel of every second row.
void halved(const Plane &in, Plane *out) {
	out->allocate((in.width + 1) / 2, (in.height + 1) / 2);
	for (int y = 0; y < out->height; y++) {
		const float *from = in.row(2 * y);
		float *to = out->row(y);
		for (int x = 0; x < out->width; x++) to[x] = from[2 * x];
	}
}

// Octave is a picture at kScales + 3 degrees of blur, each 2^(1/kScales) times the one before.
struct Octave {
	Plane level[kScales + 3];

	// difference is what the blur between two levels takes away, at level 0 to kScales + 1.
	float difference(int l, int x, int y) const { return level[l + 1].row(y)[x] - level[l].row(y)[x]; }
};

// Spot is an extremum of the differences: its place in pixels of its octave, its blur in the same, and its level.
struct Spot {
	float x, y, sigma, response;
	int octave, level;
};

// is_extreme compares with all 26 neighbours.
bool is_extreme(const Octave &o, int level, int x, int y) {
	const float v = o.difference(level, x, y);
	for (int s = -1; s <= 1; s++) {
		for (int dy = -1; dy <= 1; dy++) {
			for (int dx = -1; dx <= 1; dx++) {
				const float w = o.difference(level + s, x + dx, y + dy);
				if (v > 0 ? w > v : w < v) return false;
			}
		}
	}
	return true;
}

// solve solves the symmetric 3×3 system h·x = b.
bool solve(const double h[3][3], const double b[3], double x[3]) {
	const double c00 = h[1][1] * h[2][2] - h[1][2] * h[1][2], c01 = h[0][2] * h[1][2] - h[0][1] * h[2][2],
	             c02 = h[0][1] * h[1][2] - h[0][2] * h[1][1], c11 = h[0][0] * h[2][2] - h[0][2] * h[0][2],
	             c12 = h[0][1] * h[0][2] - h[0][0] * h[1][2], c22 = h[0][0] * h[1][1] - h[0][1] * h[0][1];
	const double det = h[0][0] * c00 + h[0][1] * c01 + h[0][2] * c02;
	if (std::fabs(det) < 1e-12) return false;
	x[0] = (c00 * b[0] + c01 * b[1] + c02 * b[2]) / det;
	x[1] = (c01 * b[0] + c11 * b[1] + c12 * b[2]) / det;
	x[2] = (c02 * b[0] + c12 * b[1] + c22 * b[2]) / det;
	return true;
}

// refine moves an extremum to where a parabola through its neighbours has its peak, and drops it where that has too
// little contrast or lies on an edge.
bool refine(const Octave &o, int octave, int level, int x, int y, double contrast, double edge, Spot *out) {
	double offset[3] = {0, 0, 0}, gradient[3], h[3][3];
	for (int step = 0;; step++) {
		const auto d = [&](int s, int dx, int dy) -> double { return o.difference(level + s, x + dx, y + dy); };
		const double c = d(0, 0, 0);
		gradient[0] = 0.5 * (d(0, 1, 0) - d(0, -1, 0));
		gradient[1] = 0.5 * (d(0, 0, 1) - d(0, 0, -1));
		gradient[2] = 0.5 * (d(1, 0, 0) - d(-1, 0, 0));
		h[0][0] = d(0, 1, 0) + d(0, -1, 0) - 2 * c;
		h[1][1] = d(0, 0, 1) + d(0, 0, -1) - 2 * c;
		h[2][2] = d(1, 0, 0) + d(-1, 0, 0) - 2 * c;
		h[0][1] = h[1][0] = 0.25 * (d(0, 1, 1) - d(0, -1, 1) - d(0, 1, -1) + d(0, -1, -1));
		h[0][2] = h[2][0] = 0.25 * (d(1, 1, 0) - d(1, -1, 0) - d(-1, 1, 0) + d(-1, -1, 0));
		h[1][2] = h[2][1] = 0.25 * (d(1, 0, 1) - d(1, 0, -1) - d(-1, 0, 1) + d(-1, 0, -1));
		const double minus[3] = {-gradient[0], -gradient[1], -gradient[2]};
		if (!solve(h, minus, offset)) return false;
		if (std::fabs(offset[0]) < 0.5 && std::fabs(offset[1]) < 0.5 && std::fabs(offset[2]) < 0.5) break;
		if (step == 4 || std::fabs(offset[0]) > 1e3 || std::fabs(offset[1]) > 1e3 || std::fabs(offset[2]) > 1e3) return false;
		x += static_cast<int>(std::lround(offset[0]));
		y += static_cast<int>(std::lround(offset[1]));
		level += static_cast<int>(std::lround(offset[2]));
		const Plane &p = o.level[0];
		if (level < 1 || level > kScales || x < kBorder || x >= p.width - kBorder || y < kBorder || y >= p.height - kBorder) return false;
	}
	const double value = o.difference(level, x, y) + 0.5 * (gradient[0] * offset[0] + gradient[1] * offset[1] + gradient[2] * offset[2]);
	if (std::fabs(value) / 255 * kScales < contrast) return false;
	const double trace = h[0][0] + h[1][1], det = h[0][0] * h[1][1] - h[0][1] * h[0][1];
	if (det <= 0 || trace * trace * edge >= (edge + 1) * (edge + 1) * det) return false;
	out->x = static_cast<float>(x + offset[0]);
	out->y = static_cast<float>(y + offset[1]);
	out->sigma = static_cast<float>(kSigma * std::pow(2.0, (level + offset[2]) / kScales));
	out->response = static_cast<float>(std::fabs(value) / 255);
	out->octave = octave;
	out->level = level;
	return true;
}

void find_spots(const Loops &l, const Octave &o, int octave, double contrast, double edge, std::vector<Spot> *spots) {
	const Plane &first = o.level[0];
	const int rows = first.height - 2 * kBorder;
	if (rows < 1 || first.width <= 2 * kBorder) return;
	const float threshold = static_cast<float>(0.5 * contrast / kScales * 255);
	for (int level = 1; level <= kScales; level++) {
		std::vector<std::vector<Spot>> parts((rows + 31) / 32);
		stripes(rows, first.width, [&](int from, int to, int part) {
			std::vector<int> columns(first.width);
			for (int y = from + kBorder; y < to + kBorder; y++) {
				const float *g[4];
				for (int i = 0; i < 4; i++) g[i] = o.level[level - 1 + i].row(y);
				const int n = l.promising(g, first.stride, threshold, kBorder, first.width - kBorder, columns.data());
				for (int i = 0; i < n; i++) {
					Spot s;
					if (is_extreme(o, level, columns[i], y) && refine(o, octave, level, columns[i], y, contrast, edge, &s)) {
						parts[part].push_back(s);
					}
				}
			}
		});
		for (const auto &part : parts) spots->insert(spots->end(), part.begin(), part.end());
	}
}

// sample reads a picture between its pixels; beyond the edge it repeats the last ones.
inline float sample(const Plane &p, float x, float y) {
	x = std::min(std::max(x, 0.0f), static_cast<float>(p.width) - 1.001f);
	y = std::min(std::max(y, 0.0f), static_cast<float>(p.height) - 1.001f);
	const int ix = static_cast<int>(x), iy = static_cast<int>(y);
	const float fx = x - ix, fy = y - iy;
	const float *a = p.row(iy) + ix, *b = a + p.stride;
	const float top = a[0] + fx * (a[1] - a[0]), bottom = b[0] + fx * (b[1] - b[0]);
	return top + fy * (bottom - top);
}

// grid samples n×n places around a point, step pixels apart, turned by the angle whose cosine and sine are given.
void grid(const Plane &p, float x, float y, float cosine, float sine, float step, int n, float *out) {
	const float middle = 0.5f * (n - 1);
	for (int j = 0; j < n; j++) {
		const float v = (j - middle) * step;
		for (int i = 0; i < n; i++) {
			const float u = (i - middle) * step;
			out[j * n + i] = sample(p, x + u * cosine - v * sine, y + u * sine + v * cosine);
		}
	}
}

const float kTau = 6.28318530718f;

// turns is atan2(y, x) in turns, 0 to 1, within 0.0003 turns (a polynomial of the arc tangent on 0 … 1).
inline float turns(float y, float x) {
	const float ax = std::fabs(x), ay = std::fabs(y);
	const float large = std::max(ax, ay), small = std::min(ax, ay);
	const float a = small / (large + 1e-20f), s = a * a;
	float r = ((-0.0464964749f * s + 0.15931422f) * s - 0.327622764f) * s * a + a;
	if (ay > ax) r = 1.57079637f - r;
	if (x < 0) r = 3.14159274f - r;
	if (y < 0) r = kTau - r;
	r *= 1 / kTau;
	return r >= 1 ? 0 : r;
}

// Directions: gradients within 4.5 sigma, weighed by a Gaussian of 1.5 sigma, in 36 bins.
const int kDirectionGrid = 15, kDirectionBins = 36;
const float kGridStep = 0.75f;  // sigma between samples: the picture there has no detail finer than sigma

// directions writes up to 4 directions in turns: the peaks of at least 0.8 of the highest.
int directions(const Plane &p, const Spot &s, float out[4]) {
	float g[kDirectionGrid * kDirectionGrid];
	grid(p, s.x, s.y, 1, 0, kGridStep * s.sigma, kDirectionGrid, g);
	float histogram[kDirectionBins] = {0};
	const float middle = 0.5f * (kDirectionGrid - 1);
	for (int j = 1; j < kDirectionGrid - 1; j++) {
		for (int i = 1; i < kDirectionGrid - 1; i++) {
			const float *at = g + j * kDirectionGrid + i;
			const float dx = at[1] - at[-1], dy = at[kDirectionGrid] - at[-kDirectionGrid];
			const float u = (i - middle) * kGridStep / 1.5f, v = (j - middle) * kGridStep / 1.5f;
			const float weight = std::sqrt(dx * dx + dy * dy) * std::exp(-0.5f * (u * u + v * v));
			const float bin = turns(dy, dx) * kDirectionBins;
			const int whole = static_cast<int>(bin);
			const float part = bin - whole;
			histogram[whole % kDirectionBins] += weight * (1 - part);
			histogram[(whole + 1) % kDirectionBins] += weight * part;
		}
	}
	float smooth[kDirectionBins], highest = 0;
	for (int b = 0; b < kDirectionBins; b++) {
		const auto h = [&](int k) { return histogram[(b + k + kDirectionBins) % kDirectionBins]; };
		smooth[b] = (h(-2) + h(2)) / 16 + (h(-1) + h(1)) / 4 + h(0) * 3 / 8;
		highest = std::max(highest, smooth[b]);
	}
	int n = 0;
	for (int b = 0; b < kDirectionBins && n < 4; b++) {
		const float before = smooth[(b + kDirectionBins - 1) % kDirectionBins], after = smooth[(b + 1) % kDirectionBins];
		if (smooth[b] <= before || smooth[b] <= after || smooth[b] < 0.8f * highest) continue;
		const float peak = b + 0.5f * (before - after) / (before - 2 * smooth[b] + after);
		const float turn = peak / kDirectionBins;
		out[n++] = turn < 0 ? turn + 1 : turn >= 1 ? turn - 1 : turn;
	}
	return n;
}

// Descriptors: 4×4 cells of 3 sigma, 8 directions each; samples reach half a cell beyond, 20 along a side.
const int kCells = 4, kDirections = 8, kBytes = kCells * kCells * kDirections;
const int kDescriptorGrid = 22, kSamples = kDescriptorGrid - 2;

// Axis says which two cells a sample along one axis adds to, and how much.
struct Axis {
	int first;  // −1 to 3
	float low, high;
};

void axes(Axis out[kSamples]) {
	for (int i = 0; i < kSamples; i++) {
		const float place = (i - 0.5f * (kSamples - 1)) * kGridStep / 3;  // in cells from the middle
		const float weight = std::exp(-place * place / (0.5f * kCells * kCells));
		const float cell = place + 0.5f * kCells - 0.5f;
		out[i].first = static_cast<int>(std::floor(cell));
		out[i].high = weight * (cell - out[i].first);
		out[i].low = weight - out[i].high;
	}
}

void describe(const Plane &p, const Spot &s, float turn, const Axis *axis, uint8_t *out) {
	float g[kDescriptorGrid * kDescriptorGrid];
	grid(p, s.x, s.y, std::cos(turn * kTau), std::sin(turn * kTau), kGridStep * s.sigma, kDescriptorGrid, g);
	float histogram[kCells][kCells][kDirections] = {{{0}}};
	for (int j = 0; j < kSamples; j++) {
		float line[kCells + 2][kDirections + 1] = {{0}};  // cells −1 to 4; direction 8 is 0 again
		for (int i = 0; i < kSamples; i++) {
			const float *at = g + (j + 1) * kDescriptorGrid + i + 1;
			const float dx = at[1] - at[-1], dy = at[kDescriptorGrid] - at[-kDescriptorGrid];
			const float strength = std::sqrt(dx * dx + dy * dy);
			const float bin = turns(dy, dx) * kDirections;
			const int whole = std::min(static_cast<int>(bin), kDirections - 1);
			const float up = strength * (bin - whole), down = strength - up;
			float *low = line[axis[i].first + 1], *high = line[axis[i].first + 2];
			low[whole] += axis[i].low * down;
			low[whole + 1] += axis[i].low * up;
			high[whole] += axis[i].high * down;
			high[whole + 1] += axis[i].high * up;
		}
		for (int c = 0; c < kCells; c++) {
			line[c + 1][0] += line[c + 1][kDirections];
			for (int side = 0; side < 2; side++) {
				const int r = axis[j].first + side;
				if (r < 0 || r >= kCells) continue;
				const float weight = side == 0 ? axis[j].low : axis[j].high;
				for (int d = 0; d < kDirections; d++) histogram[r][c][d] += weight * line[c + 1][d];
			}
		}
	}

	// No value may hold more than a fifth of the whole, so that one bright edge does not outweigh the rest.
	float *h = &histogram[0][0][0];
	float squares = 0, sum = 1e-7f;
	for (int i = 0; i < kBytes; i++) squares += h[i] * h[i];
	const float most = 0.2f * std::sqrt(squares);
	for (int i = 0; i < kBytes; i++) {
		h[i] = std::min(h[i], most);
		sum += h[i];
	}
	// RootSIFT (Arandjelović and Zisserman, CVPR 2012): divided by their sum, square root taken, so the length is 1;
	// stored in multiples of 1/254 up to 127, which only the rare value above .5 exceeds.
	const float scale = 254 / std::sqrt(sum);
	for (int i = 0; i < kBytes; i++) {
		const float v = std::sqrt(h[i]) * scale + 0.5f;
		out[i] = v > 127 ? 127 : static_cast<uint8_t>(v);
	}
}

bool stronger(const Spot &a, const Spot &b) {
	if (a.response != b.response) return a.response > b.response;
	if (a.octave != b.octave) return a.octave < b.octave;
	if (a.y != b.y) return a.y < b.y;
	return a.x < b.x;
}

void sift(const uint8_t *pixels, int rows, int cols, size_t step, const docent_sift_options &o, docent_features *out) {
	const Loops l = loops();
	Plane base;
	const float scale = o.doubled ? 0.5f : 1.0f;  // of an octave 0 pixel in pixels of the picture
	if (o.doubled) {
		doubled(pixels, rows, cols, step, &base);
	} else {
		plain_copy(pixels, rows, cols, step, &base);
	}
	const float blurred = kCameraBlur / scale;

	std::vector<Octave> octaves;
	int shorter = std::min(base.width, base.height);
	for (; shorter >= kMinOctave; shorter /= 2) octaves.emplace_back();
	std::vector<Spot> spots;
	for (size_t i = 0; i < octaves.size(); i++) {
		Octave &octave = octaves[i];
		if (i == 0) {
			blur(l, base, std::sqrt(std::max(kSigma * kSigma - blurred * blurred, 0.01f)), &octave.level[0]);
			base.data.reset();
		} else {
			halved(octaves[i - 1].level[kScales], &octave.level[0]);
		}
		for (int s = 1; s < kScales + 3; s++) {
			const float before = kSigma * std::pow(2.0f, (s - 1.0f) / kScales), after = before * std::pow(2.0f, 1.0f / kScales);
			blur(l, octave.level[s - 1], std::sqrt(after * after - before * before), &octave.level[s]);
		}
		find_spots(l, octave, static_cast<int>(i), o.contrast, o.edge, &spots);
		for (int s : {kScales + 1, kScales + 2}) octave.level[s].data.reset();
	}
	std::sort(spots.begin(), spots.end(), stronger);
	if (o.max_features > 0 && spots.size() > static_cast<size_t>(o.max_features)) spots.resize(o.max_features);

	// A spot may have several directions, and the weakest spots then fall out.
	struct Turned {
		const Spot *spot;
		float turn;
	};
	std::vector<float> found(spots.size() * 4);
	std::vector<int> count(spots.size());
	stripes(static_cast<int>(spots.size()), 1 << 12, [&](int from, int to, int) {
		for (int i = from; i < to; i++) {
			count[i] = directions(octaves[spots[i].octave].level[spots[i].level], spots[i], &found[4 * i]);
		}
	});
	std::vector<Turned> turned;
	for (size_t i = 0; i < spots.size(); i++) {
		for (int d = 0; d < count[i]; d++) turned.push_back({&spots[i], found[4 * i + d]});
	}
	if (o.max_features > 0 && turned.size() > static_cast<size_t>(o.max_features)) turned.resize(o.max_features);
	const int n = static_cast<int>(turned.size());
	if (n == 0) return;
	out->points = static_cast<docent_point *>(std::malloc(sizeof(docent_point) * n));
	out->descriptors = static_cast<uint8_t *>(std::malloc(static_cast<size_t>(kBytes) * n));
	if (out->points == nullptr || out->descriptors == nullptr) throw std::bad_alloc();
	Axis axis[kSamples];
	axes(axis);
	stripes(n, 1 << 12, [&](int from, int to, int) {
		for (int i = from; i < to; i++) {
			const Spot &s = *turned[i].spot;
			describe(octaves[s.octave].level[s.level], s, turned[i].turn, axis, out->descriptors + static_cast<size_t>(kBytes) * i);
			const float pixel = scale * static_cast<float>(1 << s.octave);
			out->points[i] = {s.x * pixel, s.y * pixel, 2 * s.sigma * pixel, 360 * turned[i].turn, s.response};
		}
	});
	out->n = n;
}

}  // namespace

int docent_sift(const uint8_t *pixels, int rows, int cols, size_t step, docent_sift_options options,
                docent_features *out, char *err, size_t err_size) {
	out->n = 0;
	out->points = nullptr;
	out->descriptors = nullptr;
	try {
		sift(pixels, rows, cols, step, options, out);
		return 0;
	} catch (const std::exception &e) {
		docent_features_free(out);
		return docent_fail(err, err_size, e.what());
	}
}

void docent_features_free(docent_features *f) {
	std::free(f->points);
	std::free(f->descriptors);
	f->points = nullptr;
	f->descriptors = nullptr;
	f->n = 0;
}
