package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"docent/hardware/display"
	"docent/kiosk"
	commands "docent/sync/command"
	"docent/sync/wire"
)

// ownScreen is the display of this box, and what can be asked of it.
type ownScreen struct {
	light  display.Brightness
	camera display.Screen // takes pictures of what is shown
}

func newOwnScreen(c kiosk.Config) ownScreen {
	return ownScreen{
		light: display.Brightness{Sys: "/sys", DDC: display.Find("ddcutil")},
		camera: display.Screen{
			DevTools: c.Screen.DevTools, Page: ownAddress(c.Listen) + "/", Grim: display.Find("grim"), Wayland: os.Getenv("WAYLAND_DISPLAY") != "",
		},
	}
}

// ownAddress is where this machine reaches what listens at an address; empty where that is not known before it listens.
func ownAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "0" {
		return ""
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// brightness dims the screen itself, and the page where that cannot be.
func (a *appliance) brightness(screen ownScreen) commands.Action {
	return func(ctx context.Context, c wire.Command) (commands.Answer, error) {
		by, err := screen.light.Set(ctx, c.Value)
		if err == nil {
			return commands.Answer{Detail: fmt.Sprintf("%d %% of the screen itself, by %s", c.Value, by)}, a.kiosk.SetBrightness(100)
		}
		if ctx.Err() != nil {
			return commands.Answer{}, err
		}
		return commands.Answer{Detail: fmt.Sprintf("%d %%, as the page dims itself, until the program starts again (%v)", c.Value, err)}, a.kiosk.SetBrightness(c.Value)
	}
}

// screenshot takes a picture of what the screen shows, never of a visit.
func (a *appliance) screenshot(screen ownScreen) commands.Action {
	return func(ctx context.Context, _ wire.Command) (commands.Answer, error) {
		var shot display.Shot
		err := a.kiosk.WhileUnattended(func() (err error) {
			shot, err = screen.camera.Take(ctx, wire.MaxResultData)
			return err
		})
		switch {
		case errors.Is(err, kiosk.ErrAttended):
			return commands.Answer{}, fmt.Errorf("%w: %w, and what a visitor sees is not shown to others; ask again later", commands.ErrRefused, err)
		case errors.Is(err, display.ErrNoControl):
			return commands.Answer{}, fmt.Errorf("%w: %w", commands.ErrUnsupported, err)
		case err != nil:
			return commands.Answer{}, err
		}
		return commands.Answer{Detail: fmt.Sprintf("%d × %d, by %s", shot.Width, shot.Height, shot.By), Type: "image/jpeg", Data: shot.JPEG}, nil
	}
}
