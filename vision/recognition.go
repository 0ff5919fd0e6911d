package vision

import "time"

// Decision says what to do with a recognition.
type Decision string

// The decisions.
const (
	DecisionMatch   Decision = "match"   // one exhibit, surely
	DecisionChoose  Decision = "choose"  // ask the visitor which of two or three it is
	DecisionUnknown Decision = "unknown" // nothing of this gallery
)

// Point is a place on the photo as fractions of its width and height, from the upper left corner. The corners of
// an outline may lie outside 0…1 where the exhibit is cut by the edge of the photo.
type Point struct{ X, Y float64 }

// Candidate is one exhibit a photo may show.
type Candidate struct {
	ExhibitID  string
	Picture    string  // reference picture that matched, as named in the index
	Confidence float64 // 0…1
	Inliers    int     // RANSAC inliers of the homography
	Outline    []Point // the reference's four corners on the photo, clockwise from its upper left; nil if not verified
}

// Recognition is the answer to one photo. Candidates are ordered best first. For a match the first is the answer, and
// up to two others are further works on the photo, as sure as it but less prominent; for a choice they are one to three
// cards to show; for unknown there are none.
type Recognition struct {
	Decision   Decision
	Candidates []Candidate
	Timings    Timings
}

// Timings is how long each stage took.
type Timings struct {
	Features  time.Duration
	Shortlist time.Duration
	Verify    time.Duration
	Total     time.Duration
}
