// Package hardware is the box the kiosk runs in: what its cameras, disk and clock are doing.
//
// In: paths and devices of this machine. Out: plain readings. It imports nothing of the other areas.
package hardware
