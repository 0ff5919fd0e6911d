package pass

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/agent/memory"
	"docent/kiosk/visit"
	"docent/sync/wire"
)

const site = "museum"

var id = base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{7}, idBytes))

func hubKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
}

func given(expires time.Time) Pass {
	p := Pass{Visit: id, Expires: expires.UTC().Truncate(time.Second)}
	p.Signature = ed25519.Sign(hubKey(), wire.PassText(site, p.Name(), p.Expires))
	return p
}

func TestPass(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	p := given(now.Add(time.Hour))
	got, err := Parse(" " + p.String() + "\n")
	if err != nil || cmp.Diff(p, got) != "" {
		t.Fatalf("%v %s", err, cmp.Diff(p, got))
	}
	if len(p.String()) > 154 { // what a code of 41 squares a side holds at level M
		t.Errorf("a pass has %d characters", len(p.String()))
	}
	key := hubKey().Public().(ed25519.PublicKey)
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	longer, another := p, p
	longer.Expires = p.Expires.Add(time.Second)
	another.Visit = base64.RawURLEncoding.EncodeToString(make([]byte, idBytes))
	for _, tt := range []struct {
		name string
		p    Pass
		key  ed25519.PublicKey
		site string
		at   time.Time
		want error
	}{
		{"good", p, key, site, now, nil},
		{"run out", p, key, site, now.Add(time.Hour), ErrExpired},
		{"of another hub", p, other, site, now, ErrForged},
		{"of another site", p, key, "castle", now, ErrForged},
		{"made longer", longer, key, site, now, ErrForged},
		{"for another visit", another, key, site, now, ErrForged},
		{"no key", p, nil, site, now, ErrForged},
	} {
		if err := tt.p.Verify(tt.key, tt.site, tt.at); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestCode(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		code := NewCode()
		if clean, ok := CleanCode(strings.ToLower(code[:4] + "-" + code[4:])); !ok || clean != code || seen[code] {
			t.Fatalf("%q %q", code, clean)
		}
		seen[code] = true
	}
	for _, bad := range []string{"", "AAAA", "AAAABBBBC", "AAAA0BBB", "AAAAÄBBB", strings.Repeat(" ", 100)} {
		if _, ok := CleanCode(bad); ok {
			t.Errorf("%q is a code", bad)
		}
	}
	p := given(time.Now().Add(time.Hour))
	right, wrong := Derive(site, "ABCD2345"), Derive(site, "ABCD2346")
	box, err := right.Seal(p)
	if err != nil || len(box) > wire.MaxVisitCode || bytes.Contains(box, p.raw()[1:17]) {
		t.Fatalf("%d bytes, %v", len(box), err)
	}
	if got, err := Derive(site, "ABCD2345").Open(box); err != nil || cmp.Diff(p, got) != "" {
		t.Errorf("%v", err)
	}
	if _, err := wrong.Open(box); err == nil {
		t.Error("another code opens it")
	}
	if elsewhere := Derive("castle", "ABCD2345"); right.Name == wrong.Name || right.Name == elsewhere.Name {
		t.Error("codes share a name")
	}
}

func TestSealedState(t *testing.T) {
	p := given(time.Now().Add(time.Hour))
	v := visit.Visit{ID: id, Language: "zh", Exhibit: "vase", Seen: []string{"fan", "vase"}, Started: time.Unix(1e9, 0).UTC()}
	for i := range 10 {
		v.Talk.Turns = append(v.Talk.Turns, memory.Exchange{Question: fmt.Sprintf("Zebulonia %d?", i), Answer: strings.Repeat("An answer. ", 50)})
	}
	s := Of(v, []memory.Command{{Draft: memory.Draft{Op: memory.OpUpsertFact, Kind: memory.KindName, Key: "name", Text: "Zebulonia"}, ID: "a", Version: 1, Logical: 1}})
	box, err := Seal(p, s)
	if err != nil || bytes.Contains(box, []byte("Zebulonia")) {
		t.Fatalf("%v", err)
	}
	got, err := Open(p, box)
	if err != nil || cmp.Diff(s, got) != "" {
		t.Errorf("%v %s", err, cmp.Diff(s, got))
	}
	other := p
	other.Visit = base64.RawURLEncoding.EncodeToString(make([]byte, idBytes))
	if _, err := Open(other, box); err == nil {
		t.Error("another pass opens it")
	}
	// A visit that is too long loses old turns, then what matters least.
	random := rand.New(rand.NewPCG(1, 1))
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('!' + random.IntN(90))
		}
		return string(b)
	}
	for i := range v.Talk.Turns {
		v.Talk.Turns[i].Answer = noise(8000)
	}
	var many []memory.Command
	for i := range 500 {
		kind := memory.KindInterest
		if i == 0 {
			kind = memory.KindAllergy
		}
		many = append(many, memory.Command{Draft: memory.Draft{Op: memory.OpUpsertFact, Kind: kind, Key: fmt.Sprint("k", i), Text: noise(200)}, ID: fmt.Sprint(i), Version: 1, Logical: uint64(i + 1)})
	}
	if box, err = Seal(p, Of(v, many)); err != nil || len(box) > wire.MaxVisitBox {
		t.Fatalf("%d bytes, %v", len(box), err)
	}
	got, err = Open(p, box)
	if err != nil || len(got.Talk.Turns) == 0 || !hasKind(got.Commands, memory.KindAllergy) {
		t.Errorf("%v, %d turns, %d facts", err, len(got.Talk.Turns), len(got.Commands))
	}
}

func hasKind(commands []memory.Command, k memory.Kind) bool {
	for _, c := range commands {
		if c.Kind == k {
			return true
		}
	}
	return false
}

// kiosk is one of several at which a random visitor is.
type kiosk struct {
	name  string
	state State
	clock uint64
}

// act changes the visit at a kiosk as visitors do.
func (k *kiosk) act(r *rand.Rand, n int) {
	k.clock++
	s := State{
		Stamp: visit.Stamp{Version: k.state.Stamp.Version + 1, Logical: k.clock, Kiosk: k.name}, Language: []string{"en", "zh"}[r.IntN(2)],
		Exhibit: fmt.Sprint("e", r.IntN(5)), Seen: append(append([]string{}, k.state.Seen...), fmt.Sprint("e", r.IntN(9))), Started: k.state.Started,
		Talk: memory.Talk{Turns: []memory.Exchange{{Question: fmt.Sprint("question ", n)}}}, Commands: k.state.Commands, Also: k.state.Also,
	}
	s.Also = union(s.Also, s.Seen)
	key := fmt.Sprint("fact", r.IntN(3))
	version := uint64(1)
	for _, c := range s.Commands {
		if c.Key == key {
			version = c.Version + 1
		}
	}
	op := memory.OpUpsertFact
	if r.IntN(4) == 0 {
		op = memory.OpRetractFact
	}
	s.Commands = memory.Merge(s.Commands, []memory.Command{{
		Draft: memory.Draft{Op: op, Kind: memory.KindTodo, Key: key, Text: fmt.Sprint("text ", n)}, ID: fmt.Sprint(k.name, n), Version: version, Logical: k.clock, Kiosk: k.name,
	}})
	k.state = s
}

func (k *kiosk) hear(s State) {
	k.state = Merge(k.state, s)
	k.clock = max(k.clock, s.Stamp.Logical)
}

// TestKiosksAgree plays random visits at three kiosks, whose states reach the others late, in any order, some twice, some
// never but within later ones. When each has heard the last of each, all know the same. DOCENT_MEMORY_CASES sets how many.
func TestKiosksAgree(t *testing.T) {
	cases := 2000
	if n, err := strconv.Atoi(os.Getenv("DOCENT_MEMORY_CASES")); err == nil {
		cases = n
	}
	for seed := range cases {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		kiosks := []*kiosk{{name: "a"}, {name: "b"}, {name: "c"}}
		var way []State
		for n := range 5 + r.IntN(20) {
			k := kiosks[r.IntN(3)]
			switch r.IntN(3) {
			case 0:
				k.act(r, n)
				way = append(way, k.state)
			default:
				if len(way) > 0 {
					k.hear(way[r.IntN(len(way))])
				}
			}
		}
		last := []State{kiosks[0].state, kiosks[1].state, kiosks[2].state}
		for _, k := range kiosks {
			for _, i := range r.Perm(3) {
				k.hear(last[i])
				if r.IntN(2) == 0 {
					k.hear(last[i])
				}
			}
		}
		for _, k := range kiosks[1:] {
			if d := cmp.Diff(kiosks[0].state, k.state); d != "" {
				t.Fatalf("case %d: kiosks a and %s (-a +%s)\n%s", seed, k.name, k.name, d)
			}
		}
	}
	t.Logf("%d random histories at three kiosks, all agree", cases)
}

func FuzzParse(f *testing.F) {
	f.Add(given(time.Unix(2e9, 0)).String())
	f.Add(Prefix)
	f.Add("DOCENT:" + strings.Repeat("A", 136))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if p.String() != strings.TrimSpace(text) {
			t.Errorf("%q reads back as %q", text, p)
		}
	})
}

func FuzzOpen(f *testing.F) {
	p := given(time.Unix(2e9, 0))
	box, err := Seal(p, State{Language: "en"})
	if err != nil {
		f.Fatal(err)
	}
	code := Derive(site, "ABCD2345")
	f.Add(box)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := Open(p, b); err == nil && cmp.Diff(State{Language: "en"}, s) != "" {
			t.Error("a box that was never sealed is opened")
		}
		// What is inside, by who has the pass, must not break anything either.
		inside, err := seal(p.key(), "visit/"+p.Name(), b)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := Open(p, inside); err == nil {
			Merge(s, State{})
			s.All()
		}
		if _, err := code.Open(b); err == nil {
			t.Error("a code that was never sealed is opened")
		}
	})
}
