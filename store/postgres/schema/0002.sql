-- Every event has a checksum, and what does not match it is damaged. Events from
-- before get theirs by and by (sums.go): those with a client ID only if they still
-- have the content that this was given for. NULL stays of those that have not.
ALTER TABLE events ADD COLUMN sum bigint; -- skein.Event.Sum
