// Package vision turns a picture into an exhibit.
//
// In: a [Photo] from a camera source or an upload. Out: a [Recognition]: candidates with confidence, inliers
// and outline, a [Decision] (match, choose or unknown) and the time each stage took. The recognition index it
// reads is built once per release by [BuildIndex] and stored in it.
//
// It may import localindex/vector and the words of localindex/gallery, and nothing else of the house; it never
// imports sync or kiosk.
package vision
