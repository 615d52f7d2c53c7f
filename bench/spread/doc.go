// Command spread checks the arithmetic of docs/scaling.md: it makes a million
// users with sessions whose lengths and sizes are those of real ones, puts each
// user on a shard by the hash of the name, and adds up what every shard has to
// hold and to take in.
//
//	go run ./spread                     # 1,000,000 users on 32, 64 and 128 shards
//	go run ./spread -corpus DIR         # sizes of the sessions (*.jsonl) in DIR
//
// Beside each figure stands what the arithmetic says it should be.
package main
