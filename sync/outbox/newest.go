package outbox

// maxNewest bounds the newest events that are held in memory as well, in bytes. A kiosk that is connected sends each event
// soon after it was recorded, and does not read it from the store then.
const maxNewest = 64 << 10

// newest are the last events of the present stream, without a gap. Their bytes do not change.
type newest struct {
	events []Pending
	size   int
}

// add takes in what has just been appended.
func (n *newest) add(fresh []Pending) {
	for _, p := range fresh {
		if len(n.events) > 0 {
			last := n.events[len(n.events)-1].Position
			if last.ordinal != p.Position.ordinal || last.seq+1 != p.Position.seq {
				*n = newest{}
			}
		}
		n.events, n.size = append(n.events, p), n.size+len(p.Event)
		for n.size > maxNewest {
			n.size -= len(n.events[0].Event)
			n.events[0] = Pending{}
			n.events = n.events[1:]
		}
	}
}

// after returns the events after a position and after the acknowledged ones, at most limit of them and maxBytes together, as
// Outbox.Pending does. It is false where they are to be read from the store.
func (n *newest) after(p Position, acked uint64, limit, maxBytes int) ([]Pending, bool) {
	if len(n.events) == 0 || p.ordinal != n.events[0].Position.ordinal {
		return nil, false
	}
	first := n.events[0].Position.seq
	from := max(p.seq, acked) + 1
	if from < first {
		return nil, false
	}
	events := n.events[min(from-first, uint64(len(n.events))):]
	size := 0
	for i := range events {
		size += len(events[i].Event) + 1
		if i >= limit || (i > 0 && size > maxBytes+1) {
			events = events[:i]
			break
		}
	}
	return append([]Pending(nil), events...), true
}
