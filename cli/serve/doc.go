// Package serve holds the commands of the group serve: the server with its dashboard,
// the gateway, and who may use them.
package serve
