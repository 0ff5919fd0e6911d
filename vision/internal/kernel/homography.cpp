#include "kernel.h"

#include <exception>

#include <opencv2/calib3d.hpp>

#include "fail.h"

int docent_homography(const float *src, const float *dst, int n, double threshold, int iterations, double *h,
                      uint8_t *mask, char *err, size_t err_size) {
	for (int i = 0; i < n; i++) mask[i] = 0;
	if (n < 4) return 0;
	try {
		const cv::Mat from(n, 1, CV_32FC2, const_cast<float *>(src));
		const cv::Mat to(n, 1, CV_32FC2, const_cast<float *>(dst));
		cv::Mat inliers;
		const cv::Mat m = cv::findHomography(from, to, cv::USAC_MAGSAC, threshold, inliers, iterations, 0.999);
		if (m.empty() || m.type() != CV_64F) return 0;
		for (int i = 0; i < 9; i++) h[i] = m.at<double>(i / 3, i % 3);
		int count = 0;
		for (int i = 0; i < n; i++) {
			mask[i] = inliers.at<uint8_t>(i) != 0;
			count += mask[i];
		}
		return count;
	} catch (const std::exception &e) {
		return docent_fail(err, err_size, e.what());
	}
}
