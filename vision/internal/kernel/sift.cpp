#include "kernel.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <opencv2/calib3d.hpp>
#include <opencv2/features2d.hpp>

namespace {

const int kBytes = 128;

// root_sift turns a SIFT histogram into a Hellinger one (Arandjelović and Zisserman, CVPR 2012): divided by its
// sum, square root taken, so its Euclidean length is 1; stored in multiples of 1/254 up to 127, which only the rare
// value above .5 exceeds.
void root_sift(const float *in, uint8_t *out) {
	float sum = 1e-7f;
	for (int i = 0; i < kBytes; i++) sum += in[i];
	const float scale = 254.0f / std::sqrt(sum);
	for (int i = 0; i < kBytes; i++) {
		const float v = std::sqrt(in[i]) * scale + 0.5f;
		out[i] = v > 127.0f ? 127 : static_cast<uint8_t>(v);
	}
}

int fail(char *err, size_t size, const char *what) {
	if (err != nullptr && size > 0) std::snprintf(err, size, "%s", what);
	return -1;
}

}  // namespace

int docent_sift(const uint8_t *pixels, int rows, int cols, size_t step, docent_sift_options options,
                docent_features *out, char *err, size_t err_size) {
	out->n = 0;
	out->points = nullptr;
	out->descriptors = nullptr;
	try {
		const cv::Mat gray(rows, cols, CV_8UC1, const_cast<uint8_t *>(pixels), step);
		auto sift = cv::SIFT::create(options.max_features, 3, options.contrast, options.edge, options.sigma);
		std::vector<cv::KeyPoint> points;
		cv::Mat descriptors;
		sift->detectAndCompute(gray, cv::noArray(), points, descriptors);
		const int n = static_cast<int>(points.size());
		if (n == 0) return 0;
		out->points = static_cast<docent_point *>(std::malloc(sizeof(docent_point) * n));
		out->descriptors = static_cast<uint8_t *>(std::malloc(static_cast<size_t>(kBytes) * n));
		if (out->points == nullptr || out->descriptors == nullptr) {
			docent_features_free(out);
			return fail(err, err_size, "out of memory");
		}
		for (int i = 0; i < n; i++) {
			const cv::KeyPoint &p = points[i];
			out->points[i] = {p.pt.x, p.pt.y, p.size, p.angle, p.response};
			root_sift(descriptors.ptr<float>(i), out->descriptors + static_cast<size_t>(kBytes) * i);
		}
		out->n = n;
		return 0;
	} catch (const std::exception &e) {
		docent_features_free(out);
		return fail(err, err_size, e.what());
	}
}

void docent_features_free(docent_features *f) {
	std::free(f->points);
	std::free(f->descriptors);
	f->points = nullptr;
	f->descriptors = nullptr;
	f->n = 0;
}

int docent_homography(const float *src, const float *dst, int n, double threshold, int iterations, double *h,
                      uint8_t *mask, char *err, size_t err_size) {
	for (int i = 0; i < n; i++) mask[i] = 0;
	if (n < 4) return 0;
	try {
		const cv::Mat from(n, 1, CV_32FC2, const_cast<float *>(src));
		const cv::Mat to(n, 1, CV_32FC2, const_cast<float *>(dst));
		cv::Mat inliers;
		const cv::Mat m = cv::findHomography(from, to, cv::RANSAC, threshold, inliers, iterations, 0.999);
		if (m.empty() || m.type() != CV_64F) return 0;
		for (int i = 0; i < 9; i++) h[i] = m.at<double>(i / 3, i % 3);
		int count = 0;
		for (int i = 0; i < n; i++) {
			mask[i] = inliers.at<uint8_t>(i) != 0;
			count += mask[i];
		}
		return count;
	} catch (const std::exception &e) {
		return fail(err, err_size, e.what());
	}
}
