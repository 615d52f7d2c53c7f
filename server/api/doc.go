// Package api is what goes over the wire between a server and its clients: the
// bodies of requests and answers under /v1, and how the payloads of events keep
// their exact bytes.
package api
