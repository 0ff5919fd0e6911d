#include "net.h"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <opencv2/dnn.hpp>
#include <opencv2/imgproc.hpp>

namespace {

int fail(char *err, size_t size, const char *what) {
	if (err != nullptr && size > 0) std::snprintf(err, size, "%s", what);
	return -1;
}

}  // namespace

int docent_net_open(const char *model, size_t size, void **net, char *err, size_t err_size) {
	try {
		cv::dnn::Net n = cv::dnn::readNetFromONNX(model, size);
		if (n.empty()) return fail(err, err_size, "it holds no network");
		n.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
		n.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
		*net = new cv::dnn::Net(n);
		return 0;
	} catch (const std::exception &e) {
		return fail(err, err_size, e.what());
	}
}

void docent_net_close(void *net) { delete static_cast<cv::dnn::Net *>(net); }

int docent_net_layer(void *net, const char *name, char *err, size_t err_size) {
	try {
		for (const std::string &n : static_cast<cv::dnn::Net *>(net)->getLayerNames()) {
			if (n == name) return 1;
		}
		return 0;
	} catch (const std::exception &e) {
		return fail(err, err_size, e.what());
	}
}

int docent_net_run(void *net, const uint8_t *bgr, int rows, int cols, size_t step, int width, int height, const float *mean,
                   const float *std, const char *layer, float *out, int room, int *n, char *err, size_t err_size) {
	try {
		const cv::Mat picture(rows, cols, CV_8UC3, const_cast<uint8_t *>(bgr), step);
		cv::Mat small;
		const bool shrinks = cols > width && rows > height;
		cv::resize(picture, small, cv::Size(width, height), 0, 0, shrinks ? cv::INTER_AREA : cv::INTER_LINEAR);
		const int shape[] = {1, 3, height, width};
		cv::Mat blob(4, shape, CV_32F);
		for (int y = 0; y < height; y++) {
			const uint8_t *row = small.ptr<uint8_t>(y);
			for (int c = 0; c < 3; c++) {
				float *to = blob.ptr<float>(0, c) + static_cast<size_t>(y) * width;
				for (int x = 0; x < width; x++) to[x] = (row[3 * x + 2 - c] / 255.0f - mean[c]) / std[c];
			}
		}
		cv::dnn::Net &model = *static_cast<cv::dnn::Net *>(net);
		model.setInput(blob);
		const std::string name(layer);
		cv::Mat result = name.empty() ? model.forward() : model.forward(name);
		if (result.depth() != CV_32F || !result.isContinuous()) return fail(err, err_size, "its output is not of 32 bit numbers");
		int channels = 0, places = 1;
		if (result.dims == 4 && result.size[0] == 1) {
			channels = result.size[1];
			places = result.size[2] * result.size[3];
		} else if (result.dims == 2 && result.size[0] == 1) {
			channels = result.size[1];
		} else {
			return fail(err, err_size, "its output is neither of one row (1 × n) nor of channels and places (1 × n × height × width)");
		}
		*n = channels;
		const float *values = result.ptr<float>();
		for (int c = 0; c < channels && c < room; c++) {
			double sum = 0;
			for (int i = 0; i < places; i++) sum += values[static_cast<size_t>(c) * places + i];
			out[c] = static_cast<float>(sum / places);
		}
		return 0;
	} catch (const std::exception &e) {
		return fail(err, err_size, e.what());
	}
}
