// Package door is what every request passes on its way in. It checks which host
// the request names, which page it comes from, who asks, what they may do, and
// how much they may send. There is one way in, [New], for pages, API, streams
// and files alike; a [Route] that is not in its table does not exist.
//
// A request is refused, in this order, with
//
//	403  a Host that is not ours, or an Origin that is not that host
//	404  no such route; 405 a method that the route does not have
//	401  no token, or a wrong one (pages get the login form)
//	503  a token that cannot be looked up now, so may be valid
//	429  too many wrong tokens from that address, or too many streams
//	403  a token without the route's scope
//	413  a body longer than the route accepts
//	415  a body of a type that the route does not accept
//
// and each refusal is a problem of RFC 9457, in JSON.
//
// When a token or login ends, or changes, the requests that use it end within a
// second: their context's cause is [ErrRevoked].
//
// Programs send a token: Authorization: Bearer TOKEN. Browsers get a cookie in
// exchange for a code that works once. The cookie is a login, whose hash is
// kept beside the token that it was made with: in a file, or in the registry.
// The login ends with the token, with the first token of the file, or by
// itself, on all servers that share them.
package door
