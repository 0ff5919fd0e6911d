// Package display sets how bright the screen of the box is, and takes pictures of what it shows.
//
// In: the system's /sys, the programs ddcutil and grim, the address of a browser. Out: what was done, by what.
package display

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNoControl says that nothing here can do what was asked of the display; its text says why.
var ErrNoControl = errors.New("no control of the display")

// Brightness sets the light of the screen itself, not of the picture on it.
type Brightness struct {
	Sys string // the system's /sys
	DDC Run    // ddcutil, see [Find]; nil where it is not installed
}

// Set makes the screen as bright as a part of all it can, 0 to 100, and says by what: the backlight of a panel, else the
// display itself over the cable. 0 is the darkest that is still seen. The error is [ErrNoControl] where there is neither.
func (b Brightness) Set(ctx context.Context, percent int) (by string, err error) {
	if percent < 0 || percent > 100 {
		return "", fmt.Errorf("set brightness %d: 0 to 100", percent)
	}
	lamp, err := b.backlight()
	if err == nil {
		err = lamp.set(percent)
	}
	if err == nil {
		return "backlight " + lamp.name, nil
	}
	over, ddcErr := b.ddc(ctx, percent)
	if ddcErr == nil {
		return over, nil
	}
	return "", fmt.Errorf("%w: %w; %w", ErrNoControl, err, ddcErr)
}

// By says what Set would use, without changing anything, or why there is nothing.
func (b Brightness) By(ctx context.Context) (string, error) {
	lamp, err := b.backlight()
	if err == nil {
		err = lamp.writable()
	}
	if err == nil {
		return "backlight " + lamp.name, nil
	}
	if _, ddcErr := b.luminance(ctx); ddcErr != nil {
		return "", fmt.Errorf("%w: %w; %w", ErrNoControl, err, ddcErr)
	}
	return byDDC, nil
}

// lamp is a backlight that the kernel can dim.
type lamp struct {
	name string
	dir  string
	kind string
	max  int
}

// kinds are in the order in which the kernel's documentation wants them tried, where several are for one panel
// (ABI/stable/sysfs-class-backlight).
var kinds = []string{"firmware", "platform", "raw"}

// backlight is the one to use of those that the system has.
func (b Brightness) backlight() (lamp, error) {
	class := filepath.Join(b.Sys, "class", "backlight")
	entries, err := os.ReadDir(class)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return lamp{}, fmt.Errorf("list backlights: %w", err)
	}
	var lamps []lamp
	for _, e := range entries { // by name
		l := lamp{name: e.Name(), dir: filepath.Join(class, e.Name())}
		if l.max, err = readNumber(filepath.Join(l.dir, "max_brightness")); err != nil || l.max < 1 {
			continue
		}
		if text, err := readSmall(filepath.Join(l.dir, "type")); err == nil {
			l.kind = text
		}
		lamps = append(lamps, l)
	}
	if len(lamps) == 0 {
		return lamp{}, errors.New("the system has no backlight (/sys/class/backlight)")
	}
	rank := func(l lamp) int {
		if i := slices.Index(kinds, l.kind); i >= 0 {
			return i
		}
		return len(kinds)
	}
	slices.SortStableFunc(lamps, func(a, b lamp) int { return rank(a) - rank(b) })
	return lamps[0], nil
}

func (l lamp) writable() error {
	f, err := os.OpenFile(filepath.Join(l.dir, "brightness"), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("backlight %s: %w", l.name, err)
	}
	return f.Close()
}

// set writes the brightness and reads it back: a driver may take a value and do nothing with it.
func (l lamp) set(percent int) error {
	want := level(percent, l.max)
	path := filepath.Join(l.dir, "brightness")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0) // never makes a file
	if err != nil {
		return fmt.Errorf("set backlight %s: %w", l.name, err)
	}
	_, err = f.WriteString(strconv.Itoa(want))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("set backlight %s: %w", l.name, err)
	}
	got, err := readNumber(path)
	if err == nil && got != want {
		err = fmt.Errorf("it says %d of %d, not %d", got, l.max, want)
	}
	if err != nil {
		return fmt.Errorf("set backlight %s: %w", l.name, err)
	}
	return nil
}

// level is a part of a scale; never 0, at which many lamps go out.
func level(percent, most int) int {
	return max(1, int(math.Round(float64(most)*float64(percent)/100)))
}

func readNumber(path string) (int, error) {
	text, err := readSmall(path)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("read %s: no number", path)
	}
	return n, nil
}

// readSmall reads the first bytes of a file of /sys.
func readSmall(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buf := make([]byte, 64)
	n, err := f.Read(buf)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(buf[:n])), nil
}
