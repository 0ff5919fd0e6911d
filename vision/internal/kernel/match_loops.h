// The inner loops of matching. This file has no include guard on purpose: it is included once per instruction set
// by match.cpp, each time within a namespace of its own that defines products().

// block_distances writes |b|² − 2ab for kBlock rows a and the rows b of a group.
inline void block_distances(const uint8_t *const *rows, const Packed &p, int g, int32_t d[kBlock][kLanes]) {
	products(rows, p.bytes + static_cast<size_t>(g) * p.chunks * kLanes * 4, p.chunks, d);
	const int32_t *norm = p.norm + static_cast<size_t>(g) * kLanes;
	for (int b = 0; b < kBlock; b++) {
		for (int l = 0; l < kLanes; l++) d[b][l] = norm[l] - 2 * d[b][l];
	}
}

// set_block points at kBlock rows from i on, the first again where there are fewer.
inline int set_block(const uint8_t *rows, int i, int n, int width, const uint8_t **block) {
	const int count = n - i < kBlock ? n - i : kBlock;
	for (int b = 0; b < kBlock; b++) block[b] = rows + static_cast<size_t>(i + (b < count ? b : 0)) * width;
	return count;
}

void two_nearest(const uint8_t *q, int nq, const int32_t *q_norm, const Packed &p, Lanes *lanes, int32_t *r_best,
                 int32_t *r_from) {
	int32_t d[kBlock][kLanes];
	const uint8_t *block[kBlock];
	for (int i = 0; i < nq; i += kBlock) {
		const int count = set_block(q, i, nq, p.chunks * 4, block);
		for (int g = 0; g < p.groups; g++) {
			block_distances(block, p, g, d);
			int32_t *rb = r_best + static_cast<size_t>(g) * kLanes, *rf = r_from + static_cast<size_t>(g) * kLanes;
			for (int b = 0; b < count; b++) {
				Lanes &x = lanes[i + b];
				const int32_t length = q_norm[i + b];
				for (int l = 0; l < kLanes; l++) {
					const int32_t v = d[b][l], first = x.first[l], larger = v > first ? v : first;
					x.second[l] = larger < x.second[l] ? larger : x.second[l];
					x.group[l] = v < first ? g : x.group[l];
					x.first[l] = v < first ? v : first;
					const int32_t whole = v + length, before = rb[l];
					rf[l] = whole < before ? i + b : rf[l];
					rb[l] = whole < before ? whole : before;
				}
			}
		}
	}
}

void all_distances(const uint8_t *rows, int n, const Packed &p, int k, int32_t *out) {
	int32_t d[kBlock][kLanes];
	const uint8_t *block[kBlock];
	for (int i = 0; i < n; i += kBlock) {
		const int count = set_block(rows, i, n, p.chunks * 4, block);
		for (int g = 0; g < p.groups; g++) {
			block_distances(block, p, g, d);
			const int width = k - g * kLanes < kLanes ? k - g * kLanes : kLanes;
			for (int b = 0; b < count; b++) {
				std::memcpy(out + static_cast<size_t>(i + b) * k + g * kLanes, d[b], sizeof(int32_t) * width);
			}
		}
	}
}

void nearest_rows(const uint8_t *rows, int n, const Packed &p, int32_t *nearest) {
	int32_t d[kBlock][kLanes];
	const uint8_t *block[kBlock];
	for (int i = 0; i < n; i += kBlock) {
		const int count = set_block(rows, i, n, p.chunks * 4, block);
		int32_t first[kBlock][kLanes], group[kBlock][kLanes];
		for (int b = 0; b < kBlock; b++) {
			for (int l = 0; l < kLanes; l++) first[b][l] = kFar, group[b][l] = 0;
		}
		for (int g = 0; g < p.groups; g++) {
			block_distances(block, p, g, d);
			for (int b = 0; b < kBlock; b++) {
				for (int l = 0; l < kLanes; l++) {
					group[b][l] = d[b][l] < first[b][l] ? g : group[b][l];
					first[b][l] = d[b][l] < first[b][l] ? d[b][l] : first[b][l];
				}
			}
		}
		for (int b = 0; b < count; b++) {
			int32_t best = first[b][0];
			int at = group[b][0] * kLanes;
			for (int l = 1; l < kLanes; l++) {
				const int row = group[b][l] * kLanes + l;
				if (first[b][l] < best || (first[b][l] == best && row < at)) best = first[b][l], at = row;
			}
			nearest[i + b] = at;
		}
	}
}
