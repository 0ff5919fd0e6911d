package agent

import (
	"math"
	"strings"
	"time"

	"docent/agent/plan"
)

// visitOf is what the visitor said about themselves as far as plans are made by it.
func visitOf(t Turn, now time.Time) plan.Visit {
	var v plan.Visit
	for _, r := range t.Remembered {
		_, thing, _ := strings.Cut(r.Key, "/")
		switch r.Kind {
		case "time":
			until, err := time.Parse(time.RFC3339, r.Value)
			if left := until.Sub(now).Minutes(); err == nil && left >= 1 {
				v.Minutes = int(math.Min(left, maxVisitMinutes))
			}
		case "access":
			switch r.Value {
			case "wheelchair", "walking", "step_free", "stroller":
				v.StepFree = true
			}
		case "children":
			v.Children = true
		case "interest":
			if r.Value == "dislikes" {
				v.Dislikes = append(v.Dislikes, thing)
			} else {
				v.Likes = append(v.Likes, thing)
			}
		}
	}
	return v
}

// maxVisitMinutes bounds what is planned for.
const maxVisitMinutes = 480
