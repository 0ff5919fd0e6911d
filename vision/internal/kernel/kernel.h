// C interface to the native parts of recognition: SIFT with RootSIFT bytes, descriptor matching, nearest centres
// and homographies. Nothing here throws across the border: a call returns 0, or -1 with a message in err.
#ifndef DOCENT_KERNEL_H
#define DOCENT_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// docent_point is one key point, in pixels of the picture the detector saw. The angle is in degrees.
typedef struct {
	float x, y, size, angle, response;
} docent_point;

// docent_features is n key points with n*128 descriptor bytes; docent_features_free releases both.
typedef struct {
	int n;
	docent_point *points;
	uint8_t *descriptors;
} docent_features;

typedef struct {
	int max_features;  // 0 keeps all
	double contrast, edge;
	int doubled;  // 1 looks at the picture at twice its size first, for finer features
} docent_sift_options;

int docent_sift(const uint8_t *pixels, int rows, int cols, size_t step, docent_sift_options options,
                docent_features *out, char *err, size_t err_size);
void docent_features_free(docent_features *f);

// All bytes of descriptors are at most 127.

// docent_match finds, for each of nq query descriptors, the nearest of nr reference descriptors (128 bytes each).
// best[i] is its number, or -1 where the squared distance is not below ratio2 times that of the second nearest, or
// where another query descriptor is nearer to that reference descriptor. level 0 takes the processor's best
// instructions, 1 none of them and 2 at most AVX2, for tests.
void docent_match(const uint8_t *q, int nq, const uint8_t *r, int nr, float ratio2, int level,
                  int32_t *best);

// docent_nearest writes the number of the nearest of k centres for each of n rows, width bytes each (a multiple of 4).
void docent_nearest(const uint8_t *rows, int n, int width, const uint8_t *centres, int k, int32_t *nearest);

// docent_distances writes, for each of n rows, its squared distance to each of k centres less the row's own squared
// length, which is the same for all of them.
void docent_distances(const uint8_t *rows, int n, int width, const uint8_t *centres, int k, int32_t *distances);

typedef struct {
	uint32_t at, bits;
} docent_near_hit;

// docent_near writes, for each list of signatures, the numbers from[i] to to[i] − 1, those that differ from wanted[i] in
// at most most bits, in order, and in how many. out has room for all of the lists. Returns how many there are. level 0
// takes the processor's best instructions, 1 none of them and 2 at most POPCNT, for tests.
int docent_near(const uint64_t *signatures, const uint32_t *from, const uint32_t *to, const uint64_t *wanted, int lists,
                int most, int level, docent_near_hit *out);

// docent_homography estimates the homography that maps src onto dst (n pairs of x, y) by MAGSAC++ (Barath et
// al., CVPR 2020) with a threshold in pixels of dst, refines it over its inliers, and marks them in mask. Returns the number of inliers, 0 where
// there is none.
int docent_homography(const float *src, const float *dst, int n, double threshold, int iterations, double *h,
                      uint8_t *mask, char *err, size_t err_size);

#ifdef __cplusplus
}
#endif
#endif
