package selftest

import (
	"cmp"
	"slices"

	"docent/vision"
)

// summarise counts outcomes and sorts out who is to be mended.
func summarise(pictures int, outcomes []outcome, few []vision.WeakReference, alike []vision.Alike) Report {
	r := Report{Pictures: pictures}
	weak, pairs := weakList{}, pairList{}
	for _, w := range few {
		x := weak.of(w.ExhibitID, w.Picture)
		x.Few, x.Features = true, w.Features
	}
	tried := map[key]bool{}
	for _, o := range outcomes {
		if !o.taken {
			continue
		}
		tried[key{o.view.Exhibit, o.view.Picture}] = true
		r.Views++
		if w, ok := weak[key{o.view.Exhibit, o.view.Picture}]; ok || !o.offered() {
			if !ok {
				w = weak.of(o.view.Exhibit, o.view.Picture)
			}
			if !o.offered() {
				w.Missed = append(w.Missed, o.view)
			}
		}
		switch {
		case o.right():
			r.Recognised++
		case o.seen.Decision == vision.DecisionMatch:
			r.Wrong++
			c := o.seen.Candidates[0]
			p := pairs.of(o.view.Exhibit, o.view.Picture, c.ExhibitID, c.Picture)
			p.Wrong = append(p.Wrong, o.view)
		case o.offered():
			r.Offered++
			for _, c := range o.seen.Candidates {
				if c.ExhibitID != o.view.Exhibit {
					pairs.of(o.view.Exhibit, o.view.Picture, c.ExhibitID, c.Picture).Unsure++
				}
			}
		default:
			r.Missed++
		}
	}
	for _, o := range outcomes { // now that all weak ones are known
		if w, ok := weak[key{o.view.Exhibit, o.view.Picture}]; ok && o.taken {
			w.Views++
		}
	}
	for _, a := range alike {
		p := pairs.of(a.A.ExhibitID, a.A.Picture, a.B.ExhibitID, a.B.Picture)
		if a.Inliers > p.Inliers { // the likest pictures of both stand for them
			p.Inliers = a.Inliers
			p.show(a.A.ExhibitID, a.A.Picture, a.B.Picture)
		}
	}
	r.Tried = len(tried)
	r.Weak, r.WeakCount = weak.sorted()
	r.Pairs, r.PairsCount = pairs.sorted()
	return r
}

type key [2]string

type weakList map[key]*Weak

func (l weakList) of(exhibit, picture string) *Weak {
	k := key{exhibit, picture}
	if l[k] == nil {
		l[k] = &Weak{Exhibit: exhibit, Picture: picture}
	}
	return l[k]
}

// sorted returns those that most views missed first, then those with the fewest features.
func (l weakList) sorted() ([]Weak, int) {
	all := make([]Weak, 0, len(l))
	for _, w := range l {
		all = append(all, *w)
	}
	slices.SortFunc(all, func(a, b Weak) int {
		return cmp.Or(cmp.Compare(len(b.Missed), len(a.Missed)), cmp.Compare(a.Features, b.Features), cmp.Compare(a.Picture, b.Picture), cmp.Compare(a.Exhibit, b.Exhibit))
	})
	return all[:min(len(all), maxListed)], len(all)
}

type pairList map[key]*Pair

func (l pairList) of(a, pictureA, b, pictureB string) *Pair {
	if b < a {
		a, b, pictureA, pictureB = b, a, pictureB, pictureA
	}
	k := key{a, b}
	if l[k] == nil {
		l[k] = &Pair{A: a, B: b, PictureA: pictureA, PictureB: pictureB}
	}
	return l[k]
}

// show sets the pictures that stand for a pair; the first is of the exhibit.
func (p *Pair) show(exhibit, first, second string) {
	if exhibit != p.A {
		first, second = second, first
	}
	p.PictureA, p.PictureB = first, second
}

// sorted returns those that were named wrongly first, then those that visitors are asked about, then the likest.
func (l pairList) sorted() ([]Pair, int) {
	all := make([]Pair, 0, len(l))
	for _, p := range l {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(len(b.Wrong), len(a.Wrong)), cmp.Compare(b.Unsure, a.Unsure), cmp.Compare(b.Inliers, a.Inliers), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	return all[:min(len(all), maxListed)], len(all)
}
