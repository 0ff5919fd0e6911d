package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"docent/sync/hub"
)

type hubCmd struct {
	Dir        string `default:"/var/lib/docent-hub" help:"Folder of the hub's database."`
	MQTTListen string `name:"mqtt-listen" default:"127.0.0.1:1883" help:"Address for kiosks."`
	HTTPListen string `name:"http-listen" default:"127.0.0.1:8081" help:"Address of the hub's page."`
	Site       string `help:"The one site whose kiosks may connect; by default every site's."`
}

func (c hubCmd) Run(ctx context.Context, t *terminal) error {
	h, err := hub.New(hub.Config{Dir: c.Dir, MQTTListen: c.MQTTListen, HTTPListen: c.HTTPListen, Site: c.Site, Logger: t.log})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return h.Run(ctx) })
	group.Go(func() error {
		select {
		case <-h.Ready():
			fmt.Fprintf(t.out, "Hub: page http://%s, kiosks mqtt://%s\n", h.HTTPAddr(), h.MQTTAddr())
		case <-ctx.Done():
		}
		return nil
	})
	return group.Wait()
}
