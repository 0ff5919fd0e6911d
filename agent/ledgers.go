package agent

import (
	"slices"
	"sync"

	"docent/agent/tool"
)

// keptLedgers is how many visits are counted at once, those used last: as many as a kiosk has open at most.
const keptLedgers = 1000

// ledgers count what each visit has used of its limits.
type ledgers struct {
	mu    sync.Mutex
	order []string // used last at the end
	of    map[string]*tool.Ledger
}

// visit returns a visit's ledger. A turn without a visit has none.
func (l *ledgers) visit(id string) *tool.Ledger {
	if id == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = make(map[string]*tool.Ledger)
	}
	ledger, ok := l.of[id]
	if ok {
		l.order = slices.DeleteFunc(l.order, func(other string) bool { return other == id })
	} else {
		ledger = tool.NewLedger(tool.VisitLimits)
		l.of[id] = ledger
	}
	l.order = append(l.order, id)
	if len(l.order) > keptLedgers {
		delete(l.of, l.order[0])
		l.order = l.order[1:]
	}
	return ledger
}
