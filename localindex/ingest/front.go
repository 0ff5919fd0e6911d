package ingest

import "bytes"

// splitFront parts a file into its front matter and body. before counts the lines of each that come before it.
func splitFront(data []byte) (front, body []byte, bodyBefore int, problem string) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(bytes.TrimRight(first, " \t")) != "---" {
		return nil, data, 0, "the file must begin with its facts between two lines of three dashes (---)"
	}
	lines := 1
	for front = rest; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		lines++
		if string(bytes.TrimRight(line, " \t")) == "---" {
			return front[:len(front)-len(rest)], after, lines, ""
		}
		rest = after
	}
	return front, nil, lines, "the facts at the beginning are not closed by a line of three dashes (---)"
}
