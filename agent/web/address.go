package web

import (
	"fmt"
	"net/netip"
)

// notPublic are the ranges of IPv4 and IPv6 that belong to no host of the public internet (IANA special-purpose address
// registries, RFC 6890), and those by which another address can be reached (NAT64, 6to4, Teredo).
var notPublic = ranges(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	"::/127", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	"5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

func ranges(of ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, r := range of {
		out = append(out, netip.MustParsePrefix(r))
	}
	return out
}

// checkAddress reports an address that is not of the public internet, or another port than that of https.
func checkAddress(at netip.AddrPort) error {
	a := at.Addr()
	if at.Port() != 443 || !a.IsValid() || a.Zone() != "" || !a.Unmap().IsGlobalUnicast() || a.Unmap().IsPrivate() {
		return fmt.Errorf("%w: %s", ErrPrivate, at)
	}
	for _, r := range notPublic {
		if r.Contains(a) || r.Contains(a.Unmap()) {
			return fmt.Errorf("%w: %s", ErrPrivate, at)
		}
	}
	return nil
}
