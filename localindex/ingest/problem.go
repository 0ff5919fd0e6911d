package ingest

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says what a problem means for a build.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // no release is built
	Warning Severity = "warning" // a release is built, and lacks what the message says
)

// Problem is one thing that is wrong with an authoring folder, for the person who wrote it.
type Problem struct {
	File     string   `json:"file"`           // slash-separated, below the folder
	Line     int      `json:"line,omitempty"` // 1-based; 0 where it is about the whole file
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
}

// String is the problem in one line, the way compilers print theirs.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", p.File, p.Severity, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Severity, p.Message)
}

// maxProblems bounds how many errors and how many warnings are reported; a folder that has more is better mended in
// steps. They are counted apart, so that warnings never hide an error.
const maxProblems = 1000

// Sort orders problems by file and line and drops what is said twice.
func Sort(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(problems)
}

// Errors counts the problems that stop a build.
func Errors(problems []Problem) int {
	n := 0
	for _, p := range problems {
		if p.Severity == Error {
			n++
		}
	}
	return n
}

// report collects problems.
type report struct {
	problems []Problem
	count    map[Severity]int // with those that are left out
}

func (r *report) add(file string, line int, s Severity, format string, args ...any) {
	if r.count == nil {
		r.count = map[Severity]int{}
	}
	if r.count[s]++; r.count[s] <= maxProblems {
		r.problems = append(r.problems, Problem{File: file, Line: line, Severity: s, Message: fmt.Sprintf(format, args...)})
	}
}

func (r *report) errorf(file string, line int, format string, args ...any) {
	r.add(file, line, Error, format, args...)
}

func (r *report) warnf(file string, line int, format string, args ...any) {
	r.add(file, line, Warning, format, args...)
}

// sorted returns the problems, and says where some were left out.
func (r *report) sorted() []Problem {
	problems := Sort(r.problems)
	for _, severity := range []Severity{Error, Warning} {
		if more := r.count[severity] - maxProblems; more > 0 {
			problems = append(problems, Problem{
				File: ".", Severity: severity, Message: fmt.Sprintf("there are %d more %ss; mend these first", more, severity),
			})
		}
	}
	return problems
}
