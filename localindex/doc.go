// Package localindex is the content on disk: what a kiosk knows about its gallery.
//
// In: an authoring folder (see ingest) read into a [gallery.Gallery]. Out: an immutable, opened [Release]
// with the catalogue, sections and passages, the text index, pictures and venue facts, and a search over them.
// Every file of a release is named with its SHA-256 in the manifest and checked when it is opened.
//
// It may import nothing of the other areas; agent and kiosk read it, vision uses only localindex/vector.
package localindex
