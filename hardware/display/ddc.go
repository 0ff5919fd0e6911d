package display

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	byDDC   = "the display over its cable (DDC/CI)"
	ddcTime = 8 * time.Second // a display answers after 0.2 to 2 s, one that does not after some tries
)

// luminance asks the display how bright it can be.
func (b Brightness) luminance(ctx context.Context) (most int, err error) {
	if b.DDC == nil {
		return 0, errors.New("ddcutil is not installed")
	}
	ctx, cancel := context.WithTimeout(ctx, ddcTime)
	defer cancel()
	out, err := b.DDC(ctx, "--brief", "getvcp", "10")
	if err != nil {
		return 0, fmt.Errorf("ddcutil: %w", err)
	}
	return parseVCP(string(out))
}

func (b Brightness) ddc(ctx context.Context, percent int) (by string, err error) {
	most, err := b.luminance(ctx)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, ddcTime)
	defer cancel()
	value := int(float64(most)*float64(percent)/100 + 0.5) // a display's own 0 is dim, not dark
	if _, err := b.DDC(ctx, "--verify", "setvcp", "10", strconv.Itoa(value)); err != nil {
		return "", fmt.Errorf("ddcutil: %w", err)
	}
	return byDDC, nil
}

// parseVCP reads "VCP 10 C 45 100": feature, continuous, now, most.
func parseVCP(out string) (most int, err error) {
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 5 || f[0] != "VCP" || f[1] != "10" || f[2] != "C" {
			continue
		}
		if most, err := strconv.Atoi(f[4]); err == nil && most > 0 && most <= 0xffff {
			return most, nil
		}
	}
	return 0, errors.New("ddcutil: the display does not say how bright it can be")
}
