// Package door is what every request passes on its way in: which host it names,
// from which page it comes, who asks, what that one may do, how much it may
// send. There is one way through, [New], for pages, API, streams and files
// alike; a [Route] that is not in its table does not exist.
//
// In this order a request is refused with
//
//	403  a Host that is none of ours, or an Origin that is not that host
//	404  no such route; 405 another method than the route's
//	401  no token, or a wrong one (pages get the form to log in)
//	503  a token that cannot be looked up at the moment, which is no wrong one
//	429  too many wrong tokens from that address, or too many streams
//	403  a token without the route's scope
//	413  a body longer than the route takes
//	415  a body of another type than the route takes
//
// and each refusal is a problem of RFC 9457, in JSON.
//
// A request that is under way when its token or login ends, or changes, ends within
// a second: its context says [ErrRevoked].
//
// Programs show a token: Authorization: Bearer TOKEN. Browsers get a cookie for
// a code that works once; the cookie is a login, which is kept by its hash beside
// the token that it was made with: in a file, or in the registry. It ends with the
// token, with the first token of the file, or by itself, on all servers that share
// them.
package door
