package rollout

import (
	"cmp"
	"slices"

	"docent/sync/wire"
)

// Unknown are the kiosks that the plan names and that are not among the known ones: its group would wait for them in vain.
func (p Plan) Unknown(known []wire.Address) []wire.Address {
	is := make(map[wire.Address]bool, len(known))
	for _, k := range known {
		is[k] = true
	}
	var out []wire.Address
	for _, g := range p.Groups {
		for _, k := range g.Kiosks {
			if !is[wire.Address(k)] {
				out = append(out, wire.Address(k))
			}
		}
	}
	return out
}

// Alike are at most n of the known kiosks, those first whose names differ least from another one's.
func Alike(name wire.Address, known []wire.Address, n int) []wire.Address {
	type candidate struct {
		kiosk wire.Address
		edits int
	}
	all := make([]candidate, len(known))
	for i, k := range known {
		all[i] = candidate{k, edits(name.Site+"/"+name.Kiosk, k.Site+"/"+k.Kiosk)}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.edits, b.edits), cmp.Compare(a.kiosk.Site, b.kiosk.Site), cmp.Compare(a.kiosk.Kiosk, b.kiosk.Kiosk))
	})
	var out []wire.Address
	for _, c := range all[:min(n, len(all))] {
		out = append(out, c.kiosk)
	}
	return out
}

// edits is the Levenshtein distance in bytes: names are ASCII, of at most 129 bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
