// Package agent is the guide: a question in, a grounded and cited answer out.
//
// In: a visit, what the visitor asks, and a library to look things up in (a small interface of this package).
// Out: a stream of [Event] values: stage, token, sources, follow_ups, done. Without a model it chooses and orders
// sentences of the gallery's own texts; with one, the model writes from the same evidence.
//
// It may import localindex (through small interfaces of its own); it never imports sync or kiosk.
package agent
