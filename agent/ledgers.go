package agent

import (
	"sync"

	"docent/agent/tool"
)

// keptLedgers is how many visits are counted at once; a kiosk has a handful.
const keptLedgers = 64

// ledgers count what each visit has used of its limits.
type ledgers struct {
	mu    sync.Mutex
	order []string
	of    map[string]*tool.Ledger
}

// visit returns a visit's ledger. A turn without a visit has none.
func (l *ledgers) visit(id string) *tool.Ledger {
	if id == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if ledger, ok := l.of[id]; ok {
		return ledger
	}
	if l.of == nil {
		l.of = make(map[string]*tool.Ledger)
	}
	if len(l.order) == keptLedgers {
		delete(l.of, l.order[0])
		l.order = l.order[1:]
	}
	l.order = append(l.order, id)
	l.of[id] = tool.NewLedger(tool.VisitLimits)
	return l.of[id]
}
