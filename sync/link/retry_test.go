package link

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestRetryBounds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		turned bool
		want   []time.Duration // the longest waits
	}{
		{"nobody answers", false, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 6 * time.Second, 6 * time.Second}},
		{"turned away", true, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var longest, shortest retry
			for n, want := range tt.want {
				least := want / 2
				if n == 0 {
					least = 0
				}
				if got := longest.next(tt.turned, func() float64 { return 1 }); got != want {
					t.Errorf("wait %d is at most %v, want %v", n, got, want)
				}
				if got := shortest.next(tt.turned, func() float64 { return 0 }); got != least {
					t.Errorf("wait %d is at least %v, want %v", n, got, least)
				}
			}
		})
	}
	r := retry{lost: 1_000_000, turned: 1_000_000}
	if got := r.next(true, func() float64 { return 1 }); got != turnedCap {
		t.Errorf("after a million attempts %v", got)
	}
	if got := r.next(false, func() float64 { return 1 }); got != lostCap {
		t.Errorf("after a million attempts %v", got)
	}
}

// storm is what is simulated: all kiosks lose their hub at once, and it can be reached again after outage.
type storm struct {
	kiosks int
	outage time.Duration
	silent bool // nothing is refused: attempts run into dialTimeout, and the first packet is sent again after 1 s and 3 s
	rate   int  // handshakes a second that the hub can make, one after the other
}

// result of a storm.
type result struct {
	all     time.Duration // from the line's return until the last kiosk was in
	busiest float64       // share of the kiosks that knocked within one second
	knocks  float64       // of a kiosk in each minute of the outage
}

// attempt is a kiosk's next one.
type attempt struct {
	at    time.Duration // after the line's return
	kiosk int
	retry retry
}

type attempts []attempt

func (a attempts) Len() int           { return len(a) }
func (a attempts) Less(i, j int) bool { return a[i].at < a[j].at }
func (a attempts) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *attempts) Push(x any)        { *a = append(*a, x.(attempt)) }
func (a *attempts) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// run simulates. The hub serves in the order of coming; who has given up in the queue costs it nothing.
func (s storm) run(random func() float64) (r result) {
	var waiting attempts
	tries := 0
	for k := range s.kiosks {
		a := attempt{at: -s.outage, kiosk: k}
		a.at += a.retry.next(false, random) // the connection was lost
		for a.at < 0 {
			tries++
			if s.silent {
				if heard, ok := repeated(a.at); ok {
					a.at = heard
					break
				}
				a.at += dialTimeout
			}
			a.at += a.retry.next(false, random)
		}
		waiting = append(waiting, a)
	}
	heap.Init(&waiting)
	each := time.Second / time.Duration(s.rate)
	var free time.Duration // when the hub can begin the next handshake
	var knocked []time.Duration
	for waiting.Len() > 0 {
		a := heap.Pop(&waiting).(attempt)
		knocked = append(knocked, a.at)
		begin := max(free, a.at)
		if begin+each > a.at+connectTimeout { // it has given up by then
			a.at += connectTimeout + a.retry.next(true, random)
			heap.Push(&waiting, a)
			continue
		}
		free = begin + each
		r.all = free
	}
	from, most := 0, 0
	for to := range knocked { // in order
		for knocked[to]-knocked[from] >= time.Second {
			from++
		}
		most = max(most, to-from+1)
	}
	r.busiest = float64(most) / float64(s.kiosks)
	r.knocks = float64(tries) / float64(s.kiosks) / s.outage.Minutes()
	return r
}

// repeated is when a dial that began at a moment before the line's return gets through, if one of its packets does.
func repeated(began time.Duration) (heard time.Duration, ok bool) {
	for _, after := range []time.Duration{time.Second, 3 * time.Second} {
		if began+after >= 0 {
			return began + after, true
		}
	}
	return 0, false
}

func TestReconnecting(t *testing.T) {
	const week = 7 * 24 * time.Hour
	for _, tt := range []struct { // 400 handshakes a second need 25 s for 10,000 kiosks, however they come
		name string
		storm
		all     time.Duration // the last is in by then
		busiest float64
	}{
		{"1,000 kiosks, hub restarted in a second", storm{1000, time.Second, false, 400}, 10 * time.Second, 0.85},
		{"1,000 kiosks, line cut for 5 s", storm{1000, 5 * time.Second, false, 400}, 10 * time.Second, 0.5},
		{"1,000 kiosks, silent line for 5 s", storm{1000, 5 * time.Second, true, 400}, 10 * time.Second, 0.85},
		{"1,000 kiosks, line cut for an hour", storm{1000, time.Hour, false, 400}, 10 * time.Second, 0.3},
		{"1,000 kiosks, silent line for an hour", storm{1000, time.Hour, true, 400}, 10 * time.Second, 0.3},
		{"200 kiosks, line cut for a week", storm{200, week, false, 400}, 10 * time.Second, 0.35},
		{"10,000 kiosks, hub restarted in a second", storm{10_000, time.Second, false, 400}, 30 * time.Second, 0.85},
		{"10,000 kiosks, line cut for 5 s", storm{10_000, 5 * time.Second, false, 400}, 30 * time.Second, 0.5},
		{"10,000 kiosks, line cut for an hour", storm{10_000, time.Hour, false, 400}, 30 * time.Second, 0.3},
		{"10,000 kiosks, a hub of a better machine", storm{10_000, time.Hour, false, 2000}, 10 * time.Second, 0.3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.run(rand.New(rand.NewPCG(1, 2)).Float64)
			t.Logf("all in after %.1f s, busiest second %.0f %%, %.1f attempts a minute", r.all.Seconds(), 100*r.busiest, r.knocks)
			if r.all > tt.all || r.busiest > tt.busiest {
				t.Errorf("want all after %v and at most %.0f %% in a second", tt.all, 100*tt.busiest)
			}
			if r.knocks > 60 {
				t.Error("more than one attempt a second")
			}
		})
	}
}

func TestReconnectingInTheWorstCase(t *testing.T) {
	var took []time.Duration
	for seed := range uint64(50) {
		took = append(took, storm{1000, 5 * time.Second, false, 400}.run(rand.New(rand.NewPCG(seed, 7)).Float64).all)
	}
	if worst := slices.Max(took); worst > 10*time.Second {
		t.Errorf("in the worst of 50 storms all are back after %v", worst)
	}
}
