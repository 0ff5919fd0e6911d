package brokerfiles

import (
	"net"
	"strconv"
	"strings"
	"text/template"

	"docent/sync/hub/authority"
)

// functions are for the templates.
var functions = template.FuncMap{
	"quote":     strconv.Quote,
	"subject":   func(topic string) string { return strings.NewReplacer("/", ".", "+", "*").Replace(topic) },
	"worker":    authority.WorkerName,
	"workerURI": authority.WorkerURI,
	"host": func(address string) string {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return ""
		}
		return host
	},
	"port": func(address string) string {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return address
		}
		return port
	},
}
