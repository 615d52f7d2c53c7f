package door

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// ours reports whether a Host header names this server: loopback, under any of
// its names, or one of the hosts that were allowed.
func (d *Door) ours(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if name == "localhost" {
		return true
	}
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(d.hosts, func(h string) bool { return strings.EqualFold(h, name) || strings.EqualFold(h, host) })
}

// foreign reports whether a request comes from a page of another origin. One
// without any word about that comes from no browser, or from none of today's.
func foreign(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	// A form of our own page comes without an origin, for it is to send no
	// referrer; but no page can make the browser say that it is of this site.
	ours := len(origins) == 1 && origins[0] == "null" && r.Header.Get("Sec-Fetch-Site") == "same-origin"
	if len(origins) > 0 && !ours {
		u, err := url.Parse(origins[0])
		return len(origins) > 1 || err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) || u.Scheme == "http" && r.TLS != nil
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	// A link on another page may lead here: it gets what a stranger gets.
	return r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}
