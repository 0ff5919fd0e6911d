// C interface to OpenCV's networks. Nothing here throws across the border: a call returns 0, or -1 with a message in err.
#ifndef DOCENT_NEURAL_H
#define DOCENT_NEURAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// docent_net_open reads an ONNX model. docent_net_close releases it.
int docent_net_open(const char *model, size_t size, void **net, char *err, size_t err_size);
void docent_net_close(void *net);

// docent_net_layer says whether the model has a layer of that name: 1 or 0.
int docent_net_layer(void *net, const char *name, char *err, size_t err_size);

// docent_net_run gives a BGR picture of 8 bits to the net, at width × height, red first, as (value / 255 − mean) / std,
// and writes at most room numbers of the layer's output, averaged over places, to out; n is how many there are. An empty
// layer is the model's output.
int docent_net_run(void *net, const uint8_t *bgr, int rows, int cols, size_t step, int width, int height, const float *mean,
                   const float *std, const char *layer, float *out, int room, int *n, char *err, size_t err_size);

#ifdef __cplusplus
}
#endif
#endif
