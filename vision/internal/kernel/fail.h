#ifndef DOCENT_FAIL_H
#define DOCENT_FAIL_H

#include <cstddef>
#include <cstdio>

// docent_fail says what went wrong in err and returns -1.
inline int docent_fail(char *err, size_t size, const char *what) {
	if (err != nullptr && size > 0) std::snprintf(err, size, "%s", what);
	return -1;
}

#endif
