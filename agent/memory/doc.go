// Package memory is what the guide remembers of a visit: the last turns of the talk and a summary of the older ones,
// and what the visitor said about themselves.
package memory
