// Package kiosk is the appliance: it serves the visitor's page and its HTTP, SSE and WebSocket routes, keeps
// visits, and wires vision, localindex, agent, sync and hardware together.
//
// In: a [Config] and the opened parts. Out: a running server. Nothing imports kiosk except cmd.
package kiosk
