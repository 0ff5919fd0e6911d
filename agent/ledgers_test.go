package agent

import (
	"fmt"
	"testing"
)

func TestLedgers(t *testing.T) {
	var l ledgers
	if l.visit("") != nil {
		t.Error("a turn without a visit is counted")
	}
	first, second := l.visit("first"), l.visit("second")
	for i := range keptLedgers - 1 {
		l.visit("first") // stays in use
		l.visit(fmt.Sprint(i))
	}
	if l.visit("first") != first {
		t.Error("a visit in use is counted anew")
	}
	if l.visit("second") == second || len(l.of) != keptLedgers || len(l.order) != keptLedgers {
		t.Errorf("%d ledgers, %d in order", len(l.of), len(l.order))
	}
}
