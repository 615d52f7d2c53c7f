// Package live lets programs of the same person attach to a session while an agent
// works in it. The process that has the session's lease has its [SessionHub], which passes on
// what happens; others reach that through a Unix socket, by [Sockets.Attach].
//
// Both sides write lines. The first line is the guest's [Attach]. The hub answers with an
// [Welcome], then with these:
//
//	{"n":7,"update":{…}}                     the params of a session/update
//	{"ask":"2","params":{…}}                 the params of a session/request_permission
//	{"decided":"2","decision":{…}}           who decided that, and how
//	{"id":1,"result":{…}} or {"id":1,"error":"…"}   the answer to a request of the guest
//	{"turn":"1","result":{…}} or {"turn":"1","error":"…"}   how the turn of its prompt ended
//
// The guest's later lines are requests, each a [Wish]. The hub keeps the newest part of
// what happened. A guest that takes it too slowly is cut off, and holds up nobody; it
// attaches again at its cursor.
package live
