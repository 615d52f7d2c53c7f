package door

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// ours reports whether a Host header names this server: loopback, under any of
// its names, or one of the allowed hosts. Any other name may be one that
// somebody else pointed to this machine.
func (d *Door) ours(host string) bool {
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		if name = h; !goodPort(port) {
			return false
		}
	} else if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		name = host[1 : len(host)-1]
	}
	if name == "" || strings.HasPrefix(host, "[") && net.ParseIP(name) == nil {
		return false
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	if ip := net.ParseIP(name); ip != nil && (ip.IsLoopback() || ip.Equal(d.at)) {
		return true
	}
	if d.Public != nil && strings.EqualFold(host, d.Public.Host) {
		return true
	}
	return slices.ContainsFunc(d.hosts, func(h string) bool { return strings.EqualFold(h, name) || strings.EqualFold(h, host) })
}

func goodPort(port string) bool {
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil && port[0] != '+'
}

// unsafe reports whether a method may change something.
func unsafe(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// foreign reports whether a request comes from a page of another origin. A
// request that says nothing about that does not come from a current browser.
func (d *Door) foreign(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(r.Header.Values("Sec-Fetch-Site")) > 1 {
		return true
	}
	// A form of our own page has no origin, because it sends no referrer; but
	// no page can make the browser claim to be of this site.
	ours := len(origins) == 1 && origins[0] == "null" && r.Header.Get("Sec-Fetch-Site") == "same-origin"
	if len(origins) > 0 && !ours {
		scheme, host, ok := strings.Cut(origins[0], "://")
		return !ok || scheme != "https" && (scheme != "http" || d.https(r)) || !strings.EqualFold(host, r.Host)
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	// A link on another page may lead here: it is treated as a stranger's
	// request.
	return r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

// lastingName reports whether a browser may be told to use only https with a
// host from now on, at all its ports: not for names of the visitor's own
// machine, where other programs may not use it.
func lastingName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(host)
	return host != "localhost" && !strings.HasSuffix(host, ".localhost") && net.ParseIP(strings.Trim(host, "[]")) == nil
}
